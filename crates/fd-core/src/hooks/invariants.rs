//! Whether the core checks its own invariants while it runs: in a debug build always, in any other build with the feature
//! `invariants` from `enable` on. Without both, nothing is left of the checks.

#[cfg(feature = "invariants")]
mod switch {
    use std::sync::atomic::{AtomicBool, Ordering};

    // A plain std atomic also under loom: it is set before the model starts.
    static ON: AtomicBool = AtomicBool::new(false);

    /// Checks them for the rest of this process, whatever fault is switched on.
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

/// Whether to check. With a fault switched on, a debug build leaves the catching to the scenarios.
#[inline(always)]
pub(crate) fn checked() -> bool {
    enabled() || (cfg!(debug_assertions) && !super::fault::any())
}
