//! Wrong variants of the changes of the polled masks. Only hooks call them.

use crate::entry::Polled;
use crate::words::sync::Ordering;

impl Polled {
    /// Clears the bits in `mask`, in one direction only.
    pub(super) fn forget_recv(&self, mask: u64) {
        self.recv.fetch_and(!mask, Ordering::Relaxed);
    }

    /// Clears the receiving mask only. Returns its bits.
    pub(super) fn take_recv(&self) -> u64 {
        self.recv.swap(0, Ordering::AcqRel)
    }
}
