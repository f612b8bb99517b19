//! The descriptors under test: connected pairs and listeners, over every transport.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use metadata::Transport;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, recv};

use crate::descriptors;
use crate::test_context::patience;

/// Two ends: `near` goes under test, `far` is the peer's and stays with the scenario.
pub struct Pair {
    /// The end that reads. Non-blocking.
    pub near: OwnedFd,
    /// The end that writes. Blocking; over a socket it can read, too.
    pub far: Far,
}

/// The peer's end.
pub enum Far {
    /// A TCP connection.
    Tcp(TcpStream),
    /// A UNIX stream socket.
    Unix(UnixStream),
    /// The writing end of a pipe.
    Pipe(io::PipeWriter),
}

impl Far {
    /// How long a read may wait. Pipes have no such option.
    ///
    /// # Errors
    /// What `setsockopt` answers.
    pub fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(Some(timeout)),
            Self::Unix(stream) => stream.set_read_timeout(Some(timeout)),
            Self::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Write for Far {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
            Self::Pipe(pipe) => pipe.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Far {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(bytes),
            Self::Unix(stream) => stream.read(bytes),
            Self::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Far {
    /// Whether the other end is closed: by every process and descriptor that had it. Does not wait.
    pub fn ended(&self) -> bool {
        match self {
            Self::Tcp(stream) => socket_ended(stream.as_raw_fd()),
            Self::Unix(stream) => socket_ended(stream.as_raw_fd()),
            // Linux says ERR, the BSDs say HUP (poll(2)).
            Self::Pipe(pipe) => {
                descriptors::poll_now(pipe.as_raw_fd()).intersects(PollFlags::POLLERR | PollFlags::POLLHUP)
            }
        }
    }
}

/// Unread data in the other end makes its close a reset.
fn socket_ended(fd: RawFd) -> bool {
    let look = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    matches!(recv(fd, &mut [0], look), Ok(0) | Err(Errno::ECONNRESET))
}

/// The same open file under another number, which must be free; the old number is closed.
///
/// # Errors
/// As for [`copy_at`].
pub fn at_number(fd: OwnedFd, number: RawFd) -> io::Result<OwnedFd> {
    copy_at(&fd, number)
}

/// A copy of the descriptor under a number that must be free.
///
/// # Errors
/// What `fcntl(F_DUPFD_CLOEXEC)` answers; `AddrInUse` if the number is not free.
pub fn copy_at(fd: &impl AsFd, number: RawFd) -> io::Result<OwnedFd> {
    let copy = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(number))?;
    // SAFETY: fcntl has just made it, and nobody else knows it.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    // The lowest free number that is not below the one asked for.
    if copy.as_raw_fd() == number { Ok(copy) } else { Err(io::ErrorKind::AddrInUse.into()) }
}

/// The scenarios of the core have no descriptors of this kind, or no listeners of it.
pub(crate) fn no_such(transport: Transport) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("no scenario of the core does this over {transport}"))
}

/// A connected pair.
///
/// # Errors
/// What making the descriptors answers.
pub fn pair(transport: Transport) -> io::Result<Pair> {
    let (near, far): (OwnedFd, Far) = match transport {
        Transport::Tcp => {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            let far = TcpStream::connect(listener.local_addr()?)?;
            // Each small write is one segment, now: a scenario's order is the wire's order.
            far.set_nodelay(true)?;
            (listener.accept()?.0.into(), Far::Tcp(far))
        }
        Transport::Unix => {
            let (near, far) = UnixStream::pair()?;
            (near.into(), Far::Unix(far))
        }
        Transport::Pipe => {
            let (near, far) = io::pipe()?;
            (near.into(), Far::Pipe(far))
        }
        other => return Err(no_such(other)),
    };
    set_nonblocking(&near)?;
    Ok(Pair { near, far })
}

/// Makes reads and writes answer `EAGAIN` instead of waiting.
///
/// # Errors
/// What `fcntl` answers.
pub fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// A listening socket and the way to connect to it.
pub struct Listener {
    /// The listening socket, non-blocking. Goes under test.
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
    /// Listens. Pipes cannot. `directory` holds the socket file of a UNIX listener, and goes when the caller says.
    ///
    /// # Errors
    /// What making the socket answers; `Unsupported` for pipes.
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
            other => return Err(no_such(other)),
        };
        set_nonblocking(&fd)?;
        Ok(Self { fd, address })
    }
}

impl Address {
    /// Connects a client, waiting for the kernel's handshake only. Its reads give up when patience ends.
    ///
    /// # Errors
    /// What `connect` answers.
    pub fn connect(&self) -> io::Result<Far> {
        let client = match self {
            Self::Tcp(address) => Far::Tcp(TcpStream::connect(address)?),
            Self::Unix(path) => Far::Unix(UnixStream::connect(path)?),
        };
        // Some systems refuse the option on a connection that is over already: such a read does not wait anyway.
        let _ = client.set_read_timeout(patience());
        Ok(client)
    }
}

/// The next connection of a non-blocking listener, non-blocking itself; `None` when there is none.
///
/// # Errors
/// What `accept` answers, apart from `EAGAIN` and from what only says that one client has gone.
pub fn accept(listener: &impl AsFd) -> io::Result<Option<OwnedFd>> {
    loop {
        match nix::sys::socket::accept(listener.as_fd().as_raw_fd()) {
            Ok(fd) => {
                // SAFETY: accept has just made it, and nobody else knows it.
                let fd = unsafe { OwnedFd::from_raw_fd(fd) };
                // Inherited from the listener on some systems only.
                set_nonblocking(&fd)?;
                return Ok(Some(fd));
            }
            Err(Errno::EAGAIN) => return Ok(None),
            Err(Errno::EINTR | Errno::ECONNABORTED | Errno::EPROTO) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reads until `EAGAIN`, end of file or error, and appends to `into`. Returns whether the end was seen.
///
/// # Errors
/// What `read` answers, apart from `EAGAIN` and `EINTR`.
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
