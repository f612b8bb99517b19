//! Data that is there already when the descriptor changes its owner.
//!
//! HAProxy's edge-triggered registrations are never refreshed by a takeover (suspect 10): after A, B, A, the
//! first thread's poller believes that it has told everything, and the connection stalls. Here each way in which an
//! edge can have been spent before the new owner asks is forced in turn.

use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer};

use super::{Endpoint, Route, check_answer, reads_by_thread, routes};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-unread-data",
    title: "Data that arrived before a takeover is reported to the new thread",
    layer: Layer::Contract,
    clauses: &["L1", "S3", "S18", "suspect 10"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let checkpoints = Checkpoints::watch();
    for route in routes(&harness) {
        seen_and_left(test, &mut harness, route)?;
        reported_to_the_former_owner(test, &mut harness, route)?;
        between_wait_and_dispatch(test, &mut harness, &checkpoints, route)?;
        round_trip_between_wait_and_dispatch(test, &mut harness, &checkpoints, route)?;
        // A pass pins what it looks at, and a change of group waits for that.
        if harness.core().backend().capabilities().kernel_state && !route.crosses() {
            taken_back_under_a_pass(test, &mut harness, &checkpoints, route)?;
        }
    }
    drop(checkpoints);
    harness.finish(test, &[])
}

/// The owner is told, reads nothing, and loses the descriptor: the edge is spent, the data still there.
fn seen_and_left(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result<(), Failure> {
    let (first, second) = (route.from, route.to);
    let at = |what: &str| format!("{}, seen and left: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, first)?;

    endpoint.recorder.leave_unread(true);
    endpoint.write(b"one")?;
    endpoint.wait_for_reports(harness, 1)?;
    harness.fence(first)?;
    // A, B, A: the second owner wants nothing, so that it is the first one's old registration that counts. It wants at
    // once, before a pass could take that out: what is held is then what is wanted.
    check_answer(test, at("takeover"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    endpoint.recorder.leave_unread(false);
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    let taken = harness.on(first, move |context| {
        let taken = context.takeover(handle, owner);
        (taken, context.registration(handle).want_recv().is_ok())
    })?;
    check_answer(test, at("takeover back"), Ok(()), taken.0, "L9")?;
    test.check_eq(at("wanted"), true, taken.1, "RegistrationRef::want_recv");
    endpoint.wait_for_bytes(harness, b"one")?;

    endpoint.recorder.leave_unread(true);
    endpoint.write(b"two")?;
    endpoint.wait_for_reports(harness, 3)?;
    harness.fence(first)?;
    check_answer(test, at("takeover with data left"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    endpoint.recorder.leave_unread(false);
    endpoint.want(harness, second)?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    let expected = format!("{first}: {first}:one {first}: {second}:two");
    test.check_eq(at("reports"), expected, reads_by_thread(&endpoint.recorder.seen()), "L1, suspect 10");
    endpoint.end(harness)
}

/// The second owner's pass is about to take the mark of its own takeover when the first one takes the descriptor back: the
/// mark is of that takeover, too, and must reach the first one's pass.
///
/// ```text
/// first           | second
///                 | takes
///                 | sees the mark
/// takes, wants    |
///                 | takes the mark, ends its pass
/// applies         |
/// ```
fn taken_back_under_a_pass(
    test: &mut TestContext,
    harness: &mut Harness,
    checkpoints: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (first, second) = (route.from, route.to);
    let at = |what: &str| format!("{}, taken back under a pass: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, first)?;

    endpoint.recorder.leave_unread(true);
    endpoint.write(b"one")?;
    endpoint.wait_for_reports(harness, 1)?;
    harness.fence(first)?;
    let seen = checkpoints.hold(second, Point::RearmSeen, endpoint.handle.number());
    check_answer(test, at("takeover"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    seen.reached()?;
    endpoint.recorder.leave_unread(false);
    let passed = checkpoints.hold(second, Point::BeforeWait, -1);
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    // The first thread does not get to its own pass before the second one's is over.
    let back = harness.on(first, move |context| {
        let taken = context.takeover(handle, owner);
        let wanted = context.registration(handle).want_recv().is_ok();
        seen.release();
        let reached = passed.reached();
        passed.release();
        (taken, wanted, reached)
    })?;
    back.2?;
    check_answer(test, at("takeover back"), Ok(()), back.0, "L9")?;
    test.check_eq(at("wanted"), true, back.1, "RegistrationRef::want_recv");
    endpoint.wait_for_bytes(harness, b"one")?;
    endpoint.end(harness)
}

/// The former owner's poller reports the data while the descriptor is another's, and then it comes back.
fn reported_to_the_former_owner(
    test: &mut TestContext,
    harness: &mut Harness,
    route: Route,
) -> Result<(), Failure> {
    let (first, second) = (route.from, route.to);
    let at = |what: &str| format!("{}, reads_by_thread the former owner: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, first)?;

    check_answer(test, at("takeover"), Ok(()), endpoint.take_over(harness, second)?, "L9")?;
    endpoint.write(b"one")?;
    // Its registration, where it still has one, has spent its edge on nobody.
    harness.fence(first)?;
    check_answer(test, at("takeover back"), Ok(()), endpoint.take_over(harness, first)?, "L9")?;
    endpoint.want(harness, first)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence_all()?;
    test.check_eq(
        at("reports"),
        format!("{first}:one"),
        reads_by_thread(&endpoint.recorder.seen()),
        "L1, L5, suspect 10",
    );
    endpoint.end(harness)
}

/// The event is in the old thread's hands when the descriptor is taken.
fn between_wait_and_dispatch(
    test: &mut TestContext,
    harness: &mut Harness,
    checkpoints: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, harvested: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;

    let counted = harness.activity(old);
    let harvested = checkpoints.hold_batch(old);
    endpoint.write(b"one")?;
    harvested.reached()?;
    check_answer(
        test,
        at("takeover"),
        Ok(()),
        endpoint.take_over(harness, new)?,
        "L7: no waiting for a batch",
    )?;
    endpoint.want(harness, new)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    harvested.release();
    harness.fence_all()?;
    let counted = harness.activity(old).since(&counted);
    // Another group's masks are not looked at: there it counts as dropped.
    let expected = if route.crosses() { "0 1" } else { "1 0" };
    let counts = format!("{} {}", counted.poll_skip, counted.poll_drop);
    test.cost_eq(
        at("events skipped and dropped by the old thread"),
        expected.into(),
        counts,
        "protocol 4.2, protocol 4.3",
    );
    test.check_eq(
        at("reports"),
        format!("{new}:one"),
        reads_by_thread(&endpoint.recorder.seen()),
        "S3, bug 66",
    );
    let entry = harness.entry(endpoint.handle)?;
    // The late event is what makes the old thread forget it.
    test.cost_eq(at("threads that poll it"), new.mask().bits(), entry.polled_recv.bits(), "L5");
    endpoint.end(harness)
}

/// The event is in the owner's hands while the descriptor goes away and comes back. It may handle it then, but nobody
/// wants anything any more; the edge must come again for the want that follows.
fn round_trip_between_wait_and_dispatch(
    test: &mut TestContext,
    harness: &mut Harness,
    checkpoints: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (home, away) = (route.from, route.to);
    let at = |what: &str| format!("{}, round trip while harvested: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, home)?;

    let harvested = checkpoints.hold_batch(home);
    endpoint.write(b"one")?;
    harvested.reached()?;
    check_answer(test, at("takeover"), Ok(()), endpoint.take_over(harness, away)?, "L7")?;
    let pushed = harness.core().registration(endpoint.handle).migrate_on(home);
    check_answer(test, at("push back"), Ok(()), pushed, "protocol 9")?;
    harvested.release();
    harness.fence_all()?;
    test.check_eq(
        at("reports before anybody wants"),
        String::new(),
        reads_by_thread(&endpoint.recorder.seen()),
        "S18",
    );
    endpoint.want(harness, home)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence_all()?;
    test.check_eq(
        at("reports"),
        format!("{home}:one"),
        reads_by_thread(&endpoint.recorder.seen()),
        "L1, suspect 10",
    );
    endpoint.end(harness)
}
