//! Waiting for another thread that is a few instructions away.

#[cfg(loom)]
use loom::thread::yield_now;
#[cfg(all(shuttle, not(loom)))]
use shuttle::thread::yield_now;
#[cfg(not(any(loom, shuttle)))]
use std::thread::yield_now;

/// Waits for another thread that is a constant number of instructions away (L7).
#[derive(Default)]
pub(crate) struct Backoff {
    spins: u32,
}

impl Backoff {
    /// How often to spin before giving the processor away: the other thread may be preempted.
    const SPINS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 64 };

    #[inline]
    pub(crate) fn wait(&mut self) {
        if self.spins < Self::SPINS {
            std::hint::spin_loop();
        } else {
            yield_now();
        }
        self.spins = self.spins.saturating_add(1);
    }

    /// How many times it has waited.
    pub(crate) fn rounds(&self) -> u32 {
        self.spins
    }
}
