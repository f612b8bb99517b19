//! The time that timers go by.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the time comes from.
#[derive(Clone, Default)]
pub(crate) enum Clock {
    /// [`Instant::now`].
    #[default]
    System,
    /// A function that a test gives.
    Given(Arc<dyn Fn() -> Instant + Send + Sync>),
}

impl Clock {
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::System => Instant::now(),
            Self::Given(now) => now(),
        }
    }

    /// The instant after `delay`, which counts as a hundred years at most: more does not fit into every
    /// system's clock.
    pub(crate) fn after(&self, delay: Duration) -> Instant {
        const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        fault!(DelayOverflows => return self.now() + delay);
        self.now() + delay.min(LONGEST)
    }
}
