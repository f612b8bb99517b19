//! The system call.
//!
//! poll(2) is called by number, not through borrowed descriptors: a number may have been closed behind the
//! table's back, which must be an answer here (`POLLNVAL`), not a broken promise.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use fd_core::fault::{self, Fault};
use fd_core::poller::Interest;
use libc::c_short;
use nix::errno::Errno;

use crate::changes::{RDHUP, wanted};

/// One call of poll(2): how many slots have an answer. Without a timeout the milliseconds are -1.
pub(crate) fn poll(slots: &mut [libc::pollfd], milliseconds: i32) -> Result<usize, Errno> {
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

/// One call of poll(2), to which a signal is a success with nothing seen.
pub(crate) fn poll_or_signal(slots: &mut [libc::pollfd], milliseconds: i32) -> io::Result<usize> {
    match poll(slots, milliseconds) {
        Err(Errno::EINTR) if !fault::on(Fault::InterruptedWaitFails) => Ok(0),
        result => Ok(result?),
    }
}

/// Whether this kernel tells a half-closed peer from readable data. FreeBSD 12 can be asked by a program that was
/// built for 13, and stays silent.
pub(crate) fn read_shutdown_is_seen() -> bool {
    let answer = || -> io::Result<c_short> {
        let (ours, mut theirs) = UnixStream::pair()?;
        theirs.write_all(b"x")?;
        theirs.shutdown(Shutdown::Write)?;
        let mut slot = [libc::pollfd { fd: ours.as_raw_fd(), events: wanted(Interest::RECV), revents: 0 }];
        poll(&mut slot, 0)?;
        Ok(slot[0].revents)
    };
    RDHUP.is_some_and(|bit| answer().unwrap_or(0) & bit != 0)
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_a_half_closed_peer() {
        assert!(read_shutdown_is_seen());
    }
}
