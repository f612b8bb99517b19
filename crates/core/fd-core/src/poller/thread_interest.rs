//! What one thread polls of its group's interest, for backends whose kernel keeps nothing between two waits
//! (poll, select).
//!
//! Before a wait the thread builds its list from [`GroupInterest`], unless nothing has changed; the backend
//! adds an array or sets in the form that its system call takes. After the wait the list turns the answers
//! into events.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::poller::Limits;
use crate::poller::interest::GroupInterest;
use crate::words::events::{Change, Event, Events, Generation, Interest};
use crate::words::ids::{GroupId, ThreadId};

/// The interest of every group: what all threads of such a backend share.
///
/// ```
/// use pollmatrix_fd_core::ids::ThreadId;
/// use pollmatrix_fd_core::poller::{Change, Interest, Limits, Trigger};
/// use pollmatrix_fd_core::thread_interest::SharedInterest;
///
/// let shared = SharedInterest::new(&Limits { capacity: 1024, groups: 1, threads: 2 });
/// let (id, known, wanted) = (ThreadId::FIRST, Interest::NONE, Interest::RECV);
/// let mut list = shared.of(id)?;
/// list.update(&Change { fd: 7, generation: 1, known, wanted, trigger: Trigger::Level, force: false });
/// assert_eq!(list.group().read(7), Interest::RECV);
/// shared.forget(7, id.group());
/// assert_eq!(list.group().read(7), Interest::NONE);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedInterest {
    groups: Box<[Arc<GroupInterest>]>,
}

impl SharedInterest {
    /// Creates maps without interest.
    pub fn new(limits: &Limits) -> Self {
        let map = |_| Arc::new(GroupInterest::new(limits.capacity));
        Self { groups: (0..limits.groups).map(map).collect() }
    }

    /// An empty list for one thread, over the interest of its group.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such group.
    pub fn of(&self, thread: ThreadId) -> io::Result<ThreadInterest> {
        let group = self.groups.get(thread.group().index()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(ThreadInterest::new(Arc::clone(group)))
    }

    /// Removes the interest in `fd`: the work of [`Backend::forget`](crate::poller::Backend::forget), for
    /// every reason, because this is the only record. The caller's pin keeps late writers away (suspect 11).
    pub fn forget(&self, fd: RawFd, group: GroupId) {
        fault!(InterestSurvives => return);
        if let Some(interest) = self.groups.get(group.index()) {
            interest.write(fd, Interest::NONE);
        }
    }
}

/// The descriptors that one thread polls, and those that it leaves out. Only that thread uses it.
///
/// ```
/// use std::sync::Arc;
///
/// use pollmatrix_fd_core::interest::GroupInterest;
/// use pollmatrix_fd_core::poller::{Change, Events, Interest, Trigger};
/// use pollmatrix_fd_core::thread_interest::ThreadInterest;
///
/// let mut list = ThreadInterest::new(Arc::new(GroupInterest::new(1024)));
/// for fd in [9, 7] {
///     let (known, wanted) = (Interest::NONE, Interest::RECV);
///     list.update(&Change { fd, generation: 1, known, wanted, trigger: Trigger::Level, force: false });
/// }
///
/// // The system call gets an array in the order of the list.
/// let mut array = Vec::new();
/// list.build(|_| Some(1), |fd, interest| array.push((fd, interest.recv)));
/// assert_eq!(array, [(7, true), (9, true)]);
///
/// // It has reported the second number as closed.
/// let mut batch = Vec::with_capacity(8);
/// assert!(list.report(1, Events::INVALID, &mut batch));
/// assert_eq!((list.at(1), batch[0].fd), ((9, 1), 9));
/// list.build(|_| Some(1), |_, _| {});
/// assert_eq!(list.report_order().count(), 1, "it is left out");
/// list.retry_invalid();
/// list.build(|_| Some(1), |_, _| {});
/// assert_eq!(list.report_order().count(), 2);
/// ```
#[derive(Debug)]
pub struct ThreadInterest {
    group: Arc<GroupInterest>,
    /// The descriptors of the last build, lowest first, each with its registration. The allocation only
    /// grows.
    polled: Vec<(RawFd, Generation)>,
    /// Closed numbers that were reported, each with its registration. They are left out until that
    /// registration ends or its interest changes.
    invalid: Vec<(RawFd, Generation)>,
    /// The index at which the next batch starts, so that a small batch does not starve the high numbers.
    start: usize,
    /// The number of the group's writes before the last build, if that build is still right.
    built: Option<u64>,
}

impl ThreadInterest {
    /// An empty list over the interest of the thread's group.
    pub fn new(group: Arc<GroupInterest>) -> Self {
        Self { group, polled: Vec::new(), invalid: Vec::new(), start: 0, built: None }
    }

    /// The interest that the threads of the group share.
    pub fn group(&self) -> &GroupInterest {
        &self.group
    }

    /// Applies a change to the group's interest, and returns the interest that is held now.
    ///
    /// A number that was reported as closed is polled again only if its interest changes: the report may lead
    /// to another update, and a retry after each update would repeat the report without end.
    ///
    /// # Panics
    /// If the descriptor does not fit in the group's map, as [`GroupInterest::write`].
    pub fn update(&mut self, change: &Change) -> Interest {
        if self.group.read(change.fd) != change.wanted {
            self.invalid.retain(|(fd, _)| *fd != change.fd);
        }
        self.group.write(change.fd, change.wanted);
        change.wanted
    }

    /// Whether the last build is still right, so that the backend can pass the same array again: no interest
    /// of the group was written since.
    ///
    /// Who may poll a descriptor can change without a write. A thread that gets the permission writes the
    /// interest before it needs to poll. A thread that loses it may poll once more: the core refuses its
    /// report, and writes the interest then.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.built == Some(self.group.writes())
    }

    /// Lists the descriptors that have interest and that `permission` lets this thread poll. Calls `add` for
    /// each of them in the order of the list, lowest first.
    pub fn build(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        mut add: impl FnMut(RawFd, Interest),
    ) {
        let Self { group, polled, invalid, built, .. } = self;
        let writes = group.writes();
        invalid.retain(|(fd, generation)| permission(*fd) == Some(*generation));
        // A closed number can be registered again without interest.
        *built = invalid.is_empty().then_some(writes);
        polled.clear();
        group.scan(|fd, interest| {
            let Some(generation) = permission(fd) else { return };
            if !invalid.contains(&(fd, generation)) {
                polled.push((fd, generation));
                add(fd, interest);
            }
        });
    }

    /// The indices of the list, in the order in which the next batch reports them.
    pub fn report_order(&self) -> impl Iterator<Item = usize> + use<> {
        let count = self.polled.len();
        let start = self.start % count.max(1);
        (start..count).chain(0..start)
    }

    /// The descriptor at `index` of the list, and its registration at the time of the build.
    ///
    /// # Panics
    /// If the list has no such index.
    pub fn at(&self, index: usize) -> (RawFd, Generation) {
        self.polled[index]
    }

    /// Appends the events of the descriptor at `index` to `batch`. Returns `false` if the batch is full; the
    /// next batch then starts at this index. A descriptor that is reported as [`Events::INVALID`] is left out
    /// from the next build on.
    ///
    /// # Panics
    /// If the batch has room and the list has no such index.
    pub fn report(&mut self, index: usize, events: Events, batch: &mut Vec<Event>) -> bool {
        if batch.len() == batch.capacity() {
            self.start = index;
            return false;
        }
        let (fd, generation) = self.polled[index];
        if events.intersects(Events::INVALID) {
            self.built = None;
            self.invalid.push((fd, generation));
        }
        batch.push(Event { fd, generation, events });
        true
    }

    /// Polls the numbers again that were reported as closed, as a new poller would.
    pub fn retry_invalid(&mut self) {
        self.built = None;
        self.invalid.clear();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::words::events::Trigger;

    fn change(fd: RawFd, wanted: Interest) -> Change {
        Change { fd, generation: 1, known: Interest::NONE, wanted, trigger: Trigger::Level, force: false }
    }

    fn interest_in(fds: impl IntoIterator<Item = RawFd>) -> ThreadInterest {
        let mut interest = ThreadInterest::new(Arc::new(GroupInterest::new(64)));
        for fd in fds {
            assert_eq!(interest.update(&change(fd, Interest::RECV)), Interest::RECV);
        }
        interest
    }

    fn built(
        interest: &mut ThreadInterest,
        permission: impl Fn(RawFd) -> Option<Generation>,
    ) -> Vec<(RawFd, Interest)> {
        let mut added = vec![];
        interest.build(permission, |fd, wanted| added.push((fd, wanted)));
        added
    }

    #[test]
    fn a_build_lists_the_permitted_descriptors_lowest_first() {
        let mut interest = interest_in([9, 3, 5]);
        let permission = |fd| (fd != 5).then_some(7);
        assert_eq!(built(&mut interest, permission), [(3, Interest::RECV), (9, Interest::RECV)]);
        assert_eq!([0, 1].map(|index| interest.at(index)), [(3, 7), (9, 7)]);
    }

    #[test]
    fn a_build_is_right_until_the_next_write() {
        let mut interest = interest_in([3]);
        assert!(!interest.is_current(), "it was never built");
        built(&mut interest, |_| Some(1));
        assert!(interest.is_current());
        let group = Arc::clone(&interest.group);
        group.write(3, Interest::RECV);
        assert!(!interest.is_current(), "a write, though of the same interest");
        built(&mut interest, |_| Some(1));
        assert!(interest.report(0, Events::INVALID, &mut Vec::with_capacity(1)));
        assert!(!interest.is_current(), "a closed number is left out now");
        built(&mut interest, |_| Some(1));
        assert!(!interest.is_current(), "it may be registered again");
        built(&mut interest, |_| Some(2));
        interest.retry_invalid();
        assert!(!interest.is_current(), "a poller that was replaced");
    }
}
