//! What can go wrong, and what the caller gets back.

use std::io;
use std::os::fd::RawFd;

use crate::words::events::Generation;
use crate::words::ids::{GroupId, ThreadId};

/// The handle names a registration that has ended, or one of another table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("fd {fd} generation {generation} is not registered in this table, or not any more")]
pub struct Stale {
    /// The number.
    pub fd: RawFd,
    /// The registration that the handle names.
    pub generation: Generation,
}

/// A refused insertion, with the source and the handler.
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
    /// The descriptor is in blocking mode, and the options do not
    /// [vouch for it](crate::InsertOptions::assume_nonblocking).
    #[error(
        "fd {fd} is in blocking mode, so a handler could stop its thread: call set_nonblocking(true) on it, or set \
         InsertOptions::assume_nonblocking if the handler never blocks"
    )]
    Blocking {
        /// The number.
        fd: RawFd,
    },
    /// The source has closed its descriptor.
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
        /// Numbers must be below this.
        capacity: usize,
    },
    /// The slot holds a live registration: somebody closed a registered descriptor behind the table's back.
    #[error("the slot of fd {fd} is in use: its last owner closed the number without deleting it")]
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
    /// The runtime is stopping: nothing would delete it.
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

/// Why a delete did nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeleteError {
    /// See [`Stale`].
    #[error(transparent)]
    Stale(#[from] Stale),
    /// Somebody else has deleted this registration, and it is still in use.
    #[error("deleted already, and still in use by some thread")]
    AlreadyDeleted,
}

/// Why a descriptor was not moved. Whatever the reason, the entry is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MoveError {
    /// See [`Stale`].
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The owner is not the expected one.
    #[error("the owner is not the expected one")]
    WrongOwner,
    /// Some thread is using the descriptor, or is moving it.
    #[error("in use by some thread")]
    Busy,
    /// It has been deleted, and waits for its last user.
    #[error("deleted")]
    Deleted,
    /// More than one thread may use it; a takeover is for descriptors of one thread.
    #[error("shared by several threads")]
    Shared,
    /// The target thread does not exist.
    #[error("there is no such thread")]
    NoThread,
}

/// Why a descriptor could not be entered outside a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EnterError {
    /// See [`Stale`].
    #[error(transparent)]
    Stale(#[from] Stale),
    /// This thread is not in the thread mask, or it was deleted.
    #[error("this thread may not use it")]
    NotAllowed,
    /// This thread is running it already, further up the stack.
    #[error("this thread is running it already")]
    Nested,
    /// The source of the registration is of another type than the action expects.
    #[error("the registered source is of another type")]
    WrongSource,
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

/// A backend that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The table is larger than the numbers that the backend can take.
    #[error("{backend} takes descriptors below {limit} only, and the table has room for {capacity}")]
    Capacity {
        /// The backend's name.
        backend: &'static str,
        /// Its bound, `FD_SETSIZE` for select.
        limit: usize,
        /// What was asked for.
        capacity: usize,
    },
    /// The kernel refused.
    #[error("{backend}: {source}")]
    Kernel {
        /// The backend's name.
        backend: &'static str,
        /// What it answered.
        source: io::Error,
    },
}

/// Why a runtime did not start. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No thread, no group, or more than a table can hold.
    #[error("{0}")]
    Shape(String),
    /// The backend cannot be had.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A descriptor or a mapping could not be had: `EMFILE`, `ENFILE`, `ENOMEM`.
    #[error("{what}: {source}")]
    System {
        /// What was being made.
        what: &'static str,
        /// What the system answered.
        source: io::Error,
    },
}
