//! What no correct poller does. Only hooks call it.

use std::io;
use std::time::Duration;

use fd_core::FdTable;

use crate::sys::Slot;

/// Whether the table has nothing but the wake descriptors.
pub(crate) fn is_empty(table: &FdTable) -> bool {
    let threads: usize = table.groups().map(|group| table.threads(group).len()).sum();
    table.used() <= threads as u64
}

/// A wait for no event at all, whose error is ignored.
pub(crate) fn wait(slot: &Slot, timeout: Duration) -> io::Result<()> {
    let _ = slot.wait(&mut [], timeout);
    Ok(())
}
