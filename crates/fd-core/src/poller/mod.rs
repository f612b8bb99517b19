//! What a backend is to the core: a shared part ([`Backend`]) and one instance per thread ([`Poller`]).
//!
//! The core decides *what* a thread's poller should hold; a backend decides *how* its kernel is told, and
//! translates what the kernel answers. The protocol (pins, masks, generations) stays on the core's side: when
//! one of these methods is given a descriptor, that number cannot be closed or re-used until it returns.

pub mod always_ready;
pub mod interest;
mod mistakes;
pub mod per_thread;
pub mod thread_interest;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use crate::table::FdTable;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};

pub use crate::entry::error::BackendError;
pub use crate::words::events::{Change, DeregisterReason, Event, Events, Generation, Interest, Trigger};

/// What a backend can do, so that a caller chooses instead of failing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// [`Trigger::Edge`] is honoured. Without it, every registration is level-triggered.
    pub edge: bool,
    /// A half-closed peer is told apart from readable data ([`Events::SHUT_R`]).
    pub read_shutdown: bool,
    /// Errors and hang-ups are told apart from readiness ([`Events::ERR`], [`Events::SHUT_W`]).
    pub errors: bool,
    /// The thread's interest lives in the kernel, one poller descriptor per thread. Otherwise it lives in
    /// memory shared by the group, and the first thread to see an update applies it for all.
    pub kernel_state: bool,
    /// Closing a number ends its registrations, though a copy of it lives elsewhere. Otherwise an open file that was copied
    /// unannounced is reported for ever, and no number is left to remove it by: its poller must be replaced.
    pub close_forgets: bool,
    /// A wait that is no whole number of milliseconds is kept to. Otherwise why it is rounded up.
    pub fine_timeouts: Result<(), &'static str>,
    /// Descriptors must be below this number (`FD_SETSIZE`), if there is such a bound.
    pub max_descriptors: Option<usize>,
}

impl Capabilities {
    /// Everything, with no bound. A backend that lacks something says so in place of it.
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

/// The part of a backend that all threads share.
///
/// Every method may be called from any thread.
pub trait Backend: Send + Sync {
    /// `epoll`, `kqueue`, `poll`, `select`.
    fn name(&self) -> &'static str;

    /// What this backend can do on this system.
    fn capabilities(&self) -> Capabilities;

    /// The poller instance of one thread. Called once per thread and runtime.
    ///
    /// # Errors
    /// Whatever creating the kernel object answers: `EMFILE`, `ENFILE`, `ENOMEM`.
    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>>;

    /// A wake-up of the backend's own for `thread` (kqueue's `EVFILT_USER`). `None` if the core should bring
    /// a pipe. Called after [`Backend::poller`] for the same thread.
    fn waker(&self, thread: ThreadId) -> Option<Arc<dyn Wake>>;

    /// Takes `fd` away from the pollers of `group` that know it. The core calls it before the number is
    /// closed, handed back or moved to another group, with `recv` and `send` holding the polled masks, and
    /// with the entry pinned by the caller: no thread of the group applies an update of this descriptor
    /// meanwhile. With [`DeregisterReason::Close`] the closing thread's own bit is left out. The core does not call it a second
    /// time: on a transient error the backend tries again, a bounded number of times.
    ///
    /// When the number is closed after this, no other thread's wait may keep the open file from ending: its peer
    /// would not see the end until that wait is over.
    fn forget(&self, fd: RawFd, group: GroupId, recv: ThreadMask, send: ThreadMask, reason: DeregisterReason);
}

/// One thread's poller. Only that thread calls it.
pub trait Poller: Send {
    /// Applies one change, or queues it until [`Poller::flush`].
    ///
    /// Returns what the poller holds afterwards, or `None` if that is known only after the flush. The core
    /// keeps the entry pinned until it has the answer, so that a queued change can never reach a re-used
    /// number.
    ///
    /// A poller *holds* an interest if the kernel reports it, or if the poller does in the kernel's place (a file that
    /// the kernel does not poll). If the kernel refuses the change for any other reason, the answer is what is held in
    /// fact; the core sees that it is not `wanted`, and applies the change again after a short delay, forced. If it is
    /// not known what is held, the answer is neither `wanted` nor nothing, so that [`Backend::forget`] reaches it.
    fn update(&mut self, change: &Change) -> Option<Interest>;

    /// How many changes are queued; the core flushes before a chunk grows large, and before every wait.
    fn queued(&self) -> usize {
        0
    }

    /// Submits what was queued, and tells for each queued descriptor what the poller holds now, as
    /// [`Poller::update`] does.
    fn flush(&mut self, settled: &mut dyn FnMut(RawFd, Interest)) {
        let _ = settled;
    }

    /// Waits at most `timeout` and appends what was seen to `batch`, without growing it beyond its
    /// capacity. Being interrupted by a signal is a success with nothing seen.
    ///
    /// `table` lets a backend without kernel state choose the descriptors that this thread may poll.
    ///
    /// # Errors
    /// Each that the wait answered with, except `EINTR` and what the backend can work around. The core counts it,
    /// pauses briefly and waits again.
    fn wait(&mut self, table: &FdTable, timeout: Duration, batch: &mut Vec<Event>) -> io::Result<()>;

    /// Whether the last wait was less than it should have been, because of a limit: shorter, or deaf to some descriptors.
    fn is_degraded(&self) -> bool {
        false
    }

    /// Replaces the kernel object by an empty one; the core then registers everything again. After a fork
    /// the child must not share the parent's (`forked`), or, for kqueue, does not even have it.
    ///
    /// # Errors
    /// Whatever creating the kernel object answers. The poller is then as it was, and the core tries again later. In a
    /// forked child nothing of the parent's has been touched.
    fn rebuild(&mut self, forked: bool) -> io::Result<()>;
}

/// Makes one thread leave its poller's wait. Callable from any thread and from a signal handler.
pub trait Wake: Send + Sync {
    /// Wakes the thread, now or at its next wait. Must be async-signal-safe.
    fn wake(&self);

    /// In the child of a fork that goes on with this thread: stops sharing what wakes it with the parent's thread. Called
    /// before [`Poller::rebuild`].
    ///
    /// # Errors
    /// Whatever creating the kernel object answers.
    fn renew(&self) -> io::Result<()> {
        Ok(())
    }
}

/// What a backend needs to know to size its own parts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Descriptor numbers are below this.
    pub capacity: usize,
    /// How many groups there are.
    pub groups: usize,
    /// How many threads the largest group has.
    pub threads: usize,
}

/// How a backend crate makes its backend.
pub type MakeBackend = fn(&Limits) -> Result<Box<dyn Backend>, BackendError>;

/// A timeout in the unit of poll(2) and epoll_wait(2), rounded up: a thread that has to wait half a millisecond must not
/// spin through it.
pub fn milliseconds(timeout: Duration) -> i32 {
    let rounded = timeout.as_nanos().div_ceil(1_000_000);
    fault!(TimeoutRoundedDown: rounded => timeout.as_millis());
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
            (Duration::MAX, i32::MAX),
        ];
        for (timeout, expected) in table {
            assert_eq!(milliseconds(timeout), expected, "{timeout:?}");
        }
    }
}
