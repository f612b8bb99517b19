//! The processor time of the calling thread.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::poller::Failure;

/// The clock. [`crate::calls`] recognises its readings: they enclose what is measured.
pub const CLOCK: libc::clockid_t = libc::CLOCK_THREAD_CPUTIME_ID;

fn now() -> Result<Duration, Failure> {
    let now = clock_gettime(ClockId::from_raw(CLOCK));
    now.map(Duration::from).map_err(|errno| Failure::of("clock_gettime", errno))
}

/// Sums the processor time of sections of code.
pub struct Stopwatch {
    sum: Duration,
    /// The time of an empty section, which is the time of reading the clock.
    empty: Duration,
}

impl Stopwatch {
    /// Creates a stopwatch, and measures the time of an empty section.
    pub fn new() -> Result<Self, Failure> {
        let mut watch = Self { sum: Duration::ZERO, empty: Duration::ZERO };
        let mut empty = Duration::MAX;
        for _ in 0..64 {
            watch.section(|| Ok(()))?;
            empty = empty.min(watch.take());
        }
        Ok(Self { sum: Duration::ZERO, empty })
    }

    /// Performs a section, and adds its time.
    pub fn section(&mut self, action: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let begin = now()?;
        action()?;
        let end = now()?;
        self.sum += end.saturating_sub(begin).saturating_sub(self.empty);
        Ok(())
    }

    /// Returns the sum, and begins again.
    pub fn take(&mut self) -> Duration {
        std::mem::take(&mut self.sum)
    }
}
