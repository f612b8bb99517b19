//! The shared update list of a group: the descriptors with an update that several threads must apply, or a
//! thread other than the caller (protocol 13).
//!
//! It is a doubly linked list through the entries of the table. The link of an entry is one 64-bit word of
//! two `i32` halves, so that one compare-and-swap locks an entry in both directions, without a double-word
//! compare-and-swap. The values of a half:
//!
//! | value | `next` | `prev` |
//! |---|---|---|
//! | > 0 | linked, followed by descriptor value − 1 | preceded by descriptor value − 1 |
//! | 0 | not linked (as a zeroed entry) | first |
//! | −1 | locked: being added or removed | locked |
//! | −2 − *g* | linked, last of the list of group index *g* | – |
//!
//! The tail mark contains the group, so an adder with a stale tail cannot append to the list of another group
//! (suspect 16).
//!
//! A removal locks the entry, then its predecessor's `next`, then its successor's `prev`. If the predecessor
//! is busy, the removal releases its lock and waits for the predecessor. If the successor is busy, it waits
//! and keeps its locks. All waiting while holding a lock is therefore towards the tail, and the tail waits
//! for no other entry: there is no deadlock and no livelock.

use crate::words::backoff::Backoff;
use crate::words::pairs;
use crate::words::sync::{AtomicI32, AtomicU64, Ordering};

const UNLINKED: i32 = 0;
const FIRST: i32 = 0;
const LOCKED: i32 = -1;

/// The place of one entry in a list.
pub(crate) struct Link(AtomicU64);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Halves {
    next: i32,
    prev: i32,
}

impl Halves {
    const LOCKED: Self = Self { next: LOCKED, prev: LOCKED };

    fn pack(self) -> u64 {
        u64::from(self.next as u32) << 32 | u64::from(self.prev as u32)
    }

    fn unpack(word: u64) -> Self {
        Self { next: (word >> 32) as u32 as i32, prev: word as u32 as i32 }
    }
}

impl Link {
    #[cfg(any(test, loom, shuttle))]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn load(&self) -> Halves {
        Halves::unpack(pairs::read(&self.0))
    }

    fn swap_whole(&self, from: Halves, to: Halves) -> bool {
        // Pair: link.
        self.0.compare_exchange(from.pack(), to.pack(), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Stores to a link that this thread has locked.
    fn store(&self, to: Halves) {
        // Pair: link.
        self.0.store(to.pack(), ordering!(LinkRelaxed, Release));
    }

    /// Unlinks a link that this thread has locked. The caller can then read the update bits in order.
    fn unlink(&self) {
        pairs::unlink(&self.0, Halves { next: UNLINKED, prev: FIRST }.pack());
    }

    /// Makes the link unlinked after a fork. Only the single thread of a forked child may call this.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Replaces `next` if it is `from`. Changes of `prev` do not matter. Returns whether it replaced.
    fn swap_next(&self, from: i32, to: i32) -> bool {
        self.update(|now| (now.next == from).then_some(Halves { next: to, ..now }))
    }

    /// Replaces `prev` if it is `from`. Changes of `next` do not matter. Returns whether it replaced.
    fn swap_prev(&self, from: i32, to: i32) -> bool {
        self.update(|now| (now.prev == from).then_some(Halves { prev: to, ..now }))
    }

    /// Waits until `prev` is `from`, and locks it.
    fn lock_prev(&self, from: i32) {
        let mut backoff = Backoff::default();
        while !self.swap_prev(from, LOCKED) {
            backoff.wait();
        }
    }

    /// Locks the link if it is unlinked. Returns whether it did; if not, the entry is in a list.
    fn lock_unlinked(&self) -> bool {
        let mut backoff = Backoff::default();
        loop {
            let now = self.load();
            fault!(AddUnlocked => if now.next == UNLINKED { return true });
            match now.next {
                UNLINKED if self.swap_whole(now, Halves::LOCKED) => return true,
                // The entry may be in the middle of its removal, so waiting is mandatory (bug 40).
                UNLINKED | LOCKED => backoff.wait(),
                _ => return false,
            }
        }
    }

    fn update(&self, change: impl Fn(Halves) -> Option<Halves>) -> bool {
        let change = |word| change(Halves::unpack(word)).map(Halves::pack);
        // Pair: link. A failed exchange continues with the value that it found, never with an older copy
        // (bugs 15 and 63).
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }

    /// Whether the entry is in no list and no thread is about to change that.
    pub(crate) fn is_unlinked(&self) -> bool {
        self.load().next == UNLINKED
    }
}

/// The next step of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Continue with this descriptor.
    Fd(usize),
    /// The list ends here.
    End,
    /// The current entry has left the list. Start again at the head.
    Lost,
}

/// The shared update list of one group.
pub(crate) struct UpdateList {
    first: AtomicI32,
    last: AtomicI32,
    /// The number of additions. A walk compares it to prove that it has missed none.
    epoch: AtomicU64,
    /// The mark in `next` of the last entry.
    tail: i32,
}

/// Access to the links of a table. `fd` is always an index that the table has checked.
pub(crate) trait Links {
    fn link(&self, fd: usize) -> &Link;
}

/// The value of a half that names `fd`.
fn half(fd: usize) -> i32 {
    fd as i32 + 1
}

/// The descriptor that a half names.
fn descriptor(half: i32) -> usize {
    (half - 1) as usize
}

impl UpdateList {
    pub(crate) fn new(group_index: usize) -> Self {
        fault!(OneTailMark: group_index => 0);
        Self {
            first: AtomicI32::new(FIRST),
            last: AtomicI32::new(FIRST),
            epoch: AtomicU64::new(0),
            tail: -2 - group_index as i32,
        }
    }

    /// The number of additions so far.
    pub(crate) fn epoch(&self) -> u64 {
        // Pair: epoch.
        self.epoch.load(Ordering::Acquire)
    }

    /// Appends `fd` unless it is linked already. The caller has pinned the entry, and the list is the one of
    /// the entry's group.
    pub(crate) fn add(&self, links: &impl Links, fd: usize) {
        let link = links.link(fd);
        if !link.lock_unlinked() {
            // A walk may have passed this entry before the caller set its update bit. The count makes it walk
            // again.
            self.count_addition();
            return;
        }
        // The addition is counted before another thread can meet the entry in its new place. A walk that the
        // removal and this addition lead to the tail, past other entries, began before: it sees the count
        // when it gets there (suspect 9).
        unless!(CountedLate => self.count_addition());
        let last = self.append(links, fd);
        // Pair: link. The thread that appended is the only one that writes this end of the list.
        if last == FIRST {
            self.first.store(half(fd), Ordering::Release);
        } else {
            self.last.store(half(fd), Ordering::Release);
        }
        link.store(Halves { next: self.tail, prev: last });
        fault!(CountedLate => self.count_addition());
    }

    /// Links the last entry, or the empty list, to `fd`. Returns the previous value of `last`.
    fn append(&self, links: &impl Links, fd: usize) -> i32 {
        let mut backoff = Backoff::default();
        loop {
            // Pair: link. Here and below.
            let last = self.last.load(Ordering::Acquire);
            let appended = if last == FIRST {
                let empty = self.last.compare_exchange(FIRST, half(fd), Ordering::AcqRel, Ordering::Relaxed);
                empty.is_ok()
            } else {
                // Succeeds only on an entry that is the linked tail of this list.
                links.link(descriptor(last)).swap_next(self.tail, half(fd))
            };
            if appended {
                return last;
            }
            backoff.wait();
        }
    }

    fn count_addition(&self) {
        // Pair: epoch.
        self.epoch.fetch_add(1, ordering!(EpochRelaxed, AcqRel));
    }

    /// Unlinks `fd` if it is linked.
    #[inline]
    pub(crate) fn remove(&self, links: &impl Links, fd: usize) {
        if links.link(fd).load().next != UNLINKED {
            self.remove_linked(links, fd);
        }
    }

    /// Unlinks `fd`, unless another thread does so first.
    #[cold]
    #[inline(never)]
    fn remove_linked(&self, links: &impl Links, fd: usize) {
        let link = links.link(fd);
        let Some(now) = self.lock_with_predecessor(links, fd) else { return };
        let is_last = now.next == self.tail;
        invariant!(is_last || now.next > 0, "S13: fd {fd} is linked in the list of another group");
        if !is_last {
            unless!(SuccessorUnlocked => links.link(descriptor(now.next)).lock_prev(half(fd)));
        }
        // Pair: link. Both neighbours are locked, so no other thread writes these words.
        if now.prev == FIRST {
            self.first.store(if is_last { FIRST } else { now.next }, Ordering::Release);
        }
        if is_last {
            // An adder that has read the old tail finds it locked or unlinked, and reads again.
            self.last.store(now.prev, Ordering::Release);
        }
        if now.prev != FIRST {
            let freed = links.link(descriptor(now.prev)).swap_next(LOCKED, now.next);
            invariant!(freed, "S13: the predecessor of {fd} was not locked");
        }
        if !is_last {
            let successor = links.link(descriptor(now.next));
            let freed = successor.swap_prev(LOCKED, now.prev);
            fault!(SuccessorUnlocked: freed => successor.swap_prev(half(fd), now.prev));
            invariant!(freed, "S13: the successor of {fd} was not locked");
        }
        link.unlink();
    }

    /// Locks the link of `fd` and the `next` of its predecessor. Returns the link's value before, or `None`
    /// if it is not linked.
    fn lock_with_predecessor(&self, links: &impl Links, fd: usize) -> Option<Halves> {
        let link = links.link(fd);
        let mut backoff = Backoff::default();
        loop {
            let now = link.load();
            if now.next == UNLINKED {
                return None;
            }
            if now.next == LOCKED || now.prev == LOCKED || !link.swap_whole(now, Halves::LOCKED) {
                backoff.wait();
                continue;
            }
            if now.prev == FIRST || links.link(descriptor(now.prev)).swap_next(half(fd), LOCKED) {
                return Some(now);
            }
            // The predecessor is being removed and needs this entry's `prev`. Release it, and do not lock it
            // again before that removal is done: otherwise the two could prevent each other without end.
            link.store(now);
            while links.link(descriptor(now.prev)).load().next == LOCKED {
                backoff.wait();
            }
        }
    }

    /// Empties the list after a fork, without reading its links, which the caller also resets. Only the
    /// single thread of a forked child may call this.
    pub(crate) fn reset(&self) {
        self.first.store(FIRST, Ordering::Relaxed);
        self.last.store(FIRST, Ordering::Relaxed);
    }

    /// The first entry of the list, where a walk begins.
    #[inline]
    pub(crate) fn head(&self) -> Option<usize> {
        // Pair: link.
        let first = self.first.load(Ordering::Acquire);
        (first != FIRST).then(|| descriptor(first))
    }

    /// The step of a walk that follows `fd`.
    pub(crate) fn after(&self, links: &impl Links, fd: usize) -> Next {
        let mut backoff = Backoff::default();
        loop {
            match links.link(fd).load().next {
                LOCKED => backoff.wait(),
                next if next > 0 => return Next::Fd(descriptor(next)),
                next if next == self.tail => return Next::End,
                // Unlinked, or now the tail of another group's list.
                _ => return Next::Lost,
            }
        }
    }
}

#[cfg(test)]
impl UpdateList {
    /// Returns the entries in order, of a list at rest. Asserts S13: forward and backward walks agree, first
    /// and last are right, and no other entry below `count` is linked.
    pub(crate) fn check_whole(&self, links: &impl Links, count: usize) -> Vec<usize> {
        let mut forward = vec![];
        let mut at = self.head();
        let mut before = FIRST;
        while let Some(fd) = at {
            assert_eq!(links.link(fd).load().prev, before, "S13: prev of {fd}");
            before = half(fd);
            forward.push(fd);
            assert!(forward.len() <= count, "S13: cycle: {forward:?}");
            at = match self.after(links, fd) {
                Next::Fd(next) => Some(next),
                Next::End => None,
                Next::Lost => panic!("S13: {fd} is not linked"),
            };
        }
        assert_eq!(self.last.load(Ordering::Acquire), before, "S13: last");
        for fd in 0..count {
            assert_eq!(links.link(fd).is_unlinked(), !forward.contains(&fd), "S13: membership of {fd}");
        }
        forward
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    struct TestLinks(Vec<Link>);

    impl Links for TestLinks {
        fn link(&self, fd: usize) -> &Link {
            &self.0[fd]
        }
    }

    fn unlinked(count: usize) -> TestLinks {
        TestLinks((0..count).map(|_| Link::new()).collect())
    }

    fn contents(list: &UpdateList, links: &TestLinks) -> Vec<usize> {
        list.check_whole(links, links.0.len())
    }

    #[test]
    fn additions_keep_their_order_and_are_idempotent() {
        let (list, links) = (UpdateList::new(0), unlinked(4));
        for fd in [2, 0, 3, 0, 2] {
            list.add(&links, fd);
        }
        assert_eq!(contents(&list, &links), [2, 0, 3]);
        assert_eq!(list.epoch(), 5);
    }

    #[test]
    fn removal_from_every_position_keeps_the_list_whole() {
        for removed in 0..4 {
            let (list, links) = (UpdateList::new(1), unlinked(4));
            (0..4).for_each(|fd| list.add(&links, fd));
            list.remove(&links, removed);
            list.remove(&links, removed);
            let rest: Vec<_> = (0..4).filter(|fd| *fd != removed).collect();
            assert_eq!(contents(&list, &links), rest);
            list.add(&links, removed);
            assert_eq!(contents(&list, &links).last(), Some(&removed));
        }
    }

    #[test]
    fn the_only_entry_leaves_an_empty_list() {
        let (list, links) = (UpdateList::new(0), unlinked(1));
        for _ in 0..3 {
            list.add(&links, 0);
            list.remove(&links, 0);
            assert_eq!(contents(&list, &links), [0; 0]);
        }
    }

    /// Suspect 16: an entry that moved to another group's list does not lead a walk there.
    #[test]
    fn a_walker_does_not_end_in_another_list() {
        let links = unlinked(2);
        let (mine, other) = (UpdateList::new(0), UpdateList::new(1));
        mine.add(&links, 0);
        mine.remove(&links, 0);
        other.add(&links, 0);
        assert_eq!(mine.after(&links, 0), Next::Lost);
        assert_eq!(other.after(&links, 0), Next::End);
    }

    /// Bugs 15, 16, 40 and 63 were list operations that were lost or endless under contention.
    #[test]
    fn threads_that_add_and_remove_leave_a_whole_list() {
        let (list, links) = (UpdateList::new(0), unlinked(3));
        for round in 0..200 {
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let (list, links) = (&list, &links);
                    scope.spawn(move || {
                        for step in 0..50 {
                            let fd = (thread + step + round) % 3;
                            if (step + thread) % 2 == 0 {
                                list.add(links, fd)
                            } else {
                                list.remove(links, fd)
                            }
                        }
                    });
                }
            });
            contents(&list, &links);
        }
    }
}
