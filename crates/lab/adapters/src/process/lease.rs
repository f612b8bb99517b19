//! Adapters that serve several pollers, one after the other: `reset`.

use std::os::fd::RawFd;
use std::sync::Mutex;
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use selector::{
    Acts, Capabilities, Changed, Column, Event, Failure, Interest, Selector, Token, Unsupported, View,
};

use super::{Process, lock};

/// The adapters that no poller uses. They are reset, and have no copy of a descriptor.
static IDLE: Mutex<Vec<Lease>> = Mutex::new(Vec::new());

/// An adapter in use. When the poller is dropped, an adapter that accepts `reset` becomes idle; any other one
/// ends.
pub(super) struct Lease {
    command_line: Vec<String>,
    /// `None` only while it is dropped.
    process: Option<Process>,
}

impl Lease {
    pub(super) fn new(command_line: &[String], process: Process) -> Self {
        Self { command_line: command_line.to_vec(), process: Some(process) }
    }

    /// Returns an idle adapter of this command line, if there is one.
    pub(super) fn again(command_line: &[String], patience: Duration) -> Option<Self> {
        let mut idle = lock(&IDLE);
        let is_it = |lease: &Self| lease.command_line == command_line && lease.held().patience == patience;
        let index = idle.iter().position(is_it)?;
        Some(idle.swap_remove(index))
    }

    fn held(&self) -> &Process {
        self.process.as_ref().expect("a lease has its process until it is dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        if process.reset() {
            let command_line = std::mem::take(&mut self.command_line);
            lock(&IDLE).push(Self { command_line, process: Some(process) });
        }
    }
}

impl Selector for Lease {
    fn name(&self) -> &str {
        self.held().name()
    }

    fn version(&self) -> Option<String> {
        self.held().version()
    }

    fn column(&self) -> Column {
        self.held().column()
    }

    fn capabilities(&self) -> Capabilities {
        self.held().capabilities()
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        self.held().views(mode)
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.held().add(fd, token, interest, mode)
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.held().modify(fd, token, interest, mode)
    }

    fn remove(&self, fd: RawFd) -> Changed {
        self.held().remove(fd)
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        self.held().wait(room, timeout)
    }

    fn limits_room(&self) -> Result<(), Unsupported> {
        self.held().limits_room()
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.held().wake()
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        self.held().close()
    }

    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        self.held().closed(fd)
    }

    fn opened(&self, fd: RawFd) -> Result<(), Unsupported> {
        self.held().opened(fd)
    }

    fn actor(&self) -> Option<&dyn Acts> {
        self.held().actor()
    }

    fn process(&self) -> Option<i32> {
        self.held().process()
    }

    fn spent(&self) -> Option<Duration> {
        self.held().spent()
    }

    fn failure(&self) -> Option<Failure> {
        self.held().failure()
    }
}
