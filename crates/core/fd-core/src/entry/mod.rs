//! The entry of a descriptor number, and its polled masks.

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
use crate::words::state_word::StateWord;
use crate::words::sync::{AtomicU64, Ordering, UnsafeCell};
use crate::words::update_list::Link;

/// The entry of one descriptor number: one cache line on 64-bit systems. A zeroed entry is valid and free.
///
/// All masks are local to the group in `group`. They have a meaning only while that word is pinned, or for a
/// thread whose own running bit is set (S9).
#[repr(C, align(64))]
pub(crate) struct Entry {
    /// The threads that use the entry. A thread sets and clears its own bit only. A takeover sets its bit
    /// only if no other bit is set.
    pub(crate) running: AtomicU64,
    /// The threads that may run the handler and poll the descriptor. Zero after a delete, until the
    /// registration ends.
    pub(crate) thread_mask: AtomicU64,
    /// The threads with a pending update of this entry.
    pub(crate) update_mask: AtomicU64,
    /// Generation, references, lock, group.
    pub(crate) group: GroupWord,
    /// The place in the group's shared update list.
    pub(crate) link: Link,
    owner: UnsafeCell<MaybeUninit<NonNull<dyn Registered>>>,
    /// Interest, readiness and flags, with the generation: see [`crate::words::state`].
    pub(crate) state: StateWord,
}

#[cfg(all(target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<Entry>() == 64 && align_of::<Entry>() == 64);

// SAFETY: only the owner is not Sync by itself. The thread that has claimed or retired the group word writes
// it. Other threads read it under a pin of the same registration or under a running bit. Writes and reads
// exclude each other (S5, S10), and the owner itself is Send + Sync.
unsafe impl Sync for Entry {}
// SAFETY: as above.
unsafe impl Send for Entry {}

// SAFETY: zero is a valid value of every atomic, and MaybeUninit accepts all bits. A free entry owns nothing:
// the end of a registration takes the owner out.
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
            state: StateWord::new(),
        }
    }
}

impl Entry {
    /// Writes the flags of a slot that this thread has claimed or retired, with the generation of the slot.
    #[inline(always)]
    pub(crate) fn write_flags(&self, flags: u32) {
        // Pairs: publish, drain.
        self.state.store(self.group.own_generation(), flags, Ordering::Release);
    }

    /// Gives a claimed slot its owner.
    ///
    /// # Safety
    /// The caller has claimed the group word and not published it yet.
    pub(crate) unsafe fn set_owner(&self, owner: Box<dyn Registered>) {
        // SAFETY: Box::into_raw never returns null.
        let pointer = unsafe { NonNull::new_unchecked(Box::into_raw(owner)) };
        // SAFETY: between claim and publication, no other thread reads or writes the owner (S10).
        self.owner.with_mut(|owner| unsafe { (*owner).write(pointer) });
    }

    /// The owner.
    ///
    /// # Safety
    /// The caller pins a live entry, or has its running bit set, for as long as it uses the reference (S5).
    pub(crate) unsafe fn owner(&self) -> &dyn Registered {
        // SAFETY: the owner was written before the entry was published (release in `publish`, acquire in
        // `pin`). It is taken out only after the last pin and running bit are gone.
        self.owner.with(|owner| unsafe { (*owner).assume_init().as_ref() })
    }

    /// Takes the owner out of a retired entry.
    ///
    /// # Safety
    /// The caller has retired the group word, and calls this once for this registration.
    pub(crate) unsafe fn take_owner(&self) -> Box<dyn Registered> {
        // SAFETY: `retire` has waited for all readers, and `set_owner` made the pointer with Box::into_raw.
        self.owner.with_mut(|owner| unsafe { Box::from_raw((*owner).assume_init().as_ptr()) })
    }
}

/// The threads whose poller has a descriptor: bit T of a mask stands for thread T's poller and one direction.
/// It is beside the entries, because an entry has no room left in its cache line.
#[repr(C)]
pub(crate) struct Polled {
    pub(crate) recv: AtomicU64,
    pub(crate) send: AtomicU64,
}

#[cfg(not(any(loom, shuttle)))]
const _: () = assert!(size_of::<Polled>() == 16);

/// The time of a registration's timeout, in nanoseconds since the core was made. Zero is none. It is beside
/// the entries, so that registrations without a timeout need no memory for it.
#[repr(transparent)]
pub(crate) struct Timeout(pub(crate) AtomicU64);

// SAFETY: zero is a valid value of the atomic.
unsafe impl Zeroed for Timeout {
    #[cfg(any(loom, shuttle))]
    fn fresh() -> Self {
        Self(AtomicU64::new(0))
    }
}

// SAFETY: zero is a valid value of both atomics.
unsafe impl Zeroed for Polled {
    #[cfg(any(loom, shuttle))]
    fn fresh() -> Self {
        Self { recv: AtomicU64::new(0), send: AtomicU64::new(0) }
    }
}

impl Polled {
    /// Writes the bits of `mask` in each direction. Each thread writes its own bit; a thread that retires or
    /// relocates the entry is alone with it. Pairs: drain, move. The group word orders both cases, so relaxed
    /// accesses are enough.
    pub(crate) fn set(&self, mask: u64, recv: bool, send: bool) {
        fault!(SendBitStays => if !recv && !send { return self.forget_recv(mask) });
        for (word, set) in [(&self.recv, recv), (&self.send, send)] {
            // Only this thread changes these bits, so a read tells whether they have to change.
            let before = word.load(Ordering::Relaxed) & mask;
            if set && before != mask {
                word.fetch_or(mask, Ordering::Relaxed);
            } else if !set && before != 0 {
                word.fetch_and(!mask, Ordering::Relaxed);
            }
        }
    }

    /// Replaces both masks by `mask` or nothing. Returns the bits that either had.
    ///
    /// For shared interest: several threads may replace the masks, and each bit is taken out by one of them.
    /// A thread that takes out the bits of another thread sees the masks and the state that the other thread
    /// has seen.
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

    /// Clears both masks.
    pub(crate) fn clear(&self) {
        self.recv.store(0, Ordering::Relaxed);
        self.send.store(0, Ordering::Relaxed);
    }
}
