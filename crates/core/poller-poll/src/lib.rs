//! The poll backend: the interest is in memory that the group shares. After a change, each thread builds an
//! array of the descriptors that it may poll.
//!
//! - It is level-triggered only, and O(descriptors): the portable last resort, and the reference for the
//!   other backends.
//! - It uses `POLLRDHUP` where the kernel has it: Linux, FreeBSD 13 and later. The header is not enough to
//!   know, so the backend probes a socket pair when it is created. It requests the bit for sockets only:
//!   FreeBSD answers `POLLNVAL` to it for a device, for example.
//! - `POLLNVAL` makes every call return at once until the number is left out. Each thread reports it once per
//!   registration, and then leaves the number out.
//! - Linux refuses more descriptors than the soft `RLIMIT_NOFILE`, which may be lowered below the number of
//!   open descriptors. Then the array is polled in parts, with short waits.
//! - A thread that sleeps in poll(2) does not see later changes of the shared interest: the core wakes it.
//!
//! Sources: [poll(2)], POSIX.1-2024 [poll()], FreeBSD [poll(2)][fbsd].
//!
//! [poll(2)]: https://man7.org/linux/man-pages/man2/poll.2.html
//! [poll()]: https://pubs.opengroup.org/onlinepubs/9799919799/functions/poll.html
//! [fbsd]: https://man.freebsd.org/cgi/man.cgi?query=poll&sektion=2

#![deny(missing_debug_implementations)]

mod changes;
mod events;
mod half_closes;
mod parts;
mod poller;
mod selector;
mod sys;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::{Backend, BackendError, Capabilities, DeregisterReason, Limits, Poller};
use fd_core::thread_interest::SharedInterest;

use crate::half_closes::HalfCloses;
use crate::poller::PollPoller;
pub use crate::selector::selector;

/// Creates the poll backend for a table of the given size.
///
/// The function is the argument of [`Builder::start`](fd_core::Builder::start).
///
/// ```
/// let runtime = fd_core::Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
/// assert_eq!(runtime.core().backend().name(), "poll");
/// # Ok::<(), fd_core::error::StartError>(())
/// ```
///
/// # Errors
/// None. poll(2) accepts every descriptor number.
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(PollBackend::new(limits)))
}

struct PollBackend {
    interest: SharedInterest,
    /// `None` if the kernel does not distinguish a half-closed peer.
    half_closes: Option<Arc<HalfCloses>>,
}

impl PollBackend {
    fn new(limits: &Limits) -> Self {
        Self {
            interest: SharedInterest::new(limits),
            half_closes: sys::rdhup().map(|bit| Arc::new(HalfCloses::new(bit, limits.capacity))),
        }
    }
}

impl Backend for PollBackend {
    fn name(&self) -> &'static str {
        "poll"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            edge: false,
            read_shutdown: self.half_closes.is_some(),
            errors: true,
            kernel_state: false,
            close_forgets: true,
            fine_timeouts: Err("the timeout of poll(2) is in milliseconds"),
            max_descriptors: None,
        }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(PollPoller::new(thread, self)?))
    }

    fn forget(&self, fd: RawFd, group: GroupId, _: ThreadMask, _: ThreadMask, _: DeregisterReason) {
        self.interest.forget(fd, group);
    }
}
