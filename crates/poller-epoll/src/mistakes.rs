//! What no correct poller does. Only hooks call it.

use std::time::Duration;

use fd_core::FdTable;

use crate::sys::Slot;

/// Waits for no event at all, if the table has nothing but the wake descriptors. Returns whether it did. The
/// error is ignored.
pub(crate) fn waited(table: &FdTable, slot: &Slot, timeout: Duration) -> bool {
    let threads: usize = table.groups().map(|group| table.threads(group).len()).sum();
    let is_empty = table.used() <= threads as u64;
    if is_empty {
        let _ = slot.wait(&mut [], timeout);
    }
    is_empty
}
