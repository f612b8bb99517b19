//! A poller behind the raw interface: a kernel queue, or another project's library.

use std::os::fd::RawFd;
use std::time::Duration;

use selector::{Changed, Interest, Mode, Selector, Token};

use crate::poller::{Failure, Poller};

/// A poller behind the raw interface.
pub struct Library(Box<dyn Selector>);

impl Library {
    /// Wraps a poller.
    ///
    /// # Errors
    /// The reason why its cost cannot be measured: it is in another process.
    pub fn new(selector: Box<dyn Selector>) -> Result<Self, Failure> {
        match selector.process() {
            Some(_) => Err(Failure::Unsupported(
                "an adapter in another process answers over a pipe: its cost would be that of the pipe"
                    .into(),
            )),
            None => Ok(Self(selector)),
        }
    }
}

fn done(call: &str, changed: Changed) -> Result<(), Failure> {
    match changed {
        Changed::Done => Ok(()),
        Changed::Refused(refusals) => match refusals.first() {
            Some(refusal) => Err(Failure::of(call, refusal.errno)),
            None => Err(Failure::Failed(format!("{call}: refused"))),
        },
        Changed::Unsupported(unsupported) => Err(Failure::Unsupported(unsupported.0)),
    }
}

impl Poller for Library {
    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Result<(), Failure> {
        done("register", self.0.add(fd, token, interest, mode))
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Result<(), Failure> {
        done("modify", self.0.modify(fd, token, interest, mode))
    }

    fn remove(&self, fd: RawFd) -> Result<(), Failure> {
        done("remove", self.0.remove(fd))
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<usize, Failure> {
        self.0.wait_count(room, timeout).map_err(|errno| Failure::of("wait", errno))
    }

    fn wake(&self) -> Result<(), Failure> {
        self.0.wake().map_err(|unsupported| Failure::Unsupported(unsupported.0))
    }
}
