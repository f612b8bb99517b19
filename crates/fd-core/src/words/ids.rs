//! The identities of the model: groups, threads inside a group, and masks of such threads.

use std::fmt;

/// Threads that one group can hold: the width of every mask.
pub const THREADS_PER_GROUP: usize = u64::BITS as usize;

/// Groups that one table can hold. The group word has room for more; the update list's tail marks and the
/// per-group arrays are sized by this.
pub const MAX_GROUPS: usize = 16;

/// A thread group, numbered from 1. Zero never names a group: in a group word it says "nobody's".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u16);

impl GroupId {
    /// The group with the given one-based number, if a table can hold it.
    pub const fn new(number: usize) -> Option<Self> {
        if number >= 1 && number <= MAX_GROUPS { Some(Self(number as u16)) } else { None }
    }

    /// The one-based number, as `show fd` prints it.
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// The zero-based position of this group in per-group arrays.
    pub const fn index(self) -> usize {
        self.0 as usize - 1
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0 as u64
    }
}

impl fmt::Debug for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "G{}", self.0)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One worker thread: a group and a position inside it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    group: GroupId,
    index: u8,
}

impl ThreadId {
    /// The thread at zero-based `index` of `group`, if a group can hold it.
    pub const fn new(group: GroupId, index: usize) -> Option<Self> {
        if index < THREADS_PER_GROUP { Some(Self { group, index: index as u8 }) } else { None }
    }

    /// The thread's group.
    pub const fn group(self) -> GroupId {
        self.group
    }

    /// The zero-based position inside the group.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// The mask that holds this thread alone. It means something only beside this thread's group.
    pub const fn mask(self) -> ThreadMask {
        ThreadMask(1 << self.index)
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}/T{}", self.group, self.index)
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.index)
    }
}

/// A set of threads of one group. Which group is always said by something else: a [`GroupId`] beside it, or
/// the pinned group word of the entry that it came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ThreadMask(pub(crate) u64);

impl ThreadMask {
    /// No thread.
    pub const NONE: Self = Self(0);
    /// Every thread that a group can hold; insert reduces it to those that the group has.
    pub const ALL: Self = Self(u64::MAX);

    /// The mask with exactly these bits.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The first `count` threads.
    pub const fn first(count: usize) -> Self {
        if count >= THREADS_PER_GROUP { Self::ALL } else { Self((1 << count) - 1) }
    }

    /// The bits, thread 0 lowest.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether no thread is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many threads are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether every thread of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some thread of `other` is in this set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The threads in both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The threads in either set.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The threads of this set that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The zero-based positions of the threads in the set, lowest first.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let index = rest.trailing_zeros();
            (rest != 0).then(|| {
                rest &= rest - 1;
                index as usize
            })
        })
    }

    /// The member at position `pick % len`, counted over the set's own members, so that whatever `pick` is the
    /// answer is a thread of the set (S19). `None` for the empty set.
    pub fn nth(self, pick: usize) -> Option<usize> {
        match self.len() {
            0 => None,
            len => self.indices().nth(pick % len),
        }
    }
}

impl fmt::Debug for ThreadMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::LowerHex for ThreadMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_from_one() {
        assert_eq!(GroupId::new(0), None);
        assert_eq!(GroupId::new(MAX_GROUPS + 1), None);
        let last = GroupId::new(MAX_GROUPS).unwrap();
        assert_eq!((last.get(), last.index()), (MAX_GROUPS, MAX_GROUPS - 1));
    }

    #[test]
    fn a_thread_outside_the_mask_width_does_not_exist() {
        let group = GroupId::new(1).unwrap();
        assert_eq!(ThreadId::new(group, THREADS_PER_GROUP), None);
        assert_eq!(ThreadId::new(group, 63).unwrap().mask().bits(), 1 << 63);
    }

    /// S19: bugs 58 and 78 of the history picked a thread with the wrong range, mask or base.
    #[test]
    fn the_picked_thread_is_always_a_member() {
        for bits in [1, 0b1010, 0b0101, 1 << 63, u64::MAX, (1 << 63) | 1] {
            let mask = ThreadMask::from_bits(bits);
            for pick in 0..200 {
                let index = mask.nth(pick).unwrap();
                assert!(bits & (1 << index) != 0, "{mask:?} gave {index} for {pick}");
            }
        }
        assert_eq!(ThreadMask::NONE.nth(7), None);
    }
}
