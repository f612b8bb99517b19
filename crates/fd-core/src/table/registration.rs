//! Beginning, use and end of a registration: insert, the entry and exit of a report, delete, the last user.
//!
//! Three parts of an [`Entry`](crate::entry::Entry) decide which thread may use it, and which one ends it:
//! - the *thread mask*: the threads that may run the handler. A delete sets it to zero for the rest of the
//!   registration.
//! - the *running bits*: the threads that use the entry. A thread sets its own bit, and then looks whether
//!   the mask still allows it. As long as a bit is set, the descriptor stays open and the handler alive.
//! - the *token*, a bit of the state: the delete sets it, once. Of the threads that find the mask zero and no
//!   running bit, the one that clears the token ends the registration.
//!
//! A [`Pin`] is a reference on the entry's group word. It keeps the registration from ending while a thread
//! looks at these three, and is held for a few steps only.
//!
//! The lines `checkpoint!`, `invariant!`, `fault!` and `unless!` are hooks of the tests, described in
//! [`crate::hooks`].

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Pin, checks, mistakes};
use crate::entry::error::{DeleteError, InsertRefused};
use crate::entry::owner::Registered;
use crate::words::backoff::Backoff;
use crate::words::events::DeregisterReason;
use crate::words::ids::{GroupId, ThreadMask};
use crate::words::pairs;
use crate::words::state;
use crate::words::sync::{AtomicU64, Ordering};

impl FdTable {
    /// Begins a registration of `fd` in `group`, for those of `threads` that the group has. `flags` are state
    /// bits.
    ///
    /// No poller knows it yet: that begins when a direction is wanted.
    ///
    /// On failure the owner comes back.
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
        // The target group's threads, not the caller's (bug 78, S19).
        let threads = threads.and(self.threads(group));
        fault!(InsertAsksFirstGroup: threads => mistakes::threads_of_first_group(self, threads));
        if threads.is_empty() {
            return Err((InsertRefused::NoThread { group }, owner));
        }
        // Pair: insert-close. Before the slot is taken: `pin_all` looks below this bound only.
        self.high_water.fetch_max(fd as u32 + 1, Ordering::AcqRel);
        fault!(InsertOutlivesStop => if self.is_closed() { return Err((InsertRefused::Stopping, owner)) });
        checkpoint!(InsertBeforeClaim, fd);
        let Some(generation) = entry.group.claim() else {
            fault!(InsertOverLife => return Ok(mistakes::insert_over(self, fd, owner)));
            return Err((InsertRefused::InUse { fd }, owner));
        };
        // Pair: insert-close. After the claim.
        let is_stopping = self.is_closed();
        fault!(InsertOutlivesStop: is_stopping => false);
        if is_stopping {
            entry.group.free();
            return Err((InsertRefused::Stopping, owner));
        }
        checkpoint!(InsertClaimed, fd);
        checks::begins_clean(self, fd);
        fault!(PublishEarly => entry.group.publish(group));
        // SAFETY: claimed above, published below.
        unsafe { entry.set_owner(owner) };
        fault!(InsertDropsFlags: flags => 0);
        // Pair: publish. Here and below.
        entry.state.store(state::READY | flags, Ordering::Release);
        entry.takeovers.store(0, Ordering::Relaxed);
        entry.thread_mask.store(threads.bits(), Ordering::Release);
        self.used.fetch_add(1, Ordering::Relaxed);
        unless!(PublishEarly => entry.group.publish(group));
        Ok(self.handle(fd, generation))
    }
}

/// Why a thread does not get to run the handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Denied {
    /// It was not in the thread mask; its running bit was not touched.
    NotAllowed,
    /// It set its running bit and then found itself out of the thread mask. It must exit.
    LostRace,
}

impl<'t> Pin<'t> {
    /// Begins to use the entry as thread `me` of the pinned group (protocol 4.3 to 4.5). From a success until
    /// [`Pin::exit`], the running bit alone keeps the entry alive and owned, and the pin may go.
    ///
    /// Returns the thread mask that allowed it.
    pub(crate) fn enter(&self, me: ThreadMask) -> Result<ThreadMask, Denied> {
        let entry = self.entry();
        if !self.thread_mask().contains(me) {
            return Err(Denied::NotAllowed);
        }
        checkpoint!(ReportBeforeRunning, self.fd());
        // Pairs: enter-delete, exit. A takeover wins running, replaces the mask, and gives running up. Set mine, then look.
        let before = pairs::set_running(&entry.running, me.bits());
        invariant!(before & me.bits() == 0, "S9: fd {} is entered twice by {me:?}", self.fd());
        checkpoint!(ReportRunningSet, self.fd());
        let mut backoff = Backoff::default();
        loop {
            // Running first: a mask read after it is at least as new (suspect 4).
            let others = self.running().without(me);
            let allowed = self.thread_mask();
            fault!(MaskBeforeRunning: others => self.running().without(me));
            fault!(LateReportRuns => if others.is_empty() { return Ok(allowed) });
            fault!(LateReportsWait => if !allowed.contains(others) { backoff.wait(); continue });
            if !allowed.contains(me) {
                // Also ends the wait for another late thread of a deleted entry, which waits for this one
                // (bug 67).
                return Err(Denied::LostRace);
            }
            if allowed.contains(others) {
                return Ok(allowed);
            }
            // A runner that is not allowed is a takeover between its two steps.
            backoff.wait();
        }
    }

    /// Gives up the running bit of `me`: the end of every use that has set one. Returns the pin, or the
    /// orphan if the caller is the last user and must end the registration.
    ///
    /// The pin is held from before the bit is cleared until the token is decided: without it a late thread
    /// could close the number under the thread that deletes the next registration.
    pub(crate) fn exit(self, me: ThreadMask) -> Result<Pin<'t>, Orphan<'t>> {
        fault!(ThreadMaskReadBeforeExit => return mistakes::read_mask_and_exit(self, me));
        checkpoint!(ExitBegun, self.fd());
        fault!(ExitUnpinned => return mistakes::exit_unpinned(self, me));
        // (a) Pairs: exit-delete, exit.
        let before = pairs::clear_running(&self.entry().running, me.bits());
        invariant!(before & me.bits() != 0, "fd {} is left by {me:?}, which had not entered", self.fd());
        checkpoint!(ExitRunningCleared, self.fd());
        fault!(LastUserDoesNotClose => return Ok(self));
        self.end_if_deleted()
    }

    /// (b) An entry whose thread mask is zero is deleted, which is irrevocable: then its last user ends the
    /// registration.
    pub(super) fn end_if_deleted(self) -> Result<Pin<'t>, Orphan<'t>> {
        fault!(RunningBeforeMask => return mistakes::look_at_running_first(self));
        // Pair: exit-delete.
        let is_deleted = self.thread_mask().is_empty();
        fault!(NoMaskCheck: is_deleted => true);
        if !is_deleted {
            return Ok(self);
        }
        // Pair: last-user. Another thread wrote the zero: that takes a fence of its own.
        self.end_if_unused(pairs::running_after_foreign_zero)
    }

    /// (c) No thread must be running: a later one will see the zero of the mask. In this order: any other
    /// leaks or closes early in a model.
    fn end_if_unused(self, running: impl FnOnce(&AtomicU64) -> u64) -> Result<Pin<'t>, Orphan<'t>> {
        fault!(NoRunningCheck, RunningBeforeMask => return self.take_token());
        if running(&self.entry().running) != 0 {
            return Ok(self);
        }
        self.take_token()
    }

    /// (d) One of the threads that have come so far wins the token. It must end the registration.
    pub(super) fn take_token(self) -> Result<Pin<'t>, Orphan<'t>> {
        // Pair: token.
        let state = self.entry().state.fetch_and(!state::MUST_CLOSE, Ordering::AcqRel);
        fault!(NoToken: state => state::MUST_CLOSE);
        if state & state::MUST_CLOSE == 0 {
            return Ok(self);
        }
        Err(Orphan { pin: self })
    }

    /// Deletes this registration. Never waits: if a thread is using the entry, its last user ends the
    /// registration.
    ///
    /// The same for every caller, of the entry's group, of another group or of none: the pin stands for the
    /// running bit that only a thread of the group could set.
    ///
    /// # Errors
    /// [`DeleteError::AlreadyDeleted`], and then nothing has changed.
    pub(crate) fn delete(self, disown: bool) -> Result<Option<Orphan<'t>>, DeleteError> {
        let entry = self.entry();
        let flags = state::DELETED | state::MUST_CLOSE | if disown { state::DISOWN } else { 0 };
        // Pair: token. One read-modify-write sets both bits, once per registration: a second token would close twice. Before the
        // mask: a thread that sees the zero must find the token.
        let deleted = entry.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            fault!(DeleteTwice => return Some(state | flags));
            (state & state::DELETED == 0).then_some(state | flags)
        });
        if deleted.is_err() {
            return Err(DeleteError::AlreadyDeleted);
        }
        checkpoint!(DeleteTokenSet, self.fd());
        // Pairs: enter-delete, exit-delete. A fence between this and the read of running (suspect 2).
        pairs::clear_mask(&entry.thread_mask);
        checkpoint!(DeleteMaskCleared, self.fd());
        fault!(WaitOnDelete => mistakes::wait_for_users(&self));
        fault!(DeleteClosesAtOnce => entry.running.store(0, Ordering::Release));
        Ok(self.end_if_unused(pairs::running).err())
    }
}

/// The duty to end a registration. There is exactly one per registration (S4).
pub(crate) struct Orphan<'t> {
    pin: Pin<'t>,
}

/// The rest of a registration that has ended: the number is still open, its slot is free.
pub(crate) struct Retired {
    pub(crate) fd: RawFd,
    pub(crate) owner: Box<dyn Registered>,
    pub(crate) state: u32,
}

impl Orphan<'_> {
    /// Ends the registration: no thread can pin it any more, every thread that did has left, its masks are
    /// wiped, and `forget` is called for the pollers that may know it. The caller then closes the number,
    /// last of all, or hands it back.
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
    /// The rest of [`Orphan::retire`], for the thread that is alone with the entry.
    pub(super) fn finish_retired(
        &self,
        fd: RawFd,
        group: GroupId,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Retired {
        let entry = &self.entries[fd as usize];
        let polled = &self.polled[fd as usize];
        // Pair: drain. Here and below. Bits set by late reports until just now go, too: that is why it is now (bug 65).
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
        // Pair: drain. After it: an update under an older pin may have registered it a moment ago.
        let (recv, send) = polled.load();
        forget(fd, group, ThreadMask::from_bits(recv), ThreadMask::from_bits(send), reason);
        unless!(OrphanKeepsPolled, WipeBeforeDrain => polled.clear());
        entry.state.store(0, Ordering::Release);
        // SAFETY: retired above; there is one orphan per registration, and it is consumed here.
        let owner = unsafe { entry.take_owner() };
        self.used.fetch_sub(1, Ordering::Relaxed);
        entry.group.free();
        checkpoint!(RetiredBeforeClose, fd);
        Retired { fd, owner, state }
    }
}
