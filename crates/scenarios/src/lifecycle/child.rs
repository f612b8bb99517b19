//! Forked children that go on without an exec, and tell their parent what they see.

use std::fmt::Debug;
use std::io::{PipeReader, Read, pipe};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use fd_core::Context;
use fd_core::ids::ThreadId;
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

use crate::harness::Harness;
use crate::test_context::{Failure, TestContext, patience};

/// What a child ends its report with.
const END: &str = "end";

/// A child, as its parent sees it. It is killed when this is dropped.
pub(crate) struct Child {
    process: Pid,
    report: PipeReader,
}

/// Where the thread that forks leaves its answer for the thread that waits for it. Without a lock, a channel's among them: the
/// child would find it held for ever, if the waiting thread had it at the fork.
#[derive(Clone, Default)]
pub(crate) struct Forked(Arc<AtomicI32>);

impl Forked {
    /// The child's number, or why there is none. In the child it is nobody's answer.
    pub(crate) fn tell(&self, forked: Result<Pid, Errno>) {
        self.0.store(forked.map_or_else(|errno| -(errno as i32), Pid::as_raw), Ordering::SeqCst);
    }

    /// The child, which writes to the other end of `report`.
    ///
    /// # Errors
    /// [`Failure::Broken`] if there is none; [`Failure::Wrong`] if the thread does not come to it.
    pub(crate) fn child(&self, harness: &Harness, report: PipeReader) -> Result<Child, Failure> {
        harness.wait_until("the thread that is to fork", || self.0.load(Ordering::SeqCst) != 0)?;
        match self.0.load(Ordering::SeqCst) {
            number @ 1.. => Ok(Child { process: Pid::from_raw(number), report }),
            errno => Err(Failure::broken(Errno::from_raw(-errno))),
        }
    }
}

/// What a child writes its report to.
#[derive(Clone, Copy)]
pub(crate) struct Report(RawFd);

impl Report {
    /// To the pipe end with this number, which the child inherits.
    pub(crate) fn at(number: RawFd) -> Self {
        Self(number)
    }

    /// `observed` was seen where `expected` is right.
    pub(crate) fn eq<T: Debug>(self, what: &str, expected: T, observed: T) {
        self.write(&format!("{what}\t{expected:?}\t{observed:?}\n"));
    }

    /// Ends the report, and the child.
    pub(crate) fn end(self) -> ! {
        self.write(&format!("{END}\n"));
        // SAFETY: ends this process, the child, at once: nothing of what it shares with its parent is touched.
        unsafe { libc::_exit(0) }
    }

    fn write(self, line: &str) {
        // SAFETY: the number was opened before the fork, and the child closes nothing that it does not know.
        let written = unsafe { libc::write(self.0, line.as_ptr().cast(), line.len()) };
        assert_eq!(usize::try_from(written), Ok(line.len()), "the parent reads the report");
    }
}

impl Child {
    /// Forks on this thread, which goes on alone in the child: there `action` runs, and then the process ends.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub(crate) fn fork(action: impl FnOnce(Report)) -> Result<Self, Failure> {
        let (report, tell) = pipe().map_err(Failure::broken)?;
        // SAFETY: beyond what is async-signal-safe the child uses the allocator. Every other thread of the parent sleeps, in a
        // poller's wait or where it is held, and has no lock that the child needs.
        match unsafe { fork() }.map_err(Failure::broken)? {
            ForkResult::Parent { child } => Ok(Self { process: child, report }),
            ForkResult::Child => {
                action(Report(tell.as_raw_fd()));
                Report(tell.as_raw_fd()).end()
            }
        }
    }

    /// Forks on a worker thread, in a task; see [`go_on_in_child`]. In the child `action` runs, and then the thread goes back to its loop: something
    /// there must end the report.
    ///
    /// # Errors
    /// [`Failure::Broken`]; [`Failure::Wrong`] if the thread does not come to it.
    pub(crate) fn fork_on(
        harness: &Harness,
        thread: ThreadId,
        action: impl FnOnce(&Context, Report) + Send + 'static,
    ) -> Result<Self, Failure> {
        let (report, tell) = pipe().map_err(Failure::broken)?;
        let (number, forked) = (tell.as_raw_fd(), Forked::default());
        let told = forked.clone();
        let _ = harness
            .core()
            .post(thread, move |context| told.tell(go_on_in_child(context, Report(number), action)));
        forked.child(harness, report)
    }

    /// Records what the child tells, until it has told everything.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if it does not.
    pub(crate) fn record(&mut self, test: &mut TestContext, when: &str, source: &str) -> Result<(), Failure> {
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
        test.all_hold()?;
        if complete {
            return Ok(());
        }
        Err(Failure::Wrong(format!("the child, {when}, does not come to its end; so far: {text:?}")))
    }

    /// Everything until the child's end, or until patience ends.
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

/// Forks, after [`FdCore::before_fork`](fd_core::FdCore::before_fork) was called. The parent gets the child's number; the
/// child does `action` and has no answer for anybody.
pub(crate) fn go_on_in_child(
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

/// Calls `then` in a later iteration of the loop, as soon as `holds`.
pub(crate) fn when(
    context: &Context,
    holds: impl Fn(&Context) -> bool + 'static,
    then: impl FnOnce(&Context) + 'static,
) {
    context.after(std::time::Duration::from_millis(1), move |context| {
        if holds(context) { then(context) } else { when(context, holds, then) }
    });
}
