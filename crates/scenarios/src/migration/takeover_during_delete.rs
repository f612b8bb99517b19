//! A takeover meets a delete.
//!
//! HAProxy's callers exclude this with a lock. Without one, a takeover that stores its bit into the thread mask of
//! an entry under deletion brings it back to life: nobody would close it any more (protocol 8.3).

use std::sync::mpsc::{Receiver, channel};

use fd_core::error::MoveError;
use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::{Route, Subject, answered, routes};
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-during-delete",
    title: "A takeover during a delete neither revives the FD nor keeps it from being closed once",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "L4", "L7", "protocol 8.3"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Who must have closed it.
#[derive(PartialEq)]
enum Closer {
    Deleter,
    Taker,
    Either,
}

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let points = Checkpoints::watch();
    for route in routes(&lab) {
        delete_held(trial, &mut lab, &points, route, Point::DeleteTokenSet)?;
        delete_held(trial, &mut lab, &points, route, Point::DeleteMaskCleared)?;
        if !route.crosses() {
            takeover_held(trial, &mut lab, &points, route, Point::TakeoverRunningSet)?;
            takeover_held(trial, &mut lab, &points, route, Point::TakeoverMaskSet)?;
        }
    }
    drop(points);
    lab.finish(trial, &[])
}

/// The owner's delete stops half-way, and another thread takes over.
fn delete_held(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
    window: Point,
) -> Result<(), Failure> {
    let (owner, taker) = (route.from, route.to);
    let at = |what: &str| format!("{}, delete at {window:?}: {what}", route.name);
    let subject = Subject::start(trial, lab, owner)?;
    let number = subject.handle.number();
    let closes = Closes::so_far(lab, route);
    let deleting = points.hold(owner, window, number);
    let deleted = delete_on(lab, &subject, owner);
    deleting.reached()?;
    let (taken, expected, closer) = match (route.crosses(), window) {
        // The deleter's reference keeps the group word from being locked.
        (true, _) => {
            let taken = subject.take(lab, taker)?;
            deleting.release();
            (taken, Err(MoveError::Busy), Closer::Deleter)
        }
        // The mask is still there: the takeover comes first, and the delete ends what it took.
        (false, Point::DeleteTokenSet) => {
            let taken = subject.take(lab, taker)?;
            deleting.release();
            (taken, Ok(()), Closer::Deleter)
        }
        // Both give up at the same time; whoever closes waits for the other's reference.
        (false, _) => {
            let leaving = points.hold(taker, Point::LeaveRunningCleared, number);
            let taken = take_on(lab, &subject, taker);
            leaving.reached()?;
            deleting.release();
            leaving.release();
            (answer(&taken)?, Err(MoveError::Deleted), Closer::Either)
        }
    };
    answered(trial, at("takeover"), expected, taken, "protocol 8.3, L7")?;
    trial.check_eq(at("delete"), "Ok(())".into(), format!("{:?}", answer(&deleted)?), "protocol 6");
    closed_once(trial, lab, &at, &subject, closes, closer)
}

/// A takeover stops half-way, and the owner deletes.
fn takeover_held(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
    window: Point,
) -> Result<(), Failure> {
    let (owner, taker) = (route.from, route.to);
    let at = |what: &str| format!("takeover at {window:?}: {what}");
    let subject = Subject::start(trial, lab, owner)?;
    let closes = Closes::so_far(lab, route);
    let taking = points.hold(taker, window, subject.handle.number());
    let taken = take_on(lab, &subject, taker);
    taking.reached()?;
    let deleted = answer(&delete_on(lab, &subject, owner))?;
    trial.check_eq(
        at("delete"),
        "Ok(())".into(),
        format!("{deleted:?}"),
        "protocol 6.3, L7: it does not wait",
    );
    let open = descriptors::is_open(subject.handle.number());
    trial.check_eq(at("the number is open while the taker is at work"), true, open, "S5");
    let again = lab.core().registration(subject.handle).delete();
    trial.check_eq(
        at("a second delete"),
        "Err(AlreadyDeleted)".into(),
        format!("{again:?}"),
        "S4, protocol 6.1",
    );
    taking.release();
    let expected = if window == Point::TakeoverRunningSet { Err(MoveError::Deleted) } else { Ok(()) };
    answered(trial, at("takeover"), expected, answer(&taken)?, "protocol 8.3")?;
    closed_once(trial, lab, &at, &subject, closes, Closer::Taker)
}

/// How often the process, the owner and the taker have closed.
struct Closes {
    route: Route,
    counts: [u64; 3],
}

impl Closes {
    fn so_far(lab: &Lab, route: Route) -> Self {
        let closes = |thread| lab.activity(thread).fd_close;
        Self { route, counts: [lab.core().registration_counts().closed, closes(route.from), closes(route.to)] }
    }
}

fn closed_once(
    trial: &mut Trial,
    lab: &mut Lab,
    at: &dyn Fn(&str) -> String,
    subject: &Subject,
    before: Closes,
    closer: Closer,
) -> Result<(), Failure> {
    lab.wait_until(&at("the close"), || lab.core().registration_counts().closed > before.counts[0])?;
    lab.fence_all()?;
    let after = Closes::so_far(lab, before.route);
    let since: Vec<_> =
        after.counts.iter().zip(before.counts).map(|(after, before)| after - before).collect();
    let allowed: &[[u64; 3]] = match closer {
        Closer::Deleter => &[[1, 1, 0]],
        Closer::Taker => &[[1, 0, 1]],
        Closer::Either => &[[1, 1, 0], [1, 0, 1]],
    };
    let holds = allowed.iter().any(|allowed| *allowed == *since);
    trial.check(
        at("closes in all, by the owner, by the taker"),
        format!("{allowed:?}"),
        format!("{since:?}"),
        "S4, L4",
        holds,
    );
    let open = descriptors::is_open(subject.handle.number());
    trial.check_eq(at("the number is open afterwards"), false, open, "L4");
    let late = subject.take(lab, before.route.to)?;
    let holds = matches!(late, Err(MoveError::Stale(_)));
    trial.check(at("takeover afterwards"), "stale", format!("{late:?}"), "S6", holds);
    Ok(())
}

fn take_on(lab: &Lab, subject: &Subject, thread: ThreadId) -> Receiver<Result<(), MoveError>> {
    let (handle, owner) = (subject.handle, subject.owner);
    let (answer, answers) = channel();
    lab.core().post(thread, move |context| {
        let _ = answer.send(context.takeover(handle, owner));
    });
    answers
}

fn delete_on(
    lab: &Lab,
    subject: &Subject,
    thread: ThreadId,
) -> Receiver<Result<(), fd_core::error::DeleteError>> {
    let handle = subject.handle;
    let (answer, answers) = channel();
    lab.core().post(thread, move |context| {
        let _ = answer.send(context.registration(handle).delete());
    });
    answers
}

fn answer<T>(answers: &Receiver<T>) -> Result<T, Failure> {
    answers.recv_timeout(patience()).map_err(|_| Failure::Wrong("a takeover or a delete did not end".into()))
}
