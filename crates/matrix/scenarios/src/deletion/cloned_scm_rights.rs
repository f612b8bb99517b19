//! A descriptor is sent over a UNIX socket and deleted while the message is in flight. HAProxy's old process
//! sent its listeners to the new process, closed them, and was woken for every connection of the new process
//! (bug 76).

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

use super::cloned::{OpenCopy, stays_silent};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/cloned-scm-rights",
    title: "No thread reports a deleted FD whose open file survives in a message in flight",
    layer: Layer::Contract,
    clauses: &["S4", "S6", "S7", "L5", "bug 76"],
    axes: Axes::PLAIN,
    run,
};

fn run(test: &mut TestContext) -> Result {
    stays_silent(test, send)
}

/// A descriptor in a message, in flight or received.
struct Message {
    /// Holds the message until it is received, or discarded when the socket closes.
    socket: UnixStream,
    arrived: Option<OwnedFd>,
}

fn send(harness: &Harness, handle: FdHandle) -> Result<Box<dyn OpenCopy>> {
    let (from, socket) = UnixStream::pair()?;
    harness.registration(handle).mark_cloned()?;
    let number = [handle.number()];
    let rights = [ControlMessage::ScmRights(&number)];
    sendmsg::<()>(from.as_raw_fd(), &[IoSlice::new(b"x")], &rights, MsgFlags::empty(), None)?;
    let mut message = Message { socket, arrived: None };
    if cfg!(target_os = "macos") {
        // On macOS the file must not be closed before the message is received (HAProxy d7f681916).
        message.receive()?;
    }
    Ok(Box::new(message))
}

impl Message {
    fn receive(&mut self) -> Result {
        let mut byte = [0];
        let mut parts = [IoSliceMut::new(&mut byte)];
        let mut space = nix::cmsg_space!([i32; 1]);
        let received =
            recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())?;
        for message in received.cmsgs()? {
            if let ControlMessageOwned::ScmRights(numbers) = message {
                // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
                self.arrived = numbers.first().map(|number| unsafe { OwnedFd::from_raw_fd(*number) });
            }
        }
        Ok(())
    }
}

impl OpenCopy for Message {
    fn number(&self) -> Option<RawFd> {
        self.arrived.as_ref().map(AsRawFd::as_raw_fd)
    }

    fn read(&mut self) -> Result<Option<String>> {
        if self.arrived.is_none() {
            self.receive()?;
        }
        self.arrived.as_mut().map_or(Err(Failure::Broken("no descriptor arrived".into())), OpenCopy::read)
    }
}
