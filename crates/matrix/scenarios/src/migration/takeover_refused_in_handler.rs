//! A takeover is tried while the owner is in the handler.
//!
//! Before `8d7b51782` HAProxy's takeover disabled receiving even when it failed: the owner, which continued,
//! never received data again.

use fd_core::error::MoveError;

use super::{Endpoint, Route, check_answer, check_unchanged, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-in-handler",
    title: "A takeover while another thread runs the handler is refused and changes nothing",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "L7", "L9", "bug 41"],
    axes: Axes { groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const ATTEMPTS: usize = 100;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        refused_then_granted(test, &mut harness, route)?;
    }
    harness.finish(test, &[])
}

fn refused_then_granted(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let label = |what: &str| format!("{}: {what}", route.name);
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    let inside = endpoint.recorder.hold_next();
    endpoint.write(b"one")?;
    inside.reached()?;

    let before = harness.entry(handle)?;
    let counted = harness.activity(new);
    let what = label("running mask in the handler");
    test.check_eq(what, old.mask().bits(), before.running.bits(), "protocol 4.4");
    let busy = Err(MoveError::Busy);
    let refused = harness
        .on(new, move |context| (0..ATTEMPTS).filter(|_| context.takeover(handle, owner) == busy).count())?;
    let what = label("takeovers that were refused as busy");
    test.check_eq(what, ATTEMPTS, refused, "S3, L7: refused at once, every time");
    let moved = harness.registration(handle).migrate_on(new);
    check_answer(test, label("migrate_on from outside"), busy, moved, "protocol 9.2")?;
    check_unchanged(test, label("entry after the refusals"), before, harness.entry(handle)?, "S3, bug 41")?;
    let counted = harness.activity(new).since(&counted);
    let counts = format!("{} {}", counted.fd_takeover, counted.fd_takeover_fail);
    let what = label("takeovers counted, granted and refused");
    test.check_eq(what, format!("0 {ATTEMPTS}"), counts, "activity counters");

    test.stop_if_failed()?;

    // The owner continues unaffected.
    inside.release();
    endpoint.wait_for_bytes(harness, b"one")?;
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"onetwo")?;
    harness.wait_until_unused(handle)?;
    harness.fence(old)?;

    // Use outside a report protects as well, and also against the thread itself.
    let own = harness.on(old, move |context| {
        context.enter(handle, |_: &ReadyGuard<'_>| context.takeover(handle, owner))
    })?;
    test.check_debug(label("takeover inside enter()"), Ok(Err(MoveError::Busy)), own, "S2");

    check_answer(test, label("takeover after the handler"), Ok(()), endpoint.take_over(harness, new)?, "L9")?;
    endpoint.want_recv(harness, new)?;
    endpoint.write(b"three")?;
    endpoint.wait_for_bytes(harness, b"onetwothree")?;
    harness.fence_all()?;
    let expected = format!("{old}:one {old}:two {new}:three");
    test.check_eq(label("reports"), expected, endpoint.reads(), "S1, S3");
    let what = label("changes of owner");
    test.check_eq(what, 1, harness.entry(handle)?.takeovers, "S3: refusals do not count");
    endpoint.end(harness)
}
