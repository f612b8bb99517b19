//! What is measured of a poller.

use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use nix::errno::Errno;
use selector::{Interest, Mode, Token};

/// A poller whose operations are measured. Any thread may call each method; one thread waits.
pub trait Poller: Send + Sync {
    /// Registers a descriptor.
    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Result<(), Failure>;

    /// Changes the interest of a registration.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Result<(), Failure>;

    /// Removes a registration.
    fn remove(&self, fd: RawFd) -> Result<(), Failure>;

    /// Waits, and returns the number of events, at most `room`, without wake-ups.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<usize, Failure>;

    /// Ends the current or the next wait.
    fn wake(&self) -> Result<(), Failure>;
}

/// Creates a poller.
pub type MakePoller<'a> = &'a (dyn Fn() -> io::Result<Box<dyn Poller>> + Send + Sync);

/// Why there is no figure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The poller or the system cannot do it.
    Unsupported(String),
    /// A call failed.
    Failed(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(reason) | Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl Failure {
    /// Returns the failure of a call with this error.
    pub fn of(call: &str, errno: Errno) -> Self {
        let reason = format!("{call}: {errno}");
        match errno {
            // A limit of the process, of the system or of the user's registrations.
            Errno::EMFILE | Errno::ENFILE | Errno::ENOSPC | Errno::ENOMEM => Self::Unsupported(reason),
            _ => Self::Failed(reason),
        }
    }

    /// Returns the failure of a call with this error.
    pub fn of_io(call: &str, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno) => Self::of(call, Errno::from_raw(errno)),
            None if error.kind() == io::ErrorKind::Unsupported => Self::Unsupported(error.to_string()),
            None => Self::Failed(format!("{call}: {error}")),
        }
    }
}
