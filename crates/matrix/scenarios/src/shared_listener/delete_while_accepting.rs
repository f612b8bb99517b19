//! A thread deletes a listener while other threads accept from it.
//!
//! Accepting threads are late users of the deleted entry: each of them may be the last, and exactly one
//! closes (bugs 66 and 67). Accepted connections are served; connections in the queue are reset when the
//! listener closes; later ones are refused.

use std::sync::atomic::Ordering;
use std::thread::scope;

use super::acceptor::Acceptor;
use super::calls::{Answer, Closing, call, call_until, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;
use crate::threads::spawn_in;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/delete-while-accepting",
    title: "A listener can be deleted while other threads accept from it, and it is closed once",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "L4", "bug 64", "bug 66", "bug 67", "suspect 1"],
    axes: Axes { threads: &[2, 4, 8], ..super::AXES },
    run,
};

const CLIENTS: usize = 4;
/// Calls after the close.
const LATE_CALLS: usize = 3;

fn run(test: &mut TestContext) -> Result {
    let mut random = fastrand::Rng::with_seed(test.seed);
    let mut harness = Harness::start(test)?;
    // Deleted by two workers, by one of another group if there is one, and by a thread outside the runtime:
    // first at a random moment, then while a handler is known to run.
    let deleters: Vec<_> = [harness.thread(0), harness.thread(1), harness.thread(test.params.threads - 1)]
        .into_iter()
        .map(Caller::Worker)
        .chain([Caller::Outside])
        .collect();
    for (deleter, in_handler) in
        deleters.iter().map(|deleter| (deleter, false)).chain(deleters.iter().map(|deleter| (deleter, true)))
    {
        harness = delete_listener(test, harness, *deleter, in_handler, random.u64(5..40))?;
    }
    harness.finish(test, &[])
}

/// Registers a listener and deletes it after about `calls` calls. With `in_handler`, a handler must then be
/// running on another thread than the deleter's.
fn delete_listener(
    test: &mut TestContext,
    harness: Harness,
    deleter: Caller,
    in_handler: bool,
    calls: u64,
) -> Result<Harness> {
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::of_first_group(test, harness, acceptor.clone())?;
    let closed = fixture.harness.closed();
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "before the calls")?;

    let address = fixture.address.clone();
    let closing = Closing::default();
    let answers = scope(|scope| {
        let client = || -> Result<_> {
            let mut answers = Vec::new();
            while answers.last() != Some(&Answer::Refused) && !closing.cancelled.load(Ordering::SeqCst) {
                answers.push(call_until(&address, &closing)?);
                // NetBSD's close(2) resets one waiting connection after the other while the socket still
                // listens, without its lock (soclose). Clients that call again at once keep it from ending:
                // 18,000 were dropped in 50 s by a thread that had no time for its fence (7.99.10). A client
                // that was dropped has seen its connection reset; its next call is the one to be refused.
                if answers.last() == Some(&Answer::Dropped) {
                    closing.wait();
                }
            }
            Ok(answers)
        };
        let clients = (0..CLIENTS).map(|_| spawn_in(scope, client)).collect::<Result<Vec<_>, _>>();
        let clients = clients.inspect_err(|_| closing.cancelled.store(true, Ordering::SeqCst))?;
        let ended = delete_after(&mut fixture, &acceptor, deleter, in_handler, calls);
        let closed = fixture.harness.closed() - closed;
        closing.closed.store(true, Ordering::SeqCst);
        // A listener that is not closed refuses no client.
        closing.cancelled.store(ended.is_err(), Ordering::SeqCst);
        let answers: Vec<_> =
            clients.into_iter().map(|client| client.join().expect("a client never panics")).collect();
        ended.map(|()| (closed, answers))
    });
    let (closed, answers) = answers?;
    let label = format!("deleted by {deleter:?}");
    test.check_eq(format!("{label}: closes after the last use"), 1, closed, "S4, L4");
    let answers: Result<Vec<_>, _> = answers.into_iter().collect();
    let answers = answers?.concat();
    let numbers = numbers(&answers);
    let expected: Vec<_> = (0..acceptor.greeted()).collect();
    test.check_debug(
        format!("{label}: greetings received"),
        expected,
        numbers,
        "S6: accepted connections are served",
    );
    for _ in 0..LATE_CALLS {
        let answer = call(&fixture.address)?;
        test.check_debug(format!("{label}: a later call"), Answer::Refused, answer, "close(2), connect(2)");
    }
    let second_result = fixture.harness.registration(fixture.handle).delete();
    let what = format!("{label}: second delete");
    test.check(what, "Err(Stale)", format!("{second_result:?}"), "protocol 2.1", second_result.is_err());
    let count = |wanted| answers.iter().filter(|answer| **answer == wanted).count() as u64;
    test.record_counter(format!("dropped, {label}"), count(Answer::Dropped));
    test.record_counter(format!("forgotten, {label}"), count(Answer::Forgotten));
    Ok(fixture.harness)
}

/// Deletes the listener after `calls` calls, and lets the running handlers end.
fn delete_after(
    fixture: &mut ListenerFixture,
    acceptor: &Acceptor,
    deleter: Caller,
    in_handler: bool,
    calls: u64,
) -> Result {
    fixture.harness.wait_until("clients are greeted", || acceptor.greeted() >= calls)?;
    let own_thread = deleter.thread();
    let (gate, held) = acceptor.hold_all_but(own_thread);
    let in_handler = in_handler && fixture.sharers.iter().any(|thread| Some(*thread) != own_thread);
    if in_handler {
        fixture.harness.wait_until("a thread is in the handler", || gate.arrived() > 0)?;
    } else {
        gate.open();
    }
    let core = Arc::clone(fixture.harness.core());
    let closed = core.registration_counts().closed;
    let deleted = fixture.harness.call_on(deleter.thread(), fixture.handle, |fd| fd.delete())?;
    deleted.map_err(|error| Failure::Wrong(format!("delete by {deleter:?}: {error}")))?;
    if in_handler && fixture.entry().is_err() {
        return Err(Failure::Wrong("the listener is closed under a running handler (S5)".into()));
    }
    drop(held);
    // The last user closes it in the exit from its handler, and needs no other event.
    let is_closed = || core.registration_counts().closed > closed;
    fixture.harness.wait_until("the last user closes the listener (L4)", is_closed)?;
    fixture.harness.fence_all()
}
