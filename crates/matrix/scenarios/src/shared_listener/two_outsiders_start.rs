//! Two threads outside the mask start a listener at once, and one of them stops it in between.
//!
//! HAProxy's shortcut "every allowed thread has a pending update already" also skipped the wake-up. One
//! thread publishes its update and is preempted. The other stops the listener, so that the first decides that
//! no wake-up is needed. The other then starts it again, finds the update published, and does not wake a
//! thread either: the listener is active and listed, and all threads sleep (suspect 19). In HAProxy the
//! listener's lock prevents this. Here every start wakes a thread.

use super::acceptor::Acceptor;
use super::calls::{Answer, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::interleaving::Interleaving;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/two-outsiders-start",
    title: "A start from outside the mask wakes a thread, even while another thread's start is unfinished",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "suspect 19"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    let mut client = fixture.connect_to_stopped()?;
    for (round, second) in [Caller::Outside, fixture.callers()[0], Caller::Outside].into_iter().enumerate() {
        // All threads sleep, and their pollers do not have the listener: the fence makes an array without it.
        fixture.harness.fence_all()?;
        sleepers.wait(&fixture.harness)?;
        let (gate, hold) = acceptor.hold();
        let sharers = fixture.sharers.len();
        let (handle, pending) = (fixture.handle, fixture.mask().bits());
        let core = Arc::clone(fixture.harness.core());
        // While it is held, the first thread has listed nothing and woken no thread.
        let drawing = format!(
            "
            main                | first                   | second
                                | starts at UpdateBitsSet |
            pending = {pending} |                         |
                                |                         | stops = Ok(())
                                |                         | starts = Ok(())
            all-report          |                         |
                                | ends = Ok(())           |
            "
        );
        let reported = "every sharing thread reports the client while an earlier start is unfinished";
        Interleaving::about(handle, format!("round {round}, {second:?}"), "L1, suspect 19")
            .outsider("first")
            .caller("second", second.thread())
            .action("starts", move |participant| participant.registration(handle).want_recv())
            .action("stops", move |participant| participant.registration(handle).stop_recv())
            .main_action("pending", || Ok(core.entry(handle)?.update_mask.bits()))
            .main_action("all-report", || {
                Harness::wait_with_core(&core, reported, || gate.arrived() >= sharers)
            })
            .run(test, &mut fixture.harness, &drawing)?;
        drop((core, hold));
        let answer = greeting(client)?;
        let expected = Answer::Greeted(round as u64);
        test.check_debug("the client", expected, answer, "L1");
        fixture.check_converged(test, "after both")?;

        fixture.call(Caller::Outside, Action::Stop)?;
        client = fixture.connect_to_stopped()?;
        fixture.wait_until_dropped("between two rounds")?;
    }
    drop(client);
    fixture.harness.finish(test, &[])
}
