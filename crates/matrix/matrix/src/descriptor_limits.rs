//! The limits on open descriptors of this process and its cells.

use nix::libc::rlim_t;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The limit that scenarios need. A higher one only slows down loops over all descriptors.
const ENOUGH: rlim_t = 1 << 14;
/// The greatest limit that macOS accepts, even if its hard limit is higher.
const OPEN_MAX: rlim_t = 10_240;
/// Descriptors per cell: three pipes with two ends, and the pipe that reports a failed exec.
const PER_CELL: usize = 8;
/// Descriptors of this process: standard streams, the journal, its lock, a report file.
const OWN: usize = 16;

/// Raises the soft limit to what scenarios need. The default is low for the sake of programs that use select.
/// A cell that tests a low limit sets it itself.
pub fn raise() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    for most in [ENOUGH, OPEN_MAX] {
        let wanted = most.min(hard);
        if wanted <= soft || setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() {
            return;
        }
    }
}

/// Raises the soft limit as far as the system allows: costs are measured over the number of descriptors.
pub fn raise_to_hard_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    for wanted in [hard, OPEN_MAX.min(hard)] {
        if wanted <= soft || setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() {
            return;
        }
    }
}

/// Returns how many cells can run in parallel. At least one, so that a limit that is too low causes an error
/// message.
pub fn cells() -> usize {
    let soft = getrlimit(Resource::RLIMIT_NOFILE).map_or(ENOUGH, |(soft, _)| soft);
    let soft = usize::try_from(soft).unwrap_or(usize::MAX);
    (soft.saturating_sub(OWN) / PER_CELL).max(1)
}
