//! One kernel object for each thread, for the backends that have such.

use std::io;
use std::sync::{Arc, OnceLock};

use crate::poller::Limits;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};

/// A place for one `T` of each thread of each group.
///
/// They stay until the backend, the pollers and the wakers are gone: a thread that ends leaves registrations that
/// another thread may still have to remove, and a number that was closed could be anybody's (suspects 12, 13).
#[derive(Debug)]
pub struct PerThread<T> {
    pub(super) places: Box<[OnceLock<Arc<T>>]>,
    threads: usize,
}

impl<T> PerThread<T> {
    /// Empty places for that many threads.
    pub fn new(limits: &Limits) -> Self {
        let places = (0..limits.groups * limits.threads).map(|_| OnceLock::new()).collect();
        Self { places, threads: limits.threads }
    }

    /// What `thread` has, as good as new: from `make` the first time, made over by `renew` from then on.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such thread, and those of `make` and `renew`.
    pub fn open(
        &self,
        thread: ThreadId,
        make: impl FnOnce() -> io::Result<T>,
        renew: impl FnOnce(&T) -> io::Result<()>,
    ) -> io::Result<Arc<T>> {
        let place = self.place(thread.group(), thread.index()).ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(there) = place.get() {
            unless!(OnePollerPerProcess => renew(there)?);
            return Ok(Arc::clone(there));
        }
        let fresh = Arc::new(make()?);
        Ok(Arc::clone(place.get_or_init(|| fresh)))
    }

    /// What `thread` has, if it has been opened.
    pub fn get(&self, thread: ThreadId) -> Option<&Arc<T>> {
        self.place(thread.group(), thread.index())?.get()
    }

    /// What those threads in `mask` have that have been opened.
    pub fn of(&self, group: GroupId, mask: ThreadMask) -> impl Iterator<Item = &T> {
        mask.indices().filter_map(move |index| self.place(group, index)?.get().map(Arc::as_ref))
    }

    fn place(&self, group: GroupId, index: usize) -> Option<&OnceLock<Arc<T>>> {
        if index >= self.threads {
            return None;
        }
        let own = group.index() * self.threads + index;
        fault!(OnePollerPerProcess: own => 0);
        self.places.get(own)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_and_strangers_have_none() {
        let places = PerThread::new(&Limits { capacity: 1, groups: 2, threads: 2 });
        let thread = |group, index| ThreadId::new(GroupId::new(group).unwrap(), index).unwrap();
        let open = |thread, value| places.open(thread, || Ok(value), |_| Ok(())).map(|there| *there);
        for (id, value) in [(thread(1, 0), 10), (thread(1, 1), 11), (thread(2, 1), 21)] {
            assert_eq!(open(id, value).unwrap(), value);
        }
        assert_eq!(open(thread(1, 0), 99).unwrap(), 10, "opened once, renewed from then on");
        for stranger in [thread(1, 2), thread(3, 0)] {
            assert_eq!(open(stranger, 0).unwrap_err().kind(), io::ErrorKind::InvalidInput);
            assert!(places.get(stranger).is_none());
        }
        assert_eq!(places.get(thread(2, 0)), None);
        let of =
            |group| places.of(GroupId::new(group).unwrap(), ThreadMask::ALL).copied().collect::<Vec<_>>();
        assert_eq!((of(1), of(2), of(3)), (vec![10, 11], vec![21], vec![]));
    }

    #[test]
    fn a_place_whose_making_failed_is_still_empty() {
        let places = PerThread::new(&Limits { capacity: 1, groups: 1, threads: 1 });
        let thread = ThreadId::new(GroupId::new(1).unwrap(), 0).unwrap();
        let failed = places.open(thread, || Err(io::ErrorKind::OutOfMemory.into()), |()| Ok(()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert!(places.get(thread).is_none());
    }
}
