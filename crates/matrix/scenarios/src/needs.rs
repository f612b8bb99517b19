//! What a scenario needs of the system, checked before the scenario runs.

use metadata::{Transport, Variant};

use crate::failure::{Failure, Result};
use crate::{descriptors, loopback};

/// Descriptors that every scenario may open, besides those of its threads.
const OWN: usize = 32;
/// A poller, two pipes, and one more on the scenario's side.
const PER_THREAD: usize = 6;
/// The scenarios that need more than [`OWN`]. A test runs every scenario with exactly the descriptors that
/// this file grants.
const MORE: [(&str, usize); 8] = [
    // A number that is too high for select, and some below it.
    ("regression/number-beyond-fd-setsize", 1100),
    ("regression/highest-number-unpolled", 1040),
    ("regression/scan-ends-too-early", 610),
    ("regression/changes-lost-in-one-pass", 272),
    ("regression/last-number-refused", 176),
    ("regression/neighbours-counted", 176),
    // The insertions of two threads that are left to the stop.
    ("lifecycle/insert-beside-stop", 144),
    // More than any of the limits that it sets.
    ("polling/lowered-limit", 64),
];
/// The storm needs room for some registrations that wait for their end.
const STORM: usize = 88;
const STORM_ID: &str = "deletion/close-once";

/// Returns how many descriptors the scenario needs.
pub fn descriptors(scenario: &str, params: Variant) -> usize {
    let own = OWN + PER_THREAD * params.threads;
    let more = MORE.iter().find(|(id, _)| *id == scenario).map(|(_, more)| *more);
    match more {
        Some(more) => more + PER_THREAD * params.threads,
        None if scenario == STORM_ID => own + STORM + 2 * params.threads,
        None => own,
    }
}

/// Returns how many descriptors the process may open beyond those that every scenario of this shape needs.
pub(crate) fn room(params: Variant) -> usize {
    descriptors::limit().saturating_sub(inherited() + OWN + PER_THREAD * params.threads)
}

/// Checks that the system has what the scenario needs.
///
/// # Errors
/// [`Failure::Unsupported`] with the missing resource.
pub(crate) fn check(scenario: &str, params: Variant) -> Result {
    let (needed, limit) = (descriptors(scenario, params), descriptors::limit());
    // Counted only if it can matter: it takes time.
    let inherited = if limit < 2 * needed { inherited() } else { 0 };
    if limit < needed + inherited {
        let needed = needed + inherited;
        return Err(Failure::Unsupported(format!(
            "needs {needed} descriptors, and may have {limit} (ulimit -n)"
        )));
    }
    if params.transport == Transport::Tcp && !loopback::has_loopback() {
        return Err(Failure::Unsupported(loopback::NO_LOOPBACK.into()));
    }
    Ok(())
}

/// Returns how many descriptors the process has from its parent, besides the three standard streams.
fn inherited() -> usize {
    descriptors::open().len().saturating_sub(3)
}
