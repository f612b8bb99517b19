//! Deletion while threads use a descriptor, know it, or are about to receive its events.

pub(crate) mod children;
pub(crate) mod cloned;
pub(crate) mod monitor;
pub(crate) mod registration;
mod workload;

crate::scenario::family! {
    cloned_dup,
    cloned_fork,
    cloned_scm_rights,
    close_beside_a_wait,
    close_once,
    closes_beside_children,
    delete_reinsert_burst,
    delete_twice,
    disown,
    foreign_group_idle,
    foreign_group_running,
    handler_dropped_last,
    late_report_then_reuse,
    other_thread_in_handler,
    own_handler,
    peer_sees_the_end,
    raw_close_diagnosed,
    reuse_in_batch,
    slow_close,
    stale_call_beside_insert,
    two_late_wakers,
    undeclared_copy,
}

use crate::prelude::*;

/// Returns the first and the last thread, which are in different groups.
///
/// # Errors
/// [`Failure::Unsupported`] if there is one group.
fn first_and_last(test: &TestContext, harness: &Harness) -> Result<[ThreadId; 2]> {
    let (first, last) = (harness.thread(0), harness.thread(test.params.threads - 1));
    if first.group() == last.group() {
        return Err(Failure::Unsupported("needs two groups".into()));
    }
    Ok([first, last])
}
