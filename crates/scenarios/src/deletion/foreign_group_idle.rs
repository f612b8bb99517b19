//! A thread of one group deletes a descriptor of another. HAProxy first removed it from the wrong group's update list,
//! then mixed the masks of both groups, then isolated all threads to be safe, which deadlocked (bug 64).

use std::io::Write;

use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::watch::Watch;
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::gate::Gate;
use crate::lab::Lab;
use crate::transport::{at_number, pair};
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/foreign-group-idle",
    title: "A thread of another group deletes an idle FD, even one with pending updates, and closes it at once",
    layer: Layer::Contract,
    clauses: &["S4", "S9", "S10", "S13", "S19", "L4", "bug 22", "bug 64"],
    axes: Axes { threads: &[2, 4], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let (home, foreign) = (lab.thread(0), lab.thread(trial.params.threads - 1));
    if home.group() == foreign.group() {
        return Err(Failure::Unsupported("needs two groups".into()));
    }
    polled(trial, &mut lab, home, foreign)?;
    trial.all_hold()?;
    listed(trial, &mut lab, home, foreign)?;
    lab.finish(trial, &[])
}

/// Every thread of the group polls it.
fn polled(trial: &mut Trial, lab: &mut Lab, home: ThreadId, foreign: ThreadId) -> Result<(), Failure> {
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    let everybody = lab.core().table().threads(home.group());
    let handle = lab.insert_shared(ends.near, watch.recording(), home, everybody)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    lab.fence_all()?;
    let entry = lab.core().entry(handle).map_err(Failure::broken)?;
    trial.check_eq("polled by", everybody.bits(), entry.polled_recv.bits(), "L3");

    let closed = lab.core().registration_counts().closed;
    let before = lab.activity(foreign);
    let deleted = lab.on(foreign, move |context| context.registration(handle).delete())?;
    trial.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "bug 64");
    trial.check_eq("closed when the delete has returned", 1, lab.core().registration_counts().closed - closed, "L4");
    trial.check_eq("handlers dropped", 1, watch.dropped(), "S4");
    trial.check_eq("lives ended by the deleter", 1, lab.activity(foreign).since(&before).fd_close, "L4");
    trial.check_eq("the number is open", false, descriptors::is_open(watch.number()), "L4");
    lab.wait_until("the peer sees the end", || ends.far.ended())?;
    let _ = ends.far.write_all(b"too late");
    lab.fence_all()?;
    trial.check_eq("handler calls", 0, watch.entered(), "S6");
    Ok(())
}

/// It is in its group's list of updates and no thread has seen it yet; its number lives on in the other group.
fn listed(trial: &mut Trial, lab: &mut Lab, home: ThreadId, foreign: ThreadId) -> Result<(), Failure> {
    let ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(trial.params.transport).map_err(Failure::broken)?;
    let (first, second) = (Watch::new(&ends.near), Watch::new(&ends.near));
    let of_group = |thread: ThreadId| lab.core().table().threads(thread.group());
    let (homes, foreigners) = (of_group(home), of_group(foreign));
    let at_home = lab.threads().into_iter().filter(|thread| thread.group() == home.group());
    let gates: Vec<Gate> = at_home.map(|thread| lab.hold(thread)).collect::<Result<_, _>>()?;

    let handle = lab.insert_shared(ends.near, first.recording(), home, homes)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let owed = lab.core().entry(handle).map_err(Failure::broken)?.update_mask;
    trial.check_eq("updates owed", homes.bits(), owed.bits(), "protocol 11.2");
    let deleted = lab.on(foreign, move |context| context.registration(handle).delete())?;
    trial.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "bug 64");

    let near = at_number(spare.near, first.number()).map_err(Failure::broken)?;
    let next = lab.insert_shared(near, second.recording(), foreign, foreigners)?;
    lab.core().registration(next).want_recv().map_err(Failure::broken)?;
    let owed = lab.core().entry(next).map_err(Failure::broken)?.update_mask;
    // Its own threads may have looked already.
    trial.check_eq("updates owed by strangers", 0, owed.without(foreigners).bits(), "S9");
    // Its own group's list must have it, although the other list has not been walked yet.
    spare.far.write_all(b"second registration").map_err(Failure::broken)?;
    lab.wait_until("the report to the number's new group", || second.text() == "second registration")?;
    gates.iter().for_each(Gate::open);
    lab.fence_all()?;
    let strangers =
        second.recorder.seen().iter().filter(|seen| seen.thread.group() != foreign.group()).count();
    trial.check_eq("reports to the number's old group", 0, strangers, "S9");
    trial.check_eq("handler calls of the first registration", 0, first.entered(), "S6, S7");
    let entry = lab.core().entry(next).map_err(Failure::broken)?;
    trial.check_eq("updates owed at rest", 0, entry.update_mask.bits(), "L3, bug 22");
    trial.check_eq("polled by", foreigners.bits(), entry.polled_recv.bits(), "L3");
    let deleted = lab.on(home, move |context| context.registration(next).delete())?;
    trial.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "bug 64");
    trial.check_eq("handlers dropped", 2, first.dropped() + second.dropped(), "S4");
    Ok(())
}
