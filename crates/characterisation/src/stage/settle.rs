//! When what was done on one end has arrived at the other.
//!
//! A pipe or a UNIX socket is changed by the call itself. Loopback is not: the peer's side is changed by whoever
//! takes the packet out of a queue. FreeBSD and macOS have one such thread for loopback, so what a later round trip on
//! another connection brought back was behind it. Linux has a queue per processor, emptied on the way out of the
//! sending call: a round trip from the same thread is behind it too, unless the scheduler moved the thread between
//! the two and the first processor is behind. So what must come is waited for as well.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use super::descriptors::{self, Place};
use super::{PATIENCE, broken};
use crate::{Stopped, Transport};

/// The end of a connection, or the arrival of data, as poll(2) can tell of it.
pub(super) const READABLE: PollFlags = PollFlags::POLLIN;

/// What a reset brings to the end that gets it, on every system.
pub(super) const RESET: PollFlags = PollFlags::POLLHUP.union(PollFlags::POLLERR);

/// What a FIN brings. Where there is no word for it, data that were there before hide it, and the round trip must do.
#[cfg(target_os = "linux")]
pub(super) const HALF_CLOSED: PollFlags = PollFlags::POLLRDHUP;
/// What a FIN brings. Where there is no word for it, data that were there before hide it, and the round trip must do.
#[cfg(not(target_os = "linux"))]
pub(super) const HALF_CLOSED: PollFlags = PollFlags::POLLIN;

/// A connection of the transport that only makes round trips.
pub(super) struct Settle(Option<(OwnedFd, OwnedFd)>);

impl Settle {
    pub(super) fn new(transport: Transport, place: &mut Place) -> Result<Self, Stopped> {
        Ok(Self(match transport {
            Transport::Tcp | Transport::Udp => Some(descriptors::pair(transport, place)?),
            _ => None,
        }))
    }

    /// Sends a byte there and one back.
    pub(super) fn round_trip(&self) -> Result<(), Stopped> {
        let Some((here, there)) = &self.0 else { return Ok(()) };
        for (from, to) in [(here, there), (there, here)] {
            write(from, &[0]).map_err(|errno| broken(format!("a round trip: {errno:?}")))?;
            wait_for(to, READABLE, "a round trip")?;
            read(to, &mut [0]).map_err(|errno| broken(format!("a round trip: {errno:?}")))?;
        }
        Ok(())
    }
}

/// What poll(2) says now.
pub(super) fn state(fd: &impl AsFd, asked: PollFlags) -> PollFlags {
    let mut polled = [PollFd::new(fd.as_fd(), asked)];
    match poll(&mut polled, PollTimeout::ZERO) {
        Ok(_) => polled[0].revents().unwrap_or(PollFlags::empty()),
        Err(_) => PollFlags::empty(),
    }
}

/// Waits until poll(2) says one of `what`.
pub(super) fn wait_for(fd: &impl AsFd, what: PollFlags, of: &str) -> Result<(), Stopped> {
    let begun = Instant::now();
    while !state(fd, what).intersects(what) {
        let Some(left) = PATIENCE.checked_sub(begun.elapsed()) else {
            return Err(broken(format!("{of} did not arrive within {PATIENCE:?}")));
        };
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        // What it says is asked again above; an interrupted call is made again.
        let _ = poll(&mut [PollFd::new(fd.as_fd(), what)], timeout);
    }
    Ok(())
}

/// How many bytes can be read: `FIONREAD`.
pub(super) fn unread(fd: &impl AsFd) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int, and `count` is one that lives.
    let answer = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut count) };
    if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

/// Waits until so many bytes can be read. No system has a call that sleeps until then.
pub(super) fn wait_for_bytes(fd: &impl AsFd, count: usize) -> Result<(), Stopped> {
    let begun = Instant::now();
    while unread(fd) < count {
        if begun.elapsed() > PATIENCE {
            return Err(broken(format!("{count} bytes did not arrive within {PATIENCE:?}")));
        }
        std::thread::yield_now();
    }
    Ok(())
}
