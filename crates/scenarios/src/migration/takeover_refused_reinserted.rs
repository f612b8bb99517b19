//! A takeover through the handle of an earlier life of the number.
//!
//! Between finding a connection and taking it over, its number may be closed and be another connection: the
//! reason why HAProxy compares the owner, and why it needs the lock of the list it was found in. A handle that
//! carries the generation needs no lock.

use fd_core::ReadyGuard;
use fd_core::error::{DeleteError, EnterError, MoveError};
use metadata::{Axes, Layer};

use super::{Endpoint, Route, check_unchanged, reads_by_thread, routes};
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-reinserted",
    title: "A takeover with the handle of an earlier life is refused and changes nothing",
    layer: Layer::Contract,
    clauses: &["S7", "S10", "protocol 2.1"],
    axes: Axes { groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        // The next life begins where the last one began, or where it was taken to.
        for home in [route.from, route.to] {
            second_life(test, &mut harness, route, home)?;
        }
    }
    harness.finish(test, &[])
}

fn second_life(
    test: &mut TestContext,
    harness: &mut Harness,
    route: Route,
    home: fd_core::ids::ThreadId,
) -> Result<(), Failure> {
    let at = |what: &str| format!("{}, new life on {home}: {what}", route.name);
    let mut first = Endpoint::start(test, harness, route.from)?;
    first
        .take_over(harness, route.to)?
        .map_err(|error| Failure::Wrong(at(&format!("first takeover: {error}"))))?;
    first.want(harness, route.to)?;
    first.write(b"first")?;
    first.wait_for_bytes(harness, b"first")?;
    harness.fence_all()?;
    // Kept alive: another handler must not get the address of this one.
    let (stale, gone, _recorder) = (first.handle, first.owner, first.recorder.clone());
    // Made while the number is taken, so that neither end can get it.
    let spare = pair(test.params.transport).map_err(Failure::broken)?;
    first.end(harness)?;
    test.check_eq(at("the number is open after its end"), false, descriptors::is_open(stale.number()), "L4");

    let near = at_number(spare.near, stale.number()).map_err(Failure::broken)?;
    let mut second = Endpoint::start_with(harness, home, near, spare.far)?;
    let (handle, owner) = (second.handle, second.owner);
    test.check_eq(at("number"), stale.number(), handle.number(), "the scenario's own doing");
    test.check(
        at("generation"),
        "another",
        handle.generation(),
        "S7",
        handle.generation() != stale.generation(),
    );

    let before = harness.entry(handle)?;
    for thief in [route.from, route.to] {
        for expected in [gone, owner] {
            let refused = harness.on(thief, move |context| context.takeover(stale, expected))?;
            let holds = matches!(refused, Err(MoveError::Stale(_)));
            test.check(
                at("takeover with the old handle"),
                "stale",
                format!("{refused:?}"),
                "protocol 2.1",
                holds,
            );
        }
        let pushed = harness.core().registration(stale).migrate_on(thief);
        let holds = matches!(pushed, Err(MoveError::Stale(_)));
        test.check(at("push with the old handle"), "stale", format!("{pushed:?}"), "protocol 2.1", holds);
        let entered = harness.on(thief, move |context| context.enter(stale, |_: &ReadyGuard<'_>| ()))?;
        let holds = matches!(entered, Err(EnterError::Stale(_)));
        test.check(at("enter with the old handle"), "stale", format!("{entered:?}"), "protocol 2.1", holds);
    }
    let stopped = harness.core().registration(stale).stop_both();
    test.check(
        at("stop with the old handle"),
        "stale",
        format!("{stopped:?}"),
        "protocol 2.1",
        stopped.is_err(),
    );
    let deleted = harness.core().registration(stale).delete();
    let holds = matches!(deleted, Err(DeleteError::Stale(_)));
    test.check(at("delete with the old handle"), "stale", format!("{deleted:?}"), "protocol 2.1", holds);
    check_unchanged(test, at("the new life"), before, harness.entry(handle)?, "protocol 2.1")?;
    test.check_eq(at("its owner"), owner, before.owner, "S10");

    second.write(b"second")?;
    second.wait_for_bytes(harness, b"second")?;
    harness.fence_all()?;
    test.check_eq(
        at("reports"),
        format!("{home}:second"),
        reads_by_thread(&second.recorder.seen()),
        "S3, S7",
    );
    second.end(harness)
}
