//! Two threads outside the mask start a listener at once, and one of them stops it in between.
//!
//! HAProxy's shortcut "every allowed thread owes an update already" also skipped the wake-up. One outsider publishes
//! and is preempted; the other stops, so that the first decides that nobody need be woken; then the other starts
//! again, finds the update published, and wakes nobody either: active, listed, and everybody asleep (suspect 19). There
//! the listener's lock prevents it. Here nothing has to: whoever starts wakes.

use std::sync::Arc;

use metadata::{Axes, Layer, Transport};

use super::acceptor::Acceptor;
use super::calls::{Answer, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::interleaving::Interleaving;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/two-outsiders-start",
    title: "A start from outside is seen although another outsider is in the middle of one",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "suspect 19"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    let mut client = fixture.address.connect().map_err(Failure::broken)?;
    for (round, second) in [Caller::Outside, fixture.callers()[0], Caller::Outside].into_iter().enumerate() {
        // Asleep, with pollers that know nothing of the listener.
        fixture.harness.fence_all()?;
        let (handle, owes) = (fixture.handle, fixture.mask().bits());
        let core = Arc::clone(fixture.harness.core());
        let drawing = Interleaving::about(handle, format!("round {round}, {second:?}"), "L1, suspect 19")
            .outsider("first")
            .caller("second", second.thread())
            .does("starts", move |participant| participant.registration(handle).want_recv())
            .does("stops", move |participant| participant.registration(handle).stop_recv())
            .we("owed", || Ok(core.entry(handle).map_err(Failure::broken)?.update_mask.bits()))
            .we("greeted", || {
                Harness::wait(&core, "a thread accepts although an older start is not finished", || {
                    acceptor.greeted() > round as u64
                })
            });
        // Held, the first has listed nothing and woken nobody.
        drawing.play(
            test,
            &mut fixture.harness,
            &format!(
                "
                us            | first                   | second
                              | starts at UpdateBitsSet |
                owed = {owes} |                         |
                              |                         | stops = Ok(())
                              |                         | starts = Ok(())
                greeted       |                         |
                              | ends = Ok(())           |
                "
            ),
        )?;
        drop(core);
        let answer = greeting(client)?;
        let expected = Answer::Greeted(round as u64);
        test.check_eq("the client", format!("{expected:?}"), format!("{answer:?}"), "L1");
        fixture.check_converged(test, "after both")?;

        fixture.call(Caller::Outside, Action::Stop)?;
        client = fixture.address.connect().map_err(Failure::broken)?;
        fixture.wait_until_dropped("between two rounds")?;
    }
    drop(client);
    fixture.harness.finish(test, &[])
}
