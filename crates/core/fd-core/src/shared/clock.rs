//! The clock of the timers.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// The source of the time.
#[derive(Clone, Default)]
pub(crate) enum Clock {
    /// [`Instant::now`].
    #[default]
    System,
    /// A function from [`Builder::clock`](crate::Builder::clock).
    Given(Arc<dyn Fn() -> Instant + Send + Sync>),
}

impl Clock {
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::System => Instant::now(),
            Self::Given(now) => now(),
        }
    }

    /// The instant after `delay`. A delay above a hundred years is reduced: it does not fit into every
    /// system's clock.
    pub(crate) fn after(&self, delay: Duration) -> Instant {
        const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        fault!(DelayOverflows => return self.now() + delay);
        self.now() + delay.min(LONGEST)
    }
}
