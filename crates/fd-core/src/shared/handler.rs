//! Handlers, and what an entry owns: a handler with its source.

use std::any::Any;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::entry::guarded::Guarded;
use crate::entry::owner::{OwnerId, Registered};
use crate::entry::source::Source;
use crate::shared::ready::{ReadyGuard, Report};

/// Handles the events of a registered source.
///
/// Worker threads call it by shared reference. For a descriptor of one thread, no two calls overlap (S1); the allowed
/// threads of a shared descriptor may call it at the same time.
///
/// A closure `|ready: &ReadyGuard<'_, S>| …` is a handler, and so is an [`Arc`] of one, which the caller can keep a
/// copy of.
pub trait Handler<S = OwnedFd>: Send + Sync + 'static {
    /// Handles a report in an enabled direction, on a worker thread of the descriptor's thread mask.
    ///
    /// It may call everything, including [`delete`](crate::RegistrationRef::delete) of its own registration. With
    /// [`Trigger::Edge`](crate::poller::Trigger::Edge) it must continue until the source answers `EAGAIN`.
    ///
    /// # Panics
    /// A panic stops the runtime; [`Runtime::stop`](crate::Runtime::stop) returns it.
    fn ready(&self, ready: &ReadyGuard<'_, S>);

    /// Takes the source back at the end of a [disowned](crate::RegistrationRef::disown) registration, on the thread
    /// that used it last. The default closes it.
    fn released(&self, source: S) {
        drop(source);
    }

    /// The identity of a registration with this handler. Not for other crates, which cannot name the argument's type:
    /// the table compares identities while it holds a pin.
    #[doc(hidden)]
    fn id(&self, _: Internal) -> OwnerId {
        OwnerId::at(self)
    }
}

/// The argument of [`Handler::id`].
#[derive(Debug)]
pub struct Internal(());

impl<S, F: Fn(&ReadyGuard<'_, S>) + Send + Sync + 'static> Handler<S> for F {
    fn ready(&self, ready: &ReadyGuard<'_, S>) {
        self(ready);
    }
}

impl<S, H: Handler<S> + ?Sized> Handler<S> for Arc<H> {
    fn ready(&self, ready: &ReadyGuard<'_, S>) {
        (**self).ready(ready);
    }

    fn released(&self, source: S) {
        (**self).released(source);
    }

    fn id(&self, _: Internal) -> OwnerId {
        OwnerId::of(self)
    }
}

/// One allocation for what an entry owns. The handler is first: its address is the identity of the registration.
#[repr(C)]
pub(crate) struct Registration<S, H> {
    pub(crate) handler: H,
    pub(crate) source: S,
}

impl<S: AsFd, H> AsFd for Registration<S, H> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl<S: Source, H: Handler<S>> Registered for Registration<S, H> {
    fn run(&self, report: Report<'_>) {
        self.handler.ready(&ReadyGuard { report, source: &self.source });
    }

    fn id(&self) -> OwnerId {
        self.handler.id(Internal(()))
    }

    fn source(&self) -> &dyn Any {
        &self.source
    }

    fn close(self: Box<Self>, close: &mut dyn FnMut(OwnedFd)) {
        let Self { handler, source } = *self;
        close(source.into_fd());
        drop(handler);
    }

    fn release(self: Box<Self>) -> Guarded {
        let Self { handler, source } = *self;
        let mut guarded = Guarded::default();
        guarded.run(|| handler.released(source));
        guarded.run(|| drop(handler));
        guarded
    }
}

/// Registrations of tests whose descriptors are only numbers.
#[cfg(test)]
pub(crate) mod numbers {
    use std::os::fd::{AsRawFd, FromRawFd, RawFd};

    use super::*;

    /// A source that is not open. It is never closed.
    pub(crate) struct Number(pub(crate) RawFd);

    impl AsFd for Number {
        fn as_fd(&self) -> BorrowedFd<'_> {
            // SAFETY: only its number is used.
            unsafe { BorrowedFd::borrow_raw(self.0) }
        }
    }

    impl From<Number> for OwnedFd {
        fn from(number: Number) -> Self {
            // SAFETY: a model's core does not close it.
            unsafe { Self::from_raw_fd(number.as_fd().as_raw_fd()) }
        }
    }

    /// An owner that does nothing.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn idle(fd: RawFd) -> Box<Registration<Number, impl Handler<Number>>> {
        Box::new(Registration { handler: |_: &ReadyGuard<'_, Number>| {}, source: Number(fd) })
    }
}
