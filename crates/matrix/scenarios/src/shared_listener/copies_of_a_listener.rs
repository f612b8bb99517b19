//! Two descriptors of one listening socket, each registered for itself.
//!
//! In HAProxy, a duplicated listener was suspended and unbound as if it were inherited, which concerns the
//! socket and not the descriptor: the other one stopped accepting (bug 91). A pause or a delete of one
//! registration leaves the other one as it was, and no poller reports the one that is gone for the open file
//! that remains (bug 1).

use super::acceptor::Acceptor;
use super::calls::{Answer, call, check_greeted, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/copies-of-a-listener",
    title: "Of two descriptors of one listener, one is paused or deleted, and the other accepts every connection",
    layer: Layer::Contract,
    clauses: &["S4", "S7", "S11", "S18", "L1", "L5", "L6", "bug 1", "bug 91"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

/// Clients of each part.
const CLIENTS: u64 = 4;

/// A registration of the listener, and its handler.
#[derive(Clone)]
struct Copy {
    name: &'static str,
    handle: FdHandle,
    acceptor: Arc<Acceptor>,
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let callers = [Caller::Worker(harness.thread(0)), Caller::Outside];
    for original_goes in [false, true] {
        for caller in callers {
            harness = one_goes(test, harness, original_goes, caller)?;
            test.stop_if_failed()?;
        }
    }
    harness.finish(test, &[])
}

/// Pauses and deletes one of two registrations as `caller`.
fn one_goes(
    test: &mut TestContext,
    harness: Harness,
    original_goes: bool,
    caller: Caller,
) -> Result<Harness> {
    let acceptor = Acceptor::new();
    let group = harness.thread(0).group();
    let mut fixture = ListenerFixture::of_first_group(test, harness, acceptor.clone())?;
    let original = Copy { name: "the original", handle: fixture.handle, acceptor };
    let copy = fixture.harness.registration(fixture.handle).duplicate()?.into_inner();
    let acceptor = Acceptor::new();
    let options = InsertOptions { cloned: true, ..fixture.harness.options() };
    let handle = fixture
        .harness
        .core()
        .insert(copy, acceptor.clone() as Arc<dyn Handler>, group, fixture.mask(), options)
        .map_err(Failure::broken)?;
    let copy = Copy { name: "the copy", handle, acceptor };
    let (gone, left) = if original_goes { (original, copy) } else { (copy, original) };
    let when = |what: &str| format!("{} is {what} by {caller:?}", gone.name);
    for one in [&gone, &left] {
        fixture.harness.registration(one.handle).want_recv()?;
        fixture.harness.wait_until_polled(one.handle, fixture.mask())?;
    }

    // Each poller reports both for a client, and removes both (L6). One is started again, and accepts it.
    fixture.call_of(gone.handle, caller, Action::Stop)?;
    fixture.call_of(left.handle, caller, Action::Stop)?;
    fixture.harness.fence_all()?;
    let client = fixture.connect_to_stopped()?;
    let is_removed =
        |one: &Copy| fixture.harness.core().entry(one.handle).is_ok_and(|entry| entry.polled_recv.is_empty());
    let label = "both are paused, and every poller removes them";
    fixture.harness.wait_until(label, || is_removed(&gone) && is_removed(&left))?;
    fixture.call_of(left.handle, caller, Action::Start)?;
    check_greeted(test, format!("{}: the client", when("paused")), greeting(client)?, "L1");
    let runs = gone.acceptor.runs();
    serves(test, &mut fixture, &left, &when("paused"))?;
    test.check_eq(format!("{}: its handler's runs", when("paused")), runs, gone.acceptor.runs(), "S18");

    fixture.call_of(gone.handle, caller, Action::Start)?;
    fixture.harness.wait_until_polled(gone.handle, fixture.mask())?;
    let closed = fixture.harness.closed();
    fixture.harness.call_on(caller.thread(), gone.handle, |fd| fd.delete())??;
    let is_closed = || fixture.harness.closed() > closed;
    fixture.harness.wait_until(&format!("{}, and closed", when("deleted")), is_closed)?;
    let runs = gone.acceptor.runs();
    serves(test, &mut fixture, &left, &when("deleted"))?;
    test.check_eq(format!("{}: its handler's runs", when("deleted")), runs, gone.acceptor.runs(), "S7");

    fixture.harness.call_on(caller.thread(), left.handle, |fd| fd.delete())??;
    let label = format!("{}, and then the other one: clients are refused", when("deleted"));
    fixture
        .harness
        .wait_until(&label, || call(&fixture.address).is_ok_and(|answer| answer == Answer::Refused))?;
    fixture.harness.fence_all()?;
    Ok(fixture.harness)
}

/// Lets clients connect, which the registration `left` must accept, and checks that the threads are quiet
/// afterwards.
fn serves(test: &mut TestContext, fixture: &mut ListenerFixture, left: &Copy, when: &str) -> Result {
    let before = left.acceptor.greeted();
    for _ in 0..CLIENTS {
        check_greeted(test, format!("{when}: a later client"), call(&fixture.address)?, "L1, bug 91");
    }
    let accepted = left.acceptor.greeted() - before;
    test.check_eq(format!("{when}: clients that {} accepts", left.name), CLIENTS, accepted, "L1, bug 91");
    fixture.harness.fence_all()?;
    let threads = fixture.harness.threads();
    fixture.check_quiet(test, &threads, when)
}
