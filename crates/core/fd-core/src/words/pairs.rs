//! The sides of the Dekker pairs. Each side writes its own word with a read-modify-write, and then reads the
//! other side's word. The fence between the two is part of the write, or of the read where the function says
//! so.
//!
//! The comments name the pairs. `docs/protocol.md` ("18. Orderings") has the accesses of both sides and the
//! proofs. `proofs/orderings` compiles this file for other processors and checks the instructions, so this
//! file uses only `sync`, `unless!` and `ordering!`.

use super::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence, fence_after_rmw};

/// Reads a word of a pair. Later accesses are ordered after it.
#[inline(always)]
pub(crate) fn read(word: &AtomicU64) -> u64 {
    // Any pair: the caller names it.
    word.load(Ordering::Acquire)
}

/// Reads the running mask, as [`read`] does.
#[inline(always)]
pub(crate) fn running(running: &AtomicU64) -> u64 {
    // Pair: exit. Acquire: a thread that sees a takeover's bit cleared also sees the mask that the takeover
    // wrote.
    running.load(ordering!(RunningRelaxed, Acquire))
}

/// `enter`: sets running bits. Returns the bits before.
#[inline(always)]
pub(crate) fn set_running(running: &AtomicU64, me: u64) -> u64 {
    // Pairs: enter-delete, enter-move.
    let before = running.fetch_or(me, Ordering::AcqRel);
    unless!(EnterFence => fence_after_rmw());
    before
}

/// `takeover`: sets a running bit in a running mask without bits. Returns whether the mask was zero.
#[inline(always)]
pub(crate) fn win_running(running: &AtomicU64, me: u64) -> bool {
    // Pairs: enter-delete, enter-move, exit. Acquire: a takeover that wins reads what the last user wrote.
    let won = running.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire).is_ok();
    if won {
        unless!(TakeFence => fence_after_rmw());
    }
    won
}

/// `exit`: clears running bits. Returns the bits before.
#[inline(always)]
pub(crate) fn clear_running(running: &AtomicU64, me: u64) -> u64 {
    // Pairs: exit-delete, exit. Release: the use of the entry precedes the cleared bit for every thread that
    // reads it.
    let before = running.fetch_and(!me, ordering!(ExitRelaxed, AcqRel));
    unless!(ExitFence => fence_after_rmw());
    before
}

/// `exit`: reads the running mask after it has read a zero thread mask that another thread wrote.
///
/// A third thread may have set its running bit without seeing the zero. On a processor where a store can
/// reach one processor before another, only a fence orders that bit before this read (RWC: POWER allows the
/// other order).
#[inline(always)]
pub(crate) fn running_after_foreign_zero(running: &AtomicU64) -> u64 {
    // Pair: last-user.
    unless!(LastFence => fence(Ordering::SeqCst));
    self::running(running)
}

/// `delete`: sets the thread mask to zero.
#[inline(always)]
pub(crate) fn clear_mask(mask: &AtomicU64) {
    // Pairs: enter-delete, exit-delete, token. Release: a thread that reads the zero finds the token.
    mask.swap(0, Ordering::AcqRel);
    unless!(DeleteFence => fence_after_rmw());
}

/// `want`: sets flags of a state. Returns the word before.
#[inline(always)]
pub(crate) fn activate(state: &AtomicU64, active: u64) -> u64 {
    // Pairs: want-takeover, update.
    let before = state.fetch_or(active, Ordering::AcqRel);
    unless!(WantFence => fence_after_rmw());
    before
}

/// `takeover`: replaces a thread mask. Returns whether the mask was `old`.
///
/// Release: a thread that reads the new mask also reads what the old owner wrote, because the old owner
/// cleared its running bit before this thread won it.
#[inline(always)]
pub(crate) fn replace_mask(mask: &AtomicU64, old: u64, new: u64) -> bool {
    // Pairs: want-takeover, exit, rearm.
    let replaced = mask.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok();
    if replaced {
        unless!(OwnerFence => fence_after_rmw());
    }
    replaced
}

/// `schedule`: sets update bits.
#[inline(always)]
pub(crate) fn set_updates(updates: &AtomicU64, bits: u64) {
    // Pairs: schedule-unlist, update. Release: a thread that clears the bits sees the state that the update
    // concerns.
    updates.fetch_or(bits, ordering!(ScheduleRelaxed, AcqRel));
    unless!(ScheduleFence => fence_after_rmw());
}

/// The end of a removal: writes `unlinked` to a link that this thread has locked. It is a read-modify-write,
/// so that the fence of [`updates_after_unlink`] can follow it.
#[inline(always)]
pub(crate) fn unlink(link: &AtomicU64, unlinked: u64) {
    // Pairs: schedule-unlist, link.
    link.swap(unlinked, ordering!(LinkRelaxed, AcqRel));
}

/// `done_update`: reads the update bits after [`unlink`]. If another thread has unlinked the entry, the read
/// of that thread counts, and this one needs no order.
#[inline(always)]
pub(crate) fn updates_after_unlink(updates: &AtomicU64) -> u64 {
    // Pair: schedule-unlist.
    unless!(UnlistFence => fence_after_rmw());
    read(updates)
}

/// `relocate`: locks a group word. Returns whether the word was `free`.
#[inline(always)]
pub(crate) fn lock(word: &AtomicU64, free: u64, locked: u64) -> bool {
    // Pairs: move, enter-move. Acquire: the thread that locks sees what was done under the last pin.
    let won = word.compare_exchange(free, locked, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    if won {
        unless!(MoveFence => fence_after_rmw());
    }
    won
}

/// `insert`: locks a free slot. Returns whether the slot was free.
#[inline(always)]
pub(crate) fn claim(slot: &AtomicU64, free: u64, locked: u64) -> bool {
    // Pairs: insert-close, drain. Acquire, for the release of `free`, which completes the end of the earlier
    // registration.
    let claimed = slot.compare_exchange(free, locked, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    if claimed {
        unless!(InsertFence => fence_after_rmw());
    }
    claimed
}

/// `insert`: reads whether the table is closed, after [`claim`].
#[inline(always)]
pub(crate) fn is_closed(closed: &AtomicBool) -> bool {
    // Pairs: insert-close, sleep.
    closed.load(Ordering::Acquire)
}

/// `FdTable::close`: closes the table.
#[inline(always)]
pub(crate) fn close(closed: &AtomicBool) {
    // Pair: insert-close.
    closed.swap(true, Ordering::AcqRel);
    unless!(CloseFence => fence_after_rmw());
}

/// Reads the bound of the slots, after [`close`].
#[inline(always)]
pub(crate) fn bound(high_water: &AtomicU32) -> u32 {
    // Pair: insert-close.
    high_water.load(Ordering::Acquire)
}
