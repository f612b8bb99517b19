//! What a scenario needs of the system before it begins.

use std::net::UdpSocket;

use metadata::{Transport, Variant};
use nix::errno::Errno;

use crate::descriptors;
use crate::test_context::Failure;

/// Descriptors of any scenario besides those of its threads.
const OWN: usize = 32;
/// A poller, two pipes, and one more on the scenario's side.
const PER_THREAD: usize = 6;
/// Those that need more. A test runs every scenario with exactly what it needs.
const MORE: [(&str, usize); 8] = [
    // A number that select cannot have, and some below it.
    ("regression/number-beyond-fd-setsize", 1100),
    ("regression/highest-number-unpolled", 1040),
    ("regression/scan-ends-too-early", 610),
    ("regression/changes-lost-in-one-pass", 272),
    ("regression/last-number-refused", 176),
    ("regression/neighbours-counted", 176),
    // What two threads insert before it stays.
    ("lifecycle/insert-beside-stop", 144),
    // More than any of the limits that it sets.
    ("polling/lowered-limit", 64),
];
/// A storm is none without room for some registrations that wait for their end.
const STORM: usize = 88;
const STORM_ID: &str = "deletion/close-once";

/// How many descriptors the scenario needs.
pub fn descriptors(scenario: &str, params: Variant) -> usize {
    let own = OWN + PER_THREAD * params.threads;
    let more = MORE.iter().find(|(id, _)| *id == scenario).map(|(_, more)| *more);
    match more {
        Some(more) => more + PER_THREAD * params.threads,
        None if scenario == STORM_ID => own + STORM + 2 * params.threads,
        None => own,
    }
}

/// How many descriptors there may be beyond those that every scenario of this shape needs.
pub(crate) fn room(params: Variant) -> usize {
    descriptors::limit().saturating_sub(inherited() + OWN + PER_THREAD * params.threads)
}

/// Whether the system has what the scenario needs.
///
/// # Errors
/// [`Failure::Unsupported`] with what it has not.
pub(crate) fn check(scenario: &str, params: Variant) -> Result<(), Failure> {
    let (needed, limit) = (descriptors(scenario, params), descriptors::limit());
    // Looked for only where it matters.
    let inherited = if limit < 2 * needed { inherited() } else { 0 };
    if limit < needed + inherited {
        let needed = needed + inherited;
        return Err(Failure::Unsupported(format!(
            "needs {needed} descriptors, and may have {limit} (ulimit -n)"
        )));
    }
    if params.transport == Transport::Tcp && !has_loopback() {
        return Err(Failure::Unsupported(NO_LOOPBACK.into()));
    }
    Ok(())
}

/// What stands in for the reason if there is no loopback interface.
pub const NO_LOOPBACK: &str = "needs the loopback interface: 127.0.0.1 cannot be reached";

/// Whether 127.0.0.1 can be reached. A network namespace of its own has the interface, and nobody has switched it on.
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

/// Descriptors that the process has from its parent, besides the three that every process has.
fn inherited() -> usize {
    descriptors::open().len().saturating_sub(3)
}
