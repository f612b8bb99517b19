//! The epoll backend: one epoll descriptor per thread, which the kernel keeps the thread's interest in.
//!
//! - The generation travels in the event data, so that an event that was harvested for one life of a number is
//!   never taken for the next one's.
//! - A registration belongs to the open file *and* the number: closing one of two duplicates does not end it
//!   ([epoll(7)], "Will closing a file descriptor cause it to be removed"). [`Backend::forget`] removes it
//!   while the number still exists; afterwards nothing can.
//! - What epoll refuses (`EPERM`: regular files, directories) is always ready, as for poll(2).
//!
//! Sources: [epoll_ctl(2)], [epoll_wait(2)], [epoll_create(2)], [epoll(7)].
//!
//! [epoll(7)]: https://man7.org/linux/man-pages/man7/epoll.7.html
//! [epoll_ctl(2)]: https://man7.org/linux/man-pages/man2/epoll_ctl.2.html
//! [epoll_wait(2)]: https://man7.org/linux/man-pages/man2/epoll_wait.2.html
//! [epoll_create(2)]: https://man7.org/linux/man-pages/man2/epoll_create.2.html
#![cfg(any(target_os = "linux", target_os = "android"))]

mod changes;
mod events;
mod poller;
mod sys;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::{Backend, BackendError, Capabilities, Leave, Limits, Poller, Wake};

use crate::poller::EpollPoller;
use crate::sys::Slots;

/// The epoll backend for a table of the given size.
///
/// # Errors
/// None: the kernel is asked when a thread's poller is made.
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(EpollBackend { slots: Arc::new(Slots::new(limits)) }))
}

struct EpollBackend {
    slots: Arc<Slots>,
}

impl Backend for EpollBackend {
    fn name(&self) -> &'static str {
        "epoll"
    }

    fn capabilities(&self) -> Capabilities {
        // RDHUP is there since Linux 2.6.17, older than anything that this can be built for.
        Capabilities {
            edge: true,
            read_shutdown: true,
            errors: true,
            kernel_state: true,
            max_descriptors: None,
        }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(EpollPoller::new(thread, self.slots.open(thread)?)))
    }

    fn waker(&self, _thread: ThreadId) -> Option<Arc<dyn Wake>> {
        None
    }

    fn forget(&self, fd: RawFd, group: GroupId, recv: ThreadMask, send: ThreadMask, leave: Leave) {
        if leave == Leave::Close {
            // The kernel forgets the registration together with the last reference to the open file.
            return;
        }
        for slot in self.slots.of(group, recv.or(send)) {
            slot.forget(fd);
        }
    }
}
