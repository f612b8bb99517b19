//! `5a9c637bf`: a connect that failed was reported as a hang-up and as readable, to somebody who waited until he could
//! send; nobody told him. The same holds for a pipe that is full when its reader goes.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::ReadyGuard;
use metadata::{Axes, Layer, Transport};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, getsockopt, socket, sockopt};

use super::set_up::{deserted, fill, is_quiet};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{no_such, pair, set_nonblocking};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/failure-without-readiness",
    title: "Who waits to send is told that it will never be possible, whatever way the poller has to say so",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "bug 48"],
    axes: Axes { threads: &[1], ..Axes::PLAIN },
    run,
};

/// What makes sending impossible, once it is dropped.
type Peer = Option<Box<dyn Send>>;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let (subject, peer, expected) = match test.params.transport {
        Transport::Tcp => refused(test, deserted()?)?,
        Transport::Unix => {
            let ends = pair(Transport::Unix).map_err(Failure::broken)?;
            // Linux remembers that the peer left what was sent unread.
            let lost = vec![Errno::EPIPE, Errno::ECONNRESET];
            (ends.near, Some(Box::new(ends.far) as Box<dyn Send>), lost)
        }
        Transport::Pipe => {
            let (reader, writer) = io::pipe().map_err(Failure::broken)?;
            (OwnedFd::from(writer), Some(Box::new(reader) as Box<dyn Send>), vec![Errno::EPIPE])
        }
        other => return Err(Failure::broken(no_such(other))),
    };
    set_nonblocking(&subject).map_err(Failure::broken)?;
    if peer.is_some() {
        fill(&subject)?;
    }
    let answers = Arc::new(Mutex::new(Vec::new()));
    let handler = {
        let answers = Arc::clone(&answers);
        move |ready: &ReadyGuard<'_>| {
            let _ = ready.registration().stop_send();
            answers.lock().unwrap_or_else(PoisonError::into_inner).push(attempt(ready));
        }
    };
    let connecting = peer.is_none();
    let handle = harness.insert(subject, Arc::new(handler), thread)?;
    harness.core().registration(handle).cant_send().map_err(Failure::broken)?;
    harness.core().registration(handle).want_send().map_err(Failure::broken)?;
    harness.fence(thread)?;
    let answers = || answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !connecting {
        test.check_eq("reports while it is full", 0, answers().len(), "S18");
    }
    drop(peer);
    harness.wait_until("the report", || !answers().is_empty())?;
    is_quiet(test, &mut harness, thread, "after the report", "L6")?;
    let answers = answers();
    let holds = answers.len() == 1 && expected.contains(&answers[0]);
    let expected = format!("one of {expected:?}, once");
    test.check("what the owner found", expected, format!("{answers:?}"), "bug 48", holds);
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.finish(test, &[])
}

/// A connect that nobody accepts, and the error that it will end with.
fn refused(test: &mut TestContext, address: SocketAddrV4) -> Result<(OwnedFd, Peer, Vec<Errno>), Failure> {
    let socket =
        socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).map_err(Failure::broken)?;
    set_nonblocking(&socket).map_err(Failure::broken)?;
    let answer = connect(socket.as_raw_fd(), &SockaddrIn::from(address));
    // FreeBSD may say so at once, over loopback (measured). Then the report is of a socket that is not connected.
    let expected = match answer {
        Err(Errno::ECONNREFUSED) => vec![Errno::ENOTCONN, Errno::EPIPE],
        _ => vec![Errno::ECONNREFUSED],
    };
    let known = matches!(answer, Err(Errno::EINPROGRESS | Errno::ECONNREFUSED));
    test.check("connect", "EINPROGRESS or ECONNREFUSED", format!("{answer:?}"), "connect(2)", known);
    test.all_hold()?;
    Ok((socket, None, expected))
}

/// What sending answers, or what has become of the connect.
fn attempt(ready: &ReadyGuard<'_>) -> Errno {
    // Not a socket, or nothing pending: then writing tells.
    match getsockopt(&ready.as_fd(), sockopt::SocketError) {
        Ok(error) if error != 0 => Errno::from_raw(error),
        _ => nix::unistd::write(ready, b"x").err().unwrap_or(Errno::UnknownErrno),
    }
}
