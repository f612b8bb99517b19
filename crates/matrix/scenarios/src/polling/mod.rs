//! Promises of the pollers that hold even where kernels differ or refuse.

crate::scenario::family! {
    dead_pipe,
    device_always_ready,
    failed_wait,
    interrupted_wait,
    lowered_limit,
    rebuild_at_the_limit,
    refused_for_ever,
    short_wait,
    timer_after_work,
    work_beside_events,
}
