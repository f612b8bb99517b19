//! Pins: the right to look at an entry's masks.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable};
use crate::entry::error::Stale;
use crate::entry::owner::{OwnerId, Registered};
use crate::entry::{Entry, Polled};
use crate::words::backoff::Backoff;
use crate::words::events::Generation;
use crate::words::group_word::Word;
use crate::words::ids::{GroupId, ThreadMask};
use crate::words::pairs;
use crate::words::sync::Ordering;

/// A reference on a live entry's group word: while it exists, group and generation stay, so masks mean what they
/// say, and the number cannot be closed. Held for a constant number of steps, never over a handler.
pub(crate) struct Pin<'t> {
    table: &'t FdTable,
    fd: RawFd,
    word: Word,
    group: GroupId,
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.entry().group.unpin();
    }
}

impl<'t> Pin<'t> {
    pub(crate) fn table(&self) -> &'t FdTable {
        self.table
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.fd
    }

    pub(crate) fn group(&self) -> GroupId {
        self.group
    }

    pub(crate) fn generation(&self) -> Generation {
        self.word.generation()
    }

    pub(crate) fn handle(&self) -> FdHandle {
        self.table.handle(self.fd, self.generation())
    }

    pub(crate) fn entry(&self) -> &'t Entry {
        &self.table.entries[self.fd as usize]
    }

    pub(crate) fn polled(&self) -> &'t Polled {
        &self.table.polled[self.fd as usize]
    }

    pub(crate) fn thread_mask(&self) -> ThreadMask {
        ThreadMask::from_bits(pairs::read(&self.entry().thread_mask))
    }

    pub(crate) fn running(&self) -> ThreadMask {
        ThreadMask::from_bits(pairs::running(&self.entry().running))
    }

    /// The threads whose poller has an update of this entry pending.
    pub(super) fn pending(&self) -> ThreadMask {
        // Pair: update.
        ThreadMask::from_bits(self.entry().update_mask.load(Ordering::Acquire))
    }

    pub(crate) fn state(&self) -> u32 {
        // Pairs: update, polled.
        self.entry().state.load(Ordering::Acquire)
    }

    pub(crate) fn owner(&self) -> &dyn Registered {
        // SAFETY: pinned (S5).
        unsafe { self.entry().owner() }
    }

    pub(crate) fn owner_id(&self) -> OwnerId {
        self.owner().id()
    }

    /// Keeps the reference without the guard: the thread that retires or unlocks the word gives it back.
    pub(super) fn into_raw(self) -> (&'t FdTable, RawFd, GroupId) {
        let parts = (self.table, self.fd, self.group);
        std::mem::forget(self);
        parts
    }
}

impl FdTable {
    /// Pins the registration that `handle` names.
    #[inline]
    pub(crate) fn pin(&self, handle: FdHandle) -> Result<Pin<'_>, Stale> {
        self.check_table(handle)?;
        fault!(StaleHandleAccepted => return self.pin_any(handle.fd).ok_or(handle.stale()));
        self.pin_if(handle.fd, |word| word.generation() == handle.generation).ok_or(handle.stale())
    }

    /// Refuses a handle of another table.
    #[inline]
    pub(super) fn check_table(&self, handle: FdHandle) -> Result<(), Stale> {
        fault!(HandleFitsAnyTable => return Ok(()));
        if handle.table == self.id { Ok(()) } else { Err(handle.stale()) }
    }

    /// Pins whatever registration of `fd` belongs to `group`.
    pub(crate) fn pin_in(&self, group: GroupId, fd: RawFd) -> Option<Pin<'_>> {
        // While it is locked it may be on its way to `group`.
        self.pin_if(fd, |word| word.is_locked() || word.group() == Some(group))
    }

    /// Pins whatever registration of `fd` there is.
    pub(crate) fn pin_any(&self, fd: RawFd) -> Option<Pin<'_>> {
        self.pin_if(fd, |_| true)
    }

    #[inline]
    fn pin_if(&self, fd: RawFd, wanted: impl Fn(Word) -> bool) -> Option<Pin<'_>> {
        let word = self.entry(fd)?.group.pin(fd, wanted)?;
        // pin() returns live words only.
        let group = word.group()?;
        Some(Pin { table: self, fd, word, group })
    }

    /// Pins every live entry in turn.
    pub(crate) fn pin_each(&self) -> impl Iterator<Item = Pin<'_>> {
        let end = self.high_water() as RawFd;
        fault!(BootScanShort: end => end - 1);
        (0..end).filter_map(|fd| self.pin_any(fd))
    }

    /// Pins every registration of a closed table in turn, those that are just beginning or ending too.
    pub(crate) fn pin_all(&self) -> impl Iterator<Item = Pin<'_>> {
        (0..self.high_water() as RawFd).filter_map(|fd| {
            let mut backoff = Backoff::default();
            // A slot changes hands within a constant number of steps of its thread (L7).
            while self.entries[fd as usize].group.is_changing_hands() {
                fault!(InsertOutlivesStop => break);
                backoff.wait();
            }
            self.pin_any(fd)
        })
    }
}
