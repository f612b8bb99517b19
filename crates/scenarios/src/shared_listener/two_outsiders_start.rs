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
use super::field::{Action, Caller, Field};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::script::Script;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/two-outsiders-start",
    title: "A start from outside is seen although another outsider is in the middle of one",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "suspect 19"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let acceptor = Acceptor::new();
    let mut field = Field::shared(trial, acceptor.clone())?;
    let mut client = field.address.connect().map_err(Failure::broken)?;
    for (round, second) in [Caller::Outside, field.callers()[0], Caller::Outside].into_iter().enumerate() {
        // Asleep, with pollers that know nothing of the listener.
        field.lab.fence_all()?;
        let (handle, owes) = (field.handle, field.mask().bits());
        let core = Arc::clone(field.lab.core());
        let script = Script::about(handle, format!("round {round}, {second:?}"), "L1, suspect 19")
            .outsider("first")
            .caller("second", second.thread())
            .does("starts", move |speaker| speaker.registration(handle).want_recv())
            .does("stops", move |speaker| speaker.registration(handle).stop_recv())
            .we("owed", || Ok(core.entry(handle).map_err(Failure::broken)?.update_mask.bits()))
            .we("greeted", || {
                Lab::wait(&core, "a thread accepts although an older start is not finished", || {
                    acceptor.greeted() > round as u64
                })
            });
        // Held, the first has listed nothing and woken nobody.
        script.play(
            trial,
            &mut field.lab,
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
        trial.check_eq("the client", format!("{expected:?}"), format!("{answer:?}"), "L1");
        field.check_converged(trial, "after both")?;

        field.call(Caller::Outside, Action::Stop)?;
        client = field.address.connect().map_err(Failure::broken)?;
        field.wait_until_dropped("between two rounds")?;
    }
    drop(client);
    field.lab.finish(trial, &[])
}
