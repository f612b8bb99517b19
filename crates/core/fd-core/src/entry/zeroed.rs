//! A fixed array of zeroed elements. It uses memory only for the pages that were written.

#[cfg(not(any(loom, shuttle)))]
mod mapped {
    use std::io;
    use std::marker::PhantomData;
    use std::num::NonZeroUsize;
    use std::ops::Deref;
    use std::ptr::NonNull;

    use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    /// Types that may be created by zeroing their memory, and that need no drop.
    ///
    /// # Safety
    /// All bits zero must be a valid value. A value must own nothing that its drop would release.
    pub(crate) unsafe trait Zeroed: Sync {}

    /// `len` elements in anonymous pages. The alignment of a page is enough for every element. A page that
    /// was never written is not resident.
    pub(crate) struct ZeroedArray<T: Zeroed> {
        base: NonNull<T>,
        len: usize,
        bytes: usize,
        elements: PhantomData<T>,
    }

    // SAFETY: the array owns its pages and lends shared references only, and T is Sync.
    unsafe impl<T: Zeroed + Send> Send for ZeroedArray<T> {}
    // SAFETY: as above.
    unsafe impl<T: Zeroed> Sync for ZeroedArray<T> {}

    impl<T: Zeroed> ZeroedArray<T> {
        pub(crate) fn new(len: usize) -> io::Result<Self> {
            const { assert!(align_of::<T>() <= 4096) };
            let bytes = len
                .checked_mul(size_of::<T>())
                .and_then(NonZeroUsize::new)
                .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            // SAFETY: a fresh private anonymous mapping aliases nothing.
            let base = unsafe {
                mmap_anonymous(
                    None,
                    bytes,
                    ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                    MapFlags::MAP_PRIVATE,
                )?
            };
            Ok(Self { base: base.cast(), len, bytes: bytes.get(), elements: PhantomData })
        }
    }

    impl<T: Zeroed> Deref for ZeroedArray<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            // SAFETY: the mapping has `len` elements, zero is a valid T (Zeroed), and all writes go through
            // T's interior mutability.
            unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
        }
    }

    impl<T: Zeroed> Drop for ZeroedArray<T> {
        fn drop(&mut self) {
            // SAFETY: `new` made the mapping with this length, and no reference outlives self.
            let unmapped = unsafe { munmap(self.base.cast(), self.bytes) };
            debug_assert!(unmapped.is_ok());
        }
    }
}

#[cfg(any(loom, shuttle))]
mod boxed {
    use std::io;
    use std::ops::Deref;

    /// Types that a model can create. The atomics of loom and shuttle have an identity, so zeroed pages are
    /// not enough.
    ///
    /// # Safety
    /// None is needed here. The trait of the real build has conditions.
    pub(crate) unsafe trait Zeroed: Sync {
        fn fresh() -> Self;
    }

    pub(crate) struct ZeroedArray<T>(Box<[T]>);

    impl<T: Zeroed> ZeroedArray<T> {
        pub(crate) fn new(len: usize) -> io::Result<Self> {
            Ok(Self((0..len).map(|_| T::fresh()).collect()))
        }
    }

    impl<T> Deref for ZeroedArray<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.0
        }
    }
}

#[cfg(any(loom, shuttle))]
pub(crate) use boxed::{Zeroed, ZeroedArray};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use mapped::{Zeroed, ZeroedArray};
