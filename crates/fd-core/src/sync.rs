//! The primitives that the protocol is built from: std's, or in a model loom's (`--cfg loom`) or shuttle's (`--cfg shuttle`).

#[cfg(loom)]
pub(crate) use loom::{
    sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64},
    thread::yield_now,
};
#[cfg(all(shuttle, not(loom)))]
pub(crate) use shuttle::{
    sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64},
    thread::yield_now,
};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64},
    thread::yield_now,
};

pub(crate) use std::sync::atomic::Ordering;

/// Numbers that are counted and printed, and that nobody decides by: a model does not look at them.
pub(crate) mod count {
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64};
}

use crate::weak::{self, Weak};

/// Stands between the write and the read of a Dekker pair (write mine, then read yours, on both sides). `side` is what a
/// model leaves out to see the pair fail.
///
/// Every access of such a pair is `SeqCst`, which is enough by itself. loom treats `SeqCst` accesses as
/// `AcqRel` and honours fences only, so a model needs the fence that the real build does not.
#[inline(always)]
pub(crate) fn dekker(side: Weak) {
    if !weak::on(side) {
        #[cfg(loom)]
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

/// A cell that threads read and write by turns. loom sees to it that the turns are ordered by the atomics around them.
pub(crate) struct UnsafeCell<T> {
    #[cfg(loom)]
    cell: loom::cell::UnsafeCell<T>,
    #[cfg(not(loom))]
    cell: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    #[cfg(any(loom, shuttle))]
    pub(crate) fn new(value: T) -> Self {
        #[cfg(loom)]
        let cell = loom::cell::UnsafeCell::new(value);
        #[cfg(not(loom))]
        let cell = std::cell::UnsafeCell::new(value);
        Self { cell }
    }

    /// Lends the value to somebody who only reads it.
    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        #[cfg(loom)]
        return self.cell.with(read);
        #[cfg(not(loom))]
        read(self.cell.get())
    }

    /// Lends the value to somebody who writes it.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(loom)]
        return self.cell.with_mut(write);
        #[cfg(not(loom))]
        write(self.cell.get())
    }
}

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
