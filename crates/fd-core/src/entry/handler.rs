//! What the upper layer gives to the table: who owns a descriptor, and how it is told of events.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::shared::ready::ReadyGuard;

/// The owner of a descriptor.
///
/// Threads run it by shared reference: the running bit keeps it alive while it is borrowed, because the end of a
/// registration waits for its last user. Several threads may run it at once for a descriptor that is shared by several
/// threads; for a descriptor of one thread, never two (S1).
pub trait Handler: Send + Sync + 'static {
    /// Called on a worker thread of the descriptor's thread mask, for a report in a direction that is wanted. It
    /// may do anything, including deleting the descriptor or giving it away. Edge-triggered, it must go on
    /// until `EAGAIN`.
    fn ready(&self, ready: &ReadyGuard<'_>);

    /// Called once at the end of a disowned registration, with the descriptor that the table no longer owns, on
    /// whichever thread was the last user. The default closes it.
    fn released(&self, fd: OwnedFd) {
        drop(fd);
    }
}

impl<F: Fn(&ReadyGuard<'_>) + Send + Sync + 'static> Handler for F {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self(ready);
    }
}

/// The identity of an owner: what a takeover expects to find.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OwnerId(usize);

impl OwnerId {
    /// The identity of `handler`, for as long as it is alive.
    pub fn of<H: Handler + ?Sized>(handler: &Arc<H>) -> Self {
        Self(Arc::as_ptr(handler).cast::<()>().addr())
    }

    pub(crate) fn from_pointer(pointer: NonNull<dyn Handler>) -> Self {
        Self(pointer.cast::<()>().addr().get())
    }
}

impl std::fmt::Display for OwnerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
