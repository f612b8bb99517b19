//! A thread that sleeps in poll(2) or select(2) holds the open files that it waits for. On Linux, if another
//! thread closes such a descriptor, the number is gone at once, but the peer sees the end only when that wait
//! ends. This matrix found it: with the poll and select backends the peer of a deleted connection waited for
//! up to a minute.

use std::os::fd::AsRawFd;

use fd_core::OwnerId;

use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/peer-sees-the-end",
    title: "The peer of a deleted FD sees the end at once, even if threads sleep with the FD in their pollers",
    layer: Layer::Contract,
    clauses: &["L4", "L5", "suspect 11"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The state in which a thread that does not poll the descriptor ends its registration.
#[derive(Clone, Copy, Debug)]
enum Case {
    /// It is deleted.
    Deleted,
    /// It is disowned, and the scenario closes it.
    Disowned,
    /// A thread takes it over, and then deletes it.
    TakenOver,
    /// A thread takes it over, polls it, and then deletes it.
    TakenOverAndPolled,
    /// Several threads share it and one thread disables its interest for all. Then it is deleted.
    Stopped,
}

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    for case in [Case::Deleted, Case::Disowned, Case::TakenOver, Case::TakenOverAndPolled, Case::Stopped] {
        end_registration(test, &mut harness, &sleepers, case)?;
    }
    harness.finish(test, &[])
}

fn end_registration(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    case: Case,
) -> Result {
    let (owner, other) = (harness.thread(0), harness.thread(1));
    let ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.recording();
    let identity = OwnerId::of(&handler);
    let number = ends.near.as_raw_fd();
    let is_shared = matches!(case, Case::Stopped);
    let mask = if is_shared { harness.core().table().threads(owner.group()) } else { owner.mask() };
    let handle = harness.insert_shared_recv(ends.near, handler, owner, mask)?;
    // Every thread of the mask sleeps with the descriptor.
    harness.wait_until_polled(handle, mask)?;
    harness.fence_all()?;
    match case {
        Case::Deleted | Case::Disowned => {}
        Case::TakenOver | Case::TakenOverAndPolled => {
            let taken = harness.on(other, move |context| context.takeover(handle, identity))?;
            test.check_debug(format!("{case:?}: takeover"), Ok(()), taken, "L9");
            if matches!(case, Case::TakenOverAndPolled) {
                harness.on(other, move |context| context.registration(handle).want_recv())??;
                harness.wait_until_polled_by(handle, other)?;
                harness.fence(other)?;
            }
        }
        Case::Stopped => {
            // Disabling interest alone is lazy (L6). Enabling the other direction makes some thread update
            // its poller.
            let fd = harness.registration(handle);
            fd.stop_recv().and_then(|()| fd.want_send())?;
            fd.stop_send()?;
            harness.fence(owner)?;
        }
    }
    let closed = harness.closed();
    sleepers.wait(harness)?;
    if matches!(case, Case::Disowned) {
        harness.registration(handle).disown()?;
        let what = format!("{case:?}: returned descriptors");
        test.check_eq(what, 1, monitor.take_released().len(), "Handler::released");
    } else {
        harness.on(other, move |context| context.registration(handle).delete())??;
        // After the stop a thread may still report it: then its last user closes it.
        harness.wait_until(&format!("{case:?}: the close"), || monitor.dropped() > 0)?;
        test.check_eq(format!("{case:?}: closed"), 1, harness.closed() - closed, "S4");
    }
    test.check_eq(format!("{case:?}: the number is open"), false, descriptors::is_open(number), "S4");
    // From here on, no event wakes any thread.
    harness.wait_until(&format!("{case:?}: the peer sees the end"), || ends.far.ended())
}
