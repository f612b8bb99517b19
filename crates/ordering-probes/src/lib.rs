//! Each side of fd-core's Dekker pairs as one function, in the order of the protocol, with the source files
//! of the protocol.
//!
//! `ci/orderings.sh` compiles this crate for other processors, and `crates/orderings` checks the
//! instructions. The crate needs only `core`, so that no standard library has to be built for those targets.
#![no_std]

#[macro_use]
#[doc(hidden)]
pub mod hooks;
#[path = "../../fd-core/src/words/pairs.rs"]
mod pairs;
/// What unit tests count in fd-core.
#[cfg(test)]
mod counted {
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
}
#[expect(dead_code, unused_imports, reason = "the probes need a few of the primitives")]
#[path = "../../fd-core/src/words/sync.rs"]
mod sync;

pub use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// `FdTable::enter`, against `Pin::delete` and `FdTable::relocate`.
#[inline(never)]
pub fn probe_enter(running: &AtomicU64, word: &AtomicU64, mask: &AtomicU64, me: u64) -> u64 {
    pairs::set_running(running, me);
    pairs::read(word) ^ pairs::running(running) ^ pairs::read(mask)
}

/// `FdTable::takeover`, against `Pin::delete` and `FdTable::relocate`.
#[inline(never)]
pub fn probe_takeover(running: &AtomicU64, word: &AtomicU64, mask: &AtomicU64, me: u64) -> u64 {
    if !pairs::win_running(running, me) {
        return 0;
    }
    pairs::read(word) ^ pairs::read(mask)
}

/// `FdTable::relocate`, against `FdTable::enter`.
#[inline(never)]
pub fn probe_relocate(word: &AtomicU64, running: &AtomicU64, free: u64, locked: u64) -> bool {
    pairs::lock(word, free, locked) && pairs::running(running) == 0
}

/// `Live::exit`, against `Pin::delete`, and against `FdTable::enter` of another thread after a foreign
/// delete.
#[inline(never)]
pub fn probe_exit(running: &AtomicU64, mask: &AtomicU64, me: u64) -> bool {
    pairs::clear_running(running, me);
    pairs::read(mask) == 0 && pairs::running_after_foreign_zero(running) == 0
}

/// `Pin::delete`, against `FdTable::enter` and `Live::exit`.
#[inline(never)]
pub fn probe_delete(running: &AtomicU64, mask: &AtomicU64) -> u64 {
    pairs::clear_mask(mask);
    pairs::running(running)
}

/// `RegistrationRef::want_recv`, against `FdTable::takeover`.
#[inline(never)]
pub fn probe_want(mask: &AtomicU64, state: &AtomicU64, active: u64) -> u64 {
    pairs::activate(state, active);
    pairs::read(mask)
}

/// `FdTable::takeover`, against `RegistrationRef::want_recv`.
#[inline(never)]
pub fn probe_replace(mask: &AtomicU64, state: &AtomicU64, old: u64, me: u64) -> bool {
    pairs::replace_mask(mask, old, me) && pairs::read(state) == 0
}

/// `Live::schedule`, against `Pin::done_update`.
#[inline(never)]
pub fn probe_schedule(updates: &AtomicU64, link: &AtomicU64, threads: u64) -> u64 {
    pairs::set_updates(updates, threads);
    pairs::read(link)
}

/// The end of `UpdateList::remove`, then `Pin::done_update`, against `Live::schedule`.
#[inline(never)]
pub fn probe_unlist(updates: &AtomicU64, link: &AtomicU64, unlinked: u64) -> u64 {
    pairs::unlink(link, unlinked);
    pairs::updates_after_unlink(updates)
}

/// `FdTable::insert`, against `FdTable::close`.
#[inline(never)]
pub fn probe_insert(slot: &AtomicU64, closed: &AtomicBool, free: u64, locked: u64) -> bool {
    pairs::claim(slot, free, locked) && !pairs::is_closed(closed)
}

/// `FdTable::close`, against `FdTable::insert`.
#[inline(never)]
pub fn probe_close(slot: &AtomicU64, closed: &AtomicBool, high_water: &AtomicU32) -> u64 {
    pairs::close(closed);
    u64::from(pairs::bound(high_water)) ^ pairs::read(slot)
}
