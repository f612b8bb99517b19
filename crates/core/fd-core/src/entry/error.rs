//! Errors, each with its reason and with everything that the caller gave away.

use std::io;
use std::os::fd::RawFd;

use crate::words::events::Generation;
use crate::words::ids::{GroupId, ThreadId};

/// The registration of the handle has ended, or belongs to another table. It never begins again: the program
/// can drop the handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("fd {fd}, generation {generation}, is not a registration of this table, or has ended")]
pub struct Stale {
    /// The number of the handle.
    pub fd: RawFd,
    /// The generation of the handle.
    pub generation: Generation,
}

/// A refused insertion, with the source and the handler. `?` works on it for every source and handler: it is
/// an error that shows the reason. [`FdCore::insert`](crate::FdCore::insert) has an example.
pub struct InsertError<I, H> {
    /// The reason.
    pub reason: InsertRefused,
    /// The source, still open.
    pub source: I,
    /// The handler.
    pub handler: H,
}

/// Why an insertion is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InsertRefused {
    /// The descriptor is in blocking mode, and the options do not have
    /// [`assume_nonblocking`](crate::InsertOptions::assume_nonblocking).
    #[error(
        "fd {fd} is in blocking mode, so a handler could stop its thread: call set_nonblocking(true) on it, or set \
         InsertOptions::assume_nonblocking if the handler never blocks"
    )]
    Blocking {
        /// The number.
        fd: RawFd,
    },
    /// The number of the source is not open: it was closed before the insertion.
    #[error("fd {fd} is not open")]
    NotOpen {
        /// The number.
        fd: RawFd,
    },
    /// The number has no entry. Raise the table's capacity or lower `RLIMIT_NOFILE`.
    #[error("fd {fd} does not fit in a table of {capacity} entries")]
    Capacity {
        /// The number.
        fd: RawFd,
        /// The bound of the numbers.
        capacity: usize,
    },
    /// The number is registered already. A registered descriptor was closed without a delete, and its number
    /// was used again.
    #[error("fd {fd} is registered already: its former file was closed without a delete")]
    InUse {
        /// The number.
        fd: RawFd,
    },
    /// The table has no such group.
    #[error("there is no group {group}")]
    NoSuchGroup {
        /// The group.
        group: GroupId,
    },
    /// None of the given threads exists in the target group.
    #[error("none of the given threads exists in group {group}")]
    NoThread {
        /// The target group.
        group: GroupId,
    },
    /// The runtime is stopping or has stopped.
    #[error("the runtime is stopping")]
    Stopping,
}

impl<I, H> std::fmt::Debug for InsertError<I, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InsertError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<I, H> std::fmt::Display for InsertError<I, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.reason.fmt(f)
    }
}

impl<I, H> std::error::Error for InsertError<I, H> {}

/// Why a delete is refused. The registration has not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeleteError {
    /// See [`Stale`].
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The registration was deleted before, and a thread still uses it. When the last user is done, the error
    /// is [`DeleteError::Stale`].
    #[error("deleted already, and still in use by a thread")]
    AlreadyDeleted,
}

/// Why a descriptor is not moved. The registration has not changed. Only after [`MoveError::Busy`] can the
/// same call succeed later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MoveError {
    /// See [`Stale`].
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The owner is another one. Only [`Context::takeover`](crate::Context::takeover) compares it.
    #[error("the owner is not the expected one")]
    WrongOwner,
    /// The source or the handler has another type than the action of
    /// [`Context::takeover_with`](crate::Context::takeover_with) expects.
    #[error("the registered source or handler is of another type")]
    WrongType,
    /// A thread uses the descriptor, or moves it. Also for the handler of the descriptor itself, which uses
    /// it until it returns.
    #[error("in use by a thread")]
    Busy,
    /// It was deleted, and ends after its last use.
    #[error("deleted")]
    Deleted,
    /// Several threads may use it. Only a descriptor of one thread can be taken over;
    /// [`RegistrationRef::migrate_on`](crate::RegistrationRef::migrate_on) moves a shared one, too.
    #[error("shared by several threads")]
    Shared,
    /// The target thread of [`RegistrationRef::migrate_on`](crate::RegistrationRef::migrate_on) does not
    /// exist.
    #[error("there is no such thread")]
    NoThread,
}

/// Why a source is not lent outside a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EnterError {
    /// See [`Stale`].
    #[error(transparent)]
    Stale(#[from] Stale),
    /// This thread is not in the thread mask, or the registration was deleted.
    #[error("this thread may not use it")]
    NotAllowed,
    /// This thread uses it already: the call is in its handler, or in the action of another `enter`.
    #[error("this thread uses it already")]
    Nested,
    /// The source or the handler of the registration has another type than the action expects.
    #[error("the registered source or handler is of another type")]
    WrongType,
}

/// Why a task is refused. It has been dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PostError {
    /// The runtime has no such thread.
    #[error("there is no thread {thread}")]
    NoThread {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread has ended: the runtime is stopping or has stopped.
    #[error("thread {thread} has ended")]
    Ended {
        /// The thread.
        thread: ThreadId,
    },
}

/// Why [`FdCore::try_post`](crate::FdCore::try_post) refuses a task.
pub enum TryPostError<F> {
    /// As many tasks wait as the caller allows.
    Full {
        /// The task.
        task: F,
        /// The number of tasks that wait for the thread.
        waiting: u64,
    },
    /// There is no such thread, or it has ended. The task has been dropped.
    Refused(PostError),
}

impl<F> From<PostError> for TryPostError<F> {
    fn from(refused: PostError) -> Self {
        Self::Refused(refused)
    }
}

impl<F> std::fmt::Display for TryPostError<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full { waiting, .. } => write!(f, "{waiting} tasks wait for the thread"),
            Self::Refused(refused) => refused.fmt(f),
        }
    }
}

impl<F> std::fmt::Debug for TryPostError<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl<F> std::error::Error for TryPostError<F> {}

/// Why a backend cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The table is larger than the range of numbers that the backend supports.
    #[error("{backend} takes descriptors below {limit} only, and the table has room for {capacity}")]
    Capacity {
        /// The backend's name.
        backend: &'static str,
        /// The backend's bound: `FD_SETSIZE` for select.
        limit: usize,
        /// The requested capacity.
        capacity: usize,
    },
    /// A system call failed.
    #[error("{backend}: {source}")]
    Kernel {
        /// The backend's name.
        backend: &'static str,
        /// The error of the call.
        source: io::Error,
    },
}

/// Why a runtime does not start. No thread and no descriptor remains.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The number of groups, threads or descriptors is impossible, or a signal cannot be caught.
    #[error("{0}")]
    Shape(String),
    /// The backend cannot be created.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A system call failed: the system has no descriptor, memory or thread left (`EMFILE`, `ENFILE`,
    /// `ENOMEM`, `EAGAIN`). Also if the [capacity](crate::Builder::capacity) has no room for a descriptor of
    /// the runtime.
    #[error("{what}: {source}")]
    System {
        /// The step that failed.
        what: &'static str,
        /// The error of the system call.
        source: io::Error,
    },
}
