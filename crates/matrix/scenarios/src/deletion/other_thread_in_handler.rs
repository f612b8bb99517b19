//! Another thread deletes a descriptor while its handler runs, and again after the handler has returned,
//! before its thread has given up the running bit. HAProxy's exit reads the thread mask before it gives up
//! the running bit: a delete in between leaves the close to a thread that sees nothing to close, and the
//! descriptor leaks (suspect 1).

use fd_core::OwnerId;

use super::monitor::{HandlerMonitor, delete_on};
use crate::prelude::*;
use fd_core::error::{DeleteError, MoveError};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/other-thread-in-handler",
    title: "Deleting an FD whose handler runs returns at once, and the FD stays open until the handler returns",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S14", "L4", "L7", "bug 45", "suspect 1"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    delete_while_handler_runs(test, &mut harness)?;
    test.stop_if_failed()?;
    delete_after_handler(test, &mut harness)?;
    harness.finish(test, &[])
}

fn delete_while_handler_runs(test: &mut TestContext, harness: &mut Harness) -> Result {
    let (user, deleter) = (harness.thread(0), harness.thread(1));
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let gate = Gate::new();
    let held = gate.clone();
    let handler = monitor.doing(move |monitor, ready| {
        held.pass();
        monitor.recorder.record(ready);
    });
    let owner = OwnerId::of(&handler);
    let handle = harness.insert_recv(ends.near, handler, user)?;
    ends.far.write_all(b"before,")?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong("the handler was never called".into()));
    }
    let closed = harness.closed();
    let before = harness.activity(user);

    // The gate stays closed until long after this call has returned.
    let results = harness.on(deleter, move |context| {
        let fd = context.registration(handle);
        let deleted = fd.delete();
        (deleted, fd.delete(), context.takeover(handle, owner), fd.want_recv())
    })?;
    test.check_debug("delete", Ok(()), results.0, "bug 45: never waits");
    test.check_debug("second delete", Err(DeleteError::AlreadyDeleted), results.1, "protocol 6.1");
    test.check_debug("takeover", Err(MoveError::Busy), results.2, "S3, protocol 8.2");
    test.check_debug("want", Ok(()), results.3, "a registration that has not ended is not stale");
    test.check_eq("the number is open", true, descriptors::is_open(monitor.number()), "S5");
    test.check_eq("closed", 0, harness.closed() - closed, "S5");
    test.check_eq("handlers dropped", 0, monitor.dropped(), "4.8");
    test.stop_if_failed()?;
    let entry = harness.core().entry(handle).map_err(|stale| Failure::Wrong(stale.to_string()))?;
    test.check_eq("thread mask", 0, entry.thread_mask.bits(), "protocol 6.2");
    test.check_eq("running mask", user.mask().bits(), entry.running.bits(), "S5");
    test.check_eq("the close is left to the last user", true, entry.state.contains(State::MUST_CLOSE), "S14");
    test.stop_if_failed()?;

    harness.send(&mut ends.far, monitor.number(), b"after")?;
    gate.open();
    // No further event reaches that thread (L4).
    harness.wait_until("the last user closes the descriptor", || monitor.dropped() > 0)?;
    test.check_eq("bytes", "before,after".into(), monitor.text(), "S5: usable until the handler returns");
    test.check_eq("the number was open when the handler was dropped", 0, monitor.open_when_dropped(), "4.8");
    test.check_eq("closed", 1, harness.closed() - closed, "S4");
    let closer = harness.activity(user).since(&before).fd_close;
    test.check_eq("registrations ended by the handler's thread", 1, closer, "L4: the last user closes");
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S6");
    Ok(())
}

/// Holds the thread at points between the return of its handler and the end of its exit, and deletes.
fn delete_after_handler(test: &mut TestContext, harness: &mut Harness) -> Result {
    let (user, deleter) = (harness.thread(0), harness.thread(1));
    for point in [Point::ReportHandlerDone, Point::ExitBegun, Point::ExitRunningCleared] {
        let mut ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        let checkpoints = Checkpoints::watch();
        let gate = checkpoints.gate(point, monitor.number());
        let handle = harness.insert_recv(ends.near, monitor.recording(), user)?;
        ends.far.write_all(b"x")?;
        if !gate.wait_for(1) {
            return Err(Failure::Wrong(format!("the thread did not reach {point:?}")));
        }
        let result = delete_on(harness, Some(deleter), handle)?;
        let deleted =
            result.recv_timeout(patience()).map_err(|_| Failure::Wrong("the deleter hangs".into()))?;
        test.check_debug(format!("delete at {point:?}"), Ok(()), deleted, "bug 45");
        // Without its running bit the held thread is no user any more: the delete closes at once.
        let is_open = descriptors::is_open(monitor.number());
        let (expected, clause) = (point != Point::ExitRunningCleared, "S5, L4, L7");
        test.check_eq(format!("the number is open after a delete at {point:?}"), expected, is_open, clause);
        gate.open();
        harness.wait_until(&format!("the close after a delete at {point:?}"), || monitor.dropped() > 0)?;
        drop(checkpoints);
        harness.wait_until("the peer sees the end", || ends.far.ended())?;
        harness.fence_all()?;
        test.check_eq("handler calls", 1, monitor.calls(), "S6");
    }
    Ok(())
}
