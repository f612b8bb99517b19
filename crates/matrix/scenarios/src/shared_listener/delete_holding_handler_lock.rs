//! A thread deletes a listener while it holds the lock that the listener's handlers wait for.
//!
//! In HAProxy, delete used to wait until no thread ran the handler. A listener's handlers take the listener's
//! lock, and so does the thread that deletes the listener: one waited for the running bit, the other for the
//! lock (bug 45; from another group, bugs 64 and 87). Here delete does not wait: the last user closes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fd_core::RegistrationRef;
use fd_core::error::DeleteError;

use super::acceptor::Acceptor;
use super::calls::{Answer, call, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;
use crate::threads::spawn;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/delete-holding-handler-lock",
    title: "Deleting a listener does not wait for a handler that waits for a lock of the deleting thread",
    layer: Layer::Contract,
    clauses: &["S5", "L4", "L7", "bug 45", "bug 64", "bug 87"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

/// The time after which the delete counts as waiting. It takes a few hundred instructions.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A handler that takes the lock before it accepts.
struct Locking {
    lock: Arc<Mutex<()>>,
    handler_entered: Gate,
    /// Set when the scenario ends early: a handler that waits for the lock then continues without it.
    cancelled: Arc<AtomicBool>,
    acceptor: Arc<Acceptor>,
}

impl Handler for Locking {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.handler_entered.pass();
        while !self.cancelled.load(Ordering::SeqCst) {
            if let Ok(_held) = self.lock.try_lock() {
                return self.acceptor.ready(ready);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    // A thread that shares the listener, a thread of another group if there is one, and a thread outside the
    // runtime.
    let last = harness.thread(test.params.threads - 1);
    for deleter in [Caller::Worker(harness.thread(1)), Caller::Worker(last), Caller::Outside] {
        let in_time;
        (harness, in_time) = delete_under_lock(test, harness, deleter)?;
        if !in_time {
            break;
        }
    }
    harness.finish(test, &[])
}

/// Deletes once while holding the lock. Returns whether the delete returned in time.
fn delete_under_lock(test: &mut TestContext, harness: Harness, deleter: Caller) -> Result<(Harness, bool)> {
    let label = format!("deleted by {deleter:?}");
    let (acceptor, handler_entered, cancelled) = (Acceptor::new(), Gate::new(), Arc::<AtomicBool>::default());
    handler_entered.open();
    let handler = Locking {
        lock: Arc::default(),
        handler_entered: handler_entered.clone(),
        cancelled: Arc::clone(&cancelled),
        acceptor: Arc::clone(&acceptor),
    };
    let the_lock = Arc::clone(&handler.lock);
    let mut fixture = ListenerFixture::of_first_group(test, harness, Arc::new(handler))?;
    fixture.call(Caller::Outside, Action::Start)?;
    // Other pollers than the deleter's have the listener, too.
    fixture.check_converged(test, &label)?;
    let closed = fixture.harness.closed();

    let (locked, release) = (Gate::new(), Gate::new());
    let guard = release.guard();
    locked.open();
    let deleted =
        delete_locked(&fixture, deleter, the_lock, [locked.clone(), handler_entered.clone(), release])?;
    if !locked.wait_for(1) {
        return Err(Failure::Wrong(format!("{label}: the deleter did not get the lock")));
    }
    let client = fixture.address.connect()?;
    let Ok(answer) = deleted.recv_timeout(TIME_LIMIT) else {
        let observed =
            format!("no return after {TIME_LIMIT:?}, with a handler waiting for the deleter's lock");
        test.check(format!("{label}: delete"), "returns at once", observed, "L7, bug 45", false);
        cancelled.store(true, Ordering::SeqCst);
        drop(guard);
        // The handler ends and the delete returns, so that nothing hangs.
        let _ = deleted.recv_timeout(TIME_LIMIT);
        return Ok((fixture.harness, false));
    };
    test.check_debug(format!("{label}: delete"), Ok(()), answer, "L7, bug 45");

    // The handler still runs: the descriptor must not be closed under it.
    let entry = fixture.entry()?;
    test.check_eq(format!("{label}: thread mask"), 0, entry.thread_mask.bits(), "S6");
    let holds = !entry.running.is_empty();
    test.check(format!("{label}: running mask"), "not empty", entry.running.bits(), "S5", holds);
    test.check_eq(format!("{label}: closed under the handler"), closed, fixture.harness.closed(), "S5");
    drop(guard);
    let answer = greeting(client)?;
    test.check_debug(format!("{label}: the client that called before"), Answer::Greeted(0), answer, "S5");
    // The last user closes it in the exit from its handler, and needs no other event.
    let core = Arc::clone(fixture.harness.core());
    let is_closed = || core.registration_counts().closed > closed;
    fixture.harness.wait_until(&format!("{label}: the last user closes the listener (L4)"), is_closed)?;
    fixture.harness.fence_all()?;
    let what = format!("{label}: closes after the exit of the last user");
    test.check_eq(what, closed + 1, fixture.harness.closed(), "L4");
    let answer = call(&fixture.address)?;
    test.check_debug(format!("{label}: a later call"), Answer::Refused, answer, "close(2), connect(2)");
    Ok((fixture.harness, true))
}

/// Lets `deleter` take the lock, pass the first gate, wait at the second until a handler has entered, delete,
/// and hold the lock until the third gate is open. The receiver gets the result when the delete returns.
fn delete_locked(
    fixture: &ListenerFixture,
    deleter: Caller,
    the_lock: Arc<Mutex<()>>,
    gates: [Gate; 3],
) -> Result<Receiver<Result<(), DeleteError>>> {
    let (answer, answered) = channel();
    let handle = fixture.handle;
    let delete = move |fd: &RegistrationRef<'_>| {
        let [locked, handler_entered, release] = gates;
        let held = unpoisoned(&the_lock);
        locked.pass();
        if handler_entered.wait_for(1) {
            let _ = answer.send(fd.delete());
        }
        release.pass();
        drop(held);
    };
    match deleter {
        Caller::Worker(thread) => {
            let _ = fixture.harness.core().post(thread, move |context| delete(&context.registration(handle)));
        }
        Caller::Outside => {
            let core = Arc::clone(fixture.harness.core());
            spawn(move || delete(&core.registration(handle)))?;
        }
    }
    Ok(answered)
}
