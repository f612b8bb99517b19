//! What most scenarios of this family have: a running lab, a listener that some threads of the first group share,
//! who is not among them, and the proofs that a thread is quiet.

use std::sync::Arc;

use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::{EntryInfo, FdHandle, Handler};
use tempfile::TempDir;

use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{Address, Listener};

/// A lab with a listener.
pub(super) struct ListenerFixture {
    pub(super) harness: Harness,
    pub(super) handle: FdHandle,
    pub(super) address: Address,
    /// The threads that share it, lowest first.
    pub(super) sharers: Vec<ThreadId>,
    /// All other threads.
    pub(super) strangers: Vec<ThreadId>,
    // Holds the socket file; goes last.
    _directory: TempDir,
}

/// Who calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Caller {
    /// A worker thread, in a task.
    Worker(ThreadId),
    /// The scenario's own thread, which is no worker.
    Outside,
}

impl Caller {
    /// The worker thread, if it is one.
    pub(super) fn thread(self) -> Option<ThreadId> {
        match self {
            Self::Worker(thread) => Some(thread),
            Self::Outside => None,
        }
    }
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Start,
    Stop,
}

impl ListenerFixture {
    /// A listener shared by the first group's threads, but for the last of them where there are three or more:
    /// then there is a stranger in the group. Nothing is wanted yet.
    pub(super) fn shared(test: &TestContext, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let harness = Harness::start(test)?;
        let threads = harness.threads();
        let first = harness.thread(0).group();
        let in_group = threads.iter().filter(|thread| thread.group() == first).count();
        let count = if in_group >= 3 { in_group - 1 } else { in_group };
        Self::with(test, harness, handler, |thread| thread.group() == first && thread.index() < count)
    }

    /// A listener of those threads, of one group, that `shares` accepts. Nothing is wanted yet.
    pub(super) fn with(
        test: &TestContext,
        harness: Harness,
        handler: Arc<dyn Handler>,
        shares: impl Fn(ThreadId) -> bool,
    ) -> Result<Self, Failure> {
        let directory = TempDir::new().map_err(Failure::broken)?;
        let listener = Listener::new(test.params.transport, directory.path()).map_err(Failure::broken)?;
        let (sharers, strangers): (Vec<_>, Vec<_>) =
            harness.threads().into_iter().partition(|thread| shares(*thread));
        let first = *sharers.first().ok_or_else(|| Failure::Broken("nobody shares the listener".into()))?;
        let handle = harness.insert_shared(listener.fd, handler, first, mask(&sharers))?;
        Ok(Self { harness, handle, address: listener.address, sharers, strangers, _directory: directory })
    }

    /// The sharers as a mask.
    pub(super) fn mask(&self) -> ThreadMask {
        mask(&self.sharers)
    }

    /// One caller of each kind that this cell has: two of the sharers, a stranger of their group, a thread of another
    /// group, and the scenario.
    pub(super) fn callers(&self) -> Vec<Caller> {
        let group = self.sharers[0].group();
        let neighbour = self.strangers.iter().find(|thread| thread.group() == group);
        let foreigner = self.strangers.iter().find(|thread| thread.group() != group);
        let workers = self.sharers.iter().take(2).chain(neighbour).chain(foreigner);
        workers.copied().map(Caller::Worker).chain([Caller::Outside]).collect()
    }

    /// Starts or stops the listener as `caller`.
    pub(super) fn call(&self, caller: Caller, action: Action) -> Result<(), Failure> {
        let handle = self.handle;
        let answer = match caller {
            Caller::Outside => apply(&self.harness.core().registration(handle), action),
            Caller::Worker(thread) => {
                self.harness.on(thread, move |context| apply(&context.registration(handle), action))?
            }
        };
        answer.map_err(|stale| Failure::Wrong(format!("{action:?} by {caller:?}: {stale}")))
    }

    /// The listener's entry.
    pub(super) fn entry(&self) -> Result<EntryInfo, Failure> {
        self.harness.core().entry(self.handle).map_err(|stale| Failure::Wrong(stale.to_string()))
    }

    /// Waits until no poller of the group holds a stopped listener any more. There must be something to report: each
    /// poller reports it once more, and then drops it (L6).
    pub(super) fn wait_until_dropped(&self, when: &str) -> Result<(), Failure> {
        let what = format!("{when}, every poller reports the stopped listener and drops it");
        self.harness.wait_until(&what, || self.entry().is_ok_and(|entry| entry.polled_recv.is_empty()))
    }

    /// Checks, after a fence of all threads, that the pollers of the sharers have the listener for receiving, and that
    /// nobody owes it an update.
    pub(super) fn check_converged(&mut self, test: &mut TestContext, when: &str) -> Result<(), Failure> {
        self.harness.fence_all()?;
        let entry = self.entry()?;
        test.check_eq(
            format!("{when}: pollers that have it"),
            self.mask().bits(),
            entry.polled_recv.bits(),
            "S11, bug 20",
        );
        test.check_eq(
            format!("{when}: pollers that have it for sending"),
            0,
            entry.polled_send.bits(),
            "S11",
        );
        test.check_eq(format!("{when}: updates owed"), 0, entry.update_mask.bits(), "L3");
        Ok(())
    }

    /// Checks that the pollers of `threads` report fences and nothing else: each of their events is one wait that
    /// returns, one run of a handler, one turn. Everything that was going on before must be over.
    pub(super) fn check_quiet(
        &mut self,
        test: &mut TestContext,
        threads: &[ThreadId],
        when: &str,
    ) -> Result<(), Failure> {
        const ROUNDS: u64 = 3;
        // What was already on its way, such as a wake-up for a task.
        threads.iter().try_for_each(|thread| self.harness.fence(*thread))?;
        let before: Vec<_> = threads.iter().map(|thread| self.harness.activity(*thread)).collect();
        for _ in 0..ROUNDS {
            threads.iter().try_for_each(|thread| self.harness.fence(*thread))?;
        }
        for (thread, before) in threads.iter().zip(before) {
            let moved = self.harness.activity(*thread).since(&before);
            self.check_moved(test, *thread, &moved, 2 * ROUNDS, when);
        }
        Ok(())
    }

    /// Checks that what a thread did was `fenced` events of fences.
    pub(super) fn check_moved(
        &self,
        test: &mut TestContext,
        thread: ThreadId,
        moved: &fd_core::ActivitySnapshot,
        fenced: u64,
        when: &str,
    ) {
        let what = |counter: &str| format!("{when}: {counter} of thread {thread}");
        test.cost_eq(what("poll_io"), fenced, moved.poll_io, "L6, bug 9");
        test.check_eq(what("handler runs"), fenced, moved.fd_run, "S18");
        test.cost_eq(what("poll_skip"), 0, moved.poll_skip, "L5, bug 9");
        // A turn ends some time after its event's handler: one may be counted late at either end.
        let expected = format!("{} to {}", fenced - 1, fenced + 1);
        let holds = (fenced - 1..=fenced + 1).contains(&moved.loops);
        test.cost(what("loops"), expected, moved.loops, "bug 7, bug 9", holds);
    }
}

fn apply(fd: &fd_core::RegistrationRef<'_>, action: Action) -> Result<(), fd_core::error::Stale> {
    match action {
        Action::Start => fd.want_recv(),
        Action::Stop => fd.stop_recv(),
    }
}

fn mask(threads: &[ThreadId]) -> ThreadMask {
    threads.iter().fold(ThreadMask::NONE, |mask, thread| mask.or(thread.mask()))
}
