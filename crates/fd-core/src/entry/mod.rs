//! One entry per descriptor number, and what the pollers know of it.

pub mod error;
pub(crate) mod guarded;
mod mistakes;
pub(crate) mod owner;
pub(crate) mod source;
pub(crate) mod zeroed;

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::entry::owner::Registered;
use crate::entry::zeroed::Zeroed;
use crate::words::group_word::GroupWord;
use crate::words::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell, count};
use crate::words::update_list::Link;

/// The entry of one descriptor number: one cache line on 64-bit systems, valid (and free) when zeroed.
///
/// All masks are local to the group in `group`, and mean something only while that is pinned, or to a thread
/// whose own running bit is set (S9).
#[repr(C, align(64))]
pub(crate) struct Entry {
    /// Threads between "I have an event for this" and "I am done with it". A thread sets and clears its own bit
    /// only; a takeover sets it from zero.
    pub(crate) running: AtomicU64,
    /// Threads that may run the handler and poll the descriptor. Zero, once deleted, for the rest of this registration.
    pub(crate) thread_mask: AtomicU64,
    /// Threads whose poller owes this entry a look.
    pub(crate) update_mask: AtomicU64,
    /// Generation, references, lock, group.
    pub(crate) group: GroupWord,
    /// The place in the group's shared update list.
    pub(crate) link: Link,
    owner: UnsafeCell<MaybeUninit<NonNull<dyn Registered>>>,
    /// See [`crate::state`].
    pub(crate) state: AtomicU32,
    /// Changes of owner in this registration ("tkov").
    pub(crate) takeovers: count::AtomicU32,
}

#[cfg(all(target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<Entry>() == 64 && align_of::<Entry>() == 64);

// SAFETY: the only part that is not Sync by itself is the owner. It is written by the one thread that has
// claimed or retired the group word, and read under a pin of the same registration or under a running bit; both
// exclude each other (S5, S10). The owner itself is Send + Sync.
unsafe impl Sync for Entry {}
// SAFETY: as above.
unsafe impl Send for Entry {}

// SAFETY: zero is a valid value of every atomic, and MaybeUninit accepts anything. A free entry owns nothing:
// what a live one owns is given back when its registration ends.
unsafe impl Zeroed for Entry {
    #[cfg(any(loom, shuttle))]
    fn fresh() -> Self {
        Self {
            running: AtomicU64::new(0),
            thread_mask: AtomicU64::new(0),
            update_mask: AtomicU64::new(0),
            group: GroupWord::new(),
            link: Link::new(),
            owner: UnsafeCell::new(MaybeUninit::uninit()),
            state: AtomicU32::new(0),
            takeovers: count::AtomicU32::new(0),
        }
    }
}

impl Entry {
    /// Gives a claimed slot its owner.
    ///
    /// # Safety
    /// The caller has claimed the group word and not published it yet.
    pub(crate) unsafe fn set_owner(&self, owner: Box<dyn Registered>) {
        // SAFETY: Box::into_raw never returns null.
        let pointer = unsafe { NonNull::new_unchecked(Box::into_raw(owner)) };
        // SAFETY: between claim and publish no other thread reads or writes the owner (S10).
        self.owner.with_mut(|owner| unsafe { (*owner).write(pointer) });
    }

    /// The owner.
    ///
    /// # Safety
    /// The caller pins a live entry, or has its running bit set, for as long as it uses the reference (S5).
    pub(crate) unsafe fn owner(&self) -> &dyn Registered {
        // SAFETY: a live entry's owner was written before it was published (Release in publish, Acquire in
        // pin), and is taken out only after the last pin and running bit are gone.
        self.owner.with(|owner| unsafe { (*owner).assume_init().as_ref() })
    }

    /// Takes the owner out of a retired entry.
    ///
    /// # Safety
    /// The caller has retired the group word, and calls this once for this registration.
    pub(crate) unsafe fn take_owner(&self) -> Box<dyn Registered> {
        // SAFETY: no other thread reads it any more (retire waited for them), and the pointer came from
        // Box::into_raw in set_owner.
        self.owner.with_mut(|owner| unsafe { Box::from_raw((*owner).assume_init().as_ptr()) })
    }
}

/// What the threads' pollers know of a descriptor: bit T of a mask says that thread T's poller has it in that
/// direction. Kept beside the entries, which are full.
#[repr(C)]
pub(crate) struct Polled {
    pub(crate) recv: AtomicU64,
    pub(crate) send: AtomicU64,
}

// SAFETY: zero is a valid value of both atomics.
unsafe impl Zeroed for Polled {
    #[cfg(any(loom, shuttle))]
    fn fresh() -> Self {
        Self { recv: AtomicU64::new(0), send: AtomicU64::new(0) }
    }
}

impl Polled {
    /// Writes the bits in `mask`, in each direction. A bit is written by its own thread, or by a retiring or relocating thread
    /// that is alone. Pairs: drain, move. The group word orders these against each other, so relaxed read-modify-writes do.
    pub(crate) fn set(&self, mask: u64, recv: bool, send: bool) {
        fault!(SendBitStays => if !recv && !send { return self.forget_recv(mask) });
        for (word, set) in [(&self.recv, recv), (&self.send, send)] {
            if set {
                word.fetch_or(mask, Ordering::Relaxed);
            } else {
                word.fetch_and(!mask, Ordering::Relaxed);
            }
        }
    }

    /// Replaces both masks by `mask` or nothing. Returns the bits that either had.
    ///
    /// For interest that is shared: several threads may be at it, and each bit is taken out by one of them. A
    /// thread that replaces the bits of another one sees the masks and the state that the other one has seen.
    pub(crate) fn replace(&self, mask: u64, recv: bool, send: bool) -> u64 {
        fault!(SendBitStays => if !recv && !send { return self.take_recv() });
        // Pair: polled.
        let order = ordering!(ReplaceRelaxed, AcqRel);
        [(&self.recv, recv), (&self.send, send)]
            .map(|(word, set)| word.swap(if set { mask } else { 0 }, order))
            .into_iter()
            .fold(0, |all, word| all | word)
    }

    /// Both masks.
    pub(crate) fn load(&self) -> (u64, u64) {
        (self.recv.load(Ordering::Relaxed), self.send.load(Ordering::Relaxed))
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.recv.store(0, Ordering::Relaxed);
        self.send.store(0, Ordering::Relaxed);
    }
}
