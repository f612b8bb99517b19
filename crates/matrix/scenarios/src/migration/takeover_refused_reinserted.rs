//! A takeover uses a handle of an earlier registration of the number.
//!
//! Between the lookup of a connection and its takeover, its number may be closed and registered for another
//! connection. For this reason HAProxy compares the owner, and needs the lock of the list in which it found
//! the connection. A handle that carries the generation needs no lock.

use fd_core::error::{DeleteError, EnterError, MoveError};

use super::{Endpoint, Route, check_unchanged, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-reinserted",
    title: "A takeover with the handle of an ended registration is refused and changes nothing",
    layer: Layer::Contract,
    clauses: &["S7", "S10", "protocol 2.1"],
    axes: Axes { groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        // The next registration begins on the first owner, or on the thread that took the first registration
        // over.
        for home in [route.from, route.to] {
            refused_for_second_registration(test, &mut harness, route, home)?;
        }
    }
    harness.finish(test, &[])
}

fn refused_for_second_registration(
    test: &mut TestContext,
    harness: &mut Harness,
    route: Route,
    home: ThreadId,
) -> Result {
    let label = |what: &str| format!("{}, new registration on {home}: {what}", route.name);
    let mut first = Endpoint::start(test, harness, route.from)?;
    first
        .take_over(harness, route.to)?
        .map_err(|error| Failure::Wrong(label(&format!("first takeover: {error}"))))?;
    first.want_recv(harness, route.to)?;
    first.write(b"first")?;
    first.wait_for_bytes(harness, b"first")?;
    harness.fence_all()?;
    // Kept, so that no other handler gets the same address.
    let (stale, gone, _recorder) = (first.handle, first.owner, first.recorder.clone());
    // Made while the number is in use, so that neither end can get it.
    let spare = test.pair()?;
    first.end(harness)?;
    let what = label("the number is open after its end");
    test.check_eq(what, false, descriptors::is_open(stale.number()), "L4");

    let near = at_number(spare.near, stale.number())?;
    let mut second = Endpoint::start_with(harness, home, near, spare.far)?;
    let (handle, owner) = (second.handle, second.owner);
    test.check_eq(label("number"), stale.number(), handle.number(), "the scenario's own doing");
    let what = label("generation");
    test.check(what, "another", handle.generation(), "S7", handle.generation() != stale.generation());

    let before = harness.entry(handle)?;
    for caller in [route.from, route.to] {
        for expected in [gone, owner] {
            let refused = harness.on(caller, move |context| context.takeover(stale, expected))?;
            let holds = matches!(refused, Err(MoveError::Stale(_)));
            let what = label("takeover with the old handle");
            test.check(what, "stale", format!("{refused:?}"), "protocol 2.1", holds);
        }
        let migrated = harness.registration(stale).migrate_on(caller);
        let holds = matches!(migrated, Err(MoveError::Stale(_)));
        let what = label("migrate_on with the old handle");
        test.check(what, "stale", format!("{migrated:?}"), "protocol 2.1", holds);
        let entered = harness.on(caller, move |context| context.enter(stale, |_: &ReadyGuard<'_>| ()))?;
        let holds = matches!(entered, Err(EnterError::Stale(_)));
        let what = label("enter with the old handle");
        test.check(what, "stale", format!("{entered:?}"), "protocol 2.1", holds);
    }
    let stopped = harness.registration(stale).stop_both();
    let what = label("stop with the old handle");
    test.check(what, "stale", format!("{stopped:?}"), "protocol 2.1", stopped.is_err());
    let deleted = harness.registration(stale).delete();
    let holds = matches!(deleted, Err(DeleteError::Stale(_)));
    test.check(label("delete with the old handle"), "stale", format!("{deleted:?}"), "protocol 2.1", holds);
    check_unchanged(test, label("the new registration"), before, harness.entry(handle)?, "protocol 2.1")?;
    test.check_eq(label("its owner"), owner, before.owner, "S10");

    second.write(b"second")?;
    second.wait_for_bytes(harness, b"second")?;
    harness.fence_all()?;
    test.check_eq(label("reports"), format!("{home}:second"), second.reads(), "S3, S7");
    second.end(harness)
}
