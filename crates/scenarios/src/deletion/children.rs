//! Children that have copies of descriptors: all of them between fork and exec, and none that an exec closes afterwards.

use std::io::{self, PipeWriter, Read, Write, pipe};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::JoinHandle;

use nix::libc;

use crate::test_context::Failure;
use crate::threads;

/// A child that is held between its fork and its exec. Dropping this lets it go.
pub(crate) struct BeforeExec {
    go: PipeWriter,
    spawn: JoinHandle<io::Result<Child>>,
}

/// A child that is ended at the end of its scenario.
pub(crate) struct Leashed(Child);

impl Drop for Leashed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl BeforeExec {
    /// Starts a child that will go on as a program that stays until it is killed.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub(crate) fn start() -> Result<Self, Failure> {
        let (waits, go) = pipe().map_err(Failure::broken)?;
        let (mut arrived, arrives) = pipe().map_err(Failure::broken)?;
        let mut command = Command::new("sleep");
        command.arg("86400");
        let [held, leash, arrival] = [waits.as_raw_fd(), go.as_raw_fd(), arrives.as_raw_fd()];
        // SAFETY: between fork and exec only what is async-signal-safe may be called: close, read and write are
        // (signal-safety(7)). The numbers are the child's own copies.
        unsafe {
            command.pre_exec(move || {
                // Its own copy of the writing end must go, or the pipe would not end with its parent.
                libc::close(leash);
                libc::write(arrival, b"x".as_ptr().cast(), 1);
                let mut byte = 0_u8;
                while libc::read(held, (&raw mut byte).cast(), 1) < 0 {}
                Ok(())
            });
        }
        // The parent waits for the exec, too.
        let spawn = threads::spawn(move || {
            let child = command.spawn();
            drop((waits, arrives));
            child
        })?;
        arrived.read_exact(&mut [0]).map_err(Failure::broken)?;
        Ok(Self { go, spawn })
    }

    /// Lets the child exec, and returns it. `None` if this system has no such program: then the child has ended, and its copies
    /// with it.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub(crate) fn exec(mut self) -> Result<Option<Leashed>, Failure> {
        self.go.write_all(b"x").map_err(Failure::broken)?;
        match self.spawn.join() {
            Ok(Ok(child)) => Ok(Some(Leashed(child))),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Ok(Err(error)) => Err(Failure::broken(error)),
            Err(_) => Err(Failure::Broken("starting a child panicked".into())),
        }
    }
}
