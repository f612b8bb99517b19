//! Sources: the types that can be registered.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A type that owns one descriptor: `TcpListener`, `UnixStream`, `PipeReader`, [`OwnedFd`] …
///
/// Every type that can lend its descriptor and turn into it is a source. A type of yours becomes one with an
/// implementation of [`AsFd`] and of `From<YourType> for OwnedFd`.
///
/// [`AsFd::as_fd`] must return the same descriptor each time, and [`Source::into_fd`] that one too. The table
/// notices a source that closes its descriptor while it is registered as it notices any other [close behind
/// its back](crate::poller::Events::INVALID).
pub trait Source: AsFd + Send + Sync + 'static {
    /// Gives up the source for its descriptor.
    fn into_fd(self) -> OwnedFd;
}

impl<T: AsFd + Into<OwnedFd> + Send + Sync + 'static> Source for T {
    fn into_fd(self) -> OwnedFd {
        self.into()
    }
}

/// What [`FdCore::insert`](crate::FdCore::insert) takes: a [`Source`], or a [`Duplicate`] of one. No other
/// crate can implement it.
pub trait IntoSource: AsFd + Sized + sealed::Sealed {
    /// The type that the handler gets.
    type Source: Source;

    /// Whether the open file has another descriptor.
    #[doc(hidden)]
    const IS_CLONED: bool;

    #[doc(hidden)]
    fn into_source(self) -> Self::Source;

    /// Undoes [`IntoSource::into_source`], if the insertion is refused.
    #[doc(hidden)]
    fn from_source(source: Self::Source) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl<S: super::Source> Sealed for S {}
    impl<S: super::Source> Sealed for super::Duplicate<S> {}
}

impl<S: Source> IntoSource for S {
    type Source = S;

    const IS_CLONED: bool = false;

    fn into_source(self) -> S {
        self
    }

    fn from_source(source: S) -> Self {
        source
    }
}

/// Another descriptor of a registered open file, made by
/// [`RegistrationRef::duplicate`](crate::RegistrationRef::duplicate).
///
/// When it is inserted, its registration is marked as cloned, as the first one is: a close of either does not
/// end the kernel's registration. [`Duplicate::map`] gives it the type that the handler expects.
#[derive(Debug)]
pub struct Duplicate<S = OwnedFd>(S);

impl Duplicate {
    /// The caller has marked the registration of the original.
    pub(crate) fn new(copy: OwnedFd) -> Self {
        Self(copy)
    }
}

impl<S: Source> Duplicate<S> {
    /// Changes the type of the source: `duplicate.map(TcpListener::from)`.
    pub fn map<T: Source>(self, convert: impl FnOnce(S) -> T) -> Duplicate<T> {
        Duplicate(convert(self.0))
    }

    /// Returns the descriptor, to use it outside the table: to send it to another process, for example. If it
    /// is inserted later, [`InsertOptions::cloned`](crate::InsertOptions::cloned) must say that it is a copy.
    pub fn into_inner(self) -> S {
        self.0
    }
}

impl<S: AsFd> AsFd for Duplicate<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<S: Source> IntoSource for Duplicate<S> {
    type Source = S;

    const IS_CLONED: bool = true;

    fn into_source(self) -> S {
        self.0
    }

    fn from_source(source: S) -> Self {
        Self(source)
    }
}
