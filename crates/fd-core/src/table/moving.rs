//! Change of owner: takeover inside a group, and relocation to any thread of any group.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Orphan, Pin};
use crate::backoff::Backoff;
use crate::checkpoint::{Point, hit};
use crate::error::MoveError;
use crate::fault::{self, Fault};
use crate::group_word::LockRefused;
use crate::handler::OwnerId;
use crate::ids::{GroupId, ThreadId, ThreadMask};
use crate::poller::Leave;
use crate::state;
use crate::sync::Ordering;
use crate::weak::{self, Weak};

/// How often a relocation looks for a moment without a reference before it gives up. References are held for a
/// constant number of steps, so more than a few rounds mean that their holder is preempted, or that there is always
/// another: either is the caller's to know (L7).
const LOCK_ROUNDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 128 };

impl<'t> Pin<'t> {
    /// Makes `me`, of the pinned group, the only allowed thread (protocol 8). Without a double-word CAS: the running
    /// mask is won from zero, which excludes every user; then the thread mask is replaced; then running is given
    /// up.
    ///
    /// Neither direction is active afterwards: the new owner asks for what it wants.
    ///
    /// Every failure leaves the entry as it was. Whatever the outcome, the caller may have become the one that
    /// must end the life of a descriptor deleted meanwhile.
    pub(crate) fn takeover(
        self,
        me: ThreadMask,
        expected: OwnerId,
    ) -> (Result<(), MoveError>, Result<Pin<'t>, Orphan<'t>>) {
        if self.owner_id() != expected && !fault::on(Fault::TakeoverIgnoresOwner) {
            return (Err(MoveError::WrongOwner), Ok(self));
        }
        let entry = self.entry();
        // Pair: exit. Acquire: a takeover that wins sees what the last user left.
        let won = entry.running.compare_exchange(0, me.bits(), Ordering::AcqRel, Ordering::Acquire);
        if won.is_err() {
            if fault::on(Fault::TakeoverStopsOnFailure) {
                entry.state.fetch_and(!state::ACTIVE, Ordering::AcqRel);
            }
            if !fault::on(Fault::TakeoverIgnoresRunning) {
                return (Err(MoveError::Busy), Ok(self));
            }
            entry.running.fetch_or(me.bits(), Ordering::AcqRel);
        }
        hit(Point::TakeoverRunningSet, self.fd());
        let result = self.replace_owner(me);
        hit(Point::TakeoverMaskSet, self.fd());
        if weak::on(Weak::TakeoverNoExit) {
            self.entry().running.fetch_and(!me.bits(), Ordering::AcqRel);
            return (result, Ok(self));
        }
        (result, self.leave(me))
    }

    /// With `me` the only runner: replaces a one-thread mask by `me`.
    fn replace_owner(&self, me: ThreadMask) -> Result<(), MoveError> {
        let entry = self.entry();
        let old = self.thread_mask();
        if old == me {
            return Ok(());
        }
        if fault::on(Fault::TakeoverStoresMask) {
            entry.thread_mask.store(me.bits(), Ordering::Release);
            entry.changed_owner();
            return Ok(());
        }
        match old.len() {
            0 => return Err(MoveError::Deleted),
            1 => {}
            // Between allowed threads a takeover in progress could not be told from a running handler.
            _ => return Err(MoveError::Shared),
        }
        if !fault::on(Fault::TakeoverKeepsThreadMask) {
            // Pairs: exit, rearm. The mask, then the mark. Not a plain store: that would bring an entry under deletion back to
            // life. Release: whoever sees the new mask sees what the old owner left (it had given up its running bit before
            // ours was won).
            let replaced = entry.thread_mask.compare_exchange(
                old.bits(),
                me.bits(),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if replaced.is_err() {
                return Err(MoveError::Deleted);
            }
        }
        if fault::on(Fault::PolledFollowsOwner) {
            self.polled().set(old.bits(), false, false);
        }
        self.entry().changed_owner();
        Ok(())
    }
}

impl crate::entry::Entry {
    /// The new owner starts from nothing wanted, and from a poller whose knowledge is not to be trusted.
    fn changed_owner(&self) {
        let stopped = if fault::on(Fault::MigrateKeepsActive) { 0 } else { state::ACTIVE };
        let rearm = if fault::on(Fault::NoRearmAfterTakeover) { 0 } else { state::REARM };
        // Pair: rearm.
        let order = weak::ordering(Weak::RearmRelaxed, Ordering::AcqRel);
        let _ = self.state.fetch_update(order, Ordering::Acquire, |state| Some(state & !stopped | rearm));
        self.takeovers.fetch_add(1, Ordering::Relaxed);
    }
}

impl FdTable {
    /// Makes `target` the only allowed thread, whatever group it is of, called by any thread. The group word is
    /// locked while nobody has a reference; then nobody can begin to run, and masks and group change together.
    ///
    /// `forget` is called for the pollers of the group that loses the descriptor, while the word is locked; with
    /// `shared_interest` also inside a group, where what the old thread wanted would be polled by the new one.
    pub(crate) fn relocate(
        &self,
        handle: FdHandle,
        target: ThreadId,
        expected: Option<OwnerId>,
        shared_interest: bool,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, Leave),
    ) -> Result<(), MoveError> {
        if !self.has_thread(target) {
            return Err(MoveError::NoThread);
        }
        let locked = self.lock(handle)?;
        hit(Point::MoveLocked, handle.fd);
        let (entry, from) = (locked.entry(), locked.from);
        if expected.is_some_and(|expected| locked.owner_id() != expected) {
            return Err(MoveError::WrongOwner);
        }
        // Pair: move. Here and below. Nobody can set a running bit without a pin, and there is no pin: zero stays zero.
        if entry.running.load(Ordering::Acquire) != 0 && !weak::on(Weak::MoveIgnoresRunning) {
            return Err(MoveError::Busy);
        }
        let old = entry.thread_mask.load(Ordering::Acquire);
        if expected.is_some() && ThreadMask::from_bits(old).len() > 1 {
            return Err(MoveError::Shared);
        }
        // No deleter is under way either: it would have a pin. A zero belongs to an entry whose last user is
        // still to leave, and that one is running. Never revive it all the same.
        if old == 0 {
            return Err(MoveError::Deleted);
        }
        // Pair: move. Here and below.
        entry.thread_mask.store(target.mask().bits(), Ordering::Release);
        let leaves_group = from != target.group();
        let mut locked = Some(locked);
        if weak::on(Weak::WipeAfterUnlock) {
            locked.take().into_iter().for_each(|locked| locked.unlock_into(target.group()));
        }
        if leaves_group {
            // While still locked: a thread of the new group must not read the old group's bits (suspect 7).
            if !weak::on(Weak::MoveKeepsListed) {
                self.updates(from).remove(self, handle.fd as usize);
            }
            entry.update_mask.store(0, Ordering::Release);
        }
        if (leaves_group || shared_interest) && !fault::on(Fault::GroupChangeKeepsPolled) {
            let polled = &self.polled[handle.fd as usize];
            let (recv, send) = polled.load();
            let (recv, send) = (ThreadMask::from_bits(recv), ThreadMask::from_bits(send));
            // The old group's pollers forget it now, not at their next event: nothing is left over there for the
            // day the number is closed or comes back.
            forget(handle.fd, from, recv, send, Leave::StaysOpen);
            polled.clear();
        }
        entry.changed_owner();
        hit(Point::MoveDone, handle.fd);
        if let Some(locked) = locked {
            locked.unlock_into(target.group());
        }
        Ok(())
    }

    fn lock(&self, handle: FdHandle) -> Result<Locked<'_>, MoveError> {
        self.check_table(handle)?;
        let entry = self.entry(handle.fd).ok_or(handle.stale())?;
        let mut backoff = Backoff::default();
        loop {
            match entry.group.lock(handle.generation) {
                Ok(word) => {
                    let from = word.group().ok_or(handle.stale())?;
                    return Ok(Locked { table: self, fd: handle.fd, from, to: from });
                }
                Err(LockRefused::Stale) => return Err(handle.stale().into()),
                Err(LockRefused::Busy) if backoff.rounds() >= LOCK_ROUNDS => return Err(MoveError::Busy),
                Err(LockRefused::Busy) => {
                    // A runner keeps no reference but will come back with one: no use in waiting for it.
                    if self.pin(handle).is_ok_and(|pin| !pin.running().is_empty()) {
                        return Err(MoveError::Busy);
                    }
                    backoff.wait();
                }
            }
        }
    }
}

/// A locked group word; unlocks into `to` when dropped.
struct Locked<'t> {
    table: &'t FdTable,
    fd: RawFd,
    from: GroupId,
    to: GroupId,
}

impl<'t> Locked<'t> {
    fn entry(&self) -> &'t crate::entry::Entry {
        &self.table.entries[self.fd as usize]
    }

    fn owner_id(&self) -> OwnerId {
        // SAFETY: the lock holds a reference of its own (S5).
        unsafe { self.entry().owner_id() }
    }

    fn unlock_into(mut self, group: GroupId) {
        self.to = group;
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.entry().group.unlock(self.from, self.to);
    }
}
