//! Forces the mistakes of the history again: one scenario per mistake, named after the mistake.
//! [`crate::history`] maps its entries to the scenarios.

crate::scenario::family! {
    both_threads_owe_one_update,
    busy_thread_keeps_others_awake,
    called_while_it_stops,
    changes_lost_in_one_pass,
    child_closes_foreign_number,
    closed_number_is_somebody_elses,
    deinit_without_init,
    deleted_while_listed,
    dump_stops_users,
    end_reported_to_the_old_owner,
    event_taken_by_change,
    failure_without_readiness,
    flag_lost_in_a_report,
    former_owner_polls_copy,
    hangup_after_own_shutdown,
    hangup_forgotten,
    hangup_without_wants_spins,
    highest_number_unpolled,
    insert_asks_the_wrong_group,
    insert_flags_lost,
    inserted_twice,
    last_number_refused,
    last_user_does_not_know,
    late_report_changes_the_state,
    moved_under_a_report,
    neighbours_counted,
    number_beyond_fd_setsize,
    one_direction_served,
    polled_before_all_are_ready,
    poller_leaked,
    reference_left_behind,
    scan_ends_too_early,
    send_bit_survives,
    short_timeout_spins,
    signal_before_the_wait,
    udp_error_spins,
    update_after_the_close,
    walk_led_astray,
    work_before_the_wait,
    wrong_thread_woken,
}

use fd_core::FdCore;
use fd_core::error::{DeleteError, MoveError, Stale};

use crate::interleaving::{Interleaving, Participant};
use crate::migration::Endpoint;
use crate::prelude::*;

/// Returns two threads of one group.
///
/// # Errors
/// [`Failure::Unsupported`] if there are none.
fn two_of_a_group(harness: &Harness) -> Result<[ThreadId; 2]> {
    let first = harness.thread(0);
    let second =
        harness.threads().into_iter().find(|other| *other != first && other.group() == first.group());
    let second = second.ok_or_else(|| Failure::Unsupported("needs two threads in one group".into()))?;
    Ok([first, second])
}

/// Returns the first threads of two groups. They have the same bit in their groups' masks.
///
/// # Errors
/// [`Failure::Unsupported`] if there are none.
fn one_of_each_group(harness: &Harness) -> Result<[ThreadId; 2]> {
    let first = harness.thread(0);
    let second = harness.threads().into_iter().find(|other| other.group() != first.group());
    let second = second.ok_or_else(|| Failure::Unsupported("needs two groups".into()))?;
    Ok([first, second])
}

/// Makes threads iterate.
fn wake(core: &FdCore, threads: &[ThreadId]) -> Result {
    threads.iter().for_each(|thread| core.wake(*thread));
    Ok(())
}

/// Returns an interleaving about `endpoint`. Every thread has the actions `takes`, `deletes`, `wants`,
/// `stops`.
fn about<'s>(endpoint: &Endpoint, title: impl Into<String>, source: &'static str) -> Interleaving<'s> {
    let (handle, owner) = (endpoint.handle, endpoint.owner);
    let takes = move |participant: &Participant<'_>| -> Result<(), MoveError> {
        // A thread of no group cannot own anything.
        participant.context().map_or(Err(MoveError::NoThread), |context| context.takeover(handle, owner))
    };
    Interleaving::about(handle, title, source)
        .action("takes", takes)
        .action("deletes", move |participant| -> Result<(), DeleteError> {
            participant.registration(handle).delete()
        })
        .action("wants", move |participant| -> Result<(), Stale> {
            participant.registration(handle).want_recv()
        })
        .action("stops", move |participant| -> Result<(), Stale> {
            participant.registration(handle).stop_recv()
        })
}
