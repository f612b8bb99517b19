//! A takeover and a delete run at the same time.
//!
//! HAProxy's callers exclude this with a lock. Without a lock, a takeover that stores its bit into the thread
//! mask of an entry under deletion revives the entry: no thread would close it any more (protocol 8.3).

use std::sync::mpsc::Receiver;

use fd_core::error::{DeleteError, MoveError};

use super::{Endpoint, Route, check_answer, routes};
use crate::deletion::monitor::delete_on;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-during-delete",
    title: "A takeover during a delete does not revive the FD, and the FD is closed once",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "L4", "L7", "protocol 8.3"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The thread that must have closed the descriptor.
#[derive(PartialEq)]
enum Closer {
    Deleter,
    Taker,
    Either,
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        delete_held(test, &mut harness, route, Point::DeleteMarked)?;
        delete_held(test, &mut harness, route, Point::DeleteMaskCleared)?;
        if !route.crosses() {
            takeover_held(test, &mut harness, route, Point::TakeoverRunningSet)?;
            takeover_held(test, &mut harness, route, Point::TakeoverMaskSet)?;
        }
    }
    harness.finish(test, &[])
}

/// Holds the owner's delete half-way while another thread takes over.
fn delete_held(test: &mut TestContext, harness: &mut Harness, route: Route, window: Point) -> Result {
    let (owner, taker) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("{}, delete at {window:?}: {what}", route.name);
    let endpoint = Endpoint::start(test, harness, owner)?;
    let number = endpoint.handle.number();
    let closes = Closes::so_far(harness, route);
    let deleting = points.hold(owner, window, number);
    let deleted = delete_on(harness, Some(owner), endpoint.handle)?;
    deleting.reached()?;
    let (taken, expected, closer) = match (route.crosses(), window) {
        // The deleter's reference prevents the lock of the group word.
        (true, _) => {
            let taken = endpoint.take_over(harness, taker)?;
            deleting.release();
            (taken, Err(MoveError::Busy), Closer::Deleter)
        }
        // The mask is still set: the takeover comes first, and the delete ends the new owner's registration.
        (false, Point::DeleteMarked) => {
            let taken = endpoint.take_over(harness, taker)?;
            deleting.release();
            (taken, Ok(()), Closer::Deleter)
        }
        // Both exit at the same time; the thread that closes waits for the other's reference.
        (false, _) => {
            let exiting = points.hold(taker, Point::ExitRunningCleared, number);
            let taken = endpoint.begin_take_over(harness, taker);
            exiting.reached()?;
            deleting.release();
            exiting.release();
            (result_of(&taken)?, Err(MoveError::Deleted), Closer::Either)
        }
    };
    check_answer(test, label("takeover"), expected, taken, "protocol 8.3, L7")?;
    test.check_debug(label("delete"), Ok(()), result_of(&deleted)?, "protocol 6");
    closed_once(test, harness, &label, &endpoint, closes, closer)
}

/// Holds a takeover half-way while the owner deletes.
fn takeover_held(test: &mut TestContext, harness: &mut Harness, route: Route, window: Point) -> Result {
    let (owner, taker) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("takeover at {window:?}: {what}");
    let endpoint = Endpoint::start(test, harness, owner)?;
    let closes = Closes::so_far(harness, route);
    let taking = points.hold(taker, window, endpoint.handle.number());
    let taken = endpoint.begin_take_over(harness, taker);
    taking.reached()?;
    let deleted = result_of(&delete_on(harness, Some(owner), endpoint.handle)?)?;
    test.check_debug(label("delete"), Ok(()), deleted, "protocol 6.3, L7: it does not wait");
    let open = descriptors::is_open(endpoint.handle.number());
    test.check_eq(label("the number is open during the takeover"), true, open, "S5");
    let second_result = harness.registration(endpoint.handle).delete();
    test.check_debug(
        label("second delete"),
        Err(DeleteError::AlreadyDeleted),
        second_result,
        "S4, protocol 6.1",
    );
    taking.release();
    let expected = if window == Point::TakeoverRunningSet { Err(MoveError::Deleted) } else { Ok(()) };
    check_answer(test, label("takeover"), expected, result_of(&taken)?, "protocol 8.3")?;
    closed_once(test, harness, &label, &endpoint, closes, Closer::Taker)
}

/// Closes so far: in all, by the owner, and by the taker.
struct Closes {
    route: Route,
    counts: [u64; 3],
}

impl Closes {
    fn so_far(harness: &Harness, route: Route) -> Self {
        let closes = |thread| harness.activity(thread).fd_close;
        Self { route, counts: [harness.closed(), closes(route.from), closes(route.to)] }
    }
}

fn closed_once(
    test: &mut TestContext,
    harness: &mut Harness,
    label: &dyn Fn(&str) -> String,
    endpoint: &Endpoint,
    before: Closes,
    closer: Closer,
) -> Result {
    harness.wait_until(&label("the close"), || harness.closed() > before.counts[0])?;
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
    let what = label("closes in all, by the owner, by the taker");
    test.check(what, format!("{allowed:?}"), format!("{since:?}"), "S4, L4", holds);
    let open = descriptors::is_open(endpoint.handle.number());
    test.check_eq(label("the number is open afterwards"), false, open, "L4");
    let late_takeover = endpoint.take_over(harness, before.route.to)?;
    let holds = matches!(late_takeover, Err(MoveError::Stale(_)));
    test.check(label("takeover afterwards"), "stale", format!("{late_takeover:?}"), "S6", holds);
    Ok(())
}

fn result_of<T>(receiver: &Receiver<T>) -> Result<T> {
    receiver.recv_timeout(patience()).map_err(|_| Failure::Wrong("a takeover or a delete did not end".into()))
}
