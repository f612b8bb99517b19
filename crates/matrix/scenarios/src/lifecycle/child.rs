//! Forked children that continue without an exec, and report their observations to the parent.

use std::fmt::Debug;
use std::io::{PipeReader, Read, pipe};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

use crate::prelude::*;

/// The last line of a child's report.
const END: &str = "end";

/// A forked child, on the parent's side. Dropping this kills it.
pub(crate) struct Child {
    process: Pid,
    report: PipeReader,
}

/// The result of a fork, passed from the forking thread to a waiting one. It has no lock, as a channel has:
/// if the waiting thread held it during the fork, it would stay locked in the child.
#[derive(Clone, Default)]
pub(crate) struct Forked(Arc<AtomicI32>);

impl Forked {
    /// Sets the child's process id, or the error of the fork. In the child this has no effect: no thread
    /// waits there.
    pub(crate) fn set(&self, forked: Result<Pid, Errno>) {
        self.0.store(forked.map_or_else(|errno| -(errno as i32), Pid::as_raw), Ordering::SeqCst);
    }

    /// Waits for the fork and returns the child, which writes to the other end of `report`.
    ///
    /// # Errors
    /// [`Failure::Broken`] if the fork failed; [`Failure::Wrong`] if the thread does not fork.
    pub(crate) fn child(&self, harness: &Harness, report: PipeReader) -> Result<Child> {
        harness.wait_until("the result of the fork", || self.0.load(Ordering::SeqCst) != 0)?;
        match self.0.load(Ordering::SeqCst) {
            number @ 1.. => Ok(Child { process: Pid::from_raw(number), report }),
            errno => Err(Failure::broken(Errno::from_raw(-errno))),
        }
    }
}

/// The child's side of its report.
#[derive(Clone, Copy)]
pub(crate) struct Report(RawFd);

impl Report {
    /// A report that is written to the pipe end with this number, which the child inherits.
    pub(crate) fn at(number: RawFd) -> Self {
        Self(number)
    }

    /// Reports `observed`, and that `expected` would be right.
    pub(crate) fn eq<T: Debug>(self, what: &str, expected: T, observed: T) {
        self.write(&format!("{what}\t{expected:?}\t{observed:?}\n"));
    }

    /// Ends the report and the child.
    pub(crate) fn end(self) -> ! {
        self.write(&format!("{END}\n"));
        // SAFETY: ends this process, the child, at once, without effects on anything that it shares with its
        // parent.
        unsafe { libc::_exit(0) }
    }

    fn write(self, line: &str) {
        // SAFETY: the number was opened before the fork, and the child closes only numbers that it knows.
        let written = unsafe { libc::write(self.0, line.as_ptr().cast(), line.len()) };
        assert_eq!(usize::try_from(written), Ok(line.len()), "the parent did not read the report");
    }
}

impl Child {
    /// Forks on this thread, the only one that exists in the child. There it runs `action` and ends the
    /// process.
    pub(crate) fn fork(action: impl FnOnce(Report)) -> Result<Self> {
        let (reader, writer) = pipe()?;
        // SAFETY: besides async-signal-safe functions the child uses the allocator. Every other thread of the
        // parent sleeps, in a poller's wait or where it is held, and holds no lock that the child needs.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(Self { process: child, report: reader }),
            ForkResult::Child => {
                action(Report(writer.as_raw_fd()));
                Report(writer.as_raw_fd()).end()
            }
        }
    }

    /// As [`Child::fork`], by clone(2), so that no hook of the C library runs.
    ///
    /// # Errors
    /// [`Failure::Unsupported`] where no system call forks without the C library; [`Failure::Broken`] if the
    /// call fails.
    #[cfg_attr(not(any(target_os = "linux", target_os = "android")), expect(unused_variables))]
    pub(crate) fn bare_fork(action: impl FnOnce(Report)) -> Result<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let (reader, writer) = pipe()?;
            // SAFETY: as in `Child::fork`. No thread is in the allocator, whose locks no hook releases.
            let result = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
            match Errno::result(result)? {
                0 => {
                    action(Report(writer.as_raw_fd()));
                    Report(writer.as_raw_fd()).end()
                }
                child => Ok(Self { process: Pid::from_raw(child as libc::pid_t), report: reader }),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        Err(Failure::Unsupported("no system call forks without the C library here".into()))
    }

    /// Forks on a worker thread, in a task; see [`continue_in_child`]. In the child the thread runs `action`
    /// and returns to its loop, where a task, timer or handler must end the report.
    ///
    /// # Errors
    /// [`Failure::Broken`] if the fork fails; [`Failure::Wrong`] if the thread does not fork.
    pub(crate) fn fork_on(
        harness: &Harness,
        thread: ThreadId,
        action: impl FnOnce(&Context, Report) + Send + 'static,
    ) -> Result<Self> {
        let (reader, writer) = pipe()?;
        let (number, forked) = (writer.as_raw_fd(), Forked::default());
        let result = forked.clone();
        let _ = harness
            .core()
            .post(thread, move |context| result.set(continue_in_child(context, Report(number), action)));
        forked.child(harness, reader)
    }

    /// Records the child's checks, up to the end of its report.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if a check failed, or if the report has no end.
    pub(crate) fn record(&mut self, test: &mut TestContext, when: &str, source: &str) -> Result {
        let text = self.read();
        let mut complete = false;
        for line in text.lines() {
            let mut parts = line.split('\t');
            match (parts.next(), parts.next(), parts.next()) {
                (Some(what), Some(expected), Some(observed)) => {
                    let what = format!("child, {when}: {what}");
                    test.check_eq(what, expected.to_owned(), observed.to_owned(), source);
                }
                _ => complete |= line == END,
            }
        }
        test.stop_if_failed()?;
        if complete {
            return Ok(());
        }
        Err(Failure::Wrong(format!("the report of the child, {when}, has no end; so far: {text:?}")))
    }

    /// Reads up to the end of the report, or until patience ends.
    fn read(&mut self) -> String {
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        let end = Instant::now() + patience();
        while !text.ends_with(format!("{END}\n").as_bytes()) {
            let left = end.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut polled = [PollFd::new(self.report.as_fd(), PollFlags::POLLIN)];
            match poll(&mut polled, timeout) {
                Ok(1..) => {}
                Err(Errno::EINTR) => continue,
                _ => break,
            }
            match self.report.read(&mut buffer) {
                Ok(count @ 1..) => text.extend_from_slice(&buffer[..count]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = kill(self.process, Signal::SIGKILL);
        let _ = waitpid(self.process, None);
    }
}

/// Forks; [`FdCore::before_fork`](fd_core::FdCore::before_fork) must have been called. Returns the child's
/// process id in the parent. In the child it runs `action` and returns `ECHILD`.
pub(crate) fn continue_in_child(
    context: &Context,
    report: Report,
    action: impl FnOnce(&Context, Report),
) -> Result<Pid, Errno> {
    // SAFETY: as in `Child::fork`.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            context.forked();
            action(context, report);
            Err(Errno::ECHILD)
        }
    }
}

/// Calls `then` in a later iteration of the loop, as soon as `holds` returns true.
pub(crate) fn when(
    context: &Context,
    holds: impl Fn(&Context) -> bool + 'static,
    then: impl FnOnce(&Context) + 'static,
) {
    context.after(std::time::Duration::from_millis(1), move |context| {
        if holds(context) { then(context) } else { when(context, holds, then) }
    });
}
