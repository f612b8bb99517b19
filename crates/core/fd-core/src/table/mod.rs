//! The FD table: one entry per descriptor number, and the operations on entries as atomic steps. Mapping its
//! memory is the only system call of this module, so the models run the same code.
//!
//! Every operation first pins the group word, which validates the generation, and then acts on the masks. A
//! report sets its running bit instead.
//! Every path that clears a running bit, or deletes, may have to end the registration; the order of those
//! steps is the one of [`Pin::exit`].

mod checks;
pub(crate) mod counts;
mod fork;
pub(crate) mod mistakes;
mod moving;
mod pin;
mod registration;
mod running;
mod transition;
mod update;

#[cfg(all(test, not(any(loom, shuttle))))]
mod fork_tests;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

pub(crate) use moving::NotTaken;
pub(crate) use pin::{Live, Pin};
pub(crate) use registration::{Orphan, Retired};
pub(crate) use running::{Denied, Failed};
pub(crate) use update::{Scheduled, Update};

use std::io;
use std::os::fd::RawFd;

use crate::entry::error::Stale;
use crate::entry::zeroed::ZeroedArray;
use crate::entry::{Entry, Polled, Timeout};
use crate::table::counts::Counts;
use crate::words::events::Generation;
use crate::words::ids::{GroupId, MAX_GROUPS, THREADS_PER_GROUP, ThreadId, ThreadMask};
use crate::words::pairs;
use crate::words::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, count};
use crate::words::update_list::{Link, Links, UpdateList};

/// The name of one registration: the table, the descriptor number, and the generation of the number.
///
/// A handle can be kept. After its registration has ended, every call refuses the handle, even when the
/// number is registered again; only after 2³² more registrations of the number is the generation the same
/// again. A thread that does nothing else needs a quarter of an hour for them. Every call also refuses a
/// handle of another table.
///
/// ```
#[doc = include_str!("../doc/one_thread.txt")]
/// use std::os::fd::AsRawFd;
///
/// let number = near.as_raw_fd();
/// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
/// assert_eq!(handle.number(), number);
/// core.registration(handle).delete()?;
/// assert!(core.registration(handle).want_recv().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(align(8))]
pub struct FdHandle {
    pub(crate) fd: RawFd,
    pub(crate) generation: Generation,
    pub(crate) table: TableId,
}

/// Identifies a table. No table has the default id, so every call refuses a handle with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TableId(u32);

impl TableId {
    /// Returns an id that no other table of this process has, up to 2³² tables.
    fn next() -> Self {
        static LAST: count::AtomicU32 = count::AtomicU32::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1))
    }
}

impl FdHandle {
    /// The descriptor number.
    pub fn number(self) -> RawFd {
        self.fd
    }

    /// The generation, which distinguishes the registrations of one number.
    pub fn generation(self) -> Generation {
        self.generation
    }

    pub(crate) fn stale(self) -> Stale {
        Stale { fd: self.fd, generation: self.generation }
    }
}

/// The FD table, from [`FdCore::table`](crate::FdCore::table). Every thread may call its methods.
///
/// ```
/// use pollmatrix_fd_core::Runtime;
/// use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
///
/// # fn main() -> Result<(), pollmatrix_fd_core::error::StartError> {
/// let runtime = Runtime::builder().group(2).group(1).capacity(1024).start(pollmatrix_poller_poll::backend)?;
/// let table = runtime.core().table();
/// assert_eq!((table.capacity(), table.groups().count()), (1024, 2));
///
/// let (first, third) = (GroupId::new(1).expect("1 to 16"), GroupId::new(3).expect("1 to 16"));
/// assert_eq!(table.threads(first), ThreadMask::first(2));
/// assert_eq!((table.has_group(third), table.threads(third)), (false, ThreadMask::NONE));
/// let last = ThreadId::new(first, 1).expect("0 to 63");
/// assert!(table.has_thread(last));
/// # Ok(())
/// # }
/// ```
pub struct FdTable {
    id: TableId,
    /// Whether the table refuses new registrations.
    closed: AtomicBool,
    entries: ZeroedArray<Entry>,
    polled: ZeroedArray<Polled>,
    timeouts: ZeroedArray<Timeout>,
    groups: Box<[Group]>,
    /// One above the highest number ever inserted. It bounds the scans of all threads (suspect 14).
    high_water: AtomicU32,
    pub(crate) counts: Counts,
}

impl std::fmt::Debug for FdTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FdTable")
            .field("id", &self.id)
            .field("capacity", &self.capacity())
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}

#[repr(align(64))]
struct Group {
    /// The threads that the group was configured with.
    configured: ThreadMask,
    /// Those of them that have not ended.
    enabled: AtomicU64,
    updates: UpdateList,
}

impl Links for FdTable {
    fn link(&self, fd: usize) -> &Link {
        &self.entries[fd].link
    }
}

impl FdTable {
    /// Creates a table for numbers below `capacity`, with one group for each element of `threads`, of that
    /// number of threads.
    ///
    /// # Errors
    /// The error of the memory mapping, or `InvalidInput` if a number is out of its range.
    pub(crate) fn new(capacity: usize, threads: &[usize]) -> io::Result<Self> {
        let shape_holds = (1..=MAX_GROUPS).contains(&threads.len())
            && threads.iter().all(|count| (1..=THREADS_PER_GROUP).contains(count))
            // Half of a link holds a number plus one.
            && capacity < i32::MAX as usize;
        if !shape_holds {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let group = |(index, &count): (usize, &usize)| Group {
            configured: ThreadMask::first(count),
            enabled: AtomicU64::new(ThreadMask::first(count).bits()),
            updates: UpdateList::new(index),
        };
        Ok(Self {
            id: TableId::next(),
            closed: AtomicBool::new(false),
            entries: ZeroedArray::new(capacity)?,
            polled: ZeroedArray::new(capacity)?,
            timeouts: ZeroedArray::new(capacity)?,
            groups: threads.iter().enumerate().map(group).collect(),
            high_water: AtomicU32::new(0),
            counts: Counts::new(),
        })
    }

    pub(crate) fn id(&self) -> TableId {
        self.id
    }

    /// Refuses registrations from now on. [`FdTable::pin_all`] finds those that were accepted before.
    pub(crate) fn close(&self) {
        // Pair: insert-close. This side closes the table, then reads the slots; an insertion claims its slot,
        // then reads whether the table is closed.
        pairs::close(&self.closed);
    }

    /// Whether registrations are refused.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        pairs::is_closed(&self.closed)
    }

    /// Returns the handle of one registration of `fd`.
    #[inline]
    pub(crate) fn handle(&self, fd: RawFd, generation: Generation) -> FdHandle {
        FdHandle { fd, generation, table: self.id }
    }

    /// The number of entries. Every descriptor number is below it.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// The number of current registrations, with those of the runtime's own wake descriptors. See
    /// [`RegistrationCounts`](crate::RegistrationCounts).
    pub fn used(&self) -> u64 {
        self.counts.used()
    }

    /// The groups, lowest first.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> + '_ {
        (1..=self.groups.len()).filter_map(GroupId::new)
    }

    /// Whether the table has this group.
    #[inline]
    pub fn has_group(&self, group: GroupId) -> bool {
        group.index() < self.groups.len()
    }

    /// The threads that a group was configured with. Empty for a group that the table does not have.
    #[inline]
    pub fn threads(&self, group: GroupId) -> ThreadMask {
        self.groups.get(group.index()).map_or(ThreadMask::NONE, |group| group.configured)
    }

    /// Whether the table has this thread.
    pub fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads(thread.group()).contains(thread.mask())
    }

    /// The threads of `group` that have not ended. Callers read it again each time, because threads end while
    /// others wait (bug 68).
    pub(crate) fn enabled(&self, group: GroupId) -> ThreadMask {
        // No pair: the value changes only in a forked child, which has one thread then.
        ThreadMask::from_bits(self.groups[group.index()].enabled.load(Ordering::Acquire))
    }

    /// Removes `thread` from its group's enabled threads. Its bits in update masks no longer keep entries
    /// listed.
    pub(crate) fn disable(&self, thread: ThreadId) {
        // No pair: see `enabled`.
        self.groups[thread.group().index()].enabled.fetch_and(!thread.mask().bits(), Ordering::AcqRel);
    }

    /// One above the highest number ever inserted.
    pub(crate) fn high_water(&self) -> usize {
        pairs::bound(&self.high_water) as usize
    }

    pub(crate) fn updates(&self, group: GroupId) -> &UpdateList {
        &self.groups[group.index()].updates
    }

    #[inline]
    fn entry(&self, fd: RawFd) -> Option<&Entry> {
        self.entries.get(usize::try_from(fd).ok()?)
    }

    /// The generation of `fd`, if it is registered in `group`. The result is a hint: the registration can end
    /// at any time. Backends use it to drop what they keep for registrations that have ended.
    ///
    /// ```
    /// # use std::os::unix::net::UnixStream;
    /// # use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let runtime = Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
    /// # let core = runtime.core();
    /// # let threads: Vec<_> = core.threads().collect();
    /// # let (near, far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
    /// let (group, first) = (threads[0].group(), threads[0].mask());
    /// let handle = core.insert(near, ignore, group, first, InsertOptions::default())?;
    /// let (table, generation) = (core.table(), Some(handle.generation()));
    /// assert_eq!(table.generation(group, handle.number()), generation);
    /// assert_eq!(table.poll_permission(threads[0], handle.number()), generation);
    /// assert_eq!(table.poll_permission(threads[1], handle.number()), None, "not in its mask");
    /// # Ok(())
    /// # }
    /// ```
    pub fn generation(&self, group: GroupId, fd: RawFd) -> Option<Generation> {
        let word = self.entry(fd)?.group.peek();
        (word.group() == Some(group)).then(|| word.generation())
    }

    /// The generation of `fd`, if `thread` may poll it now. Pollers use it to build their arrays from shared
    /// interest. The core validates the generation of every event that they report.
    pub fn poll_permission(&self, thread: ThreadId, fd: RawFd) -> Option<Generation> {
        fault!(OnePollerPerProcess => return self.generation(thread.group(), fd));
        let entry = self.entry(fd)?;
        let word = entry.group.peek();
        // Pair: publish. The mask is read after the word. If it belongs to a later registration, the core
        // drops the event by its generation.
        let allowed = ThreadMask::from_bits(entry.thread_mask.load(Ordering::Acquire));
        (word.group() == Some(thread.group()) && allowed.contains(thread.mask())).then(|| word.generation())
    }
}
