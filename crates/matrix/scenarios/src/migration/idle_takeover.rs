//! An idle descriptor changes its thread, and afterwards only the new thread receives its events.
//!
//! HAProxy does this with idle connections to servers. It once forgot to disable receiving on a successful
//! takeover (`ddc874c46`), so that the new owner's request for it changed nothing and its poller never added
//! the descriptor.

use super::{Endpoint, check_answer, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/idle-takeover",
    title: "An idle FD is reported only to the thread that has taken it over",
    layer: Layer::Contract,
    clauses: &["S3", "L1", "L9", "bug 41"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        let (old, new) = (route.from, route.to);
        let label = |what: &str| format!("{}: {what}", route.name);
        let mut endpoint = Endpoint::start(test, &mut harness, old)?;
        endpoint.write(b"before")?;
        endpoint.wait_for_bytes(&harness, b"before")?;
        harness.fence(old)?;

        let (handle, owner) = (endpoint.handle, endpoint.owner);
        let (taken, entry) = harness.on(new, move |context| {
            let taken = context.takeover(handle, owner);
            (taken, context.core().entry(handle))
        })?;
        check_answer(test, label("takeover"), Ok(()), taken, "L9")?;
        let entry = entry.map_err(|stale| Failure::Wrong(stale.to_string()))?;
        test.check_eq(label("thread mask"), new.mask().bits(), entry.thread_mask.bits(), "protocol 8.3");
        test.check_eq(label("group"), new.group(), entry.group, "protocol 9.6");
        test.check_eq(label("running"), 0, entry.running.bits(), "protocol 8.5");
        let what = label("active directions");
        test.check_eq(what, State::default(), entry.state.and(State::ACTIVE), "protocol 8.4, bug 41");
        test.check_eq(label("changes of owner"), 1, entry.takeovers, "protocol 8.4");
        test.check_eq(label("owner"), owner, entry.owner, "protocol 8");

        test.stop_if_failed()?;
        endpoint.want_recv(&harness, new)?;
        harness.wait_until_polled_by(handle, new)?;
        harness.fence(new)?;
        let polled = harness.entry(handle)?.polled_recv;
        let holds = polled.contains(new.mask());
        test.check(label("the new thread polls it"), "its bit is set", format!("{polled:?}"), "L1", holds);
        endpoint.write(b"after")?;
        endpoint.wait_for_bytes(&harness, b"beforeafter")?;
        // The old thread's poller has reported all events from before.
        harness.fence_all()?;
        let expected = format!("{old}:before {new}:after");
        test.check_eq(label("reports"), expected, endpoint.reads(), "S3: one per write, no other thread");
        let (won, refused) = (harness.activity(new).fd_takeover, harness.activity(old).fd_takeover);
        let what = label("takeovers counted, new and old thread");
        test.check_eq(what, "1 0".into(), format!("{won} {refused}"), "activity counters");
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}
