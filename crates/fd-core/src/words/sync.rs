//! The primitives that the protocol is built from: std's, or in a model loom's (`--cfg loom`) or shuttle's (`--cfg shuttle`).

#[cfg(not(any(loom, shuttle)))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
#[cfg(all(shuttle, not(loom)))]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};

pub(crate) use core::sync::atomic::Ordering;

/// Numbers that are counted and printed, and that nobody decides by: a model does not look at them.
pub(crate) mod count {
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64};
}

/// The fence of a Dekker pair: both sides write their own word, fence, then read the other side's word, and at least one of
/// them sees the other. The write must be a read-modify-write.
///
/// x86 needs no instruction here: a locked read-modify-write orders earlier stores before later loads (Intel SDM, volume 3,
/// 9.2.3.9; AMD64 APM, volume 2, 7.4.2). Everywhere else, and in the models, it is a sequentially consistent fence:
/// `docs/protocol.md` lists the pairs and what proves each.
#[inline(always)]
pub(crate) fn fence_after_rmw() {
    if cfg!(all(any(target_arch = "x86", target_arch = "x86_64"), not(any(loom, shuttle)))) {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// A cell that threads read and write by turns. loom sees to it that the turns are ordered by the atomics around them.
pub(crate) struct UnsafeCell<T> {
    #[cfg(loom)]
    cell: loom::cell::UnsafeCell<T>,
    #[cfg(not(loom))]
    cell: core::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    #[cfg(any(loom, shuttle))]
    pub(crate) fn new(value: T) -> Self {
        #[cfg(loom)]
        let cell = loom::cell::UnsafeCell::new(value);
        #[cfg(not(loom))]
        let cell = core::cell::UnsafeCell::new(value);
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
