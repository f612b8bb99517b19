//! What no correct code does to a word.

use crate::words::group_word::{GroupWord, REFERENCE};
use crate::words::sync::Ordering;

impl GroupWord {
    /// Takes a reference without a look at the word.
    pub(crate) fn take_reference(&self) {
        self.0.fetch_add(REFERENCE, Ordering::AcqRel);
    }
}
