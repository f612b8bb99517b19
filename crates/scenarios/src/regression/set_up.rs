//! What several scenarios of the pollers' history need.

use std::fs::OpenOptions;
use std::io;
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

use fd_core::ids::ThreadId;
use nix::errno::Errno;
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::Far;

/// Turns that one fence may take: two events, each with a wake-up of its own and one to spare.
const TURNS_PER_FENCE: u64 = 6;
const FENCES: u64 = 20;

/// Proves that `thread` sleeps when there is nothing to do: a number of fences takes it a number of turns.
///
/// # Errors
/// As for [`Harness::fence`].
pub(crate) fn is_quiet(
    test: &mut TestContext,
    harness: &mut Harness,
    thread: ThreadId,
    when: &str,
    source: &str,
) -> Result<(), Failure> {
    let before = harness.activity(thread);
    for _ in 0..FENCES {
        harness.fence(thread)?;
    }
    let turns = harness.activity(thread).since(&before).loops;
    let bound = FENCES * TURNS_PER_FENCE;
    test.cost(
        format!("turns of the loop, {when}"),
        format!("at most {bound}"),
        turns,
        source,
        turns <= bound,
    );
    test.all_hold()
}

/// Lets this process have descriptors of numbers below `count`.
///
/// # Errors
/// [`Failure::Unsupported`] if the system lets it have fewer.
pub(crate) fn raise_limit(count: libc::rlim_t) -> Result<(), Failure> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(Failure::broken)?;
    if soft < count {
        // Beyond the hard limit the superuser only.
        setrlimit(Resource::RLIMIT_NOFILE, count, hard.max(count))
            .map_err(|error| Failure::Unsupported(format!("{count} descriptors, of {hard}: {error}")))?;
    }
    Ok(())
}

/// A descriptor that is as good as any other to occupy a number.
///
/// # Errors
/// What `open` answers.
pub(crate) fn null() -> io::Result<OwnedFd> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    options.open("/dev/null").map(OwnedFd::from)
}

/// Writes until there is no room.
///
/// # Errors
/// [`Failure::Broken`] if it is something else that ends the writing.
pub(crate) fn fill(fd: &OwnedFd) -> Result<(), Failure> {
    let chunk = [0; 1 << 14];
    // By single bytes at the end: some systems say that there is room until there is none at all.
    for size in [chunk.len(), 1] {
        loop {
            match nix::unistd::write(fd, &chunk[..size]) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(errno) => return Err(Failure::broken(errno)),
            }
        }
    }
    Ok(())
}

/// The peer stops sending.
///
/// # Errors
/// [`Failure::Broken`] if it cannot.
pub(crate) fn stop_sending(far: &Far) -> Result<(), Failure> {
    match far {
        Far::Tcp(stream) => stream.shutdown(Shutdown::Write),
        Far::Unix(stream) => stream.shutdown(Shutdown::Write),
        Far::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
    }
    .map_err(Failure::broken)
}

/// An address on which nobody listens.
///
/// # Errors
/// [`Failure::Broken`].
pub(crate) fn deserted() -> Result<SocketAddrV4, Failure> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(Failure::broken)?;
    match listener.local_addr().map_err(Failure::broken)? {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(address) => Err(Failure::Broken(format!("an IPv4 listener at {address}"))),
    }
}
