//! The best backend of this system.

use fd_core::error::BackendError;
use fd_core::poller::{Backend, Limits};

pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    cfg_if::cfg_if! {
        if #[cfg(any(target_os = "linux", target_os = "android"))] {
            poller_epoll::backend(limits)
        } else if #[cfg(any(
            target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd",
            target_os = "dragonfly",
        ))] {
            poller_kqueue::backend(limits)
        } else {
            poller_poll::backend(limits)
        }
    }
}
