//! `eaefc3c50`: a datagram socket with a pending error is readable without a byte to read. That was mistaken
//! for nothing to read, and reported endlessly.

use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};

use crate::prelude::*;
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/udp-error-spins",
    title: "A refused datagram makes the socket readable for one report, and then the thread sleeps",
    layer: Layer::Contract,
    clauses: &["L6", "bug 37"],
    // The descriptor is a datagram socket, whatever the transport.
    axes: Axes { transports: &[Transport::Tcp], threads: &[1], ..Axes::PLAIN },
    run,
};

/// The handler gives up after this many empty reports, or this many errors, so that a spin ends.
const MOST: usize = 4;

/// The record of the handler.
#[derive(Default)]
struct Record {
    /// Errors that were read.
    errors: Vec<Errno>,
    /// Reports of nothing to read.
    empty: usize,
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let local = || UdpSocket::bind(("127.0.0.1", 0)).map_err(Failure::broken);
    let unused = local()?.local_addr()?;
    let client = local()?;
    client.connect(unused)?;
    set_nonblocking(&client)?;
    let seen = Arc::new(Mutex::new(Record::default()));
    let handler = {
        let seen = Arc::clone(&seen);
        move |ready: &ReadyGuard<'_>| {
            let mut seen = unpoisoned(&seen);
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
    // From here on, only a report marks the socket as readable.
    harness.registration(handle).cant_recv()?;
    harness.registration(handle).want_recv()?;
    harness.fence(thread)?;
    let sent = harness.on(thread, move |context| {
        context
            .enter(handle, |ready: &ReadyGuard<'_>| send(ready.as_fd().as_raw_fd(), b"x", MsgFlags::empty()))
    })?;
    let sent = sent.map_err(|error| Failure::Wrong(error.to_string()))?;
    test.check_debug("send", Ok(1), sent, "udp(4), udp(7)");
    test.stop_if_failed()?;
    let done = || {
        let seen = unpoisoned(&seen);
        !seen.errors.is_empty() || seen.empty >= MOST
    };
    harness.wait_until("the refusal", done)?;
    harness.check_quiet(test, thread, "after the refusal", "L6, bug 37")?;
    let seen = std::mem::take(&mut *unpoisoned(&seen));
    test.check_eq("reports of nothing to read", 0, seen.empty, "bug 37");
    test.check_debug("errors that were read", vec![Errno::ECONNREFUSED], seen.errors, "V23");
    harness.registration(handle).delete()?;
    harness.finish(test, &[])
}
