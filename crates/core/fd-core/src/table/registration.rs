//! The registration of a descriptor, from its insertion to its end: insert, delete, retire. `running.rs` has
//! enter and exit.
//!
//! Three parts of an [`Entry`](crate::entry::Entry) decide which thread may use a descriptor, and which
//! thread ends its registration:
//! - The *thread mask* has a bit for each thread that may run the handler. A delete sets it to zero, and it
//!   stays zero until the registration ends.
//! - The *running mask* has a bit for each thread that is using the entry. A thread sets its own bit first
//!   and then checks that the thread mask still contains it. While any bit is set, the descriptor stays open
//!   and the handler is not dropped (S5).
//! - The *close token* is the bit `MUST_CLOSE` of the state. A delete sets it if a thread is running, and
//!   ends the registration itself otherwise. When the thread mask and the running mask are both zero, the
//!   thread that clears the token ends the registration, and no other thread does (S4).
//!
//! The usual course of a registration, with the section of `docs/protocol.md` that describes each step:
//!
//! ```text
//! insert --> enter --> handler --> exit     by any thread of the thread mask, any number of times
//!  (3)        (4)                  (5)
//!              |                    |
//!              +-> Denied           +-> if the thread mask is zero and no thread is running:
//!                                       take the close token --> Orphan --> retire (7)
//!
//! delete (6): clear the thread mask; if no thread is running: Orphan --> retire (7)
//!             otherwise set the close token, then the same check as in exit
//! ```
//!
//! A [`Pin`] is a reference on the group word of an entry. While one exists the registration cannot end, so a
//! thread that is not running holds a pin while it reads or changes these masks. It holds the pin for a few
//! steps only, never while a handler runs.
//!
//! The lines `checkpoint!`, `invariant!`, `fault!` and `unless!` are test hooks, described in
//! [`crate::hooks`]. Skip them to read the protocol.

use std::os::fd::RawFd;

use super::counts::Count;
use super::{FdHandle, FdTable, Pin, checks, mistakes};
use crate::entry::error::{DeleteError, InsertRefused};
use crate::entry::owner::Registered;
use crate::words::events::DeregisterReason;
use crate::words::ids::{GroupId, ThreadMask};
use crate::words::pairs;
use crate::words::state;
use crate::words::sync::{AtomicU64, Ordering};

impl FdTable {
    /// Begins a registration of `fd` in `group` (protocol 3). The threads of `threads` that the group has may
    /// use it. `flags` are state bits.
    ///
    /// No poller has the descriptor yet. The first `want_recv` or `want_send` adds it to one.
    ///
    /// # Errors
    /// Why the insertion is refused, with the owner.
    #[inline(always)]
    pub(crate) fn insert<R: Registered + 'static>(
        &self,
        fd: RawFd,
        owner: Box<R>,
        group: GroupId,
        threads: ThreadMask,
        flags: u32,
    ) -> Result<FdHandle, (InsertRefused, Box<R>)> {
        let Some(entry) = self.entry(fd) else {
            return Err((InsertRefused::Capacity { fd, capacity: self.capacity() }, owner));
        };
        if !self.has_group(group) {
            return Err((InsertRefused::NoSuchGroup { group }, owner));
        }
        // The threads of the target group, not those of the caller's group (bug 78, S19).
        let threads = threads.and(self.threads(group));
        fault!(InsertAsksFirstGroup: threads => mistakes::threads_of_first_group(self, threads));
        if threads.is_empty() {
            return Err((InsertRefused::NoThread { group }, owner));
        }
        // Pair: insert-close. The bound is raised before the claim, because `pin_all` looks only at numbers
        // below the bound.
        let bound = fd as u32 + 1;
        if pairs::bound(&self.high_water) < bound {
            self.high_water.fetch_max(bound, Ordering::AcqRel);
        }
        fault!(InsertOutlivesStop => if self.is_closed() { return Err((InsertRefused::Stopping, owner)) });
        checkpoint!(InsertBeforeClaim, fd);
        let Some(generation) = entry.group.claim() else {
            fault!(InsertOverLife => return Ok(mistakes::insert_over(self, fd, owner)));
            return Err((InsertRefused::InUse { fd }, owner));
        };
        // Pair: insert-close. The table is read after the claim: either `pin_all` meets the slot, or this
        // thread finds the table closed.
        let is_stopping = self.is_closed();
        fault!(InsertOutlivesStop: is_stopping => false);
        if is_stopping {
            entry.group.free();
            return Err((InsertRefused::Stopping, owner));
        }
        checkpoint!(InsertClaimed, fd);
        checks::begins_clean(self, fd);
        fault!(PublishEarly => entry.group.publish(group));
        // SAFETY: this thread has claimed the slot, and no other thread can pin it before the publication
        // below.
        unsafe { entry.set_owner(owner) };
        fault!(InsertDropsFlags: flags => 0);
        // Pair: publish. All stores precede the publication of the group word, so that a late thread never
        // sees a part of the entry (S10).
        entry.write_flags(state::READY | flags);
        entry.thread_mask.store(threads.bits(), Ordering::Release);
        self.counts.add(Count::Inserted, 1);
        unless!(PublishEarly => entry.group.publish(group));
        Ok(self.handle(fd, generation))
    }
}

impl<'t> Pin<'t> {
    /// Step 2 of the exit (protocol 5.2): continues only if the thread mask is zero. Zero means deleted, and
    /// is irrevocable.
    pub(super) fn end_if_deleted(self) -> Result<Pin<'t>, Orphan<'t>> {
        fault!(RunningBeforeMask => return mistakes::read_running_first(self));
        // Pair: exit-delete.
        let is_deleted = self.thread_mask().is_empty();
        fault!(NoMaskCheck: is_deleted => true);
        if !is_deleted {
            return Ok(self);
        }
        // Pair: last-user. Another thread wrote the zero, so this read needs a fence of its own.
        self.end_if_unused(pairs::running_after_foreign_zero)
    }

    /// Step 3 of the exit (protocol 5.3): continues only if no thread is running. The running mask is read
    /// after the thread mask: a thread that sets its bit later finds the thread mask zero, and exits.
    fn end_if_unused(self, running: impl FnOnce(&AtomicU64) -> u64) -> Result<Pin<'t>, Orphan<'t>> {
        fault!(NoRunningCheck, RunningBeforeMask => return self.take_token());
        if running(&self.entry().running) != 0 {
            return Ok(self);
        }
        self.take_token()
    }

    /// Step 4 of the exit (protocol 5.4): takes the close token. Of the threads that reach this step, the one
    /// that takes it ends the registration.
    pub(super) fn take_token(self) -> Result<Pin<'t>, Orphan<'t>> {
        // Pair: token.
        let taken = self.entry().state.take_token();
        fault!(NoToken: taken => true);
        if taken { Err(Orphan { pin: self }) } else { Ok(self) }
    }

    /// Deletes this registration (protocol 6). It never waits: if a thread is using the entry, the last user
    /// ends the registration, for which it needs the close token.
    ///
    /// The steps are the same for a caller of the entry's group, of another group, and of no group. The pin
    /// replaces the running bit, which only a thread of the group can set.
    ///
    /// # Errors
    /// [`DeleteError::AlreadyDeleted`]; nothing has changed then.
    #[inline(always)]
    pub(crate) fn delete(self, disown: bool) -> Result<Option<Orphan<'t>>, DeleteError> {
        let entry = self.entry();
        let flags = state::DELETED | if disown { state::DISOWN } else { 0 };
        // Once per registration: a second delete would end it twice. No pair: both meet in this word.
        let deleted = entry.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            fault!(DeleteTwice => return Some(state | flags));
            (state & state::DELETED == 0).then_some(state | flags)
        });
        if deleted.is_err() {
            return Err(DeleteError::AlreadyDeleted);
        }
        checkpoint!(DeleteMarked, self.fd());
        // Pairs: enter-delete, exit-delete. A fence orders this write before the read of the running mask
        // (suspect 2).
        pairs::clear_mask(&entry.thread_mask);
        checkpoint!(DeleteMaskCleared, self.fd());
        fault!(WaitOnDelete => mistakes::wait_for_users(&self));
        fault!(DeleteClosesAtOnce => entry.running.store(0, Ordering::Release));
        // The fence of `clear_mask` orders this read. If it finds no user, none comes any more, and no other
        // thread finds a token: this thread ends the registration.
        let is_unused = pairs::running(&entry.running) == 0;
        fault!(NoRunningCheck: is_unused => true);
        if is_unused {
            return Ok(Some(Orphan { pin: self }));
        }
        // Pair: token. Then the same check as in an exit: the users may have left before they could find the
        // token. Acquire: the read shows a user that looked for the token before, and has cleared its bit.
        entry.state.fetch_or(state::MUST_CLOSE, ordering!(TokenRelaxed, AcqRel));
        checkpoint!(DeleteTokenSet, self.fd());
        Ok(self.end_if_unused(pairs::running).err())
    }
}

/// The obligation to end a registration. Exactly one exists per registration (S4).
pub(crate) struct Orphan<'t> {
    pin: Pin<'t>,
}

/// A registration that has ended: its slot is free, and its number is still open.
pub(crate) struct Retired {
    pub(crate) fd: RawFd,
    pub(crate) owner: Box<dyn Registered>,
    pub(crate) state: u32,
}

impl Orphan<'_> {
    /// Ends the registration (protocol 7): no thread can pin it from now on, and this call returns after the
    /// last pin is released. It wipes the masks and calls `forget` for the pollers that may have the
    /// descriptor. After that, the caller closes the number or returns it.
    #[inline]
    pub(crate) fn retire(
        self,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Retired {
        let (table, fd, group) = self.pin.into_raw();
        fault!(WipeBeforeDrain => mistakes::wipe(table, fd));
        table.entries[fd as usize].group.retire(group);
        table.finish_retired(fd, group, forget)
    }
}

impl FdTable {
    /// Completes [`Orphan::retire`]. The calling thread is alone with the entry.
    #[inline]
    pub(super) fn finish_retired(
        &self,
        fd: RawFd,
        group: GroupId,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Retired {
        let entry = &self.entries[fd as usize];
        let polled = &self.polled[fd as usize];
        // Pair: drain. All steps of this function come after the drain: late reports can set bits until then,
        // and those bits are wiped here (bug 65).
        let state = entry.state.load(Ordering::Acquire);
        checks::ends_unused(entry, fd, state);
        unless!(OrphanStaysListed => self.updates(group).remove(self, fd as usize));
        unless!(OrphanKeepsUpdateBit, WipeBeforeDrain => entry.update_mask.store(0, Ordering::Release));
        let (disowned, cloned) = (state & state::DISOWN != 0, state & state::CLONED != 0);
        fault!(DisownKeepsPolled: disowned => false);
        fault!(ClonedNotForgotten: cloned => false);
        let reason = match (disowned, cloned) {
            (true, _) => DeregisterReason::StaysOpen,
            (false, true) => DeregisterReason::CloseCloned,
            (false, false) => DeregisterReason::Close,
        };
        // Pair: drain. An update that was applied under an earlier pin may just have added a polled bit.
        let (recv, send) = polled.load();
        forget(fd, group, ThreadMask::from_bits(recv), ThreadMask::from_bits(send), reason);
        unless!(OrphanKeepsPolled, WipeBeforeDrain => polled.clear());
        if state & state::TIMED != 0 {
            let timeout = &self.timeouts[fd as usize].0;
            unless!(TimeoutNotMoved => timeout.store(0, Ordering::Release));
        }
        entry.write_flags(0);
        // SAFETY: the registration is retired. There is one orphan per registration, and this call consumes
        // it.
        let owner = unsafe { entry.take_owner() };
        // Before the close, so that a program that sees the peer's end of file also sees the count.
        let ended = if state & state::DISOWN != 0 { Count::Released } else { Count::Closed };
        self.counts.add(ended, 1);
        entry.group.free();
        checkpoint!(RetiredBeforeClose, fd);
        Retired { fd, owner, state }
    }
}
