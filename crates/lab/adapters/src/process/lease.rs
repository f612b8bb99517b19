//! Adapters that serve several pollers, one after the other: `reset`.

use std::ops::Deref;
use std::sync::Mutex;
use std::time::Duration;

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
        let is_it = |lease: &Self| lease.command_line == command_line && lease.patience == patience;
        let index = idle.iter().position(is_it)?;
        Some(idle.swap_remove(index))
    }
}

impl Deref for Lease {
    type Target = Process;

    fn deref(&self) -> &Process {
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
