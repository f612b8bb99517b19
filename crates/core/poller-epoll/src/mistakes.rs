//! The mistakes of this backend that need more than a line. Only hooks call them.

use std::time::Duration;

use fd_core::FdTable;

use crate::sys::KernelQueue;

/// Waits with an empty buffer if the table holds only the wake descriptors. Returns whether it waited.
/// Ignores the error.
pub(crate) fn waited(table: &FdTable, queue: &KernelQueue, timeout: Option<Duration>) -> bool {
    let threads: usize = table.groups().map(|group| table.threads(group).len()).sum();
    let is_empty = table.used() <= threads as u64;
    if is_empty {
        let _ = queue.wait(&mut [], timeout);
    }
    is_empty
}
