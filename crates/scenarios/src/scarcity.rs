//! A process at its limit of descriptors.

use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::descriptors;

/// A process with few descriptors left.
pub(crate) struct Scarcity {
    limits: (rlim_t, rlim_t),
    _fillers: Vec<OwnedFd>,
}

impl Scarcity {
    /// Leaves `room` descriptors.
    ///
    /// # Errors
    /// What the system answers.
    pub(crate) fn new(room: usize) -> io::Result<Self> {
        let limits = getrlimit(Resource::RLIMIT_NOFILE)?;
        let mut fillers = vec![OwnedFd::from(std::fs::File::open("/dev/null")?)];
        let highest = descriptors::open().last().copied().unwrap_or(0);
        // Room for at least that many numbers, whatever holes there are below.
        setrlimit(Resource::RLIMIT_NOFILE, (highest as usize + 1 + room) as rlim_t, limits.1)?;
        loop {
            match fcntl(&fillers[0], FcntlArg::F_DUPFD_CLOEXEC(0)) {
                // SAFETY: fcntl has just made it, and nobody else knows it.
                Ok(fd) => fillers.push(unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }),
                Err(Errno::EMFILE) => break,
                Err(error) => return Err(error.into()),
            }
        }
        fillers.truncate(fillers.len() - room);
        Ok(Self { limits, _fillers: fillers })
    }

    /// Back to plenty.
    ///
    /// # Errors
    /// What `setrlimit` answers.
    pub(crate) fn end(self) -> io::Result<()> {
        Ok(setrlimit(Resource::RLIMIT_NOFILE, self.limits.0, self.limits.1)?)
    }
}
