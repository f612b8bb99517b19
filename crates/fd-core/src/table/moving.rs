//! Changes of the owner: takeover inside a group (protocol 8), and relocation to any thread of any group
//! (protocol 9).
//!
//! A takeover excludes the users of a descriptor by winning the running mask. A relocation excludes them by
//! locking the group word: a thread that has set its running bit looks at the word afterwards.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Orphan, Pin, mistakes};
use crate::entry::Entry;
use crate::entry::error::MoveError;
use crate::entry::owner::OwnerId;
use crate::words::backoff::Backoff;
use crate::words::events::DeregisterReason;
use crate::words::group_word::LockRefused;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::state;
use crate::words::sync::Ordering;

/// How many times a relocation tries to lock the group word. References are held for a constant number of
/// steps. If more than a few attempts fail, a holder of a reference is preempted, or new references follow
/// each other; the caller gets `Busy` in both cases (L7).
pub(super) const LOCK_ROUNDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 128 };

impl<'t> Pin<'t> {
    /// Makes `me`, a thread of the pinned group, the only allowed thread (protocol 8). It needs no
    /// double-word compare-and-swap: it wins the running mask from zero, which excludes every user, replaces
    /// the thread mask, and then exits.
    ///
    /// Both directions are inactive afterwards. The new owner enables the interest that it needs.
    ///
    /// Every failure leaves the entry as it was. In every case the descriptor may have been deleted
    /// meanwhile, and the exit may then return the [`Orphan`] to the caller.
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
        // Pair: exit. Acquire: a takeover that wins reads what the last user wrote.
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

    /// Replaces a thread mask of one thread by `me`, which is the only runner.
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
            // Between allowed threads, a takeover in progress cannot be distinguished from a running handler.
            _ => return Err(MoveError::Shared),
        }
        fault!(TakeoverKeepsThreadMask: me => old);
        // Pairs: exit, rearm. The mask first, then the mark. A plain store would revive an entry under
        // deletion. Release: a thread that reads the new mask also reads what the old owner wrote, because
        // the old owner cleared its running bit before this thread won it.
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
    /// Deactivates both directions, and marks the entry `REARM`: the new owner's poller must replace the
    /// registration, because its polled masks may be wrong (protocol 8.4).
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
    /// Makes `target` the only allowed thread, in any group, called by any thread (protocol 9). It locks the
    /// group word while the word has no reference. No thread can begin to run then, and the masks and the
    /// group change together.
    ///
    /// While the word is locked, it calls `forget` for the pollers of the group that loses the descriptor.
    /// With `shared_interest` it also does so inside one group, where the new thread would otherwise poll the
    /// directions that the old thread enabled.
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
        // Pair: enter-move. A thread that sets its running bit after this read finds the lock, and leaves.
        let running = pairs::running(&entry.running);
        fault!(MoveIgnoresRunning: running => 0);
        if running != 0 {
            return Err(MoveError::Busy);
        }
        // Pair: move. Here and below.
        let old = entry.thread_mask.load(Ordering::Acquire);
        if expected.is_some() && ThreadMask::from_bits(old).len() > 1 {
            return Err(MoveError::Shared);
        }
        // No delete is in progress, because it would hold a pin. A zero mask belongs to a deleted entry whose
        // last user is about to end it.
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

    /// Removes an entry that moves from the list and the masks of its old group, and from the pollers that
    /// must not keep it (protocol 9.4). The entry is still locked: a thread of the new group must not read
    /// the old group's bits (suspect 7).
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
            // The old group's pollers forget the descriptor now, not at their next event, so no registration
            // remains there when the number is closed or the entry comes back.
            forget(fd, from, recv, send, DeregisterReason::StaysOpen);
            polled.clear();
        }
    }

    /// Locks the group word. Calls `wait` between attempts.
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
                // A runner may run for long.
                Err(LockRefused::Busy) if self.pin(handle).is_ok_and(|pin| !pin.running().is_empty()) => {
                    break;
                }
                Err(LockRefused::Busy) => wait(),
            }
        }
        Err(MoveError::Busy)
    }
}

/// A locked group word. The drop unlocks it into the group `to`.
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
