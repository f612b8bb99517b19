//! The kqueue backend: one kernel queue per thread. The kernel keeps the thread's interest.
//!
//! - The two directions are two filters, which are added and deleted, fire and fail independently.
//! - Changes are collected and submitted in one call, with `EV_RECEIPT` on each and room for as many
//!   receipts: a failed change never hides the next one, and the call consumes no event. The core keeps the
//!   descriptors pinned until the receipts are read, so that no change reaches a number that was re-used.
//! - `udata` holds the generation.
//! - Adding a filter a second time does not change between level (none) and edge (`EV_CLEAR`): a forced
//!   change deletes first.
//! - The kernel can refuse a descriptor in a terminal state (`EPIPE`, `ENXIO`), or delete its filter when it
//!   fires (`EV_ONESHOT` in the event). Both are hang-ups, and the poller continues to report them.
//! - The wake-up is `EVFILT_USER` where the kernel has it.
//! - A forked child has no queue: the old number is closed, or belongs to another file, and is not touched.
//!
//! The kernel must have `EV_RECEIPT`: FreeBSD since 8.1, macOS since 10.5. NetBSD 7.99.10 has none, and is
//! refused; NetBSD 10 is the oldest that this backend is meant for, and none was tried.
//!
//! With the feature `library`, a library provides kqueue(2) on Linux, such as [libkqueue]: the environment
//! variable `POLLMATRIX_KQUEUE_LIBRARY` names its file at build time.
//!
//! [libkqueue]: https://github.com/mheily/libkqueue
//!
//! "Measured" in this crate means on FreeBSD 12.3.
//!
//! # Review
//!
//! Tests of other systems reach `changes.rs`, `events.rs`, `entries.rs` and `receipts.rs`, which compute. A
//! change of `sys.rs`, `poller.rs` or `selector/` needs a run on a kernel with kqueue, or a review of:
//!
//! - `CODES`, `raw`, `entry`: each constant stands in the field of its name; the two conversions only copy.
//! - `KernelQueue::new`, `fresh`: close-on-exec before the queue is used; a user event, or `has_user_event`
//!   is false; only the timer is deleted again.
//! - `KernelQueue::replace`: after a fork, or in another process, the old number is not touched. Otherwise
//!   the new queue gets the old number, then close-on-exec, then one trigger.
//! - `KernelQueue::wait`: room is never zero; `seen` is zero after an error or a signal.
//! - `KernelQueue::drop`: closes the number only in the process that opened it.
//! - `KernelQueue::submit`, `Calls::call`: as many receipts as entries, a timeout of zero.
//! - `trigger`: async-signal-safe: no allocation, no lock, no injected error; `errno` is restored by the
//!   caller.
//! - `kevent`, `call`: `KeventSubmit` only with changes; null pointers for empty lists.
//! - `wait_with`: the list of what is always ready is pruned before it decides whether to wait, reported
//!   after the kernel, and extended after that.
//! - `rebuild`: the lists are emptied only after the new queue is in place.
//!
//! Sources: FreeBSD [kqueue(2)], macOS [kqueue(2)][macos], NetBSD [kqueue(2)][netbsd], OpenBSD
//! [kqueue(2)][openbsd], DragonFly [kqueue(2)][dragonfly].
//!
//! [kqueue(2)]: https://man.freebsd.org/cgi/man.cgi?query=kqueue&sektion=2
//! [macos]: https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/kqueue.2.html
//! [netbsd]: https://man.netbsd.org/kqueue.2
//! [openbsd]: https://man.openbsd.org/kqueue.2
//! [dragonfly]: https://man.dragonflybsd.org/?command=kqueue&section=2

#![deny(missing_debug_implementations)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]
// The computations are tested on every host. Where there is no kqueue, only the tests use them.
#![cfg_attr(not(kqueue), allow(dead_code))]

#[cfg(kqueue)]
mod abi;
mod changes;
mod entries;
mod events;
mod mistakes;
#[cfg(kqueue)]
mod poller;
mod receipts;
mod selector;
#[cfg(kqueue)]
mod sys;

#[cfg(kqueue)]
pub use crate::selector::selector;

#[cfg(kqueue)]
use {
    crate::changes::removal,
    crate::poller::KqueuePoller,
    crate::sys::{KernelQueue, Waker},
    fd_core::ids::{GroupId, ThreadId, ThreadMask},
    fd_core::per_thread::PerThread,
    fd_core::poller::{Backend, BackendError, Capabilities, DeregisterReason, Limits, Poller, Wake},
    std::io,
    std::os::fd::RawFd,
    std::sync::Arc,
};

/// Creates the kqueue backend for a table of the given size.
///
/// The function is the argument of [`Builder::start`](fd_core::Builder::start).
///
/// ```
/// let runtime = fd_core::Runtime::builder().group(2).start(pollmatrix_poller_kqueue::backend)?;
/// assert_eq!(runtime.core().backend().name(), "kqueue");
/// # Ok::<(), fd_core::error::StartError>(())
/// ```
///
/// # Errors
/// None. The system calls that can fail are made with each thread's poller, which also refuses a kernel
/// without `EV_RECEIPT`.
#[cfg(kqueue)]
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(KqueueBackend { queues: PerThread::new(limits) }))
}

/// The name of the library that provides kqueue(2): `libkqueue`. `None` if the kernel does.
#[cfg(kqueue)]
pub const LIBRARY: Option<&str> =
    if cfg!(kqueue_library) { option_env!("POLLMATRIX_KQUEUE_NAME") } else { None };

/// Returns the version of the library that provides kqueue(2), such as `2.7.0`. Returns `None` if the kernel
/// does, or the library does not tell its version.
#[cfg(kqueue)]
pub fn library_version() -> Option<String> {
    #[cfg(kqueue_library)]
    return sys::library_version();
    #[cfg(not(kqueue_library))]
    None
}

/// Opens a queue that stays open, if a library provides kqueue(2).
///
/// The library keeps threads and descriptors of its own from the first queue to the end of the last one. A
/// program that compares its open descriptors calls this first.
#[cfg(kqueue)]
pub fn start_library() {
    #[cfg(kqueue_library)]
    if let Ok((queue, _)) = sys::fresh() {
        std::mem::forget(queue);
    }
}

#[cfg(kqueue)]
struct KqueueBackend {
    queues: PerThread<KernelQueue>,
}

#[cfg(kqueue)]
impl Backend for KqueueBackend {
    fn name(&self) -> &'static str {
        "kqueue"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(KqueuePoller::new(thread, self)?))
    }

    fn waker(&self, thread: ThreadId) -> Option<Arc<dyn Wake>> {
        let queue = self.queues.get(thread)?;
        // An old kernel may not have the filter. Then the core provides a pipe.
        queue.has_user_event().then(|| Arc::new(Waker(queue.clone())) as Arc<dyn Wake>)
    }

    fn forget(
        &self,
        fd: RawFd,
        group: GroupId,
        recv: ThreadMask,
        send: ThreadMask,
        reason: DeregisterReason,
    ) {
        if reason != DeregisterReason::StaysOpen {
            // A close of the number ends its registrations in every queue, even if a duplicate is open
            // (measured).
            return;
        }
        for queue in self.queues.of(group, recv.or(send)) {
            queue.forget(removal(fd));
        }
    }
}
