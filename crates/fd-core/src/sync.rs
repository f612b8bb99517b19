//! The primitives that the protocol is built from: std's, or loom's in a model (`--cfg loom`).

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

pub(crate) use std::sync::atomic::Ordering;

/// Stands between the write and the read of a Dekker pair (write mine, then read yours, on both sides).
///
/// Every access of such a pair is `SeqCst`, which is enough by itself. loom treats `SeqCst` accesses as
/// `AcqRel` and honours fences only, so a model needs the fence that the real build does not.
#[inline(always)]
pub(crate) fn dekker() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Waits for another thread that is a constant number of instructions away (L7).
#[derive(Default)]
pub(crate) struct Backoff {
    spins: u32,
}

impl Backoff {
    /// How often to spin before giving the processor away: the other thread may be preempted.
    #[cfg(not(loom))]
    const SPINS: u32 = 64;

    #[inline]
    pub(crate) fn wait(&mut self) {
        #[cfg(loom)]
        loom::thread::yield_now();
        #[cfg(not(loom))]
        if self.spins < Self::SPINS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
        self.spins = self.spins.saturating_add(1);
    }

    /// How many times it has waited.
    pub(crate) fn rounds(&self) -> u32 {
        self.spins
    }
}
