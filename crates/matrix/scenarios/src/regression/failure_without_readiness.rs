//! `5a9c637bf`: a failed connect was reported as a hang-up and as readable, but its handler waited to send
//! and was never called. The same applies to a full pipe whose reader closes.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, getsockopt, socket, sockopt};

use crate::prelude::*;
use crate::transport::fill;
use crate::transport::unused_address;
use crate::transport::{pair, set_nonblocking, unsupported};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/failure-without-readiness",
    title: "A handler that waits to send is called when sending becomes impossible, whichever event the poller reports",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "bug 48"],
    axes: Axes { threads: &[1], ..Axes::PLAIN },
    run,
};

/// The peer: dropping it makes sending impossible.
type Peer = Option<Box<dyn Send>>;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let (endpoint, peer, expected) = match test.params.transport {
        Transport::Tcp => refused(test, unused_address()?)?,
        Transport::Unix => {
            let ends = pair(Transport::Unix)?;
            // Linux answers ECONNRESET if the peer has left data unread.
            let lost = vec![Errno::EPIPE, Errno::ECONNRESET];
            (ends.near, Some(Box::new(ends.far) as Box<dyn Send>), lost)
        }
        Transport::Pipe => {
            let (reader, writer) = io::pipe()?;
            (OwnedFd::from(writer), Some(Box::new(reader) as Box<dyn Send>), vec![Errno::EPIPE])
        }
        other => return Err(Failure::broken(unsupported(other))),
    };
    set_nonblocking(&endpoint)?;
    if peer.is_some() {
        fill(&endpoint)?;
    }
    let answers = Arc::new(Mutex::new(Vec::new()));
    let handler = {
        let answers = Arc::clone(&answers);
        move |ready: &ReadyGuard<'_>| {
            let _ = ready.registration().stop_send();
            unpoisoned(&answers).push(attempt(ready));
        }
    };
    let connecting = peer.is_none();
    let handle = harness.insert(endpoint, Arc::new(handler), thread)?;
    harness.registration(handle).cant_send()?;
    harness.registration(handle).want_send()?;
    harness.fence(thread)?;
    let answers = || unpoisoned(&answers).clone();
    if !connecting {
        test.check_eq("reports while it is full", 0, answers().len(), "S18");
    }
    drop(peer);
    harness.wait_until("the report", || !answers().is_empty())?;
    harness.check_quiet(test, thread, "after the report", "L6")?;
    let answers = answers();
    let holds = answers.len() == 1 && expected.contains(&answers[0]);
    let expected = format!("one of {expected:?}, once");
    test.check("errors that the handler finds", expected, format!("{answers:?}"), "bug 48", holds);
    harness.registration(handle).delete()?;
    harness.finish(test, &[])
}

/// Starts a connect to an unused address, and returns the errors that it may end with.
fn refused(test: &mut TestContext, address: SocketAddrV4) -> Result<(OwnedFd, Peer, Vec<Errno>)> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None)?;
    set_nonblocking(&socket)?;
    let answer = connect(socket.as_raw_fd(), &SockaddrIn::from(address));
    // FreeBSD may refuse at once, over loopback (measured). Then the report concerns a socket that is not
    // connected.
    let expected = match answer {
        Err(Errno::ECONNREFUSED) => vec![Errno::ENOTCONN, Errno::EPIPE],
        _ => vec![Errno::ECONNREFUSED],
    };
    let known = matches!(answer, Err(Errno::EINPROGRESS | Errno::ECONNREFUSED));
    test.check("connect", "EINPROGRESS or ECONNREFUSED", format!("{answer:?}"), "connect(2)", known);
    test.stop_if_failed()?;
    Ok((socket, None, expected))
}

/// Returns the pending error of the socket, or the error of a write.
fn attempt(ready: &ReadyGuard<'_>) -> Errno {
    // Without a socket or a pending error, a write returns the error.
    match getsockopt(&ready.as_fd(), sockopt::SocketError) {
        Ok(error) if error != 0 => Errno::from_raw(error),
        _ => nix::unistd::write(ready, b"x").err().unwrap_or(Errno::UnknownErrno),
    }
}
