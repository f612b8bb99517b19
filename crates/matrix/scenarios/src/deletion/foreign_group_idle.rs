//! A thread of one group deletes a descriptor of another group. HAProxy first removed it from the wrong
//! group's update list, then mixed the masks of both groups, then isolated all threads to be safe, which
//! deadlocked (bug 64).

use super::first_and_last;
use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/foreign-group-idle",
    title: "A thread of another group can delete an idle FD, even one with pending updates, and closes it at once",
    layer: Layer::Contract,
    clauses: &["S4", "S9", "S10", "S13", "S19", "L4", "bug 22", "bug 64"],
    axes: Axes { threads: &[2, 4], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let threads = first_and_last(test, &harness)?;
    delete_while_polled(test, &mut harness, &sleepers, threads)?;
    test.stop_if_failed()?;
    delete_while_listed(test, &mut harness, threads)?;
    harness.finish(test, &[])
}

/// Deletes a descriptor that every thread of its group polls.
fn delete_while_polled(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    [home, foreign]: [ThreadId; 2],
) -> Result {
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let group_mask = harness.core().table().threads(home.group());
    let handle = harness.insert_shared(ends.near, monitor.recording(), home, group_mask)?;
    sleepers.wait(harness)?;
    harness.registration(handle).want_recv()?;
    harness.wait_until_polled(handle, group_mask)?;
    harness.reported_by_each(group_mask, &monitor.recorder, &mut ends.far, b"all")?;
    harness.wait_until_unused(handle)?;
    sleepers.wait(harness)?;
    let calls = monitor.calls();

    let closed = harness.closed();
    let before = harness.activity(foreign);
    let deleted = harness.on(foreign, move |context| context.registration(handle).delete())?;
    test.check_debug("delete", Ok(()), deleted, "bug 64");
    test.check_eq("closed when the delete returns", 1, harness.closed() - closed, "L4");
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    let what = "registrations ended by the deleting thread";
    test.check_eq(what, 1, harness.activity(foreign).since(&before).fd_close, "L4");
    test.check_eq("the number is open", false, descriptors::is_open(monitor.number()), "L4");
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    harness.send_unseen(&mut ends.far, b"too late")?;
    harness.fence_all()?;
    test.check_eq("handler calls", 0, monitor.calls() - calls, "S6");
    Ok(())
}

/// Deletes a descriptor that is in its group's update list before any thread has applied the update. The
/// other group then registers its number.
fn delete_while_listed(
    test: &mut TestContext,
    harness: &mut Harness,
    [home, foreign]: [ThreadId; 2],
) -> Result {
    let ends = test.pair()?;
    let mut spare = test.pair()?;
    let (first, second) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
    let of_group = |thread: ThreadId| harness.core().table().threads(thread.group());
    let (home_mask, foreign_mask) = (of_group(home), of_group(foreign));
    let at_home = harness.threads().into_iter().filter(|thread| thread.group() == home.group());
    let gates: Vec<Gate> = at_home.map(|thread| harness.hold(thread)).collect::<Result<_, _>>()?;

    let handle = harness.insert_shared_recv(ends.near, first.recording(), home, home_mask)?;
    let pending = harness.core().entry(handle)?.update_mask;
    test.check_eq("pending updates", home_mask.bits(), pending.bits(), "protocol 11.2");
    let deleted = harness.on(foreign, move |context| context.registration(handle).delete())?;
    test.check_debug("delete", Ok(()), deleted, "bug 64");

    let near = at_number(spare.near, first.number())?;
    let next = harness.insert_shared_recv(near, second.recording(), foreign, foreign_mask)?;
    let pending = harness.core().entry(next)?.update_mask;
    // The threads of its own group may have applied the update already.
    test.check_eq("pending updates of other threads", 0, pending.without(foreign_mask).bits(), "S9");
    // The list of its own group must contain the descriptor, although the other group's list has not been
    // walked yet.
    harness.wait_until_polled(next, foreign_mask)?;
    harness.reported_by_each(foreign_mask, &second.recorder, &mut spare.far, b"second registration")?;
    gates.iter().for_each(Gate::open);
    harness.fence_all()?;
    let foreign_reports =
        second.recorder.seen().iter().filter(|seen| seen.thread.group() != foreign.group()).count();
    test.check_eq("reports to the number's old group", 0, foreign_reports, "S9");
    test.check_eq("handler calls of the first registration", 0, first.calls(), "S6, S7");
    let entry = harness.core().entry(next)?;
    test.check_eq("pending updates at rest", 0, entry.update_mask.bits(), "L3, bug 22");
    test.check_eq("polled by", foreign_mask.bits(), entry.polled_recv.bits(), "L3");
    let deleted = harness.on(home, move |context| context.registration(next).delete())?;
    test.check_debug("delete", Ok(()), deleted, "bug 64");
    test.check_eq("handlers dropped", 2, first.dropped() + second.dropped(), "S4");
    Ok(())
}
