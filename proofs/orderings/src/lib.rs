//! Each side of fd-core's Dekker pairs as one function, in the order of the protocol, with the source files
//! of the protocol: the one table of what the instructions must keep in order.
//!
//! `ci/proofs.sh orderings` compiles this library for other processors, and `main.rs` checks the
//! instructions. It needs only `core`, so that no standard library has to be built for those targets.
#![no_std]

// The hooks of the pairs. The fences are the steps that a mistake omits.
macro_rules! unless {
    ($name:ident => $step:expr) => {
        if !cfg!(feature = "no-fences") {
            $step;
        }
    };
}
macro_rules! ordering {
    ($name:ident, $strong:ident) => {
        Ordering::$strong
    };
}

#[path = "../../../crates/core/fd-core/src/words/pairs.rs"]
mod pairs;
/// What unit tests count in fd-core.
#[cfg(test)]
mod counted {
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, fence};
}
#[expect(dead_code, unused_imports, reason = "the pairs need a few of the primitives")]
#[path = "../../../crates/core/fd-core/src/words/sync.rs"]
mod primitives;
mod sync {
    #[cfg(not(feature = "plain-stores"))]
    pub(crate) use super::primitives::{AtomicBool, AtomicU32, AtomicU64};
    pub(crate) use super::primitives::{Ordering, fence, fence_after_rmw};
    #[cfg(feature = "plain-stores")]
    pub(crate) use super::stores::{AtomicBool, AtomicU32, AtomicU64};
}
#[cfg(feature = "plain-stores")]
mod stores;

use sync::{AtomicBool, AtomicU32, AtomicU64};

/// A step of a side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The write of the side's own word.
    Write,
    /// The fence.
    Fence,
    /// A read of the other side's word, or of both.
    Read,
}

/// One side.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The name of its function: `probe_` and the name of the side.
    pub function: &'static str,
    /// Its accesses, in order.
    pub steps: &'static [Step],
}

macro_rules! sides {
    ($(
        $(#[$doc:meta])*
        [$($step:ident)+] fn $function:ident($($parameter:ident: $type:ty),*) -> $result:ty $body:block
    )*) => {
        /// Every side, in the order of the protocol.
        pub const SIDES: &[Side] =
            &[$(Side { function: stringify!($function), steps: &[$(Step::$step),+] }),*];

        $(
            $(#[$doc])*
            #[inline(never)]
            pub fn $function($($parameter: $type),*) -> $result $body
        )*
    };
}

sides! {
    /// `FdTable::enter`, against `Pin::delete` and `FdTable::relocate`.
    [Write Fence Read Read Read]
    fn probe_enter(running: &AtomicU64, word: &AtomicU64, mask: &AtomicU64, me: u64) -> u64 {
        pairs::set_running(running, me);
        pairs::read(word) ^ pairs::running(running) ^ pairs::read(mask)
    }

    /// `FdTable::takeover`, against `Pin::delete` and `FdTable::relocate`.
    [Write Fence Read Read]
    fn probe_takeover(running: &AtomicU64, word: &AtomicU64, mask: &AtomicU64, me: u64) -> u64 {
        if !pairs::win_running(running, me) {
            return 0;
        }
        pairs::read(word) ^ pairs::read(mask)
    }

    /// `FdTable::relocate`, against `FdTable::enter`.
    [Write Fence Read]
    fn probe_relocate(word: &AtomicU64, running: &AtomicU64, free: u64, locked: u64) -> bool {
        pairs::lock(word, free, locked) && pairs::running(running) == 0
    }

    /// `Live::exit`, against `Pin::delete`, and against `FdTable::enter` of another thread after a foreign
    /// delete.
    [Write Fence Read Fence Read]
    fn probe_exit(running: &AtomicU64, mask: &AtomicU64, me: u64) -> bool {
        pairs::clear_running(running, me);
        pairs::read(mask) == 0 && pairs::running_after_foreign_zero(running) == 0
    }

    /// `Pin::delete`, against `FdTable::enter` and `Live::exit`.
    [Write Fence Read]
    fn probe_delete(running: &AtomicU64, mask: &AtomicU64) -> u64 {
        pairs::clear_mask(mask);
        pairs::running(running)
    }

    /// `RegistrationRef::want_recv`, against `FdTable::takeover`.
    [Write Fence Read]
    fn probe_want(mask: &AtomicU64, state: &AtomicU64, active: u64) -> u64 {
        pairs::activate(state, active);
        pairs::read(mask)
    }

    /// `FdTable::takeover`, against `RegistrationRef::want_recv`.
    [Write Fence Read]
    fn probe_replace(mask: &AtomicU64, state: &AtomicU64, old: u64, me: u64) -> bool {
        pairs::replace_mask(mask, old, me) && pairs::read(state) == 0
    }

    /// `Live::schedule`, against `Pin::done_update`.
    [Write Fence Read]
    fn probe_schedule(updates: &AtomicU64, link: &AtomicU64, threads: u64) -> u64 {
        pairs::set_updates(updates, threads);
        pairs::read(link)
    }

    /// The end of `UpdateList::remove`, then `Pin::done_update`, against `Live::schedule`.
    [Write Fence Read]
    fn probe_unlist(updates: &AtomicU64, link: &AtomicU64, unlinked: u64) -> u64 {
        pairs::unlink(link, unlinked);
        pairs::updates_after_unlink(updates)
    }

    /// `FdTable::insert`, against `FdTable::close`.
    [Write Fence Read]
    fn probe_insert(slot: &AtomicU64, closed: &AtomicBool, free: u64, locked: u64) -> bool {
        pairs::claim(slot, free, locked) && !pairs::is_closed(closed)
    }

    /// `FdTable::close`, against `FdTable::insert`.
    [Write Fence Read Read]
    fn probe_close(slot: &AtomicU64, closed: &AtomicBool, high_water: &AtomicU32) -> u64 {
        pairs::close(closed);
        u64::from(pairs::bound(high_water)) ^ pairs::read(slot)
    }
}
