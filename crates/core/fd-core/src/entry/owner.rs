//! The owner of an entry, without the types of its source and its handler.

use std::any::Any;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::entry::guarded::Guarded;
use crate::shared::ready::Report;
use crate::words::sync::count;

/// A source and its handler. An entry owns both in one allocation, from the insertion to the end of the
/// registration.
///
/// Only [`Registered::run`], [`Registered::close`] and [`Registered::release`] call the user's handler.
pub(crate) trait Registered: Send + Sync {
    /// Calls the handler for a report.
    fn run(&self, report: &Report<'_>);

    /// The identity that a takeover expects, and the number of takeovers and moves of this registration
    /// ("tkov"). The thread that makes one counts it; no other can make one at that time. One call for both,
    /// because a takeover needs both. It calls no code of the user, because the caller holds a pin or the
    /// lock.
    fn ownership(&self) -> (OwnerId, &count::AtomicU32);

    /// The identity that a takeover expects.
    fn id(&self) -> OwnerId {
        self.ownership().0
    }

    /// The number of takeovers and moves.
    fn takeovers(&self) -> &count::AtomicU32 {
        self.ownership().1
    }

    /// The source. The caller may know its type.
    fn source(&self) -> &dyn Any;

    /// The handler. The caller may know its type.
    fn handler(&self) -> &dyn Any;

    /// Passes the descriptor to `close`, then drops the handler.
    fn close(self: Box<Self>, close: &mut dyn FnMut(OwnedFd));

    /// Returns the source to the handler, then drops the handler. Either may panic.
    fn release(self: Box<Self>) -> Guarded;
}

/// The identity of the owner of a registration, which [`Context::takeover`](crate::Context::takeover)
/// expects.
///
/// It is the address of the handler. Registrations that exist at the same time have different identities,
/// unless their handlers are clones of one [`Arc`]; a later registration may have the same identity again.
/// [`RegistrationRef::owner`](crate::RegistrationRef::owner) returns it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OwnerId(usize);

impl OwnerId {
    /// The identity of a registration whose handler is a clone of this `Arc`.
    ///
    /// ```
    #[doc = include_str!("../doc/one_thread.txt")]
    /// # use std::sync::Arc;
    /// # use pollmatrix_fd_core::{InsertOptions, OwnerId, ReadyGuard, Runtime};
    /// let handler = Arc::new(|_: &ReadyGuard<'_, UnixStream>| {});
    /// let clone = Arc::clone(&handler);
    /// let handle = core.insert(near, clone, id.group(), id.mask(), InsertOptions::default())?;
    /// assert_eq!(core.registration(handle).owner()?, OwnerId::of(&handler));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of<H: ?Sized>(handler: &Arc<H>) -> Self {
        Self::at(&**handler)
    }

    /// The identity of a registration with its handler at this address.
    pub(crate) fn at<H: ?Sized>(handler: &H) -> Self {
        Self(std::ptr::from_ref(handler).cast::<()>().addr())
    }
}

impl std::fmt::Display for OwnerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
