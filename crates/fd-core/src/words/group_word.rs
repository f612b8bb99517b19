//! The group word: which group an entry belongs to, which registration of the number this is, and how many threads are
//! looking.
//!
//! ```text
//!  63            32 31      16  15  14       0
//! |   generation   | references | L |   group  |
//! ```
//!
//! A reference (a *pin*) keeps group and generation as they are, and with them the meaning of the entry's
//! masks: a registration is ended, and a group changed, only by somebody who has seen zero references. The
//! generation is in the same word so that one read-modify-write pins *and* validates: a stale handle never
//! gets as far as a mask. The lock is held for a constant number of steps, by insert, by a change of group and
//! by the end of a registration; who finds it waits, because failing would lose an event or an update.

use std::os::fd::RawFd;

use crate::words::backoff::Backoff;
use crate::words::events::Generation;
use crate::words::ids::{GroupId, MAX_GROUPS};
use crate::words::pairs;
use crate::words::sync::{AtomicU64, Ordering};

const GENERATION_SHIFT: u32 = 32;
pub(super) const REFERENCE: u64 = 1 << 16;
const REFERENCES: u64 = 0xffff << 16;
const LOCK: u64 = 1 << 15;
const GROUP: u64 = LOCK - 1;
const NEXT_GENERATION: u64 = 1 << GENERATION_SHIFT;

const _: () = assert!(MAX_GROUPS as u64 <= GROUP);

/// A value of the word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    /// The group without the lock bit (suspect 8). `None`: the number belongs to nobody.
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
}

/// Why a word could not be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockRefused {
    /// Another registration, or nobody's.
    Stale,
    /// Somebody holds a reference or the lock.
    Busy,
}

/// Why a slot could not be claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClaimRefused {
    /// A registration has it, or is about to.
    InUse,
    /// A visitor of an earlier registration has not left yet.
    Visited,
}

pub(crate) struct GroupWord(pub(super) AtomicU64);

impl GroupWord {
    #[cfg(any(test, loom, shuttle))]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A look without a pin: a hint, for dumps, scans, and the arrays of poll and select.
    #[inline]
    pub(crate) fn peek(&self) -> Word {
        // Pair: publish. A live word shows a whole entry.
        Word(pairs::read(&self.0))
    }

    /// Takes a reference and returns the word that it pins, if `wanted` accepts it.
    ///
    /// Looks before it adds: a stale call leaves no trace, so stale calls cannot hold up the end of a registration or the next
    /// insertion, however many there are (L7). A caller that looked in time and adds too late does so once.
    ///
    /// Waits while the entry is changing groups, unless `wanted` already rules the word out as it is. A
    /// caller that wants a certain group must therefore accept every group while the word is locked. `fd` is
    /// the number whose word this is, for the checkpoints.
    #[inline]
    pub(crate) fn pin(&self, fd: RawFd, wanted: impl Fn(Word) -> bool) -> Option<Word> {
        let fits = |word: Word| word.group().is_some() && wanted(word);
        let is_stale = !fits(self.peek());
        fault!(StaleCallTakesReference: is_stale => false);
        if is_stale {
            checkpoint!(PinRefused, fd);
            return None;
        }
        // Pairs: publish, move, drain. The addition precedes every look at a mask, and the end of a registration waits for it to
        // be taken back (S5, S9).
        let mut word = Word(self.0.fetch_add(REFERENCE, ordering!(PinRelaxed, AcqRel)));
        invariant!(word.references() < 0xffff, "the reference count of a group word overflows");
        let mut backoff = Backoff::default();
        loop {
            // No registration's: free, about to be published, or about to be closed by a thread that waits
            // for this very reference to go away. Only a change of group is worth waiting for.
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

    /// Gives a reference back.
    #[inline]
    pub(crate) fn unpin(&self) {
        // Pairs: drain, move. What was done under the pin is over before a closer or a mover sees the count at zero.
        let word = Word(self.0.fetch_sub(REFERENCE, ordering!(UnpinRelaxed, AcqRel)));
        invariant!(word.references() > 0, "a group word was unpinned once too often (S12)");
    }

    /// Takes a free slot for a new registration: locks it once the visitors of the last one have left. Fails if the slot is
    /// not free. Returns the generation of the registration to come.
    pub(crate) fn claim(&self) -> Option<Generation> {
        let mut backoff = Backoff::default();
        loop {
            match self.try_claim() {
                Ok(generation) => return Some(generation),
                Err(ClaimRefused::InUse) => return None,
                Err(ClaimRefused::Visited) => backoff.wait(),
            }
        }
    }

    pub(crate) fn try_claim(&self) -> Result<Generation, ClaimRefused> {
        let word = self.peek();
        if word.group().is_some() || word.is_locked() {
            return Err(ClaimRefused::InUse);
        }
        if word.references() != 0 {
            return Err(ClaimRefused::Visited);
        }
        // Pairs: insert-close, drain.
        if pairs::claim(&self.0, word.0, word.0 | LOCK) {
            Ok(word.generation())
        } else {
            Err(ClaimRefused::Visited)
        }
    }

    /// Whether the slot is being given to a registration or taken from one.
    pub(crate) fn is_claimed_or_retired(&self) -> bool {
        let word = Word(pairs::read(&self.0));
        word.group().is_none() && word.is_locked()
    }

    /// Ends a claim by giving the slot to `group`. Everything about the new registration is written before this, so a
    /// late thread never sees half an entry.
    pub(crate) fn publish(&self, group: GroupId) {
        // Pair: publish. The lock is set and the group is zero, so one xor changes both and keeps visitors' references.
        let word = Word(self.0.fetch_xor(LOCK | group.bits(), ordering!(PublishRelaxed, AcqRel)));
        invariant!(word.is_locked() && word.group().is_none());
    }

    /// Locks a live word of the given generation on which nobody else has a reference. Takes a reference, too.
    pub(crate) fn lock(&self, generation: Generation) -> Result<Word, LockRefused> {
        let word = self.peek();
        if word.group().is_none() || word.generation() != generation {
            return Err(LockRefused::Stale);
        }
        if word.references() != 0 || word.is_locked() {
            return Err(LockRefused::Busy);
        }
        // Pair: move. Acquire: the mover sees what the last pin did.
        match self.0.compare_exchange(
            word.0,
            (word.0 | LOCK) + REFERENCE,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            Ok(_) => Ok(word),
            Err(_) => Err(LockRefused::Busy),
        }
    }

    /// Gives the lock and its reference back, in `group`.
    pub(crate) fn unlock(&self, from: GroupId, group: GroupId) {
        // Nobody else changes anything but the count while the lock is held: one subtraction does it all.
        // Pair: move. Release publishes the masks that were rewritten for the new group.
        let delta = (LOCK + REFERENCE + from.bits()).wrapping_sub(group.bits());
        let word = Word(self.0.fetch_sub(delta, Ordering::AcqRel));
        invariant!(word.is_locked() && word.group() == Some(from));
    }

    /// Ends the registration of `group`: the next generation begins, nobody's and locked, and the caller's own reference is
    /// given back. From here on no pin succeeds. Returns once the last of the others has left: then the caller is alone with
    /// the entry.
    pub(crate) fn retire(&self, group: GroupId) {
        // The caller's reference keeps lock and group as they are, so one addition changes everything, whatever other callers
        // do to the count meanwhile. The generation is on top and wraps.
        // Pair: drain.
        let delta = NEXT_GENERATION.wrapping_add(LOCK).wrapping_sub(REFERENCE).wrapping_sub(group.bits());
        let word = Word(self.0.fetch_add(delta, Ordering::AcqRel));
        invariant!(!word.is_locked() && word.references() > 0, "S4: a registration is ended twice");
        invariant!(word.group() == Some(group), "S9: a registration is ended in another group");
        let mut backoff = Backoff::default();
        // Pair: drain. Acquire: pairs with the release of every unpin.
        while Word(self.0.load(ordering!(DrainRelaxed, Acquire))).references() != 0 {
            backoff.wait();
        }
    }

    /// Ends a registration, or what was left of one, whatever the threads were doing that the fork left behind. The slot is
    /// locked and nobody's, as after [`GroupWord::retire`]. For the only thread of a forked child.
    pub(crate) fn retire_after_fork(&self) {
        let generation = u64::from(self.peek().generation().wrapping_add(1));
        self.0.store(generation << GENERATION_SHIFT | LOCK, Ordering::Relaxed);
    }

    /// Drops the references and the lock of the threads that a fork left behind. For the only thread of a forked child.
    pub(crate) fn release_after_fork(&self) {
        self.0.store(self.peek().0 & !(REFERENCES | LOCK), Ordering::Relaxed);
    }

    /// Makes a retired slot free for the next registration.
    pub(crate) fn free(&self) {
        // Pair: drain. A late visitor's reference may come and go meanwhile: subtract the lock only.
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

    fn live(number: usize) -> GroupWord {
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
        let word = live(1);
        assert!(word.pin(0, |w| w.generation() == 7).is_none());
        assert_eq!(word.peek().references(), 0, "S12, bug 57");
        assert!(word.pin(0, |w| w.generation() == 0).is_some());
        assert_eq!(word.peek().references(), 1);
        word.unpin();
    }

    #[test]
    fn the_lock_is_refused_under_a_reference_and_for_another_registration() {
        let word = live(1);
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
            let word = live(from);
            word.lock(0).unwrap();
            word.unlock(group(from), group(to));
            let now = word.peek();
            assert_eq!((now.group(), now.is_locked(), now.references()), (Some(group(to)), false, 0));
        }
    }

    #[test]
    fn a_registration_ends_with_the_next_generation() {
        let word = live(1);
        word.pin(0, |_| true).unwrap();
        word.retire(group(1));
        assert!(word.pin(0, |w| w.generation() == 0).is_none());
        assert_eq!(word.claim(), None, "the number is still open");
        word.free();
        assert_eq!(word.claim(), Some(1));
    }
}
