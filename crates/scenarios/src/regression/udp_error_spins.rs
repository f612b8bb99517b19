//! `eaefc3c50`: a datagram socket with a pending error is readable without a byte to read. That was taken for nothing
//! to read, and reported for ever.

use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::{ReadyGuard, State};
use metadata::{Axes, Layer, Transport};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};

use super::set_up::is_quiet;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/udp-error-spins",
    title: "The refusal of a datagram is reported as something to read, once, and then it is quiet",
    layer: Layer::Contract,
    clauses: &["L6", "bug 37"],
    // A datagram socket whatever this says.
    axes: Axes { transports: &[Transport::Tcp], threads: &[1], ..Axes::PLAIN },
    run,
};

/// A handler that is told this often of nothing, or of an error that stays, gives up, so that a spin ends.
const MOST: usize = 4;

/// What the handler saw.
#[derive(Default)]
struct Seen {
    /// Errors that were read.
    errors: Vec<Errno>,
    /// Reports of nothing to read.
    empty: usize,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let local = || UdpSocket::bind(("127.0.0.1", 0)).map_err(Failure::broken);
    let deserted = local()?.local_addr().map_err(Failure::broken)?;
    let client = local()?;
    client.connect(deserted).map_err(Failure::broken)?;
    set_nonblocking(&client).map_err(Failure::broken)?;
    let seen = Arc::new(Mutex::new(Seen::default()));
    let handler = {
        let seen = Arc::clone(&seen);
        move |ready: &ReadyGuard<'_>| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !ready.state().contains(State::READY_R) {
                seen.empty += 1;
                if seen.empty >= MOST {
                    let _ = ready.registration().stop_recv();
                }
                return;
            }
            while let Err(errno) = recv(ready.as_fd().as_raw_fd(), &mut [0; 8], MsgFlags::MSG_DONTWAIT) {
                if errno == Errno::EAGAIN || seen.errors.len() >= MOST {
                    break;
                }
                seen.errors.push(errno);
            }
            let _ = ready.registration().cant_recv();
        }
    };
    let handle = harness.insert(OwnedFd::from(client), Arc::new(handler), thread)?;
    // From here on only a report says that there is something to read.
    harness.core().registration(handle).cant_recv().map_err(Failure::broken)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence(thread)?;
    let sent = harness.on(thread, move |context| {
        context.enter(handle, |ready: &ReadyGuard<'_>| send(ready.as_fd().as_raw_fd(), b"x", MsgFlags::empty()))
    })?;
    let sent = sent.map_err(|error| Failure::Wrong(error.to_string()))?;
    test.check_eq("send", "Ok(1)".into(), format!("{sent:?}"), "udp(4), udp(7)");
    test.all_hold()?;
    let done = || {
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        !seen.errors.is_empty() || seen.empty >= MOST
    };
    harness.wait_until("the refusal", done)?;
    is_quiet(test, &mut harness, thread, "after the refusal", "L6, bug 37")?;
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    test.check_eq("reports of nothing to read", 0, seen.empty, "bug 37");
    test.check_eq("what was read", "[ECONNREFUSED]".into(), format!("{:?}", seen.errors), "V23");
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.finish(test, &[])
}
