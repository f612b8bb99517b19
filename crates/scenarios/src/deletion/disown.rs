//! A registration ends and its descriptor does not. HAProxy closed what was somebody else's (bug 55), and left the polled
//! masks behind, so that the next user of the number was never added to any poller (bug 34).

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use fd_core::error::DeleteError;
use fd_core::ids::ThreadId;
use fd_core::State;
use metadata::{Axes, Layer};

use super::cloned::{snapshots, undelivered_events};
use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::gate::Gate;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{Far, pair, read_all};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/disown",
    title: "A disowned FD comes back open when its last user is done, and is in no poller; inserted again it is new",
    layer: Layer::Contract,
    clauses: &["S5", "S8", "S10", "S20", "L4", "bug 34", "bug 55"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let released = harness.core().registration_counts().released;
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let (near, mut far) = idle(test, &mut harness, ends.near, ends.far)?;
    test.all_hold()?;
    let near = in_its_handler(test, &mut harness, near, &mut far)?;
    test.all_hold()?;
    // The same file again, on every thread in turn: no poller has anything left of it.
    let mut near = near;
    for thread in harness.threads() {
        near = once_more(test, &mut harness, near, &mut far, thread)?;
        test.all_hold()?;
    }
    let registrations = 2 + harness.threads().len() as u64;
    test.check_eq(
        "lives handed back",
        registrations,
        harness.core().registration_counts().released - released,
        "S20",
    );
    test.check_eq("the peer sees the end", false, far.ended(), "S20: never closed by the table");
    drop(near);
    harness.wait_until("the peer sees the end", || far.ended())?;
    drop(far);
    harness.finish(test, &[])
}

/// Polled by the whole group, and disowned by a thread of no group: it comes back at once.
fn idle(
    test: &mut TestContext,
    harness: &mut Harness,
    near: OwnedFd,
    mut far: Far,
) -> Result<(OwnedFd, Far), Failure> {
    let (thread, monitor) = (harness.thread(0), HandlerMonitor::new(&near));
    let everybody = harness.core().table().threads(thread.group());
    let handle = harness.insert_shared(near, monitor.recording(), thread, everybody)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence_all()?;
    let closed = harness.core().registration_counts().closed;
    let disowned = harness.core().registration(handle).disown();
    test.check_eq("disown", "Ok(())".into(), format!("{disowned:?}"), "RegistrationRef::disown");
    let again = harness.core().registration(handle).disown();
    test.check_eq("disown again", true, matches!(again, Err(DeleteError::Stale(_))), "protocol 2.1");
    let near = came_back(test, &monitor)?;
    test.check_eq("closed", 0, harness.core().registration_counts().closed - closed, "bug 55");
    test.check_eq("handlers dropped", 1, monitor.dropped(), "Handler::released");

    left_in_no_poller(test, harness, &near, &mut far)?;
    test.check_eq("handler calls", 0, monitor.calls(), "S20");
    Ok((near, far))
}

/// Disowned by its own handler and, while that goes on, looked at from outside.
fn in_its_handler(
    test: &mut TestContext,
    harness: &mut Harness,
    near: OwnedFd,
    far: &mut Far,
) -> Result<OwnedFd, Failure> {
    let (thread, monitor, gate) = (harness.thread(1), HandlerMonitor::new(&near), Gate::new());
    let handler = {
        let (monitor, gate) = (Arc::clone(&monitor), gate.clone());
        monitor.clone().doing(move |ready| {
            let _ = ready.registration().disown();
            gate.pass();
            monitor.recorder.record(ready);
        })
    };
    let handle = harness.insert(near, handler, thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    far.write_all(b"own").map_err(Failure::broken)?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong("the handler was never called".into()));
    }
    let again = harness.core().registration(handle).delete();
    test.check_eq(
        "delete of what is disowned",
        "Err(AlreadyDeleted)".into(),
        format!("{again:?}"),
        "protocol 6.1",
    );
    test.check_eq("came back under its user", 0, monitor.take_released().len(), "S5");
    gate.open();
    harness.wait_until("the handler is dropped", || monitor.dropped() > 0)?;
    let near = came_back(test, &monitor)?;
    test.check_eq("bytes", "own".into(), monitor.text(), "S5: usable until the handler returns");
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S6");
    Ok(near)
}

/// Inserted again, reported once, and disowned by its own thread.
fn once_more(
    test: &mut TestContext,
    harness: &mut Harness,
    near: OwnedFd,
    far: &mut Far,
    thread: ThreadId,
) -> Result<OwnedFd, Failure> {
    let monitor = HandlerMonitor::new(&near);
    let handle = harness.insert(near, monitor.recording(), thread)?;
    // Nobody has asked for anything yet: whatever the former registration wanted is forgotten.
    far.write_all(b"heard").map_err(Failure::broken)?;
    harness.wait_until("the data", || descriptors::readable(monitor.number()))?;
    harness.fence_all()?;
    let reported = harness.core().entry(handle).map_err(Failure::broken)?.state.and(State::POLL_IN);
    test.check_eq("reports before anything is wanted", State::default(), reported, "S20, suspect 11");
    test.check_eq("handler calls before anything is wanted", 0, monitor.calls(), "S18");
    harness.on(thread, move |context| context.registration(handle).want_recv())?.map_err(Failure::broken)?;
    harness.wait_until(&format!("the report to thread {thread}"), || monitor.text() == "heard")?;
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S20, bug 34: registered anew, once");
    let disowned = harness.on(thread, move |context| context.registration(handle).disown())?;
    test.check_eq("disown", "Ok(())".into(), format!("{disowned:?}"), "RegistrationRef::disown");
    let near = came_back(test, &monitor)?;

    // Nobody but this thread takes its own registration out, and no close will.
    left_in_no_poller(test, harness, &near, far)?;
    Ok(near)
}

/// Data that comes now is reported by nobody, and is there to be read.
fn left_in_no_poller(
    test: &mut TestContext,
    harness: &mut Harness,
    near: &OwnedFd,
    far: &mut Far,
) -> Result<(), Failure> {
    harness.fence_all()?;
    let before = snapshots(harness);
    far.write_all(b"unheard").map_err(Failure::broken)?;
    harness.fence_all()?;
    test.check_eq(
        "events for nobody",
        0,
        undelivered_events(harness, &before),
        "S20, bug 34: left in no poller",
    );
    check_usable(test, harness, near, "unheard")
}

fn came_back(test: &mut TestContext, monitor: &HandlerMonitor) -> Result<OwnedFd, Failure> {
    let mut released = monitor.take_released();
    test.check_eq("descriptors that came back", 1, released.len(), "Handler::released, S20");
    let near = released.pop().ok_or_else(|| Failure::Wrong("the descriptor did not come back".into()))?;
    test.check_eq("its number", monitor.number(), near.as_raw_fd(), "S20");
    Ok(near)
}

fn check_usable(
    test: &mut TestContext,
    harness: &Harness,
    near: &OwnedFd,
    text: &str,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    harness.wait_until("the data can be read", || {
        let _ = read_all(near, &mut bytes);
        bytes.len() >= text.len()
    })?;
    test.check_eq(
        "what it reads",
        text.into(),
        String::from_utf8_lossy(&bytes).into_owned(),
        "S20: still usable",
    );
    Ok(())
}
