//! A number is registered again for the same open file while the kernel still has the registration of an
//! earlier generation.
//!
//! `ADD` then fails with `EEXIST`. HAProxy ignored that error, so the former registration stayed in place,
//! with its interest and its generation (`752c5cba5`, found through a round trip between groups). Here the
//! scenario leaves the registration behind on purpose: an undeclared copy keeps the open file, and with it
//! epoll's registration, across the close by the thread that polls it.

use std::os::fd::AsFd;

use super::Endpoint;
use crate::deletion::cloned::replacements;
use crate::prelude::*;
use crate::transport::copy_at;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/registration-left-behind",
    title: "A kernel registration left over from an earlier use of the number is replaced by the new one",
    layer: Layer::Contract,
    clauses: &["S7", "L1", "L5", "bug 77", "epoll_ctl(2) EEXIST"],
    axes: Axes::PLAIN,
    run,
};

const REGISTRATIONS: usize = 3;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let start = harness.activity(thread);
    let ends = test.pair()?;
    let copy = ends.near.as_fd().try_clone_to_owned()?;
    let mut endpoint = Endpoint::start_with(&mut harness, thread, ends.near, ends.far)?;
    for round in 1..=REGISTRATIONS {
        let label = |what: &str| format!("registration {round}: {what}");
        endpoint.write(b"data")?;
        endpoint.wait_for_bytes(&harness, b"data")?;
        harness.fence(thread)?;
        test.check_eq(label("reports"), format!("{thread}:data"), endpoint.reads(), "S7, bug 77");
        let since = harness.activity(thread).since(&start);
        let counts = format!("{} {}", since.poll_drop, replacements(&since));
        test.check_cost_eq(label("stale events, pollers replaced"), "0 0".into(), counts, "S7, L5, bug 77");
        test.stop_if_failed()?;
        if round < REGISTRATIONS {
            let Endpoint { handle, far, .. } = endpoint;
            // The polling thread deletes: a close by any other thread removes the kernel registration first.
            let deleted = harness.on(thread, move |context| context.registration(handle).delete())?;
            deleted.map_err(|error| Failure::Wrong(error.to_string()))?;
            let again = copy_at(&copy, handle.number())?;
            endpoint = Endpoint::start_with(&mut harness, thread, again, far)?;
            let what = label("number");
            test.check_eq(what, handle.number(), endpoint.handle.number(), "the scenario's own doing");
        }
    }
    // The copy is declared for the last registration: the kernel registration is then removed before the
    // close.
    harness.registration(endpoint.handle).mark_cloned().map_err(|stale| Failure::Wrong(stale.to_string()))?;
    endpoint.end(&harness)?;
    drop(copy);
    harness.finish(test, &[])
}
