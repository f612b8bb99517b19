//! Pins: the right to look at an entry's masks.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable};
use crate::backoff::Backoff;
use crate::checkpoint::hit;
use crate::entry::{Entry, Polled};
use crate::error::Stale;
use crate::fault::{self, Fault};
use crate::group_word::Word;
use crate::handler::OwnerId;
use crate::ids::{GroupId, ThreadMask};
use crate::pairs;
use crate::poller::Generation;
use crate::sync::Ordering;
use crate::weak::{self, Weak};

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

    /// The mask as it is now, if `rule` is broken: to be used too late.
    pub(super) fn thread_mask_if(&self, rule: Weak) -> Option<ThreadMask> {
        weak::on(rule).then(|| self.thread_mask())
    }

    pub(crate) fn running(&self) -> ThreadMask {
        ThreadMask::from_bits(pairs::running(&self.entry().running))
    }

    pub(crate) fn state(&self) -> u32 {
        // Pairs: update, polled.
        self.entry().state.load(Ordering::Acquire)
    }

    pub(crate) fn owner_id(&self) -> OwnerId {
        // SAFETY: pinned (S5).
        unsafe { self.entry().owner_id() }
    }

    /// Lets the reference live on without the guard: whoever retires or unlocks the word gives it back.
    pub(super) fn into_raw(self) -> (&'t FdTable, RawFd, GroupId) {
        let parts = (self.table, self.fd, self.group);
        std::mem::forget(self);
        parts
    }
}

impl FdTable {
    /// Pins the life that `handle` names.
    #[inline]
    pub(crate) fn pin(&self, handle: FdHandle) -> Result<Pin<'_>, Stale> {
        self.check_table(handle)?;
        let any_life = fault::on(Fault::StaleHandleAccepted);
        self.pin_if(handle.fd, |word| any_life || word.generation() == handle.generation)
            .ok_or(handle.stale())
    }

    /// Refuses a handle of another table.
    #[inline]
    pub(super) fn check_table(&self, handle: FdHandle) -> Result<(), Stale> {
        let is_own = handle.table == self.id || fault::on(Fault::HandleFitsAnyTable);
        if is_own { Ok(()) } else { Err(handle.stale()) }
    }

    /// Pins whatever life of `fd` belongs to `group`.
    pub(crate) fn pin_in(&self, group: GroupId, fd: RawFd) -> Option<Pin<'_>> {
        // While it is locked it may be on its way to `group`.
        self.pin_if(fd, |word| word.is_locked() || word.group() == Some(group))
    }

    /// Pins whatever life of `fd` there is.
    pub(crate) fn pin_any(&self, fd: RawFd) -> Option<Pin<'_>> {
        self.pin_if(fd, |_| true)
    }

    #[inline]
    fn pin_if(&self, fd: RawFd, wanted: impl Fn(Word) -> bool) -> Option<Pin<'_>> {
        let word = self.entry(fd)?.group.pin(wanted, |point| hit(point, fd))?;
        // pin() returns live words only.
        let group = word.group()?;
        Some(Pin { table: self, fd, word, group })
    }

    /// Pins every live entry in turn.
    pub(crate) fn pin_each(&self) -> impl Iterator<Item = Pin<'_>> {
        let short = RawFd::from(fault::on(Fault::BootScanShort));
        (0..self.high_water() as RawFd - short).filter_map(|fd| self.pin_any(fd))
    }

    /// Pins every registration of a closed table in turn, those that are just beginning or ending too.
    pub(crate) fn pin_all(&self) -> impl Iterator<Item = Pin<'_>> {
        (0..self.high_water() as RawFd).filter_map(|fd| {
            let mut backoff = Backoff::default();
            // A slot changes hands within a constant number of steps of its thread (L7).
            while !fault::on(Fault::InsertOutlivesStop) && self.entries[fd as usize].group.is_changing_hands()
            {
                backoff.wait();
            }
            self.pin_any(fd)
        })
    }
}
