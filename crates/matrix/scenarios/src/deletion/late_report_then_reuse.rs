//! A thread has received an event and not yet handled it when the descriptor is deleted and its number is
//! registered again, on the same thread. The late report must not change the new registration: HAProxy's late
//! report left its update bit there, and the new owner's updates never reached that thread (bug 65, model
//! M6).

use fd_core::ActivitySnapshot;

use super::monitor::{HandlerMonitor, delete_on};
use crate::prelude::*;
use crate::transport::Pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/late-report-then-reuse",
    title: "A report of a deleted FD whose number is registered again neither reaches nor changes the new registration",
    layer: Layer::Contract,
    clauses: &["S5", "S6", "S7", "S8", "S10", "L1", "L7", "bug 65", "bug 75"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for thread in [harness.thread(0), harness.thread(1)] {
        held_in_batch(test, &mut harness, thread)?;
        test.stop_if_failed()?;
        held_before_running(test, &mut harness, thread)?;
        test.stop_if_failed()?;
        held_while_running(test, &mut harness, thread)?;
        test.stop_if_failed()?;
    }
    harness.finish(test, &[])
}

/// Holds the thread after its wait has returned the event, and ends the registration before the dispatch.
fn held_in_batch(test: &mut TestContext, harness: &mut Harness, thread: ThreadId) -> Result {
    let mut ends = test.pair()?;
    let spare = test.pair()?;
    let (old, new) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
    let handle = harness.insert_recv(ends.near, old.recording(), thread)?;
    harness.fence(thread)?;
    // The data arrives before the wait begins, so the first batch contains the event.
    let iteration = harness.hold(thread)?;
    let before = harness.activity(thread);
    ends.far.write_all(b"old")?;
    harness.wait_until("the data", || descriptors::readable(old.number()))?;
    let checkpoints = Checkpoints::watch();
    let held = checkpoints.hold_batch(thread);
    iteration.open();
    held.reached()?;
    let deleted = harness.registration(handle).delete();
    test.check_debug("delete", Ok(()), deleted, "L7");
    let near = at_number(spare.near, old.number())?;
    let next = harness.insert_recv(near, new.recording(), thread)?;
    held.release();
    drop(checkpoints);
    harness.wait_until_polled(next, thread.mask())?;
    harness.fence(thread)?;
    let dropped = harness.activity(thread).since(&before).poll_drop;
    test.check_eq("calls of the old handler", 0, old.calls(), "S6");
    test.check_eq("calls of the new handler before it has data", 0, new.calls(), "S7");
    test.check_cost_eq("events dropped", 1, dropped, "S7: it was in the batch");
    serve_and_delete(harness, next, spare.far, &new, &str::to_owned)
}

/// Holds the thread before it sets its running bit. So far it keeps nothing from ending: the number gets its
/// next registration, and then the thread sets its bit there and takes it back.
fn held_before_running(test: &mut TestContext, harness: &mut Harness, thread: ThreadId) -> Result {
    let label = |what: &str| format!("{what}, held before the running bit");
    let (late, spare) = LateReport::of_deleted(test, harness, thread, Point::ReportBeforeRunning, &label)?;
    test.check_eq(label("closed"), 1, closed(harness) - late.closed_before, "S4, L7");
    test.stop_if_failed()?;
    let near = at_number(spare.near, late.old.number())?;
    let next = harness.insert_recv(near, late.new.recording(), thread)?;
    late.gate.open();
    drop(late.checkpoints);
    harness.wait_until_polled(next, thread.mask())?;
    harness.fence(thread)?;
    let after = harness.activity(thread).since(&late.before);
    test.check_eq(label("calls of the old handler"), 0, late.old.calls(), "S6");
    test.check_eq(label("calls of the new handler before it has data"), 0, late.new.calls(), "S7");
    test.check_cost_eq(label("events dropped"), 1, after.poll_drop, "protocol 4.4");
    let entry = harness.core().entry(next)?;
    test.check_eq(label("running"), 0, entry.running.bits(), "L9: the bit is taken back");
    serve_and_delete(harness, next, spare.far, &late.new, &label)
}

/// Holds the thread after it has set its running bit: it keeps the number from being closed until it has seen
/// that the registration has ended.
fn held_while_running(test: &mut TestContext, harness: &mut Harness, thread: ThreadId) -> Result {
    let label = |what: &str| format!("{what}, held after the running bit");
    let (late, spare) = LateReport::of_deleted(test, harness, thread, Point::ReportRunningSet, &label)?;
    test.check_eq(label("the number is open"), true, descriptors::is_open(late.old.number()), "S5");
    test.check_eq(label("closed"), 0, closed(harness) - late.closed_before, "S5");
    late.gate.open();
    harness.wait_until(&label("the close"), || late.old.dropped() > 0)?;
    drop(late.checkpoints);

    // The new registration sets its interest on its own thread: a stale update bit would suppress the update.
    let near = at_number(spare.near, late.old.number())?;
    let next = harness.insert(near, late.new.recording(), thread)?;
    harness.on(thread, move |context| context.registration(next).want_recv())??;
    harness.wait_until_polled(next, thread.mask())?;
    harness.fence(thread)?;
    let after = harness.activity(thread).since(&late.before);
    test.check_eq(label("calls of the old handler"), 0, late.old.calls(), "S6");
    test.check_cost_eq(label("skipped reports"), 1, after.poll_skip, "protocol 4.6");
    test.check_eq(label("closed after the report"), 1, closed(harness) - late.closed_before, "S4");
    let entry = harness.core().entry(next)?;
    test.check_eq(label("pending updates"), 0, entry.update_mask.bits(), "bug 65");
    test.check_eq(label("polled by"), thread.mask().bits(), entry.polled_recv.bits(), "L1, bug 65");
    test.check_eq(label("calls of the new handler before it has data"), 0, late.new.calls(), "S7");
    serve_and_delete(harness, next, spare.far, &late.new, &label)
}

/// A report that is held at a point, and whose registration was deleted then.
struct LateReport {
    old: Arc<HandlerMonitor>,
    new: Arc<HandlerMonitor>,
    /// The peer of the deleted descriptor.
    _far: FarEnd,
    checkpoints: Checkpoints,
    gate: Gate,
    closed_before: u64,
    before: ActivitySnapshot,
}

impl LateReport {
    /// Registers a descriptor, holds the report of its data at `point`, and deletes the registration. Returns
    /// also the pair for the next registration of the number.
    fn of_deleted(
        test: &mut TestContext,
        harness: &mut Harness,
        thread: ThreadId,
        point: Point,
        label: &dyn Fn(&str) -> String,
    ) -> Result<(Self, Pair)> {
        let Pair { near, mut far } = test.pair()?;
        let spare = test.pair()?;
        let (old, new) = (HandlerMonitor::new(&near), HandlerMonitor::new(&near));
        let handle = harness.insert_recv(near, old.recording(), thread)?;
        harness.fence(thread)?;
        let checkpoints = Checkpoints::watch();
        let gate = checkpoints.gate(point, old.number());
        let (closed_before, before) = (closed(harness), harness.activity(thread));
        far.write_all(b"old")?;
        if !gate.wait_for(1) {
            return Err(Failure::Wrong(label("the report did not arrive")));
        }
        let result = delete_on(harness, None, handle)?;
        let deleted = result.recv_timeout(patience()).ok();
        test.check_debug(label("delete"), Some(Ok(())), deleted, "L7");
        Ok((Self { old, new, _far: far, checkpoints, gate, closed_before, before }, spare))
    }
}

/// The number of descriptors that the core has closed.
fn closed(harness: &Harness) -> u64 {
    harness.closed()
}

/// Sends data to the next registration of the number, waits until its handler has them, and deletes it.
fn serve_and_delete(
    harness: &Harness,
    next: FdHandle,
    mut far: FarEnd,
    new: &HandlerMonitor,
    label: &dyn Fn(&str) -> String,
) -> Result {
    far.write_all(b"new")?;
    harness.wait_until(&label("the new registration's data"), || new.text() == "new")?;
    harness.registration(next).delete().map_err(Failure::broken)
}
