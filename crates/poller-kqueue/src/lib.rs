//! The kqueue backend: one kernel queue per thread, which the kernel keeps the thread's interest in.
//!
//! - The two directions are two filters, that come and go, fire and fail independently.
//! - Changes are collected and submitted in one call, with `EV_RECEIPT` on each and room for as many receipts: one
//!   bad change never hides the next, and no event is taken by that call. The core keeps the descriptors pinned
//!   until the receipts are in, so that no change reaches a number that was re-used.
//! - The generation travels in `udata`.
//! - Adding a filter a second time does not change between level (none) and edge (`EV_CLEAR`): a forced change
//!   deletes first.
//! - A descriptor in a terminal state can be refused (`EPIPE`, `ENXIO`), or lose its filter as it fires
//!   (`EV_ONESHOT` in the answer). Both are hang-ups, and stay reported.
//! - The wake-up is `EVFILT_USER` where the kernel has it.
//! - A forked child has no queue: the old number is nobody's, or somebody else's, and is not touched.
//!
//! Where this file says "measured", it was on FreeBSD 12.3.
//!
//! Sources: FreeBSD [kqueue(2)], macOS [kqueue(2)][macos], NetBSD [kqueue(2)][netbsd], OpenBSD [kqueue(2)][openbsd],
//! DragonFly [kqueue(2)][dragonfly].
//!
//! [kqueue(2)]: https://man.freebsd.org/cgi/man.cgi?query=kqueue&sektion=2
//! [macos]: https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/kqueue.2.html
//! [netbsd]: https://man.netbsd.org/kqueue.2
//! [openbsd]: https://man.openbsd.org/kqueue.2
//! [dragonfly]: https://man.dragonflybsd.org/?command=kqueue&section=2

#![deny(missing_debug_implementations)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]
// What is computed is tested on every host; where there is no kqueue, only the tests use it.
#![cfg_attr(not(kqueue), allow(dead_code))]

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
    crate::sys::{Slot, Waker},
    fd_core::ids::{GroupId, ThreadId, ThreadMask},
    fd_core::per_thread::PerThread,
    fd_core::poller::{Backend, BackendError, Capabilities, DeregisterReason, Limits, Poller, Wake},
    std::io,
    std::os::fd::RawFd,
    std::sync::Arc,
};

/// The kqueue backend for a table of the given size.
///
/// # Errors
/// None: the kernel is asked when a thread's poller is made.
#[cfg(kqueue)]
pub fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(KqueueBackend { slots: PerThread::new(limits) }))
}

#[cfg(kqueue)]
struct KqueueBackend {
    slots: PerThread<Slot>,
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
        Ok(Box::new(KqueuePoller::new(
            thread,
            self.slots.open(thread, Slot::new, |slot| slot.replace(false))?,
        )))
    }

    fn waker(&self, thread: ThreadId) -> Option<Arc<dyn Wake>> {
        let slot = self.slots.get(thread)?;
        // An old kernel may not have the filter: then the core brings a pipe.
        slot.has_user_event().then(|| Arc::new(Waker(slot.clone())) as Arc<dyn Wake>)
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
            // Closing the number ends its registrations in every queue, even if a duplicate lives (measured).
            return;
        }
        for slot in self.slots.of(group, recv.or(send)) {
            slot.forget(removal(fd));
        }
    }
}
