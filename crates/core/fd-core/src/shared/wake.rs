//! The wake-up protocol between threads, and the wake pipe for backends without a waker of their own.
//!
//! A thread announces its sleep (it is not awake, then it clears NOTIFIED), and then looks for work a last
//! time. A waker publishes the work, and then sets NOTIFIED. If NOTIFIED was clear, and the thread is not
//! awake, it writes to the wake descriptor. So no published work is missed (L2), and each sleep gets at most
//! one write.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, OnceLock};

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};

use crate::poller::Wake;
use crate::shared::ready::ReadyGuard;
use crate::words::sync::{AtomicBool, Ordering};

/// One thread's side of the protocol.
pub(crate) struct Sleep {
    /// Whether a waker has published work since the last announcement.
    notified: AtomicBool,
    /// Whether no sleep is announced. The thread alone writes it, so the end of a sleep needs no
    /// read-modify-write.
    awake: AtomicBool,
    /// It exists as long as this value, and so as long as a thread can call [`Sleep::wake`] (suspect 12).
    waker: OnceLock<Arc<dyn Wake>>,
}

impl Sleep {
    pub(crate) fn new() -> Self {
        Self { notified: AtomicBool::new(false), awake: AtomicBool::new(true), waker: OnceLock::new() }
    }

    pub(crate) fn set_waker(&self, waker: Arc<dyn Wake>) {
        let first = self.waker.set(waker).is_ok();
        invariant!(first, "a thread has one waker");
    }

    /// Announces the sleep. The thread must look for work afterwards, before it waits.
    pub(crate) fn announce(&self) {
        // Pair: sleep. Awake and NOTIFIED, then queues ∥ queues, then NOTIFIED and awake. Both sides change
        // NOTIFIED by a read-modify-write: either this one sees the waker's change, and then the work, or the
        // waker sees this announcement, and does not take the end of an earlier sleep for the end of this
        // one.
        unless!(StaysAwake => self.awake.store(false, Ordering::Release));
        fault!(NotifiedSticks => { self.notified.fetch_or(false, Ordering::AcqRel); return });
        self.notified.swap(false, ordering!(FlagsRelaxed, AcqRel));
    }

    /// Ends the sleep, after the wait and not before it (bug 50).
    pub(crate) fn end(&self) {
        // Pair: sleep. NOTIFIED stays as it is: a plain store would hide the change of a waker that found
        // another one's NOTIFIED, and the next announcement would not see its work.
        fault!(EndStores => self.notified.store(false, Ordering::Release));
        self.awake.store(true, Ordering::Release);
    }

    /// Whether the thread will look for work.
    #[cfg(all(test, loom))]
    pub(crate) fn is_notified(&self) -> bool {
        self.notified.load(Ordering::Acquire)
    }

    /// Disables wake-ups in a forked child. The thread does not exist here, and the parent's thread has the
    /// same wake descriptor.
    pub(crate) fn silence(&self) {
        // Relaxed: the child has one thread.
        self.notified.store(true, Ordering::Relaxed);
    }

    /// See [`Wake::renew`].
    pub(crate) fn renew(&self) -> io::Result<()> {
        fault!(ForkSharesWaker => return Ok(()));
        self.waker.get().map_or(Ok(()), |waker| waker.renew())
    }

    /// Makes the thread look for work that was published before this call. A signal handler may call it.
    pub(crate) fn wake(&self) {
        // Pair: sleep.
        let was_notified = self.notified.swap(true, ordering!(FlagsRelaxed, AcqRel));
        fault!(NotifiedIgnored: was_notified => false);
        // If it is awake after the announcement that this change follows, the next one sees the change.
        if !was_notified
            && !self.awake.load(Ordering::Acquire)
            && let Some(waker) = self.waker.get()
        {
            waker.wake();
        }
    }
}

/// The write end of a wake pipe.
struct WakePipe {
    writer: PipeWriter,
    /// The number of the read end. The table owns that end as long as the core exists.
    reader: RawFd,
}

impl Wake for WakePipe {
    fn wake(&self) {
        // A full pipe wakes the thread, too. No other error can be handled here, which may be in a signal
        // handler.
        let _ = (&self.writer).write(&[0]);
    }

    fn renew(&self) -> io::Result<()> {
        let (reader, writer) = nonblocking_pipe()?;
        replace(&reader, self.reader)?;
        replace(&writer, self.writer.as_raw_fd())
    }
}

/// Makes `number` another descriptor of the open file of `fd`. Its previous file is closed.
fn replace(fd: &impl AsRawFd, number: RawFd) -> io::Result<()> {
    // SAFETY: the number stays open, and it is an end of a wake pipe as before, so its owners see no
    // difference.
    if unsafe { libc::dup2(fd.as_raw_fd(), number) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: dup2 has just opened it.
    let number = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl(number, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(())
}

/// Makes a wake pipe. Returns the waker, and the read end that the thread must poll.
pub(crate) fn wake_pipe() -> io::Result<(Arc<dyn Wake>, OwnedFd)> {
    let (reader, writer) = nonblocking_pipe()?;
    Ok((Arc::new(WakePipe { writer, reader: reader.as_raw_fd() }), reader.into()))
}

fn nonblocking_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    set_nonblocking(&reader)?;
    set_nonblocking(&writer)?;
    Ok((reader, writer))
}

fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// The handler of the read end, which empties the pipe.
pub(crate) fn drain_wake_pipe(ready: &ReadyGuard<'_>) {
    let mut sink = [0; 64];
    let mut received = 0;
    while let Ok(count @ 1..) = nix::unistd::read(ready, &mut sink) {
        received += count as u64;
    }
    let activity = ready.context().activity();
    activity.wake_thread.add(received);
    fault!(OnePollerPerProcess => return);
    // Each announced sleep gets at most one write (S17). A single read may return several of them: a waker
    // may be preempted between its check of the flags and its write for many sleeps.
    let (written, sleeps) = (activity.wake_thread.get(), activity.loops.get());
    invariant!(written <= sleeps, "{written} wake-ups for {sleeps} sleeps");
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Wake for Counting {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_waker_writes_once_per_sleep_and_never_to_a_thread_that_is_awake() {
        let (sleep, counting) = (Sleep::new(), Arc::new(Counting::default()));
        sleep.set_waker(counting.clone());
        let written = || counting.0.load(Ordering::SeqCst);
        sleep.wake();
        assert_eq!(written(), 0, "the thread has announced no sleep");
        sleep.announce();
        sleep.wake();
        sleep.wake();
        assert_eq!(written(), 1);
        sleep.end();
        sleep.wake();
        assert_eq!(written(), 1, "S17: no write after the sleep");
        sleep.announce();
        sleep.wake();
        assert_eq!(written(), 2, "the next sleep gets its own write");
    }

    /// A forked child shares the open files of its parent.
    #[test]
    fn a_renewed_wake_pipe_wakes_its_own_reader_only() {
        let (waker, reader) = wake_pipe().unwrap();
        let parents = reader.try_clone().unwrap();
        let can_read = |fd: &OwnedFd| nix::unistd::read(fd, &mut [0; 8]);
        waker.wake();
        waker.renew().unwrap();
        assert_eq!(
            can_read(&reader),
            Err(nix::Error::EAGAIN),
            "the wake-up of the parent does not reach the child"
        );
        waker.wake();
        assert_eq!(can_read(&parents), Ok(1), "the earlier wake-up");
        assert_eq!(can_read(&reader), Ok(1));
        let flags = |what| nix::fcntl::fcntl(&reader, what).unwrap();
        assert!(flags(FcntlArg::F_GETFD) & FdFlag::FD_CLOEXEC.bits() != 0);
        assert!(flags(FcntlArg::F_GETFL) & OFlag::O_NONBLOCK.bits() != 0);
    }

    #[test]
    fn a_silenced_sleeper_is_not_written_to() {
        let (sleep, counting) = (Sleep::new(), Arc::new(Counting::default()));
        sleep.set_waker(counting.clone());
        sleep.announce();
        sleep.silence();
        sleep.wake();
        assert_eq!(counting.0.load(Ordering::SeqCst), 0);
    }
}
