//! The epoll backend: one epoll descriptor per thread. The kernel keeps the thread's interest.
//!
//! - The event data holds the generation, so that an event of one registration of a number is never taken for
//!   an event of the next one.
//! - A registration belongs to the open file *and* the number: closing one of two duplicates does not end it
//!   ([epoll(7)], "Will closing a file descriptor cause it to be removed"). [`Backend::forget`] removes it
//!   while the number still exists; afterwards no call can.
//! - A thread in epoll_wait(2) takes a reference to each open file that it checks. If another thread closes
//!   the last descriptor in that moment, the reference is the last one, and the kernel ends the open file
//!   only when the waiting thread returns to user mode: the peer sees no end of file until then (Linux 6.10
//!   and later, commit 4efaa5acf0a1; measured on 6.18 at about one close in a thousand). A thread that closes
//!   a descriptor therefore first removes the registrations of the other threads. The removal waits until the
//!   check is over.
//! - A timeout that is not a whole number of milliseconds needs epoll_pwait2(2), which exists since Linux
//!   5.11, but not under every emulator. Without it the timeout is rounded up.
//! - A file that epoll refuses (`EPERM`: regular files, directories) is always ready, as with poll(2).
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

use fd_core::hooks::fault;
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::per_thread::PerThread;
use fd_core::poller::{Backend, BackendError, Capabilities, DeregisterReason, Limits, Poller};

use crate::poller::EpollPoller;
pub use crate::selector::selector;
use crate::sys::KernelQueue;

/// Creates the epoll backend for a table of the given size.
///
/// The function is the argument of [`Builder::start`](fd_core::Builder::start).
///
/// ```
/// let runtime = fd_core::Runtime::builder().group(2).start(pollmatrix_poller_epoll::backend)?;
/// assert_eq!(runtime.core().backend().name(), "epoll");
/// # Ok::<(), fd_core::error::StartError>(())
/// ```
///
/// # Errors
/// None. The system calls that can fail are made with each thread's poller.
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(EpollBackend { queues: PerThread::new(limits) }))
}

struct EpollBackend {
    queues: PerThread<KernelQueue>,
}

impl Backend for EpollBackend {
    fn name(&self) -> &'static str {
        "epoll"
    }

    fn capabilities(&self) -> Capabilities {
        // EPOLLRDHUP exists since Linux 2.6.17, which is older than every supported kernel.
        Capabilities { close_forgets: false, fine_timeouts: sys::fine_timeouts(), ..Capabilities::ALL }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(EpollPoller::new(thread, self)?))
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
        // The kernel removes the registration together with the last reference to the open file. But a thread
        // that enters its wait may hold that reference for a moment, and gives it back when it *leaves* the
        // wait (Linux since 6.10, see the documentation of the module). DEL waits until that moment is over.
        for queue in self.queues.of(group, recv.or(send)) {
            queue.forget(fd);
        }
    }
}
