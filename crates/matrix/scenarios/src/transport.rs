//! The descriptors under test: connected pairs and listeners, over every transport.

use std::io;
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Mutex;

use metadata::Transport;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{MsgFlags, recv};

use crate::descriptors;
pub use crate::far_end::FarEnd;
use crate::mutex::unpoisoned;
use crate::patience::patience;

/// Two connected ends: `near` goes under test, `far` stays with the scenario.
pub struct Pair {
    /// The end that reads. Non-blocking.
    pub near: OwnedFd,
    /// The end that writes. Blocking; over a socket it can read, too.
    pub far: FarEnd,
}

/// Moves the descriptor to another number, which must be free. The old number is closed.
pub fn at_number(fd: OwnedFd, number: RawFd) -> io::Result<OwnedFd> {
    copy_at(&fd, number)
}

/// Copies the descriptor to a number that must be free.
///
/// # Errors
/// Those of `fcntl(F_DUPFD_CLOEXEC)`; `AddrInUse` if the number is not free.
pub fn copy_at(fd: &impl AsFd, number: RawFd) -> io::Result<OwnedFd> {
    let copy = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(number))?;
    // SAFETY: fcntl has just created the descriptor, and nothing else owns it.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    // fcntl returns the lowest free number that is not below the requested one.
    if copy.as_raw_fd() == number { Ok(copy) } else { Err(io::ErrorKind::AddrInUse.into()) }
}

/// The error for a transport that the scenarios of the core do not use, or not for listeners.
pub(crate) fn unsupported(transport: Transport) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("no scenario of the core does this over {transport}"))
}

/// Creates a connected pair.
pub fn pair(transport: Transport) -> io::Result<Pair> {
    let (near, far): (OwnedFd, FarEnd) = match transport {
        Transport::Tcp => tcp_pair(&TcpListener::bind(("127.0.0.1", 0))?)?,
        Transport::Unix => {
            let (near, far) = UnixStream::pair()?;
            (near.into(), FarEnd::from(far))
        }
        Transport::Pipe => {
            let (near, far) = io::pipe()?;
            (near.into(), FarEnd::from(far))
        }
        other => return Err(unsupported(other)),
    };
    set_nonblocking(&near)?;
    Ok(Pair { near, far })
}

/// Creates a connection to a listener that no other client uses.
fn tcp_pair(listener: &TcpListener) -> io::Result<(OwnedFd, FarEnd)> {
    let far = TcpStream::connect(listener.local_addr()?)?;
    // Each small write is sent as one segment at once, so the order on the wire is the scenario's order.
    far.set_nodelay(true)?;
    Ok((listener.accept()?.0.into(), FarEnd::from(far)))
}

/// Creates many connected pairs. The TCP ones come from one listener: a search for a free port takes long
/// where thousands of connections are in TIME_WAIT.
pub(crate) struct Pairs {
    transport: Transport,
    /// Locked from a connect to its accept.
    listener: Option<Mutex<TcpListener>>,
}

impl Pairs {
    /// Prepares for pairs of this transport.
    pub(crate) fn new(transport: Transport) -> io::Result<Self> {
        let listen = || TcpListener::bind(("127.0.0.1", 0)).map(Mutex::new);
        let listener = (transport == Transport::Tcp).then(listen).transpose()?;
        Ok(Self { transport, listener })
    }

    /// Creates a connected pair. Every thread may call it.
    pub(crate) fn pair(&self) -> io::Result<Pair> {
        let Some(listener) = &self.listener else { return pair(self.transport) };
        let (near, far) = tcp_pair(&unpoisoned(listener))?;
        set_nonblocking(&near)?;
        Ok(Pair { near, far })
    }
}

/// Sets non-blocking mode: reads and writes return `EAGAIN` instead of waiting.
pub fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// A listening socket and its address.
pub struct Listener {
    /// The listening socket, non-blocking. It goes under test.
    pub fd: OwnedFd,
    /// Where clients connect.
    pub address: Address,
}

/// Where clients connect. Clones are cheap.
#[derive(Clone, Debug)]
pub enum Address {
    /// Loopback.
    Tcp(SocketAddr),
    /// A socket file.
    Unix(PathBuf),
}

impl Listener {
    /// Creates a listener. `directory` holds the socket file of a UNIX listener; the caller removes it.
    ///
    /// # Errors
    /// Those of the system calls; `Unsupported` for pipes.
    pub fn new(transport: Transport, directory: &std::path::Path) -> io::Result<Self> {
        let (fd, address): (OwnedFd, Address) = match transport {
            Transport::Tcp => {
                let listener = TcpListener::bind(("127.0.0.1", 0))?;
                let address = Address::Tcp(listener.local_addr()?);
                (listener.into(), address)
            }
            Transport::Unix => {
                let path = directory.join("listener");
                (UnixListener::bind(&path)?.into(), Address::Unix(path))
            }
            other => return Err(unsupported(other)),
        };
        set_nonblocking(&fd)?;
        Ok(Self { fd, address })
    }
}

impl Address {
    /// Connects a client. Waits for the kernel's handshake only. The client's reads time out when patience
    /// ends.
    pub fn connect(&self) -> io::Result<FarEnd> {
        let client: FarEnd = match self {
            Self::Tcp(address) => TcpStream::connect(address)?.into(),
            Self::Unix(path) => UnixStream::connect(path)?.into(),
        };
        // Some systems refuse the option on a connection that has ended already: a read of it does not wait
        // anyway.
        let _ = client.set_read_timeout(patience());
        Ok(client)
    }
}

/// Accepts the next connection of a non-blocking listener and makes it non-blocking. Returns `None` if there
/// is none.
///
/// # Errors
/// Those of `accept`, except `EAGAIN` and the errors of a client that has gone.
pub fn accept(listener: &impl AsFd) -> io::Result<Option<OwnedFd>> {
    loop {
        match nix::sys::socket::accept(listener.as_fd().as_raw_fd()) {
            Ok(fd) => {
                // SAFETY: accept has just created the descriptor, and nothing else owns it.
                let fd = unsafe { OwnedFd::from_raw_fd(fd) };
                // Only some systems inherit the mode from the listener.
                set_nonblocking(&fd)?;
                return Ok(Some(fd));
            }
            Err(Errno::EAGAIN) => return Ok(None),
            Err(Errno::EINTR | Errno::ECONNABORTED | Errno::EPROTO) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reads until `EAGAIN`, end of file or an error, and appends to `into`. Returns whether the end was read.
///
/// # Errors
/// Those of `read`, except `EAGAIN` and `EINTR`.
pub fn read_all(fd: &impl AsFd, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    loop {
        match nix::unistd::read(fd, &mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) => into.extend_from_slice(&buffer[..count]),
            Err(nix::Error::EAGAIN) => return Ok(false),
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns how many bytes this socket or pipe could read now, at most 64 kibibytes.
///
/// `FIONREAD` would be simpler. On FreeBSD it does not take the lock that orders the arrival of data with the
/// event of a kqueue, so an event could follow its answer.
pub(crate) fn unread(fd: RawFd) -> usize {
    let mut buffer = [0; 1 << 16];
    match recv(fd, &mut buffer, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
        Ok(count) => count,
        Err(Errno::ENOTSOCK) => descriptors::in_pipe(fd),
        Err(_) => 0,
    }
}

/// Writes until the kernel's buffer is full.
///
/// # Errors
/// Those of `write`, except `EAGAIN` and `EINTR`.
pub(crate) fn fill(fd: &impl AsFd) -> io::Result<()> {
    let chunk = [0; 1 << 14];
    // Single bytes at the end: some systems report a descriptor as writable until its buffer is entirely
    // full.
    for size in [chunk.len(), 1] {
        loop {
            match nix::unistd::write(fd, &chunk[..size]) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}

/// Returns a TCP address on which nothing listens.
pub(crate) fn unused_address() -> io::Result<SocketAddrV4> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    match listener.local_addr()? {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(address) => Err(io::Error::other(format!("an IPv4 listener at {address}"))),
    }
}
