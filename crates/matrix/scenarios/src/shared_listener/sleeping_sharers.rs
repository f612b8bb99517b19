//! A listener is started, stopped and started again while all threads sleep.
//!
//! An update of a shared descriptor concerns several pollers. A thread that is not woken for it sleeps on
//! without the listener, and an idle server then accepts on one thread only. No fence shows that: it wakes
//! the thread that was forgotten. This scenario looks at the masks and at the sleepers, and then lets a
//! client connect: only the pollers that have the listener report it.

use super::acceptor::Acceptor;
use super::calls::{check_greeted, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/sleeping-sharers",
    title: "A listener that is started while all threads sleep is polled by every sharing thread, which needs no other wake-up",
    layer: Layer::Contract,
    clauses: &["S11", "L1", "L3", "L11", "bug 20"],
    axes: Axes { threads: &[2, 4, 8], ..super::AXES },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    let callers = fixture.callers();
    for (index, caller) in callers.iter().enumerate() {
        let when = format!("started by {caller:?}");
        sleepers.wait(&fixture.harness)?;
        fixture.call(*caller, Action::Start)?;
        fixture.wait_until_polled(&sleepers, &when)?;
        let (gate, hold) = acceptor.hold();
        let client = fixture.address.connect()?;
        fixture.wait_until_each_reports(&gate, &when)?;
        drop(hold);
        check_greeted(test, format!("{when}: the client"), greeting(client)?, "L1");

        // Each poller reports the stopped listener once more, and removes it. Then one of the threads, or
        // another one, starts it again.
        let resumer = callers[(index + 1) % callers.len()];
        let when = format!("stopped by {caller:?} and started again by {resumer:?}");
        fixture.call(*caller, Action::Stop)?;
        // A handler that still runs would accept the client.
        sleepers.wait(&fixture.harness)?;
        let client = fixture.connect_to_stopped()?;
        fixture.wait_until_dropped(&when)?;
        let (gate, hold) = acceptor.hold();
        sleepers.wait(&fixture.harness)?;
        fixture.call(resumer, Action::Start)?;
        fixture.wait_until_each_reports(&gate, &when)?;
        drop(hold);
        check_greeted(test, format!("{when}: the client"), greeting(client)?, "L1");
        fixture.wait_until_polled(&sleepers, &when)?;
        stop(&mut fixture, &acceptor, &sleepers)?;
    }
    fixture.harness.finish(test, &[])
}

/// Stops the listener, takes it out of every poller, and leaves no client behind.
fn stop(fixture: &mut ListenerFixture, acceptor: &Arc<Acceptor>, sleepers: &Sleepers) -> Result {
    fixture.call(Caller::Outside, Action::Stop)?;
    let client = fixture.connect_to_stopped()?;
    fixture.wait_until_dropped("between two callers")?;
    sleepers.wait(&fixture.harness)?;
    let (handle, handler) = (fixture.handle, Arc::clone(acceptor));
    let served = fixture.harness.on(fixture.sharers[0], move |context| {
        context.enter(handle, |ready: &ReadyGuard<'_>| handler.ready(ready))
    })?;
    served.map_err(|error| Failure::Wrong(error.to_string()))?;
    greeting(client).map(drop)
}
