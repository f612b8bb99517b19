//! A takeover names a wrong owner.
//!
//! A thread that takes over a connection found it in a list, and the number may belong to another connection
//! by then. The owner is compared first (the first check of the reference takeover, `f69fea64e`).

use fd_core::error::MoveError;

use super::{Endpoint, check_answer, check_unchanged, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-wrong-owner",
    title: "A takeover that names the wrong owner is refused and changes nothing",
    layer: Layer::Contract,
    clauses: &["S3", "protocol 8.1"],
    axes: Axes { groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        let (old, new) = (route.from, route.to);
        let label = |what: &str| format!("{}: {what}", route.name);
        let mut endpoint = Endpoint::start(test, &mut harness, old)?;
        // The wrong owner exists: it owns a descriptor of the calling thread.
        let mut other = Endpoint::start(test, &mut harness, new)?;
        let (handle, wrong) = (endpoint.handle, other.owner);
        let wrong_owner = Err(MoveError::WrongOwner);

        let before = (harness.entry(handle)?, harness.entry(other.handle)?);
        for caller in [new, old] {
            let refused = harness.on(caller, move |context| context.takeover(handle, wrong))?;
            let what = label(&format!("takeover by {caller}"));
            check_answer(test, what, wrong_owner, refused, "protocol 8.1")?;
        }
        let what = label("entry after the refusals");
        check_unchanged(test, what, before.0, harness.entry(handle)?, "protocol 8.1, bug 41")?;
        let what = label("the wrong owner's entry");
        check_unchanged(test, what, before.1, harness.entry(other.handle)?, "protocol 8.1")?;

        // Also while the descriptor is in use, the owner is compared first: the call does not wait and does
        // not return Busy.
        let inside = endpoint.recorder.hold_next();
        endpoint.write(b"one")?;
        inside.reached()?;
        let refused = harness.on(new, move |context| context.takeover(handle, wrong))?;
        let what = label("takeover while in the handler");
        check_answer(test, what, wrong_owner, refused, "protocol 8.1, protocol 8.2")?;
        inside.release();
        endpoint.wait_for_bytes(&harness, b"one")?;
        other.write(b"mine")?;
        other.wait_for_bytes(&harness, b"mine")?;
        harness.fence(old)?;

        let taken = endpoint.take_over(&harness, new)?;
        check_answer(test, label("takeover with the right owner"), Ok(()), taken, "L9")?;
        endpoint.want_recv(&harness, new)?;
        endpoint.write(b"two")?;
        endpoint.wait_for_bytes(&harness, b"onetwo")?;
        harness.fence_all()?;
        let expected = format!("{old}:one {new}:two");
        test.check_eq(label("reports"), expected, endpoint.reads(), "S3");
        test.check_eq(label("the other's reports"), format!("{new}:mine"), other.reads(), "S3");
        endpoint.end(&harness)?;
        other.end(&harness)?;
    }
    harness.finish(test, &[])
}
