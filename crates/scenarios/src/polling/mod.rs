//! What pollers promise of descriptors, whatever the kernel thinks of them.

pub(crate) mod dead_pipe;
pub(crate) mod device_always_ready;
pub(crate) mod failed_wait;
pub(crate) mod interrupted_wait;
pub(crate) mod lowered_limit;
pub(crate) mod rebuild_at_the_limit;
pub(crate) mod short_wait;
pub(crate) mod timer_after_work;
