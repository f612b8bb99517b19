//! Wrong variants of the table's steps. Only hooks call these functions.

use std::os::fd::RawFd;

use super::moving::Locked;
use super::{FdHandle, FdTable, Orphan, Pin};
use crate::entry::error::MoveError;
use crate::entry::owner::Registered;
use crate::words::backoff::Backoff;
use crate::words::ids::{ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::sync::Ordering;

/// Answers an insertion with the handle of the registration in the slot. Only the handler of the new one
/// ends.
pub(super) fn insert_over(table: &FdTable, fd: RawFd, owner: Box<impl Registered>) -> FdHandle {
    owner.close(&mut std::mem::forget);
    table.handle(fd, table.entries[fd as usize].group.peek().generation())
}

/// The threads of `threads` that the first group has; all of `threads` if the first group has none of them.
///
/// Inline: a generic function calls it, so a build without faults would contain it otherwise.
#[inline]
pub(super) fn threads_of_first_group(table: &FdTable, threads: ThreadMask) -> ThreadMask {
    let of_first = table.groups().next().map_or(ThreadMask::NONE, |first| table.threads(first));
    if threads.intersects(of_first) { threads.and(of_first) } else { threads }
}

/// The threads of the first group that have not ended.
pub(super) fn awake_in_first_group(table: &FdTable) -> ThreadMask {
    table.groups().next().map_or(ThreadMask::NONE, |first| table.enabled(first))
}

/// A variant of [`Pin::exit`] that decides by a thread mask that it read before it cleared its running bit.
pub(super) fn read_mask_and_exit(pin: Pin<'_>, me: ThreadMask) -> Result<Pin<'_>, Orphan<'_>> {
    let mask = pin.thread_mask();
    checkpoint!(ExitBegun, pin.fd());
    pairs::clear_running(&pin.entry().running, me.bits());
    checkpoint!(ExitRunningCleared, pin.fd());
    if mask.is_empty() { pin.end_if_deleted() } else { Ok(pin) }
}

/// A variant of [`Pin::exit`] that holds no reference while it clears its running bit.
pub(super) fn exit_unpinned(pin: Pin<'_>, me: ThreadMask) -> Result<Pin<'_>, Orphan<'_>> {
    pin.entry().group.unpin();
    pairs::clear_running(&pin.entry().running, me.bits());
    pin.entry().group.take_reference();
    pin.end_if_deleted()
}

/// A variant of [`Pin::end_if_deleted`] that reads the running mask before the thread mask.
pub(super) fn read_running_first(pin: Pin<'_>) -> Result<Pin<'_>, Orphan<'_>> {
    let is_used = !pin.running().is_empty();
    if is_used || !pin.thread_mask().is_empty() { Ok(pin) } else { pin.take_token() }
}

/// Waits until no thread runs the handler.
pub(crate) fn wait_for_users(pin: &Pin<'_>) {
    let mut backoff = Backoff::default();
    while !pin.running().is_empty() {
        backoff.wait();
    }
}

/// Wipes an entry that late reports may still change.
pub(super) fn wipe(table: &FdTable, fd: RawFd) {
    table.entries[fd as usize].update_mask.store(0, Ordering::Release);
    table.polled[fd as usize].clear();
}

/// The end of a takeover that clears its running bit without an exit.
pub(super) fn end_takeover(pin: Pin<'_>, me: ThreadMask) -> Result<Pin<'_>, Orphan<'_>> {
    pin.entry().running.fetch_and(!me.bits(), Ordering::AcqRel);
    Ok(pin)
}

/// Makes `me` the owner whatever the thread mask is, even that of a deleted entry.
pub(super) fn store_owner(pin: &Pin<'_>, me: ThreadMask) -> Result<(), MoveError> {
    pin.entry().thread_mask.store(me.bits(), Ordering::Release);
    pin.entry().changed_owner();
    Ok(())
}

/// The end of a [`FdTable::relocate`] that unlocks the entry before it wipes the old group's bits.
pub(super) fn unlock_and_wipe(
    locked: Locked<'_>,
    target: ThreadId,
    wipe: impl FnOnce(),
) -> Result<(), MoveError> {
    let entry = locked.entry();
    locked.unlock_into(target.group());
    wipe();
    entry.changed_owner();
    Ok(())
}

/// Applies an update before it clears the update bit.
pub(super) fn visit_and_clear<'t>(pin: Pin<'t>, mask: ThreadMask, visit: impl FnOnce(Pin<'t>)) -> ThreadMask {
    let (table, handle) = (pin.table(), pin.handle());
    visit(pin);
    table.pin(handle).map_or(ThreadMask::NONE, |pin| pin.done_update(mask))
}

/// Whether the entry is changing groups, or is being claimed or retired (suspect 8).
pub(crate) fn is_locked(table: &FdTable, fd: RawFd) -> bool {
    table.entry(fd).is_some_and(|entry| entry.group.peek().is_locked())
}
