//! Waits until the effect of a call has arrived at the other end.
//!
//! A call on a pipe or a UNIX socket changes the other end itself. On loopback, another kernel context takes
//! the packet out of a queue and changes the peer's side. FreeBSD and macOS have one thread for loopback:
//! when a later round trip on another connection has completed, the earlier packet has been handled. Linux
//! has a queue per processor, which it empties at the end of the sending call. There, a round trip from the
//! same thread comes later, too, unless the scheduler has moved the thread between the two calls and the
//! first processor is behind. Therefore the interpreter also waits for every effect that must arrive.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use libc::c_short;
use matrix::system;
use metadata::Transport;
use nix::unistd::{read, write};

use super::descriptors::{self, Scratch};
use super::{broken, call_failed};
use crate::{Setting, Stopped};

/// Data, a connection, or the end of one.
pub(super) const READABLE: c_short = libc::POLLIN;

/// Room, or the end of a handshake.
pub(super) const WRITABLE: c_short = libc::POLLOUT;

/// An urgent byte.
const URGENT: c_short = libc::POLLPRI;

/// An error.
pub(super) const FAILED: c_short = libc::POLLERR;

/// The effect of a reset on the other end, on every system.
pub(super) const RESET: c_short = libc::POLLHUP | libc::POLLERR;

/// The effect of a FIN on this system.
fn half_closed() -> c_short {
    half_closed_on(system::name())
}

/// The effect of a FIN. Without `POLLRDHUP`, which gVisor does not report, earlier data hide it: then only
/// the round trip helps.
fn half_closed_on(system: &str) -> c_short {
    #[cfg(target_os = "linux")]
    if system == "linux" {
        return libc::POLLRDHUP;
    }
    let _ = system;
    READABLE
}

/// A connection of the transport, for round trips only.
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

/// Waits until poll(2) reports one of `events`. `effect` names it in the error.
pub(super) fn wait_for(
    fd: &impl AsFd,
    events: c_short,
    effect: &str,
    patience: Duration,
) -> Result<(), Stopped> {
    let begun = Instant::now();
    loop {
        let Some(left) = patience.checked_sub(begun.elapsed()) else {
            return Err(broken(format!("{effect} did not arrive within {patience:?}")));
        };
        if is_reported(fd, events, libc::c_int::try_from(left.as_millis()).unwrap_or(libc::c_int::MAX)) {
            return Ok(());
        }
        // poll(2) can report other bits at once: do not spin.
        std::thread::yield_now();
    }
}

/// Returns whether poll(2) reports one of `events`, for an effect that some systems never have. After a round
/// trip, a system with one packet queue has it or never will. Elsewhere another processor may be behind: then
/// it comes within a twentieth of the patience.
pub(super) fn arrives(fd: &impl AsFd, events: c_short, patience: Duration) -> bool {
    wait_for(fd, events, "", patience / 20).is_ok()
}

/// Waits for an urgent byte, after a round trip. Where poll(2) never reports one, nothing shows its arrival
/// later than the round trip.
pub(super) fn wait_for_urgent_byte(fd: &impl AsFd, patience: Duration) -> Result<(), Stopped> {
    if reports_urgent_data(system::name()) {
        return wait_for(fd, URGENT, "the urgent byte", patience);
    }
    let _ = arrives(fd, URGENT, patience);
    Ok(())
}

/// Returns whether poll(2) reports urgent data. macOS's does not since 10.12, by XNU's source
/// (`filt_sorattach`), and gVisor's did not in 20221219.
fn reports_urgent_data(system: &str) -> bool {
    !matches!(system, "macos" | "gvisor")
}

/// Waits until the end of a connection has arrived. The end comes after the data: bytes for which the other
/// end has no room hold it back until somebody reads there. `on_the_way` counts the bytes that have not
/// arrived: if it stays the same for a twentieth of the patience, this returns false.
pub(super) fn wait_for_end(
    fd: &impl AsFd,
    on_the_way: &dyn Fn() -> usize,
    patience: Duration,
) -> Result<bool, Stopped> {
    let still = patience / 20;
    let begun = Instant::now();
    let mut last = (0, begun);
    while !is_reported(fd, half_closed(), 1) {
        let count = on_the_way();
        if count != last.0 {
            last = (count, Instant::now());
        }
        if count > 0 && last.1.elapsed() > still {
            return Ok(false);
        }
        if begun.elapsed() > patience {
            return Err(broken(format!("the end of the connection did not arrive within {patience:?}")));
        }
        // poll(2) can report other bits at once: do not spin.
        std::thread::yield_now();
    }
    Ok(true)
}

/// Returns whether poll(2) reports one of `events` within a timeout in milliseconds.
pub(super) fn is_reported(fd: &impl AsFd, events: c_short, timeout: libc::c_int) -> bool {
    reports(events, |requested| {
        // nix's PollFlags lacks POLLRDHUP, and its wrapper returns no bits if POLLRDHUP is set.
        let mut polled = libc::pollfd { fd: fd.as_fd().as_raw_fd(), events: requested, revents: 0 };
        // SAFETY: the pointer is to one live pollfd.
        let count = unsafe { libc::poll(&raw mut polled, 1, timeout) };
        if count > 0 { polled.revents } else { 0 }
    }) || events & RESET != 0 && has_ended(fd)
}

/// Returns whether `poll`, from the requested to the returned events, reports one of `events`.
fn reports(events: c_short, poll: impl FnOnce(c_short) -> c_short) -> bool {
    poll(requested(events)) & events != 0
}

/// Returns the events to request from poll(2), which reports `POLLHUP` and `POLLERR` without a request.
///
/// OpenBSD 7.3 watches nothing if `POLLERR` is requested without a direction (`ppollregister`). In a thread
/// that has called select(2) for exceptional conditions, it reports a hang-up only if reading is requested:
/// poll(2) re-uses the filter that select(2) has left in the thread's queue, and that filter has no hang-up
/// (`kqueue_register`, `filt_soexcept`). No script can ask for that answer, because its pollers are of one
/// kind.
const fn requested(events: c_short) -> c_short {
    let others = events & !RESET;
    if others == events { events } else { others | READABLE }
}

/// Returns whether a socket has ended in both directions, where poll(2) does not report that: NetBSD's never
/// reports a hang-up of a socket.
#[cfg(target_os = "netbsd")]
fn has_ended(fd: &impl AsFd) -> bool {
    use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};

    let filter = |filter| {
        let number = fd.as_fd().as_raw_fd() as usize;
        KEvent::new(number, filter, EvFlags::EV_ADD, FilterFlag::empty(), 0, 0)
    };
    let filters = [EventFilter::EVFILT_READ, EventFilter::EVFILT_WRITE].map(filter);
    let (mut events, now) = (filters, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    let count = Kqueue::new().and_then(|queue| queue.kevent(&filters, &mut events, Some(now)));
    count == Ok(2) && events.iter().all(|event| event.flags().contains(EvFlags::EV_EOF))
}

/// poll(2) reports it.
#[cfg(not(target_os = "netbsd"))]
fn has_ended(_: &impl AsFd) -> bool {
    false
}

/// Returns the number of bytes that can be read: `FIONREAD`.
pub(super) fn unread(fd: &impl AsFd) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int to a live one.
    let answer = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut count) };
    if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

/// Waits until the other end of a TCP connection has acknowledged everything, or the connection has failed.
/// Only Linux counts a FIN: elsewhere, the round trip has to be enough.
pub(super) fn wait_for_acknowledgement(fd: &impl AsFd, patience: Duration) -> Result<(), Stopped> {
    let is_over = || unacknowledged(fd) == 0 || is_reported(fd, RESET, 0);
    wait_until(is_over, "sent data were not acknowledged", patience)
}

/// Returns the number of bytes that the other end of a TCP connection has not acknowledged, with the FIN.
#[cfg(target_os = "linux")]
fn unacknowledged(fd: &impl AsFd) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: TIOCOUTQ writes one int to a live one.
    let answer = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut count) };
    if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

#[cfg(not(target_os = "linux"))]
fn unacknowledged(_: &impl AsFd) -> usize {
    0
}

/// Waits until `count` bytes can be read. No system call sleeps until then.
pub(super) fn wait_for_bytes(fd: &impl AsFd, count: usize, patience: Duration) -> Result<(), Stopped> {
    wait_until(|| unread(fd) >= count, &format!("{count} bytes did not arrive"), patience)
}

/// Looks again and again whether something has happened. `late` is the error without it.
fn wait_until(has_happened: impl Fn() -> bool, late: &str, patience: Duration) -> Result<(), Stopped> {
    let begun = Instant::now();
    while !has_happened() {
        if begun.elapsed() > patience {
            return Err(broken(format!("{late} within {patience:?}")));
        }
        std::thread::yield_now();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Long enough for a call of poll(2) that reports at once.
    const SHORT: Duration = Duration::from_millis(20);

    /// What OpenBSD's poll(2) returned for a socket after a reset, in a thread that has or has not called
    /// select(2) before: measured on 7.3.
    fn openbsd(after_select: bool, requested: c_short) -> c_short {
        const IN_AND_HUP: c_short = libc::POLLIN | libc::POLLHUP;
        match (after_select, requested & !libc::POLLHUP) {
            (_, requested) if requested & libc::POLLIN != 0 => IN_AND_HUP,
            (false, 0 | libc::POLLPRI | libc::POLLOUT) => libc::POLLHUP,
            _ => 0,
        }
    }

    /// Without it, each script with a reset waits for its whole patience there.
    #[test]
    fn a_hang_up_arrives_although_openbsd_watches_nothing_for_an_error_alone_or_after_select() {
        for after_select in [false, true] {
            for events in [RESET, WRITABLE | RESET] {
                assert!(reports(events, |requested| openbsd(after_select, requested)), "{events:#x}");
            }
        }
        for events in [READABLE, WRITABLE, URGENT, half_closed(), FAILED, RESET, READABLE | FAILED] {
            assert_eq!(requested(events) & (libc::POLLERR | libc::POLLHUP), 0, "{events:#x}");
            assert_ne!(requested(events), 0, "{events:#x}");
        }
    }

    /// Without it, each script in which a TCP peer closes or sends urgent data waits for its whole patience.
    #[test]
    fn nothing_is_waited_for_that_poll_does_not_report_on_this_system() {
        assert_eq!((half_closed_on("gvisor"), half_closed_on("freebsd")), (READABLE, READABLE));
        assert_eq!((reports_urgent_data("gvisor"), reports_urgent_data("linux")), (false, true));
        #[cfg(target_os = "linux")]
        assert_eq!(half_closed_on("linux"), libc::POLLRDHUP, "earlier data do not hide it");
    }

    /// poll(2) reports a hang-up whatever is asked for.
    #[test]
    fn only_the_event_that_is_waited_for_is_its_arrival() {
        let (own, peer) = UnixStream::pair().unwrap();
        drop(peer);
        assert_eq!(wait_for(&own, libc::POLLHUP, "the hang-up", SHORT), Ok(()));
        let waited = wait_for(&own, URGENT, "the urgent byte", SHORT);
        assert_eq!(waited, Err(broken("the urgent byte did not arrive within 20ms")));
    }
}
