//! The types that can be registered.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A type that owns one descriptor: `TcpListener`, `UnixStream`, `PipeReader`, [`OwnedFd`] and others.
///
/// Every type is a source that implements [`AsFd`] and converts into an [`OwnedFd`]. [`AsFd::as_fd`] must
/// return the same descriptor each time, and [`Source::into_fd`], too. If other code closes the descriptor
/// while it is registered, its handler gets a report with
/// [`Events::INVALID`](crate::poller::Events::INVALID).
///
/// A reference is no source: `insert(listener, …)` takes the listener, and the handler gets `&TcpListener`.
///
/// ```
/// use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
/// use std::os::unix::net::UnixStream;
///
/// use pollmatrix_fd_core::Source;
///
/// struct Session {
///     stream: UnixStream,
///     user: String,
/// }
///
/// impl AsFd for Session {
///     fn as_fd(&self) -> BorrowedFd<'_> {
///         self.stream.as_fd()
///     }
/// }
///
/// impl From<Session> for OwnedFd {
///     fn from(session: Session) -> Self {
///         session.stream.into()
///     }
/// }
///
/// fn is_a_source<S: Source>(_: &S) {}
/// # fn main() -> std::io::Result<()> {
/// # let (stream, _far) = UnixStream::pair()?;
/// is_a_source(&Session { stream, user: "me".into() });
/// # Ok(())
/// # }
/// ```
pub trait Source: AsFd + Send + Sync + 'static {
    /// Converts the source into its descriptor, for the close.
    fn into_fd(self) -> OwnedFd;
}

impl<T: AsFd + Into<OwnedFd> + Send + Sync + 'static> Source for T {
    fn into_fd(self) -> OwnedFd {
        self.into()
    }
}

/// The argument of [`FdCore::insert`](crate::FdCore::insert): a [`Source`], or a [`Duplicate`] of one. Other
/// crates cannot implement it.
pub trait IntoSource: AsFd + Sized + sealed::Sealed {
    /// The type of the source that the handler is lent.
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

/// Another descriptor of a registered open file, from
/// [`RegistrationRef::duplicate`](crate::RegistrationRef::duplicate).
///
/// Its insertion marks the new registration as [cloned](crate::State::CLONED), as the first one is.
/// [`Duplicate::map`] gives it the type that the handler expects.
#[derive(Debug)]
pub struct Duplicate<S = OwnedFd>(S);

impl Duplicate {
    /// The caller has marked the original registration.
    pub(crate) fn new(copy: OwnedFd) -> Self {
        Self(copy)
    }
}

impl<S: Source> Duplicate<S> {
    /// Converts the source: `duplicate.map(TcpListener::from)`, as in the example of
    /// [`RegistrationRef::duplicate`](crate::RegistrationRef::duplicate).
    pub fn map<T: Source>(self, convert: impl FnOnce(S) -> T) -> Duplicate<T> {
        Duplicate(convert(self.0))
    }

    /// Returns the source, to use it outside the table: to send it to another process, for example. A later
    /// insertion of it needs [`InsertOptions::cloned`](crate::InsertOptions::cloned).
    ///
    /// ```
    #[doc = include_str!("../doc/one_thread.txt")]
    /// use std::io::{Read, Write};
    ///
    /// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
    /// let mut copy = UnixStream::from(core.registration(handle).duplicate()?.into_inner());
    /// copy.write_all(b"hello")?;
    /// let (mut far, mut bytes) = (far, [0; 5]);
    /// far.read_exact(&mut bytes)?;
    /// assert_eq!(&bytes, b"hello");
    /// # Ok(())
    /// # }
    /// ```
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
