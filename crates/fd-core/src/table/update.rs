//! Updates: a descriptor whose wanted and polled states may differ, and the threads that must look.
//!
//! An update is published after the state that it is about: set ACTIVE, then set the update bit; a poller clears
//! its bit, then reads the state. Whoever comes second sees the other (L1).

use std::os::fd::RawFd;

use super::{FdTable, Pin};
use crate::checkpoint::{Point, hit};
use crate::fault::{self, Fault};
use crate::ids::{ThreadId, ThreadMask};
use crate::poller::Generation;
use crate::sync::{Ordering, dekker};
use crate::update_list::Next;

/// One element of a thread's private list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Update {
    pub(crate) fd: RawFd,
    /// The life it is about. An element that outlives it is dropped (S8).
    pub(crate) generation: Generation,
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
        let private = allowed == mine || fault::on(Fault::PrivateUpdateForShared);
        if private && !mine.is_empty() {
            // Dekker with `done_update` and the private pass: bit set, then (by the poller) bit cleared, state read.
            return match entry.update_mask.fetch_or(mine.bits(), Ordering::SeqCst) & mine.bits() {
                0 => Scheduled::Private,
                _ => Scheduled::Nothing,
            };
        }
        if allowed.is_empty() {
            return Scheduled::Nothing;
        }
        let owed = entry.update_mask.fetch_or(allowed.bits(), Ordering::SeqCst);
        dekker();
        if fault::on(Fault::NoWakeIfOwed) && ThreadMask::from_bits(owed).contains(allowed) {
            return Scheduled::Nothing;
        }
        hit(Point::UpdateBitsSet, self.fd());
        table.updates(self.group()).add(table, self.fd() as usize);
        if mine.intersects(allowed) || fault::on(Fault::NoWakeForUpdate) {
            // The caller is one of them and looks before it sleeps; the others learn from their own next pass.
            return Scheduled::Nothing;
        }
        // Whether or not this call changed the mask or the activity: somebody must look (suspect 19).
        match allowed.and(table.enabled(self.group())).nth(pick) {
            Some(index) => ThreadId::new(self.group(), index).map_or(Scheduled::Nothing, Scheduled::Wake),
            None => Scheduled::Nothing,
        }
    }

    /// Clears the update bits in `mask`, before the state is read.
    pub(crate) fn clear_update(&self, mask: ThreadMask) {
        self.entry().update_mask.fetch_and(!mask.bits(), Ordering::SeqCst);
        dekker();
    }

    /// Clears the update bits in `mask` and unlists the entry if no thread that is still there needs it (2.9).
    fn done_update(&self, mask: ThreadMask) {
        let (table, entry, group) = (self.table(), self.entry(), self.group());
        let mut left =
            ThreadMask::from_bits(entry.update_mask.fetch_and(!mask.bits(), Ordering::SeqCst) & !mask.bits());
        while !left.intersects(table.enabled(group)) {
            table.updates(group).remove(table, self.fd() as usize);
            // Dekker with `schedule` (bits, then list): unlisted, then look at the bits again.
            dekker();
            left = ThreadMask::from_bits(entry.update_mask.load(Ordering::SeqCst));
            if !left.intersects(table.enabled(group)) {
                break;
            }
            table.updates(group).add(table, self.fd() as usize);
            dekker();
            left = ThreadMask::from_bits(entry.update_mask.load(Ordering::SeqCst));
        }
    }
}

impl FdTable {
    /// Visits every entry of the group's shared list on which `me` owes an update, with that update taken off it.
    /// `for_all`: this visit serves every thread of the group, because the interest is shared.
    ///
    /// Returns how many listed numbers turned out not to be the group's any more.
    pub(crate) fn walk_updates<'t>(
        &'t self,
        me: ThreadId,
        for_all: bool,
        mut visit: impl FnMut(Pin<'t>),
    ) -> u64 {
        let group = me.group();
        let list = self.updates(group);
        let mut dropped = 0;
        loop {
            let epoch = list.epoch();
            let mut at = list.head();
            while let Some(fd) = at {
                // Before the visit: it may unlist the entry.
                let next = list.after(self, fd);
                match self.pin_in(group, fd as RawFd) {
                    None => dropped += 1,
                    Some(pin) => {
                        let owed = ThreadMask::from_bits(pin.entry().update_mask.load(Ordering::SeqCst));
                        let for_all = for_all || fault::on(Fault::SharedUpdateOnce);
                        if owed.contains(me.mask()) {
                            pin.done_update(if for_all { ThreadMask::ALL } else { me.mask() });
                            visit(pin);
                        } else if !owed.intersects(self.enabled(group)) {
                            // Served through private lists, or owed by threads that have left (bug 68).
                            pin.done_update(ThreadMask::NONE);
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
            if list.epoch() == epoch {
                return dropped;
            }
        }
    }
}
