//! Pins: references that keep an entry's group and generation unchanged while a thread uses the entry's
//! masks. A running bit does the same ([`Live`]).
//!
//! A pin is taken by one read-modify-write of the group word, which also validates the generation (protocol
//! 2). The steps of the protocol are methods of [`Live`] and [`Pin`], so none of them can run without the one
//! or the other.

use std::ops::Deref;
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
use crate::words::sync::{AtomicU64, Ordering};

/// A registration that cannot end, and whose group cannot change (S5, S9): the holder of this value has a
/// [`Pin`], or its thread has set its running bit by [`FdTable::enter`].
#[derive(Clone, Copy)]
pub(crate) struct Live<'t> {
    pub(super) table: &'t FdTable,
    /// The entry of `fd`.
    pub(super) entry: &'t Entry,
    pub(super) fd: RawFd,
    pub(super) generation: Generation,
    pub(super) group: GroupId,
}

impl<'t> Live<'t> {
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
        self.generation
    }

    pub(crate) fn handle(&self) -> FdHandle {
        self.table.handle(self.fd, self.generation)
    }

    pub(crate) fn entry(&self) -> &'t Entry {
        self.entry
    }

    pub(crate) fn polled(&self) -> &'t Polled {
        &self.table.polled[self.fd as usize]
    }

    /// The time of the timeout; see [`Timeout`](crate::entry::Timeout).
    pub(crate) fn timeout(&self) -> &'t AtomicU64 {
        &self.table.timeouts[self.fd as usize].0
    }

    pub(crate) fn thread_mask(&self) -> ThreadMask {
        ThreadMask::from_bits(pairs::read(&self.entry().thread_mask))
    }

    pub(crate) fn running(&self) -> ThreadMask {
        ThreadMask::from_bits(pairs::running(&self.entry().running))
    }

    /// The threads that have a pending update of this entry.
    pub(super) fn pending(&self) -> ThreadMask {
        // Pair: update. Sets and clears of these bits are read-modify-writes, so this read is a hint only.
        ThreadMask::from_bits(self.entry().update_mask.load(Ordering::Acquire))
    }

    pub(crate) fn state(&self) -> u32 {
        // Pairs: update, polled.
        self.entry().state.load(Ordering::Acquire)
    }

    pub(crate) fn owner(&self) -> &dyn Registered {
        // SAFETY: the pin or the running bit keeps the handler in the entry (S5).
        unsafe { self.entry().owner() }
    }

    pub(crate) fn owner_id(&self) -> OwnerId {
        self.owner().id()
    }
}

/// A reference on the group word of a registered entry. While it exists, the group and the generation do not
/// change (S9), and the number cannot be closed (S5). A thread holds it for a constant number of steps, and
/// never while a handler runs (L7).
pub(crate) struct Pin<'t>(Live<'t>);

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.entry().group.unpin();
    }
}

impl<'t> Deref for Pin<'t> {
    type Target = Live<'t>;

    fn deref(&self) -> &Live<'t> {
        &self.0
    }
}

impl<'t> Pin<'t> {
    /// Consumes the pin without releasing its reference. The thread that retires or unlocks the word releases
    /// it.
    pub(super) fn into_raw(self) -> (&'t FdTable, RawFd, GroupId) {
        let Live { table, fd, group, .. } = self.0;
        let parts = (table, fd, group);
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

    /// Pins the registration of `fd`, of any generation, if it belongs to `group`.
    pub(crate) fn pin_in(&self, group: GroupId, fd: RawFd) -> Option<Pin<'_>> {
        self.pin_if(fd, |word| word.group() == Some(group))
    }

    /// Pins the registration of `fd`, of any generation and group.
    pub(crate) fn pin_any(&self, fd: RawFd) -> Option<Pin<'_>> {
        self.pin_if(fd, |_| true)
    }

    #[inline]
    fn pin_if(&self, fd: RawFd, wanted: impl Fn(Word) -> bool) -> Option<Pin<'_>> {
        let entry = self.entry(fd)?;
        let word = entry.group.pin(fd, wanted)?;
        // `GroupWord::pin` returns only words that have a group.
        let group = word.group()?;
        Some(Pin(Live { table: self, entry, fd, generation: word.generation(), group }))
    }

    /// Pins every registered entry, one at a time.
    pub(crate) fn pin_each(&self) -> impl Iterator<Item = Pin<'_>> {
        let end = self.high_water() as RawFd;
        fault!(BootScanShort: end => end - 1);
        (0..end).filter_map(|fd| self.pin_any(fd))
    }

    /// Pins every registration of a closed table, one at a time. Waits for registrations that are beginning
    /// or ending.
    pub(crate) fn pin_all(&self) -> impl Iterator<Item = Pin<'_>> {
        (0..self.high_water() as RawFd).filter_map(|fd| {
            let mut backoff = Backoff::default();
            // The thread that claimed or retired the slot completes that in a constant number of steps (L7).
            while self.entries[fd as usize].group.is_claimed_or_retired() {
                fault!(InsertOutlivesStop => break);
                backoff.wait();
            }
            self.pin_any(fd)
        })
    }
}
