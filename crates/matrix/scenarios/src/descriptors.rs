//! The open descriptors of this process, without opening one to find out.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::stat::fstat;

/// Numbers from here on are ignored: no scenario opens that many descriptors.
const HIGHEST: usize = 1 << 16;

/// How many numbers one poll(2) checks at most. Above the limit of open descriptors the call may fail.
const PER_POLL: usize = 4096;

/// Returns how many descriptors this process may have, as far as a scenario can use them.
pub fn limit() -> usize {
    let soft = getrlimit(Resource::RLIMIT_NOFILE).ok();
    // Signed on some systems.
    soft.and_then(|(soft, _)| usize::try_from(soft).ok()).map_or(HIGHEST, |soft| soft.min(HIGHEST))
}

/// Most cells have their descriptors below this number.
const LOW: RawFd = 256;

/// Returns the open descriptors of this process, lowest first.
pub(crate) fn open() -> Vec<RawFd> {
    let limit = limit();
    // To check every number takes a tenth of a short cell's time. It is not needed if the low numbers are as
    // many as there are, before and after.
    let before = count();
    let low = open_of(&(0..LOW.min(limit as RawFd)).collect::<Vec<_>>());
    if before == Some(low.len()) && count() == before {
        return low;
    }
    let numbers: Vec<_> = (0..limit as RawFd).collect();
    let chunks = numbers.chunks(PER_POLL.min(limit.max(1)));
    chunks.flat_map(open_of).collect()
}

/// Returns how many descriptors are open, if the system says so: Linux does since 6.2.
fn count() -> Option<usize> {
    let size = std::fs::metadata("/proc/self/fd").ok()?.len();
    usize::try_from(size).ok().filter(|count| *count > 0)
}

/// Returns the open ones of `numbers`. One call checks all of them: a call for each would take most of a
/// short cell's time.
fn open_of(numbers: &[RawFd]) -> Vec<RawFd> {
    let entry = |fd: &RawFd| {
        // SAFETY: poll on a number that is not open answers POLLNVAL and does nothing else.
        PollFd::new(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::empty())
    };
    let mut entries: Vec<_> = numbers.iter().map(entry).collect();
    let polled = poll(&mut entries, PollTimeout::ZERO);
    let closed = |at: usize| {
        let invalid = entries[at].revents().is_some_and(|events| events.contains(PollFlags::POLLNVAL));
        // macOS answers POLLNVAL for open devices, too.
        invalid && !cfg!(target_vendor = "apple")
    };
    let open = |(at, fd): (usize, &RawFd)| if polled.is_ok() && closed(at) { None } else { Some(*fd) };
    numbers.iter().enumerate().filter_map(open).filter(|fd| is_open(*fd)).collect()
}

/// Returns whether the number is an open descriptor.
pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD on a number that is not open answers EBADF and does nothing else.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fcntl(fd, FcntlArg::F_GETFD).is_ok()
}

/// Returns the current answer of poll(2) for the number and `POLLIN`: `POLLNVAL` if it is not open.
pub(crate) fn poll_now(fd: RawFd) -> PollFlags {
    // SAFETY: poll on a number that is not open answers POLLNVAL and does nothing else.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let mut polled = [PollFd::new(fd, PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::ZERO) {
        Ok(_) => polled[0].revents().unwrap_or(PollFlags::empty()),
        Err(_) => PollFlags::empty(),
    }
}

/// Returns whether a read of the number would not block now: data, end of file or an error.
pub(crate) fn readable(fd: RawFd) -> bool {
    poll_now(fd).intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR)
}

/// Returns how many bytes a pipe holds. A write to a pipe has arrived when it returns.
pub(crate) fn in_pipe(fd: RawFd) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int; on a number that is not open it answers EBADF.
    let answered = unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut count) };
    if answered == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

/// Returns how many bytes of a TCP connection its peer has not acknowledged. A peer acknowledges bytes after
/// they are in its buffer and its pollers know it.
pub(crate) fn unacknowledged(fd: RawFd) -> usize {
    let mut count: libc::c_int = 0;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: SIOCOUTQ (tcp(7)), which has the number of TIOCOUTQ, writes one int.
    let answered = unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut count) };
    #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
    // SAFETY: FIONWRITE writes one int.
    let answered = unsafe { libc::ioctl(fd, libc::FIONWRITE, &raw mut count) };
    #[cfg(target_vendor = "apple")]
    // SAFETY: SO_NWRITE writes one int.
    let answered = unsafe {
        let mut size = size_of_val(&count) as libc::socklen_t;
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_NWRITE, (&raw mut count).cast(), &raw mut size)
    };
    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_vendor = "apple"
    )))]
    // OpenBSD counts terminals only, and DragonFly and illumos do not count at all.
    let answered = {
        let _ = (fd, &mut count);
        0
    };
    if answered == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

/// Returns how many epoll descriptors of this process have the number registered. `None` if the system does
/// not tell, or if nothing is registered. The look opens descriptors for a moment.
pub(crate) fn epolls_with(fd: RawFd) -> Option<usize> {
    let files = std::fs::read_dir("/proc/self/fdinfo").ok()?;
    // A file may be closed meanwhile. proc_pid_fdinfo(5): a line `tfd: NUMBER …` for each registration.
    let texts = files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok());
    let registered = |text: String| -> Vec<Option<RawFd>> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("tfd:"));
        lines.map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    };
    let epolls: Vec<_> = texts.map(registered).filter(|numbers| !numbers.is_empty()).collect();
    (!epolls.is_empty()).then(|| epolls.iter().filter(|numbers| numbers.contains(&Some(fd))).count())
}

/// Returns the inode number of the open file, which tells open files apart.
pub(crate) fn inode(fd: &impl AsFd) -> Option<u64> {
    #[allow(clippy::unnecessary_cast, reason = "the width of ino_t differs between systems")]
    lasting_number(|| fstat(fd).ok().map(|status| status.st_ino as u64))
}

/// Returns a number that stays the same. OpenBSD and NetBSD number UNIX sockets from 0 at the first fstat(2)
/// of each, and take 0 for "no number yet" (`uipc_sense`): the first socket of a boot has another number from
/// its second fstat(2) on.
fn lasting_number(mut fstat: impl FnMut() -> Option<u64>) -> Option<u64> {
    match fstat() {
        Some(0) => fstat(),
        number => number,
    }
}

/// Opens the null device, non-blocking.
pub(crate) fn null_device() -> io::Result<OwnedFd> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    options.open("/dev/null").map(OwnedFd::from)
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::*;

    /// Returns a copy of standard error with this number, or a greater one that is free.
    fn copy(number: RawFd) -> OwnedFd {
        let made = fcntl(io::stderr(), FcntlArg::F_DUPFD_CLOEXEC(number)).unwrap();
        // SAFETY: fcntl has just created the descriptor, and nothing else owns it.
        unsafe { OwnedFd::from_raw_fd(made) }
    }

    /// The numbers of UNIX sockets are those of OpenBSD's and NetBSD's `uipc_sense`.
    #[test]
    fn the_first_socket_of_a_boot_keeps_its_number() {
        let (mut next, mut numbers) = (0, [0; 2]);
        let mut fstat = |socket: usize| {
            if numbers[socket] == 0 {
                numbers[socket] = next;
                next += 1;
            }
            Some(numbers[socket])
        };
        let first = lasting_number(|| fstat(0));
        assert_eq!((lasting_number(|| fstat(0)), lasting_number(|| fstat(1))), (first, Some(2)));
        assert_eq!(lasting_number(|| None), None, "a closed descriptor has none");
    }

    #[test]
    fn open_descriptors_with_low_and_high_numbers_are_found() {
        for number in [LOW - 1, LOW + 40] {
            let copy = copy(number);
            let number = copy.as_raw_fd();
            assert!(open().contains(&number), "{number}");
            drop(copy);
            assert!(!open().contains(&number), "{number}");
        }
    }
}
