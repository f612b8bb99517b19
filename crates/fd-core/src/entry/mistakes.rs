//! Wrong variants of what is done to the polled masks.

use crate::entry::Polled;
use crate::words::sync::Ordering;

impl Polled {
    /// Clears the bits in `mask`, in one direction only.
    pub(super) fn forget_recv(&self, mask: u64) {
        self.recv.fetch_and(!mask, Ordering::Relaxed);
    }

    /// Clears one mask only. Returns its bits.
    pub(super) fn take_recv(&self) -> u64 {
        self.recv.swap(0, Ordering::AcqRel)
    }
}
