//! The epoll backend: one epoll descriptor per thread, which the kernel keeps the thread's interest in.
//!
//! - The generation travels in the event data, so that an event that was returned for one registration of a number is
//!   never taken for the next one's.
//! - A registration belongs to the open file *and* the number: closing one of two duplicates does not end it
//!   ([epoll(7)], "Will closing a file descriptor cause it to be removed"). [`Backend::forget`] removes it
//!   while the number still exists; afterwards nothing can.
//! - A thread in epoll_wait(2) takes a reference to each open file that it looks at. If another thread closes the last
//!   descriptor in that moment, the reference is the last one, and the kernel ends the open file only when the waiting
//!   thread returns to user mode: its peer sees no end of file until then (Linux 6.10 and later, commit 4efaa5acf0a1;
//!   measured on 6.18 at about one close in a thousand). A close by anybody but the polling thread therefore removes
//!   the registration first, which waits for the look to be over.
//! - A wait that is no whole number of milliseconds is epoll_pwait2(2)'s, where that is there: since Linux 5.11, and not under
//!   every emulator. Elsewhere it is rounded up.
//! - What epoll refuses (`EPERM`: regular files, directories) is always ready, as for poll(2).
//!
//! Sources: [epoll_ctl(2)], [epoll_wait(2)], [epoll_create(2)], [epoll(7)].
//!
//! [epoll(7)]: https://man7.org/linux/man-pages/man7/epoll.7.html
//! [epoll_ctl(2)]: https://man7.org/linux/man-pages/man2/epoll_ctl.2.html
//! [epoll_wait(2)]: https://man7.org/linux/man-pages/man2/epoll_wait.2.html
//! [epoll_create(2)]: https://man7.org/linux/man-pages/man2/epoll_create.2.html
#![deny(missing_debug_implementations)]
#![cfg(any(target_os = "linux", target_os = "android"))]

mod changes;
mod events;
mod mistakes;
mod poller;
mod selector;
mod sys;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use fd_core::hooks::fault;
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::per_thread::PerThread;
use fd_core::poller::{Backend, BackendError, Capabilities, DeregisterReason, Limits, Poller, Wake};

use crate::poller::EpollPoller;
pub use crate::selector::selector;
use crate::sys::Slot;

/// The epoll backend for a table of the given size.
///
/// # Errors
/// None: the kernel is asked when a thread's poller is made.
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(EpollBackend { slots: PerThread::new(limits) }))
}

struct EpollBackend {
    slots: PerThread<Slot>,
}

impl Backend for EpollBackend {
    fn name(&self) -> &'static str {
        "epoll"
    }

    fn capabilities(&self) -> Capabilities {
        // RDHUP is there since Linux 2.6.17, older than anything that this can be built for.
        Capabilities { close_forgets: false, fine_timeouts: sys::fine_timeouts(), ..Capabilities::ALL }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(EpollPoller::new(thread, self.slots.open(thread, Slot::new, Slot::replace)?)))
    }

    fn waker(&self, _thread: ThreadId) -> Option<Arc<dyn Wake>> {
        None
    }

    fn forget(
        &self,
        fd: RawFd,
        group: GroupId,
        recv: ThreadMask,
        send: ThreadMask,
        reason: DeregisterReason,
    ) {
        fault!(EpollCloseLeavesItem => if reason == DeregisterReason::Close { return });
        // The kernel forgets the registration together with the last reference to the open file. But a thread that is
        // on its way into its wait may hold that reference for a moment, and gives it back when it *leaves* the wait
        // (Linux since 6.10, see the module's text). DEL waits for that moment to pass.
        for slot in self.slots.of(group, recv.or(send)) {
            slot.forget(fd);
        }
    }
}
