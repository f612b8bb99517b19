//! A kernel object per thread, for the backends that have one.

use std::io;
use std::sync::{Arc, OnceLock};

use crate::poller::Limits;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};

/// A place for one `T` of each thread of each group.
///
/// The objects stay until the backend, the pollers and the wakers are dropped. A thread that ends leaves
/// registrations that another thread may have to remove, and a descriptor number that was closed early could
/// be re-used. Every thread may call every method.
///
/// ```
/// use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
/// use pollmatrix_fd_core::per_thread::PerThread;
/// use pollmatrix_fd_core::poller::Limits;
///
/// # fn main() -> std::io::Result<()> {
/// let queues = PerThread::new(&Limits { capacity: 1024, groups: 1, threads: 2 });
/// let group = GroupId::new(1).expect("groups are numbered from 1");
/// let thread = |index| ThreadId::new(group, index).expect("a group can have 64 threads");
///
/// let queue = queues.open(thread(1), || Ok("the queue of 1/1"), |_| Ok(()))?;
/// assert_eq!(*queue, "the queue of 1/1");
/// assert!(queues.get(thread(0)).is_none(), "it has not been opened");
/// assert_eq!(queues.of(group, ThreadMask::ALL).collect::<Vec<_>>(), [&"the queue of 1/1"]);
/// assert!(queues.open(thread(2), || Ok(""), |_| Ok(())).is_err(), "there is no such thread");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PerThread<T> {
    pub(super) places: Box<[OnceLock<Arc<T>>]>,
    threads: usize,
}

impl<T> PerThread<T> {
    /// Creates empty places for the threads of `limits`.
    pub fn new(limits: &Limits) -> Self {
        let places = (0..limits.groups * limits.threads).map(|_| OnceLock::new()).collect();
        Self { places, threads: limits.threads }
    }

    /// Returns the object of `thread`. Creates it with `make` on the first call, and resets it with `renew`
    /// on later ones.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such thread; the errors of `make` and `renew`.
    pub fn open(
        &self,
        thread: ThreadId,
        make: impl FnOnce() -> io::Result<T>,
        renew: impl FnOnce(&T) -> io::Result<()>,
    ) -> io::Result<Arc<T>> {
        let place = self.place(thread.group(), thread.index()).ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(existing) = place.get() {
            unless!(OnePollerPerProcess => renew(existing)?);
            return Ok(Arc::clone(existing));
        }
        let new = Arc::new(make()?);
        Ok(Arc::clone(place.get_or_init(|| new)))
    }

    /// The object of `thread`, if it has been opened.
    pub fn get(&self, thread: ThreadId) -> Option<&Arc<T>> {
        self.place(thread.group(), thread.index())?.get()
    }

    /// The objects of the threads in `mask` that have been opened.
    pub fn of(&self, group: GroupId, mask: ThreadMask) -> impl Iterator<Item = &T> {
        mask.indices().filter_map(move |index| self.place(group, index)?.get().map(Arc::as_ref))
    }

    fn place(&self, group: GroupId, index: usize) -> Option<&OnceLock<Arc<T>>> {
        if index >= self.threads {
            return None;
        }
        let position = group.index() * self.threads + index;
        fault!(OnePollerPerProcess: position => 0);
        self.places.get(position)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_place_and_unknown_threads_have_none() {
        let places = PerThread::new(&Limits { capacity: 1, groups: 2, threads: 2 });
        let thread = |group, index| ThreadId::new(GroupId::new(group).unwrap(), index).unwrap();
        let open = |thread, value| places.open(thread, || Ok(value), |_| Ok(())).map(|object| *object);
        for (id, value) in [(thread(1, 0), 10), (thread(1, 1), 11), (thread(2, 1), 21)] {
            assert_eq!(open(id, value).unwrap(), value);
        }
        assert_eq!(open(thread(1, 0), 99).unwrap(), 10, "made once, renewed afterwards");
        for unknown in [thread(1, 2), thread(3, 0)] {
            assert_eq!(open(unknown, 0).unwrap_err().kind(), io::ErrorKind::InvalidInput);
            assert!(places.get(unknown).is_none());
        }
        assert_eq!(places.get(thread(2, 0)), None);
        let of =
            |group| places.of(GroupId::new(group).unwrap(), ThreadMask::ALL).copied().collect::<Vec<_>>();
        assert_eq!((of(1), of(2), of(3)), (vec![10, 11], vec![21], vec![]));
    }

    #[test]
    fn a_place_stays_empty_if_make_fails() {
        let places = PerThread::new(&Limits { capacity: 1, groups: 1, threads: 1 });
        let thread = ThreadId::new(GroupId::new(1).unwrap(), 0).unwrap();
        let failed = places.open(thread, || Err(io::ErrorKind::OutOfMemory.into()), |()| Ok(()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert!(places.get(thread).is_none());
    }
}
