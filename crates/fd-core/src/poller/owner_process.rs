//! Which process owns an object that a fork copies.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The process that owns an object. A forked child has a copy of the object, and is not its owner.
///
/// It asks no system call: a hook of pthread_atfork(3) counts the forks above this process. A child made by a
/// bare clone(2) or vfork(2), without the C library, is not noticed.
///
/// Every thread may call every method, and a signal handler may call [`OwnerProcess::is_this`].
///
/// ```
/// use fd_core::owner_process::OwnerProcess;
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

/// The number of forks between the process that set the hook and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Whether the hook is set. Without it the process id is asked each time.
static HOOKED: AtomicBool = AtomicBool::new(false);
static SET_HOOK: Once = Once::new();

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

fn current() -> u32 {
    // No pair: the values change only in a forked child, which has one thread then.
    if HOOKED.load(Ordering::Relaxed) { FORKS.load(Ordering::Relaxed) } else { std::process::id() }
}

impl OwnerProcess {
    /// The calling process.
    pub fn this() -> Self {
        SET_HOOK.call_once(|| {
            // SAFETY: the hook only adds to an atomic, which is async-signal-safe.
            let result = unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
            HOOKED.store(result == 0, Ordering::Relaxed);
        });
        Self(AtomicU32::new(current()))
    }

    /// Whether the calling process is the owner.
    #[inline]
    pub fn is_this(&self) -> bool {
        self.0.load(Ordering::Relaxed) == current()
    }

    /// Makes the calling process the owner. Only the single thread of a forked child may call it.
    pub fn claim(&self) {
        self.0.store(current(), Ordering::Relaxed);
    }
}
