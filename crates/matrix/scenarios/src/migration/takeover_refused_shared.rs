//! A thread tries to take over a descriptor that several threads share.
//!
//! Between threads that are all allowed, a takeover between its two steps is indistinguishable from a running
//! handler: HAProxy's callers never try it. `migrate_on` may narrow the mask to one thread.

use fd_core::error::MoveError;

use super::{Endpoint, check_answer, check_unchanged, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-shared",
    title: "An FD that several threads share cannot be taken over, but it can be moved to one thread",
    layer: Layer::Contract,
    clauses: &["S3", "S9", "L5", "protocol 9"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let first = harness.thread(0);
    let sharing = harness.core().table().threads(first.group());
    if sharing.len() < 2 {
        return Err(Failure::Unsupported("needs two threads in the first group".into()));
    }
    let mut targets = vec![first];
    targets.extend(routes(&harness).iter().map(|route| route.to));
    for target in targets {
        let label = |what: &str| format!("to {target}: {what}");
        let ends = test.pair()?;
        let recorder = Recorder::new();
        let handle = harness.insert_shared(ends.near, recorder.clone(), first, sharing)?;
        let mut endpoint =
            Endpoint { handle, owner: recorder.id(), recorder: Arc::clone(&recorder), far: ends.far };
        endpoint.want_recv(&harness, first)?;
        harness.wait_until_polled(handle, sharing)?;
        harness.reported_by_each(sharing, &recorder, &mut endpoint.far, b"all")?;
        harness.fence_all()?;
        let others = || recorder.reports() - recorder.reports_on(target);
        let others_before = others();
        let before = harness.entry(handle)?;
        for thread in harness.threads() {
            let takeover = label(&format!("takeover by {thread}"));
            let taken = endpoint.take_over(&harness, thread)?;
            check_answer(test, takeover, Err(MoveError::Shared), taken, "MoveError::Shared")?;
        }
        harness.fence_all()?;
        let what = label("entry after the refusals");
        check_unchanged(test, what, before, harness.entry(handle)?, "MoveError::Shared")?;

        let moved = harness.registration(handle).migrate_on(target);
        check_answer(test, label("migrate_on"), Ok(()), moved, "protocol 9")?;
        let mask = harness.entry(handle)?.thread_mask;
        test.check_eq(label("thread mask"), target.mask().bits(), mask.bits(), "protocol 9.3, S9");
        test.stop_if_failed()?;
        endpoint.want_recv(&harness, target)?;
        endpoint.write(b"one")?;
        endpoint.wait_for_bytes(&harness, b"allone")?;
        harness.fence_all()?;
        endpoint.write(b"two")?;
        endpoint.wait_for_bytes(&harness, b"allonetwo")?;
        harness.fence_all()?;
        test.check_eq(label("reports on other threads"), 0, others() - others_before, "S3");
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}
