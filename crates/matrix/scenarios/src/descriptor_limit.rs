//! Changes the limit of open descriptors of this process.

use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::descriptors;
use crate::failure::{Failure, Result};

/// Lets this process have descriptors with numbers below `count`.
///
/// # Errors
/// [`Failure::Unsupported`] if the system allows fewer.
pub(crate) fn raise(count: libc::rlim_t) -> Result {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft < count {
        // Only the superuser may raise the hard limit.
        setrlimit(Resource::RLIMIT_NOFILE, count, hard.max(count)).map_err(|error| {
            Failure::Unsupported(format!("needs {count} descriptors, may have {hard}: {error}"))
        })?;
    }
    Ok(())
}

/// A process that can open only a few more descriptors.
pub(crate) struct DescriptorLimit {
    limits: (rlim_t, rlim_t),
    _fillers: Vec<OwnedFd>,
}

impl DescriptorLimit {
    /// Lowers the limit and opens descriptors until only `room` more can be opened.
    pub(crate) fn leave(room: usize) -> io::Result<Self> {
        let limits = getrlimit(Resource::RLIMIT_NOFILE)?;
        let mut fillers = vec![OwnedFd::from(std::fs::File::open("/dev/null")?)];
        let highest = descriptors::open().last().copied().unwrap_or(0);
        // At least `room` numbers are free above the highest open one; the fillers take the gaps below it.
        setrlimit(Resource::RLIMIT_NOFILE, (highest as usize + 1 + room) as rlim_t, limits.1)?;
        loop {
            match fcntl(&fillers[0], FcntlArg::F_DUPFD_CLOEXEC(0)) {
                // SAFETY: fcntl has just created the descriptor, and nothing else owns it.
                Ok(fd) => fillers.push(unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }),
                Err(Errno::EMFILE) => break,
                Err(error) => return Err(error.into()),
            }
        }
        fillers.truncate(fillers.len() - room);
        Ok(Self { limits, _fillers: fillers })
    }

    /// Restores the former limit and closes the fillers.
    pub(crate) fn restore(self) -> io::Result<()> {
        Ok(setrlimit(Resource::RLIMIT_NOFILE, self.limits.0, self.limits.1)?)
    }
}
