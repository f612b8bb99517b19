//! A takeover meets a delete.
//!
//! HAProxy's callers exclude this with a lock. Without one, a takeover that stores its bit into the thread mask of
//! an entry under deletion brings it back to life: nobody would close it any more (protocol 8.3).

use std::sync::mpsc::{Receiver, channel};

use fd_core::error::MoveError;
use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::{Endpoint, Route, check_answer, routes};
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext, patience};

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

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    for route in routes(&harness) {
        delete_held(test, &mut harness, &points, route, Point::DeleteTokenSet)?;
        delete_held(test, &mut harness, &points, route, Point::DeleteMaskCleared)?;
        if !route.crosses() {
            takeover_held(test, &mut harness, &points, route, Point::TakeoverRunningSet)?;
            takeover_held(test, &mut harness, &points, route, Point::TakeoverMaskSet)?;
        }
    }
    drop(points);
    harness.finish(test, &[])
}

/// The owner's delete stops half-way, and another thread takes over.
fn delete_held(
    test: &mut TestContext,
    harness: &mut Harness,
    points: &Checkpoints,
    route: Route,
    window: Point,
) -> Result<(), Failure> {
    let (owner, taker) = (route.from, route.to);
    let at = |what: &str| format!("{}, delete at {window:?}: {what}", route.name);
    let endpoint = Endpoint::start(test, harness, owner)?;
    let number = endpoint.handle.number();
    let closes = Closes::so_far(harness, route);
    let deleting = points.hold(owner, window, number);
    let deleted = delete_on(harness, &endpoint, owner);
    deleting.reached()?;
    let (taken, expected, closer) = match (route.crosses(), window) {
        // The deleter's reference keeps the group word from being locked.
        (true, _) => {
            let taken = endpoint.take_over(harness, taker)?;
            deleting.release();
            (taken, Err(MoveError::Busy), Closer::Deleter)
        }
        // The mask is still there: the takeover comes first, and the delete ends what it took.
        (false, Point::DeleteTokenSet) => {
            let taken = endpoint.take_over(harness, taker)?;
            deleting.release();
            (taken, Ok(()), Closer::Deleter)
        }
        // Both give up at the same time; whoever closes waits for the other's reference.
        (false, _) => {
            let leaving = points.hold(taker, Point::ExitRunningCleared, number);
            let taken = take_on(harness, &endpoint, taker);
            leaving.reached()?;
            deleting.release();
            leaving.release();
            (answer(&taken)?, Err(MoveError::Deleted), Closer::Either)
        }
    };
    check_answer(test, at("takeover"), expected, taken, "protocol 8.3, L7")?;
    test.check_eq(at("delete"), "Ok(())".into(), format!("{:?}", answer(&deleted)?), "protocol 6");
    closed_once(test, harness, &at, &endpoint, closes, closer)
}

/// A takeover stops half-way, and the owner deletes.
fn takeover_held(
    test: &mut TestContext,
    harness: &mut Harness,
    points: &Checkpoints,
    route: Route,
    window: Point,
) -> Result<(), Failure> {
    let (owner, taker) = (route.from, route.to);
    let at = |what: &str| format!("takeover at {window:?}: {what}");
    let endpoint = Endpoint::start(test, harness, owner)?;
    let closes = Closes::so_far(harness, route);
    let taking = points.hold(taker, window, endpoint.handle.number());
    let taken = take_on(harness, &endpoint, taker);
    taking.reached()?;
    let deleted = answer(&delete_on(harness, &endpoint, owner))?;
    test.check_eq(
        at("delete"),
        "Ok(())".into(),
        format!("{deleted:?}"),
        "protocol 6.3, L7: it does not wait",
    );
    let open = descriptors::is_open(endpoint.handle.number());
    test.check_eq(at("the number is open while the taker is at work"), true, open, "S5");
    let again = harness.core().registration(endpoint.handle).delete();
    test.check_eq(
        at("a second delete"),
        "Err(AlreadyDeleted)".into(),
        format!("{again:?}"),
        "S4, protocol 6.1",
    );
    taking.release();
    let expected = if window == Point::TakeoverRunningSet { Err(MoveError::Deleted) } else { Ok(()) };
    check_answer(test, at("takeover"), expected, answer(&taken)?, "protocol 8.3")?;
    closed_once(test, harness, &at, &endpoint, closes, Closer::Taker)
}

/// How often the process, the owner and the taker have closed.
struct Closes {
    route: Route,
    counts: [u64; 3],
}

impl Closes {
    fn so_far(harness: &Harness, route: Route) -> Self {
        let closes = |thread| harness.activity(thread).fd_close;
        Self {
            route,
            counts: [harness.core().registration_counts().closed, closes(route.from), closes(route.to)],
        }
    }
}

fn closed_once(
    test: &mut TestContext,
    harness: &mut Harness,
    at: &dyn Fn(&str) -> String,
    endpoint: &Endpoint,
    before: Closes,
    closer: Closer,
) -> Result<(), Failure> {
    harness
        .wait_until(&at("the close"), || harness.core().registration_counts().closed > before.counts[0])?;
    harness.fence_all()?;
    let after = Closes::so_far(harness, before.route);
    let since: Vec<_> =
        after.counts.iter().zip(before.counts).map(|(after, before)| after - before).collect();
    let allowed: &[[u64; 3]] = match closer {
        Closer::Deleter => &[[1, 1, 0]],
        Closer::Taker => &[[1, 0, 1]],
        Closer::Either => &[[1, 1, 0], [1, 0, 1]],
    };
    let holds = allowed.iter().any(|allowed| *allowed == *since);
    test.check(
        at("closes in all, by the owner, by the taker"),
        format!("{allowed:?}"),
        format!("{since:?}"),
        "S4, L4",
        holds,
    );
    let open = descriptors::is_open(endpoint.handle.number());
    test.check_eq(at("the number is open afterwards"), false, open, "L4");
    let late = endpoint.take_over(harness, before.route.to)?;
    let holds = matches!(late, Err(MoveError::Stale(_)));
    test.check(at("takeover afterwards"), "stale", format!("{late:?}"), "S6", holds);
    Ok(())
}

fn take_on(harness: &Harness, endpoint: &Endpoint, thread: ThreadId) -> Receiver<Result<(), MoveError>> {
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    let (answer, answers) = channel();
    let _ = harness.core().post(thread, move |context| {
        let _ = answer.send(context.takeover(handle, owner));
    });
    answers
}

fn delete_on(
    harness: &Harness,
    endpoint: &Endpoint,
    thread: ThreadId,
) -> Receiver<Result<(), fd_core::error::DeleteError>> {
    let handle = endpoint.handle;
    let (answer, answers) = channel();
    let _ = harness.core().post(thread, move |context| {
        let _ = answer.send(context.registration(handle).delete());
    });
    answers
}

fn answer<T>(answers: &Receiver<T>) -> Result<T, Failure> {
    answers.recv_timeout(patience()).map_err(|_| Failure::Wrong("a takeover or a delete did not end".into()))
}
