//! The poll backend: the interest lives in memory that the group shares, and each thread builds its own array of
//! what it may poll, before each wait.
//!
//! - Level-triggered only, and O(descriptors): the portable last resort, and the reference for the others.
//! - `POLLRDHUP` where the kernel has it: Linux, FreeBSD 13 and later. The header alone does not say, so a socket
//!   pair is asked when the backend is made.
//! - `POLLNVAL` makes every call return at once until the number is left out: it is reported once per thread and
//!   registration, and then left out.
//! - Linux refuses more descriptors than the soft `RLIMIT_NOFILE`, which may be lowered below the number of those that are
//!   open: then they are looked at in parts, and waited for in short slices.
//! - A thread that sleeps in poll(2) does not see what others write to the shared interest: the core wakes it.
//!
//! Sources: [poll(2)], POSIX.1-2024 [poll()], FreeBSD [poll(2)][fbsd].
//!
//! [poll(2)]: https://man7.org/linux/man-pages/man2/poll.2.html
//! [poll()]: https://pubs.opengroup.org/onlinepubs/9799919799/functions/poll.html
//! [fbsd]: https://man.freebsd.org/cgi/man.cgi?query=poll&sektion=2

#![deny(missing_debug_implementations)]

mod changes;
mod events;
mod parts;
mod poller;
mod selector;
mod sys;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use fd_core::hooks::fault;
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::interest::GroupInterest;
use fd_core::poller::{
    Backend, BackendError, Capabilities, DeregisterReason, Interest, Limits, Poller, Wake,
};

use crate::poller::PollPoller;
pub use crate::selector::selector;

/// The poll backend for a table of the given size.
///
/// # Errors
/// None: poll(2) takes every descriptor that there can be.
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(PollBackend::new(limits)))
}

struct PollBackend {
    groups: Vec<Arc<GroupInterest>>,
    read_shutdown: bool,
}

impl PollBackend {
    fn new(limits: &Limits) -> Self {
        let map = |_| Arc::new(GroupInterest::new(limits.capacity));
        Self { groups: (0..limits.groups).map(map).collect(), read_shutdown: sys::read_shutdown_is_seen() }
    }
}

impl Backend for PollBackend {
    fn name(&self) -> &'static str {
        "poll"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            edge: false,
            read_shutdown: self.read_shutdown,
            errors: true,
            kernel_state: false,
            close_forgets: true,
            fine_timeouts: Err("poll(2) counts in milliseconds"),
            max_descriptors: None,
        }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        let interest = self.groups.get(thread.group().index()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Box::new(PollPoller::new(thread, interest.clone())))
    }

    fn waker(&self, _thread: ThreadId) -> Option<Arc<dyn Wake>> {
        None
    }

    fn forget(
        &self,
        fd: RawFd,
        group: GroupId,
        _recv: ThreadMask,
        _send: ThreadMask,
        _reason: DeregisterReason,
    ) {
        fault!(InterestSurvives => return);
        // However it leaves: this map alone knows it. The caller's pin keeps late writers away (suspect 11).
        if let Some(interest) = self.groups.get(group.index()) {
            interest.write(fd, Interest::NONE);
        }
    }
}
