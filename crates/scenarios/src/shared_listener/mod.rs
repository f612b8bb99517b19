//! Listeners that several threads share.

mod acceptor;
mod calls;
mod field;

pub(crate) mod accept_emfile;
pub(crate) mod accept_once;
pub(crate) mod bound_to_one_thread;
pub(crate) mod delete_holding_handler_lock;
pub(crate) mod delete_while_accepting;
pub(crate) mod pause_resume_flap;
pub(crate) mod stop_start_converge;
pub(crate) mod thread_starts_late;
pub(crate) mod two_outsiders_start;
pub(crate) mod wake_distribution;
