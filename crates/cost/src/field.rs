//! The registered descriptors of one poller.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use selector::{Interest, Mode};

use crate::poller::{Failure, Poller};

/// A poller with registered descriptors, which are copies of one socket: a registration belongs to a
/// descriptor, and the copies need no peer each.
pub struct Field {
    /// The poller.
    pub poller: Arc<dyn Poller>,
    /// The mode of the registrations.
    pub mode: Mode,
    /// The socket, and its peer.
    pub ends: (UnixStream, UnixStream),
    _registered: Vec<OwnedFd>,
}

impl Field {
    /// Registers so many descriptors. They are ready when the peer of their socket has written.
    pub fn new(poller: Arc<dyn Poller>, mode: Mode, registered: usize) -> Result<Self, Failure> {
        let ends = pair()?;
        let registered = batch(&ends.0, registered)?;
        for (token, fd) in registered.iter().enumerate() {
            poller.add(fd.as_raw_fd(), token as u64, Interest::READ, mode)?;
        }
        Ok(Self { poller, mode, ends, _registered: registered })
    }
}

/// Returns a pair of connected sockets.
pub fn pair() -> Result<(UnixStream, UnixStream), Failure> {
    UnixStream::pair().map_err(|error| Failure::of_io("socketpair", &error))
}

/// Returns copies of a descriptor.
pub fn batch(of: &UnixStream, size: usize) -> Result<Vec<OwnedFd>, Failure> {
    let copy = |_| of.as_fd().try_clone_to_owned().map_err(|error| Failure::of_io("dup", &error));
    (0..size).map(copy).collect()
}

/// Writes a byte.
pub fn byte_to(mut socket: &UnixStream) -> Result<(), Failure> {
    socket.write_all(&[0]).map_err(|error| Failure::of_io("write", &error))
}

/// Reads a byte.
pub fn byte_from(mut socket: &UnixStream) -> Result<(), Failure> {
    socket.read_exact(&mut [0]).map_err(|error| Failure::of_io("read", &error))
}
