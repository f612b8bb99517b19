//! The system calls, and their sets.
//!
//! select(2) takes numbers here, not borrowed descriptors: a number may have been closed behind the table's
//! back. That must lead to an error of the call (`EBADF`), and not break the guarantee of a `BorrowedFd`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr::{null, null_mut};
use std::time::Duration;

use fd_core::hooks::fault;
use fd_core::hooks::inject::{self, Call};
use nix::errno::Errno;

/// A set of descriptors, and the highest of them.
#[derive(Clone, Copy)]
pub(crate) struct FdSet {
    set: libc::fd_set,
    /// One more than the highest number in the set.
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
    /// Returns whether a set can contain `fd`.
    pub(crate) fn has_room_for(fd: RawFd) -> bool {
        (0..libc::FD_SETSIZE as RawFd).contains(&fd)
    }

    /// Adds `fd`.
    ///
    /// # Panics
    /// If a set cannot contain `fd`. The backend refuses tables for which that could happen.
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
        // Null means an empty set.
        if self.end == 0 { null_mut() } else { &mut self.set }
    }
}

/// The outcome of one call of select(2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The sets contain the ready descriptors.
    Events,
    /// No descriptor is ready, or a signal ended the wait; the contents of the sets are undefined.
    Nothing,
    /// A number is not open; the contents of the sets are undefined.
    BadDescriptor,
}

/// Calls select(2) once. A signal ends the wait without an event. `None` waits without a limit. The call
/// overwrites the sets.
pub(crate) fn select_or_signal(
    read: &mut FdSet,
    write: &mut FdSet,
    timeout: Option<Duration>,
) -> io::Result<Outcome> {
    let result = select([read, write, &mut FdSet::default()], timeout);
    fault!(InterruptedWaitFails => if result == Err(Errno::EINTR) { return Err(Errno::EINTR.into()) });
    match result {
        Ok(0) | Err(Errno::EINTR) => Ok(Outcome::Nothing),
        Ok(_) => Ok(Outcome::Events),
        Err(Errno::EBADF) => Ok(Outcome::BadDescriptor),
        Err(errno) => Err(errno.into()),
    }
}

/// Calls select(2) once, and returns the number of bits in the resulting sets: reading, writing and
/// exceptional conditions. The call overwrites the sets. `None` waits without a limit.
pub(crate) fn select(sets: [&mut FdSet; 3], timeout: Option<Duration>) -> Result<usize, Errno> {
    let end = sets.iter().map(|set| set.end).max().unwrap_or(0);
    let mut timeout = timeout.map(timeval);
    let timeout = timeout.as_mut().map_or(null_mut(), |timeout| timeout as *mut _);
    let [read, write, except] = sets.map(FdSet::pointer);
    inject::before(Call::Select)?;
    // SAFETY: each set is null, or valid and larger than `end`; the timeout is a local variable that may be
    // overwritten.
    let result = unsafe { libc::select(end, read, write, except, timeout) };
    Errno::result(result).map(|count| count as usize)
}

/// Calls pselect(2) once, as [`select`], with an unchanged timeout and this signal mask, or the thread's own.
pub(crate) fn pselect(
    sets: [&mut FdSet; 3],
    timeout: Option<libc::timespec>,
    mask: Option<&libc::sigset_t>,
) -> Result<usize, Errno> {
    let end = sets.iter().map(|set| set.end).max().unwrap_or(0);
    let mask = mask.map_or(null(), std::ptr::from_ref);
    let timeout = timeout.as_ref().map_or(null(), std::ptr::from_ref);
    let [read, write, except] = sets.map(FdSet::pointer);
    inject::before(Call::Select)?;
    // SAFETY: each set is null, or valid and larger than `end`; the timeout and the mask are null or valid,
    // and the call only reads them.
    let result = unsafe { libc::pselect(end, read, write, except, timeout, mask) };
    Errno::result(result).map(|count| count as usize)
}

/// Calls select(2) once with unchanged arguments: `count` as `nfds`, and the timeout, which keeps the value
/// that the kernel writes. `None` is a timeout of zero.
pub(crate) fn select_raw(
    sets: [&mut FdSet; 3],
    count: Option<i32>,
    timeout: Option<&mut libc::timeval>,
) -> Result<usize, Errno> {
    let end = sets.iter().map(|set| set.end).max().unwrap_or(0);
    let count = count.unwrap_or(end);
    // The kernel may read and write `count` bits of each set.
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
    // SAFETY: each set has `count` bits or more. The sets and the timeout outlive the call. The kernel
    // refuses a negative count.
    let result =
        unsafe { libc::select(count, read.as_mut_ptr(), write.as_mut_ptr(), except.as_mut_ptr(), timeout) };
    let ready = Errno::result(result)?;
    for (set, large) in sets.into_iter().zip(large) {
        set.set = large[0];
    }
    Ok(ready as usize)
}

/// What one call of select(2) has done to the sets.
pub(crate) struct Inspected {
    /// The returned number.
    pub(crate) ready: usize,
    /// As many bits below `nfds` are left as the call has returned.
    pub(crate) unready_cleared: bool,
    pub(crate) above: Above,
}

/// What one call of select(2) has done to bits from `nfds` on, which were all set.
pub(crate) enum Above {
    Kept,
    /// Some of them are cleared: those of the word that `nfds` ends in.
    KeptInPart,
    Cleared,
}

/// Calls select(2) once with a timeout of zero, and with every bit from `nfds` on set, whatever number is
/// open. The call overwrites the sets.
pub(crate) fn select_inspected(sets: [&mut FdSet; 3]) -> Result<Inspected, Errno> {
    let end = sets.iter().map(|set| set.end).max().unwrap_or(0);
    let above = || end..libc::FD_SETSIZE as RawFd;
    let mut copies =
        [&sets[0].set, &sets[1].set, &sets[2].set].map(|set| FdSet { set: *set, end: RawFd::MAX });
    for set in &mut copies {
        // SAFETY: the numbers are within the set.
        above().for_each(|fd| unsafe { libc::FD_SET(fd, &mut set.set) });
    }
    let mut zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let [read, write, except] = &mut copies;
    inject::before(Call::Select)?;
    // SAFETY: the sets and the timeout are valid, and outlive the call.
    let result = unsafe { libc::select(end, &mut read.set, &mut write.set, &mut except.set, &mut zero) };
    let ready = Errno::result(result)? as usize;
    let count = |numbers: std::ops::Range<RawFd>| {
        numbers.map(|fd| copies.iter().filter(|set| set.contains(fd)).count()).sum::<usize>()
    };
    let (below, kept, all) = (count(0..end), count(above()), above().len() * copies.len());
    for (set, copy) in sets.into_iter().zip(copies) {
        set.set = copy.set;
    }
    let above = match kept {
        kept if kept == all => Above::Kept,
        0 => Above::Cleared,
        _ => Above::KeptInPart,
    };
    Ok(Inspected { ready, unready_cleared: below == ready, above })
}

/// Returns whether `fd` is an open descriptor.
pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes any number and touches no memory.
    inject::before(Call::FcntlGetfd).is_ok() && unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

/// Converts a timeout to the unit of select(2), rounded up: a thread with half a microsecond to wait must not
/// spin. macOS refuses more than 10⁸ seconds.
fn timeval(timeout: Duration) -> libc::timeval {
    const LONGEST: Duration = Duration::from_secs(100_000_000);
    let timeout = timeout.min(LONGEST);
    let micros = timeout.as_nanos().div_ceil(1000);
    fault!(TimeoutRoundedDown: micros => timeout.as_millis() * 1000);
    libc::timeval { tv_sec: (micros / 1_000_000) as _, tv_usec: (micros % 1_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_zero_timeout_rounds_to_zero_and_no_field_overflows() {
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
    fn a_set_contains_its_lowest_and_highest_number() {
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
