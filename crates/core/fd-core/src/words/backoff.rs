//! Waiting for another thread that is a few instructions away from its next step.

#[cfg(loom)]
use loom::thread::yield_now;
#[cfg(all(shuttle, not(loom)))]
use shuttle::thread::yield_now;
#[cfg(not(any(loom, shuttle)))]
use std::thread::yield_now;

/// A wait for another thread that needs a constant number of instructions (L7): it spins first, and then
/// yields.
#[derive(Default)]
pub(crate) struct Backoff {
    spins: u32,
}

impl Backoff {
    /// The number of spins before each wait yields the processor. The other thread may be preempted.
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

    /// The number of waits so far.
    pub(crate) fn rounds(&self) -> u32 {
        self.spins
    }
}
