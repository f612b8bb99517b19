//! Counters per thread, with the names that `show activity` has always printed.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::words::ids::ThreadId;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one thread. Only that thread writes them; anybody may read. Each is exact, but two
        /// read one after the other need not belong to the same instant.
        #[repr(align(128))]
        #[derive(Default)]
        pub(crate) struct Activity { $(pub(crate) $name: Counter,)* }

        /// A copy of one thread's counters.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct ActivitySnapshot { $($(#[$doc])* pub $name: u64,)* }

        impl Activity {
            pub(crate) fn snapshot(&self) -> ActivitySnapshot {
                ActivitySnapshot { $($name: self.$name.get(),)* }
            }
        }

        impl ActivitySnapshot {
            /// The counters' names and values, in the order of `show activity`.
            pub fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            /// What was added since `earlier`.
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name - earlier.$name,)* }
            }
        }
    };
}

counters! {
    /// Turns of the worker loop.
    loops,
    /// Turns that did not sleep because tasks were waiting.
    wake_tasks,
    /// Turns that did not sleep because signals were waiting.
    wake_signal,
    /// Wake-ups by other threads that this thread received through its wake descriptor.
    wake_thread,
    /// Waits that returned at least one event.
    poll_io,
    /// Waits after which a timer had expired.
    poll_exp,
    /// Updates and events for a number that was not this group's any more.
    poll_drop,
    /// Events for a descriptor that this thread may not use.
    poll_skip,
    /// Events that said that the number is not an open descriptor.
    poll_inval,
    /// Times the kernel poller was replaced, because a registration in it could not be removed.
    poll_rebuild,
    /// Times the kernel poller could not be replaced, and the old one was kept.
    poll_rebuild_fail,
    /// Waits that failed; the thread paused and went on.
    poll_error,
    /// Milliseconds of pauses, made where the next wait or the next attempt would have failed at once, or
    /// returned at once.
    poll_pause,
    /// Changes that the kernel did not take. They are tried again.
    poll_refused,
    /// Refused changes that were applied again.
    poll_retry,
    /// Waits in which the backend could not wait as it should; see
    /// [`Poller::is_degraded`](crate::poller::Poller::is_degraded).
    poll_degraded,
    /// Changes given to the backend.
    poll_update,
    /// Handler calls.
    fd_run,
    /// Takeovers by this thread that succeeded.
    fd_takeover,
    /// Takeovers by this thread that were refused.
    fd_takeover_fail,
    /// Deletes by this thread.
    fd_del,
    /// RegistrationCounts that this thread ended as the last user: closed or handed back.
    fd_close,
    /// Tasks run.
    tasks,
}

/// A number that one thread counts and all may read.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Called by the owning thread only, which is why no read-modify-write is needed.
    #[inline]
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    #[inline]
    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// `show activity`: one line per counter, one column per thread.
#[derive(Clone, Debug)]
pub struct ActivityTable(pub Vec<(ThreadId, ActivitySnapshot)>);

impl fmt::Display for ActivityTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread:")?;
        for (id, _) in &self.0 {
            write!(f, " {id}")?;
        }
        writeln!(f)?;
        let names = ActivitySnapshot::default();
        for (row, (name, _)) in names.rows().enumerate() {
            write!(f, "{name}:")?;
            for (_, snapshot) in &self.0 {
                write!(f, " {}", snapshot.rows().nth(row).map_or(0, |(_, value)| value))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
