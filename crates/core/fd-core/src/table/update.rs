//! Pending updates: the difference that may exist between what the state of a descriptor wants and what a
//! poller holds, and the threads that must compare the two (protocol 11 and 12).
//!
//! The order of the pair `update`: a call changes the state, then sets the update bit; a thread that applies
//! the update clears its bit, then reads the state. The side that comes second sees what the first one wrote,
//! so no interest is lost (L1).

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Live, Pin, mistakes};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::sync::Ordering;
use crate::words::update_list::Next;

/// An element of a thread's private list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Update {
    /// The registration that the update concerns. An element of a registration that ended is dropped (S8).
    pub(crate) handle: FdHandle,
    /// The polled masks may be wrong for this thread; see [`crate::poller::Change::force`].
    pub(crate) force: bool,
}

/// How an update was published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheduled {
    /// The calling thread must append the update to its private list.
    Private,
    /// No further step is needed: the update is in the private list already, or no thread applies it.
    Nothing,
    /// The update is in the group's shared list, and these threads must be woken to apply it.
    Wake(ThreadMask),
}

impl Live<'_> {
    /// Publishes an update on behalf of `caller` (protocol 11). If the caller is the only allowed thread, the
    /// update goes to its private list. Otherwise it goes to all allowed threads, through the shared list of
    /// the entry's group, and all of them but the caller must be woken.
    pub(crate) fn schedule(&self, caller: Option<ThreadId>) -> Scheduled {
        let entry = self.entry();
        let table = self.table();
        let allowed = self.thread_mask();
        let mine = caller.filter(|id| id.group() == self.group()).map_or(ThreadMask::NONE, ThreadId::mask);
        let private = allowed == mine;
        fault!(PrivateUpdateForShared: private => true);
        if private && !mine.is_empty() {
            // Pair: update. A thread that clears the bit reads the state that this update concerns, because
            // both are read-modify-writes of one word.
            return match entry.update_mask.fetch_or(mine.bits(), Ordering::AcqRel) & mine.bits() {
                0 => Scheduled::Private,
                _ => Scheduled::Nothing,
            };
        }
        if allowed.is_empty() {
            return Scheduled::Nothing;
        }
        fault!(NoWakeIfOwed => if self.pending().contains(allowed) { return Scheduled::Nothing });
        // Pairs: update, schedule-unlist. This side sets the bits, then reads the link; the other side
        // unlinks the entry, then reads the bits.
        pairs::set_updates(&entry.update_mask, allowed.bits());
        checkpoint!(UpdateBitsSet, self.fd());
        table.updates(self.group()).add(table, self.fd() as usize);
        fault!(NoWakeForUpdate => return Scheduled::Nothing);
        // Each of these threads has a poller of its own to update, and sleeps without the descriptor until it
        // does. They are woken whatever the bits and the activity were before this call (suspect 19). The
        // caller applies its own update before it sleeps.
        let to_wake = allowed.and(table.enabled(self.group())).without(mine);
        fault!(WakeAsksFirstGroup: to_wake => mistakes::awake_in_first_group(table));
        fault!(OneSharerWoken: to_wake => mistakes::one_to_wake(to_wake, mine.intersects(allowed)));
        Scheduled::Wake(to_wake)
    }
}

impl Pin<'_> {
    /// Clears the update bits in `mask`. The caller reads the state afterwards.
    pub(crate) fn clear_update(&self, mask: ThreadMask) {
        self.take_updates(mask);
    }

    /// Clears the update bits in `mask`. Returns the bits that remain.
    fn take_updates(&self, mask: ThreadMask) -> ThreadMask {
        // Pair: update. Acquire: a thread that clears a bit reads the state that the update concerns.
        let order = ordering!(ClearRelaxed, AcqRel);
        ThreadMask::from_bits(self.entry().update_mask.fetch_and(!mask.bits(), order) & !mask.bits())
    }

    /// Clears the update bits in `mask`, and unlists the entry if no enabled thread has a pending update of
    /// it (protocol 12.2, 12.3). If new bits appear meanwhile, it lists the entry again and returns the
    /// threads that they name. Those threads must be woken: they may have read the list in between and gone
    /// to sleep.
    pub(super) fn done_update(&self, mask: ThreadMask) -> ThreadMask {
        let (table, entry, group) = (self.table(), self.entry(), self.group());
        let mut pending = self.take_updates(mask);
        let mut listed_again = ThreadMask::NONE;
        while !pending.intersects(table.enabled(group)) {
            table.updates(group).remove(table, self.fd() as usize);
            listed_again = ThreadMask::NONE;
            fault!(NoLookAfterUnlist => break);
            // Pair: schedule-unlist.
            pending = ThreadMask::from_bits(pairs::updates_after_unlink(&entry.update_mask));
            if !pending.intersects(table.enabled(group)) {
                break;
            }
            table.updates(group).add(table, self.fd() as usize);
            pending = self.pending();
            listed_again = pending;
        }
        listed_again
    }

    /// Clears the updates in `mask`, then calls `visit` to apply the state. Returns the threads that must be
    /// woken, as [`Pin::done_update`] does.
    fn serve_update(self, mask: ThreadMask, visit: impl FnOnce(Self)) -> ThreadMask {
        fault!(ApplyBeforeClear => return mistakes::visit_and_clear(self, mask, visit));
        let to_wake = self.done_update(mask);
        visit(self);
        to_wake
    }

    /// Handles an entry that a walk of the shared list has reached: applies the update if `me` has one
    /// pending. `served` are the threads for which `visit` applies it. Returns the threads that must be
    /// woken.
    fn visit_listed(self, me: ThreadId, served: ThreadMask, visit: impl FnOnce(Self)) -> ThreadMask {
        // A hint: `serve_update` clears the bits.
        let pending = self.pending();
        if pending.contains(me.mask()) {
            return self.serve_update(served, visit);
        }
        if pending.intersects(self.table().enabled(self.group())) {
            // The entry stays listed for these threads.
            return ThreadMask::NONE;
        }
        // The updates were applied through private lists, or they belong to threads that have ended (bug 68).
        self.done_update(ThreadMask::NONE)
    }
}

/// The result of a walk of the shared list.
pub(crate) struct Walked {
    /// How many listed numbers no longer belonged to the group.
    pub(crate) dropped: u64,
    /// The threads with a pending update of an entry that this walk unlisted and had to list again. The
    /// caller must wake them (L3).
    pub(crate) to_wake: ThreadMask,
}

impl FdTable {
    /// Whether the group's shared list has entries. An entry that is added later wakes a thread that is about
    /// to sleep.
    #[inline]
    pub(crate) fn has_listed_updates(&self, group: GroupId) -> bool {
        self.updates(group).head().is_some()
    }

    /// Visits every entry of the group's shared list for which `me` has a pending update, after it has
    /// cleared that update (protocol 12.2 to 12.4). With `for_all` one visit serves every thread of the
    /// group, because the group shares the interest.
    pub(crate) fn walk_updates<'t>(
        &'t self,
        me: ThreadId,
        for_all: bool,
        mut visit: impl FnMut(Pin<'t>),
    ) -> Walked {
        fault!(SharedUpdateOnce: for_all => true);
        let served = if for_all { ThreadMask::ALL } else { me.mask() };
        let group = me.group();
        let list = self.updates(group);
        let (mut dropped, mut to_wake) = (0, ThreadMask::NONE);
        loop {
            let epoch = list.epoch();
            let mut at = list.head();
            while let Some(fd) = at {
                // The next entry is read before the visit, which may unlist this one.
                let next = list.after(self, fd);
                checkpoint!(WalkAt, fd as RawFd);
                match self.pin_in(group, fd as RawFd) {
                    Some(pin) => to_wake = to_wake.or(pin.visit_listed(me, served, &mut visit)),
                    None => dropped += 1,
                }
                at = match next {
                    Next::Fd(next) => Some(next),
                    Next::End => None,
                    Next::Lost => list.head(),
                };
            }
            // If an entry is removed and appended again while the walk stands on it, the walk continues at
            // the tail and misses the entries between. The walk has missed nothing if nothing was added
            // (suspect 9).
            let additions = list.epoch();
            fault!(WalkOnce: additions => epoch);
            if additions == epoch {
                // The calling thread needs no wake-up: an entry that it listed again counts as an addition,
                // so the walk was repeated.
                let to_wake = to_wake.without(me.mask());
                return Walked { dropped, to_wake };
            }
        }
    }
}
