//! A process forks, and deletes descriptors that its child has inherited. HAProxy's old process received
//! endless wake-ups for listeners that it had closed (bug 1).

use std::io::{PipeWriter, pipe};
use std::os::fd::{AsRawFd, RawFd};

use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

use super::cloned::{OpenCopy, stays_silent};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/cloned-fork",
    title: "No thread reports a deleted FD whose open file survives in a forked child",
    layer: Layer::Contract,
    clauses: &["S4", "S6", "S7", "L5", "bug 1"],
    axes: Axes::PLAIN,
    run,
};

fn run(test: &mut TestContext) -> Result {
    stays_silent(test, inherit)
}

/// A child with copies of all open descriptors. It ends when its end of the pipe is closed.
struct Child {
    process: Pid,
    release: Option<PipeWriter>,
}

fn inherit(harness: &Harness, _: FdHandle) -> Result<Box<dyn OpenCopy>> {
    let (reader, release) = pipe()?;
    let (hold_fd, release_fd) = (reader.as_raw_fd(), release.as_raw_fd());
    harness.core().before_fork();
    // SAFETY: the child of a process with threads may call only async-signal-safe functions: close, read and
    // _exit are (signal-safety(7)).
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(Box::new(Child { process: child, release: Some(release) })),
        ForkResult::Child => {
            // SAFETY: plain system calls on numbers that the child owns. The child must close its own copy of
            // the writing end, or the pipe would not end with the parent.
            unsafe {
                libc::close(release_fd);
                let mut byte = 0_u8;
                while libc::read(hold_fd, (&raw mut byte).cast(), 1) < 0 {}
                libc::_exit(0)
            }
        }
    }
}

impl OpenCopy for Child {
    fn number(&self) -> Option<RawFd> {
        None
    }

    fn read(&mut self) -> Result<Option<String>> {
        Ok(None)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.release = None;
        let _ = waitpid(self.process, None);
    }
}
