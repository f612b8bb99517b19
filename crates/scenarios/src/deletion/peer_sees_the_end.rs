//! A thread that sleeps in poll(2) or select(2) holds the open files that it waits for: on Linux, a descriptor closed by
//! another thread is gone, and its peer hears nothing of it until that wait ends. Found by this matrix: with the poll
//! and select backends the peer of a deleted connection waited for up to a minute.

use std::os::fd::AsRawFd;

use fd_core::OwnerId;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/peer-sees-the-end",
    title: "The peer of a deleted FD sees the end at once, whatever threads sleep with it in their pollers",
    layer: Layer::Contract,
    clauses: &["L4", "L5", "suspect 11"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// How the descriptor comes to be deleted by somebody who does not poll it.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// By a thread of no group.
    Deleted,
    /// Handed back, and closed by the scenario.
    Disowned,
    /// By another thread that had taken it over.
    TakenOver,
    /// By another thread that had taken it over, wanted it, and polled it.
    TakenOverAndPolled,
    /// After one thread had stopped it for all.
    Stopped,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let (owner, other) = (harness.thread(0), harness.thread(1));
    for way in [Way::Deleted, Way::Disowned, Way::TakenOver, Way::TakenOverAndPolled, Way::Stopped] {
        play(test, &mut harness, way, owner, other)?;
    }
    harness.finish(test, &[])
}

fn play(
    test: &mut TestContext,
    harness: &mut Harness,
    way: Way,
    owner: ThreadId,
    other: ThreadId,
) -> Result<(), Failure> {
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.recording();
    let identity = OwnerId::of(&handler);
    let number = ends.near.as_raw_fd();
    let handle = if matches!(way, Way::Stopped) {
        harness.insert_shared(ends.near, handler, owner, harness.core().table().threads(owner.group()))?
    } else {
        harness.insert(ends.near, handler, owner)?
    };
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    // Every thread of the mask has gone to sleep with it.
    harness.fence_all()?;
    match way {
        Way::Deleted | Way::Disowned => {}
        Way::TakenOver | Way::TakenOverAndPolled => {
            let taken = harness.on(other, move |context| context.takeover(handle, identity))?;
            test.check_eq(format!("{way:?}: takeover"), "Ok(())".into(), format!("{taken:?}"), "L9");
            if matches!(way, Way::TakenOverAndPolled) {
                harness
                    .on(other, move |context| context.registration(handle).want_recv())?
                    .map_err(Failure::broken)?;
                harness.fence(other)?;
            }
        }
        Way::Stopped => {
            // Stopping alone is lazy (L6); wanting the other direction makes some thread look.
            let fd = harness.core().registration(handle);
            fd.stop_recv().and_then(|()| fd.want_send()).map_err(Failure::broken)?;
            fd.stop_send().map_err(Failure::broken)?;
            harness.fence(owner)?;
        }
    }
    let closed = harness.core().registration_counts().closed;
    if matches!(way, Way::Disowned) {
        harness.core().registration(handle).disown().map_err(Failure::broken)?;
        test.check_eq(format!("{way:?}: came back"), 1, monitor.take_released().len(), "Handler::released");
    } else {
        harness.on(other, move |context| context.registration(handle).delete())?.map_err(Failure::broken)?;
        // Stopped, it may still be reported somewhere: then its last user closes it.
        harness.wait_until(&format!("{way:?}: the close"), || monitor.dropped() > 0)?;
        test.check_eq(
            format!("{way:?}: closed"),
            1,
            harness.core().registration_counts().closed - closed,
            "S4",
        );
    }
    test.check_eq(format!("{way:?}: the number is open"), false, crate::descriptors::is_open(number), "S4");
    // Nothing wakes anybody from here on.
    harness.wait_until(&format!("{way:?}: the peer sees the end"), || ends.far.ended())
}
