//! From the [`Interest`] in a descriptor to the events of its pollfd.

use fd_core::poller::Interest;
use libc::c_short;

/// The bit that distinguishes a half-closed peer from readable data, if the system has one.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) const RDHUP: Option<c_short> = Some(libc::POLLRDHUP);
/// The bit that distinguishes a half-closed peer from readable data, if the system has one.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) const RDHUP: Option<c_short> = None;

/// Returns the events to request. The kernel reports errors and hang-ups without a request. `rdhup` is the
/// bit for a half-closed peer, or 0 where it cannot be requested.
pub(crate) fn wanted(interest: Interest, rdhup: c_short) -> c_short {
    let mut events = 0;
    if interest.recv {
        events |= libc::POLLIN | rdhup;
    }
    if interest.send {
        events |= libc::POLLOUT;
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_has_its_events() {
        for rdhup in [0, 0x4000] {
            let recv = libc::POLLIN | rdhup;
            let table = [
                (Interest::NONE, 0),
                (Interest::RECV, recv),
                (Interest::SEND, libc::POLLOUT),
                (Interest::BOTH, recv | libc::POLLOUT),
            ];
            for (interest, events) in table {
                assert_eq!(wanted(interest, rdhup), events, "{interest:?}");
            }
        }
    }
}
