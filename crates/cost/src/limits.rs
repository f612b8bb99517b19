//! The limit of open descriptors.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of descriptors to the greatest that this process may have, up to a million. Returns the
/// limit.
pub fn raise_descriptors() -> usize {
    /// A system may refuse an unlimited number.
    const MOST: libc::rlim_t = 1 << 20;
    /// The greatest limit that macOS accepts, even if its hard limit is higher.
    const OPEN_MAX: libc::rlim_t = 10_240;
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 256 };
    let raised = [MOST, OPEN_MAX]
        .into_iter()
        .map(|most| most.min(hard))
        .find(|wanted| *wanted > soft && setrlimit(Resource::RLIMIT_NOFILE, *wanted, hard).is_ok());
    usize::try_from(raised.unwrap_or(soft)).unwrap_or(usize::MAX)
}
