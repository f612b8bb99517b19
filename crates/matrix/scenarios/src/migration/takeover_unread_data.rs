//! Data is unread when the descriptor changes its owner.
//!
//! HAProxy does not refresh edge-triggered registrations on a takeover (suspect 10): after A, B, A, the first
//! thread's poller has consumed its edge, and the connection stalls. This scenario forces each way in which
//! an edge can be consumed before the new owner enables its interest.

use fd_core::hooks::inject;
use fd_core::poller::Trigger;

use super::{Endpoint, Route, check_answer, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-unread-data",
    title: "Unread data that arrived before a takeover is reported to the new owner",
    layer: Layer::Contract,
    clauses: &["L1", "S3", "S18", "suspect 10"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        reported_and_unread(test, &mut harness, &sleepers, route)?;
        reported_to_the_former_owner(test, &mut harness, route)?;
        between_wait_and_dispatch(test, &mut harness, &sleepers, route)?;
        round_trip_between_wait_and_dispatch(test, &mut harness, &sleepers, route)?;
        // A level needs no mark. An update pins its entry, and a change of group waits for that pin.
        let is_marked = test.trigger == Trigger::Edge && harness.core().backend().capabilities().kernel_state;
        if is_marked && !route.crosses() {
            taken_back_during_update(test, &mut harness, route)?;
        }
    }
    harness.finish(test, &[])
}

/// The owner receives the report, reads nothing, and loses the descriptor: the edge is consumed, the data is
/// still unread.
fn reported_and_unread(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    route: Route,
) -> Result {
    let (first, second) = (route.from, route.to);
    let label = |what: &str| format!("{}, reported and unread: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, first)?;

    endpoint.recorder.leave_unread(true);
    endpoint.write(b"one")?;
    endpoint.wait_for_reports(harness, 1)?;
    harness.fence(first)?;
    // A, B, A: the second owner does not enable its interest, so the first thread's old registration counts.
    // The first thread enables its interest at once, before an update could remove that registration: the
    // registered interest then equals the wanted one.
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    // Its iteration may still hold a reference to the entry, with which another group takes nothing back.
    sleepers.wait_for(harness, &[second])?;
    endpoint.recorder.leave_unread(false);
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    let taken = harness.on(first, move |context| {
        let taken = context.takeover(handle, owner);
        (taken, context.registration(handle).want_recv().is_ok())
    })?;
    check_answer(test, label("takeover back"), Ok(()), taken.0, "L9")?;
    test.check_eq(label("interest enabled"), true, taken.1, "RegistrationRef::want_recv");
    endpoint.wait_for_bytes(harness, b"one")?;

    endpoint.recorder.leave_unread(true);
    endpoint.write(b"two")?;
    endpoint.wait_for_reports(harness, 3)?;
    harness.fence(first)?;
    check_answer(test, label("takeover with data left"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    endpoint.recorder.leave_unread(false);
    endpoint.want_recv(harness, second)?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    let expected = format!("{first}: {first}:one {first}: {second}:two");
    test.check_eq(label("reports"), expected, endpoint.reads(), "L1, suspect 10");
    endpoint.end(harness)
}

/// The second owner's update is about to clear the mark of its own takeover when the first owner takes the
/// descriptor back. The mark then stands for that takeover, too, and must reach the first owner's update.
///
/// ```text
/// first           | second
///                 | takes
///                 | sees the mark
/// takes, enables  |
///                 | clears the mark, ends its update
/// applies         |
/// ```
fn taken_back_during_update(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let checkpoints = Checkpoints::watch();
    let (first, second) = (route.from, route.to);
    let label = |what: &str| format!("{}, taken back during an update: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, first)?;

    endpoint.recorder.leave_unread(true);
    endpoint.write(b"one")?;
    endpoint.wait_for_reports(harness, 1)?;
    harness.fence(first)?;
    let seen = checkpoints.hold(second, Point::RearmSeen, endpoint.handle.number());
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    endpoint.want_recv(harness, second)?;
    seen.reached()?;
    endpoint.recorder.leave_unread(false);
    let update_ended = checkpoints.hold(second, Point::BeforeWait, -1);
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    // The first thread does not start its own update before the second thread's update is over.
    let back = harness.on(first, move |context| {
        let taken = context.takeover(handle, owner);
        let wanted = context.registration(handle).want_recv().is_ok();
        seen.release();
        let reached = update_ended.reached();
        update_ended.release();
        (taken, wanted, reached)
    })?;
    back.2?;
    check_answer(test, label("takeover back"), Ok(()), back.0, "L9")?;
    test.check_eq(label("interest enabled"), true, back.1, "RegistrationRef::want_recv");
    endpoint.wait_for_bytes(harness, b"one")?;
    endpoint.end(harness)
}

/// The former owner's poller reports the data while another thread owns the descriptor, and then the
/// descriptor comes back.
fn reported_to_the_former_owner(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (first, second) = (route.from, route.to);
    let label = |what: &str| format!("{}, reported to the former owner: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, first)?;

    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    harness.fence(second)?;
    endpoint.send(harness, b"one")?;
    // Its kernel registration, if it still has one, has consumed its edge without a handler.
    harness.fence(first)?;
    check_answer(test, label("takeover back"), Ok(()), endpoint.take_over(harness, first)?, "L9")?;
    endpoint.want_recv(harness, first)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{first}:one"), endpoint.reads(), "L1, L5, suspect 10");
    endpoint.end(harness)
}

/// The old thread has received the event and not yet dispatched it when the descriptor is taken.
fn between_wait_and_dispatch(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    route: Route,
) -> Result {
    let (old, new) = (route.from, route.to);
    let label = |what: &str| format!("{}, held batch: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;

    let counted = harness.activity(old);
    let held_batch = sleepers.hold_batch(harness, old)?;
    endpoint.write(b"one")?;
    held_batch.reached()?;
    let taken = endpoint.take_over(harness, new)?;
    check_answer(test, label("takeover"), Ok(()), taken, "L7: no waiting for a batch")?;
    endpoint.want_recv(harness, new)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    held_batch.release();
    // An injected error can end the wait of the held batch in place of the event.
    if !inject::is_on() {
        harness.wait_until_polled(endpoint.handle, new.mask())?;
    }
    harness.fence_all()?;
    let counted = harness.activity(old).since(&counted);
    // The masks of another group are not checked: there the event counts as dropped.
    let expected = if route.crosses() { "0 1" } else { "1 0" };
    let counts = format!("{} {}", counted.poll_skip, counted.poll_drop);
    let what = label("events skipped and dropped by the old thread");
    test.check_cost_eq(what, expected.into(), counts, "protocol 4.2, protocol 4.3");
    test.check_eq(label("reports"), format!("{new}:one"), endpoint.reads(), "S3, bug 66");
    let entry = harness.entry(endpoint.handle)?;
    // The late event makes the old thread remove its registration.
    test.check_cost_eq(label("threads that poll it"), new.mask().bits(), entry.polled_recv.bits(), "L5");
    endpoint.end(harness)
}

/// The owner has received the event and not yet dispatched it while the descriptor moves away and back. It
/// may then handle the event, but no interest is enabled any more; the edge must be reported again once the
/// interest is enabled.
fn round_trip_between_wait_and_dispatch(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    route: Route,
) -> Result {
    let (home, away) = (route.from, route.to);
    let label = |what: &str| format!("{}, round trip during a held batch: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, home)?;

    let held_batch = sleepers.hold_batch(harness, home)?;
    endpoint.write(b"one")?;
    held_batch.reached()?;
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, away)?, "L7")?;
    sleepers.wait_for(harness, &[away])?;
    let moved_back = harness.registration(endpoint.handle).migrate_on(home);
    check_answer(test, label("migrate_on back"), Ok(()), moved_back, "protocol 9")?;
    held_batch.release();
    harness.fence_all()?;
    test.check_eq(label("reports before the interest is enabled"), String::new(), endpoint.reads(), "S18");
    endpoint.want_recv(harness, home)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{home}:one"), endpoint.reads(), "L1, suspect 10");
    endpoint.end(harness)
}
