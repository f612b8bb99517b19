//! Changes of interest and readiness by a thread that neither has a pin nor is in the handler (protocol 10).

use super::{FdHandle, FdTable};
use crate::entry::error::Stale;

impl FdTable {
    /// Applies `after` to the flags of one registration, in one read-modify-write and without a pin: the
    /// generation beside the flags tells whether they are still those of this registration (S7).
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended; no flag has changed then.
    #[inline]
    pub(crate) fn change_state(&self, handle: FdHandle, after: impl Fn(u32) -> u32) -> Result<(), Stale> {
        self.check_table(handle)?;
        let entry = self.entry(handle.fd).ok_or(handle.stale())?;
        fault!(StaleHandleAccepted: handle => self.pin(handle)?.handle());
        // No handle has the generation of a slot that is free.
        if entry.state.change_of(handle.generation, after) {
            return Ok(());
        }
        checkpoint!(PinRefused, handle.fd);
        Err(handle.stale())
    }
}
