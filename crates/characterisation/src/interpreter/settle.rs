//! When what was done on one end has arrived at the other.
//!
//! A pipe or a UNIX socket is changed by the call itself. Loopback is not: the peer's side is changed by whoever
//! takes the packet out of a queue. FreeBSD and macOS have one such thread for loopback, so what a later round trip on
//! another connection brought back was behind it. Linux has a queue per processor, emptied on the way out of the
//! sending call: a round trip from the same thread is behind it too, unless the scheduler moved the thread between
//! the two and the first processor is behind. So what must come is waited for as well.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use libc::c_short;
use metadata::Transport;
use nix::unistd::{read, write};

use super::descriptors::{self, Scratch};
use super::{call_failed, setup_error};
use crate::{Setting, Stopped};

/// Data, a connection, or the end of one.
pub(super) const READABLE: c_short = libc::POLLIN;

/// Room, or the end of a handshake.
pub(super) const WRITABLE: c_short = libc::POLLOUT;

/// An urgent byte.
pub(super) const URGENT: c_short = libc::POLLPRI;

/// An error.
pub(super) const FAILED: c_short = libc::POLLERR;

/// What a reset brings to the end that gets it, on every system.
pub(super) const RESET: c_short = libc::POLLHUP | libc::POLLERR;

/// What a FIN brings. Where there is no word for it, data that were there before hide it, and the round trip must do.
#[cfg(target_os = "linux")]
pub(super) const HALF_CLOSED: c_short = libc::POLLRDHUP;
/// What a FIN brings.
#[cfg(not(target_os = "linux"))]
pub(super) const HALF_CLOSED: c_short = libc::POLLIN;

/// A connection of the transport that only makes round trips.
pub(super) struct Settle {
    ends: Option<(OwnedFd, OwnedFd)>,
    patience: Duration,
}

impl Settle {
    pub(super) fn new(setting: Setting, scratch: &mut Scratch) -> Result<Self, Stopped> {
        let ends = match setting.transport {
            Transport::Tcp | Transport::Udp => Some(descriptors::pair(setting, scratch)?),
            _ => None,
        };
        Ok(Self { ends, patience: setting.patience })
    }

    /// Sends a byte there and one back.
    pub(super) fn round_trip(&self) -> Result<(), Stopped> {
        let Some((here, there)) = &self.ends else { return Ok(()) };
        for (from, to) in [(here, there), (there, here)] {
            write(from, &[0]).map_err(|errno| call_failed("a round trip", errno))?;
            wait_for(to, READABLE, "a round trip", self.patience)?;
            read(to, &mut [0]).map_err(|errno| call_failed("a round trip", errno))?;
        }
        Ok(())
    }
}

/// Waits until poll(2) says one of `what`.
pub(super) fn wait_for(fd: &impl AsFd, what: c_short, of: &str, patience: Duration) -> Result<(), Stopped> {
    let begun = Instant::now();
    loop {
        let Some(left) = patience.checked_sub(begun.elapsed()) else {
            return Err(setup_error(format!("{of} did not arrive within {patience:?}")));
        };
        // nix knows no POLLRDHUP, and answers nothing where it is among the bits.
        let mut polled = libc::pollfd { fd: fd.as_fd().as_raw_fd(), events: what, revents: 0 };
        let timeout = libc::c_int::try_from(left.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: one pollfd, and it lives.
        if unsafe { libc::poll(&raw mut polled, 1, timeout) } > 0 && polled.revents & what != 0 {
            return Ok(());
        }
        // Another answer than the one that is waited for must not make this loop a hot one.
        std::thread::yield_now();
    }
}

/// How many bytes can be read: `FIONREAD`.
pub(super) fn unread(fd: &impl AsFd) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int, and `count` is one that lives.
    let answer = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut count) };
    if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

/// Waits until so many bytes can be read. No system has a call that sleeps until then.
pub(super) fn wait_for_bytes(fd: &impl AsFd, count: usize, patience: Duration) -> Result<(), Stopped> {
    let begun = Instant::now();
    while unread(fd) < count {
        if begun.elapsed() > patience {
            return Err(setup_error(format!("{count} bytes did not arrive within {patience:?}")));
        }
        std::thread::yield_now();
    }
    Ok(())
}
