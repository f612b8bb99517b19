//! Which process owns an object that a fork copies.
//!
//! A word of this process is zero in each of its children: the kernel does not copy it (Linux, FreeBSD,
//! OpenBSD, NetBSD), and a hook of pthread_atfork(3) clears it where the kernel cannot do that. The hook
//! alone would miss `_Fork()` and clone(2), which do not run it.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The process that owns an object. A forked child has a copy of the object, and is not its owner.
///
/// The question needs no system call. A child of vfork(2), which shares its parent's memory, is not noticed;
/// on systems whose kernel copies every page, neither is a child of a bare clone or fork without the C
/// library.
///
/// Every thread may call every method, and a signal handler may call [`OwnerProcess::is_this`].
///
/// ```
/// use pollmatrix_fd_core::owner_process::OwnerProcess;
///
/// let owner = OwnerProcess::this();
/// assert!(owner.is_this());
/// // SAFETY: the child only compares two numbers, and exits.
/// let child = unsafe { libc::fork() };
/// if child == 0 {
///     unsafe { libc::_exit(i32::from(owner.is_this())) };
/// }
/// let mut status = -1;
/// // SAFETY: `status` is valid for the call.
/// assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
/// assert_eq!(status, 0, "the child is not the owner");
/// ```
#[derive(Debug)]
pub struct OwnerProcess(AtomicU32);

/// The stamp of this process: zero until it has one. Null until the first use.
///
/// There is no lock and no `Once`: a fork by another thread would leave it taken in the child for ever.
static STAMP: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// Used if there is no memory for a page.
static NO_PAGE: AtomicU32 = AtomicU32::new(0);

/// The last stamp that this process or one above it has used. A child continues from the copy, so its stamps
/// differ from those of its parent's objects.
static LAST: AtomicU32 = AtomicU32::new(0);

extern "C" fn forget_stamp() {
    // Relaxed, as everywhere here: a stamp is compared, and nothing is passed on with it.
    if let Some(stamp) = stamp() {
        stamp.store(0, Ordering::Relaxed);
    }
}

/// The word of the stamp, if it exists.
#[inline]
fn stamp() -> Option<&'static AtomicU32> {
    // No pair: acquire, because the word is written before it is published.
    // SAFETY: the pointer is null, or made by `publish`, and its memory is never freed.
    unsafe { STAMP.load(Ordering::Acquire).as_ref() }
}

/// Makes the word, unless another thread is faster.
#[cold]
fn publish() -> &'static AtomicU32 {
    // Once for each process that gets here: a second hook clears the word a second time.
    // SAFETY: the hook only stores to an atomic, which is async-signal-safe.
    let _ = unsafe { libc::pthread_atfork(None, None, Some(forget_stamp)) };
    let page = wiped_page().unwrap_or(ptr::from_ref(&NO_PAGE).cast_mut());
    // No pair: see `stamp`.
    match STAMP.compare_exchange(ptr::null_mut(), page, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the word is a static or a mapping that is never removed, and it is initialised.
        Ok(_) => unsafe { &*page },
        // The page of the slower thread stays: it is one page, once.
        // SAFETY: as above, by the other thread.
        Err(first) => unsafe { &*first },
    }
}

/// Maps a page that children do not inherit: they find zeroes. `None` if there is no memory.
fn wiped_page() -> Option<*mut AtomicU32> {
    // SAFETY: a new anonymous mapping has no precondition.
    let page = unsafe {
        libc::mmap(
            ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANON,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    unless!(BareForkOwns => wipe_in_children(page));
    Some(page.cast())
}

/// The kernel rounds the length of a mapping up to its page size.
const PAGE: usize = 4096;

/// Makes the page zero in children. A kernel that cannot do that leaves it to the hook.
fn wipe_in_children(page: *mut libc::c_void) {
    // SAFETY: the page was mapped by the caller, and no other code knows it yet.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = unsafe { libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) };
    // SAFETY: as above.
    #[cfg(target_os = "freebsd")]
    let _ = unsafe { libc::minherit(page, PAGE, libc::INHERIT_ZERO) };
    // SAFETY: as above.
    #[cfg(any(target_os = "netbsd", target_os = "openbsd"))]
    let _ = unsafe { libc::minherit(page, PAGE, libc::MAP_INHERIT_ZERO) };
    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd"
    )))]
    let _ = page;
}

/// The stamp of this process. Gives it one first, if it has none.
fn current() -> u32 {
    let stamp = stamp().unwrap_or_else(publish);
    match stamp.load(Ordering::Relaxed) {
        0 => {
            let new = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
            stamp
                .compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed)
                .map_or_else(|now| now, |_| new)
        }
        stamp => stamp,
    }
}

impl OwnerProcess {
    /// The calling process.
    pub fn this() -> Self {
        Self(AtomicU32::new(current()))
    }

    /// Whether the calling process is the owner.
    #[inline]
    pub fn is_this(&self) -> bool {
        stamp().is_some_and(|stamp| stamp.load(Ordering::Relaxed) == self.0.load(Ordering::Relaxed))
    }

    /// Makes the calling process the owner. Only the single thread of a forked child may call it.
    pub fn claim(&self) {
        self.0.store(current(), Ordering::Relaxed);
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;
    use crate::poller::testing::in_bare_child;

    #[test]
    fn a_child_of_a_bare_clone_owns_nothing_until_it_claims_it() {
        let (first, second) = (OwnerProcess::this(), OwnerProcess::this());
        assert!(first.is_this() && second.is_this());
        assert!(in_bare_child(|| !first.is_this()));
        assert!(in_bare_child(|| {
            first.claim();
            first.is_this() && !second.is_this() && OwnerProcess::this().is_this()
        }));
        assert!(in_bare_child(|| {
            let new = OwnerProcess::this();
            new.is_this() && !first.is_this() && in_bare_child(|| !new.is_this() && !first.is_this())
        }));
        assert!(first.is_this(), "the parent's objects stay its own");
    }
}
