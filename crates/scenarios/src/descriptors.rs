//! Which descriptors this process has open, found out without /proc.

use std::os::fd::{BorrowedFd, RawFd};

use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit};

/// Numbers above this are not looked at: no scenario opens that many.
const HIGHEST: usize = 1 << 16;

/// So many are looked at in one call: no system's limit of open descriptors is lower by default.
const AT_ONCE: usize = 256;

/// How many descriptors this process may have, as far as a scenario can use them.
pub fn limit() -> usize {
    let soft = getrlimit(Resource::RLIMIT_NOFILE).ok();
    // Signed on some systems.
    soft.and_then(|(soft, _)| usize::try_from(soft).ok()).map_or(HIGHEST, |soft| soft.min(HIGHEST))
}

/// The open descriptors of this process, lowest first.
pub(crate) fn open() -> Vec<RawFd> {
    let limit = limit();
    let numbers: Vec<_> = (0..limit as RawFd).collect();
    let chunks = numbers.chunks(AT_ONCE.min(limit.max(1)));
    chunks.flat_map(open_of).collect()
}

/// Those of `numbers` that are open. One call for all of them: one for each takes most of a short cell's time.
fn open_of(numbers: &[RawFd]) -> Vec<RawFd> {
    let look = |fd: &RawFd| {
        // SAFETY: poll on a number that is not open answers POLLNVAL and does nothing else.
        PollFd::new(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::empty())
    };
    let mut looked: Vec<_> = numbers.iter().map(look).collect();
    let seen = poll(&mut looked, PollTimeout::ZERO);
    let closed = |at: usize| {
        let invalid = looked[at].revents().is_some_and(|events| events.contains(PollFlags::POLLNVAL));
        // Some systems say so of open devices, too.
        invalid && !cfg!(target_vendor = "apple")
    };
    let open = |(at, fd): (usize, &RawFd)| if seen.is_ok() && closed(at) { None } else { Some(*fd) };
    numbers.iter().enumerate().filter_map(open).filter(|fd| is_open(*fd)).collect()
}

/// Whether the number is an open descriptor.
pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD on a number that is not open answers EBADF and does nothing else.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fcntl(fd, FcntlArg::F_GETFD).is_ok()
}

/// What poll(2) says of the number this very moment, asked for input: `POLLNVAL` if it is not open.
pub(crate) fn poll_now(fd: RawFd) -> PollFlags {
    // SAFETY: poll on a number that is not open answers POLLNVAL and does nothing else.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let mut polled = [PollFd::new(fd, PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::ZERO) {
        Ok(_) => polled[0].revents().unwrap_or(PollFlags::empty()),
        Err(_) => PollFlags::empty(),
    }
}

/// Whether reading the number would not block this very moment: data, end of file or an error.
pub(crate) fn readable(fd: RawFd) -> bool {
    poll_now(fd).intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR)
}
