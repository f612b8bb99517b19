//! Another thread has ended a life and is about to close the number, when its data come. kqueue goes by the number, and
//! reports it until the close; epoll, poll and select have been told before. A thread that took these events for those of a
//! copy that nobody declared replaced its poller: for nothing, again and again, and under a number that others were waiting
//! for. Found over an emulated kqueue, as `late-report-then-reuse` whose number was taken.

use std::io::Write;

use fd_core::checkpoint::Point;

use super::cloned::replacements;
use super::watch::{Watch, delete_on};
use crate::catalogue::{Layer, Scenario};
use crate::descriptors;
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::transport::{at_number, pair};
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/slow-close",
    title: "What comes for a deleted FD before its number is closed reaches nobody, and makes nobody replace a poller",
    layer: Layer::Contract,
    clauses: &["S6", "S7", "L5", "suspect 17"],
    run,
};

/// More turns of the polling thread than a copy that nobody declared is given.
const FENCES: usize = 16;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let thread = lab.thread(0);
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(trial.params.transport).map_err(Failure::broken)?;
    let (old, new) = (Watch::new(&ends.near), Watch::new(&ends.near));
    let handle = lab.insert(ends.near, old.recording(), thread)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    lab.fence(thread)?;

    let checkpoints = Checkpoints::watch();
    let gate = checkpoints.gate(Point::RetiredBeforeClose, old.number());
    let before = lab.activity(thread);
    let told = delete_on(&lab, None, handle)?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong("the life never ended".into()));
    }
    // A wait of poll(2) or select(2) that was under way has the number in its arrays.
    lab.fence(thread)?;
    ends.far.write_all(b"for nobody").map_err(Failure::broken)?;
    lab.wait_until("the data", || descriptors::readable(old.number()))?;
    for _ in 0..FENCES {
        lab.fence(thread)?;
    }
    let during = lab.activity(thread).since(&before);
    trial.check_eq("the number is open", true, descriptors::is_open(old.number()), "S5");
    trial.check_eq("handler calls", 0, old.entered(), "S6");
    trial.check_eq("pollers replaced", 0, replacements(&during), "suspect 17");
    trial.count("events for nobody", during.poll_drop);
    let capabilities = lab.core().backend().capabilities();
    if !(capabilities.kernel_state && capabilities.close_forgets) {
        trial.cost_eq("events for nobody", 0, during.poll_drop, "L5");
    }

    gate.open();
    let deleted = told.recv_timeout(patience()).ok();
    trial.check_eq("delete", "Some(Ok(()))".into(), format!("{deleted:?}"), "L7");
    trial.check_eq("handlers dropped", 1, old.dropped(), "S4");
    drop(checkpoints);
    lab.wait_until("the peer sees the end", || ends.far.ended())?;

    let near = at_number(spare.near, old.number()).map_err(Failure::broken)?;
    let next = lab.insert(near, new.recording(), thread)?;
    lab.core().fd(next).want_recv().map_err(Failure::broken)?;
    spare.far.write_all(b"new").map_err(Failure::broken)?;
    lab.wait_until("the new life's data", || new.text() == "new")?;
    lab.core().fd(next).delete().map_err(Failure::broken)?;
    drop((ends.far, spare.far));
    lab.finish(trial, &[])
}
