//! Wrong variants of the table's steps. Only hooks call these functions.

use std::os::fd::RawFd;

use super::moving::Locked;
use super::{FdHandle, FdTable, Live, Orphan, Pin};
use crate::entry::Entry;
use crate::entry::error::MoveError;
use crate::entry::owner::Registered;
use crate::words::backoff::Backoff;
use crate::words::events::Generation;
use crate::words::ids::{ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::state;
use crate::words::sync::{Ordering, count};

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

/// The lowest of the threads to wake, whether it sleeps or not; none if the caller applies the update, too.
pub(super) fn one_to_wake(to_wake: ThreadMask, caller_applies: bool) -> ThreadMask {
    let lowest = to_wake.bits() & to_wake.bits().wrapping_neg();
    if caller_applies { ThreadMask::NONE } else { ThreadMask::from_bits(lowest) }
}

/// A variant of [`Live::exit`] that decides by a thread mask that it read before it cleared its running bit.
pub(super) fn read_mask_and_exit(live: Live<'_>, me: ThreadMask) -> Option<Orphan<'_>> {
    let mask = live.thread_mask();
    checkpoint!(ExitBegun, live.fd());
    pairs::clear_running(&live.entry().running, me.bits());
    checkpoint!(ExitRunningCleared, live.fd());
    if mask.is_empty() { live.table().pin_any(live.fd())?.end_if_deleted().err() } else { None }
}

/// The end of an exit that decides before it has a reference, and then takes one whatever the word is.
pub(super) fn exit_unpinned(table: &FdTable, fd: RawFd) -> Option<Orphan<'_>> {
    let entry = &table.entries[fd as usize];
    let is_last = pairs::read(&entry.thread_mask) == 0 && pairs::running(&entry.running) == 0;
    if is_last { table.pin_any(fd)?.take_token().err() } else { None }
}

/// The end of an exit that reads the running mask before the thread mask.
pub(super) fn read_running_first_unpinned(table: &FdTable, fd: RawFd) -> Option<Orphan<'_>> {
    let entry = &table.entries[fd as usize];
    let is_used = pairs::running(&entry.running) != 0;
    if is_used || pairs::read(&entry.thread_mask) != 0 { None } else { table.pin_any(fd)?.take_token().err() }
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
///
/// Inline, for the reason of [`threads_of_first_group`].
#[inline]
pub(super) fn end_takeover<'t>(live: &Live<'t>, me: ThreadMask) -> Option<Orphan<'t>> {
    live.entry().running.fetch_and(!me.bits(), Ordering::AcqRel);
    None
}

/// Deactivates both directions of a registration that the thread does not get.
pub(super) fn deactivate(pin: &Pin<'_>) {
    pin.entry().state.fetch_and(!state::ACTIVE, Ordering::AcqRel);
}

/// Sets the running bit of a takeover beside those of users.
pub(super) fn enter_occupied(entry: &Entry, me: ThreadMask) -> bool {
    entry.running.fetch_or(me.bits(), Ordering::AcqRel);
    true
}

/// Makes `me` the owner whatever the thread mask is, even that of a deleted entry.
pub(super) fn store_owner(live: &Live<'_>, me: ThreadMask) -> Option<Result<(), MoveError>> {
    live.entry().thread_mask.store(me.bits(), Ordering::Release);
    live.entry().changed_owner(live.owner().takeovers());
    Some(Ok(()))
}

/// The end of a [`FdTable::relocate`] that unlocks the entry before it wipes the old group's bits.
pub(super) fn unlock_and_wipe(
    locked: Locked<'_>,
    target: ThreadId,
    wipe: impl FnOnce(),
) -> Result<bool, MoveError> {
    let entry = locked.entry();
    locked.unlock_into(target.group());
    wipe();
    // Without the lock, the registration and its count may be gone.
    entry.changed_owner(&count::AtomicU32::new(0));
    Ok(false)
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

/// The generation of whatever registration the number has.
pub(crate) fn generation(table: &FdTable, fd: RawFd) -> Option<Generation> {
    let word = table.entry(fd)?.group.peek();
    word.group().map(|_| word.generation())
}
