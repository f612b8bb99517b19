//! A shared listener is stopped and started from everywhere, and every poller follows.
//!
//! Until the shared update list, an update went into the private list of the thread that asked for it, so a shared
//! descriptor was changed in one poller only: the others missed connections, or reported them for ever (bug 20).
//! Threads outside the mask came later, first without a wake-up (f01588744), then of other groups (cfdd20a0b).

use metadata::{Axes, Layer, Transport};

use super::acceptor::Acceptor;
use super::calls::{Answer, greeting};
use super::field::{Action, Field};
use crate::catalogue::Scenario;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/stop-start-converge",
    title: "Stopping and starting a listener, from any thread, reaches the poller of every thread",
    layer: Layer::Contract,
    clauses: &["S11", "S18", "L1", "L3", "L6", "bug 20", "bug 33"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[2, 4, 8],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let acceptor = Acceptor::new();
    let mut field = Field::shared(trial, acceptor.clone())?;
    let callers = field.callers();
    let mut client = field.address.connect().map_err(Failure::broken)?;
    for (index, caller) in callers.iter().enumerate() {
        let when = format!("started by {caller:?}");
        let (gate, hold) = acceptor.hold();
        field.call(*caller, Action::Start)?;
        // Some sharer sees to it by itself: the caller, if it is one, or the one that it wakes.
        field.lab.wait_until(&format!("{when}, some thread reports the waiting client (L1)"), || {
            gate.arrived() >= 1
        })?;
        // The others learn of it in their next turn.
        field.sharers.iter().for_each(|thread| field.lab.core().wake(*thread));
        field.lab.wait_until(
            &format!("{when}, every sharer's poller reports the waiting client (bug 20)"),
            || gate.arrived() >= field.sharers.len(),
        )?;
        drop(hold);
        let answer = greeting(client)?;
        let expected = Answer::Greeted(index as u64);
        trial.check_eq(format!("{when}: the client"), format!("{expected:?}"), format!("{answer:?}"), "L1");
        field.check_converged(trial, &when)?;

        let stopper = callers[(index + 1) % callers.len()];
        let when = format!("stopped by {stopper:?}");
        let runs = acceptor.runs();
        field.call(stopper, Action::Stop)?;
        client = field.address.connect().map_err(Failure::broken)?;
        field.wait_until_dropped(&when)?;
        let threads = field.lab.threads();
        field.check_quiet(trial, &threads, &when)?;
        trial.check_eq(format!("{when}: handler runs while stopped"), runs, acceptor.runs(), "S18");
    }
    for thread in &field.sharers {
        trial.count(format!("runs {thread}"), acceptor.tally(*thread).runs);
    }
    drop(client);
    field.lab.finish(trial, &[])
}
