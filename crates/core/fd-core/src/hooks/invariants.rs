//! The switch of the core's own invariants. A debug build always asserts them; another build asserts them
//! with the feature `invariants` after a call of `enable`. Otherwise the compiler removes the assertions.

#[cfg(feature = "invariants")]
mod switch {
    use std::sync::atomic::{AtomicBool, Ordering};

    // A plain std atomic also under loom: it is set before the model starts.
    static ON: AtomicBool = AtomicBool::new(false);

    /// Asserts the invariants for the rest of this process, even if a fault is switched on.
    pub fn enable() {
        // Relaxed: set before any thread of the runtime starts.
        ON.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn enabled() -> bool {
        ON.load(Ordering::Relaxed)
    }
}

#[cfg(feature = "invariants")]
pub use switch::enable;
#[cfg(feature = "invariants")]
use switch::enabled;

#[cfg(not(feature = "invariants"))]
#[inline(always)]
fn enabled() -> bool {
    false
}

/// Whether the invariants are asserted. A debug build does not assert them while a fault is switched on,
/// because a scenario must detect that fault.
#[inline(always)]
pub(crate) fn checked() -> bool {
    enabled() || (cfg!(debug_assertions) && !super::fault::any())
}
