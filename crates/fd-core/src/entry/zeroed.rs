//! A fixed array of zeroed elements that costs memory only where it is touched.

#[cfg(not(any(loom, shuttle)))]
mod mapped {
    use std::io;
    use std::marker::PhantomData;
    use std::num::NonZeroUsize;
    use std::ops::Deref;
    use std::ptr::NonNull;

    use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    /// Types for which all bits zero is a valid value, and which own nothing that must be dropped.
    ///
    /// # Safety
    /// Both must hold.
    pub(crate) unsafe trait Zeroed: Sync {}

    /// `len` elements in anonymous pages of their own. Page alignment is enough for every entry, and a page
    /// that was never written is not resident.
    pub(crate) struct ZeroedArray<T: Zeroed> {
        base: NonNull<T>,
        len: usize,
        bytes: usize,
        elements: PhantomData<T>,
    }

    // SAFETY: it owns its pages and hands out shared references only; T is Sync.
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
            // SAFETY: the mapping holds `len` elements, zero is a valid T (Zeroed), and nobody writes to them
            // but through T's own interior mutability.
            unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
        }
    }

    impl<T: Zeroed> Drop for ZeroedArray<T> {
        fn drop(&mut self) {
            // SAFETY: the mapping was made by `new` with this length, and no reference outlives self.
            let unmapped = unsafe { munmap(self.base.cast(), self.bytes) };
            debug_assert!(unmapped.is_ok());
        }
    }
}

#[cfg(any(loom, shuttle))]
mod boxed {
    use std::io;
    use std::ops::Deref;

    /// Types that a model can make a fresh one of: loom's and shuttle's atomics have an identity, so zeroed pages do not do.
    ///
    /// # Safety
    /// None is needed here; the real build's counterpart has conditions.
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
