//! The system calls.
//!
//! poll(2) takes numbers here, not borrowed descriptors: a number may have been closed behind the table's
//! back. That must lead to an event (`POLLNVAL`), and not break the guarantee of a `BorrowedFd`.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use fd_core::hooks::inject::{self, Call};
use fd_core::poller::Interest;
use libc::c_short;
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};

use crate::changes::{RDHUP, wanted};

/// Calls poll(2) once, and returns the number of slots with events. -1 milliseconds waits without a limit.
pub(crate) fn poll(slots: &mut [libc::pollfd], milliseconds: i32) -> Result<usize, Errno> {
    inject::before(Call::Poll)?;
    // SAFETY: the kernel reads and writes as many elements as the slice has.
    let result = unsafe { libc::poll(slots.as_mut_ptr(), slots.len() as libc::nfds_t, milliseconds) };
    Errno::result(result).map(|count| count as usize)
}

/// Calls ppoll(2) once with an unchanged timeout. `None` waits without a limit, or leaves the signal mask.
#[cfg(not(any(target_os = "macos", target_os = "ios", target_os = "solaris", target_os = "illumos")))]
pub(crate) fn ppoll(
    slots: &mut [libc::pollfd],
    timeout: Option<libc::timespec>,
    mask: Option<&libc::sigset_t>,
) -> Result<usize, Errno> {
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let mask = mask.map_or(std::ptr::null(), std::ptr::from_ref);
    let count = slots.len() as libc::nfds_t;
    // SAFETY: as for poll; the timeout and the mask are null, or valid for the call, which only reads them.
    let result = unsafe { libc::ppoll(slots.as_mut_ptr(), count, timeout, mask) };
    Errno::result(result).map(|count| count as usize)
}

/// Returns the soft `RLIMIT_NOFILE`, the bound of one call on Linux.
pub(crate) fn open_limit() -> usize {
    // The type is signed on some systems, and "infinity" is a large number.
    getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| usize::try_from(soft).unwrap_or(usize::MAX))
}

/// The maximum number of attempts at the probe of [`rdhup`].
const PROBES: usize = 16;

/// Returns the bit with which this kernel distinguishes a half-closed peer from readable data. A program that
/// was built for FreeBSD 13 can run on FreeBSD 12, which has none. If the probe fails, for lack of
/// descriptors or memory, the result is `None`.
pub(crate) fn rdhup() -> Option<c_short> {
    let probe = || -> io::Result<c_short> {
        let (ours, mut theirs) = UnixStream::pair()?;
        theirs.write_all(b"x")?;
        theirs.shutdown(Shutdown::Write)?;
        let events = wanted(Interest::RECV, RDHUP.unwrap_or(0));
        let mut slot = [libc::pollfd { fd: ours.as_raw_fd(), events, revents: 0 }];
        poll(&mut slot, 0)?;
        Ok(slot[0].revents)
    };
    let revents = || (0..PROBES).find_map(|_| probe().ok()).unwrap_or(0);
    RDHUP.filter(|bit| revents() & bit != 0)
}

/// Returns whether the number is an open socket.
pub(crate) fn is_socket(fd: RawFd) -> bool {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel writes one `stat` if it returns 0. The number may be closed (`EBADF`).
    let filled = unsafe { libc::fstat(fd, stat.as_mut_ptr()) } == 0;
    // SAFETY: it is read only after the kernel has written it.
    filled && unsafe { stat.assume_init() }.st_mode & libc::S_IFMT == libc::S_IFSOCK
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn linux_reports_a_half_closed_peer() {
        assert_eq!(rdhup(), Some(libc::POLLRDHUP));
    }
}
