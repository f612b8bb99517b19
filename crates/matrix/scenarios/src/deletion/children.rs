//! Child processes with copies of descriptors. Between fork and exec a child has a copy of every descriptor;
//! the exec closes all of them.

use std::io::{self, PipeWriter, Read, pipe};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::JoinHandle;

use nix::libc;

use crate::prelude::*;
use crate::threads;

/// A child that is held between its fork and its exec. Dropping this releases it.
pub(crate) struct BeforeExec {
    release: PipeWriter,
    spawn: JoinHandle<io::Result<Child>>,
}

/// A child process that is killed when this is dropped.
pub(crate) struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl BeforeExec {
    /// Starts a child that becomes, after its exec, a program that runs until it is killed.
    pub(crate) fn start() -> Result<Self> {
        let (hold_reader, release) = pipe()?;
        let (mut arrived, arrival_writer) = pipe()?;
        let mut command = Command::new("sleep");
        command.arg("86400");
        let [hold_fd, release_fd, arrival_fd] =
            [hold_reader.as_raw_fd(), release.as_raw_fd(), arrival_writer.as_raw_fd()];
        // SAFETY: between fork and exec only async-signal-safe functions are allowed: close, read and write
        // are (signal-safety(7)). The numbers are the child's own copies.
        unsafe {
            command.pre_exec(move || {
                // The child must close its own copy of the writing end, or the pipe would not end when the
                // parent ends.
                libc::close(release_fd);
                libc::write(arrival_fd, b"x".as_ptr().cast(), 1);
                let mut byte = 0_u8;
                while libc::read(hold_fd, (&raw mut byte).cast(), 1) < 0 {}
                Ok(())
            });
        }
        // `spawn` returns only after the exec.
        let spawn = threads::spawn(move || {
            let child = command.spawn();
            drop((hold_reader, arrival_writer));
            child
        })?;
        arrived.read_exact(&mut [0])?;
        Ok(Self { release, spawn })
    }

    /// Lets the child exec, and returns it. `None` if this system has no such program: the child has then
    /// ended, and its copies are closed.
    pub(crate) fn exec(mut self) -> Result<Option<ChildGuard>> {
        self.release.write_all(b"x")?;
        match self.spawn.join() {
            Ok(Ok(child)) => Ok(Some(ChildGuard(child))),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Ok(Err(error)) => Err(Failure::broken(error)),
            Err(_) => Err(Failure::Broken("starting a child panicked".into())),
        }
    }
}
