//! The bare system calls.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};

use crate::clock::Stopwatch;
use crate::field::{batch, byte_from, byte_to};
use crate::poller::Failure;
use crate::side::Side;

/// Calls poll(2), and returns the number of ready descriptors. A signal counts as none.
pub fn poll(slots: &mut [libc::pollfd], milliseconds: i32) -> Result<usize, Failure> {
    // SAFETY: the array is valid for the call.
    let ready = unsafe { libc::poll(slots.as_mut_ptr(), slots.len() as libc::nfds_t, milliseconds) };
    match Errno::result(ready) {
        Ok(ready) => Ok(usize::try_from(ready).unwrap_or(0)),
        Err(Errno::EINTR) => Ok(0),
        Err(errno) => Err(Failure::of("poll", errno)),
    }
}

/// Closes a descriptor by one system call. In a debug build, dropping one makes another call before.
pub fn close(fd: OwnedFd) -> Result<(), Failure> {
    nix::unistd::close(fd).map_err(|errno| Failure::of("close", errno))
}

/// fcntl(F_GETFD) of each descriptor of a batch.
pub struct LookUp(pub Vec<OwnedFd>);

impl Side for LookUp {
    fn per_round(&self) -> u32 {
        self.0.len() as u32
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        watch.section(|| {
            for fd in &self.0 {
                fcntl(fd.as_fd(), FcntlArg::F_GETFD).map_err(|errno| Failure::of("fcntl", errno))?;
            }
            Ok(())
        })
    }
}

/// close(2) of each descriptor of a batch.
pub struct Close {
    /// The descriptor of which the batch has copies.
    pub of: UnixStream,
    /// The size of a batch.
    pub size: usize,
}

impl Side for Close {
    fn per_round(&self) -> u32 {
        self.size as u32
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        let batch = batch(&self.of, self.size)?;
        watch.section(|| batch.into_iter().try_for_each(close))
    }
}

/// poll(2) of descriptors that are all ready. With a `feed`, a byte makes them ready before each call, and is
/// taken after it.
pub struct Poll {
    slots: Vec<libc::pollfd>,
    /// The descriptors in the slots.
    _open: Vec<OwnedFd>,
    feed: Option<(UnixStream, UnixStream)>,
    _ends: Option<(UnixStream, UnixStream)>,
    waits: u32,
}

impl Poll {
    /// Creates the floor of waits for these descriptors.
    pub fn new(ready: Vec<OwnedFd>, ends: (UnixStream, UnixStream), is_edge: bool, waits: u32) -> Self {
        let slot = |fd: &OwnedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let (feed, ends) = if is_edge { (Some(ends), None) } else { (None, Some(ends)) };
        Self { slots: ready.iter().map(slot).collect(), _open: ready, feed, _ends: ends, waits }
    }
}

impl Side for Poll {
    fn per_round(&self) -> u32 {
        self.waits
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        let Self { slots, feed, waits, .. } = self;
        watch.section(|| {
            for _ in 0..*waits {
                if let Some((_, theirs)) = feed {
                    byte_to(theirs)?;
                }
                let ready = poll(slots, 0)?;
                if ready != slots.len() {
                    return Err(Failure::Failed(format!("poll(2) reports {ready} of {}", slots.len())));
                }
                if let Some((ours, _)) = feed {
                    byte_from(ours)?;
                }
            }
            Ok(())
        })
    }
}

/// A write to a pipe wakes the other thread from its read, to and fro.
pub struct PipeWake {
    /// What the other thread reads.
    pub to: PipeWriter,
    /// What this thread reads.
    pub from: PipeReader,
    /// Whether this thread begins.
    pub is_first: bool,
    /// How often in a round.
    pub times: u32,
}

impl Side for PipeWake {
    fn per_round(&self) -> u32 {
        self.times
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        let Self { to, from, is_first, times } = self;
        let mut wake = || to.write_all(&[0]).map_err(|error| Failure::of_io("write", &error));
        let mut wait = || from.read_exact(&mut [0]).map_err(|error| Failure::of_io("read", &error));
        watch.section(|| {
            for _ in 0..*times {
                if *is_first {
                    wake()?;
                    wait()?;
                } else {
                    wait()?;
                    wake()?;
                }
            }
            Ok(())
        })
    }
}
