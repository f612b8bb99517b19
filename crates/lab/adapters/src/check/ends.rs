//! The descriptors of a check, and their other ends. Those under test are in this process, or the adapter
//! makes them.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use metadata::Transport;
use nix::errno::Errno;
use nix::sys::socket::{Shutdown, shutdown};
use nix::unistd::{read, write};
use selector::{Act, Acted, Acts, Selector, set_nonblocking};
use tempfile::TempDir;

use super::context::{NotPassed, Verdict, failed};

/// A descriptor under test, and its other end.
pub struct Ends {
    /// The number of the descriptor under test, or its name in the adapter.
    pub fd: RawFd,
    /// `None` if the adapter has the descriptor.
    own: Option<OwnedFd>,
    /// `None` after it was closed.
    peer: Option<OwnedFd>,
    is_pipe: bool,
}

impl Ends {
    /// Makes a pipe, whose reading end is under test. With an adapter that acts itself, makes a connection.
    pub fn pipe(selector: &dyn Selector, patience: Duration) -> Result<Self, NotPassed> {
        match selector.actor() {
            Some(acts) => Self::of_adapter(acts, patience),
            None => {
                let (reader, writer) = io::pipe()?;
                // Writes until one fails must not wait for room.
                set_nonblocking(&writer).map_err(io::Error::from)?;
                Ok(Self { is_pipe: true, ..Self::here(reader.into(), writer.into()) })
            }
        }
    }

    /// Makes a connection.
    pub fn connection(selector: &dyn Selector, patience: Duration) -> Result<Self, NotPassed> {
        match selector.actor() {
            Some(acts) => Self::of_adapter(acts, patience),
            None => {
                let (ours, theirs) = UnixStream::pair()?;
                Ok(Self::here(ours.into(), theirs.into()))
            }
        }
    }

    fn here(own: OwnedFd, peer: OwnedFd) -> Self {
        Self { fd: own.as_raw_fd(), own: Some(own), peer: Some(peer), is_pipe: false }
    }

    fn of_adapter(acts: &dyn Acts, patience: Duration) -> Result<Self, NotPassed> {
        static NAMES: AtomicI32 = AtomicI32::new(100);
        let fd = NAMES.fetch_add(2, Ordering::Relaxed);
        let begun = Instant::now();
        let mut act = |fd, act: &Act| loop {
            match acts.act(fd, act) {
                // The connection may be on its way.
                Ok(Err(Errno::EAGAIN)) if begun.elapsed() < patience => std::thread::yield_now(),
                Ok(Ok(acted)) => return Ok(acted),
                Ok(Err(errno)) => return failed(format!("{act:?} was refused: {errno:?}")),
                Err(unsupported) => return Err(unsupported.into()),
            }
        };
        let kinds = [Transport::Unix, Transport::Tcp, Transport::Udp];
        let Some(kind) = kinds.into_iter().find(|kind| acts.kinds().contains(kind)) else {
            return failed("the adapter makes no sockets, of which one has to be the fence");
        };
        let peer = connected(kind, fd, fd + 1, &mut act)?;
        Ok(Self { fd, own: None, peer: Some(peer), is_pipe: false })
    }

    /// Sends one byte to the descriptor under test.
    pub fn send(&self) -> io::Result<()> {
        match &self.peer {
            Some(peer) => Ok(write(peer, b"x").map(drop)?),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Reads one byte from the descriptor under test.
    pub fn read(&self, selector: &dyn Selector) -> Verdict {
        let count = match (&self.own, selector.actor()) {
            (Some(own), _) => Ok(Acted::Count(read(own, &mut [0]).map_err(io::Error::from)?)),
            (None, Some(acts)) => acts.act(self.fd, &Act::Read(1))?,
            (None, None) => return failed("it is closed"),
        };
        if count == Ok(Acted::Count(1)) {
            return Ok(());
        }
        failed(format!("it has a byte, and a read answers {count:?}"))
    }

    /// Shuts the peer's side.
    pub fn shut_peer(&self) -> io::Result<()> {
        match &self.peer {
            Some(peer) => Ok(shutdown(peer.as_raw_fd(), Shutdown::Write)?),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    pub fn close_peer(&mut self) {
        self.peer = None;
    }

    /// Closes the descriptor under test. A refusal fails the check, because no wait is in progress.
    pub fn close(&mut self, selector: &dyn Selector) -> Verdict {
        let closed = match selector.actor() {
            Some(acts) => acts.act(self.fd, &Act::Close).map(|acted| acted.map(drop)),
            None => {
                self.own = None;
                selector.closed(self.fd).map(Ok)
            }
        };
        if let Some(failure) = selector.failure() {
            return failed(failure.reason);
        }
        match closed {
            Ok(Ok(())) => Ok(()),
            Ok(Err(errno)) => failed(format!("close: {errno:?}")),
            Err(reason) => failed(reason.to_string()),
        }
    }

    /// Replaces the descriptor under test by another one that has the same number. Returns its former other
    /// end, whose close would be an event.
    pub fn replace(&mut self, by: Self) -> Result<Option<OwnedFd>, NotPassed> {
        if let (Some(own), Some(other)) = (&mut self.own, &by.own) {
            nix::unistd::dup2(other, own).map_err(io::Error::from)?;
        }
        Ok(std::mem::replace(&mut self.peer, by.peer))
    }

    /// Expects that the other end sees the close of the descriptor under test.
    pub fn expect_end(&self, patience: Duration) -> Verdict {
        let Some(peer) = &self.peer else { return failed("the other end is closed") };
        // A pipe's writing end learns of it by a write, a socket by the end of input.
        let seen =
            last_answer(patience, || if self.is_pipe { write(peer, b"x") } else { read(peer, &mut [0]) });
        match seen {
            Err(Errno::EPIPE) | Ok(0) => Ok(()),
            other => failed(format!("it is closed, but the other end gets {other:?}: a copy of it is open")),
        }
    }
}

/// Returns what the other end of a closed descriptor gets: the first answer that says so, or the last one
/// after `patience`.
///
/// No single answer proves that a copy is open: a child that another thread of this process starts has one
/// until it executes its program, and a reset arrives some time after the close.
pub fn last_answer(
    patience: Duration,
    mut ask: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let begun = Instant::now();
    loop {
        match ask() {
            Ok(1..) | Err(Errno::EAGAIN | Errno::ECONNRESET) if begun.elapsed() < patience => {
                std::thread::yield_now();
            }
            last => return last,
        }
    }
}

/// Connects the adapter's descriptor `fd` to a new socket of this process. `listener` is another name, which
/// is free afterwards.
pub fn connected(
    kind: Transport,
    fd: RawFd,
    listener: RawFd,
    act: &mut dyn FnMut(RawFd, &Act) -> Result<Acted, NotPassed>,
) -> Result<OwnedFd, NotPassed> {
    let folder = tempfile::tempdir()?;
    if kind == Transport::Udp {
        act(fd, &Act::Open(kind))?;
        let there = act(fd, &Act::Bind(any_address(kind, &folder)))?;
        let peer = UdpSocket::bind("127.0.0.1:0")?;
        peer.connect(inet(&there)?)?;
        peer.set_nonblocking(true)?;
        act(fd, &Act::Connect(peer.local_addr()?.to_string()))?;
        return Ok(peer.into());
    }
    let at = act(listener, &Act::Listen { kind, address: any_address(kind, &folder), backlog: 1 })?;
    let peer = connect(kind, &at)?;
    act(fd, &Act::Accept(listener))?;
    act(listener, &Act::Close)?;
    Ok(peer)
}

/// Returns an address to bind to.
pub fn any_address(kind: Transport, folder: &TempDir) -> String {
    match kind {
        Transport::Unix => folder.path().join("listener").display().to_string(),
        _ => "127.0.0.1:0".into(),
    }
}

/// Connects to the adapter's listener.
pub fn connect(kind: Transport, at: &Acted) -> Result<OwnedFd, NotPassed> {
    let peer: OwnedFd = match (kind, at) {
        (Transport::Unix, Acted::Address(path)) => UnixStream::connect(path)?.into(),
        _ => TcpStream::connect(inet(at)?)?.into(),
    };
    set_nonblocking(&peer).map_err(io::Error::from)?;
    Ok(peer)
}

/// Returns the address of the adapter's socket.
fn inet(at: &Acted) -> Result<SocketAddr, NotPassed> {
    let Acted::Address(text) = at else { return failed(format!("there is no address, but {at:?}")) };
    text.parse().or_else(|_| failed(format!("'{text}' is not an address: 127.0.0.1:PORT")))
}
