//! A clock that stands still until a scenario advances it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The clock of a runtime; see [`fd_core::Builder::clock`]. Clones share one time.
#[derive(Clone)]
pub(crate) struct ManualClock {
    start: Instant,
    /// In nanoseconds, which is enough for five hundred years.
    elapsed: Arc<AtomicU64>,
}

impl ManualClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), elapsed: Arc::default() }
    }

    /// Returns by how much the clock has been advanced.
    pub(crate) fn passed(&self) -> Duration {
        Duration::from_nanos(self.elapsed.load(Ordering::SeqCst))
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.elapsed.fetch_add(by, Ordering::SeqCst);
    }

    /// Returns the argument for [`fd_core::Builder::clock`].
    pub(crate) fn source(&self) -> impl Fn() -> Instant + Send + Sync + 'static {
        let clock = self.clone();
        move || clock.start + clock.passed()
    }
}
