//! The table in the child of a fork. The other threads do not exist there, and neither finish what they had begun nor give
//! back what they held.

use std::os::fd::RawFd;

use super::FdTable;
use super::registration::Retired;
use crate::words::events::DeregisterReason;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::state;
use crate::words::sync::Ordering;

impl FdTable {
    /// Takes every reference, lock, running bit and list position from the threads that exist no longer. `me` is the worker
    /// that goes on, if one does; it holds no pin. Returns the registrations that have no user left and must be closed.
    ///
    /// A slot that was changing hands is free afterwards. What a lost thread had on its stack leaks: the handler and the
    /// descriptor of an insertion that was not finished, and those of a registration that had ended and was to be closed. A
    /// registration that was being moved stays with its old group.
    ///
    /// To be called by the only thread of the process.
    pub(crate) fn after_fork(
        &self,
        me: Option<ThreadId>,
        mut forget: impl FnMut(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Vec<Retired> {
        let mut ended = Vec::new();
        self.groups().for_each(|group| self.updates(group).reset());
        for fd in 0..self.high_water() {
            let entry = &self.entries[fd];
            entry.link.reset();
            entry.update_mask.store(0, Ordering::Release);
            self.polled[fd].clear();
            let group = entry.group.peek().group();
            let mine = me.filter(|me| Some(me.group()) == group).map_or(ThreadMask::NONE, ThreadId::mask);
            let was_changing_hands = entry.group.is_changing_hands();
            entry.group.release_after_fork();
            let users = entry.running.fetch_and(mine.bits(), Ordering::AcqRel) & mine.bits();
            let deleted = entry.state.load(Ordering::Acquire) & state::DELETED != 0;
            if deleted {
                entry.thread_mask.store(0, Ordering::Release);
            }
            if deleted && users == 0 {
                // Its token may be taken: by a thread that was about to close it.
                entry.state.fetch_and(!state::MUST_CLOSE, Ordering::AcqRel);
                entry.group.retire_after_fork();
                // Its group is lost if its end had begun; all that depends on it has been wiped above.
                let group = group.or_else(|| self.groups().next());
                ended.extend(group.map(|group| self.finish_retired(fd as RawFd, group, &mut forget)));
            } else if was_changing_hands {
                entry.thread_mask.store(0, Ordering::Release);
                entry.state.store(0, Ordering::Release);
                entry.group.retire_after_fork();
                entry.group.free();
            }
        }
        let alive =
            self.entries[..self.high_water()].iter().filter(|entry| entry.group.peek().group().is_some());
        self.used.store(alive.count() as u64, Ordering::Relaxed);
        ended
    }
}
