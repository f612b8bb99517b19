//! The best backend of this system.

use pollmatrix_fd_core::error::BackendError;
use pollmatrix_fd_core::poller::{Backend, Limits};

pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    cfg_if::cfg_if! {
        if #[cfg(any(target_os = "linux", target_os = "android"))] {
            pollmatrix_poller_epoll::backend(limits)
        } else if #[cfg(any(
            target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd",
            target_os = "dragonfly",
        ))] {
            pollmatrix_poller_kqueue::backend(limits)
        } else {
            pollmatrix_poller_poll::backend(limits)
        }
    }
}
