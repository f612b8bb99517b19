//! The group word of an entry: its group, the generation of the number, a reference count, and a lock.
//!
//! ```text
//!  63            32 31      16  15  14       0
//! |   generation   | references | L |   group  |
//! ```
//!
//! A reference (a *pin*) keeps the group and the generation unchanged, and with them the meaning of the
//! entry's masks. A registration ends only after its references are gone, and a group changes only while
//! there is none. The generation is in the same word, so that one read-modify-write pins *and* validates: a
//! stale handle never reaches a mask (S7).
//!
//! The lock is held for a constant number of steps: by an insertion, by a change of group, and by the end of
//! a registration. A pin that finds it during a change of group waits, because a failure would lose an event
//! or an update.
//!
//! | group | lock | state of the slot |
//! |---|---|---|
//! | 0 | clear | free |
//! | 0 | set | claimed by an insertion, or retired and about to be free |
//! | set | clear | registered |
//! | set | set | registered, and changing its group or its owner |

use std::os::fd::RawFd;

use crate::words::backoff::Backoff;
use crate::words::events::Generation;
use crate::words::ids::{GroupId, MAX_GROUPS};
use crate::words::pairs;
use crate::words::sync::{AtomicU64, Ordering};

const GENERATION_SHIFT: u32 = 32;
const REFERENCE: u64 = 1 << 16;
const REFERENCES: u64 = 0xffff << 16;
const LOCK: u64 = 1 << 15;
const GROUP: u64 = LOCK - 1;
const NEXT_GENERATION: u64 = 1 << GENERATION_SHIFT;

const _: () = assert!(MAX_GROUPS as u64 <= GROUP);

/// A value of the group word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    /// The group, without the lock bit (suspect 8). `None` if the number is not registered.
    pub(crate) fn group(self) -> Option<GroupId> {
        GroupId::new((self.0 & GROUP) as usize)
    }

    pub(crate) fn generation(self) -> Generation {
        (self.0 >> GENERATION_SHIFT) as Generation
    }

    pub(crate) fn references(self) -> u64 {
        (self.0 & REFERENCES) >> 16
    }

    pub(crate) fn is_locked(self) -> bool {
        self.0 & LOCK != 0
    }

    /// What the word is for a thread of `group` that wants to use the registration of this generation.
    #[cold]
    #[inline(never)]
    fn find(self, generation: Generation, group: GroupId) -> Found {
        if self.group().is_none() || self.generation() != generation {
            return Found::Ended;
        }
        if self.is_locked() {
            unless!(PinIgnoresLock => return Found::Locked);
        }
        fault!(NoGroupCheck => return Found::Here);
        if self.group() == Some(group) { Found::Here } else { Found::Elsewhere }
    }
}

/// What a thread that wants to use a registration finds in the group word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// The registration, in the thread's group.
    Here,
    /// The registration, in another group.
    Elsewhere,
    /// The registration, while it changes its group or its owner.
    Locked,
    /// Another registration, or none.
    Ended,
}

/// The reason why a word could not be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockRefused {
    /// The number is not registered, or its registration is another one.
    Stale,
    /// Another thread holds a reference or the lock.
    Busy,
}

/// The reason why a slot could not be claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClaimRefused {
    /// The slot is registered, claimed, or not yet free.
    InUse,
    /// A pin that came too late for an earlier registration still holds its reference.
    Referenced,
}

pub(crate) struct GroupWord(AtomicU64);

impl GroupWord {
    #[cfg(any(test, loom, shuttle))]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Reads the word without a pin. The value is a hint, for dumps, scans, and the arrays of poll and
    /// select.
    #[inline]
    pub(crate) fn peek(&self) -> Word {
        // Pair: publish. A word with a group shows a completely written entry.
        Word(pairs::read(&self.0))
    }

    /// The generation, for the thread that has claimed or retired the slot. It has read or written the
    /// generation itself, and no other thread changes it meanwhile.
    #[inline(always)]
    pub(crate) fn own_generation(&self) -> Generation {
        // No pair: as an acquire load, it would hide a drain that orders too little from the models.
        Word(self.0.load(Ordering::Relaxed)).generation()
    }

    /// Reads the word without a pin, for a thread of `group` that wants to use the registration of this
    /// generation.
    #[inline(always)]
    pub(crate) fn find(&self, generation: Generation, group: GroupId) -> Found {
        // Pairs: publish, move, enter-move.
        let word = Word(pairs::read(&self.0));
        // The usual answer needs one comparison.
        if word.0 & !REFERENCES == u64::from(generation) << GENERATION_SHIFT | group.bits() {
            return Found::Here;
        }
        word.find(generation, group)
    }

    /// Takes a reference and returns the pinned word, if the word has a group and `wanted` accepts it
    /// (protocol 2).
    ///
    /// The word is read before the reference is added, so a call that is already stale adds none. Any number
    /// of stale calls therefore cannot delay the end of a registration or the next insertion (L7). A call
    /// that becomes stale between the read and the addition delays them once.
    ///
    /// While the entry is changing groups the call waits, unless `wanted` refuses the locked word. A caller
    /// that needs a certain group must therefore accept every group while the word is locked. `fd` is the
    /// entry's number, for the checkpoints.
    #[inline]
    pub(crate) fn pin(&self, fd: RawFd, wanted: impl Fn(Word) -> bool) -> Option<Word> {
        let fits = |word: Word| word.group().is_some() && wanted(word);
        let is_stale = !fits(self.peek());
        fault!(StaleCallTakesReference: is_stale => false);
        if is_stale {
            checkpoint!(PinRefused, fd);
            return None;
        }
        // Pairs: publish, move, drain. The addition precedes every read of a mask, and the end of a
        // registration waits until the reference is released (S5, S9).
        let mut word = Word(self.0.fetch_add(REFERENCE, ordering!(PinRelaxed, AcqRel)));
        invariant!(word.references() < 0xffff, "S12: the reference count of a group word overflows");
        let mut backoff = Backoff::default();
        loop {
            // A word without a group is free, claimed or retired. The thread that retires it waits for this
            // very reference, so this thread must not wait.
            if !fits(word) {
                break;
            }
            fault!(PinIgnoresLock => return Some(word));
            if !word.is_locked() {
                return Some(word);
            }
            if backoff.rounds() == 0 {
                checkpoint!(PinWaits, fd);
            }
            backoff.wait();
            word = self.peek();
        }
        checkpoint!(PinRefused, fd);
        self.unpin();
        None
    }

    /// Releases a reference.
    #[inline]
    pub(crate) fn unpin(&self) {
        // Pairs: drain, move. Accesses under the pin precede the release; the thread that retires or locks
        // the word acquires it when it reads a count of zero.
        let word = Word(self.0.fetch_sub(REFERENCE, ordering!(UnpinRelaxed, AcqRel)));
        invariant!(word.references() > 0, "S12: a group word is unpinned more often than it was pinned");
    }

    /// Locks a free slot for a new registration. Waits for late references of the previous registration.
    /// Returns the generation of the new registration, or `None` if the slot is not free.
    #[inline]
    pub(crate) fn claim(&self) -> Option<Generation> {
        let mut backoff = Backoff::default();
        loop {
            match self.try_claim() {
                Ok(generation) => return Some(generation),
                Err(ClaimRefused::InUse) => return None,
                Err(ClaimRefused::Referenced) => backoff.wait(),
            }
        }
    }

    #[inline]
    pub(crate) fn try_claim(&self) -> Result<Generation, ClaimRefused> {
        let word = self.peek();
        if word.group().is_some() || word.is_locked() {
            return Err(ClaimRefused::InUse);
        }
        if word.references() != 0 {
            return Err(ClaimRefused::Referenced);
        }
        // Pairs: insert-close, drain.
        if pairs::claim(&self.0, word.0, word.0 | LOCK) {
            Ok(word.generation())
        } else {
            Err(ClaimRefused::Referenced)
        }
    }

    /// Whether the slot is claimed and not yet published, or retired and not yet free.
    pub(crate) fn is_claimed_or_retired(&self) -> bool {
        let word = Word(pairs::read(&self.0));
        word.group().is_none() && word.is_locked()
    }

    /// Completes a claim: gives the slot to `group` and unlocks it. Everything else of the registration is
    /// written before, so a late thread never sees a part of the entry.
    #[inline]
    pub(crate) fn publish(&self, group: GroupId) {
        // Pair: publish. The lock is set and the group is zero, so one xor changes both and keeps the
        // references of late pins.
        let word = Word(self.0.fetch_xor(LOCK | group.bits(), ordering!(PublishRelaxed, AcqRel)));
        invariant!(word.is_locked() && word.group().is_none());
    }

    /// Locks the registration of the given generation, if it has no reference. The lock comes with a
    /// reference.
    pub(crate) fn lock(&self, generation: Generation) -> Result<Word, LockRefused> {
        let word = self.peek();
        if word.group().is_none() || word.generation() != generation {
            return Err(LockRefused::Stale);
        }
        if word.references() != 0 || word.is_locked() {
            return Err(LockRefused::Busy);
        }
        // Pairs: move, enter-move.
        if pairs::lock(&self.0, word.0, (word.0 | LOCK) + REFERENCE) {
            Ok(word)
        } else {
            Err(LockRefused::Busy)
        }
    }

    /// Releases the lock and its reference, and sets the group to `group`.
    pub(crate) fn unlock(&self, from: GroupId, group: GroupId) {
        // Pair: move. While the lock is held only the count changes, so one subtraction changes the lock, the
        // reference and the group. Release publishes the masks that were rewritten for the new group.
        let delta = (LOCK + REFERENCE + from.bits()).wrapping_sub(group.bits());
        let word = Word(self.0.fetch_sub(delta, Ordering::AcqRel));
        invariant!(word.is_locked() && word.group() == Some(from));
    }

    /// Ends the registration of `group`: begins the next generation, locked and without a group, and releases
    /// the caller's reference. No pin succeeds from now on. Returns when the last reference is gone; the
    /// caller is alone with the entry then.
    #[inline]
    pub(crate) fn retire(&self, group: GroupId) {
        // Pair: drain. The caller's reference keeps the lock and the group unchanged, so one addition changes
        // everything, whatever happens to the count meanwhile. The generation has the highest bits, and
        // wraps.
        let delta = NEXT_GENERATION.wrapping_add(LOCK).wrapping_sub(REFERENCE).wrapping_sub(group.bits());
        let word = Word(self.0.fetch_add(delta, Ordering::AcqRel));
        invariant!(!word.is_locked() && word.references() > 0, "S4: a registration is ended twice");
        invariant!(word.group() == Some(group), "S9: a registration is ended in another group");
        if word.references() > 1 {
            self.drain();
        }
    }

    /// Waits until the last reference of a retired registration is gone.
    #[cold]
    #[inline(never)]
    fn drain(&self) {
        let mut backoff = Backoff::default();
        // Pair: drain. Acquire, for the release of each unpin.
        while Word(self.0.load(ordering!(DrainRelaxed, Acquire))).references() != 0 {
            backoff.wait();
        }
    }

    /// Ends a registration, or what remains of one, after a fork. The slot is locked and has no group, as
    /// after [`GroupWord::retire`]. Only the single thread of a forked child may call this.
    pub(crate) fn retire_after_fork(&self) {
        let generation = u64::from(self.peek().generation().wrapping_add(1));
        self.0.store(generation << GENERATION_SHIFT | LOCK, Ordering::Relaxed);
    }

    /// Releases the references and the lock of threads that do not exist after a fork. Only the single thread
    /// of a forked child may call this.
    pub(crate) fn release_after_fork(&self) {
        self.0.store(self.peek().0 & !(REFERENCES | LOCK), Ordering::Relaxed);
    }

    /// Makes a retired or claimed slot free.
    #[inline]
    pub(crate) fn free(&self) {
        // Pair: drain. Only the lock is subtracted, because late pins can add and release references
        // meanwhile.
        let word = Word(self.0.fetch_sub(LOCK, Ordering::AcqRel));
        invariant!(word.is_locked() && word.group().is_none());
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn group(number: usize) -> GroupId {
        GroupId::new(number).unwrap()
    }

    fn registered(number: usize) -> GroupWord {
        let word = GroupWord::new();
        word.claim().unwrap();
        word.publish(group(number));
        word
    }

    #[test]
    fn a_free_slot_cannot_be_pinned_and_can_be_claimed_once() {
        let word = GroupWord::new();
        assert!(word.pin(0, |_| true).is_none());
        assert_eq!(word.claim(), Some(0));
        assert_eq!(word.claim(), None, "claimed twice");
        word.publish(group(3));
        assert_eq!(word.peek().group(), Some(group(3)));
        assert_eq!(word.claim(), None, "claimed while in use");
        assert_eq!(word.peek().references(), 0, "S12");
    }

    #[test]
    fn a_refused_pin_leaves_no_reference() {
        let word = registered(1);
        assert!(word.pin(0, |w| w.generation() == 7).is_none());
        assert_eq!(word.peek().references(), 0, "S12, bug 57");
        assert!(word.pin(0, |w| w.generation() == 0).is_some());
        assert_eq!(word.peek().references(), 1);
        word.unpin();
    }

    #[test]
    fn the_lock_is_refused_under_a_reference_and_for_another_registration() {
        let word = registered(1);
        word.pin(0, |_| true).unwrap();
        assert_eq!(word.lock(0).err(), Some(LockRefused::Busy));
        word.unpin();
        assert_eq!(word.lock(1).err(), Some(LockRefused::Stale));
        assert!(word.lock(0).is_ok());
        assert_eq!(word.lock(0).err(), Some(LockRefused::Busy));
        assert_eq!(word.peek().group(), Some(group(1)), "suspect 8: the lock bit is not part of the group");
    }

    #[test]
    fn unlocking_moves_to_the_new_group_in_either_direction() {
        for (from, to) in [(1, 2), (2, 1), (1, MAX_GROUPS), (5, 5)] {
            let word = registered(from);
            word.lock(0).unwrap();
            word.unlock(group(from), group(to));
            let now = word.peek();
            assert_eq!((now.group(), now.is_locked(), now.references()), (Some(group(to)), false, 0));
        }
    }

    #[test]
    fn a_registration_ends_with_the_next_generation() {
        let word = registered(1);
        word.pin(0, |_| true).unwrap();
        word.retire(group(1));
        assert!(word.pin(0, |w| w.generation() == 0).is_none());
        assert_eq!(word.claim(), None, "the number is still open");
        word.free();
        assert_eq!(word.claim(), Some(1));
    }
}
