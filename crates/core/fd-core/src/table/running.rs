//! The use of a registration by a thread that runs its handler: enter and exit (protocol 4 and 5).
//!
//! A report takes no reference on the group word: it sets the thread's running bit, and then checks that the
//! entry is still what the event names. Whoever ends the registration or moves it to another group looks at
//! the running mask after it has cleared the thread mask or locked the group word. So one of the two sees the
//! other.
//!
//! A thread that came too late has set its bit in an entry that may belong to another group by now, or to
//! another registration. There the bit stands for nothing and lasts for a constant number of steps: others
//! take it for a user, and this thread exits as a user does.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Live, Orphan, mistakes};
use crate::entry::Entry;
use crate::words::backoff::Backoff;
use crate::words::group_word::Found;
use crate::words::ids::{ThreadId, ThreadMask};
use crate::words::pairs;

/// Why a thread may not run the handler.
pub(crate) enum Denied<'t> {
    /// The registration has ended.
    Stale,
    /// The registration belongs to another group.
    Elsewhere,
    /// The thread is not in the thread mask. Its running bit was not touched.
    NotAllowed,
    /// The thread has set its running bit, and the thread mask no longer contained it. It has left. If it was
    /// the last user of a deleted registration, it must end that.
    LostRace(Option<Orphan<'t>>),
}

/// Why one attempt to enter failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failed {
    /// See [`Denied::Stale`].
    Stale,
    /// See [`Denied::Elsewhere`].
    Elsewhere,
    /// See [`Denied::NotAllowed`].
    NotAllowed,
    /// The entry is changing its group.
    Locked,
    /// The running bit was set already, by the thread of this index in another group: it uses the entry,
    /// which belongs to its group by now, or it came too late and leaves.
    ForeignBit,
    /// The running bit is set, and the entry moved or ended before that was seen.
    Changed,
    /// The running bit is set, and the thread mask does not contain the thread.
    Removed,
    /// The running bit is set. A runner outside the thread mask is a takeover between its steps 8.2 and 8.5,
    /// or a thread that came too late and leaves.
    Crowded,
}

impl FdTable {
    /// Begins to use a registration as the thread `me` (protocol 4.1 to 4.5). After a success the running bit
    /// keeps the registration, its handler and its group, up to [`Live::exit`].
    ///
    /// The thread does not use this registration already: no other value tells its own bit from that of a
    /// thread with the same index in another group.
    ///
    /// # Errors
    /// [`Denied`], if the thread may not run the handler.
    pub(crate) fn enter(&self, handle: FdHandle, me: ThreadId) -> Result<Live<'_>, Denied<'_>> {
        self.enter_at_once(handle, me).or_else(|failed| self.enter_again(handle, me, failed))
    }

    /// One attempt of [`FdTable::enter`], without waiting: nearly every report needs no other.
    ///
    /// # Errors
    /// [`Failed`], for [`FdTable::enter_again`], which must follow: the running bit may be set.
    #[inline(always)]
    pub(crate) fn enter_at_once(&self, handle: FdHandle, me: ThreadId) -> Result<Live<'_>, Failed> {
        let Some(entry) = self.entry(handle.fd).filter(|_| self.check_table(handle).is_ok()) else {
            return Err(Failed::Stale);
        };
        match entry.group.find(handle.generation, me.group()) {
            Found::Here => {}
            Found::Locked => return Err(Failed::Locked),
            Found::Elsewhere => return Err(Failed::Elsewhere),
            Found::Ended => {
                checkpoint!(PinRefused, handle.fd);
                return Err(Failed::Stale);
            }
        }
        // A hint, which keeps most running bits out of entries that they do not belong to. If it is wrong,
        // the update that follows a refusal restores what this thread's poller should hold.
        if !allowed(entry).contains(me.mask()) {
            return Err(Failed::NotAllowed);
        }
        checkpoint!(ReportBeforeRunning, handle.fd);
        // Pairs: enter-delete, enter-move, exit. Set this thread's running bit, then read the group word and
        // the masks. A takeover sets a running bit, replaces the thread mask, and clears the running bit.
        let before = pairs::set_running(&entry.running, me.mask().bits());
        checkpoint!(ReportRunningSet, handle.fd);
        if before & me.mask().bits() != 0 {
            unless!(ForeignBitTaken => return Err(Failed::ForeignBit));
        }
        self.admit(entry, handle, me)
    }

    /// Continues after an attempt that failed: decides, or waits for the other threads and tries again.
    ///
    /// # Errors
    /// As [`FdTable::enter`].
    #[cold]
    #[inline(never)]
    pub(crate) fn enter_again(
        &self,
        handle: FdHandle,
        me: ThreadId,
        mut failed: Failed,
    ) -> Result<Live<'_>, Denied<'_>> {
        let mut backoff = Backoff::default();
        loop {
            let attempt = match failed {
                Failed::Stale => return Err(Denied::Stale),
                Failed::Elsewhere => return Err(Denied::Elsewhere),
                Failed::NotAllowed => return Err(Denied::NotAllowed),
                Failed::Removed => return Err(Denied::LostRace(self.leave(handle.fd, me.mask()))),
                Failed::Locked => {
                    checkpoint!(PinWaits, handle.fd);
                    backoff.wait();
                    self.enter_at_once(handle, me)
                }
                Failed::ForeignBit => {
                    backoff.wait();
                    self.enter_at_once(handle, me)
                }
                Failed::Changed => match self.leave(handle.fd, me.mask()) {
                    None => self.enter_at_once(handle, me),
                    orphan => return Err(Denied::LostRace(orphan)),
                },
                Failed::Crowded => {
                    backoff.wait();
                    self.admit(&self.entries[handle.fd as usize], handle, me)
                }
            };
            match attempt {
                Ok(live) => return Ok(live),
                Err(again) => failed = again,
            }
        }
    }

    /// Decides whether the thread `me`, whose running bit is set, may use the entry.
    #[inline(always)]
    fn admit<'t>(&'t self, entry: &'t Entry, handle: FdHandle, me: ThreadId) -> Result<Live<'t>, Failed> {
        let is_same = || entry.group.find(handle.generation, me.group()) == Found::Here;
        let me_bit = me.mask();
        // Pair: enter-move. A group change that locks the word after this look sees the running bit, and
        // fails. So from here on the masks are those of this group (S3, S9).
        if !is_same() {
            unless!(EnterLooksLate => return Err(Failed::Changed));
        }
        // The running mask first: a thread mask that is read after it is at least as new (suspect 4).
        // Pairs: enter-delete, exit.
        let others = self::others(entry, me_bit);
        let allowed = self::allowed(entry);
        fault!(MaskBeforeRunning: others => self::others(entry, me_bit));
        // Pair: publish. If the word still has this generation, the mask was that of this registration: the
        // end of it changes the word before the next one writes its mask (S5, S7).
        if !is_same() {
            unless!(EnterLooksEarly => return Err(Failed::Changed));
        }
        let (fd, generation) = (handle.fd, handle.generation);
        let live = Live { table: self, entry, fd, generation, group: me.group() };
        fault!(LateReportRuns => if others.is_empty() { return Ok(live) });
        fault!(LateReportsWait => if !allowed.contains(others) { return Err(Failed::Crowded) });
        if !allowed.contains(me_bit) {
            // This check precedes the wait for others, because two late threads of a deleted entry would
            // otherwise wait for each other (bug 67).
            return Err(Failed::Removed);
        }
        if allowed.contains(others) { Ok(live) } else { Err(Failed::Crowded) }
    }

    /// Clears the running bit of a thread that came too late. Whatever registration has the number now, this
    /// thread looked like a user of it, and exits as one. Returns the [`Orphan`] if it is the last.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(&self, fd: RawFd, me: ThreadMask) -> Option<Orphan<'_>> {
        let entry = &self.entries[fd as usize];
        // Pairs: exit-delete, exit.
        pairs::clear_running(&entry.running, me.bits());
        checkpoint!(ExitRunningCleared, fd);
        fault!(LateThreadLeaves => return None);
        self.end_if_deleted(entry, fd)
    }

    /// The steps of an exit after the running bit of the entry of `fd` is cleared (protocol 5.2 to 5.4),
    /// without a pin. The number may have another registration by now, or none; then this thread looks at
    /// that one, in which it is no user, and ends it only if nobody uses it.
    #[inline]
    fn end_if_deleted(&self, entry: &Entry, fd: RawFd) -> Option<Orphan<'_>> {
        fault!(RunningBeforeMask => return mistakes::read_running_first_unpinned(self, fd));
        fault!(ExitUnpinned => return mistakes::exit_unpinned(self, fd));
        // Pair: exit-delete.
        if !allowed(entry).is_empty() {
            unless!(NoMaskCheck => return None);
        }
        self.end_unused(fd)
    }

    /// Steps 5.3 and 5.4, under a pin of whatever registration the number has.
    #[cold]
    #[inline(never)]
    fn end_unused(&self, fd: RawFd) -> Option<Orphan<'_>> {
        self.pin_any(fd)?.end_if_deleted().err()
    }
}

/// The thread mask of an entry.
#[inline]
fn allowed(entry: &Entry) -> ThreadMask {
    ThreadMask::from_bits(pairs::read(&entry.thread_mask))
}

/// The threads that use an entry, without `me`.
#[inline]
fn others(entry: &Entry, me: ThreadMask) -> ThreadMask {
    ThreadMask::from_bits(pairs::running(&entry.running)).without(me)
}

impl<'t> Live<'t> {
    /// Clears the running bit of `me`, which [`FdTable::enter`] has set (protocol 5). Returns the [`Orphan`]
    /// if the caller is the last user of a deleted registration and must end it.
    ///
    /// The order of the four steps is the contract: every other order leaks a descriptor or closes it early
    /// in a model. Only a thread that finds the thread mask zero takes a pin, and looks again under it:
    /// without the pin, a late thread could close the number of the next registration.
    ///
    /// # Panics
    /// If the registration has ended meanwhile, against S5.
    #[inline]
    pub(crate) fn exit(&self, me: ThreadMask) -> Option<Orphan<'t>> {
        fault!(ThreadMaskReadBeforeExit => return mistakes::read_mask_and_exit(*self, me));
        self.clear_running(me);
        fault!(LastUserDoesNotClose => return None);
        self.table().end_if_deleted(self.entry(), self.fd())
    }

    /// Step 1 of an exit (protocol 5.1): clears the running bit of `me`.
    ///
    /// # Panics
    /// As [`Live::exit`].
    #[inline]
    fn clear_running(&self, me: ThreadMask) {
        checkpoint!(ExitBegun, self.fd());
        // Pairs: exit-delete, exit.
        let before = pairs::clear_running(&self.entry().running, me.bits());
        // Unconditionally: the answer is at hand, and a registration that ended under its runner is the worst
        // that can happen.
        assert!(before & me.bits() != 0, "S5: the registration of fd {} ended under its runner", self.fd());
        checkpoint!(ExitRunningCleared, self.fd());
    }
}
