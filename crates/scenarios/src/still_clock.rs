//! A clock that stands still until a scenario advances it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The clock of a runtime; see [`fd_core::Builder::clock`]. Clones are the same clock.
#[derive(Clone)]
pub(crate) struct StillClock {
    start: Instant,
    /// In nanoseconds: room for five hundred years.
    passed: Arc<AtomicU64>,
}

impl StillClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), passed: Arc::default() }
    }

    /// How far it was advanced.
    pub(crate) fn passed(&self) -> Duration {
        Duration::from_nanos(self.passed.load(Ordering::SeqCst))
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.passed.fetch_add(by, Ordering::SeqCst);
    }

    /// For [`fd_core::Builder::clock`].
    pub(crate) fn given(&self) -> impl Fn() -> Instant + Send + Sync + 'static {
        let clock = self.clone();
        move || clock.start + clock.passed()
    }
}
