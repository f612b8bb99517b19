//! Events for the `tracing` crate, with the target `fd_core`. Without the feature `tracing` these functions
//! do nothing.
//!
//! | event | level | fields |
//! |---|---|---|
//! | `insert` | trace | `fd`, `generation`, `group`, `threads` |
//! | `insert refused` | debug | `fd`, `reason` |
//! | `takeover`, `move` | trace | `fd`, `generation`, `thread` |
//! | `takeover refused`, `move refused` | debug | `fd`, `generation`, `thread`, `reason` |
//! | `slow handler` | warn | `fd`, `generation`, `thread`, `microseconds`: 10,000 or more |
//! | `iteration` | trace | `thread`, `microseconds`: the work between two waits |
//!
//! A time is measured only while its event is enabled.

#![cfg_attr(not(feature = "tracing"), allow(unused_variables))]

use std::fmt::{Debug, Display};
use std::os::fd::RawFd;
#[cfg(feature = "tracing")]
use std::time::{Duration, Instant};

/// From this time on, a handler is slow: its thread serves no other descriptor meanwhile.
#[cfg(feature = "tracing")]
const SLOW: Duration = Duration::from_millis(10);

macro_rules! event {
    ($level:ident, $($event:tt)+) => {
        #[cfg(feature = "tracing")]
        tracing::event!(target: "fd_core", tracing::Level::$level, $($event)+);
    };
}

#[inline(always)]
pub(crate) fn insert(fd: RawFd, generation: u32, group: impl Display, threads: impl Debug) {
    event!(TRACE, fd, generation, %group, ?threads, "insert");
}

#[inline(always)]
pub(crate) fn insert_refused(fd: RawFd, reason: impl Display) {
    event!(DEBUG, fd, %reason, "insert refused");
}

#[inline(always)]
pub(crate) fn takeover(fd: RawFd, generation: u32, thread: impl Display, refused: Option<impl Display>) {
    match refused {
        None => {
            event!(TRACE, fd, generation, %thread, "takeover");
        }
        Some(reason) => {
            event!(DEBUG, fd, generation, %thread, %reason, "takeover refused");
        }
    }
}

#[inline(always)]
pub(crate) fn relocate(fd: RawFd, generation: u32, thread: impl Display, refused: Option<impl Display>) {
    match refused {
        None => {
            event!(TRACE, fd, generation, %thread, "move");
        }
        Some(reason) => {
            event!(DEBUG, fd, generation, %thread, %reason, "move refused");
        }
    }
}

/// Measures the time of a handler, or of an iteration.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch {
    #[cfg(feature = "tracing")]
    since: Option<Instant>,
}

impl Stopwatch {
    /// Starts, if slow handlers are traced.
    #[inline(always)]
    pub(crate) fn of_handler() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            since: tracing::enabled!(target: "fd_core", tracing::Level::WARN).then(Instant::now),
        }
    }

    /// Starts, if iterations are traced.
    #[inline(always)]
    pub(crate) fn of_iteration() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            since: tracing::enabled!(target: "fd_core", tracing::Level::TRACE).then(Instant::now),
        }
    }

    /// Traces a handler that has returned, if it was slow.
    #[inline(always)]
    pub(crate) fn handler_returned(self, fd: RawFd, generation: u32, thread: impl Display) {
        #[cfg(feature = "tracing")]
        if let Some(taken) = self.since.map(|since| since.elapsed()).filter(|taken| *taken >= SLOW) {
            let microseconds = taken.as_micros() as u64;
            event!(WARN, fd, generation, %thread, microseconds, "slow handler");
        }
    }

    /// Traces an iteration that is about to wait.
    #[inline(always)]
    pub(crate) fn waits(self, thread: impl Display) {
        #[cfg(feature = "tracing")]
        if let Some(since) = self.since {
            let microseconds = since.elapsed().as_micros() as u64;
            event!(TRACE, %thread, microseconds, "iteration");
        }
    }
}
