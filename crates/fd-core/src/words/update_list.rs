//! The shared update list of a group: descriptors whose polling must be brought up to date by more than one
//! thread, or by a thread that is not the caller.
//!
//! A doubly linked list through the table. Each entry's link is one 64-bit word of two `i32` halves, so that one
//! compare-and-swap locks an entry in both directions (what used to need a double-word CAS). A half holds
//!
//! | value | `next` | `prev` |
//! |---|---|---|
//! | > 0 | linked, followed by descriptor value − 1 | preceded by descriptor value − 1 |
//! | 0 | not linked (and so is a fresh, zeroed entry) | first |
//! | −1 | locked: being added or removed | locked |
//! | −2 − *g* | linked, last of the list of group index *g* | – |
//!
//! The tail mark names the list, so that an adder which holds a stale tail cannot append to another group's list
//! (suspect 16).
//!
//! To remove an entry is to lock it, then its predecessor's `next`, then its successor's `prev`. Who finds the
//! predecessor busy gives everything back and keeps away until that one is done; who finds the successor busy
//! waits, holding what it has. All holding and waiting is therefore towards the tail, and the tail waits for nobody:
//! no deadlock and no livelock.

use crate::words::backoff::Backoff;
use crate::words::pairs;
use crate::words::sync::{AtomicI32, AtomicU64, Ordering};

const UNLINKED: i32 = 0;
const FIRST: i32 = 0;
const LOCKED: i32 = -1;

/// One entry's place in the list.
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

    /// Unlinks a link that this thread has locked. The caller may look at the update bits next.
    fn unlink(&self) {
        pairs::unlink(&self.0, Halves { next: UNLINKED, prev: FIRST }.pack());
    }

    /// Forgets the list that the entry was in. For the only thread of a forked child.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Replaces `next` if it is `from`, whatever happens to `prev` meanwhile. Returns whether it did.
    fn swap_next(&self, from: i32, to: i32) -> bool {
        self.update(|now| (now.next == from).then_some(Halves { next: to, ..now }))
    }

    /// Replaces `prev` if it is `from`, whatever happens to `next` meanwhile. Returns whether it did.
    fn swap_prev(&self, from: i32, to: i32) -> bool {
        self.update(|now| (now.prev == from).then_some(Halves { prev: to, ..now }))
    }

    /// Locks `prev`, once it is `from`.
    fn lock_prev(&self, from: i32) {
        let mut backoff = Backoff::default();
        while !self.swap_prev(from, LOCKED) {
            backoff.wait();
        }
    }

    fn update(&self, change: impl Fn(Halves) -> Option<Halves>) -> bool {
        let change = |word| change(Halves::unpack(word)).map(Halves::pack);
        // Pair: link. A failed exchange goes on with what it found, never with an older copy (bugs 15 and 63).
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }

    /// Whether the entry is in no list and nobody is about to change that.
    pub(crate) fn is_unlinked(&self) -> bool {
        self.load().next == UNLINKED
    }
}

/// Where a walker goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// To this descriptor.
    Fd(usize),
    /// Nowhere: the end of this list.
    End,
    /// The entry underfoot has left the list: start again.
    Lost,
}

/// Head and tail of one group's list.
pub(crate) struct UpdateList {
    first: AtomicI32,
    last: AtomicI32,
    /// Counts additions, so that a walker can prove that it has missed none.
    epoch: AtomicU64,
    tail: i32,
}

/// The links of a table: `fd` is always an index that the table has checked.
pub(crate) trait Links {
    fn link(&self, fd: usize) -> &Link;
}

/// How a descriptor is written in a half.
fn cell(fd: usize) -> i32 {
    fd as i32 + 1
}

fn descriptor(cell: i32) -> usize {
    (cell - 1) as usize
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

    /// How many additions there have been.
    pub(crate) fn epoch(&self) -> u64 {
        // Pair: epoch.
        self.epoch.load(Ordering::Acquire)
    }

    /// Appends `fd` unless it is linked already. Its owner group must be this list's, and pinned.
    pub(crate) fn add(&self, links: &impl Links, fd: usize) {
        let link = links.link(fd);
        let mut backoff = Backoff::default();
        loop {
            let now = link.load();
            fault!(AddUnlocked => if now.next == UNLINKED { break });
            match now.next {
                UNLINKED if link.swap_whole(now, Halves::LOCKED) => break,
                // Being removed, perhaps: waiting is mandatory (bug 40).
                UNLINKED | LOCKED => backoff.wait(),
                _ => {
                    // A walker that passed this entry before the caller's update bit was set looks again.
                    self.count();
                    return;
                }
            }
        }
        // Before another thread can meet the entry in its new place: a walk that its removal and this
        // addition take to the tail, past others, began before and sees the count when it gets there (suspect
        // 9).
        unless!(CountedLate => self.count());
        let mut backoff = Backoff::default();
        let last = loop {
            // Pair: link. Here and below.
            let last = self.last.load(Ordering::Acquire);
            let appended = if last == FIRST {
                let empty = self.last.compare_exchange(FIRST, cell(fd), Ordering::AcqRel, Ordering::Relaxed);
                empty.is_ok()
            } else {
                // Succeeds only on the linked tail of this very list.
                links.link(descriptor(last)).swap_next(self.tail, cell(fd))
            };
            if appended {
                break last;
            }
            backoff.wait();
        };
        // Pair: link.
        if last == FIRST {
            self.first.store(cell(fd), Ordering::Release);
        } else {
            self.last.store(cell(fd), Ordering::Release);
        }
        link.store(Halves { next: self.tail, prev: last });
        fault!(CountedLate => self.count());
    }

    fn count(&self) {
        // Pair: epoch.
        self.epoch.fetch_add(1, ordering!(EpochRelaxed, AcqRel));
    }

    /// Unlinks `fd` if it is linked.
    pub(crate) fn remove(&self, links: &impl Links, fd: usize) {
        let link = links.link(fd);
        let mut backoff = Backoff::default();
        let now = loop {
            let now = link.load();
            if now.next == UNLINKED {
                return;
            }
            if now.next == LOCKED || now.prev == LOCKED || !link.swap_whole(now, Halves::LOCKED) {
                backoff.wait();
                continue;
            }
            if now.prev != FIRST && !links.link(descriptor(now.prev)).swap_next(cell(fd), LOCKED) {
                // The predecessor is being removed and wants our `prev`: let it have it, and keep away from our own
                // link until it is done, or the two could chase each other for ever.
                link.store(now);
                while links.link(descriptor(now.prev)).load().next == LOCKED {
                    backoff.wait();
                }
                continue;
            }
            break now;
        };
        let is_last = now.next == self.tail;
        invariant!(is_last || now.next > 0, "fd {fd} is linked in another group's list (S13)");
        if !is_last {
            unless!(SuccessorUnlocked => links.link(descriptor(now.next)).lock_prev(cell(fd)));
        }
        // Pair: link. Everything around is locked: no other thread writes these now.
        if now.prev == FIRST {
            self.first.store(if is_last { FIRST } else { now.next }, Ordering::Release);
        }
        if is_last {
            // An adder that has just read the old tail finds it locked, then unlinked, and reads again.
            self.last.store(now.prev, Ordering::Release);
        }
        if now.prev != FIRST {
            let freed = links.link(descriptor(now.prev)).swap_next(LOCKED, now.next);
            invariant!(freed, "S13: the predecessor of {fd} was not locked");
        }
        if !is_last {
            let successor = links.link(descriptor(now.next));
            let freed = successor.swap_prev(LOCKED, now.prev);
            fault!(SuccessorUnlocked: freed => successor.swap_prev(cell(fd), now.prev));
            invariant!(freed, "S13: the successor of {fd} was not locked");
        }
        link.unlink();
    }

    /// Empties the list without a look at its links. For the only thread of a forked child, which resets those, too.
    pub(crate) fn reset(&self) {
        self.first.store(FIRST, Ordering::Relaxed);
        self.last.store(FIRST, Ordering::Relaxed);
    }

    /// Where a walk starts.
    pub(crate) fn head(&self) -> Option<usize> {
        // Pair: link.
        let first = self.first.load(Ordering::Acquire);
        (first != FIRST).then(|| descriptor(first))
    }

    /// Where a walk goes from `fd`.
    pub(crate) fn after(&self, links: &impl Links, fd: usize) -> Next {
        let mut backoff = Backoff::default();
        loop {
            match links.link(fd).load().next {
                LOCKED => backoff.wait(),
                next if next > 0 => return Next::Fd(descriptor(next)),
                next if next == self.tail => return Next::End,
                // Unlinked, or the tail of another group's list by now.
                _ => return Next::Lost,
            }
        }
    }
}

#[cfg(test)]
impl UpdateList {
    /// The entries in order, of a list at rest. Asserts S13: forward and backward walks agree, first and last are right,
    /// nothing below `count` is linked that is not in the list.
    pub(crate) fn check_whole(&self, links: &impl Links, count: usize) -> Vec<usize> {
        let mut forward = vec![];
        let mut at = self.head();
        let mut before = FIRST;
        while let Some(fd) = at {
            assert_eq!(links.link(fd).load().prev, before, "S13: prev of {fd}");
            before = cell(fd);
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

    struct Cells(Vec<Link>);

    impl Links for Cells {
        fn link(&self, fd: usize) -> &Link {
            &self.0[fd]
        }
    }

    fn cells(count: usize) -> Cells {
        Cells((0..count).map(|_| Link::new()).collect())
    }

    fn contents(list: &UpdateList, links: &Cells) -> Vec<usize> {
        list.check_whole(links, links.0.len())
    }

    #[test]
    fn additions_keep_their_order_and_are_idempotent() {
        let (list, links) = (UpdateList::new(0), cells(4));
        for fd in [2, 0, 3, 0, 2] {
            list.add(&links, fd);
        }
        assert_eq!(contents(&list, &links), [2, 0, 3]);
        assert_eq!(list.epoch(), 5);
    }

    #[test]
    fn removal_from_every_position_keeps_the_list_whole() {
        for gone in 0..4 {
            let (list, links) = (UpdateList::new(1), cells(4));
            (0..4).for_each(|fd| list.add(&links, fd));
            list.remove(&links, gone);
            list.remove(&links, gone);
            let left: Vec<_> = (0..4).filter(|fd| *fd != gone).collect();
            assert_eq!(contents(&list, &links), left);
            list.add(&links, gone);
            assert_eq!(contents(&list, &links).last(), Some(&gone));
        }
    }

    #[test]
    fn the_only_entry_leaves_an_empty_list() {
        let (list, links) = (UpdateList::new(0), cells(1));
        for _ in 0..3 {
            list.add(&links, 0);
            list.remove(&links, 0);
            assert_eq!(contents(&list, &links), []);
        }
    }

    /// Suspect 16: an entry that moved to another group's list does not lead a walker there.
    #[test]
    fn a_walker_does_not_end_in_another_list() {
        let links = cells(2);
        let (mine, other) = (UpdateList::new(0), UpdateList::new(1));
        mine.add(&links, 0);
        mine.remove(&links, 0);
        other.add(&links, 0);
        assert_eq!(mine.after(&links, 0), Next::Lost);
        assert_eq!(other.after(&links, 0), Next::End);
    }

    /// Bugs 15, 16, 40 and 63 were lost or endless list operations under collision.
    #[test]
    fn threads_that_add_and_remove_leave_a_whole_list() {
        let (list, links) = (UpdateList::new(0), cells(3));
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
