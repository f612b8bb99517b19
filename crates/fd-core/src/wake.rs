//! The wake-up protocol between threads, and the pipe that carries it where the backend has nothing of its own.
//!
//! A thread that is about to sleep announces it (SLEEPING set and NOTIFIED cleared in one step) and only then
//! looks for work a last time. A waker publishes the work and only then sets NOTIFIED: if it finds SLEEPING and
//! no earlier NOTIFIED, it writes. So nothing published is missed (L2), and there is at most one write per sleep.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::fault::{self, Fault};
use crate::invariants::invariant;
use crate::poller::Wake;
use crate::ready::Ready;
use crate::sync::{AtomicU32, Ordering};
use crate::weak::{self, Weak};

const SLEEPING: u32 = 1 << 0;
const NOTIFIED: u32 = 1 << 1;

/// One thread's side of the protocol.
pub(crate) struct Sleep {
    flags: AtomicU32,
    /// Lives as long as this does, which is as long as anybody can call [`Sleep::wake`] (suspect 12).
    waker: OnceLock<Arc<dyn Wake>>,
}

impl Sleep {
    pub(crate) fn new() -> Self {
        Self { flags: AtomicU32::new(0), waker: OnceLock::new() }
    }

    pub(crate) fn set_waker(&self, waker: Arc<dyn Wake>) {
        let first = self.waker.set(waker).is_ok();
        invariant!(first, "a thread has one waker");
    }

    /// Announces the sleep. The thread must look for work after this, and before it waits.
    pub(crate) fn announce(&self) {
        // Pair: sleep. Flags, then queues ∥ queues, then flags. Two read-modify-writes of one word: either this one sees the
        // waker's, and then the work, or the waker sees SLEEPING.
        let order = weak::ordering(Weak::FlagsRelaxed, Ordering::AcqRel);
        if fault::on(Fault::NotifiedSticks) {
            self.flags.fetch_or(SLEEPING, order);
        } else {
            self.flags.swap(SLEEPING, order);
        }
    }

    /// Ends the sleep: after the wait, not before it (bug 50).
    pub(crate) fn end(&self) {
        // Pair: sleep.
        self.flags.fetch_and(!SLEEPING, Ordering::AcqRel);
    }

    /// Whether the thread will look for work, whatever it is doing.
    #[cfg(all(test, loom))]
    pub(crate) fn is_notified(&self) -> bool {
        self.flags.load(Ordering::Acquire) & NOTIFIED != 0
    }

    /// Makes the thread look for work that was published before this call. Async-signal-safe.
    pub(crate) fn wake(&self) {
        // Pair: sleep.
        let before = self.flags.fetch_or(NOTIFIED, weak::ordering(Weak::FlagsRelaxed, Ordering::AcqRel));
        let seen = if weak::on(Weak::NotifiedIgnored) { before & SLEEPING } else { before };
        if seen & (SLEEPING | NOTIFIED) == SLEEPING
            && let Some(waker) = self.waker.get()
        {
            waker.wake();
        }
    }
}

/// The writing end of a wake pipe.
struct WakePipe(PipeWriter);

impl Wake for WakePipe {
    fn wake(&self) {
        // A full pipe wakes as well as one more byte does. Nothing can be done about any other error, and a
        // signal handler must not try.
        let _ = (&self.0).write(&[0]);
    }
}

/// A pipe to wake a thread with: what to call, and what the thread must poll.
pub(crate) fn wake_pipe() -> io::Result<(Arc<dyn Wake>, OwnedFd)> {
    let (reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
    set_nonblocking(&reader)?;
    set_nonblocking(&writer)?;
    Ok((Arc::new(WakePipe(writer)), reader.into()))
}

fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// The handler of the reading end: empties the pipe.
pub(crate) fn drain_wake_pipe(ready: &Ready<'_>) {
    let mut sink = [0; 64];
    let mut received = 0;
    while let Ok(count @ 1..) = nix::unistd::read(ready, &mut sink) {
        received += count as u64;
    }
    let activity = ready.context().activity();
    activity.wake_thread.add(received);
    if !fault::on(Fault::OnePollerPerProcess) {
        // One write per announced sleep, and no other (S17). Not one per read: a waker may be held up between its look
        // at the flags and its write, over any number of sleeps, and several of them may then write at once.
        let (written, sleeps) = (activity.wake_thread.get(), activity.loops.get());
        invariant!(written <= sleeps, "{written} wake-ups for {sleeps} sleeps");
    }
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
        assert_eq!(written(), 0, "it has not announced a sleep and will look");
        sleep.announce();
        sleep.wake();
        sleep.wake();
        assert_eq!(written(), 1);
        sleep.end();
        sleep.wake();
        assert_eq!(written(), 1, "S17: nothing is written after the sleep");
        sleep.announce();
        sleep.wake();
        assert_eq!(written(), 2, "the next sleep starts afresh");
    }
}
