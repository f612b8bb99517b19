//! Whether this system has a working loopback interface.

use std::net::UdpSocket;

use nix::errno::Errno;

/// The reason of a cell that is unsupported for lack of a loopback interface.
pub const NO_LOOPBACK: &str = "needs the loopback interface: 127.0.0.1 cannot be reached";

/// Returns whether 127.0.0.1 can be reached. A new network namespace has the interface, but it is down.
pub fn has_loopback() -> bool {
    let reached = UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| socket.connect(socket.local_addr()?));
    let Some(errno) = reached.err().and_then(|error| error.raw_os_error()).map(Errno::from_raw) else {
        return true;
    };
    !matches!(
        errno,
        Errno::EADDRNOTAVAIL
            | Errno::ENETUNREACH
            | Errno::ENETDOWN
            | Errno::EHOSTUNREACH
            | Errno::EAFNOSUPPORT
    )
}
