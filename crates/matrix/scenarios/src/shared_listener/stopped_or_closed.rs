//! What the clients of a listener see when it is stopped, and when it is closed.
//!
//! Envoy's stopped listeners stayed open: clients connected to nobody and hung instead of being refused. A
//! stopped listener keeps its clients, who are served when it starts again. A deleted one turns away those
//! who wait and refuses all others, and needs no event for it: a thread that sleeps in poll(2) or select(2)
//! holds the socket open in the kernel until it is woken.

use super::acceptor::Acceptor;
use super::calls::{Answer, check_greeted, end_of, greeting, is_refusal};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/stopped-or-closed",
    title: "The clients of a stopped listener wait, and those of a deleted one are turned away though all threads sleep",
    layer: Layer::Contract,
    clauses: &["S4", "S18", "L1", "L4", "L6"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

/// Clients that wait in the queue of a stopped listener.
const WAITING: usize = 3;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let last = harness.thread(test.params.threads - 1);
    for caller in [Caller::Worker(harness.thread(0)), Caller::Worker(last), Caller::Outside] {
        for is_stopped in [false, true] {
            harness = one_listener(test, harness, caller, is_stopped)?;
            test.stop_if_failed()?;
        }
    }
    harness.finish(test, &[])
}

/// Stops and starts a listener as `caller`, and deletes it: while clients wait, if it `is_stopped` again.
fn one_listener(
    test: &mut TestContext,
    harness: Harness,
    caller: Caller,
    is_stopped: bool,
) -> Result<Harness> {
    let sleepers = Sleepers::watch();
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::of_first_group(test, harness, acceptor.clone())?;
    let when = format!("stopped by {caller:?}");
    fixture.call(caller, Action::Start)?;
    fixture.check_converged(test, "at first")?;
    fixture.call(caller, Action::Stop)?;
    let mut clients = vec![fixture.connect_to_stopped()?];
    fixture.wait_until_dropped(&when)?;
    let runs = acceptor.runs();
    for _ in 1..WAITING {
        clients.push(fixture.address.connect()?);
    }
    let threads = fixture.harness.threads();
    fixture.check_quiet(test, &threads, &when)?;
    test.check_eq(format!("{when}: handler runs"), runs, acceptor.runs(), "S18");
    fixture.call(caller, Action::Start)?;
    for client in clients.drain(..) {
        check_greeted(test, format!("{when} and started: a client that waited"), greeting(client)?, "L1");
    }
    fixture.wait_until_polled(&sleepers, "started again")?;

    if is_stopped {
        fixture.call(caller, Action::Stop)?;
        clients.push(fixture.connect_to_stopped()?);
        fixture.wait_until_dropped(&when)?;
    }
    sleepers.wait(&fixture.harness)?;
    let when = if is_stopped { "stopped, with a client, and deleted" } else { "deleted" };
    let when = format!("{when} by {caller:?}");
    fixture.harness.call_on(caller.thread(), fixture.handle, |fd| fd.delete())??;
    // Nothing wakes the threads but the core: a call that is not refused waits for its end.
    let label = format!("{when}: clients are refused");
    fixture.harness.wait_until(&label, || is_refused(&fixture))?;
    for client in clients {
        let answer = end_of(client)?;
        let is_turned_away = matches!(answer, Answer::Dropped | Answer::Forgotten);
        test.check(
            format!("{when}: a client that waited"),
            "Dropped",
            format!("{answer:?}"),
            "close(2)",
            is_turned_away,
        );
    }
    fixture.harness.fence_all()?;
    Ok(fixture.harness)
}

/// Returns whether a client is refused now. One that is not is gone at once: the kernel may know nothing of
/// it.
fn is_refused(fixture: &ListenerFixture) -> bool {
    fixture.address.connect().is_err_and(|error| is_refusal(&error))
}
