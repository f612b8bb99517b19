//! A listener is deleted while threads accept from it.
//!
//! Accepting threads are late users of the deleted entry: each of them may be the last, and exactly one closes
//! (bugs 66 and 67). What was accepted was served; what was not is reset when the listener closes; who comes later is
//! refused.

use std::sync::atomic::Ordering;
use std::thread::scope;

use metadata::{Axes, Layer, Transport};

use super::acceptor::Acceptor;
use super::calls::{Answer, Prospect, call, call_until, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn_in;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/delete-while-accepting",
    title: "A listener can be deleted while other threads accept from it",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "L4", "bug 64", "bug 66", "bug 67", "suspect 1"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[2, 4, 8],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

const CLIENTS: usize = 4;
/// Calls after the end.
const LATE_CALLS: usize = 3;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut random = fastrand::Rng::with_seed(test.seed);
    let mut harness = Harness::start(test)?;
    // Deleted by a worker inside the mask, another one, one of another group if there is one, and an outsider: at some
    // moment, and then while a handler is known to run.
    let deleters: Vec<_> = [harness.thread(0), harness.thread(1), harness.thread(test.params.threads - 1)]
        .into_iter()
        .map(Caller::Worker)
        .chain([Caller::Outside])
        .collect();
    for (deleter, inside) in
        deleters.iter().map(|who| (who, false)).chain(deleters.iter().map(|who| (who, true)))
    {
        harness = once(test, harness, *deleter, inside, random.u64(5..40))?;
    }
    harness.finish(test, &[])
}

/// One life of a listener, deleted after about `calls` calls; `inside` says whether a handler must be running then, on
/// another thread than the deleter.
fn once(
    test: &mut TestContext,
    harness: Harness,
    deleter: Caller,
    inside: bool,
    calls: u64,
) -> Result<Harness, Failure> {
    let acceptor = Acceptor::new();
    let group = harness.thread(0).group();
    let mut fixture =
        ListenerFixture::with(test, harness, acceptor.clone(), |thread| thread.group() == group)?;
    let closed = fixture.harness.core().registration_counts().closed;
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "before the calls")?;

    let address = fixture.address.clone();
    let prospect = Prospect::default();
    let answers = scope(|scope| {
        let client = || -> Result<_, Failure> {
            let mut answers = Vec::new();
            while answers.last() != Some(&Answer::Refused) && !prospect.hopeless.load(Ordering::SeqCst) {
                answers.push(call_until(&address, &prospect)?);
            }
            Ok(answers)
        };
        let clients = (0..CLIENTS).map(|_| spawn_in(scope, client)).collect::<Result<Vec<_>, _>>();
        let clients = clients.inspect_err(|_| prospect.hopeless.store(true, Ordering::SeqCst))?;
        let ended = delete_after(&mut fixture, &acceptor, deleter, inside, calls);
        let closed = fixture.harness.core().registration_counts().closed - closed;
        prospect.gone.store(true, Ordering::SeqCst);
        // Nobody will be refused by a listener that nobody closes.
        prospect.hopeless.store(ended.is_err() || closed == 0, Ordering::SeqCst);
        let answers: Vec<_> =
            clients.into_iter().map(|client| client.join().expect("a client never panics")).collect();
        ended.map(|()| (closed, answers))
    });
    let (closed, answers) = answers?;
    let who = format!("deleted by {deleter:?}");
    test.check_eq(format!("{who}: closes, as soon as nobody uses it"), 1, closed, "S4, L4");
    if closed == 0 {
        return Err(Failure::Wrong(format!("{who}: nobody has closed it, and nobody uses it (L4)")));
    }
    let answers: Result<Vec<_>, _> = answers.into_iter().collect();
    let answers = answers?.concat();
    let numbers = numbers(&answers);
    let expected: Vec<_> = (0..acceptor.greeted()).collect();
    test.check_eq(
        format!("{who}: greetings heard"),
        format!("{expected:?}"),
        format!("{numbers:?}"),
        "S6: accepted is served",
    );
    for _ in 0..LATE_CALLS {
        let answer = call(&fixture.address)?;
        test.check_eq(
            format!("{who}: a later call"),
            "Refused".into(),
            format!("{answer:?}"),
            "close(2), connect(2)",
        );
    }
    let again = fixture.harness.core().registration(fixture.handle).delete();
    test.check(
        format!("{who}: another delete"),
        "Err(Stale)",
        format!("{again:?}"),
        "protocol 2.1",
        again.is_err(),
    );
    let count = |wanted| answers.iter().filter(|answer| **answer == wanted).count() as u64;
    test.count(format!("dropped, {who}"), count(Answer::Dropped));
    test.count(format!("forgotten, {who}"), count(Answer::Forgotten));
    Ok(fixture.harness)
}

/// Deletes after `calls` calls, and lets the running handlers end.
fn delete_after(
    fixture: &mut ListenerFixture,
    acceptor: &Acceptor,
    deleter: Caller,
    inside: bool,
    calls: u64,
) -> Result<(), Failure> {
    fixture.harness.wait_until("clients are greeted", || acceptor.greeted() >= calls)?;
    let me = match deleter {
        Caller::Worker(thread) => Some(thread),
        Caller::Outside => None,
    };
    let (gate, held) = acceptor.hold_all_but(me);
    let inside = inside && fixture.sharers.iter().any(|thread| Some(*thread) != me);
    if inside {
        fixture.harness.wait_until("a thread is in the handler", || gate.arrived() > 0)?;
    } else {
        gate.open();
    }
    let handle = fixture.handle;
    let deleted = match deleter {
        Caller::Outside => fixture.harness.core().registration(handle).delete(),
        Caller::Worker(thread) => {
            fixture.harness.on(thread, move |context| context.registration(handle).delete())?
        }
    };
    deleted.map_err(|error| Failure::Wrong(format!("delete by {deleter:?}: {error}")))?;
    if inside && fixture.entry().is_err() {
        return Err(Failure::Wrong("the listener is closed under a running handler (S5)".into()));
    }
    drop(held);
    // A handler that was running is over then; if it was the last user, it has closed.
    fixture.harness.fence_all()
}
