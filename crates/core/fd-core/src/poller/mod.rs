//! The interface between the core and a backend: a part that all threads share ([`Backend`]), and one
//! instance per thread ([`Poller`]).
//!
//! The core decides *what* a thread's poller should hold. A backend decides *how* to change its kernel's
//! registrations, and translates the kernel's events. The protocol (pins, masks, generations) belongs to the
//! core: while a method of a backend runs, the descriptor that it got cannot be closed, and its number cannot
//! be re-used.

pub mod always_ready;
pub mod interest;
mod mistakes;
pub mod owner_process;
pub mod per_thread;
#[cfg(any(feature = "testing", test))]
#[doc(hidden)]
pub mod testing;
pub mod thread_interest;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use crate::table::FdTable;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};

pub use crate::entry::error::BackendError;
pub use crate::words::events::{Change, DeregisterReason, Event, Events, Generation, Interest, Trigger};

/// The number of events that one wait may return: the capacity of the batch that [`Poller::wait`] fills.
pub const BATCH: usize = 256;

/// The features of a backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// The backend supports [`Trigger::Edge`]. Without it, every registration is level-triggered.
    pub edge: bool,
    /// The backend distinguishes a half-closed peer from readable data ([`Events::SHUT_R`]).
    pub read_shutdown: bool,
    /// The backend distinguishes errors and hang-ups from readiness ([`Events::ERR`], [`Events::SHUT_W`]).
    pub errors: bool,
    /// The interest lives in the kernel, with one poller descriptor per thread. Otherwise the threads of a
    /// group share it in memory, and the first thread that sees an update applies it for all.
    pub kernel_state: bool,
    /// Closing a number ends its registrations, even if another descriptor keeps the open file. Otherwise the
    /// kernel continues to report an open file that has an undeclared copy, and no number remains to remove
    /// it by: the core must replace the poller.
    pub close_forgets: bool,
    /// Waits keep to timeouts below a millisecond. Otherwise the reason why they are rounded up.
    pub fine_timeouts: Result<(), &'static str>,
    /// The bound of descriptor numbers (`FD_SETSIZE`), if there is one.
    pub max_descriptors: Option<usize>,
}

impl Capabilities {
    /// All features, and no bound. A backend replaces the fields that it does not support.
    pub const ALL: Self = Self {
        edge: true,
        read_shutdown: true,
        errors: true,
        kernel_state: true,
        close_forgets: true,
        fine_timeouts: Ok(()),
        max_descriptors: None,
    };
}

/// The part of a backend that all threads share. The example `custom_backend` has a complete one.
///
/// Every method may be called from any thread. No method may panic.
///
/// ```
/// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
/// let backend = runtime.core().backend();
/// assert_eq!(backend.name(), "poll");
/// assert!(!backend.capabilities().edge);
/// # Ok::<(), pollmatrix_fd_core::error::StartError>(())
/// ```
pub trait Backend: Send + Sync {
    /// The name: `epoll`, `kqueue`, `poll`, `select`, or your own.
    fn name(&self) -> &'static str;

    /// The features of this backend on this system.
    fn capabilities(&self) -> Capabilities;

    /// Creates the poller of one thread. The core calls it once per thread and runtime, in the thread that
    /// calls [`Builder::prepare`](crate::Builder::prepare).
    ///
    /// # Errors
    /// The error of creating the kernel object: `EMFILE`, `ENFILE` or `ENOMEM`.
    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>>;

    /// The backend's own waker for `thread` (kqueue's `EVFILT_USER`). By default `None`: the core creates a
    /// wake descriptor. The core calls it after [`Backend::poller`] for the same thread.
    fn waker(&self, thread: ThreadId) -> Option<Arc<dyn Wake>> {
        let _ = thread;
        None
    }

    /// Removes `fd` from the pollers of `group` that hold it. The core calls it once, before the number is
    /// closed, returned or moved to another group. `recv` and `send` are the polled masks; with
    /// [`DeregisterReason::Close`] they do not contain the closing thread. The caller is alone with the entry
    /// or has locked it, so no thread of the group applies an update of this descriptor meanwhile. After a
    /// transient error the backend tries again, a bounded number of times.
    ///
    /// If the number is closed afterwards, no other thread's wait may keep the open file: its peer would see
    /// the end only after that wait.
    fn forget(&self, fd: RawFd, group: GroupId, recv: ThreadMask, send: ThreadMask, reason: DeregisterReason);
}

/// One thread's poller. Only that thread calls it. No method may panic: a panic stops the runtime.
pub trait Poller: Send {
    /// Applies one change, or queues it until [`Poller::flush`].
    ///
    /// Returns the interest that the poller holds afterwards, or `None` if only the flush can tell. The core
    /// keeps the entry pinned until then, so a queued change cannot reach a re-used number.
    ///
    /// A poller *holds* an interest if the kernel reports it, or if the poller reports it in the kernel's
    /// place (a file that the kernel does not poll). If the kernel refuses the change for another reason, the
    /// poller returns the interest that it holds in fact. The core compares it with `wanted`, and repeats the
    /// change after a short delay, forced; after a second of refusals it reports an error and gives up. If
    /// the poller does not know what it holds, it returns [`Interest::anything_but`] the wanted interest, so
    /// that [`Backend::forget`] reaches it.
    fn update(&mut self, change: &Change) -> Option<Interest>;

    /// The number of queued changes. The core flushes when the queue grows large, and before every wait.
    fn queued(&self) -> usize {
        0
    }

    /// Submits the queued changes. Calls `settled` for each queued descriptor with the interest that the
    /// poller holds now, as [`Poller::update`] returns it.
    fn flush(&mut self, settled: &mut dyn FnMut(RawFd, Interest)) {
        let _ = settled;
    }

    /// Waits at most `timeout`, or without a limit if it is `None`, and appends the events to `batch` within
    /// its capacity. An interruption by a signal is a success without events.
    ///
    /// `table` tells a backend without kernel state which descriptors this thread may poll.
    ///
    /// # Errors
    /// Every error of the wait, except `EINTR` and those that the backend works around. The core counts it,
    /// pauses briefly and waits again.
    fn wait(&mut self, table: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()>;

    /// Whether a limit has degraded the last wait: it was shorter than asked for, or left out some
    /// descriptors. The core asks only a backend without [`Capabilities::kernel_state`]: the limit is one of
    /// its arrays.
    fn is_degraded(&self) -> bool {
        false
    }

    /// Replaces the kernel object by an empty one. The core then registers everything again. With `forked`
    /// the process is a forked child, which must not share the parent's object; a kqueue does not even exist
    /// in a child.
    ///
    /// # Errors
    /// The error of creating the kernel object. The poller is unchanged then, and the core tries again later.
    /// In a forked child, nothing of the parent's has been touched.
    fn rebuild(&mut self, forked: bool) -> io::Result<()>;
}

/// Ends the wait of one thread's poller. Any thread and any signal handler can call it.
pub trait Wake: Send + Sync {
    /// Wakes the thread from its current or next wait. It must be async-signal-safe.
    fn wake(&self);

    /// Stops sharing the wake object with the parent's thread, in a forked child that continues with this
    /// thread. The core calls it before [`Poller::rebuild`].
    ///
    /// # Errors
    /// The error of creating the kernel object.
    fn renew(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The sizes that a backend needs for its own parts, from the [`Builder`](crate::Builder).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The bound of descriptor numbers.
    pub capacity: usize,
    /// The number of groups.
    pub groups: usize,
    /// The number of threads of the largest group.
    pub threads: usize,
}

/// The function by which a backend crate creates its backend: the argument of
/// [`Builder::start`](crate::Builder::start). Without its call: `start(poller_poll::backend)`.
pub type MakeBackend = fn(&Limits) -> Result<Box<dyn Backend>, BackendError>;

/// Converts a timeout to the unit of poll(2) and epoll_wait(2). It rounds up, because a thread with a timeout
/// of half a millisecond would otherwise spin. A timeout that does not fit becomes [`i32::MAX`], and `None`,
/// no limit, becomes -1.
///
/// ```
/// use std::time::Duration;
///
/// use pollmatrix_fd_core::poller::milliseconds;
///
/// assert_eq!(milliseconds(Some(Duration::from_micros(1_500))), 2);
/// assert_eq!(milliseconds(Some(Duration::MAX)), i32::MAX);
/// assert_eq!(milliseconds(None), -1);
/// ```
pub fn milliseconds(timeout: Option<Duration>) -> i32 {
    let Some(timeout) = timeout else { return -1 };
    // Without a division of 128 bits.
    let rest = u64::from(timeout.subsec_nanos().div_ceil(1_000_000));
    fault!(TimeoutRoundedDown: rest => u64::from(timeout.subsec_millis()));
    let rounded = timeout.as_secs().saturating_mul(1_000).saturating_add(rest);
    i32::try_from(rounded).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_zero_timeout_rounds_to_zero() {
        let table = [
            (Duration::ZERO, 0),
            (Duration::from_nanos(1), 1),
            (Duration::from_millis(1), 1),
            (Duration::from_nanos(1_000_001), 2),
            (Duration::new(1, 999_000_001), 2_000),
            (Duration::new(2_147_483, 646_000_001), i32::MAX),
            (Duration::new(2_147_483, 648_000_000), i32::MAX),
            (Duration::MAX, i32::MAX),
        ];
        for (timeout, expected) in table {
            assert_eq!(milliseconds(Some(timeout)), expected, "{timeout:?}");
        }
    }
}
