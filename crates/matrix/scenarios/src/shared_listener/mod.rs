//! Listeners that several threads share.

mod acceptor;
mod calls;
mod fixture;

crate::scenario::family! {
    accept_emfile,
    accept_once,
    bound_to_one_thread,
    broken_listener,
    busy_sharers,
    copies_of_a_listener,
    delete_holding_handler_lock,
    delete_while_accepting,
    one_socket_per_thread,
    pause_resume_flap,
    sleeping_sharers,
    stop_start_converge,
    stopped_or_closed,
    thread_starts_late,
    two_outsiders_start,
    wake_distribution,
}

use crate::prelude::*;

/// The axes of most scenarios here. A pipe has no listener.
const AXES: Axes<'static> =
    Axes { transports: &[Transport::Tcp, Transport::Unix], groups: &[1, 2], ..Axes::PLAIN };
