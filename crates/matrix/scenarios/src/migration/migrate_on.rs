//! `migrate_on` moves a descriptor to another thread.
//!
//! HAProxy's `fd_migrate_on` ignores the running mask (suspect 15): a running bit would survive in a mask
//! that by then belongs to another group. Here the move is refused.

use fd_core::error::MoveError;

use super::{Endpoint, Route, check_answer, check_unchanged, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/migrate-on",
    title: "An FD that is moved to another thread is reported to that thread only",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "S9", "L1", "L3", "protocol 9", "suspect 15", "suspect 16"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The thread that calls `migrate_on`.
#[derive(Clone, Copy, PartialEq)]
enum Caller {
    Owner,
    Target,
    Outsider,
}

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        for by in [Caller::Owner, Caller::Target, Caller::Outsider] {
            migrated(test, &mut harness, &sleepers, route, by)?;
        }
        migrated_while_listed(test, &mut harness, route)?;
        refused_in_handler(test, &mut harness, route)?;
    }
    no_such_thread(test, &mut harness)?;
    harness.finish(test, &[])
}

fn migrated(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    route: Route,
    by: Caller,
) -> Result {
    let caller = match by {
        Caller::Owner => "its owner",
        Caller::Target => "the target",
        Caller::Outsider => "a thread outside the runtime",
    };
    let label = |what: &str| format!("{}, by {caller}: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, route.from)?;
    let (handle, target) = (endpoint.handle, route.to);
    // The reading end of a pipe cannot be written.
    let sends = test.params.transport != Transport::Pipe;
    let result = match by {
        Caller::Owner => harness.on(route.from, move |context| {
            // Within one task: the last change of the interest has not reached the poller when the descriptor
            // moves.
            if sends {
                context.registration(handle).want_send()?;
            }
            context.registration(handle).migrate_on(target)
        })?,
        Caller::Target => {
            harness.on(target, move |context| context.registration(handle).migrate_on(target))?
        }
        Caller::Outsider => harness.registration(handle).migrate_on(target),
    };
    check_answer(test, label("migrate_on"), Ok(()), result, "protocol 9")?;
    let entry = harness.entry(handle)?;
    test.check_eq(label("group"), target.group(), entry.group, "protocol 9");
    test.check_eq(label("thread mask"), target.mask().bits(), entry.thread_mask.bits(), "protocol 9");
    let what = label("active directions");
    test.check_eq(what, State::default(), entry.state.and(State::ACTIVE), "protocol 9.5: both are stopped");
    test.check_eq(label("changes of owner"), 1, entry.takeovers, "protocol 9");

    if route.crosses() {
        // A bit that is left behind would suppress the update of the target's next change of interest.
        test.check_eq(label("threads with a pending update"), 0, entry.update_mask.bits(), "S9, L1");
    }
    test.stop_if_failed()?;

    // No report until the target enables its interest.
    harness.fence_all()?;
    endpoint.send(harness, b"one")?;
    harness.fence_all()?;
    test.check_eq(label("reports before the interest is enabled"), 0, endpoint.recorder.reports(), "S3, S18");
    if by == Caller::Outsider {
        // The target sleeps, and must be woken for the update.
        sleepers.wait_for(harness, &[target])?;
        harness.registration(handle).want_recv()?;
    } else {
        endpoint.want_recv(harness, target)?;
    }
    endpoint.wait_for_bytes(harness, b"one")?;
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{target}:one {target}:two"), endpoint.reads(), "S3, L1");
    endpoint.end(harness)
}

/// Moves a descriptor that is in the shared list: a thread outside the runtime has enabled its interest while
/// its owner was busy. An FD that changes its group must not stay linked in the old group's list: the new
/// group would never list it (suspect 16).
fn migrated_while_listed(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let label = |what: &str| format!("{}, listed: {what}", route.name);
    let mut busy = Endpoint::start(test, harness, old)?;
    let inside = busy.recorder.hold_next();
    busy.write(b"busy")?;
    inside.reached()?;

    let ends = test.pair()?;
    let recorder = Recorder::new();
    let handle = harness.insert(ends.near, recorder.clone(), old)?;
    let mut endpoint = Endpoint { handle, owner: recorder.id(), recorder, far: ends.far };
    harness.registration(handle).want_recv()?;
    let pending = harness.entry(handle)?.update_mask;
    let what = label("threads with a pending update before");
    test.check_eq(what, old.mask().bits(), pending.bits(), "protocol 11.2");
    let moved = harness.registration(handle).migrate_on(new);
    check_answer(test, label("migrate_on"), Ok(()), moved, "protocol 9")?;
    harness.registration(handle).want_recv()?;
    endpoint.write(b"one")?;
    // The old owner is still busy: its iteration must not be needed.
    endpoint.wait_for_bytes(harness, b"one")?;
    inside.release();
    busy.wait_for_bytes(harness, b"busy")?;
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.wait_until_polled(handle, new.mask())?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{new}:one {new}:two"), endpoint.reads(), "S3, L1, L3");
    let entry = harness.entry(handle)?;
    test.check_eq(label("threads with a pending update"), 0, entry.update_mask.bits(), "L3");
    busy.end(harness)?;
    endpoint.end(harness)
}

fn refused_in_handler(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let label = |what: &str| format!("{}, in the handler: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let inside = endpoint.recorder.hold_next();
    endpoint.write(b"one")?;
    inside.reached()?;
    let before = harness.entry(handle)?;
    let busy = Err(MoveError::Busy);
    let moved = harness.registration(handle).migrate_on(new);
    check_answer(test, label("migrate_on from outside"), busy, moved, "S2, suspect 15")?;
    let migrated = harness.on(new, move |context| context.registration(handle).migrate_on(new))?;
    check_answer(test, label("migrate_on by the target"), busy, migrated, "S2, suspect 15")?;
    check_unchanged(test, label("entry after the refusals"), before, harness.entry(handle)?, "suspect 15")?;
    inside.release();
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence(old)?;

    // A call by the running thread itself is refused, too: its running bit would stay behind.
    let own = harness.on(old, move |context| {
        context.enter(handle, |ready: &ReadyGuard<'_>| ready.registration().migrate_on(new))
    })?;
    test.check_debug(label("migrate_on inside enter()"), Ok(Err(MoveError::Busy)), own, "S2, suspect 15");
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{old}:one {old}:two"), endpoint.reads(), "S3");
    endpoint.end(harness)
}

fn no_such_thread(test: &mut TestContext, harness: &mut Harness) -> Result {
    let endpoint = Endpoint::start(test, harness, harness.thread(0))?;
    let before = harness.entry(endpoint.handle)?;
    // The highest thread of a group: no cell has 64 threads.
    let no_thread = ThreadId::new(before.group, 63).ok_or_else(|| Failure::Broken("no thread 63".into()))?;
    let migrated = harness.registration(endpoint.handle).migrate_on(no_thread);
    let what = "migrate_on to a thread that does not exist".into();
    check_answer(test, what, Err(MoveError::NoThread), migrated, "S19")?;
    check_unchanged(test, "entry after the refusal".into(), before, harness.entry(endpoint.handle)?, "S19")?;
    endpoint.end(harness)
}
