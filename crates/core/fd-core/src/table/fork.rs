//! The table in a forked child (protocol 16). The other threads of the parent do not exist there: they
//! neither complete their operations nor release their references.

use std::os::fd::RawFd;

use super::FdTable;
use super::counts::Count;
use super::registration::Retired;
use crate::words::events::DeregisterReason;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::state;
use crate::words::sync::Ordering;

impl FdTable {
    /// Releases every reference, lock, running bit and list position of the threads that do not exist in the
    /// child. `worker` is the worker that continues in the child, if there is one, and the descriptors that
    /// it uses; it holds no pin. Returns the registrations that are deleted and have no user left. The caller
    /// must close them.
    ///
    /// A slot that another thread was claiming or retiring is free afterwards. The values that only the stack
    /// of that thread held leak: the handler and descriptor of an incomplete insertion, and those of a
    /// registration that had ended and was not yet closed. A registration that was being moved stays in its
    /// old group, for a thread of it: the old one, or one with the index of the new one.
    ///
    /// Only the single thread of a forked child may call this.
    pub(crate) fn after_fork(
        &self,
        worker: Option<(ThreadId, &[RawFd])>,
        mut forget: impl FnMut(RawFd, GroupId, ThreadMask, ThreadMask, DeregisterReason),
    ) -> Vec<Retired> {
        let mut ended = Vec::new();
        self.groups().for_each(|group| self.updates(group).reset());
        for fd in 0..self.high_water() {
            let entry = &self.entries[fd];
            entry.link.reset();
            entry.update_mask.store(0, Ordering::Release);
            self.polled[fd].clear();
            let word = entry.group.peek();
            let group = word.group();
            if let Some(group) = group.filter(|_| word.is_locked()) {
                // The mask can be that of the new group already (S19).
                let threads = self.threads(group);
                if !threads.contains(ThreadMask::from_bits(entry.thread_mask.load(Ordering::Acquire))) {
                    entry.thread_mask.store(ThreadMask::first(1).bits(), Ordering::Release);
                }
            }
            // The bit alone does not tell: a thread with the same index in another group may have left it.
            let user = worker.filter(|(_, inside)| inside.contains(&(fd as RawFd)));
            let mine = user.map_or(ThreadMask::NONE, |(me, _)| me.mask());
            let was_claimed_or_retired = entry.group.is_claimed_or_retired();
            entry.group.release_after_fork();
            let users = entry.running.fetch_and(mine.bits(), Ordering::AcqRel) & mine.bits();
            let is_deleted = entry.state.load(Ordering::Acquire) & state::DELETED != 0;
            if is_deleted {
                entry.thread_mask.store(0, Ordering::Release);
            }
            if is_deleted && users == 0 {
                // Another thread may have taken the close token and not closed the number.
                entry.state.fetch_and(!state::MUST_CLOSE, Ordering::AcqRel);
                entry.group.retire_after_fork();
                // A registration whose end had begun has lost its group. Everything that depends on the group
                // is wiped.
                let group = group.or_else(|| self.groups().next());
                ended.extend(group.map(|group| self.finish_retired(fd as RawFd, group, &mut forget)));
            } else if was_claimed_or_retired {
                entry.thread_mask.store(0, Ordering::Release);
                entry.group.retire_after_fork();
                entry.write_flags(0);
                self.timeouts[fd].0.store(0, Ordering::Release);
                entry.group.free();
            }
        }
        let registered =
            self.entries[..self.high_water()].iter().filter(|entry| entry.group.peek().group().is_some());
        self.counts.add(Count::Lost, self.used() - registered.count() as u64);
        ended
    }
}
