//! Two threads outside the mask start a listener at once, and one of them stops it in between.
//!
//! HAProxy's shortcut "every allowed thread owes an update already" also skipped the wake-up. One outsider publishes
//! and is preempted; the other stops, so that the first decides that nobody need be woken; then the other starts
//! again, finds the update published, and wakes nobody either: active, listed, and everybody asleep (suspect 19). There
//! the listener's lock prevents it. Here nothing has to: whoever starts wakes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fd_core::checkpoint::{self, Point};

use super::acceptor::Acceptor;
use super::calls::{Answer, greeting};
use super::field::{Action, Caller, Field};
use crate::catalogue::{Layer, Scenario};
use crate::gate::Gate;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/two-outsiders-start",
    title: "A start from outside is seen although another outsider is in the middle of one",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "suspect 19"],
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let acceptor = Acceptor::new();
    let mut field = Field::shared(trial, acceptor.clone())?;
    let mut client = field.address.connect().map_err(Failure::broken)?;
    for (round, second) in [Caller::Outside, field.callers()[0], Caller::Outside].into_iter().enumerate() {
        // Asleep, with pollers that know nothing of the listener.
        field.lab.fence_all()?;
        let middle = Gate::new();
        let guard = middle.guard();
        let (first, held, number) = (AtomicBool::new(true), middle.clone(), field.handle.number());
        checkpoint::install(move |point, fd| {
            if point == Point::UpdateBitsSet && fd == number && first.swap(false, Ordering::SeqCst) {
                held.pass();
            }
        });
        let (core, handle) = (Arc::clone(field.lab.core()), field.handle);
        let outsider = std::thread::spawn(move || core.fd(handle).want_recv());
        // Its update bits are set; it has listed nothing and woken nobody.
        trial.check_eq("the first outsider is held in its start", true, middle.wait_for(1), "checkpoint");
        let owed = field.entry()?.update_mask;
        trial.check_eq("updates owed because of it", field.mask().bits(), owed.bits(), "2.8 step 5");
        field.call(Caller::Outside, Action::Stop)?;
        field.call(second, Action::Start)?;
        field
            .lab
            .wait_until("a thread accepts although an older start is not finished (suspect 19)", || {
                acceptor.greeted() > round as u64
            })?;
        trial.check_eq("the first outsider is still held", false, outsider.is_finished(), "checkpoint");
        drop(guard);
        let ended = outsider.join().map_err(|_| Failure::Wrong("the outsider panicked".into()))?;
        checkpoint::remove();
        trial.check_eq("the first outsider's start", "Ok(())".into(), format!("{ended:?}"), "L1");
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
