//! Beginning, use and end of a life: insert, the report's entry and exit, delete, the last user.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::{FdHandle, FdTable, Pin};
use crate::backoff::Backoff;
use crate::checkpoint::{Point, hit};
use crate::error::{DeleteError, InsertRefused};
use crate::fault::{self, Fault};
use crate::handler::Handler;
use crate::ids::{GroupId, ThreadMask};
use crate::invariants::{self, invariant};
use crate::pairs;
use crate::poller::Leave;
use crate::state;
use crate::sync::{AtomicU64, Ordering};
use crate::weak::{self, Weak};

impl FdTable {
    /// Begins a life of `fd` in `group`, for those of `threads` that the group has. `flags` are state bits.
    ///
    /// Nothing is polled yet: that begins with the first want.
    ///
    /// On failure the handler comes back.
    pub(crate) fn insert(
        &self,
        fd: RawFd,
        handler: Arc<dyn Handler>,
        group: GroupId,
        threads: ThreadMask,
        flags: u32,
    ) -> Result<FdHandle, (InsertRefused, Arc<dyn Handler>)> {
        let Some(entry) = self.entry(fd) else {
            return Err((InsertRefused::Capacity { fd, capacity: self.capacity() }, handler));
        };
        if !self.has_group(group) {
            return Err((InsertRefused::NoSuchGroup { group }, handler));
        }
        // The target group's threads, not the caller's (bug 78, S19).
        let mut threads = threads.and(self.threads(group));
        if fault::on(Fault::InsertAsksFirstGroup)
            && let Some(first) = self.groups().next()
            && threads.intersects(self.threads(first))
        {
            threads = threads.and(self.threads(first));
        }
        if threads.is_empty() {
            return Err((InsertRefused::NoThread { group }, handler));
        }
        // Pair: insert-close. Before the slot is taken: `pin_all` looks below this bound only.
        self.high_water.fetch_max(fd as u32 + 1, Ordering::AcqRel);
        if fault::on(Fault::InsertOutlivesStop) && self.is_closed() {
            return Err((InsertRefused::Stopping, handler));
        }
        hit(Point::InsertBeforeClaim, fd);
        let Some(generation) = entry.group.claim() else {
            if fault::on(Fault::InsertOverLife) {
                return Ok(self.handle(fd, entry.group.peek().generation()));
            }
            return Err((InsertRefused::InUse { fd }, handler));
        };
        // Pair: insert-close. After the claim.
        if self.is_closed() && !fault::on(Fault::InsertOutlivesStop) {
            entry.group.free();
            return Err((InsertRefused::Stopping, handler));
        }
        hit(Point::InsertClaimed, fd);
        if invariants::checked() {
            let polled = self.polled[fd as usize].load();
            assert_eq!(entry.running.load(Ordering::Acquire), 0, "S10: fd {fd} is running before its life");
            assert_eq!(entry.state.load(Ordering::Acquire), 0, "S10: fd {fd} has a state before its life");
            assert_eq!(
                entry.update_mask.load(Ordering::Acquire),
                0,
                "S10: fd {fd} owes updates before its life"
            );
            assert_eq!(polled, (0, 0), "S10: fd {fd} is polled before its life");
            assert!(entry.link.is_unlinked(), "S10: fd {fd} is listed before its life");
        }
        if weak::on(Weak::PublishEarly) {
            entry.group.publish(group);
        }
        // SAFETY: claimed above, published below.
        unsafe { entry.set_owner(handler) };
        let flags = if fault::on(Fault::InsertDropsFlags) { 0 } else { flags };
        // Pair: publish. Here and below.
        entry.state.store(state::READY | flags, Ordering::Release);
        entry.takeovers.store(0, Ordering::Relaxed);
        entry.thread_mask.store(threads.bits(), Ordering::Release);
        self.used.fetch_add(1, Ordering::Relaxed);
        if !weak::on(Weak::PublishEarly) {
            entry.group.publish(group);
        }
        Ok(self.handle(fd, generation))
    }
}

/// Why a thread does not get to run the handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Denied {
    /// It was not in the thread mask; its running bit was not touched.
    NotAllowed,
    /// It set its running bit and then found itself out of the thread mask. It must leave.
    LostRace,
}

impl<'t> Pin<'t> {
    /// Begins to use the entry as thread `me` of the pinned group (protocol 4.3 to 4.5): from a success on, until
    /// [`Pin::leave`], the running bit alone keeps the entry alive and owned, and the pin may go.
    ///
    /// Returns the thread mask that allowed it.
    pub(crate) fn enter(&self, me: ThreadMask) -> Result<ThreadMask, Denied> {
        let entry = self.entry();
        if !self.thread_mask().contains(me) {
            return Err(Denied::NotAllowed);
        }
        hit(Point::ReportBeforeRunning, self.fd());
        // Pairs: enter-delete, exit. A takeover wins running, replaces the mask, and gives running up. Set mine, then look.
        let before = pairs::set_running(&entry.running, me.bits());
        invariant!(before & me.bits() == 0, "S9: fd {} is entered twice by {me:?}", self.fd());
        hit(Point::ReportRunningSet, self.fd());
        let mut backoff = Backoff::default();
        loop {
            // Running first: a mask read after it is at least as new (suspect 4).
            let stale_mask = self.thread_mask_if(Weak::MaskBeforeRunning);
            let others = self.running().without(me);
            let allowed = stale_mask.unwrap_or_else(|| self.thread_mask());
            if fault::on(Fault::LateReportRuns) && others.is_empty() {
                return Ok(allowed);
            }
            let waits = fault::on(Fault::LateReportsWait) && !allowed.contains(others);
            if !allowed.contains(me) && !waits {
                // Also ends the wait for another late waker of a deleted entry, which waits for us (bug 67).
                return Err(Denied::LostRace);
            }
            if allowed.contains(others) {
                return Ok(allowed);
            }
            // A runner that is not allowed is a takeover between its two steps.
            backoff.wait();
        }
    }

    /// Gives up the running bit of `me`: the exit of every path that has one. If that makes the caller the one
    /// that must end the life, it gets the orphan instead of its pin back.
    ///
    /// The pin is held from before the bit is cleared until the token is decided: without it a late thread
    /// could close under the deleter of the next life.
    pub(crate) fn leave(self, me: ThreadMask) -> Result<Pin<'t>, Orphan<'t>> {
        let stale_mask =
            if fault::on(Fault::ThreadMaskReadBeforeExit) { self.thread_mask() } else { ThreadMask::NONE };
        hit(Point::LeaveBegun, self.fd());
        if weak::on(Weak::ExitUnpinned) {
            self.entry().group.unpin();
        }
        // (a) Pairs: leave-delete, exit.
        let before = pairs::clear_running(&self.entry().running, me.bits());
        invariant!(before & me.bits() != 0, "fd {} is left by {me:?}, which had not entered", self.fd());
        hit(Point::LeaveRunningCleared, self.fd());
        if weak::on(Weak::ExitUnpinned) {
            self.entry().group.repin();
        }
        if !stale_mask.is_empty() || fault::on(Fault::LastUserDoesNotClose) {
            return Ok(self);
        }
        let stale_running = if weak::on(Weak::RunningBeforeMask) { self.running() } else { ThreadMask::NONE };
        // (b) Pair: leave-delete. The thread mask must be zero, which is irrevocable.
        if !weak::on(Weak::NoMaskCheck) && !self.thread_mask().is_empty() || !stale_running.is_empty() {
            return Ok(self);
        }
        // (c) Pair: last-user. Another thread wrote the zero: that takes a fence of its own.
        self.close_if_unused(pairs::running_after_foreign_zero)
    }

    /// The end of every exit from an entry whose thread mask is zero: (c) nobody must be running: later wakers will see the
    /// zero; (d) then one of those who have come so far wins the token. In this order: any other leaks or closes early in a
    /// model.
    fn close_if_unused(self, running: impl FnOnce(&AtomicU64) -> u64) -> Result<Pin<'t>, Orphan<'t>> {
        let looks = !weak::on(Weak::NoRunningCheck) && !weak::on(Weak::RunningBeforeMask);
        if looks && running(&self.entry().running) != 0 {
            return Ok(self);
        }
        // Pair: token.
        let state = self.entry().state.fetch_and(!state::MUST_CLOSE, Ordering::AcqRel);
        if state & state::MUST_CLOSE == 0 && !weak::on(Weak::NoToken) {
            return Ok(self);
        }
        Err(Orphan { pin: self })
    }

    /// Deletes this life. Never waits: if somebody is using the entry, its last user ends the life.
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
            (state & state::DELETED == 0 || fault::on(Fault::DeleteTwice)).then_some(state | flags)
        });
        if deleted.is_err() {
            return Err(DeleteError::AlreadyDeleted);
        }
        hit(Point::DeleteTokenSet, self.fd());
        // Pairs: enter-delete, leave-delete. A fence between this and the read of running (suspect 2).
        pairs::clear_mask(&entry.thread_mask);
        hit(Point::DeleteMaskCleared, self.fd());
        if fault::on(Fault::WaitOnDelete) {
            let mut backoff = Backoff::default();
            while !self.running().is_empty() {
                backoff.wait();
            }
        }
        if fault::on(Fault::DeleteClosesAtOnce) {
            entry.running.store(0, Ordering::Release);
        }
        Ok(self.close_if_unused(pairs::running).err())
    }
}

/// The duty to end a life. There is exactly one per life (S4).
pub(crate) struct Orphan<'t> {
    pin: Pin<'t>,
}

/// What is left of a life: the number is still open, its slot is free.
pub(crate) struct Retired {
    pub(crate) fd: RawFd,
    pub(crate) owner: Arc<dyn Handler>,
    pub(crate) state: u32,
}

impl Orphan<'_> {
    /// Ends the life: nobody can pin it any more, everybody who did has left, its masks are wiped, and `forget`
    /// is called for the pollers that may know it. The caller then closes the number, last of all, or hands it
    /// back.
    pub(crate) fn retire(
        self,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, Leave),
    ) -> Retired {
        let (table, fd, group) = self.pin.into_raw();
        let entry = &table.entries[fd as usize];
        if weak::on(Weak::WipeBeforeDrain) {
            entry.update_mask.store(0, Ordering::Release);
            table.polled[fd as usize].clear();
        }
        entry.group.retire(group);
        table.finish_retired(fd, group, forget)
    }
}

impl FdTable {
    /// The rest of [`Orphan::retire`], for the thread that is alone with the entry.
    pub(super) fn finish_retired(
        &self,
        fd: RawFd,
        group: GroupId,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, Leave),
    ) -> Retired {
        let entry = &self.entries[fd as usize];
        let polled = &self.polled[fd as usize];
        // Pair: drain. Here and below. Bits set by late reports until just now go, too: that is why it is now (bug 65).
        let state = entry.state.load(Ordering::Acquire);
        if invariants::checked() {
            assert_eq!(entry.running.load(Ordering::Acquire), 0, "S5: fd {fd} closes under a user");
            assert_eq!(entry.thread_mask.load(Ordering::Acquire), 0, "S6: fd {fd} closes while allowed");
            assert_eq!(state & state::MUST_CLOSE, 0, "S14: fd {fd} closes with its token");
        }
        if !fault::on(Fault::OrphanStaysListed) {
            self.updates(group).remove(self, fd as usize);
        }
        if !fault::on(Fault::OrphanKeepsUpdateBit) && !weak::on(Weak::WipeBeforeDrain) {
            entry.update_mask.store(0, Ordering::Release);
        }
        // After the drain: an update under an older pin may have registered it a moment ago.
        let leave = match state {
            _ if state & state::DISOWN != 0 && !fault::on(Fault::DisownKeepsPolled) => Leave::StaysOpen,
            _ if state & state::CLONED != 0 && !fault::on(Fault::ClonedNotForgotten) => Leave::CloseCloned,
            _ => Leave::Close,
        };
        let (recv, send) = polled.load();
        forget(fd, group, ThreadMask::from_bits(recv), ThreadMask::from_bits(send), leave);
        if !fault::on(Fault::OrphanKeepsPolled) && !weak::on(Weak::WipeBeforeDrain) {
            polled.clear();
        }
        entry.state.store(0, Ordering::Release);
        // SAFETY: retired above; there is one orphan per life, and it is consumed here.
        let owner = unsafe { entry.take_owner() };
        self.used.fetch_sub(1, Ordering::Relaxed);
        entry.group.free();
        hit(Point::RetiredBeforeClose, fd);
        Retired { fd, owner, state }
    }
}
