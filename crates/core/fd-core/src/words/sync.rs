//! The synchronization primitives of the protocol: those of std, or of loom (`--cfg loom`) or shuttle (`--cfg
//! shuttle`) in a model. In unit tests they are counted.

#[cfg(all(test, not(any(loom, shuttle))))]
pub(crate) use super::counted::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
#[cfg(not(any(test, loom, shuttle)))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
#[cfg(all(shuttle, not(loom)))]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};

pub(crate) use core::sync::atomic::Ordering;

/// Atomics for numbers that are counted and printed only. No step of the protocol depends on them, so the
/// models ignore them.
pub(crate) mod count {
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64};
}

/// The fence of a Dekker pair. Each side writes its own word, executes the fence, and reads the other side's
/// word; at least one side then sees the other's write. The write must be a read-modify-write.
///
/// x86 needs no instruction here, because a locked read-modify-write orders earlier stores before later loads
/// (Intel SDM, volume 3, 9.2.3.9; AMD64 APM, volume 2, 7.4.2). On other processors and in the models it is a
/// sequentially consistent fence. `docs/protocol.md` lists the pairs and their proofs.
#[inline(always)]
pub(crate) fn fence_after_rmw() {
    if cfg!(all(any(target_arch = "x86", target_arch = "x86_64"), not(any(loom, shuttle)))) {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// A cell that one thread at a time reads or writes. loom checks that the atomics around it order these
/// accesses.
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

    /// Calls `read` with a pointer to the value, for reading only.
    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        #[cfg(loom)]
        return self.cell.with(read);
        #[cfg(not(loom))]
        read(self.cell.get())
    }

    /// Calls `write` with a pointer to the value, for writing.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(loom)]
        return self.cell.with_mut(write);
        #[cfg(not(loom))]
        write(self.cell.get())
    }
}
