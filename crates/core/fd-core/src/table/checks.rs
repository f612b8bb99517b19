//! Invariants of an entry that the table asserts.

use std::os::fd::RawFd;

use super::FdTable;
use crate::entry::Entry;
use crate::words::state;
use crate::words::sync::Ordering;

/// Asserts S10: a claimed slot holds nothing of an earlier registration. A thread that came too late may have
/// its running bit there for a moment.
pub(super) fn begins_clean(table: &FdTable, fd: RawFd) {
    let (entry, polled) = (&table.entries[fd as usize], &table.polled[fd as usize]);
    invariant!(entry.state.load(Ordering::Acquire) == 0, "S10: fd {fd} has a state before its registration");
    invariant!(
        entry.update_mask.load(Ordering::Acquire) == 0,
        "S10: fd {fd} has a pending update before its registration"
    );
    invariant!(polled.load() == (0, 0), "S10: fd {fd} is polled before its registration");
    invariant!(entry.link.is_unlinked(), "S10: fd {fd} is listed before its registration");
}

/// Asserts S6 and S14: a registration that ends has no allowed thread and no close token.
pub(super) fn ends_unused(entry: &Entry, fd: RawFd, state: u32) {
    invariant!(entry.thread_mask.load(Ordering::Acquire) == 0, "S6: fd {fd} closes while allowed");
    invariant!(state & state::MUST_CLOSE == 0, "S14: fd {fd} closes with its token");
}
