//! The select backend: the interest is in memory that the group shares. After a change, each thread builds
//! sets of the descriptors that it may poll.
//!
//! - It is level-triggered, and reports only readable and writable, without errors and hang-ups. The handler
//!   reads `SO_ERROR` to know whether a connect succeeded.
//! - Descriptors must be below `FD_SETSIZE`: the backend cannot be created for a larger table.
//! - One closed number fails the whole call with `EBADF`. Each thread searches for the number, reports it
//!   once per registration, and leaves it out; the next wait returns the events of the others. Linux checks
//!   no number beyond its own table of open files, and ignores a closed number above that.
//! - A thread that sleeps in select(2) does not see later changes of the shared interest: the core wakes it.
//!
//! Sources: [select(2)], POSIX.1-2024 [select()], FreeBSD [select(2)][fbsd].
//!
//! [select(2)]: https://man7.org/linux/man-pages/man2/select.2.html
//! [select()]: https://pubs.opengroup.org/onlinepubs/9799919799/functions/select.html
//! [fbsd]: https://man.freebsd.org/cgi/man.cgi?query=select&sektion=2

#![deny(missing_debug_implementations)]

mod changes;
mod events;
mod poller;
mod selector;
mod sys;

use std::io;
use std::os::fd::RawFd;

use fd_core::hooks::fault;
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::{Backend, BackendError, Capabilities, DeregisterReason, Limits, Poller};
use fd_core::thread_interest::SharedInterest;

use crate::poller::SelectPoller;
pub use crate::selector::selector;

/// Creates the select backend for a table of the given size.
///
/// The function is the argument of [`Builder::start`](fd_core::Builder::start). Without
/// [`Builder::capacity`](fd_core::Builder::capacity) the table gets the largest size that fits.
///
/// ```
/// let runtime = fd_core::Runtime::builder().group(2).start(pollmatrix_poller_select::backend)?;
/// assert_eq!(runtime.core().backend().name(), "select");
/// # Ok::<(), fd_core::error::StartError>(())
/// ```
///
/// # Errors
/// [`BackendError::Capacity`] if the table has room for numbers that no `fd_set` can contain.
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(SelectBackend::new(limits)?))
}

struct SelectBackend {
    interest: SharedInterest,
}

impl SelectBackend {
    fn new(limits: &Limits) -> Result<Self, BackendError> {
        let is_too_large = limits.capacity > libc::FD_SETSIZE;
        fault!(SelectCapacityUnchecked: is_too_large => false);
        if is_too_large {
            let capacity = limits.capacity;
            return Err(BackendError::Capacity { backend: "select", limit: libc::FD_SETSIZE, capacity });
        }
        Ok(Self { interest: SharedInterest::new(limits) })
    }
}

impl Backend for SelectBackend {
    fn name(&self) -> &'static str {
        "select"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            edge: false,
            read_shutdown: false,
            errors: false,
            kernel_state: false,
            close_forgets: true,
            fine_timeouts: Ok(()),
            max_descriptors: Some(libc::FD_SETSIZE),
        }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(SelectPoller::new(thread, self)?))
    }

    fn forget(&self, fd: RawFd, group: GroupId, _: ThreadMask, _: ThreadMask, _: DeregisterReason) {
        self.interest.forget(fd, group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_beyond_fd_setsize_is_refused() {
        let limits = |capacity| Limits { capacity, groups: 1, threads: 1 };
        assert!(backend(&limits(libc::FD_SETSIZE)).is_ok());
        let refused = backend(&limits(libc::FD_SETSIZE + 1)).err().unwrap();
        let BackendError::Capacity { limit, capacity, .. } = refused else { panic!("{refused}") };
        assert_eq!((limit, capacity), (libc::FD_SETSIZE, libc::FD_SETSIZE + 1));
    }
}
