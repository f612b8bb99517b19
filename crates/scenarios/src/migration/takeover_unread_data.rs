//! Data that is there already when the descriptor changes its owner.
//!
//! HAProxy's edge-triggered registrations are never refreshed by a takeover (suspect 10): after A, B, A, the
//! first thread's poller believes that it has told everything, and the connection stalls. Here each way in which an
//! edge can have been spent before the new owner asks is forced in turn.

use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer};

use super::{Route, Subject, answered, routes, told};
use crate::catalogue::Scenario;
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-unread-data",
    title: "Data that arrived before a takeover is reported to the new thread",
    layer: Layer::Contract,
    clauses: &["L1", "S3", "S18", "suspect 10"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let checkpoints = Checkpoints::watch();
    for route in routes(&lab) {
        seen_and_left(trial, &mut lab, route)?;
        reported_to_the_former_owner(trial, &mut lab, route)?;
        between_wait_and_dispatch(trial, &mut lab, &checkpoints, route)?;
        round_trip_between_wait_and_dispatch(trial, &mut lab, &checkpoints, route)?;
        // A pass pins what it looks at, and a change of group waits for that.
        if lab.core().backend().capabilities().kernel_state && !route.crosses() {
            taken_back_under_a_pass(trial, &mut lab, &checkpoints, route)?;
        }
    }
    drop(checkpoints);
    lab.finish(trial, &[])
}

/// The owner is told, reads nothing, and loses the descriptor: the edge is spent, the data still there.
fn seen_and_left(trial: &mut Trial, lab: &mut Lab, route: Route) -> Result<(), Failure> {
    let (first, second) = (route.from, route.to);
    let at = |what: &str| format!("{}, seen and left: {what}", route.name);
    let mut subject = Subject::start(trial, lab, first)?;

    subject.recorder.leave_unread(true);
    subject.write(b"one")?;
    subject.wait_for_reports(lab, 1)?;
    lab.fence(first)?;
    // A, B, A: the second owner wants nothing, so that it is the first one's old registration that counts. It wants at
    // once, before a pass could take that out: what is held is then what is wanted.
    answered(trial, at("takeover"), Ok(()), subject.take(lab, second)?, "L9")?;
    subject.recorder.leave_unread(false);
    let (handle, owner) = (subject.handle, subject.owner);
    let taken = lab.on(first, move |context| {
        let taken = context.takeover(handle, owner);
        (taken, context.registration(handle).want_recv().is_ok())
    })?;
    answered(trial, at("takeover back"), Ok(()), taken.0, "L9")?;
    trial.check_eq(at("wanted"), true, taken.1, "RegistrationRef::want_recv");
    subject.wait_for_bytes(lab, b"one")?;

    subject.recorder.leave_unread(true);
    subject.write(b"two")?;
    subject.wait_for_reports(lab, 3)?;
    lab.fence(first)?;
    answered(trial, at("takeover with data left"), Ok(()), subject.take(lab, second)?, "L9")?;
    subject.recorder.leave_unread(false);
    subject.want(lab, second)?;
    subject.wait_for_bytes(lab, b"onetwo")?;
    lab.fence_all()?;
    let expected = format!("{first}: {first}:one {first}: {second}:two");
    trial.check_eq(at("reports"), expected, told(&subject.recorder.seen()), "L1, suspect 10");
    subject.end(lab)
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
    trial: &mut Trial,
    lab: &mut Lab,
    checkpoints: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (first, second) = (route.from, route.to);
    let at = |what: &str| format!("{}, taken back under a pass: {what}", route.name);
    let mut subject = Subject::start(trial, lab, first)?;

    subject.recorder.leave_unread(true);
    subject.write(b"one")?;
    subject.wait_for_reports(lab, 1)?;
    lab.fence(first)?;
    let seen = checkpoints.hold(second, Point::RearmSeen, subject.handle.number());
    answered(trial, at("takeover"), Ok(()), subject.take(lab, second)?, "L9")?;
    seen.reached()?;
    subject.recorder.leave_unread(false);
    let passed = checkpoints.hold(second, Point::BeforeWait, -1);
    let (handle, owner) = (subject.handle, subject.owner);
    // The first thread does not get to its own pass before the second one's is over.
    let back = lab.on(first, move |context| {
        let taken = context.takeover(handle, owner);
        let wanted = context.registration(handle).want_recv().is_ok();
        seen.release();
        let reached = passed.reached();
        passed.release();
        (taken, wanted, reached)
    })?;
    back.2?;
    answered(trial, at("takeover back"), Ok(()), back.0, "L9")?;
    trial.check_eq(at("wanted"), true, back.1, "RegistrationRef::want_recv");
    subject.wait_for_bytes(lab, b"one")?;
    subject.end(lab)
}

/// The former owner's poller reports the data while the descriptor is another's, and then it comes back.
fn reported_to_the_former_owner(trial: &mut Trial, lab: &mut Lab, route: Route) -> Result<(), Failure> {
    let (first, second) = (route.from, route.to);
    let at = |what: &str| format!("{}, told the former owner: {what}", route.name);
    let mut subject = Subject::start(trial, lab, first)?;

    answered(trial, at("takeover"), Ok(()), subject.take(lab, second)?, "L9")?;
    subject.write(b"one")?;
    // Its registration, where it still has one, has spent its edge on nobody.
    lab.fence(first)?;
    answered(trial, at("takeover back"), Ok(()), subject.take(lab, first)?, "L9")?;
    subject.want(lab, first)?;
    subject.wait_for_bytes(lab, b"one")?;
    lab.fence_all()?;
    trial.check_eq(
        at("reports"),
        format!("{first}:one"),
        told(&subject.recorder.seen()),
        "L1, L5, suspect 10",
    );
    subject.end(lab)
}

/// The event is in the old thread's hands when the descriptor is taken.
fn between_wait_and_dispatch(
    trial: &mut Trial,
    lab: &mut Lab,
    checkpoints: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, harvested: {what}", route.name);
    let mut subject = Subject::start(trial, lab, old)?;

    let counted = lab.activity(old);
    let harvested = checkpoints.hold_batch(old);
    subject.write(b"one")?;
    harvested.reached()?;
    answered(trial, at("takeover"), Ok(()), subject.take(lab, new)?, "L7: no waiting for a batch")?;
    subject.want(lab, new)?;
    subject.wait_for_bytes(lab, b"one")?;
    harvested.release();
    lab.fence_all()?;
    let counted = lab.activity(old).since(&counted);
    // Another group's masks are not looked at: there it counts as dropped.
    let expected = if route.crosses() { "0 1" } else { "1 0" };
    let counts = format!("{} {}", counted.poll_skip, counted.poll_drop);
    trial.cost_eq(
        at("events skipped and dropped by the old thread"),
        expected.into(),
        counts,
        "protocol 4.2, protocol 4.3",
    );
    trial.check_eq(at("reports"), format!("{new}:one"), told(&subject.recorder.seen()), "S3, bug 66");
    let entry = lab.entry(subject.handle)?;
    // The late event is what makes the old thread forget it.
    trial.cost_eq(at("threads that poll it"), new.mask().bits(), entry.polled_recv.bits(), "L5");
    subject.end(lab)
}

/// The event is in the owner's hands while the descriptor goes away and comes back. It may handle it then, but nobody
/// wants anything any more; the edge must come again for the want that follows.
fn round_trip_between_wait_and_dispatch(
    trial: &mut Trial,
    lab: &mut Lab,
    checkpoints: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (home, away) = (route.from, route.to);
    let at = |what: &str| format!("{}, round trip while harvested: {what}", route.name);
    let mut subject = Subject::start(trial, lab, home)?;

    let harvested = checkpoints.hold_batch(home);
    subject.write(b"one")?;
    harvested.reached()?;
    answered(trial, at("takeover"), Ok(()), subject.take(lab, away)?, "L7")?;
    let pushed = lab.core().registration(subject.handle).migrate_on(home);
    answered(trial, at("push back"), Ok(()), pushed, "protocol 9")?;
    harvested.release();
    lab.fence_all()?;
    trial.check_eq(at("reports before anybody wants"), String::new(), told(&subject.recorder.seen()), "S18");
    subject.want(lab, home)?;
    subject.wait_for_bytes(lab, b"one")?;
    lab.fence_all()?;
    trial.check_eq(at("reports"), format!("{home}:one"), told(&subject.recorder.seen()), "L1, suspect 10");
    subject.end(lab)
}
