//! A number comes back for the same open file, while the kernel still has its registration of an earlier life.
//!
//! `ADD` then answers `EEXIST`. HAProxy ignored that, so the registration of long ago stayed in place, with its
//! interest and its generation (`752c5cba5`, found through a round trip between groups). Here the leftover is made on
//! purpose: a copy that nobody declared keeps the open file, and with it epoll's registration, over the close by the
//! thread that polls it.

use std::os::fd::AsFd;

use metadata::{Axes, Layer};

use super::{Endpoint, reads_by_thread};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{copy_at, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/registration-left-behind",
    title: "A registration left over from an earlier life of the number is replaced by the new one",
    layer: Layer::Contract,
    clauses: &["S7", "L1", "L5", "bug 77", "epoll_ctl(2) EEXIST"],
    axes: Axes::PLAIN,
    run,
};

const LIVES: usize = 3;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let start = harness.activity(thread);
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let copy = ends.near.as_fd().try_clone_to_owned().map_err(Failure::broken)?;
    let mut endpoint = Endpoint::start_with(&mut harness, thread, ends.near, ends.far)?;
    for life in 1..=LIVES {
        let at = |what: &str| format!("life {life}: {what}");
        endpoint.write(b"data")?;
        endpoint.wait_for_bytes(&harness, b"data")?;
        harness.fence(thread)?;
        test.check_eq(
            at("reports"),
            format!("{thread}:data"),
            reads_by_thread(&endpoint.recorder.seen()),
            "S7, bug 77",
        );
        let since = harness.activity(thread).since(&start);
        let counts = format!("{} {}", since.poll_drop, since.poll_rebuild);
        test.cost_eq(at("events of dead lives, pollers replaced"), "0 0".into(), counts, "S7, L5, bug 77");
        test.all_hold()?;
        if life < LIVES {
            let Endpoint { handle, far, .. } = endpoint;
            // By the thread that polls it: a close by any other takes the registration out first.
            let deleted = harness.on(thread, move |context| context.registration(handle).delete())?;
            deleted.map_err(|error| Failure::Wrong(error.to_string()))?;
            let again = copy_at(&copy, handle.number()).map_err(Failure::broken)?;
            endpoint = Endpoint::start_with(&mut harness, thread, again, far)?;
            test.check_eq(
                at("number"),
                handle.number(),
                endpoint.handle.number(),
                "the scenario's own doing",
            );
        }
    }
    // The last life is declared: what the kernel would remember of it is taken out before the close.
    harness
        .core()
        .registration(endpoint.handle)
        .mark_cloned()
        .map_err(|stale| Failure::Wrong(stale.to_string()))?;
    endpoint.end(&harness)?;
    drop(copy);
    harness.finish(test, &[])
}
