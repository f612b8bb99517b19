//! A report of the old owner arrives in each window of a takeover.
//!
//! HAProxy's first lock-free takeover let both threads run (`cd8914bc5`, bug 66). The present one lets the
//! old owner, which lost the race, close the descriptor under the new owner's delete (suspect 20; model M5).
//! This scenario holds every window open, with a thread on each side.

use std::ops::RangeInclusive;

use fd_core::ActivitySnapshot;
use fd_core::error::MoveError;

use super::{Endpoint, Route, check_answer, check_unchanged, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/late-report-of-old-owner",
    title: "A late report of the old owner, in any window of a takeover, runs no handler and closes no FD",
    layer: Layer::Contract,
    clauses: &["S1", "S2", "S3", "S4", "S5", "L7", "bug 53", "bug 66", "suspect 4", "suspect 20"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        lost_before_running(test, &mut harness, route)?;
        if !route.crosses() {
            lost_within_takeover(test, &mut harness, route, Point::TakeoverRunningSet)?;
            lost_within_takeover(test, &mut harness, route, Point::TakeoverMaskSet)?;
        }
        taken_during_exit(test, &mut harness, route)?;
        exit_during_delete(test, &mut harness, route)?;
        refused_while_reporting(test, &mut harness, route)?;
    }
    harness.finish(test, &[])
}

/// The report has found its bit in the thread mask; the takeover completes before the report sets its running
/// bit.
fn lost_before_running(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("{}, taken before the report is running: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let counted = harness.activity(old);
    let late = points.hold(old, Point::ReportBeforeRunning, endpoint.handle.number());
    endpoint.write(b"one")?;
    late.reached()?;
    let taken = endpoint.take_over(harness, new)?;
    check_answer(test, label("takeover"), Ok(()), taken, "protocol 8.2: no thread is running")?;
    late.release();
    check_lost(test, harness, &label, endpoint, route, &counted, 1..=1)
}

/// The report arrives between two steps of the takeover.
fn lost_within_takeover(
    test: &mut TestContext,
    harness: &mut Harness,
    route: Route,
    window: Point,
) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("report at {window:?}: {what}");
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let counted = harness.activity(old);
    let taking = points.hold(new, window, handle.number());
    let taken = endpoint.begin_take_over(harness, new);
    taking.reached()?;
    if window == Point::TakeoverRunningSet {
        // The old owner is still allowed, but not alone: it must wait for the new mask without running the
        // handler.
        let late = points.hold(old, Point::ReportRunningSet, handle.number());
        endpoint.write(b"one")?;
        late.reached()?;
        late.release();
    } else {
        // The old owner is not allowed any more: it continues at once, although the takeover has not ended
        // (L7, bug 67).
        endpoint.send(harness, b"one")?;
        harness.fence(old)?;
        test.check_eq(label("reports so far"), 0, endpoint.recorder.reports(), "S3");
    }
    taking.release();
    let taken = taken.recv_timeout(patience());
    let taken = taken.map_err(|_| Failure::Wrong(label("the takeover did not end")))?;
    check_answer(test, label("takeover"), Ok(()), taken, "L9")?;
    // A thread that builds arrays of what it may poll may have built them after the takeover.
    let is_polled =
        window == Point::TakeoverRunningSet || harness.core().backend().capabilities().kernel_state;
    check_lost(test, harness, &label, endpoint, route, &counted, u64::from(is_polled)..=1)
}

/// Checks the state after a report that lost: it was refused `expected` times, and the new owner gets the
/// data.
fn check_lost(
    test: &mut TestContext,
    harness: &mut Harness,
    label: &dyn Fn(&str) -> String,
    endpoint: Endpoint,
    route: Route,
    before: &ActivitySnapshot,
    expected: RangeInclusive<u64>,
) -> Result {
    let (old, new) = (route.from, route.to);
    harness.wait_until_unused(endpoint.handle)?;
    harness.fence_all()?;
    let what = label("reports before the interest is enabled");
    test.check_eq(what, 0, endpoint.recorder.reports(), "S3, bug 66");
    let counted = harness.activity(old).since(before);
    let (refused, clause) = if route.crosses() {
        (counted.poll_drop, "protocol 4.2, L5")
    } else {
        (counted.poll_skip, "protocol 4.6, L5")
    };
    let text = format!("{} to {}", expected.start(), expected.end());
    test.check_cost(label("reports refused"), text, refused, clause, expected.contains(&refused));
    let entry = harness.entry(endpoint.handle)?;
    test.check_eq(label("thread mask"), new.mask().bits(), entry.thread_mask.bits(), "S3");
    test.check_eq(label("running"), 0, entry.running.bits(), "L9: no running bit is left behind");
    endpoint.want_recv(harness, new)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{new}:one"), endpoint.reads(), "S1, S3");
    endpoint.end(harness)
}

/// A descriptor cannot be taken from a thread whose report has set its running bit.
fn refused_while_reporting(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("{}, taken after the report is running: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let late = points.hold(old, Point::ReportRunningSet, endpoint.handle.number());
    endpoint.write(b"one")?;
    late.reached()?;
    let before = harness.entry(endpoint.handle)?;
    check_answer(test, label("takeover"), Err(MoveError::Busy), endpoint.take_over(harness, new)?, "S2, L7")?;
    check_unchanged(test, label("entry"), before, harness.entry(endpoint.handle)?, "S2, bug 53")?;
    late.release();
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.wait_until_unused(endpoint.handle)?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{old}:one"), endpoint.reads(), "S2, S3");
    check_answer(test, label("takeover afterwards"), Ok(()), endpoint.take_over(harness, new)?, "L9")?;
    endpoint.end(harness)
}

/// The handler has returned and its running bit is cleared, and the report has not yet checked the mask
/// again: the takeover succeeds.
fn taken_during_exit(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("{}, taken during the exit: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let exiting = points.hold(old, Point::ExitRunningCleared, endpoint.handle.number());
    endpoint.write(b"one")?;
    exiting.reached()?;
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, new)?, "L9")?;
    endpoint.want_recv(harness, new)?;
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    exiting.release();
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{old}:one {new}:two"), endpoint.reads(), "S1, S3");
    test.check_eq(
        label("active"),
        State::ACTIVE_R,
        harness.entry(endpoint.handle)?.state.and(State::ACTIVE),
        "bug 53",
    );
    endpoint.end(harness)
}

/// Suspect 20. The old owner lost, and has given up its running bit; the new owner has set the token of its
/// delete and not yet cleared the mask. The old owner must not win this token.
fn exit_during_delete(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("{}, exit during the new owner's delete: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let late = points.hold(old, Point::ReportBeforeRunning, handle.number());
    endpoint.write(b"one")?;
    late.reached()?;
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, new)?, "L9")?;
    let exiting = points.hold(old, Point::ExitRunningCleared, handle.number());
    late.release();
    exiting.reached()?;
    let deleting = points.hold(new, Point::DeleteMarked, handle.number());
    let closes = (harness.closed(), harness.activity(old).fd_close, harness.activity(new).fd_close);
    let _ = harness.core().post(new, move |context| {
        let _ = context.registration(handle).delete();
    });
    deleting.reached()?;
    exiting.release();
    let waits = "the old owner waits in its report for the new owner's delete (suspect 20)";
    harness.fence(old).map_err(|error| Failure::Wrong(label(&format!("{waits}: {error}"))))?;
    let what = label("the number is open while the delete is under way");
    test.check_eq(what, true, descriptors::is_open(handle.number()), "S5");
    test.check_eq(label("closes so far"), closes.0, harness.closed(), "S5, suspect 20");
    deleting.release();
    harness.wait_until(&label("the close"), || harness.closed() > closes.0)?;
    harness.fence_all()?;
    let (by_old, by_new) =
        (harness.activity(old).fd_close - closes.1, harness.activity(new).fd_close - closes.2);
    let what = label("closes by the old and the new owner");
    test.check_eq(what, "0 1".into(), format!("{by_old} {by_new}"), "S4, suspect 20");
    let what = label("the number is open after the close");
    test.check_eq(what, false, descriptors::is_open(handle.number()), "L4");
    test.check_eq(label("reports"), 0, endpoint.recorder.reports(), "S3");
    Ok(())
}
