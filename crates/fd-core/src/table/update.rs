//! Updates: a descriptor whose wanted and polled states may differ, and the threads that must look.
//!
//! An update is published after the state that it is about: set ACTIVE, then set the update bit; a poller clears
//! its bit, then reads the state. The thread that comes second sees what the first one did (L1).

use std::os::fd::RawFd;

use super::{FdHandle, FdTable, Pin, mistakes};
use crate::words::ids::{ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::sync::Ordering;
use crate::words::update_list::Next;

/// One element of a thread's private list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Update {
    /// The registration it is about. An element that outlives it is dropped (S8).
    pub(crate) handle: FdHandle,
    /// The polled masks are not to be trusted for this thread; see [`crate::poller::Change::force`].
    pub(crate) force: bool,
}

/// How an update was published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheduled {
    /// The calling thread must append it to its private list.
    Private,
    /// It is in a private list, or in the shared one, already, and its thread is awake.
    Nothing,
    /// It is in the group's shared list, and this thread must be woken to see it.
    Wake(ThreadId),
}

impl Pin<'_> {
    /// Publishes an update on behalf of `caller`: privately if the caller is the only allowed thread, else to all
    /// allowed threads through the shared list of the entry's group. `pick` chooses which thread to wake.
    pub(crate) fn schedule(&self, caller: Option<ThreadId>, pick: usize) -> Scheduled {
        let entry = self.entry();
        let table = self.table();
        let allowed = self.thread_mask();
        let mine = caller.filter(|id| id.group() == self.group()).map_or(ThreadMask::NONE, ThreadId::mask);
        let private = allowed == mine;
        fault!(PrivateUpdateForShared: private => true);
        if private && !mine.is_empty() {
            // Pair: update. A thread that clears the bit sees the state that it is about: both are read-modify-writes of one word.
            return match entry.update_mask.fetch_or(mine.bits(), Ordering::AcqRel) & mine.bits() {
                0 => Scheduled::Private,
                _ => Scheduled::Nothing,
            };
        }
        if allowed.is_empty() {
            return Scheduled::Nothing;
        }
        fault!(NoWakeIfOwed => if self.pending().contains(allowed) { return Scheduled::Nothing });
        // Pairs: update, schedule-unlist. Bits, then list ∥ list, then bits.
        pairs::set_updates(&entry.update_mask, allowed.bits());
        checkpoint!(UpdateBitsSet, self.fd());
        table.updates(self.group()).add(table, self.fd() as usize);
        fault!(NoWakeForUpdate => return Scheduled::Nothing);
        if mine.intersects(allowed) {
            // The caller is one of them and looks before it sleeps; the others see it in their own next pass.
            return Scheduled::Nothing;
        }
        // Whether or not this call changed the mask or the activity: some thread must look (suspect 19).
        let awake = allowed.and(table.enabled(self.group()));
        fault!(WakeAsksFirstGroup: awake => mistakes::awake_in_first_group(table));
        match awake.nth(pick) {
            Some(index) => ThreadId::new(self.group(), index).map_or(Scheduled::Nothing, Scheduled::Wake),
            None => Scheduled::Nothing,
        }
    }

    /// Clears the update bits in `mask`, before the state is read.
    pub(crate) fn clear_update(&self, mask: ThreadMask) {
        self.take_updates(mask);
    }

    /// [`Pin::clear_update`]. Returns the bits that are left.
    fn take_updates(&self, mask: ThreadMask) -> ThreadMask {
        // Pair: update. Acquire: a thread that clears a bit sees the state that it is about.
        let order = ordering!(ClearRelaxed, AcqRel);
        ThreadMask::from_bits(self.entry().update_mask.fetch_and(!mask.bits(), order) & !mask.bits())
    }

    /// Clears the update bits in `mask` and unlists the entry if no thread that is still there needs it (protocol 12.2, 12.3). Returns who owes
    /// an update of an entry that had to be listed again: whoever was woken for it may have looked in between, and slept.
    pub(super) fn done_update(&self, mask: ThreadMask) -> ThreadMask {
        let (table, entry, group) = (self.table(), self.entry(), self.group());
        let mut left = self.take_updates(mask);
        let mut listed_again = ThreadMask::NONE;
        while !left.intersects(table.enabled(group)) {
            table.updates(group).remove(table, self.fd() as usize);
            listed_again = ThreadMask::NONE;
            fault!(NoLookAfterUnlist => break);
            // Pair: schedule-unlist.
            left = ThreadMask::from_bits(pairs::updates_after_unlink(&entry.update_mask));
            if !left.intersects(table.enabled(group)) {
                break;
            }
            table.updates(group).add(table, self.fd() as usize);
            left = self.pending();
            listed_again = left;
        }
        listed_again
    }

    /// Takes the updates in `mask` off the entry, and then lets `visit` apply the state. Returns which
    /// threads must be woken, as [`Pin::done_update`] does.
    fn serve_update(self, mask: ThreadMask, visit: impl FnOnce(Self)) -> ThreadMask {
        fault!(ApplyBeforeClear => return mistakes::visit_and_clear(self, mask, visit));
        let to_wake = self.done_update(mask);
        visit(self);
        to_wake
    }
}

/// What a walk of the shared list leaves to its caller.
pub(crate) struct Walked {
    /// How many listed numbers turned out not to be the group's any more.
    pub(crate) dropped: u64,
    /// Who owes an update of what this walk took off the list and had to list again. They must be woken (L3).
    pub(crate) to_wake: ThreadMask,
}

impl FdTable {
    /// Visits every entry of the group's shared list on which `me` owes an update, with that update taken off it.
    /// `for_all`: this visit serves every thread of the group, because the interest is shared.
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
                // Before the visit: it may unlist the entry.
                let next = list.after(self, fd);
                checkpoint!(WalkAt, fd as RawFd);
                match self.pin_in(group, fd as RawFd) {
                    None => dropped += 1,
                    Some(pin) => {
                        // A hint: the bits are taken below.
                        let pending = pin.pending();
                        if pending.contains(me.mask()) {
                            to_wake = to_wake.or(pin.serve_update(served, &mut visit));
                        } else if !pending.intersects(self.enabled(group)) {
                            // Served through private lists, or pending for threads that have left (bug 68).
                            to_wake = to_wake.or(pin.done_update(ThreadMask::NONE));
                        }
                    }
                }
                at = match next {
                    Next::Fd(next) => Some(next),
                    Next::End => None,
                    Next::Lost => list.head(),
                };
            }
            // An entry that was removed and appended again underfoot takes the walk to the tail, past others. If
            // nothing was added, nothing was missed (suspect 9).
            let additions = list.epoch();
            fault!(WalkOnce: additions => epoch);
            if additions == epoch {
                // This thread looks again by itself: what it has listed is counted.
                let to_wake = to_wake.without(me.mask());
                return Walked { dropped, to_wake };
            }
        }
    }
}
