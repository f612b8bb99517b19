//! How long a scenario waits, on this machine, for something that must happen.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a scenario waits for something that must happen, on a machine of ordinary speed.
///
/// This is no bound on how fast something is: a cell under heavy load may take this long. It ends a hanging
/// run with an explanation before the runner's time limit ends it without one.
pub const PATIENCE: Duration = Duration::from_secs(25);

/// The clock of every system can represent an end that lies this far ahead.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

static PATIENCE_MS: AtomicU64 = AtomicU64::new(PATIENCE.as_millis() as u64);
static SLOWNESS: AtomicU32 = AtomicU32::new(1);

/// Declares that this machine, an emulator for example, is `times` times slower than an ordinary one. Applies
/// to the whole process.
pub fn set_slowness(times: u32) {
    // Relaxed: set before any scenario starts its threads.
    SLOWNESS.store(times, Ordering::Relaxed);
}

/// Replaces [`PATIENCE`], which is enough under any load: for runs in which many cells are expected to hang.
/// Applies to the whole process.
pub fn set_patience(patience: Duration) {
    let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
    // Relaxed: set before any scenario starts its threads.
    PATIENCE_MS.store(milliseconds, Ordering::Relaxed);
}

/// Returns the value of [`set_slowness`]. Scenarios that repeat something many times divide by it.
pub(crate) fn slowness() -> u32 {
    SLOWNESS.load(Ordering::Relaxed).max(1)
}

/// Returns how long to wait for something that must happen.
pub(crate) fn patience() -> Duration {
    let patience = Duration::from_millis(PATIENCE_MS.load(Ordering::Relaxed));
    patience.saturating_mul(SLOWNESS.load(Ordering::Relaxed)).min(LONGEST)
}

/// Waits until `holds`, or until patience ends. Returns whether it holds.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    let (end, mut looks) = (Instant::now() + patience(), Looks::default());
    while !holds() {
        if Instant::now() >= end {
            return false;
        }
        looks.pause();
    }
    true
}

/// Waits between two looks at something that another thread does. What takes microseconds is seen after
/// microseconds; what takes longer costs the processors little.
#[derive(Default)]
struct Looks(u32);

impl Looks {
    /// Looks that only give the processor away, before any sleep.
    const YIELDS: u32 = 20;
    const LONGEST: Duration = Duration::from_micros(200);

    /// Waits, a little longer at each call.
    fn pause(&mut self) {
        match self.0.checked_sub(Self::YIELDS) {
            None => std::thread::yield_now(),
            Some(sleeps) => std::thread::sleep(Self::LONGEST.min(Duration::from_micros(10 << sleeps.min(8)))),
        }
        self.0 = self.0.saturating_add(1);
    }
}
