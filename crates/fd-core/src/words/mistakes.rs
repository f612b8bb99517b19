//! Wrong operations on a word. Only hooks call them.

use crate::words::group_word::{GroupWord, REFERENCE};
use crate::words::sync::Ordering;

impl GroupWord {
    /// Takes a reference without reading the word.
    pub(crate) fn take_reference(&self) {
        self.0.fetch_add(REFERENCE, Ordering::AcqRel);
    }
}
