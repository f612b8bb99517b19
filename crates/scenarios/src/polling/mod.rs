//! What pollers promise of descriptors, whatever the kernel thinks of them.

crate::catalogue::family! {
    dead_pipe,
    device_always_ready,
    failed_wait,
    interrupted_wait,
    lowered_limit,
    rebuild_at_the_limit,
    short_wait,
    timer_after_work,
}
