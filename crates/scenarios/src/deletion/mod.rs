//! Descriptors that are deleted while threads use them, know them, or are about to hear of them.

pub(crate) mod children;
pub(crate) mod cloned;
pub(crate) mod life;
mod storm;
pub(crate) mod watch;

pub(crate) mod cloned_dup;
pub(crate) mod cloned_fork;
pub(crate) mod cloned_scm_rights;
pub(crate) mod close_beside_a_wait;
pub(crate) mod close_once;
pub(crate) mod closes_beside_children;
pub(crate) mod delete_reinsert_burst;
pub(crate) mod delete_twice;
pub(crate) mod disown;
pub(crate) mod foreign_group_idle;
pub(crate) mod foreign_group_running;
pub(crate) mod handler_dropped_last;
pub(crate) mod late_report_then_reuse;
pub(crate) mod other_thread_in_handler;
pub(crate) mod own_handler;
pub(crate) mod peer_sees_the_end;
pub(crate) mod raw_close_diagnosed;
pub(crate) mod reuse_in_batch;
pub(crate) mod slow_close;
pub(crate) mod stale_call_beside_insert;
pub(crate) mod two_late_wakers;
pub(crate) mod undeclared_copy;
