//! Counters of each thread, with the names of HAProxy's `show activity`.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::words::ids::ThreadId;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*; $(#[$of_others:meta])* $others:ident,) => {
        /// The counters of one thread. Only that thread writes them, and all may read. Each counter is exact,
        /// but two of them that are read one after the other may belong to different instants.
        #[repr(align(128))]
        #[derive(Default)]
        pub(crate) struct Activity { $(pub(crate) $name: Counter,)* }

        /// A copy of one thread's counters, from [`FdCore::activity`](crate::FdCore::activity).
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct ActivitySnapshot {
            $($(#[$doc])* pub $name: u64,)*
            $(#[$of_others])* pub $others: u64,
        }

        impl Activity {
            /// The counters that this thread writes.
            pub(crate) fn snapshot(&self) -> ActivitySnapshot {
                ActivitySnapshot { $($name: self.$name.get(),)* $others: 0 }
            }
        }

        impl ActivitySnapshot {
            /// The names and values of the counters, in the order of the fields.
            ///
            /// ```
            /// let counters = pollmatrix_fd_core::ActivitySnapshot { loops: 3, ..Default::default() };
            /// assert_eq!(counters.rows().next(), Some(("loops", 3)));
            /// ```
            pub fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)* (stringify!($others), self.$others)].into_iter()
            }

            /// The difference to an earlier copy of the same thread's counters.
            ///
            /// ```
            /// # use pollmatrix_fd_core::ids::ThreadId;
            /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
            /// let counters = || runtime.core().activity().0[0].1;
            /// let before = counters();
            /// let id = ThreadId::FIRST;
            /// let (sender, receiver) = std::sync::mpsc::channel();
            /// runtime.core().post(id, move |_| sender.send(()).expect("main waits"))?;
            /// receiver.recv()?;
            /// assert_eq!(counters().since(&before).tasks, 1);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Panics
            /// In a build with overflow checks, if a counter of `earlier` is greater than the one of `self`:
            /// the copies are of different threads, or in the wrong order.
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name - earlier.$name,)* $others: self.$others - earlier.$others }
            }
        }
    };
}

counters! {
    /// Iterations of the worker's loop.
    loops,
    /// Iterations without sleep, because tasks were waiting.
    wake_tasks,
    /// Iterations without sleep, because signals were waiting.
    wake_signal,
    /// Wake-ups by other threads through the wake descriptor.
    wake_thread,
    /// Waits that returned at least one event.
    poll_io,
    /// Waits after which a timer had expired.
    poll_exp,
    /// Updates and events of a number that was not registered any more, or not in this group.
    poll_drop,
    /// Events of a descriptor that this thread may not use.
    poll_skip,
    /// Events of a number that is not open.
    poll_inval,
    /// Events without interest in what they report. The thread removes the interest from its poller before
    /// the next wait, so a number that keeps growing means that the poller spins.
    poll_unwanted,
    /// Replacements of the kernel poller, because no call could remove a registration in it.
    poll_rebuild,
    /// Failed replacements of the kernel poller. The old one was kept.
    poll_rebuild_fail,
    /// Waits that failed. The thread paused and continued.
    poll_error,
    /// Milliseconds of pauses, made where the next wait or attempt would have failed or returned at once.
    poll_pause,
    /// Changes that the kernel refused. They are tried again, for one second; then the handler gets an error.
    poll_refused,
    /// Refused changes that were applied again, or given up.
    poll_retry,
    /// Waits that a limit has degraded; see [`Poller::is_degraded`](crate::poller::Poller::is_degraded).
    poll_degraded,
    /// Changes that were passed to the backend.
    poll_update,
    /// Handler calls.
    fd_run,
    /// Takeovers by this thread that succeeded.
    /// [`RegistrationRef::migrate_on`](crate::RegistrationRef::migrate_on) does not count.
    fd_takeover,
    /// Takeovers by this thread that were refused.
    fd_takeover_fail,
    /// Deletes by this thread.
    fd_del,
    /// Registrations that this thread ended as the last user: closed or returned.
    fd_close,
    /// Tasks that began to run.
    tasks,;

    // Other threads count it: see `SharedThread::snapshot`.
    /// Tasks that were posted to the thread. `tasks_posted - tasks` of them wait, or were dropped at its end.
    tasks_posted,
}

/// A counter that one thread increments and all may read.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Only the owning thread calls it, so no read-modify-write is needed.
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

/// The counters of all threads, from [`FdCore::activity`](crate::FdCore::activity). Prints one line per
/// counter and one column per thread, as HAProxy's `show activity`.
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
