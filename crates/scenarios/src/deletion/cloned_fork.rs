//! A process forks, and deletes what its child has inherited: HAProxy's old process was woken for ever for listeners
//! that it had closed (bug 1).

use std::io::{PipeWriter, pipe};
use std::os::fd::AsRawFd;

use fd_core::FdHandle;
use metadata::{Axes, Layer};
use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

use super::cloned::{Kept, stays_silent};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/cloned-fork",
    title: "A deleted FD whose file lives on in a forked child is reported by no thread",
    layer: Layer::Contract,
    clauses: &["S4", "S6", "S7", "L5", "bug 1"],
    axes: Axes::PLAIN,
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    stays_silent(test, inherit)
}

/// A child that has everything that was open, until its end of the pipe ends.
struct Child {
    process: Pid,
    leash: Option<PipeWriter>,
}

fn inherit(harness: &Harness, _: FdHandle) -> Result<Box<dyn Kept>, Failure> {
    let (reader, leash) = pipe().map_err(Failure::broken)?;
    let (waits, inherited) = (reader.as_raw_fd(), leash.as_raw_fd());
    harness.core().before_fork();
    // SAFETY: the child of a process with threads may only call what is async-signal-safe: close, read and _exit are
    // (signal-safety(7)).
    match unsafe { fork() }.map_err(Failure::broken)? {
        ForkResult::Parent { child } => Ok(Box::new(Child { process: child, leash: Some(leash) })),
        ForkResult::Child => {
            // SAFETY: plain system calls on numbers that the child owns. Its own copy of the writing end must go, or
            // the pipe would not end with its parent.
            unsafe {
                libc::close(inherited);
                let mut byte = 0_u8;
                while libc::read(waits, (&raw mut byte).cast(), 1) < 0 {}
                libc::_exit(0)
            }
        }
    }
}

impl Kept for Child {
    fn read(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.leash = None;
        let _ = waitpid(self.process, None);
    }
}
