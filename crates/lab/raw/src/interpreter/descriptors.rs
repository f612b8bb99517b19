//! Makes real descriptors, with calls that every system has.

use std::fmt;
use std::fs::File;
use std::io::{IoSliceMut, Seek, SeekFrom, Write};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metadata::Transport;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::sys::mman::{shm_open, shm_unlink};
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessageOwned, MsgFlags, SockType, SockaddrIn, UnixAddr, accept, bind,
    connect, getsockname, listen, recvmsg, sendto, setsockopt, socket, socketpair, sockopt,
};
use nix::sys::stat::Mode;
use nix::sys::termios;
use nix::unistd::{Pid, mkfifo, pipe};
use tempfile::TempDir;

use super::{broken, call_failed, limits};
use crate::verbs::{Direction, SocketOption, TerminalMode};
use crate::{Setting, Stopped};

/// The address of a socket.
#[derive(Clone, Debug)]
pub(super) enum Address {
    Inet(SockaddrIn),
    Unix(UnixAddr),
}

/// `127.0.0.1:41234`, or a path.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inet(address) => address.fmt(f),
            Self::Unix(address) => address.path().unwrap_or(Path::new("")).display().fmt(f),
        }
    }
}

impl Address {
    /// Parses the address of a socket of this transport.
    pub(super) fn parse(text: &str, transport: Transport) -> Result<Self, Stopped> {
        let invalid = || broken(format!("'{text}' is no address of a {} socket", transport.name()));
        match kind(transport) {
            Some((AddressFamily::Inet, _)) => {
                text.parse::<SocketAddrV4>().map(|address| Self::Inet(address.into())).map_err(|_| invalid())
            }
            Some(_) => UnixAddr::new(text).map(Self::Unix).map_err(|_| invalid()),
            None => Err(invalid()),
        }
    }
}

/// Returns an address to which a socket can be bound, as text.
pub(super) fn any_address(transport: Transport, scratch: &mut Scratch) -> Result<String, Stopped> {
    match kind(transport) {
        Some((AddressFamily::Inet, _)) => Ok("127.0.0.1:0".into()),
        Some(_) => {
            let path = scratch.path()?;
            // An adapter that gets a longer one may abort, which is no answer of its poller.
            UnixAddr::new(&path).map_err(|errno| call_failed("bind", errno))?;
            Ok(path.display().to_string())
        }
        None => no_socket(transport),
    }
}

/// A private directory with fresh names.
#[derive(Default)]
pub(super) struct Scratch {
    directory: Option<TempDir>,
    made: usize,
    fifo: Option<PathBuf>,
}

impl Scratch {
    /// Returns a path that does not exist yet.
    pub(super) fn path(&mut self) -> Result<PathBuf, Stopped> {
        if self.directory.is_none() {
            let made = tempfile::tempdir().map_err(|error| call_failed("a private directory", error))?;
            self.directory = Some(made);
        }
        self.made += 1;
        Ok(self
            .directory
            .as_ref()
            .map(|directory| directory.path().join(self.made.to_string()))
            .unwrap_or_default())
    }

    /// Returns the path of the script's FIFO, which `opens` opens.
    pub(super) fn fifo(&mut self) -> Result<PathBuf, Stopped> {
        if let Some(path) = &self.fifo {
            return Ok(path.clone());
        }
        let path = self.new_fifo()?;
        self.fifo = Some(path.clone());
        Ok(path)
    }

    /// Makes a private FIFO.
    fn new_fifo(&mut self) -> Result<PathBuf, Stopped> {
        let path = self.path()?;
        mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(|errno| call_failed("mkfifo", errno))?;
        Ok(path)
    }
}

/// Returns the socket family and type of a transport; `None` if it is no socket.
fn kind(transport: Transport) -> Option<(AddressFamily, SockType)> {
    Some(match transport {
        Transport::Tcp => (AddressFamily::Inet, SockType::Stream),
        Transport::Udp => (AddressFamily::Inet, SockType::Datagram),
        Transport::Unix => (AddressFamily::Unix, SockType::Stream),
        Transport::UnixDgram => (AddressFamily::Unix, SockType::Datagram),
        Transport::Seqpacket => (AddressFamily::Unix, SockType::SeqPacket),
        Transport::Pipe | Transport::Fifo | Transport::Pty | Transport::None => return None,
    })
}

/// Returns the reason after a failed socket call. A system without this kind of socket is unsupported.
fn missing(call: &str, errno: Errno) -> Stopped {
    match errno {
        Errno::EPROTONOSUPPORT | Errno::ESOCKTNOSUPPORT | Errno::EAFNOSUPPORT | Errno::EPROTOTYPE => {
            Stopped::Unsupported(format!("this system lacks this kind of socket: {call} answers {errno:?}"))
        }
        errno => call_failed(call, errno),
    }
}

/// Sets close-on-exec and non-blocking mode. Not every system can do this in the call that makes the
/// descriptor.
fn prepare(fd: OwnedFd) -> Result<OwnedFd, Stopped> {
    let prepared = fcntl(&fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))
        .and_then(|_| fcntl(&fd, FcntlArg::F_GETFL))
        .and_then(|flags| fcntl(&fd, FcntlArg::F_SETFL(OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK)));
    prepared.map(|_| fd).map_err(|errno| call_failed("fcntl", errno))
}

/// Duplicates a descriptor to the lowest free number that is at least `number`.
pub(super) fn copy(fd: &impl AsFd, number: RawFd) -> Result<OwnedFd, Stopped> {
    let copied = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(number));
    // EINVAL means that the limit forbids this number.
    if copied == Err(Errno::EINVAL) && number >= limits::soft() {
        let (needed, limit) = (number.saturating_add(1), limits::soft());
        return Err(Stopped::Unsupported(format!(
            "needs {needed} descriptors, but the limit is {limit} (ulimit -n)"
        )));
    }
    // SAFETY: fcntl has just made this descriptor, and nothing else owns it.
    copied.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).map_err(|errno| call_failed("fcntl", errno))
}

/// Returns the lowest free number, which is the limit that allows no further descriptor.
pub(super) fn lowest_free() -> Result<libc::rlim_t, Stopped> {
    let file = File::open("/dev/null").map_err(|error| call_failed("/dev/null", error))?;
    u32::try_from(file.as_raw_fd()).map(Into::into).map_err(|_| broken("a descriptor without a number"))
}

fn no_socket<T>(transport: Transport) -> Result<T, Stopped> {
    Err(Stopped::Unsupported(format!("{} is not a socket", transport.name())))
}

/// Makes an unconnected socket, or the master of a pseudo-terminal.
pub(super) fn fresh(transport: Transport) -> Result<OwnedFd, Stopped> {
    if transport == Transport::Pty {
        let call = |errno| call_failed("posix_openpt", errno);
        let master = nix::pty::posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY).map_err(call)?;
        return prepare(master.into());
    }
    let Some((family, kind)) = kind(transport) else { return no_socket(transport) };
    let made = socket(family, kind, nix::sys::socket::SockFlag::empty(), None);
    prepare(made.map_err(|errno| missing("socket", errno))?)
}

/// Binds a socket to a fresh address.
pub(super) fn bind_somewhere(
    fd: &OwnedFd,
    transport: Transport,
    scratch: &mut Scratch,
) -> Result<Address, Stopped> {
    let failed = |errno| call_failed("bind", errno);
    match kind(transport) {
        Some((AddressFamily::Inet, _)) => {
            bind(fd.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 1, 0)).map_err(failed)?;
            Ok(Address::Inet(getsockname(fd.as_raw_fd()).map_err(failed)?))
        }
        Some(_) => {
            let address = UnixAddr::new(&scratch.path()?).map_err(failed)?;
            bind(fd.as_raw_fd(), &address).map_err(failed)?;
            Ok(Address::Unix(address))
        }
        None => no_socket(transport),
    }
}

/// bind(2).
pub(super) fn bind_to(fd: &impl AsFd, address: &Address) -> Result<(), Errno> {
    let fd = fd.as_fd().as_raw_fd();
    match address {
        Address::Inet(address) => bind(fd, address),
        Address::Unix(address) => bind(fd, address),
    }
}

/// Sets `SO_REUSEPORT`.
#[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
pub(super) fn share_port(fd: &impl AsFd) -> Result<(), Errno> {
    setsockopt(fd, sockopt::ReusePort, &true)
}

/// These systems have no `SO_REUSEPORT`.
#[cfg(any(target_os = "solaris", target_os = "illumos"))]
pub(super) fn share_port(_: &impl AsFd) -> Result<(), Errno> {
    Err(Errno::ENOPROTOOPT)
}

/// Connects a non-blocking socket, and returns after the handshake.
pub(super) fn connect_completely(fd: &impl AsFd, address: &Address) -> Result<(), Stopped> {
    let failed = |call: &'static str| move |errno: Errno| call_failed(call, errno);
    // A blocking connect returns after the handshake.
    fcntl(fd, FcntlArg::F_SETFL(OFlag::empty())).map_err(failed("fcntl"))?;
    connect_to(fd, address).map_err(failed("connect"))?;
    fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(drop).map_err(failed("fcntl"))
}

/// connect(2).
pub(super) fn connect_to(fd: &impl AsFd, address: &Address) -> Result<(), Errno> {
    let fd = fd.as_fd().as_raw_fd();
    match address {
        Address::Inet(address) => connect(fd, address),
        Address::Unix(address) => connect(fd, address),
    }
}

/// sendto(2).
pub(super) fn send_to(fd: &impl AsFd, bytes: &[u8], address: &Address) -> Result<usize, Errno> {
    let fd = fd.as_fd().as_raw_fd();
    match address {
        Address::Inet(address) => sendto(fd, bytes, address, MsgFlags::empty()),
        Address::Unix(address) => sendto(fd, bytes, address, MsgFlags::empty()),
    }
}

/// recvmsg(2): returns the number of bytes, and the descriptor that came with them, by SCM_RIGHTS.
pub(super) fn receive(
    socket: &impl AsFd,
    into: &mut [u8],
    flags: MsgFlags,
) -> Result<(usize, Option<OwnedFd>), Errno> {
    let mut parts = [IoSliceMut::new(into)];
    let mut space = nix::cmsg_space!(RawFd);
    let message = recvmsg::<()>(socket.as_fd().as_raw_fd(), &mut parts, Some(&mut space), flags)?;
    let passed = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmRights(passed) => passed.first().copied(),
        _ => None,
    });
    // SAFETY: recvmsg has just made this descriptor, and nothing else owns it.
    Ok((message.bytes, passed.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })))
}

/// Sets an option that puts entries into the error queue of a socket.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn set_error_queue(fd: &OwnedFd, option: SocketOption) -> Result<Result<(), Errno>, Stopped> {
    Ok(match option {
        SocketOption::RecvErr => setsockopt(fd, sockopt::Ipv4RecvErr, &true),
        _ => {
            use nix::sys::socket::TimestampingFlag as Flag;
            let flags = Flag::SOF_TIMESTAMPING_TX_SOFTWARE | Flag::SOF_TIMESTAMPING_SOFTWARE;
            setsockopt(fd, sockopt::Timestamping, &flags)
        }
    })
}

/// Takes an entry from the error queue of a socket.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn receive_error(fd: &OwnedFd) -> Result<(), Errno> {
    nix::sys::socket::recv(fd.as_raw_fd(), &mut [0; 64], MsgFlags::MSG_ERRQUEUE).map(drop)
}

/// Returns an address without a listener. Its socket was bound and closed, so that a UNIX socket's file
/// exists.
pub(super) fn nowhere(transport: Transport, scratch: &mut Scratch) -> Result<Address, Stopped> {
    bind_somewhere(&fresh(transport)?, transport, scratch)
}

/// accept(2).
pub(super) fn accept_one(listener: &impl AsFd) -> Result<Result<OwnedFd, Errno>, Stopped> {
    match accept(listener.as_fd().as_raw_fd()) {
        // SAFETY: accept has just made this descriptor, and nothing else owns it.
        Ok(fd) => prepare(unsafe { OwnedFd::from_raw_fd(fd) }).map(Ok),
        Err(errno) => Ok(Err(errno)),
    }
}

/// Opens a FIFO, non-blocking. Opening it for writing fails without a reader.
pub(super) fn open_fifo(path: &Path, flags: OFlag) -> Result<Result<OwnedFd, Errno>, Stopped> {
    match open(path, flags | OFlag::O_NONBLOCK, Mode::empty()) {
        Ok(fd) => prepare(fd).map(Ok),
        Err(errno) => Ok(Err(errno)),
    }
}

/// Makes a connected pair. Of a pipe or FIFO, the first end reads and the second one writes.
pub(super) fn pair(
    Setting { transport, patience, .. }: Setting,
    scratch: &mut Scratch,
) -> Result<(OwnedFd, OwnedFd), Stopped> {
    let failed = |call: &'static str| move |errno: Errno| call_failed(call, errno);
    let (one, other) = match transport {
        Transport::Tcp => {
            let listener = fresh(transport)?;
            let address = bind_somewhere(&listener, transport, scratch)?;
            listen(&listener, Backlog::new(1).map_err(failed("listen"))?).map_err(failed("listen"))?;
            let client = fresh(transport)?;
            connect_completely(&client, &address)?;
            super::settle::wait_for(&listener, super::settle::READABLE, "a connection", patience)?;
            let server = accept_one(&listener)?.map_err(failed("accept"))?;
            for end in [&server, &client] {
                // Send each small write at once as one segment: the order on the wire is the script's order.
                setsockopt(end, sockopt::TcpNoDelay, &true).map_err(failed("TCP_NODELAY"))?;
            }
            (server, client)
        }
        Transport::Udp => {
            let (one, other) = (fresh(transport)?, fresh(transport)?);
            let here = bind_somewhere(&one, transport, scratch)?;
            let there = bind_somewhere(&other, transport, scratch)?;
            connect_to(&one, &there).map_err(failed("connect"))?;
            connect_to(&other, &here).map_err(failed("connect"))?;
            (one, other)
        }
        Transport::Unix | Transport::UnixDgram | Transport::Seqpacket => {
            let Some((family, kind)) = kind(transport) else { return no_socket(transport) };
            socketpair(family, kind, None, nix::sys::socket::SockFlag::empty())
                .map_err(|errno| missing("socketpair", errno))?
        }
        Transport::Pipe => pipe().map_err(failed("pipe"))?,
        Transport::Fifo => {
            let path = scratch.new_fifo()?;
            let reader = open_fifo(&path, OFlag::O_RDONLY)?.map_err(failed("open for reading"))?;
            (reader, open_fifo(&path, OFlag::O_WRONLY)?.map_err(failed("open for writing"))?)
        }
        Transport::Pty => {
            let ends = nix::pty::openpty(None, None).map_err(failed("openpty"))?;
            (ends.master, ends.slave)
        }
        Transport::None => {
            let why = "none is not a transport: the script must make its descriptors with `is`";
            return Err(Stopped::Unsupported(why.into()));
        }
    };
    Ok((prepare(one)?, prepare(other)?))
}

/// Returns whether a descriptor is that of a regular file.
pub(super) fn is_regular_file(fd: &OwnedFd) -> bool {
    nix::sys::stat::fstat(fd).is_ok_and(|about| about.st_mode & libc::S_IFMT == libc::S_IFREG)
}

/// Opens the slave of a pseudo-terminal's master.
pub(super) fn slave(master: &OwnedFd) -> Result<OwnedFd, Stopped> {
    let failed = |call: &'static str| move |errno| call_failed(call, errno);
    // SAFETY: grantpt takes no pointer.
    Errno::result(unsafe { libc::grantpt(master.as_raw_fd()) }).map_err(failed("grantpt"))?;
    // SAFETY: unlockpt takes no pointer.
    Errno::result(unsafe { libc::unlockpt(master.as_raw_fd()) }).map_err(failed("unlockpt"))?;
    // SAFETY: no other thread of this process asks for a name.
    let name = unsafe { libc::ptsname(master.as_raw_fd()) };
    if name.is_null() {
        return Err(call_failed("ptsname", Errno::last()));
    }
    // SAFETY: ptsname returns a C string, which stays until its next call.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    open_path(Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())), OFlag::O_RDWR)
}

/// Makes a new session of this process, with this slave as its terminal.
pub(super) fn take_terminal(slave: &OwnedFd) -> Result<(), Errno> {
    nix::unistd::setsid()?;
    // SAFETY: TIOCSCTTY takes a number.
    Errno::result(unsafe { libc::ioctl(slave.as_raw_fd(), libc::TIOCSCTTY as _, 0) }).map(drop)
}

/// `TIOCPKT`. `libc` lacks it for NetBSD and OpenBSD, which have the value of 4.4BSD: `_IOW('t', 112, int)`
/// in `sys/ttycom.h`. In illumos, packet mode is a module of the stream, `pckt`.
const TIOCPKT: Option<libc::c_ulong> = {
    #[cfg(any(target_os = "netbsd", target_os = "openbsd"))]
    let request = Some(0x8004_7470);
    #[cfg(any(target_os = "illumos", target_os = "solaris"))]
    let request = None;
    #[cfg(not(any(
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_os = "solaris"
    )))]
    let request = Some(libc::TIOCPKT as libc::c_ulong);
    request
};

/// Sets a mode of a terminal.
pub(super) fn set_mode(terminal: &OwnedFd, mode: TerminalMode) -> Result<(), Errno> {
    match mode {
        TerminalMode::Raw => {
            let mut settings = termios::tcgetattr(terminal)?;
            termios::cfmakeraw(&mut settings);
            termios::tcsetattr(terminal, termios::SetArg::TCSANOW, &settings)
        }
        TerminalMode::Packet => {
            let on: libc::c_int = 1;
            let request = TIOCPKT.ok_or(Errno::ENOTSUP)?;
            // SAFETY: TIOCPKT reads one int.
            Errno::result(unsafe { libc::ioctl(terminal.as_raw_fd(), request as _, &raw const on) }).map(drop)
        }
    }
}

/// tcflush(3).
pub(super) fn flush(terminal: &OwnedFd, direction: Direction) -> Result<(), Errno> {
    let what = match direction {
        Direction::Read => termios::FlushArg::TCIFLUSH,
        Direction::Write => termios::FlushArg::TCOFLUSH,
        Direction::Both => termios::FlushArg::TCIOFLUSH,
    };
    termios::tcflush(terminal, what)
}

/// tcflow(3): output goes on, or is suspended.
pub(super) fn set_output(terminal: &OwnedFd, goes_on: bool) -> Result<(), Errno> {
    let action = if goes_on { termios::FlowArg::TCOON } else { termios::FlowArg::TCOOFF };
    termios::tcflow(terminal, action)
}

/// Makes a regular file of `size` bytes, with this file offset.
pub(super) fn file(path: &Path, size: usize, offset: usize) -> Result<OwnedFd, Stopped> {
    let failed = |error: std::io::Error| call_failed("a file", error);
    let mut file = File::options().read(true).write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(&vec![b'.'; size]).map_err(failed)?;
    file.seek(SeekFrom::Start(offset as u64)).map_err(failed)?;
    prepare(file.into())
}

/// Makes and opens a directory.
pub(super) fn directory(scratch: &mut Scratch) -> Result<OwnedFd, Stopped> {
    let path = scratch.path()?;
    std::fs::create_dir(&path).map_err(|error| call_failed("a directory", error))?;
    open_path(&path, OFlag::O_RDONLY)
}

/// Makes an eventfd.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn eventfd() -> Result<OwnedFd, Stopped> {
    // SAFETY: eventfd takes no pointer.
    let made = Errno::result(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) });
    // SAFETY: eventfd has just made this descriptor, and nothing else owns it.
    made.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).map_err(|errno| call_failed("eventfd", errno))
}

/// FreeBSD has eventfd(2) since 13, but a program built for FreeBSD must start on 12.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn eventfd() -> Result<OwnedFd, Stopped> {
    Err(Stopped::Unsupported("eventfd is supported on Linux only".into()))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn clock(on_wall: bool) -> libc::clockid_t {
    if on_wall { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }
}

/// Makes a timer that is not set, of the clock that can be set or of the one that cannot.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn timer(on_wall_clock: bool) -> Result<OwnedFd, Stopped> {
    let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
    // SAFETY: timerfd_create takes no pointer.
    let made = Errno::result(unsafe { libc::timerfd_create(clock(on_wall_clock), flags) });
    // SAFETY: timerfd_create has just made this descriptor, and nothing else owns it.
    made.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).map_err(|errno| call_failed("timerfd_create", errno))
}

/// Sets a timer, to expire once after this time. Zero stops it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn set_timer(timer: &OwnedFd, after: Duration) -> Result<(), Errno> {
    settime(timer, 0, after, Duration::ZERO)
}

/// Sets a timer, to expire at this time of its clock, and then once in each period unless that is zero.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn set_timer_at(timer: &OwnedFd, first: Duration, period: Duration) -> Result<(), Errno> {
    settime(timer, libc::TFD_TIMER_ABSTIME, first, period)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn settime(timer: &OwnedFd, flags: libc::c_int, first: Duration, period: Duration) -> Result<(), Errno> {
    // The seconds fit until the wall clock of this system overflows itself.
    let [it_value, it_interval] = [first, period]
        .map(|time| libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ });
    let set = libc::itimerspec { it_interval, it_value };
    // SAFETY: `set` is initialised, and the kernel only reads it.
    Errno::result(unsafe { libc::timerfd_settime(timer.as_raw_fd(), flags, &set, std::ptr::null_mut()) })
        .map(drop)
}

/// Returns the time of the clock that can be set, or of the one that cannot.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn now(on_wall_clock: bool) -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to `now`. The call cannot fail: every Linux has both clocks.
    unsafe { libc::clock_gettime(clock(on_wall_clock), &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Makes a descriptor of a process.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn process(pid: Pid) -> Result<OwnedFd, Stopped> {
    pidfd(pid, 0)
}

/// Makes a descriptor of a thread.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn thread(id: Pid) -> Result<OwnedFd, Stopped> {
    // PIDFD_THREAD, which the library does not know for every architecture.
    pidfd(id, libc::O_EXCL)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn pidfd(id: Pid, flags: libc::c_int) -> Result<OwnedFd, Stopped> {
    // SAFETY: pidfd_open takes no pointer.
    match Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, id.as_raw(), flags) }) {
        // SAFETY: pidfd_open has just made this descriptor, and nothing else owns it.
        Ok(fd) => Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }),
        Err(Errno::ENOSYS) => Err(Stopped::Unsupported("this kernel has no pidfd_open".into())),
        Err(Errno::EINVAL) if flags != 0 => Err(Stopped::Unsupported(
            "a thread is no descriptor on this kernel: it has no PIDFD_THREAD".into(),
        )),
        Err(errno) => Err(call_failed("pidfd_open", errno)),
    }
}

/// Returns the id of the calling thread.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn thread_id() -> Pid {
    nix::unistd::gettid()
}

/// Ends the calling thread, and nothing else of its process.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn end_thread() -> ! {
    // SAFETY: exit(2), unlike the library's, ends the thread only. Nobody joins it.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    std::process::abort()
}

/// Waits until a child has ended, and leaves its status.
pub(super) fn await_end(pid: Pid) -> Result<(), Errno> {
    // SAFETY: a siginfo consists of numbers and pointers that may be null.
    let mut about: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: the kernel writes to a live siginfo.
    Errno::result(unsafe { libc::waitid(libc::P_PID, pid.as_raw() as _, &raw mut about, flags) }).map(drop)
}

/// Makes a file of no bytes, and a descriptor of its changes.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn watched_file(path: &Path) -> Result<OwnedFd, Stopped> {
    file(path, 0, 0)?;
    watched(path, libc::IN_MODIFY | libc::IN_ATTRIB | libc::IN_MOVE_SELF | libc::IN_DELETE_SELF)
}

/// Makes an empty directory, and a descriptor of its changes.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn watched_directory(path: &Path) -> Result<OwnedFd, Stopped> {
    std::fs::create_dir(path).map_err(|error| call_failed("a directory", error))?;
    watched(path, libc::IN_CREATE | libc::IN_DELETE | libc::IN_MOVE_SELF)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn watched(path: &Path, changes: u32) -> Result<OwnedFd, Stopped> {
    use std::os::unix::ffi::OsStrExt;
    let failed = |errno| call_failed("inotify", errno);
    // SAFETY: inotify_init1 takes no pointer.
    let made = Errno::result(unsafe { libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) });
    // SAFETY: inotify_init1 has just made this descriptor, and nothing else owns it.
    let fd = made.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).map_err(failed)?;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(Errno::EINVAL))?;
    // SAFETY: the path ends with a zero byte, and the kernel only reads it.
    let watched = unsafe { libc::inotify_add_watch(fd.as_raw_fd(), path.as_ptr(), changes) };
    Errno::result(watched).map(|_| fd).map_err(failed)
}

/// FreeBSD has timerfd(2) since 14, and inotify(2) since 15. Elsewhere a timer, a process or a watched file
/// is a filter of kqueue, not a descriptor.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod elsewhere {
    use super::{Duration, Errno, OwnedFd, Path, Pid, SocketOption, Stopped};

    pub(in super::super) fn timer(_: bool) -> Result<OwnedFd, Stopped> {
        Err(Stopped::Unsupported("a timer is a descriptor on Linux only".into()))
    }

    pub(in super::super) fn set_timer(_: &OwnedFd, _: Duration) -> Result<(), Errno> {
        Err(Errno::ENOSYS)
    }

    pub(in super::super) fn set_timer_at(_: &OwnedFd, _: Duration, _: Duration) -> Result<(), Errno> {
        Err(Errno::ENOSYS)
    }

    pub(in super::super) fn now(_: bool) -> Duration {
        Duration::ZERO
    }

    pub(in super::super) fn process(_: Pid) -> Result<OwnedFd, Stopped> {
        Err(Stopped::Unsupported("a process is a descriptor on Linux only".into()))
    }

    pub(in super::super) fn thread(_: Pid) -> Result<OwnedFd, Stopped> {
        Err(Stopped::Unsupported("a thread is a descriptor on Linux only".into()))
    }

    pub(in super::super) fn thread_id() -> Pid {
        Pid::this()
    }

    pub(in super::super) fn end_thread() -> ! {
        std::process::abort()
    }

    pub(in super::super) fn watched_file(_: &Path) -> Result<OwnedFd, Stopped> {
        Err(Stopped::Unsupported("a watched file is a descriptor on Linux only".into()))
    }

    pub(in super::super) fn watched_directory(_: &Path) -> Result<OwnedFd, Stopped> {
        Err(Stopped::Unsupported("a watched directory is a descriptor on Linux only".into()))
    }

    pub(in super::super) fn set_error_queue(
        _: &OwnedFd,
        option: SocketOption,
    ) -> Result<Result<(), Errno>, Stopped> {
        Err(Stopped::Unsupported(format!("only Linux has {}", option.name())))
    }

    pub(in super::super) fn receive_error(_: &OwnedFd) -> Result<(), Errno> {
        Err(Errno::EOPNOTSUPP)
    }
}
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use elsewhere::{
    end_thread, now, process, receive_error, set_error_queue, set_timer, set_timer_at, thread, thread_id,
    timer, watched_directory, watched_file,
};

/// Makes POSIX shared memory, already unlinked.
pub(super) fn shared_memory() -> Result<OwnedFd, Stopped> {
    let name = format!("/pollmatrix-{}", std::process::id());
    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_RDWR;
    let made = shm_open(name.as_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR);
    let made = made.map_err(|errno| Stopped::Unsupported(format!("shm_open: {errno:?}")))?;
    shm_unlink(name.as_str()).map_err(|errno| call_failed("shm_unlink", errno))?;
    prepare(made)
}

/// Opens a device, for reading and writing if that is allowed, otherwise for reading.
pub(super) fn device(path: &str) -> Result<OwnedFd, Stopped> {
    match open_path(Path::new(path), OFlag::O_RDWR) {
        Err(Stopped::Broken(_) | Stopped::Unsupported(_)) => open_path(Path::new(path), OFlag::O_RDONLY),
        answered => answered,
    }
}

/// Opens a file for reading, non-blocking.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn read_only(path: &str) -> Result<OwnedFd, Errno> {
    open(path, OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC, Mode::empty())
}

fn open_path(path: &Path, flags: OFlag) -> Result<OwnedFd, Stopped> {
    match open(path, flags | OFlag::O_NONBLOCK | OFlag::O_NOCTTY, Mode::empty()) {
        Ok(fd) => prepare(fd),
        Err(Errno::ENOENT | Errno::ENXIO) => {
            Err(Stopped::Unsupported(format!("this system has no {}", path.display())))
        }
        Err(errno @ (Errno::EACCES | Errno::EPERM)) => {
            Err(Stopped::Unsupported(format!("open {}: {errno:?}", path.display())))
        }
        Err(errno) => Err(call_failed(format!("open {}", path.display()), errno)),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_timer_follows_its_clock() {
        for (on_wall_clock, id) in [(false, libc::CLOCK_MONOTONIC), (true, libc::CLOCK_REALTIME)] {
            let timer = timer(on_wall_clock).unwrap();
            let shown = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", timer.as_raw_fd())).unwrap();
            assert!(shown.lines().any(|line| line == format!("clockid: {id}")), "{shown}");
        }
        let wall = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        assert!(wall.abs_diff(now(true)) < Duration::from_secs(60));
    }
}
