//! A thread has received an event and not looked at it yet when the descriptor is deleted and its number lives again,
//! on the same thread. The late report must touch nothing of the new registration: HAProxy's left its update bit there, and the
//! new owner's updates never reached that thread (bug 65, model M6).

use std::io::Write;

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::watch::{Watch, delete_on};
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::transport::{at_number, pair};
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/late-report-then-reuse",
    title: "A report that comes after its FD was deleted and its number re-used neither reaches nor disturbs the new registration",
    layer: Layer::Contract,
    clauses: &["S5", "S6", "S7", "S8", "S10", "L1", "L7", "bug 65", "bug 75"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    for thread in [lab.thread(0), lab.thread(1)] {
        harvested(trial, &mut lab, thread)?;
        trial.all_hold()?;
        for point in [Point::ReportBeforeRunning, Point::ReportRunningSet] {
            looked_at(trial, &mut lab, thread, point)?;
            trial.all_hold()?;
        }
    }
    lab.finish(trial, &[])
}

/// The event is in the thread's hands, and the registration is over before it looks.
fn harvested(trial: &mut Trial, lab: &mut Lab, thread: ThreadId) -> Result<(), Failure> {
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(trial.params.transport).map_err(Failure::broken)?;
    let (old, new) = (Watch::new(&ends.near), Watch::new(&ends.near));
    let handle = lab.insert(ends.near, old.recording(), thread)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    lab.fence(thread)?;
    // Ready before the wait begins, so that the first batch has it.
    let turn = lab.hold(thread)?;
    let before = lab.activity(thread);
    ends.far.write_all(b"old").map_err(Failure::broken)?;
    lab.wait_until("the data", || descriptors::readable(old.number()))?;
    let checkpoints = Checkpoints::watch();
    let held = checkpoints.hold_batch(thread);
    turn.open();
    held.reached()?;
    let deleted = lab.core().registration(handle).delete();
    trial.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "L7");
    let near = at_number(spare.near, old.number()).map_err(Failure::broken)?;
    let next = lab.insert(near, new.recording(), thread)?;
    lab.core().registration(next).want_recv().map_err(Failure::broken)?;
    held.release();
    drop(checkpoints);
    lab.fence(thread)?;
    let dropped = lab.activity(thread).since(&before).poll_drop;
    trial.check_eq("calls of the old handler", 0, old.entered(), "S6");
    trial.check_eq("calls of the new handler before it has data", 0, new.entered(), "S7");
    trial.cost_eq("events dropped", 1, dropped, "S7: it was harvested");
    spare.far.write_all(b"new").map_err(Failure::broken)?;
    lab.wait_until("the new registration's data", || new.text() == "new")?;
    lab.core().registration(next).delete().map_err(Failure::broken)
}

/// The thread has begun to look, and keeps the number from being closed until it has seen that the registration is over.
fn looked_at(trial: &mut Trial, lab: &mut Lab, thread: ThreadId, point: Point) -> Result<(), Failure> {
    let about = |what: &str| format!("{what}, held at {point:?}");
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(trial.params.transport).map_err(Failure::broken)?;
    let (old, new) = (Watch::new(&ends.near), Watch::new(&ends.near));
    let handle = lab.insert(ends.near, old.recording(), thread)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    lab.fence(thread)?;
    let checkpoints = Checkpoints::watch();
    let gate = checkpoints.gate(point, old.number());
    let (closed, before) = (lab.core().registration_counts().closed, lab.activity(thread));
    ends.far.write_all(b"old").map_err(Failure::broken)?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong(about("the report never came")));
    }
    let told = delete_on(lab, None, handle)?;
    let mut deleted = None;
    // Either the deleter ends the registration and waits for the reference, or the running bit leaves it to the report.
    lab.wait_until(&about("the delete"), || {
        deleted = deleted.or_else(|| told.try_recv().ok());
        deleted.is_some() || lab.core().entry(handle).is_err()
    })?;
    trial.check_eq(about("the number is open"), true, descriptors::is_open(old.number()), "S5");
    trial.check_eq(about("closed"), 0, lab.core().registration_counts().closed - closed, "S5");
    gate.open();
    let deleted = deleted.or_else(|| told.recv_timeout(patience()).ok());
    trial.check_eq(about("delete"), "Some(Ok(()))".into(), format!("{deleted:?}"), "L7");
    lab.wait_until(&about("the close"), || old.dropped() > 0)?;
    drop(checkpoints);

    // The new registration wants by its own thread's hand: an update bit left behind would swallow it.
    let near = at_number(spare.near, old.number()).map_err(Failure::broken)?;
    let next = lab.insert(near, new.recording(), thread)?;
    lab.on(thread, move |context| context.registration(next).want_recv())?.map_err(Failure::broken)?;
    lab.fence(thread)?;
    let after = lab.activity(thread).since(&before);
    trial.check_eq(about("calls of the old handler"), 0, old.entered(), "S6");
    trial.cost_eq(about("reports that found themselves late"), 1, after.poll_skip, "protocol 4.5");
    trial.check_eq(about("closed"), 1, lab.core().registration_counts().closed - closed, "S4");
    let entry = lab.core().entry(next).map_err(Failure::broken)?;
    trial.check_eq(about("updates owed"), 0, entry.update_mask.bits(), "bug 65");
    trial.check_eq(about("polled by"), thread.mask().bits(), entry.polled_recv.bits(), "L1, bug 65");
    trial.check_eq(about("calls of the new handler before it has data"), 0, new.entered(), "S7");
    spare.far.write_all(b"new").map_err(Failure::broken)?;
    lab.wait_until(&about("the new registration's data"), || new.text() == "new")?;
    lab.core().registration(next).delete().map_err(Failure::broken)
}
