//! A descriptor is pushed to another thread.
//!
//! HAProxy's push ignores who is running the handler (suspect 15): a running bit would survive in a mask that
//! belongs to another group by then. Here it is refused.

use fd_core::error::MoveError;
use fd_core::ids::ThreadId;
use fd_core::{ReadyGuard, State};
use metadata::{Axes, Layer, Transport};

use super::{Endpoint, Route, check_answer, check_unchanged, reads_by_thread, routes};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/migrate-on",
    title: "An FD pushed to another thread stops here and goes on there",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "S9", "L1", "L3", "protocol 9", "suspect 15", "suspect 16"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Who pushes.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Owner,
    Target,
    Outsider,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        for by in [By::Owner, By::Target, By::Outsider] {
            pushed(test, &mut harness, route, by)?;
        }
        pushed_while_listed(test, &mut harness, route)?;
        refused_in_handler(test, &mut harness, route)?;
    }
    no_such_thread(test, &mut harness)?;
    harness.finish(test, &[])
}

fn pushed(test: &mut TestContext, harness: &mut Harness, route: Route, by: By) -> Result<(), Failure> {
    let who = match by {
        By::Owner => "its owner",
        By::Target => "the target",
        By::Outsider => "no worker",
    };
    let at = |what: &str| format!("{}, by {who}: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, route.from)?;
    let (handle, target) = (endpoint.handle, route.to);
    // The reading end of a pipe is nothing to write to.
    let sends = test.params.transport != Transport::Pipe;
    let answer = match by {
        By::Owner => harness.on(route.from, move |context| {
            // Within one task: what it wanted last has not reached the poller when the descriptor goes.
            if sends {
                context.registration(handle).want_send()?;
            }
            context.registration(handle).migrate_on(target)
        })?,
        By::Target => harness.on(target, move |context| context.registration(handle).migrate_on(target))?,
        By::Outsider => harness.core().registration(handle).migrate_on(target),
    };
    check_answer(test, at("push"), Ok(()), answer, "protocol 9")?;
    let entry = harness.entry(handle)?;
    test.check_eq(at("group"), target.group(), entry.group, "protocol 9");
    test.check_eq(at("thread mask"), target.mask().bits(), entry.thread_mask.bits(), "protocol 9");
    test.check_eq(at("active directions"), State::default(), entry.state.and(State::ACTIVE), "protocol 9.5: both are stopped");
    test.check_eq(at("changes of owner"), 1, entry.takeovers, "protocol 9");

    if route.crosses() {
        // Left behind, it would tell the target's next want that an update is on its way already.
        test.check_eq(at("threads that owe an update"), 0, entry.update_mask.bits(), "S9, L1");
    }
    test.all_hold()?;

    // Stopped until the target wants it.
    harness.fence_all()?;
    endpoint.write(b"one")?;
    harness.fence_all()?;
    test.check_eq(at("reports before anybody wants it"), 0, endpoint.recorder.reports(), "S3, S18");
    if by == By::Outsider {
        // The target sleeps, and must be woken for it.
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    } else {
        endpoint.want(harness, target)?;
    }
    endpoint.wait_for_bytes(harness, b"one")?;
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    test.check_eq(
        at("reports"),
        format!("{target}:one {target}:two"),
        reads_by_thread(&endpoint.recorder.seen()),
        "S3, L1",
    );
    endpoint.end(harness)
}

/// It is in the shared list, because somebody outside wanted it while its owner was busy. An FD that changes its group
/// must not stay linked in the old group's list: the new group would never list it (suspect 16).
fn pushed_while_listed(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, listed: {what}", route.name);
    let mut busy = Endpoint::start(test, harness, old)?;
    let inside = busy.recorder.hold_next();
    busy.write(b"busy")?;
    inside.reached()?;

    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let recorder = Recorder::new();
    let handle = harness.insert(ends.near, recorder.clone(), old)?;
    let mut endpoint = Endpoint { handle, owner: recorder.id(), recorder, far: ends.far };
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let owed = harness.entry(handle)?.update_mask;
    test.check_eq(at("threads that owe an update before"), old.mask().bits(), owed.bits(), "protocol 11.2");
    check_answer(
        test,
        at("push"),
        Ok(()),
        harness.core().registration(handle).migrate_on(new),
        "protocol 9",
    )?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    endpoint.write(b"one")?;
    // The old owner is still busy: nobody else's pass must be needed.
    endpoint.wait_for_bytes(harness, b"one")?;
    inside.release();
    busy.wait_for_bytes(harness, b"busy")?;
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    test.check_eq(
        at("reports"),
        format!("{new}:one {new}:two"),
        reads_by_thread(&endpoint.recorder.seen()),
        "S3, L1, L3",
    );
    let entry = harness.entry(handle)?;
    test.check_eq(at("threads that owe an update"), 0, entry.update_mask.bits(), "L3");
    busy.end(harness)?;
    endpoint.end(harness)
}

fn refused_in_handler(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, in the handler: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let inside = endpoint.recorder.hold_next();
    endpoint.write(b"one")?;
    inside.reached()?;
    let before = harness.entry(handle)?;
    let busy = Err(MoveError::Busy);
    check_answer(
        test,
        at("push from outside"),
        busy,
        harness.core().registration(handle).migrate_on(new),
        "S2, suspect 15",
    )?;
    let pushed = harness.on(new, move |context| context.registration(handle).migrate_on(new))?;
    check_answer(test, at("push by the target"), busy, pushed, "S2, suspect 15")?;
    check_unchanged(test, at("entry after the refusals"), before, harness.entry(handle)?, "suspect 15")?;
    inside.release();
    endpoint.wait_for_bytes(harness, b"one")?;
    harness.fence(old)?;

    // By its own user, too: the running bit would stay behind.
    let own = harness
        .on(old, move |context| context.enter(handle, |ready: &ReadyGuard<'_>| ready.registration().migrate_on(new)))?;
    test.check_eq(at("push inside enter()"), "Ok(Err(Busy))".into(), format!("{own:?}"), "S2, suspect 15");
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.fence_all()?;
    test.check_eq(
        at("reports"),
        format!("{old}:one {old}:two"),
        reads_by_thread(&endpoint.recorder.seen()),
        "S3",
    );
    endpoint.end(harness)
}

fn no_such_thread(test: &mut TestContext, harness: &mut Harness) -> Result<(), Failure> {
    let endpoint = Endpoint::start(test, harness, harness.thread(0))?;
    let before = harness.entry(endpoint.handle)?;
    // The highest thread of a group: no cell has that many.
    let nobody = ThreadId::new(before.group, 63).ok_or_else(|| Failure::Broken("no thread 63".into()))?;
    let pushed = harness.core().registration(endpoint.handle).migrate_on(nobody);
    check_answer(
        test,
        "push to a thread that does not exist".into(),
        Err(MoveError::NoThread),
        pushed,
        "S19",
    )?;
    check_unchanged(test, "entry after that".into(), before, harness.entry(endpoint.handle)?, "S19")?;
    endpoint.end(harness)
}
