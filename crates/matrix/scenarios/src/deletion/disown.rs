//! A registration ends and its descriptor stays open. HAProxy closed descriptors that belonged to other code
//! (bug 55), and left the polled masks behind, so that the next user of the number was never added to any
//! poller (bug 34).

use std::os::fd::{AsRawFd, OwnedFd};

use fd_core::error::DeleteError;

use super::cloned::{snapshots, undelivered_events};
use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/disown",
    title: "A disowned FD is returned open after its last use, is in no poller, and can be registered again",
    layer: Layer::Contract,
    clauses: &["S5", "S8", "S10", "S20", "L4", "bug 34", "bug 55"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let released = harness.core().registration_counts().released;
    let ends = test.pair()?;
    let (near, mut far) = disown_idle(test, &mut harness, &sleepers, ends.near, ends.far)?;
    test.stop_if_failed()?;
    let near = disown_in_handler(test, &mut harness, near, &mut far)?;
    test.stop_if_failed()?;
    // Registers the same file on every thread in turn: no poller may have kept anything of it.
    let mut near = near;
    for thread in harness.threads() {
        near = register_again(test, &mut harness, near, &mut far, thread)?;
        test.stop_if_failed()?;
    }
    let registrations = 2 + harness.threads().len() as u64;
    let what = "registrations returned";
    test.check_eq(what, registrations, harness.core().registration_counts().released - released, "S20");
    test.check_eq("the peer sees the end", false, far.ended(), "S20: never closed by the table");
    drop(near);
    harness.wait_until("the peer sees the end", || far.ended())?;
    drop(far);
    harness.finish(test, &[])
}

/// Disowns a descriptor that the whole group polls, from a thread outside the runtime: it is returned at
/// once.
fn disown_idle(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    near: OwnedFd,
    mut far: FarEnd,
) -> Result<(OwnedFd, FarEnd)> {
    let (thread, monitor) = (harness.thread(0), HandlerMonitor::new(&near));
    let group_mask = harness.core().table().threads(thread.group());
    let handle = harness.insert_shared_recv(near, monitor.recording(), thread, group_mask)?;
    harness.wait_until_polled(handle, group_mask)?;
    sleepers.wait(harness)?;
    let closed = harness.closed();
    let disowned = harness.registration(handle).disown();
    test.check_debug("disown", Ok(()), disowned, "RegistrationRef::disown");
    let second_result = harness.registration(handle).disown();
    test.check_eq("second disown", true, matches!(second_result, Err(DeleteError::Stale(_))), "protocol 2.1");
    let near = check_returned(test, &monitor)?;
    test.check_eq("closed", 0, harness.closed() - closed, "bug 55");
    test.check_eq("handlers dropped", 1, monitor.dropped(), "Handler::released");

    check_in_no_poller(test, harness, &near, &mut far)?;
    test.check_eq("handler calls", 0, monitor.calls(), "S20");
    Ok((near, far))
}

/// Disowns a descriptor in its own handler and checks its state from outside while the handler runs.
fn disown_in_handler(
    test: &mut TestContext,
    harness: &mut Harness,
    near: OwnedFd,
    far: &mut FarEnd,
) -> Result<OwnedFd> {
    let (thread, monitor, gate) = (harness.thread(1), HandlerMonitor::new(&near), Gate::new());
    let held = gate.clone();
    let handler = monitor.doing(move |monitor, ready| {
        let _ = ready.registration().disown();
        held.pass();
        monitor.recorder.record(ready);
    });
    let handle = harness.insert_recv(near, handler, thread)?;
    far.write_all(b"own")?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong("the handler was never called".into()));
    }
    let second_result = harness.registration(handle).delete();
    test.check_debug("delete after disown", Err(DeleteError::AlreadyDeleted), second_result, "protocol 6.1");
    test.check_eq("returned while in use", 0, monitor.take_released().len(), "S5");
    gate.open();
    harness.wait_until("the handler is dropped", || monitor.dropped() > 0)?;
    let near = check_returned(test, &monitor)?;
    test.check_eq("bytes", "own".into(), monitor.text(), "S5: usable until the handler returns");
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S6");
    Ok(near)
}

/// Inserts the descriptor again, has it reported once, and disowns it on its own thread.
fn register_again(
    test: &mut TestContext,
    harness: &mut Harness,
    near: OwnedFd,
    far: &mut FarEnd,
    thread: ThreadId,
) -> Result<OwnedFd> {
    let monitor = HandlerMonitor::new(&near);
    let handle = harness.insert(near, monitor.recording(), thread)?;
    // No interest is set yet: the interest of the previous registration is forgotten.
    harness.send(far, monitor.number(), b"reported")?;
    harness.fence_all()?;
    let reported = harness.core().entry(handle)?.state.and(State::POLL_IN);
    test.check_eq("reports before any interest is set", State::default(), reported, "S20, suspect 11");
    test.check_eq("handler calls before any interest is set", 0, monitor.calls(), "S18");
    harness.on(thread, move |context| context.registration(handle).want_recv())??;
    harness.wait_until(&format!("the report to thread {thread}"), || monitor.text() == "reported")?;
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S20, bug 34: registered again, once");
    let disowned = harness.on(thread, move |context| context.registration(handle).disown())?;
    test.check_debug("disown", Ok(()), disowned, "RegistrationRef::disown");
    let near = check_returned(test, &monitor)?;

    // Only this thread removes its own kernel registration, and no close does it.
    check_in_no_poller(test, harness, &near, far)?;
    Ok(near)
}

/// Checks that new data is not reported, and that it can be read.
fn check_in_no_poller(
    test: &mut TestContext,
    harness: &mut Harness,
    near: &OwnedFd,
    far: &mut FarEnd,
) -> Result {
    let polls = descriptors::epolls_with(near.as_raw_fd()).unwrap_or(0);
    test.check_eq("epoll descriptors that have it", 0, polls, "S20, bug 34");
    if !harness.core().backend().capabilities().kernel_state {
        // A thread that was woken may not have built its array again yet.
        harness.fence_all()?;
    }
    let before = snapshots(harness);
    harness.send(far, near.as_raw_fd(), b"unreported")?;
    harness.fence_all()?;
    let what = "undelivered events";
    test.check_eq(what, 0, undelivered_events(harness, &before), "S20, bug 34: no poller has it");
    check_usable(test, harness, near, "unreported")
}

fn check_returned(test: &mut TestContext, monitor: &HandlerMonitor) -> Result<OwnedFd> {
    let mut released = monitor.take_released();
    test.check_eq("returned descriptors", 1, released.len(), "Handler::released, S20");
    let near = released.pop().ok_or_else(|| Failure::Wrong("the descriptor was not returned".into()))?;
    test.check_eq("its number", monitor.number(), near.as_raw_fd(), "S20");
    Ok(near)
}

fn check_usable(test: &mut TestContext, harness: &Harness, near: &OwnedFd, text: &str) -> Result {
    let mut bytes = Vec::new();
    harness.wait_until("the data can be read", || {
        let _ = read_all(near, &mut bytes);
        bytes.len() >= text.len()
    })?;
    let what = "data read from it";
    test.check_eq(what, text.into(), String::from_utf8_lossy(&bytes).into_owned(), "S20: still usable");
    Ok(())
}
