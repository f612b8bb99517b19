//! kqueue takes changes and gives events in one call. To hear of every change that fails, the call needs room for as
//! many answers (`ebaba7542`); if they are not asked for by `EV_RECEIPT`, events come into that room, and an edge that
//! nobody looks at is gone.

use std::io::Write;

use metadata::{Axes, Layer};

use crate::catalogue::Scenario;
use crate::deletion::watch::Watch;
use crate::descriptors;
use crate::lab::Lab;
use crate::transport::pair;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/event-taken-by-change",
    title: "What became ready before a pass with changes is reported after it",
    layer: Layer::Contract,
    clauses: &["L1", "bug 19", "kevent(2) EV_RECEIPT"],
    axes: Axes { threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let thread = lab.thread(0);
    let mut ready = pair(trial.params.transport).map_err(Failure::broken)?;
    let mut changed = pair(trial.params.transport).map_err(Failure::broken)?;
    let (waiting, newcomer) = (Watch::new(&ready.near), Watch::new(&changed.near));
    let handle = lab.insert(ready.near, waiting.recording(), thread)?;
    let next = lab.insert(changed.near, newcomer.recording(), thread)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    lab.fence(thread)?;

    // The thread is between two turns: it finds both the event and the change.
    let turn = lab.hold(thread)?;
    ready.far.write_all(b"heard").map_err(Failure::broken)?;
    lab.wait_until("the data", || descriptors::readable(waiting.number()))?;
    lab.core().registration(next).want_recv().map_err(Failure::broken)?;
    turn.open();
    lab.fence(thread)?;
    trial.check_eq("what was read", "heard".into(), waiting.text(), "L1: no event is lost");
    trial.check_eq("reports", 1, waiting.entered(), "L1");
    changed.far.write_all(b"heard, too").map_err(Failure::broken)?;
    lab.wait_until("the newcomer's data", || newcomer.text() == "heard, too")?;
    drop((ready.far, changed.far));
    lab.finish(trial, &[])
}
