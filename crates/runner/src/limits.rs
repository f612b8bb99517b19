//! How many descriptors this process and its cells may have.

use nix::libc::rlim_t;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// More are of no use to a scenario, and looking through all of them takes time.
const ENOUGH: rlim_t = 1 << 14;
/// macOS allows no more, whatever its hard limit says.
const OPEN_MAX: rlim_t = 10_240;
/// Three pipes with two ends, and the two that tell of a failed start.
const PER_CELL: usize = 8;
/// Standard streams, the journal, its lock, a report that is being written.
const OWN: usize = 16;

/// Raises the soft limit as far as it is of use: the one of a login is low for the sake of programs that use select.
/// A cell that is about a low limit sets it itself.
pub fn raise() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    for most in [ENOUGH, OPEN_MAX] {
        let wanted = most.min(hard);
        if wanted <= soft || setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() {
            return;
        }
    }
}

/// How many cells can be run at the same time: at least one, which then says what is missing.
pub fn cells() -> usize {
    let soft = getrlimit(Resource::RLIMIT_NOFILE).map_or(ENOUGH, |(soft, _)| soft);
    let soft = usize::try_from(soft).unwrap_or(usize::MAX);
    (soft.saturating_sub(OWN) / PER_CELL).max(1)
}
