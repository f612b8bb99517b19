//! The old owner's report arrives in each window of a takeover.
//!
//! HAProxy's first lock-free takeover let both threads run (`cd8914bc5`, bug 66), and today's lets the old owner,
//! which lost the race, close the descriptor under the new owner's delete (suspect 20; model M5). Every window
//! is held open here with a thread on each side.

use fd_core::error::MoveError;
use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer};

use super::{Route, Subject, answered, routes, told, untouched};
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/late-report-of-old-owner",
    title: "A report of the old owner in any window of a takeover runs no handler and closes nothing",
    layer: Layer::Contract,
    clauses: &["S1", "S2", "S3", "S4", "S5", "L7", "bug 53", "bug 66", "suspect 4", "suspect 20"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let checkpoints = Checkpoints::watch();
    for route in routes(&lab) {
        if route.crosses() {
            refused_while_reporting(trial, &mut lab, &checkpoints, route, Point::ReportBeforeRunning)?;
        } else {
            lost_before_running(trial, &mut lab, &checkpoints, route)?;
            lost_within_takeover(trial, &mut lab, &checkpoints, route, Point::TakeoverRunningSet)?;
            lost_within_takeover(trial, &mut lab, &checkpoints, route, Point::TakeoverMaskSet)?;
            taken_at_the_exit(trial, &mut lab, &checkpoints, route)?;
            leaving_under_delete(trial, &mut lab, &checkpoints, route)?;
        }
        refused_while_reporting(trial, &mut lab, &checkpoints, route, Point::ReportRunningSet)?;
    }
    drop(checkpoints);
    lab.finish(trial, &[])
}

/// The report has seen itself allowed; the takeover goes through before it says that it is running.
fn lost_before_running(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("taken before the report is running: {what}");
    let mut subject = Subject::start(trial, lab, old)?;
    let counted = lab.activity(old);
    let late = points.hold(old, Point::ReportBeforeRunning, subject.handle.number());
    subject.write(b"one")?;
    late.reached()?;
    answered(trial, at("takeover"), Ok(()), subject.take(lab, new)?, "protocol 8.2: nobody is running")?;
    late.release();
    lost(trial, lab, &at, subject, route, counted.poll_skip)
}

/// The report arrives while the takeover is between two of its steps.
fn lost_within_takeover(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
    window: Point,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("report at {window:?}: {what}");
    let mut subject = Subject::start(trial, lab, old)?;
    let (handle, owner) = (subject.handle, subject.owner);
    let counted = lab.activity(old);
    let taking = points.hold(new, window, handle.number());
    let (answer, take) = std::sync::mpsc::channel();
    lab.core().post(new, move |context| {
        let _ = answer.send(context.takeover(handle, owner));
    });
    taking.reached()?;
    if window == Point::TakeoverRunningSet {
        // Allowed still, but not alone: it must wait for the new mask, and not run meanwhile.
        let late = points.hold(old, Point::ReportRunningSet, handle.number());
        subject.write(b"one")?;
        late.reached()?;
        late.release();
    } else {
        // Not allowed any more: it goes on at once, though the takeover does not (L7, bug 67).
        subject.write(b"one")?;
        lab.fence(old)?;
        trial.check_eq(at("reports so far"), 0, subject.recorder.reports(), "S3");
    }
    taking.release();
    let taken = take
        .recv_timeout(crate::trial::patience())
        .map_err(|_| Failure::Wrong(at("the takeover did not end")))?;
    answered(trial, at("takeover"), Ok(()), taken, "L9")?;
    lost(trial, lab, &at, subject, route, counted.poll_skip)
}

/// After a report that lost: it was skipped once, and the new owner gets the data.
fn lost(
    trial: &mut Trial,
    lab: &mut Lab,
    at: &dyn Fn(&str) -> String,
    subject: Subject,
    route: Route,
    skipped_before: u64,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    lab.fence_all()?;
    trial.check_eq(at("reports before anybody wants it"), 0, subject.recorder.reports(), "S3, bug 66");
    trial.cost_eq(at("reports skipped"), 1, lab.activity(old).poll_skip - skipped_before, "protocol 4.5, L5");
    let entry = lab.entry(subject.handle)?;
    trial.check_eq(at("thread mask"), new.mask().bits(), entry.thread_mask.bits(), "S3");
    trial.check_eq(at("running"), 0, entry.running.bits(), "L9: no running bit is left behind");
    subject.want(lab, new)?;
    subject.wait_for_bytes(lab, b"one")?;
    lab.fence_all()?;
    trial.check_eq(at("reports"), format!("{new}:one"), told(&subject.recorder.seen()), "S1, S3");
    subject.end(lab)
}

/// Somebody in a report cannot be robbed. To change the group even its reference is in the way.
fn refused_while_reporting(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
    window: Point,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, taken at {window:?}: {what}", route.name);
    let mut subject = Subject::start(trial, lab, old)?;
    let late = points.hold(old, window, subject.handle.number());
    subject.write(b"one")?;
    late.reached()?;
    let before = lab.entry(subject.handle)?;
    answered(trial, at("takeover"), Err(MoveError::Busy), subject.take(lab, new)?, "S2, L7")?;
    untouched(trial, at("entry"), before, lab.entry(subject.handle)?, "S2, bug 53")?;
    late.release();
    subject.wait_for_bytes(lab, b"one")?;
    lab.fence_all()?;
    trial.check_eq(at("reports"), format!("{old}:one"), told(&subject.recorder.seen()), "S2, S3");
    answered(trial, at("takeover afterwards"), Ok(()), subject.take(lab, new)?, "L9")?;
    subject.end(lab)
}

/// The handler has run and its running bit is gone, and the report has not looked at the mask again: free to take.
fn taken_at_the_exit(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("taken at the exit: {what}");
    let mut subject = Subject::start(trial, lab, old)?;
    let leaving = points.hold(old, Point::LeaveRunningCleared, subject.handle.number());
    subject.write(b"one")?;
    leaving.reached()?;
    answered(trial, at("takeover"), Ok(()), subject.take(lab, new)?, "L9")?;
    subject.want(lab, new)?;
    subject.write(b"two")?;
    subject.wait_for_bytes(lab, b"onetwo")?;
    leaving.release();
    lab.fence_all()?;
    trial.check_eq(at("reports"), format!("{old}:one {new}:two"), told(&subject.recorder.seen()), "S1, S3");
    trial.check_eq(at("active"), 1, lab.entry(subject.handle)?.state & fd_core::state::ACTIVE, "bug 53");
    subject.end(lab)
}

/// Suspect 20. The old owner lost, and has given up its running bit; the new owner has set the token of its delete and
/// not cleared the mask. The token is not the old owner's to win.
fn leaving_under_delete(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("leaving under the new owner's delete: {what}");
    let mut subject = Subject::start(trial, lab, old)?;
    let handle = subject.handle;
    let late = points.hold(old, Point::ReportBeforeRunning, handle.number());
    subject.write(b"one")?;
    late.reached()?;
    answered(trial, at("takeover"), Ok(()), subject.take(lab, new)?, "L9")?;
    let leaving = points.hold(old, Point::LeaveRunningCleared, handle.number());
    late.release();
    leaving.reached()?;
    let deleting = points.hold(new, Point::DeleteTokenSet, handle.number());
    let closes = (lab.core().registration_counts().closed, lab.activity(old).fd_close, lab.activity(new).fd_close);
    lab.core().post(new, move |context| {
        let _ = context.registration(handle).delete();
    });
    deleting.reached()?;
    leaving.release();
    let waits = "the old owner gets out of its report, and does not wait to close what the new one deletes";
    lab.fence(old).map_err(|stuck| Failure::Wrong(at(&format!("{waits} (suspect 20): {stuck}"))))?;
    trial.check_eq(
        at("the number is open while the delete is under way"),
        true,
        descriptors::is_open(handle.number()),
        "S5",
    );
    trial.check_eq(at("closes so far"), closes.0, lab.core().registration_counts().closed, "S5, suspect 20");
    deleting.release();
    lab.wait_until(&at("the close"), || lab.core().registration_counts().closed > closes.0)?;
    lab.fence_all()?;
    let (by_old, by_new) = (lab.activity(old).fd_close - closes.1, lab.activity(new).fd_close - closes.2);
    trial.check_eq(
        at("closes by the old and the new owner"),
        "0 1".into(),
        format!("{by_old} {by_new}"),
        "S4, suspect 20",
    );
    trial.check_eq(
        at("the number is open after the close"),
        false,
        descriptors::is_open(handle.number()),
        "L4",
    );
    trial.check_eq(at("reports"), 0, subject.recorder.reports(), "S3");
    Ok(())
}
