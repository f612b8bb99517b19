//! The mistakes of the history, each forced again: one scenario per mistake, named after what went wrong.
//! `crate::history` says which row is which.

pub(crate) mod set_up;

pub(crate) mod both_threads_owe_one_update;
pub(crate) mod busy_thread_keeps_others_awake;
pub(crate) mod called_while_it_stops;
pub(crate) mod changes_lost_in_one_pass;
pub(crate) mod child_closes_foreign_number;
pub(crate) mod closed_number_is_somebody_elses;
pub(crate) mod deinit_without_init;
pub(crate) mod deleted_while_listed;
pub(crate) mod dump_stops_users;
pub(crate) mod end_reported_to_the_old_owner;
pub(crate) mod event_taken_by_change;
pub(crate) mod failure_without_readiness;
pub(crate) mod flag_lost_in_a_report;
pub(crate) mod former_owner_polls_copy;
pub(crate) mod hangup_after_own_shutdown;
pub(crate) mod hangup_forgotten;
pub(crate) mod hangup_without_wants_spins;
pub(crate) mod highest_number_unpolled;
pub(crate) mod insert_asks_the_wrong_group;
pub(crate) mod insert_flags_lost;
pub(crate) mod inserted_twice;
pub(crate) mod last_number_refused;
pub(crate) mod last_user_does_not_know;
pub(crate) mod late_report_changes_the_state;
pub(crate) mod moved_under_a_report;
pub(crate) mod neighbours_counted;
pub(crate) mod number_beyond_fd_setsize;
pub(crate) mod one_direction_served;
pub(crate) mod polled_before_all_are_ready;
pub(crate) mod poller_leaked;
pub(crate) mod reference_left_behind;
pub(crate) mod scan_ends_too_early;
pub(crate) mod send_bit_survives;
pub(crate) mod short_timeout_spins;
pub(crate) mod signal_before_the_wait;
pub(crate) mod udp_error_spins;
pub(crate) mod update_after_the_close;
pub(crate) mod walk_led_astray;
pub(crate) mod work_before_the_wait;
pub(crate) mod wrong_thread_woken;

use fd_core::FdCore;
use fd_core::error::{DeleteError, MoveError, Stale};
use fd_core::ids::ThreadId;

use crate::lab::Lab;
use crate::migration::Subject;
use crate::script::{Script, Speaker};
use crate::trial::Failure;

/// Two threads of one group, or the reason why there are none.
fn two_of_a_group(lab: &Lab) -> Result<[ThreadId; 2], Failure> {
    let first = lab.thread(0);
    let second = lab.threads().into_iter().find(|other| *other != first && other.group() == first.group());
    let second = second.ok_or_else(|| Failure::Unsupported("needs two threads in one group".into()))?;
    Ok([first, second])
}

/// The first threads of two groups, or the reason why there are none. They have the same bit in their groups' masks.
fn one_of_each_group(lab: &Lab) -> Result<[ThreadId; 2], Failure> {
    let first = lab.thread(0);
    let second = lab.threads().into_iter().find(|other| other.group() != first.group());
    let second = second.ok_or_else(|| Failure::Unsupported("needs two groups".into()))?;
    Ok([first, second])
}

/// Makes threads go round their loops.
fn wake(core: &FdCore, threads: &[ThreadId]) -> Result<(), Failure> {
    threads.iter().for_each(|thread| core.wake(*thread));
    Ok(())
}

/// A script about `subject`, in which every thread knows these words: takes, deletes, wants, stops.
fn about<'s>(subject: &Subject, title: impl Into<String>, source: &'static str) -> Script<'s> {
    let (handle, owner) = (subject.handle, subject.owner);
    let takes = move |speaker: &Speaker<'_>| -> Result<(), MoveError> {
        // A thread of no group cannot own anything.
        speaker.context().map_or(Err(MoveError::NoThread), |context| context.takeover(handle, owner))
    };
    Script::about(handle, title, source)
        .does("takes", takes)
        .does("deletes", move |speaker| -> Result<(), DeleteError> { speaker.fd(handle).delete() })
        .does("wants", move |speaker| -> Result<(), Stale> { speaker.fd(handle).want_recv() })
        .does("stops", move |speaker| -> Result<(), Stale> { speaker.fd(handle).stop_recv() })
}
