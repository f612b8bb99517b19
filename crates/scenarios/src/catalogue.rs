//! The catalogue: one line per scenario.

use metadata::Layer;

use crate::deletion;
use crate::harness;
use crate::lifecycle;
use crate::migration;
use crate::polling;
use crate::regression;
use crate::shared_listener;
use crate::trial::{Failure, Trial};

/// One scenario.
pub struct Scenario {
    /// `group/name`, lower case, never re-used.
    pub id: &'static str,
    /// The property, as a sentence.
    pub title: &'static str,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The invariants and history rows that it checks: `S3`, `L5`, `bug 66`, `suspect 20`.
    pub clauses: &'static [&'static str],
    /// Runs it once.
    pub run: fn(&mut Trial) -> Result<(), Failure>,
}

/// Every scenario, in the order in which reports show them.
pub fn catalogue() -> &'static [Scenario] {
    const CATALOGUE: &[Scenario] = &[
        harness::control::SCENARIO,
        migration::idle_takeover::SCENARIO,
        deletion::own_handler::SCENARIO,
        deletion::other_thread_in_handler::SCENARIO,
        deletion::foreign_group_idle::SCENARIO,
        deletion::foreign_group_running::SCENARIO,
        deletion::two_late_wakers::SCENARIO,
        deletion::reuse_in_batch::SCENARIO,
        deletion::delete_reinsert_burst::SCENARIO,
        deletion::cloned_dup::SCENARIO,
        deletion::cloned_fork::SCENARIO,
        deletion::cloned_scm_rights::SCENARIO,
        deletion::undeclared_copy::SCENARIO,
        deletion::closes_beside_children::SCENARIO,
        deletion::disown::SCENARIO,
        deletion::late_report_then_reuse::SCENARIO,
        deletion::delete_twice::SCENARIO,
        deletion::handler_dropped_last::SCENARIO,
        deletion::peer_sees_the_end::SCENARIO,
        deletion::close_beside_a_wait::SCENARIO,
        deletion::slow_close::SCENARIO,
        deletion::raw_close_diagnosed::SCENARIO,
        deletion::stale_call_beside_insert::SCENARIO,
        deletion::close_once::SCENARIO,
        shared_listener::accept_once::SCENARIO,
        shared_listener::bound_to_one_thread::SCENARIO,
        shared_listener::stop_start_converge::SCENARIO,
        shared_listener::two_outsiders_start::SCENARIO,
        shared_listener::thread_starts_late::SCENARIO,
        shared_listener::pause_resume_flap::SCENARIO,
        shared_listener::delete_while_accepting::SCENARIO,
        shared_listener::delete_holding_handler_lock::SCENARIO,
        shared_listener::accept_emfile::SCENARIO,
        shared_listener::wake_distribution::SCENARIO,
        migration::takeover_refused_in_handler::SCENARIO,
        migration::takeover_refused_wrong_owner::SCENARIO,
        migration::takeover_refused_reinserted::SCENARIO,
        migration::takeover_unread_data::SCENARIO,
        migration::old_thread_forgets::SCENARIO,
        migration::group_round_trip::SCENARIO,
        migration::takeover_refused_shared::SCENARIO,
        migration::registration_left_behind::SCENARIO,
        migration::migrate_on::SCENARIO,
        migration::late_report_of_old_owner::SCENARIO,
        migration::update_overtaken::SCENARIO,
        migration::takeover_during_delete::SCENARIO,
        migration::takeover_storm::SCENARIO,
        // The pollers' history.
        regression::number_beyond_fd_setsize::SCENARIO,
        regression::hangup_forgotten::SCENARIO,
        regression::short_timeout_spins::SCENARIO,
        regression::child_closes_foreign_number::SCENARIO,
        regression::poller_leaked::SCENARIO,
        regression::highest_number_unpolled::SCENARIO,
        regression::former_owner_polls_copy::SCENARIO,
        regression::changes_lost_in_one_pass::SCENARIO,
        regression::event_taken_by_change::SCENARIO,
        regression::deinit_without_init::SCENARIO,
        regression::dump_stops_users::SCENARIO,
        regression::last_number_refused::SCENARIO,
        regression::send_bit_survives::SCENARIO,
        regression::hangup_after_own_shutdown::SCENARIO,
        regression::udp_error_spins::SCENARIO,
        regression::failure_without_readiness::SCENARIO,
        regression::insert_flags_lost::SCENARIO,
        regression::inserted_twice::SCENARIO,
        regression::hangup_without_wants_spins::SCENARIO,
        polling::dead_pipe::SCENARIO,
        polling::device_always_ready::SCENARIO,
        polling::failed_wait::SCENARIO,
        polling::interrupted_wait::SCENARIO,
        polling::lowered_limit::SCENARIO,
        polling::short_wait::SCENARIO,
        polling::timer_after_work::SCENARIO,
        polling::rebuild_at_the_limit::SCENARIO,
        // The edges of the runtime.
        lifecycle::calls_beside_stop::SCENARIO,
        lifecycle::insert_beside_stop::SCENARIO,
        lifecycle::stopped_from_inside::SCENARIO,
        lifecycle::panics::SCENARIO,
        lifecycle::tasks_at_stop::SCENARIO,
        lifecycle::fork_goes_on::SCENARIO,
        lifecycle::fork_drops_runtime::SCENARIO,
        lifecycle::internal_handles::SCENARIO,
        lifecycle::impossible_builds::SCENARIO,
        lifecycle::two_runtimes::SCENARIO,
        lifecycle::start_stop_often::SCENARIO,
        // The history of the core.
        regression::both_threads_owe_one_update::SCENARIO,
        regression::busy_thread_keeps_others_awake::SCENARIO,
        regression::called_while_it_stops::SCENARIO,
        regression::closed_number_is_somebody_elses::SCENARIO,
        regression::deleted_while_listed::SCENARIO,
        regression::end_reported_to_the_old_owner::SCENARIO,
        regression::flag_lost_in_a_report::SCENARIO,
        regression::insert_asks_the_wrong_group::SCENARIO,
        regression::last_user_does_not_know::SCENARIO,
        regression::late_report_changes_the_state::SCENARIO,
        regression::moved_under_a_report::SCENARIO,
        regression::neighbours_counted::SCENARIO,
        regression::one_direction_served::SCENARIO,
        regression::polled_before_all_are_ready::SCENARIO,
        regression::reference_left_behind::SCENARIO,
        regression::scan_ends_too_early::SCENARIO,
        regression::signal_before_the_wait::SCENARIO,
        regression::update_after_the_close::SCENARIO,
        regression::walk_led_astray::SCENARIO,
        regression::work_before_the_wait::SCENARIO,
        regression::wrong_thread_woken::SCENARIO,
    ];
    CATALOGUE
}

/// The scenario with this id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    catalogue().iter().find(|scenario| scenario.id == id)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_scenario_is_in_the_file_of_its_name() {
        for scenario in catalogue() {
            let file = format!("src/{}.rs", scenario.id.replace('-', "_"));
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
            let text = std::fs::read_to_string(path).unwrap_or_default();
            assert!(text.contains(&format!("\"{}\"", scenario.id)), "{} is not in {file}", scenario.id);
        }
    }
}
