//! Change of owner: takeover inside a group, and relocation to any thread of any group.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Orphan, Pin, mistakes};
use crate::entry::Entry;
use crate::entry::error::MoveError;
use crate::entry::owner::OwnerId;
use crate::words::backoff::Backoff;
use crate::words::events::DeregisterReason;
use crate::words::group_word::LockRefused;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::state;
use crate::words::sync::Ordering;

/// How often a relocation looks for a moment without a reference before it gives up. References are held for a
/// constant number of steps, so more than a few rounds mean that their holder is preempted, or that there is always
/// another: either is the caller's to know (L7).
pub(super) const LOCK_ROUNDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 128 };

impl<'t> Pin<'t> {
    /// Makes `me`, of the pinned group, the only allowed thread (protocol 8). Without a double-word CAS: the running
    /// mask is won from zero, which excludes every user; then the thread mask is replaced; then running is given
    /// up.
    ///
    /// Neither direction is active afterwards: the new owner asks for what it wants.
    ///
    /// Every failure leaves the entry as it was. Whatever the outcome, the caller may have become the one that
    /// must end the registration of a descriptor deleted meanwhile.
    pub(crate) fn takeover(
        self,
        me: ThreadMask,
        expected: OwnerId,
    ) -> (Result<(), MoveError>, Result<Pin<'t>, Orphan<'t>>) {
        fault!(TakeoverIgnoresOwner: expected => self.owner_id());
        if self.owner_id() != expected {
            return (Err(MoveError::WrongOwner), Ok(self));
        }
        let entry = self.entry();
        // Pair: exit. Acquire: a takeover that wins sees what the last user left.
        let won = entry.running.compare_exchange(0, me.bits(), Ordering::AcqRel, Ordering::Acquire);
        fault!(TakeoverIgnoresRunning: won => Ok(entry.running.fetch_or(me.bits(), Ordering::AcqRel)));
        if won.is_err() {
            fault!(TakeoverStopsOnFailure => entry.state.fetch_and(!state::ACTIVE, Ordering::AcqRel));
            return (Err(MoveError::Busy), Ok(self));
        }
        checkpoint!(TakeoverRunningSet, self.fd());
        let result = self.replace_owner(me);
        checkpoint!(TakeoverMaskSet, self.fd());
        fault!(TakeoverNoExit => return (result, mistakes::end_takeover(self, me)));
        (result, self.exit(me))
    }

    /// With `me` the only runner: replaces a one-thread mask by `me`.
    fn replace_owner(&self, me: ThreadMask) -> Result<(), MoveError> {
        let entry = self.entry();
        let old = self.thread_mask();
        if old == me {
            return Ok(());
        }
        fault!(TakeoverStoresMask => return mistakes::store_owner(self, me));
        match old.len() {
            0 => return Err(MoveError::Deleted),
            1 => {}
            // Between allowed threads a takeover in progress could not be told from a running handler.
            _ => return Err(MoveError::Shared),
        }
        fault!(TakeoverKeepsThreadMask: me => old);
        // Pairs: exit, rearm. The mask, then the mark. Not a plain store: that would bring an entry under
        // deletion back to registration. Release: a thread that sees the new mask sees what the old owner left (it
        // had given up its running bit before this thread won it).
        let (old_bits, new_bits) = (old.bits(), me.bits());
        let replaced =
            entry.thread_mask.compare_exchange(old_bits, new_bits, Ordering::AcqRel, Ordering::Acquire);
        if replaced.is_err() {
            return Err(MoveError::Deleted);
        }
        fault!(PolledFollowsOwner => self.polled().set(old.bits(), false, false));
        entry.changed_owner();
        Ok(())
    }
}

impl Entry {
    /// The new owner starts with both directions stopped, and from a poller whose knowledge is not to be
    /// trusted.
    pub(super) fn changed_owner(&self) {
        let (stopped, rearm) = (state::ACTIVE, state::REARM);
        fault!(MigrateKeepsActive: stopped => 0);
        fault!(NoRearmAfterTakeover: rearm => 0);
        // Pair: rearm.
        let order = ordering!(RearmRelaxed, AcqRel);
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
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Result<(), MoveError> {
        if !self.has_thread(target) {
            return Err(MoveError::NoThread);
        }
        let mut backoff = Backoff::default();
        let locked = self.lock(handle, || backoff.wait())?;
        checkpoint!(MoveLocked, handle.fd);
        let (entry, from) = (locked.entry(), locked.from);
        if expected.is_some_and(|expected| locked.owner_id() != expected) {
            return Err(MoveError::WrongOwner);
        }
        // Pair: move. Here and below. No thread can set a running bit without a pin, and there is no pin:
        // zero stays zero.
        let running = entry.running.load(Ordering::Acquire);
        fault!(MoveIgnoresRunning: running => 0);
        if running != 0 {
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
        let wipe = || self.wipe_moved(handle.fd, from, target.group(), shared_interest, forget);
        fault!(WipeAfterUnlock => return mistakes::unlock_and_wipe(locked, target, wipe));
        wipe();
        entry.changed_owner();
        checkpoint!(MoveDone, handle.fd);
        locked.unlock_into(target.group());
        Ok(())
    }

    /// Takes an entry that moves out of the list and the masks of its old group, and out of the pollers that
    /// may not keep it. While it is still locked: a thread of the new group must not read the old group's
    /// bits (suspect 7).
    fn wipe_moved(
        &self,
        fd: RawFd,
        from: GroupId,
        to: GroupId,
        shared_interest: bool,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) {
        if from != to {
            unless!(MoveKeepsListed => self.updates(from).remove(self, fd as usize));
            // Pair: move. Here and below.
            self.entries[fd as usize].update_mask.store(0, Ordering::Release);
        }
        fault!(GroupChangeKeepsPolled => return);
        if from != to || shared_interest {
            let polled = &self.polled[fd as usize];
            let (recv, send) = polled.load();
            let (recv, send) = (ThreadMask::from_bits(recv), ThreadMask::from_bits(send));
            // The old group's pollers forget it now, not at their next event: nothing is left over there for the
            // day the number is closed or comes back.
            forget(fd, from, recv, send, DeregisterReason::StaysOpen);
            polled.clear();
        }
    }

    /// Locks the group word. Calls `wait` between two attempts.
    pub(super) fn lock(&self, handle: FdHandle, mut wait: impl FnMut()) -> Result<Locked<'_>, MoveError> {
        self.check_table(handle)?;
        let entry = self.entry(handle.fd).ok_or(handle.stale())?;
        for _ in 0..=LOCK_ROUNDS {
            match entry.group.lock(handle.generation) {
                Ok(word) => {
                    let from = word.group().ok_or(handle.stale())?;
                    return Ok(Locked { table: self, fd: handle.fd, from, to: from });
                }
                Err(LockRefused::Stale) => return Err(handle.stale().into()),
                // A runner keeps no reference but will come back with one: no use in waiting for it.
                Err(LockRefused::Busy) if self.pin(handle).is_ok_and(|pin| !pin.running().is_empty()) => {
                    break;
                }
                Err(LockRefused::Busy) => wait(),
            }
        }
        Err(MoveError::Busy)
    }
}

/// A locked group word; unlocks into `to` when dropped.
pub(super) struct Locked<'t> {
    table: &'t FdTable,
    fd: RawFd,
    from: GroupId,
    to: GroupId,
}

impl<'t> Locked<'t> {
    pub(super) fn entry(&self) -> &'t Entry {
        &self.table.entries[self.fd as usize]
    }

    fn owner_id(&self) -> OwnerId {
        // SAFETY: the lock holds a reference of its own (S5).
        unsafe { self.entry().owner() }.id()
    }

    pub(super) fn unlock_into(mut self, group: GroupId) {
        self.to = group;
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.entry().group.unlock(self.from, self.to);
    }
}
