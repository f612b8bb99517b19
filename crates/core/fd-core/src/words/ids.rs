//! The identities of groups and threads, and masks of the threads of one group.

use std::fmt;

/// The number of threads that one group can hold: the width of every mask.
pub const THREADS_PER_GROUP: usize = u64::BITS as usize;

/// The number of groups that one table can hold.
pub const MAX_GROUPS: usize = 16;

/// A thread group, numbered from 1 to [`MAX_GROUPS`].
///
/// ```
/// use pollmatrix_fd_core::ids::GroupId;
///
/// let first = GroupId::new(1).expect("groups are numbered from 1");
/// assert_eq!((first.get(), first.index()), (1, 0));
/// assert_eq!(GroupId::new(0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(u16);

impl GroupId {
    /// The first group, which every table has.
    pub const FIRST: Self = Self(1);

    /// Returns the group with the given one-based number, or `None` if no table can hold it.
    pub const fn new(number: usize) -> Option<Self> {
        if number >= 1 && number <= MAX_GROUPS { Some(Self(number as u16)) } else { None }
    }

    /// The one-based number.
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// The zero-based position of this group in an array of all groups.
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

/// A worker thread: a group, and a position inside it. It prints as `group/position`.
///
/// ```
/// use pollmatrix_fd_core::ids::{GroupId, ThreadId};
///
/// let group = GroupId::new(2).expect("groups are numbered from 1");
/// let thread = ThreadId::new(group, 5).expect("positions are from 0 to 63");
/// assert_eq!((thread.to_string().as_str(), thread.mask().bits()), ("2/5", 0b10_0000));
/// assert_eq!(ThreadId::new(group, 64), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    group: GroupId,
    index: u8,
}

impl ThreadId {
    /// The first thread of the first group, which every runtime has. It runs the actions of signals.
    pub const FIRST: Self = Self { group: GroupId::FIRST, index: 0 };

    /// Returns the thread at the zero-based `index` of `group`, or `None` if no group can hold it. The
    /// runtime may have fewer threads: [`FdTable::has_thread`](crate::FdTable::has_thread).
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

    /// The thread as one number, for an atomic.
    pub(crate) const fn number(self) -> u32 {
        (self.group.0 as u32) << 8 | self.index as u32
    }

    /// The thread of this [`ThreadId::number`].
    pub(crate) const fn from_number(number: u32) -> Self {
        Self { group: GroupId((number >> 8) as u16), index: number as u8 }
    }

    /// The thread that is woken at the checkpoint `WakeBegun`: an observer gets its number in place of a
    /// descriptor's.
    #[cfg(feature = "checkpoints")]
    pub const fn woken(number: std::os::fd::RawFd) -> Self {
        Self::from_number(number as u32)
    }

    /// The mask with the bit of this thread alone. It is valid for this thread's group only.
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

/// A set of threads of one group. It does not contain the group, which a [`GroupId`] beside the mask names.
///
/// ```
/// use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
///
/// let group = GroupId::new(1).expect("groups are numbered from 1");
/// let thread = ThreadId::new(group, 2).expect("a group can have 64 threads");
/// assert!(ThreadMask::first(3).contains(thread.mask()));
/// assert!(!ThreadMask::first(2).contains(thread.mask()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ThreadMask(pub(crate) u64);

impl ThreadMask {
    /// No thread.
    pub const NONE: Self = Self(0);
    /// Every thread that a group can hold. An insertion reduces it to the threads that the group has.
    pub const ALL: Self = Self(u64::MAX);

    /// Returns the mask with exactly these bits.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the mask of the first `count` threads.
    pub const fn first(count: usize) -> Self {
        if count >= THREADS_PER_GROUP { Self::ALL } else { Self((1 << count) - 1) }
    }

    /// The bits. Thread 0 has the lowest one.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether no thread is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of threads in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether every thread of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a thread of `other` is in this set.
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
    ///
    /// ```
    /// use pollmatrix_fd_core::ids::ThreadMask;
    ///
    /// assert_eq!(ThreadMask::from_bits(0b1010).indices().collect::<Vec<_>>(), [1, 3]);
    /// ```
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
    fn the_number_of_a_thread_is_that_of_no_other() {
        let thread = ThreadId::new(GroupId::new(2).unwrap(), 63).unwrap();
        assert_eq!(ThreadId::from_number(thread.number()), thread);
        #[cfg(feature = "checkpoints")]
        assert_eq!(ThreadId::woken(thread.number() as std::os::fd::RawFd), thread);
        assert_ne!(thread.number(), ThreadId::FIRST.number());
    }

    #[test]
    fn a_thread_outside_the_mask_width_does_not_exist() {
        let group = GroupId::new(1).unwrap();
        assert_eq!(ThreadId::new(group, THREADS_PER_GROUP), None);
        assert_eq!(ThreadId::new(group, 63).unwrap().mask().bits(), 1 << 63);
    }
}
