//! Handlers, and the owner of an entry: a handler with its source.

use std::any::Any;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::entry::guarded::Guarded;
use crate::entry::owner::{OwnerId, Registered};
use crate::entry::source::Source;
use crate::shared::ready::{ReadyGuard, Report};
use crate::words::sync::count;

/// Handles the events of a registered source.
///
/// Worker threads call a handler by shared reference. If one thread may use the descriptor, the calls do not
/// overlap. If several threads may use it, they may call its handler at the same time. State that changes is
/// therefore atomic or behind a lock, also for one thread: the types do not show how many threads there are.
///
/// Handlers are: a type of yours; a closure or function with the argument `&ReadyGuard<'_, S>`; an [`Arc`] of
/// a handler, of which the caller keeps another `Arc`. `S` is the type of the inserted source. A handler that
/// does not name it is one for [`OwnedFd`].
///
/// ```
/// use std::io::Read;
/// use std::net::TcpStream;
/// use std::sync::Mutex;
///
/// use pollmatrix_fd_core::{Handler, ReadyGuard};
///
/// #[derive(Default)]
/// struct Collect(Mutex<Vec<u8>>);
///
/// impl Handler<TcpStream> for Collect {
///     fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
///         let mut bytes = [0; 4096];
///         match ready.source().read(&mut bytes) {
///             Ok(count @ 1..) => self.0.lock().expect("no panic").extend(&bytes[..count]),
///             _ => _ = ready.registration().delete(),
///         }
///     }
/// }
/// ```
pub trait Handler<S = OwnedFd>: Send + Sync + 'static {
    /// Handles a report. A worker thread of the descriptor's thread mask calls it, if a direction is enabled.
    /// The report may have events of the other direction, too, and errors and hang-ups.
    ///
    /// It may make every call, including the [delete](crate::RegistrationRef::delete) of its own
    /// registration, but no call that blocks. Moves of its own registration fail with
    /// [`MoveError::Busy`](crate::error::MoveError::Busy). With
    /// [`Trigger::Edge`](crate::poller::Trigger::Edge) it continues until the source answers `EAGAIN`.
    /// `EAGAIN` ([`WouldBlock`](std::io::ErrorKind::WouldBlock)) is possible in every report.
    ///
    /// # Panics
    /// A panic stops the runtime; [`Runtime::stop`](crate::Runtime::stop) returns it.
    fn ready(&self, ready: &ReadyGuard<'_, S>);

    /// Takes the source back at the end of a [disowned](crate::RegistrationRef::disown) registration. The
    /// thread that uses the registration last calls it, or the thread that disowns it if no other uses it.
    /// The default closes the source.
    fn released(&self, source: S) {
        drop(source);
    }

    /// The identity of a registration with this handler. Other crates cannot implement it, because they
    /// cannot name the type of the argument: the table calls it while it holds a pin.
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

/// The owner of an entry, in one allocation. The handler is first: its address is the identity of the owner.
#[repr(C)]
pub(crate) struct Registration<S, H> {
    pub(crate) handler: H,
    pub(crate) source: S,
    /// See [`Registered::ownership`]. Beside a source of four bytes it costs no memory.
    takeovers: count::AtomicU32,
}

impl<S, H> Registration<S, H> {
    pub(crate) fn new(handler: H, source: S) -> Self {
        Self { handler, source, takeovers: count::AtomicU32::new(0) }
    }
}

impl<S: Source, H: Handler<S>> Registered for Registration<S, H> {
    fn run(&self, report: &Report<'_>) {
        self.handler.ready(&ReadyGuard { report, source: &self.source });
    }

    fn ownership(&self) -> (OwnerId, &count::AtomicU32) {
        (self.handler.id(Internal(())), &self.takeovers)
    }

    fn source(&self) -> &dyn Any {
        &self.source
    }

    fn handler(&self) -> &dyn Any {
        &self.handler
    }

    fn close(self: Box<Self>, close: &mut dyn FnMut(OwnedFd)) {
        let Self { handler, source, .. } = *self;
        close(source.into_fd());
        drop(handler);
    }

    fn release(self: Box<Self>) -> Guarded {
        let Self { handler, source, .. } = *self;
        let mut guarded = Guarded::default();
        guarded.run(|| handler.released(source));
        guarded.run(|| drop(handler));
        guarded
    }
}

/// Registrations for tests whose descriptors are only numbers.
#[cfg(test)]
pub(crate) mod numbers {
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, RawFd};

    use super::*;

    /// A source that is not open and never closed.
    pub(crate) struct Number(pub(crate) RawFd);

    impl AsFd for Number {
        fn as_fd(&self) -> BorrowedFd<'_> {
            // SAFETY: the tests use its number only.
            unsafe { BorrowedFd::borrow_raw(self.0) }
        }
    }

    impl From<Number> for OwnedFd {
        fn from(number: Number) -> Self {
            // SAFETY: the core of a model does not close it.
            unsafe { Self::from_raw_fd(number.as_fd().as_raw_fd()) }
        }
    }

    /// An owner whose handler does nothing.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn idle(fd: RawFd) -> Box<Registration<Number, impl Handler<Number>>> {
        Box::new(Registration::new(|_: &ReadyGuard<'_, Number>| {}, Number(fd)))
    }
}
