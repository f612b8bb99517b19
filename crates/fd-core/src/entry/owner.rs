//! The owner of an entry, as the table and the worker see it: the types of source and handler are erased.

use std::any::Any;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::entry::guarded::Guarded;
use crate::shared::ready::Report;

/// A source and its handler. An entry owns both in one allocation, from the insertion to the end of the
/// registration.
///
/// Only [`Registered::run`], [`Registered::close`] and [`Registered::release`] call the user's handler.
pub(crate) trait Registered: AsFd + Send + Sync {
    /// Calls the handler for a report.
    fn run(&self, report: Report<'_>);

    /// The identity that a takeover expects. No code of the user: the caller holds a pin or the lock.
    fn id(&self) -> OwnerId;

    /// The source, whose type the caller may know.
    fn source(&self) -> &dyn Any;

    /// Passes the descriptor to `close`, then drops the handler.
    fn close(self: Box<Self>, close: &mut dyn FnMut(OwnedFd));

    /// Returns the source to the handler, then drops the handler. Either may panic.
    fn release(self: Box<Self>) -> Guarded;
}

/// The identity of an owner: the one that a takeover expects to find.
///
/// It is the address of the handler, so it is unique among the registrations that exist at the same time, and
/// a later registration may have it again. [`RegistrationRef::owner`](crate::RegistrationRef::owner) returns
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OwnerId(usize);

impl OwnerId {
    /// The identity of a registration whose handler is `handler`, as long as the handler exists.
    pub fn of<H: ?Sized>(handler: &Arc<H>) -> Self {
        Self::at(&**handler)
    }

    /// The identity of a registration whose handler is at this address.
    pub(crate) fn at<H: ?Sized>(handler: &H) -> Self {
        Self(std::ptr::from_ref(handler).cast::<()>().addr())
    }
}

impl std::fmt::Display for OwnerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
