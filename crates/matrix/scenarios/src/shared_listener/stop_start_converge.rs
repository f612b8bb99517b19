//! All kinds of threads stop and start a shared listener, and every poller follows.
//!
//! Before the shared update list, an update went into the private list of the calling thread, so a shared
//! descriptor was changed in one poller only: the others missed connections, or reported them endlessly (bug
//! 20). Calls from threads outside the mask came later, first without a wake-up (f01588744), then from other
//! groups (cfdd20a0b).

use super::acceptor::Acceptor;
use super::calls::{Answer, greeting};
use super::fixture::{Action, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/stop-start-converge",
    title: "A stop or a start of a shared listener, from any thread, reaches the poller of every sharing thread",
    layer: Layer::Contract,
    clauses: &["S11", "S18", "L1", "L3", "L6", "bug 20", "bug 33"],
    axes: Axes { threads: &[2, 4, 8], ..super::AXES },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    let callers = fixture.callers();
    let mut client = fixture.address.connect()?;
    for (index, caller) in callers.iter().enumerate() {
        let when = format!("started by {caller:?}");
        let (gate, hold) = acceptor.hold();
        // Nothing but the start wakes the threads.
        sleepers.wait(&fixture.harness)?;
        fixture.call(*caller, Action::Start)?;
        fixture.wait_until_each_reports(&gate, &when)?;
        drop(hold);
        let answer = greeting(client)?;
        let expected = Answer::Greeted(index as u64);
        test.check_debug(format!("{when}: the client"), expected, answer, "L1");
        fixture.check_converged(test, &when)?;

        let stopper = callers[(index + 1) % callers.len()];
        let when = format!("stopped by {stopper:?}");
        let runs = acceptor.runs();
        fixture.call(stopper, Action::Stop)?;
        client = fixture.address.connect()?;
        fixture.wait_until_dropped(&when)?;
        let threads = fixture.harness.threads();
        fixture.check_quiet(test, &threads, &when)?;
        test.check_eq(format!("{when}: handler runs while stopped"), runs, acceptor.runs(), "S18");
    }
    for thread in &fixture.sharers {
        test.record_counter(format!("runs {thread}"), acceptor.tally(*thread).runs);
    }
    drop(client);
    fixture.harness.finish(test, &[])
}
