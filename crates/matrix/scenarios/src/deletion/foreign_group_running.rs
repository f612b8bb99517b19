//! A thread of another group deletes a descriptor under a running handler: while the deleting thread holds a
//! lock that the handler takes, and while a late report is between its check of the thread mask and the store
//! of its running bit. HAProxy isolated all threads for such a delete, which deadlocked with the lock (bug
//! 64), and it reads the running mask without a fence after its own store (suspect 2).

use std::sync::mpsc::{TryRecvError, channel};
use std::sync::{MutexGuard, TryLockError};
use std::time::Instant;

use super::first_and_last;
use super::monitor::{HandlerMonitor, delete_on};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/foreign-group-running",
    title: "Deleting an FD from another group while its handler runs or is about to run neither waits nor closes early nor leaks",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "S9", "L4", "L7", "bug 64", "suspect 2"],
    axes: Axes { threads: &[2, 4], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let threads = first_and_last(test, &harness)?;
    delete_under_a_lock(test, &mut harness, threads)?;
    test.stop_if_failed()?;
    for order in [Order::ReportLeaves, Order::DeleteEnds, Order::ReportEnds] {
        delete_before_handler(test, &mut harness, threads, order)?;
        test.stop_if_failed()?;
    }
    harness.finish(test, &[])
}

/// Locks the mutex, or gives up when patience ends: a deadlock must end with an explanation.
fn lock(mutex: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
    let end = Instant::now() + patience();
    while Instant::now() < end {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

fn delete_under_a_lock(
    test: &mut TestContext,
    harness: &mut Harness,
    [home, foreign]: [ThreadId; 2],
) -> Result {
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let (gate, mutex) = (Gate::new(), Arc::new(Mutex::new(())));
    let (sender, result) = channel();
    let (held, its_lock) = (gate.clone(), Arc::clone(&mutex));
    let handler = monitor.doing(move |monitor, ready| {
        held.pass();
        let locked = lock(&its_lock).is_some();
        monitor.recorder.record(ready);
        let _ = sender.send(locked);
    });
    let handle = harness.insert_recv(ends.near, handler, home)?;
    ends.far.write_all(b"x")?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong("the handler was never called".into()));
    }
    let closed = harness.closed();
    let before = harness.activity(home);

    let deleted = {
        let (gate, mutex) = (gate.clone(), Arc::clone(&mutex));
        harness.on(foreign, move |context| {
            let guard = lock(&mutex);
            // From here on the handler tries to take the lock, and gets it only after the delete has
            // returned.
            gate.open();
            let deleted = context.registration(handle).delete();
            let running = context.core().entry(handle).map(|entry| entry.running);
            let closed = context.core().registration_counts().closed;
            drop(guard);
            (deleted, running, closed)
        })?
    };
    test.check_debug("delete under the lock", Ok(()), deleted.0, "bug 64");
    test.check_debug("running mask after the delete", Ok(home.mask()), deleted.1, "S5");
    test.stop_if_failed()?;
    let locked = result.recv_timeout(patience());
    test.check_debug("the handler gets its lock", Ok(true), locked, "bug 64: no deadlock");
    harness.wait_until("the last user closes the descriptor", || monitor.dropped() > 0)?;
    test.check_eq("closed under the lock", 0, deleted.2 - closed, "S5");
    test.check_eq("closed", 1, harness.closed() - closed, "S4");
    let what = "registrations ended by the handler's thread";
    test.check_eq(what, 1, harness.activity(home).since(&before).fd_close, "L4");
    test.check_eq("bytes", "x".into(), monitor.text(), "S5");
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    test.stop_if_failed()?;
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S6");
    Ok(())
}

/// What the two threads of [`delete_before_handler`] do, after the thread mask is cleared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The report sets and clears its running bit. Then the delete finds no user, and ends the registration.
    ReportLeaves,
    /// The delete finds no user, and ends the registration. Then the report finds that.
    DeleteEnds,
    /// The delete finds the report's running bit, and leaves the token to it. The report ends the
    /// registration, and waits until the delete has released its reference.
    ReportEnds,
}

/// The report has found its bit in the thread mask when the delete begins, and sets its running bit after the
/// thread mask is cleared. One of the two closes, and only one.
fn delete_before_handler(
    test: &mut TestContext,
    harness: &mut Harness,
    [home, foreign]: [ThreadId; 2],
    order: Order,
) -> Result {
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let points = Checkpoints::watch();
    let number = monitor.number();
    let report = points.hold(home, Point::ReportBeforeRunning, number);
    let entered = points.hold(home, Point::ReportRunningSet, number);
    let delete = points.hold(foreign, Point::DeleteMaskCleared, number);
    let token = points.hold(foreign, Point::DeleteTokenSet, number);
    let handle = harness.insert_recv(ends.near, monitor.recording(), home)?;
    let closed = harness.closed();
    let (closer, bystander) = if order == Order::ReportEnds { (home, foreign) } else { (foreign, home) };
    let before = [closer, bystander].map(|id| harness.activity(id));
    ends.far.write_all(b"x")?;
    report.reached()?;
    let result = delete_on(harness, Some(foreign), handle)?;
    delete.reached()?;
    match order {
        Order::ReportLeaves => {
            entered.release();
            report.release();
            harness.fence(home)?;
            test.check_eq("closed by the late report", 0, harness.closed() - closed, "S4");
            delete.release();
        }
        Order::DeleteEnds => {
            delete.release();
            // The report has neither a reference nor a running bit yet: the close does not wait for it.
            harness.wait_until("the close beside the late report", || monitor.dropped() > 0)?;
            entered.release();
            report.release();
        }
        Order::ReportEnds => {
            report.release();
            entered.reached()?;
            delete.release();
            token.reached()?;
            entered.release();
            let has_ended = || harness.core().entry(handle).is_err();
            harness.wait_until("the report ends the registration", has_ended)?;
            let closed_early = harness.closed() - closed;
            test.check_eq("closed while the delete has a reference", 0, closed_early, "S5");
            let is_waiting = matches!(result.try_recv(), Err(TryRecvError::Empty));
            test.check_eq("the delete has not returned", true, is_waiting, "S5");
        }
    }
    token.release();
    let deleted = result.recv_timeout(patience()).map_err(|_| Failure::Wrong("the delete hangs".into()))?;
    test.check_debug("delete", Ok(()), deleted, "suspect 2");
    harness.wait_until("the close", || monitor.dropped() > 0)?;
    drop(points);
    harness.fence_all()?;
    test.check_eq("handler calls", 0, monitor.calls(), "S6: the thread mask was gone before the running bit");
    test.check_eq("closed", 1, harness.closed() - closed, "S4");
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    let ended_by = |id: ThreadId, before: &_| harness.activity(id).since(before).fd_close;
    let ended = (ended_by(closer, &before[0]), ended_by(bystander, &before[1]));
    let what = "registrations ended by either thread";
    test.check_eq(what, "1 0".into(), format!("{} {}", ended.0, ended.1), "S14");
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    Ok(())
}
