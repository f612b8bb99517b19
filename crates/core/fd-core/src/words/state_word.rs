//! The state word of an entry: the flags of [`state`](super::state), and the generation of the registration
//! that has them.
//!
//! ```text
//!  63            32 31             0
//! |   generation   |     flags      |
//! ```
//!
//! The generation is that of the group word, from the claim of the slot on; the end of a registration writes
//! the next one. A thread that holds neither a pin nor its running bit can therefore change the flags of one
//! registration and no other by one compare-and-swap ([`StateWord::change_of`]). All other changes keep the
//! generation as it is.

use crate::words::events::Generation;
use crate::words::pairs;
use crate::words::state::{DELETED, MUST_CLOSE};
use crate::words::sync::{AtomicU64, Ordering};

const GENERATION_SHIFT: u32 = 32;

/// The part of the word that is not flags.
const GENERATION: u64 = u64::MAX << GENERATION_SHIFT;

pub(crate) struct StateWord(AtomicU64);

impl StateWord {
    #[cfg(any(test, loom, shuttle))]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The flags.
    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        flags(self.0.load(order))
    }

    /// Writes the generation and the flags of a slot that this thread has claimed or retired.
    #[inline(always)]
    pub(crate) fn store(&self, generation: Generation, flags: u32, order: Ordering) {
        self.0.store(word(generation, flags), order);
    }

    /// Sets directions active. A read of the thread mask that follows pairs with a takeover.
    #[inline(always)]
    pub(crate) fn activate(&self, active: u32) -> u32 {
        // Pairs: want-takeover, update.
        flags(pairs::activate(&self.0, u64::from(active)))
    }

    /// Sets `set`. Returns the flags before.
    #[inline(always)]
    pub(crate) fn fetch_or(&self, set: u32, order: Ordering) -> u32 {
        flags(self.0.fetch_or(u64::from(set), order))
    }

    /// Keeps only the flags in `kept`. Returns the flags before.
    #[inline(always)]
    pub(crate) fn fetch_and(&self, kept: u32, order: Ordering) -> u32 {
        flags(self.0.fetch_and(GENERATION | u64::from(kept), order))
    }

    /// Takes the close token. Returns whether it was there. It is a read-modify-write in either case: the
    /// delete whose token comes later then sees that this thread has left.
    #[inline(always)]
    pub(crate) fn take_token(&self) -> bool {
        let token = u64::from(MUST_CLOSE);
        fault!(TokenReadFirst => if self.load(Ordering::Acquire) & MUST_CLOSE == 0 { return false });
        // Pair: token.
        self.0.fetch_and(!token, Ordering::AcqRel) & token != 0
    }

    /// As [`AtomicU32::fetch_update`](core::sync::atomic::AtomicU32::fetch_update), of the flags.
    #[inline(always)]
    pub(crate) fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        mut change: impl FnMut(u32) -> Option<u32>,
    ) -> Result<u32, u32> {
        let changed = |before| change(flags(before)).map(|after| before & GENERATION | u64::from(after));
        self.0.fetch_update(set, fetch, changed).map(flags).map_err(flags)
    }

    /// Applies `change` to the flags of the registration of this generation, which may end meanwhile. After a
    /// delete the flags stay as they are: no thread without a pin writes the word of a registration that is
    /// ending. Returns whether the word is that registration's.
    #[inline(always)]
    pub(crate) fn change_of(&self, generation: Generation, change: impl Fn(u32) -> u32) -> bool {
        let mut is_same = true;
        let changed = |before| {
            is_same = word(generation, flags(before)) == before;
            unless!(StateOfAnyGeneration => if !is_same { return None });
            let after = before & GENERATION | u64::from(change(flags(before)));
            (after != before && flags(before) & DELETED == 0).then_some(after)
        };
        // Pair: update.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, changed);
        is_same
    }
}

#[inline(always)]
fn word(generation: Generation, flags: u32) -> u64 {
    u64::from(generation) << GENERATION_SHIFT | u64::from(flags)
}

#[inline(always)]
fn flags(word: u64) -> u32 {
    word as u32
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use Ordering::SeqCst;

    /// The flags and the generation of a word, whose highest bits are set.
    fn of_the_last_generation(flags: u32) -> StateWord {
        let word = StateWord::new();
        word.store(Generation::MAX, flags, SeqCst);
        word
    }

    #[test]
    fn a_change_of_the_flags_keeps_the_generation() {
        let state = of_the_last_generation(0b0110);
        assert_eq!(state.fetch_or(0b1000, SeqCst), 0b0110);
        assert_eq!(state.fetch_and(!0b0010, SeqCst), 0b1110);
        assert_eq!(state.fetch_update(SeqCst, SeqCst, |flags| Some(flags | 1)), Ok(0b1100));
        assert_eq!(state.fetch_update(SeqCst, SeqCst, |_| None), Err(0b1101));
        assert_eq!((state.load(SeqCst), state.0.load(SeqCst)), (0b1101, word(Generation::MAX, 0b1101)));
    }

    #[test]
    fn the_token_is_taken_once() {
        let state = of_the_last_generation(MUST_CLOSE | 1);
        assert!(state.take_token() && !state.take_token());
        assert_eq!(state.0.load(SeqCst), word(Generation::MAX, 1));
    }

    #[test]
    fn a_deleted_registration_keeps_its_flags_as_they_are() {
        let state = of_the_last_generation(DELETED | 1);
        assert!(state.change_of(Generation::MAX, |_| 0));
        assert_eq!(state.load(SeqCst), DELETED | 1);
    }

    #[test]
    fn a_change_of_one_generation_changes_no_other() {
        let state = of_the_last_generation(0b01);
        assert!(!state.change_of(0, |_| 0b10) && !state.change_of(Generation::MAX - 1, |_| 0b10));
        assert_eq!(state.load(SeqCst), 0b01);
        assert!(state.change_of(Generation::MAX, |flags| flags << 1));
        assert!(state.change_of(Generation::MAX, |flags| flags), "without a change, too");
        assert_eq!(state.0.load(SeqCst), word(Generation::MAX, 0b10));
    }
}
