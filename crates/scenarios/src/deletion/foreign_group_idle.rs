//! A thread of one group deletes a descriptor of another. HAProxy first removed it from the wrong group's update list,
//! then mixed the masks of both groups, then isolated all threads to be safe, which deadlocked (bug 64).

use std::io::Write;

use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::gate::Gate;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/foreign-group-idle",
    title: "A thread of another group deletes an idle FD, even one with pending updates, and closes it at once",
    layer: Layer::Contract,
    clauses: &["S4", "S9", "S10", "S13", "S19", "L4", "bug 22", "bug 64"],
    axes: Axes { threads: &[2, 4], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let (home, foreign) = (harness.thread(0), harness.thread(test.params.threads - 1));
    if home.group() == foreign.group() {
        return Err(Failure::Unsupported("needs two groups".into()));
    }
    polled(test, &mut harness, home, foreign)?;
    test.all_hold()?;
    listed(test, &mut harness, home, foreign)?;
    harness.finish(test, &[])
}

/// Every thread of the group polls it.
fn polled(
    test: &mut TestContext,
    harness: &mut Harness,
    home: ThreadId,
    foreign: ThreadId,
) -> Result<(), Failure> {
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    let everybody = harness.core().table().threads(home.group());
    let handle = harness.insert_shared(ends.near, monitor.recording(), home, everybody)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence_all()?;
    let entry = harness.core().entry(handle).map_err(Failure::broken)?;
    test.check_eq("polled by", everybody.bits(), entry.polled_recv.bits(), "L3");

    let closed = harness.core().registration_counts().closed;
    let before = harness.activity(foreign);
    let deleted = harness.on(foreign, move |context| context.registration(handle).delete())?;
    test.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "bug 64");
    test.check_eq(
        "closed when the delete has returned",
        1,
        harness.core().registration_counts().closed - closed,
        "L4",
    );
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    test.check_eq("lives ended by the deleter", 1, harness.activity(foreign).since(&before).fd_close, "L4");
    test.check_eq("the number is open", false, descriptors::is_open(monitor.number()), "L4");
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    let _ = ends.far.write_all(b"too late");
    harness.fence_all()?;
    test.check_eq("handler calls", 0, monitor.calls(), "S6");
    Ok(())
}

/// It is in its group's list of updates and no thread has seen it yet; its number lives on in the other group.
fn listed(
    test: &mut TestContext,
    harness: &mut Harness,
    home: ThreadId,
    foreign: ThreadId,
) -> Result<(), Failure> {
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(test.params.transport).map_err(Failure::broken)?;
    let (first, second) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
    let of_group = |thread: ThreadId| harness.core().table().threads(thread.group());
    let (homes, foreigners) = (of_group(home), of_group(foreign));
    let at_home = harness.threads().into_iter().filter(|thread| thread.group() == home.group());
    let gates: Vec<Gate> = at_home.map(|thread| harness.hold(thread)).collect::<Result<_, _>>()?;

    let handle = harness.insert_shared(ends.near, first.recording(), home, homes)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let owed = harness.core().entry(handle).map_err(Failure::broken)?.update_mask;
    test.check_eq("updates owed", homes.bits(), owed.bits(), "protocol 11.2");
    let deleted = harness.on(foreign, move |context| context.registration(handle).delete())?;
    test.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "bug 64");

    let near = at_number(spare.near, first.number()).map_err(Failure::broken)?;
    let next = harness.insert_shared(near, second.recording(), foreign, foreigners)?;
    harness.core().registration(next).want_recv().map_err(Failure::broken)?;
    let owed = harness.core().entry(next).map_err(Failure::broken)?.update_mask;
    // Its own threads may have looked already.
    test.check_eq("updates owed by strangers", 0, owed.without(foreigners).bits(), "S9");
    // Its own group's list must have it, although the other list has not been walked yet.
    spare.far.write_all(b"second registration").map_err(Failure::broken)?;
    harness.wait_until("the report to the number's new group", || second.text() == "second registration")?;
    gates.iter().for_each(Gate::open);
    harness.fence_all()?;
    let strangers =
        second.recorder.seen().iter().filter(|seen| seen.thread.group() != foreign.group()).count();
    test.check_eq("reports to the number's old group", 0, strangers, "S9");
    test.check_eq("handler calls of the first registration", 0, first.calls(), "S6, S7");
    let entry = harness.core().entry(next).map_err(Failure::broken)?;
    test.check_eq("updates owed at rest", 0, entry.update_mask.bits(), "L3, bug 22");
    test.check_eq("polled by", foreigners.bits(), entry.polled_recv.bits(), "L3");
    let deleted = harness.on(home, move |context| context.registration(next).delete())?;
    test.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "bug 64");
    test.check_eq("handlers dropped", 2, first.dropped() + second.dropped(), "S4");
    Ok(())
}
