//! The system call.
//!
//! poll(2) is called by number, not through borrowed descriptors: a number may have been closed behind the
//! table's back, which must be an answer here (`POLLNVAL`), not a broken promise.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use fd_core::hooks::inject::{self, Call};
use fd_core::poller::Interest;
use libc::c_short;
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};

use crate::changes::{RDHUP, wanted};

/// One call of poll(2): how many slots have an answer. Without a timeout the milliseconds are -1.
pub(crate) fn poll(slots: &mut [libc::pollfd], milliseconds: i32) -> Result<usize, Errno> {
    inject::before(Call::Poll)?;
    // SAFETY: the kernel reads and writes as many elements as the slice has.
    let result = unsafe { libc::poll(slots.as_mut_ptr(), slots.len() as libc::nfds_t, milliseconds) };
    Errno::result(result).map(|count| count as usize)
}

/// One call of ppoll(2) with a timeout as it is; the signal mask is left alone.
#[cfg(not(any(target_os = "macos", target_os = "ios", target_os = "solaris", target_os = "illumos")))]
pub(crate) fn ppoll(slots: &mut [libc::pollfd], seconds: i64, nanoseconds: i64) -> Result<usize, Errno> {
    let timeout = libc::timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ };
    let count = slots.len() as libc::nfds_t;
    // SAFETY: as for poll; the timeout is valid for the call, and there is no signal mask.
    let result = unsafe { libc::ppoll(slots.as_mut_ptr(), count, &raw const timeout, std::ptr::null()) };
    Errno::result(result).map(|count| count as usize)
}

/// How many descriptors this process may have open now: the bound of one call on Linux.
pub(crate) fn open_limit() -> usize {
    // Signed on some systems, and "infinity" a large number.
    getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| usize::try_from(soft).unwrap_or(usize::MAX))
}

/// How often the question of [`read_shutdown_is_seen`] is asked if there is no answer.
const QUESTIONS: usize = 16;

/// Whether this kernel tells a half-closed peer from readable data. FreeBSD 12 can be asked by a program that was
/// built for 13, and stays silent. If it cannot be asked, for lack of descriptors or memory, the answer is no.
pub(crate) fn read_shutdown_is_seen() -> bool {
    let answer = || -> io::Result<c_short> {
        let (ours, mut theirs) = UnixStream::pair()?;
        theirs.write_all(b"x")?;
        theirs.shutdown(Shutdown::Write)?;
        let mut slot = [libc::pollfd { fd: ours.as_raw_fd(), events: wanted(Interest::RECV), revents: 0 }];
        poll(&mut slot, 0)?;
        Ok(slot[0].revents)
    };
    let answered = || (0..QUESTIONS).find_map(|_| answer().ok()).unwrap_or(0);
    RDHUP.is_some_and(|bit| answered() & bit != 0)
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_a_half_closed_peer() {
        assert!(read_shutdown_is_seen());
    }
}
