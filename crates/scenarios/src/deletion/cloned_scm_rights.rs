//! A descriptor is sent over a UNIX socket and deleted while the message is in flight. HAProxy's old process handed its
//! listeners to the new one, closed them, and was woken for every connection of the new one (bug 76).

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use fd_core::FdHandle;
use metadata::{Axes, Layer};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

use super::cloned::{Kept, stays_silent};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/cloned-scm-rights",
    title: "A deleted FD whose file lives on in a message in flight is reported by no thread",
    layer: Layer::Contract,
    clauses: &["S4", "S6", "S7", "L5", "bug 76"],
    axes: Axes::PLAIN,
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    stays_silent(test, send)
}

/// A descriptor on its way, or arrived.
struct Message {
    /// Holds the message until it is received, or thrown away with the socket.
    socket: UnixStream,
    arrived: Option<OwnedFd>,
}

fn send(harness: &Harness, handle: FdHandle) -> Result<Box<dyn Kept>, Failure> {
    let (from, socket) = UnixStream::pair().map_err(Failure::broken)?;
    harness.core().registration(handle).mark_cloned().map_err(Failure::broken)?;
    let number = [handle.number()];
    let rights = [ControlMessage::ScmRights(&number)];
    sendmsg::<()>(from.as_raw_fd(), &[IoSlice::new(b"x")], &rights, MsgFlags::empty(), None)
        .map_err(Failure::broken)?;
    let mut message = Message { socket, arrived: None };
    if cfg!(target_os = "macos") {
        // There, the file must not be closed before it has arrived (HAProxy d7f681916).
        message.receive()?;
    }
    Ok(Box::new(message))
}

impl Message {
    fn receive(&mut self) -> Result<(), Failure> {
        let mut byte = [0];
        let mut parts = [IoSliceMut::new(&mut byte)];
        let mut space = nix::cmsg_space!([i32; 1]);
        let received =
            recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())
                .map_err(Failure::broken)?;
        for message in received.cmsgs().map_err(Failure::broken)? {
            if let ControlMessageOwned::ScmRights(numbers) = message {
                // SAFETY: the kernel has just made it, and nobody else knows it.
                self.arrived = numbers.first().map(|number| unsafe { OwnedFd::from_raw_fd(*number) });
            }
        }
        Ok(())
    }
}

impl Kept for Message {
    fn read(&mut self) -> Result<Option<String>, Failure> {
        if self.arrived.is_none() {
            self.receive()?;
        }
        self.arrived.as_mut().map_or(Err(Failure::Broken("no descriptor arrived".into())), Kept::read)
    }
}
