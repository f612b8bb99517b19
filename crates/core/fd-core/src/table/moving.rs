//! Changes of the owner: takeover inside a group (protocol 8), and relocation to any thread of any group
//! (protocol 9).
//!
//! A takeover excludes the users of a descriptor by winning the running mask. A relocation excludes them by
//! locking the group word: a thread that has set its running bit looks at the word afterwards.

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Live, Orphan, mistakes};
use crate::entry::Entry;
use crate::entry::error::MoveError;
use crate::entry::owner::{OwnerId, Registered};
use crate::words::backoff::Backoff;
use crate::words::events::DeregisterReason;
use crate::words::group_word::{Found, LockRefused};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::state;
use crate::words::sync::{Ordering, count};

/// How many times a relocation tries to lock the group word. References are held for a constant number of
/// steps. If more than a few attempts fail, a holder of a reference is preempted, or new references follow
/// each other; the caller gets `Busy` in both cases (L7).
pub(super) const LOCK_ROUNDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 128 };

/// Why a thread could not take a registration over inside its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotTaken {
    /// The registration belongs to another group.
    Elsewhere,
    /// The answer of the call.
    Refused(MoveError),
}

/// Why a thread did not win the running mask.
enum NotWon {
    /// A thread uses the entry.
    Occupied,
    /// See [`NotTaken::Elsewhere`].
    Elsewhere,
    /// The registration has ended.
    Ended,
}

impl FdTable {
    /// Makes `me` the only allowed thread of a registration of its group (protocol 8). It needs no
    /// double-word compare-and-swap: it wins the running mask from zero, which excludes every user, replaces
    /// the thread mask, and then exits. As in a report, the running bit alone protects the registration.
    ///
    /// Both directions are inactive afterwards. The new owner enables the interest that it needs. `fits` is
    /// asked about the owner first, and calls no code of the user. After a success, `taken` is called before
    /// the exit.
    ///
    /// Every failure leaves the entry as it was. In every case the descriptor may have been deleted
    /// meanwhile, and the exit may then return the [`Orphan`] to the caller.
    #[inline(always)]
    pub(crate) fn takeover<'t>(
        &'t self,
        handle: FdHandle,
        me: ThreadId,
        expected: OwnerId,
        fits: impl Fn(&dyn Registered) -> bool,
        taken: impl FnOnce(&Live<'t>),
    ) -> (Result<(), NotTaken>, Option<Orphan<'t>>) {
        loop {
            let entry = match self.win(handle, me) {
                Ok(entry) => entry,
                Err(NotWon::Occupied) => return (Err(self.refuse_takeover(handle, expected)), None),
                Err(NotWon::Elsewhere) => return (Err(NotTaken::Elsewhere), None),
                Err(NotWon::Ended) => return (Err(NotTaken::Refused(handle.stale().into())), None),
            };
            let (fd, generation) = (handle.fd, handle.generation);
            let live = Live { table: self, entry, fd, generation, group: me.group() };
            checkpoint!(TakeoverRunningSet, handle.fd);
            let Some(result) = live.replace_owner(me.mask(), expected, &fits) else {
                match self.leave(handle.fd, me.mask()) {
                    None => continue,
                    orphan => return (Err(NotTaken::Refused(MoveError::Busy)), orphan),
                }
            };
            if result.is_ok() {
                checkpoint!(TakeoverMaskSet, handle.fd);
                taken(&live);
            }
            let result = result.map_err(NotTaken::Refused);
            fault!(TakeoverNoExit => return (result, mistakes::end_takeover(&live, me.mask())));
            return (result, live.exit(me.mask()));
        }
    }

    /// Sets the running bit of `me` if no other bit is set (protocol 8.1 and 8.2). Does not wait for a user.
    #[inline(always)]
    fn win(&self, handle: FdHandle, me: ThreadId) -> Result<&Entry, NotWon> {
        let entry = self.entry(handle.fd).filter(|_| self.check_table(handle).is_ok());
        let entry = entry.ok_or(NotWon::Ended)?;
        let mut backoff = Backoff::default();
        loop {
            match entry.group.find(handle.generation, me.group()) {
                Found::Here => break,
                Found::Elsewhere => return Err(NotWon::Elsewhere),
                Found::Ended => return Err(NotWon::Ended),
                Found::Locked => {
                    checkpoint!(PinWaits, handle.fd);
                    backoff.wait();
                }
            }
        }
        // Pairs: enter-delete, enter-move, exit.
        let won = pairs::win_running(&entry.running, me.mask().bits());
        fault!(TakeoverIgnoresRunning: won => won || mistakes::enter_occupied(entry, me.mask()));
        won.then_some(entry).ok_or(NotWon::Occupied)
    }

    /// The answer to a takeover of a registration that a thread uses.
    #[cold]
    #[inline(never)]
    fn refuse_takeover(&self, handle: FdHandle, expected: OwnerId) -> NotTaken {
        NotTaken::Refused(match self.pin(handle) {
            Err(stale) => stale.into(),
            Ok(pin) => {
                fault!(TakeoverStopsOnFailure => mistakes::deactivate(&pin));
                if pin.owner_id() == expected { MoveError::Busy } else { MoveError::WrongOwner }
            }
        })
    }
}

impl Live<'_> {
    /// Replaces a thread mask of one thread by `me`, which has won the running mask. Returns `None` if the
    /// entry moved or ended before its bit was seen.
    #[inline(always)]
    fn replace_owner(
        &self,
        me: ThreadMask,
        expected: OwnerId,
        fits: &impl Fn(&dyn Registered) -> bool,
    ) -> Option<Result<(), MoveError>> {
        let entry = self.entry();
        let is_same = || entry.group.find(self.generation, self.group) == Found::Here;
        // Pair: enter-move. A group change that locks the word after this look sees the running bit, and
        // fails.
        if !is_same() {
            unless!(EnterLooksLate => return None);
        }
        // Pair: enter-delete. A delete that clears the mask after this read sees the running bit, and leaves
        // the end to this thread.
        let old = self.thread_mask();
        // Pair: publish. If the word still has this generation, the mask was that of this registration.
        if !is_same() {
            unless!(EnterLooksEarly => return None);
        }
        // Zero means deleted: the registration may end any moment, so its owner is not looked at.
        if old.is_empty() {
            fault!(TakeoverStoresMask => return mistakes::store_owner(self, me));
            return Some(Err(MoveError::Deleted));
        }
        let owner = self.owner();
        let (id, takeovers) = owner.ownership();
        fault!(TakeoverIgnoresOwner: expected => id);
        if id != expected {
            return Some(Err(MoveError::WrongOwner));
        }
        if !fits(owner) {
            return Some(Err(MoveError::WrongType));
        }
        if old == me {
            return Some(Ok(()));
        }
        fault!(TakeoverStoresMask => return mistakes::store_owner(self, me));
        if old.len() > 1 {
            // Between allowed threads, a takeover in progress cannot be distinguished from a running handler.
            return Some(Err(MoveError::Shared));
        }
        fault!(TakeoverKeepsThreadMask: me => old);
        // Pairs: want-takeover, exit, rearm. The mask first, then the state. A plain store would revive an
        // entry under deletion.
        if !pairs::replace_mask(&entry.thread_mask, old.bits(), me.bits()) {
            return Some(Err(MoveError::Deleted));
        }
        fault!(PolledFollowsOwner => self.polled().set(old.bits(), false, false));
        entry.changed_owner(takeovers);
        Some(Ok(()))
    }
}

impl Entry {
    /// Deactivates both directions, and marks the entry `REARM`: the new owner's poller must report an edge
    /// again that it holds already (protocol 8.4). Counts the change.
    pub(super) fn changed_owner(&self, takeovers: &count::AtomicU32) {
        let (stopped, rearm) = (state::ACTIVE, state::REARM);
        fault!(MigrateKeepsActive: stopped => 0);
        fault!(NoRearmAfterTakeover: rearm => 0);
        // Pair: want-takeover. A level is reported without a mark, so an inactive entry stays as it is: a
        // want that this read does not see will see the new owner.
        let needs_change = self.state.load(Ordering::Acquire) & (state::ACTIVE | state::EDGE) != 0;
        if needs_change {
            // Pair: rearm.
            let _ = self
                .state
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| Some(state & !stopped | rearm));
        }
        // One thread at a time: it has won the running mask, or locked the group word.
        takeovers.store(takeovers.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

impl FdTable {
    /// Makes `target` the only allowed thread, in any group, called by any thread (protocol 9). It locks the
    /// group word while the word has no reference. No thread can begin to run then, and the masks and the
    /// group change together.
    ///
    /// While the word is locked, it calls `forget` for the pollers of the group that loses the descriptor.
    /// With `shared_interest` it also does so inside one group, where the new thread would otherwise poll the
    /// directions that the old thread enabled. Returns whether a timeout was ever set.
    pub(crate) fn relocate(
        &self,
        handle: FdHandle,
        target: ThreadId,
        expected: Option<OwnerId>,
        shared_interest: bool,
        forget: impl FnOnce(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Result<bool, MoveError> {
        if !self.has_thread(target) {
            return Err(MoveError::NoThread);
        }
        let mut backoff = Backoff::default();
        let locked = self.lock(handle, || backoff.wait())?;
        checkpoint!(MoveLocked, handle.fd);
        let (entry, from) = (locked.entry(), locked.from);
        if expected.is_some_and(|expected| locked.owner().id() != expected) {
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
        entry.changed_owner(locked.owner().takeovers());
        // Pair: move. A thread that sets a timeout holds a pin, or is running.
        let has_timeout = entry.state.load(Ordering::Acquire) & state::TIMED != 0;
        checkpoint!(MoveDone, handle.fd);
        locked.unlock_into(target.group());
        Ok(has_timeout)
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

    fn owner(&self) -> &dyn Registered {
        // SAFETY: the lock holds a reference of its own (S5).
        unsafe { self.entry().owner() }
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
