//! The acts of a poller that makes the descriptors under test itself.
//!
//! The program of some pollers cannot take a descriptor of another process, or keeps a state of its own for
//! each of its channels. That program makes the descriptor under test, and acts on it.

use std::os::fd::RawFd;

use metadata::Transport;
use nix::errno::Errno;

use crate::Unsupported;

/// An act on a descriptor of the poller's own program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Makes an unconnected socket, non-blocking.
    Open(Transport),
    /// pipe(2): the descriptor is the reading end, and this name is the writing end. Both are non-blocking.
    OpenPipe(RawFd),
    /// bind(2) to this address. The result is the address of the socket.
    Bind(String),
    /// Makes a socket, binds it to the address, and listens. The result is the address of the socket.
    Listen {
        /// The kind of socket.
        kind: Transport,
        /// The address to bind to.
        address: String,
        /// The length of the accept queue.
        backlog: usize,
    },
    /// connect(2), non-blocking.
    Connect(String),
    /// accept(2) from this listener. The accepted connection gets the name.
    Accept(RawFd),
    /// One read(2) with room for this many bytes. The result is their number.
    Read(usize),
    /// One write(2) of this many bytes. The result is the number of written bytes.
    Write(usize),
    /// shutdown(2).
    Shut(Shut),
    /// close(2), and nothing else.
    Close,
}

/// The side that [`Act::Shut`] shuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shut {
    /// `SHUT_RD`.
    Read,
    /// `SHUT_WR`.
    Write,
    /// `SHUT_RDWR`.
    Both,
}

/// The result of an act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acted {
    /// The call succeeded.
    Done,
    /// The number of bytes that were read or written.
    Count(usize),
    /// The address of the socket: `127.0.0.1:41234`, or a path.
    Address(String),
}

/// A poller whose program makes the descriptors under test, and acts on them. It takes no others.
pub trait Acts {
    /// Returns the kinds of descriptors that it makes.
    fn kinds(&self) -> &[Transport];

    /// Acts on the descriptor with this name. Later calls of [`Selector`](crate::Selector) and of this method
    /// name it so. The name is not a number of this process.
    ///
    /// # Errors
    /// `Unsupported` if the program cannot express the act, or cannot act now because it waits. The inner
    /// error is that of the call.
    fn act(&self, fd: RawFd, act: &Act) -> Result<Result<Acted, Errno>, Unsupported>;
}
