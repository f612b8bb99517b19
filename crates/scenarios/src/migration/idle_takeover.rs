//! An idle descriptor changes its thread, and only the new one hears of it afterwards.
//!
//! What HAProxy does with idle connections to servers. It once forgot to stop receiving on a takeover that
//! succeeded (`ddc874c46`), so that the new owner's want changed nothing and its poller never learnt of it.

use fd_core::State;
use metadata::{Axes, Layer};

use super::{Endpoint, check_answer, reads_by_thread, routes};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/idle-takeover",
    title: "An idle FD that another thread takes over is reported to that thread only",
    layer: Layer::Contract,
    clauses: &["S3", "L1", "L9", "bug 41"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        let (old, new) = (route.from, route.to);
        let at = |what: &str| format!("{}: {what}", route.name);
        let mut endpoint = Endpoint::start(test, &mut harness, old)?;
        endpoint.write(b"before")?;
        endpoint.wait_for_bytes(&harness, b"before")?;
        harness.fence(old)?;

        let (handle, owner) = (endpoint.handle, endpoint.owner);
        let (taken, entry) = harness.on(new, move |context| {
            let taken = context.takeover(handle, owner);
            (taken, context.core().entry(handle))
        })?;
        check_answer(test, at("takeover"), Ok(()), taken, "L9")?;
        let entry = entry.map_err(|stale| Failure::Wrong(stale.to_string()))?;
        test.check_eq(at("thread mask"), new.mask().bits(), entry.thread_mask.bits(), "protocol 8.3");
        test.check_eq(at("group"), new.group(), entry.group, "protocol 9.6");
        test.check_eq(at("running"), 0, entry.running.bits(), "protocol 8.5");
        test.check_eq(at("active directions"), State::default(), entry.state.and(State::ACTIVE), "protocol 8.4, bug 41");
        test.check_eq(at("changes of owner"), 1, entry.takeovers, "protocol 8.4");
        test.check_eq(at("owner"), owner, entry.owner, "protocol 8");

        test.all_hold()?;
        endpoint.want(&harness, new)?;
        harness.fence(new)?;
        let polled = harness.entry(handle)?.polled_recv;
        test.check(
            at("the new thread polls it"),
            "its bit is set",
            format!("{polled:?}"),
            "L1",
            polled.contains(new.mask()),
        );
        endpoint.write(b"after")?;
        endpoint.wait_for_bytes(&harness, b"beforeafter")?;
        // Whatever the old thread's poller still had to say, it has said.
        harness.fence_all()?;
        let expected = format!("{old}:before {new}:after");
        test.check_eq(
            at("reports"),
            expected,
            reads_by_thread(&endpoint.recorder.seen()),
            "S3: one per write, no other thread",
        );
        let (won, refused) = (harness.activity(new).fd_takeover, harness.activity(old).fd_takeover);
        test.check_eq(
            at("takeovers counted, new and old thread"),
            "1 0".into(),
            format!("{won} {refused}"),
            "seed counters",
        );
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}
