//! The system call, and its sets.
//!
//! select(2) is called by number, not through borrowed descriptors: a number may have been closed behind the
//! table's back, which must be an answer here (`EBADF`), not a broken promise.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::time::Duration;

use fd_core::hooks::fault;
use fd_core::hooks::inject::{self, Call};
use nix::errno::Errno;

/// One set of descriptors, and the highest of them.
pub(crate) struct FdSet {
    set: libc::fd_set,
    /// One more than the highest number in it.
    end: RawFd,
}

impl Default for FdSet {
    fn default() -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: FD_ZERO writes the whole set, which is valid from then on.
        let set = unsafe {
            libc::FD_ZERO(set.as_mut_ptr());
            set.assume_init()
        };
        Self { set, end: 0 }
    }
}

impl FdSet {
    /// Whether a set can hold `fd`.
    pub(crate) fn has_room_for(fd: RawFd) -> bool {
        (0..libc::FD_SETSIZE as RawFd).contains(&fd)
    }

    /// # Panics
    /// If the set cannot hold `fd`. The backend refuses tables in which that could happen.
    pub(crate) fn insert(&mut self, fd: RawFd) {
        assert!(Self::has_room_for(fd));
        // SAFETY: the number is within the set.
        unsafe { libc::FD_SET(fd, &mut self.set) };
        self.end = self.end.max(fd + 1);
    }

    pub(crate) fn contains(&self, fd: RawFd) -> bool {
        // SAFETY: below `end`, numbers are within the set.
        (0..self.end).contains(&fd) && unsafe { libc::FD_ISSET(fd, &self.set) }
    }

    fn pointer(&mut self) -> *mut libc::fd_set {
        // An empty set need not be looked at.
        if self.end == 0 { null_mut() } else { &mut self.set }
    }
}

/// What one call of select(2) led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// The sets hold what is ready.
    Events,
    /// Nothing is ready, or a signal came; the sets say nothing.
    Nothing,
    /// Some number is not open; the sets say nothing.
    BadDescriptor,
}

/// One call of select(2), to which a signal is a success with nothing seen. It overwrites the sets.
pub(crate) fn select_or_signal(read: &mut FdSet, write: &mut FdSet, timeout: Duration) -> io::Result<Seen> {
    let result = select([read, write, &mut FdSet::default()], Some(timeout));
    fault!(InterruptedWaitFails => if result == Err(Errno::EINTR) { return Err(Errno::EINTR.into()) });
    match result {
        Ok(0) | Err(Errno::EINTR) => Ok(Seen::Nothing),
        Ok(_) => Ok(Seen::Events),
        Err(Errno::EBADF) => Ok(Seen::BadDescriptor),
        Err(errno) => Err(errno.into()),
    }
}

/// One call of select(2): how many bits are left in the sets, which are for reading, writing and exceptional conditions. It
/// overwrites them. Without a timeout it waits for ever.
pub(crate) fn select(sets: [&mut FdSet; 3], timeout: Option<Duration>) -> Result<usize, Errno> {
    let end = sets.iter().map(|set| set.end).max().unwrap_or(0);
    let mut timeout = timeout.map(timeval);
    let timeout = timeout.as_mut().map_or(null_mut(), |timeout| timeout as *mut _);
    let [read, write, except] = sets.map(FdSet::pointer);
    inject::before(Call::Select)?;
    // SAFETY: each set is absent or valid and larger than `end`; the timeout may be overwritten, and is ours.
    let result = unsafe { libc::select(end, read, write, except, timeout) };
    Errno::result(result).map(|count| count as usize)
}

/// One call with arguments as they are: `nfds`, and the timeout, which is left as the kernel leaves it. Without a
/// timeout it is zero.
pub(crate) fn select_raw(
    sets: [&mut FdSet; 3],
    count: Option<i32>,
    timeout: Option<&mut libc::timeval>,
) -> Result<usize, Errno> {
    let end = sets.iter().map(|set| set.end).max().unwrap_or(0);
    let count = count.unwrap_or(end);
    // The kernel may look at and write to `count` bits of each set.
    let more = usize::try_from(count).unwrap_or(0) / libc::FD_SETSIZE;
    let mut large = [&sets[0].set, &sets[1].set, &sets[2].set].map(|set| {
        let mut large = vec![*set];
        large.resize_with(1 + more, || FdSet::default().set);
        large
    });
    let mut zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timeout = timeout.unwrap_or(&mut zero);
    let [read, write, except] = &mut large;
    inject::before(Call::Select)?;
    // SAFETY: each set has `count` bits or more, and lives, as does the timeout; the kernel refuses a negative count.
    let result =
        unsafe { libc::select(count, read.as_mut_ptr(), write.as_mut_ptr(), except.as_mut_ptr(), timeout) };
    let answered = Errno::result(result)?;
    for (set, large) in sets.into_iter().zip(large) {
        set.set = large[0];
    }
    Ok(answered as usize)
}

/// Whether `fd` is an open descriptor.
pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes any number and touches no memory.
    inject::before(Call::FcntlGetfd).is_ok() && unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

/// The timeout in the unit of select(2), rounded up: a thread that has to wait half a microsecond must not spin
/// through it. macOS refuses more than 10⁸ seconds.
fn timeval(timeout: Duration) -> libc::timeval {
    const LONGEST: Duration = Duration::from_secs(100_000_000);
    let timeout = timeout.min(LONGEST);
    let micros = timeout.as_nanos().div_ceil(1000);
    fault!(TimeoutRoundedDown: micros => timeout.as_millis() * 1000);
    libc::timeval { tv_sec: (micros / 1_000_000) as _, tv_usec: (micros % 1_000_000) as _ }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Once;

    use super::*;

    /// A number that is not open, that no test will get, and that the kernel looks at all the same: Linux passes
    /// over bad numbers beyond what its table of open files was ever grown to.
    pub(crate) fn closed_number() -> RawFd {
        const NUMBER: RawFd = 200;
        static GROWN: Once = Once::new();
        // SAFETY: the copy is ours, and closed before anybody else can know its number.
        GROWN.call_once(|| unsafe {
            let copy = libc::fcntl(2, libc::F_DUPFD_CLOEXEC, NUMBER);
            assert_eq!(copy, NUMBER);
            libc::close(copy);
        });
        NUMBER
    }

    #[test]
    fn only_no_timeout_at_all_is_zero_and_no_part_overflows() {
        let table = [
            (Duration::ZERO, (0, 0)),
            (Duration::from_nanos(1), (0, 1)),
            (Duration::from_micros(999_999), (0, 999_999)),
            (Duration::from_nanos(999_999_001), (1, 0)),
            (Duration::from_millis(2500), (2, 500_000)),
            (Duration::MAX, (100_000_000, 0)),
        ];
        for (timeout, expected) in table {
            let value = timeval(timeout);
            let (seconds, micros): (i32, i32) = expected;
            assert_eq!((value.tv_sec, value.tv_usec), (seconds as _, micros as _), "{timeout:?}");
        }
    }

    #[test]
    fn a_set_holds_its_borders() {
        let mut set = FdSet::default();
        let top = libc::FD_SETSIZE as RawFd - 1;
        for fd in [0, 63, 64, top] {
            assert!(!set.contains(fd));
            set.insert(fd);
            assert!(set.contains(fd));
        }
        assert!(!set.contains(1) && !set.contains(-1) && !set.contains(top + 1));
    }

    #[test]
    #[should_panic(expected = "has_room_for")]
    fn a_number_beyond_the_set_is_refused() {
        FdSet::default().insert(libc::FD_SETSIZE as RawFd);
    }
}
