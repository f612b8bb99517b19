//! The fixture of most scenarios of this family: a running harness, a listener that some threads of the first
//! group share, and checks that a thread is quiet.

use fd_core::EntryInfo;
use fd_core::ids::ThreadMask;
use tempfile::TempDir;

use crate::prelude::*;
use crate::transport::{Address, Listener};

/// A harness with a listener.
pub(super) struct ListenerFixture {
    pub(super) harness: Harness,
    pub(super) handle: FdHandle,
    pub(super) address: Address,
    /// The threads that share it, in the order of their numbers.
    pub(super) sharers: Vec<ThreadId>,
    /// All other threads.
    pub(super) other_threads: Vec<ThreadId>,
    // Holds the socket file; dropped last.
    _directory: TempDir,
}

/// The thread that calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Caller {
    /// A worker thread, in a task.
    Worker(ThreadId),
    /// The scenario's own thread, outside the runtime.
    Outside,
}

impl Caller {
    /// Returns the worker thread, if it is one.
    pub(super) fn thread(self) -> Option<ThreadId> {
        match self {
            Self::Worker(thread) => Some(thread),
            Self::Outside => None,
        }
    }
}

/// The operation on the listener.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Start,
    Stop,
}

impl ListenerFixture {
    /// Creates a listener that the first group's threads share, except the last of them if there are three or
    /// more: then the group has a thread outside the mask. The interest is not enabled yet.
    pub(super) fn shared(test: &TestContext, handler: Arc<dyn Handler>) -> Result<Self> {
        let harness = Harness::start(test)?;
        let threads = harness.threads();
        let first = harness.thread(0).group();
        let in_group = threads.iter().filter(|thread| thread.group() == first).count();
        let count = if in_group >= 3 { in_group - 1 } else { in_group };
        Self::with(test, harness, handler, |thread| thread.group() == first && thread.index() < count)
    }

    /// Creates a listener that all threads of the first group share. The interest is not enabled yet.
    pub(super) fn of_first_group(
        test: &TestContext,
        harness: Harness,
        handler: Arc<dyn Handler>,
    ) -> Result<Self> {
        let group = harness.thread(0).group();
        Self::with(test, harness, handler, |thread| thread.group() == group)
    }

    /// Creates a listener for the threads, all of one group, that `shares` accepts. The interest is not
    /// enabled yet.
    pub(super) fn with(
        test: &TestContext,
        harness: Harness,
        handler: Arc<dyn Handler>,
        shares: impl Fn(ThreadId) -> bool,
    ) -> Result<Self> {
        let directory = TempDir::new()?;
        let listener = Listener::new(test.params.transport, directory.path())?;
        let (sharers, other_threads): (Vec<_>, Vec<_>) =
            harness.threads().into_iter().partition(|thread| shares(*thread));
        let first =
            *sharers.first().ok_or_else(|| Failure::Broken("no thread shares the listener".into()))?;
        let handle = harness.insert_shared(listener.fd, handler, first, mask(&sharers))?;
        Ok(Self { harness, handle, address: listener.address, sharers, other_threads, _directory: directory })
    }

    /// Returns the mask of the sharing threads.
    pub(super) fn mask(&self) -> ThreadMask {
        mask(&self.sharers)
    }

    /// Returns one caller of each kind that this cell has: two of the sharing threads, another thread of
    /// their group, a thread of another group, and the scenario's own thread.
    pub(super) fn callers(&self) -> Vec<Caller> {
        let group = self.sharers[0].group();
        let neighbour = self.other_threads.iter().find(|thread| thread.group() == group);
        let foreigner = self.other_threads.iter().find(|thread| thread.group() != group);
        let workers = self.sharers.iter().take(2).chain(neighbour).chain(foreigner);
        workers.copied().map(Caller::Worker).chain([Caller::Outside]).collect()
    }

    /// Starts or stops the listener as `caller`.
    pub(super) fn call(&self, caller: Caller, action: Action) -> Result {
        self.call_of(self.handle, caller, action)
    }

    /// As [`ListenerFixture::call`], on another registration.
    pub(super) fn call_of(&self, handle: FdHandle, caller: Caller, action: Action) -> Result {
        let answer = self.harness.call_on(caller.thread(), handle, move |fd| match action {
            Action::Start => fd.want_recv(),
            Action::Stop => fd.stop_recv(),
        })?;
        answer.map_err(|stale| Failure::Wrong(format!("{action:?} by {caller:?}: {stale}")))
    }

    /// Connects a client to the listener, from which no thread accepts now, and waits until the connection
    /// has arrived there: a client's `connect` may return before.
    pub(super) fn connect_to_stopped(&self) -> Result<FarEnd> {
        let client = self.address.connect()?;
        let number = self.handle.number();
        self.harness.wait_until("the connection arrives", || descriptors::readable(number))?;
        Ok(client)
    }

    /// Returns the listener's entry.
    pub(super) fn entry(&self) -> Result<EntryInfo> {
        self.harness.core().entry(self.handle).map_err(|stale| Failure::Wrong(stale.to_string()))
    }

    /// Waits until no poller of the group has the stopped listener. A connection must be waiting: each poller
    /// reports it once more, and then removes the listener (L6).
    pub(super) fn wait_until_dropped(&self, when: &str) -> Result {
        let label = format!("{when}, every poller reports the stopped listener and removes it");
        self.harness.wait_until(&label, || self.entry().is_ok_and(|entry| entry.polled_recv.is_empty()))
    }

    /// Waits until every sharing thread has reported a waiting client by itself, and is held at `gate`. With
    /// poll and select, no mask shows which threads know the listener.
    pub(super) fn wait_until_each_reports(&self, gate: &Gate, when: &str) -> Result {
        let label = format!("{when}, every sharing thread reports the waiting client");
        self.harness.wait_until(&label, || gate.arrived() >= self.sharers.len())
    }

    /// Waits until every thread sleeps and the pollers of the sharing threads have the listener. Wakes no
    /// thread.
    pub(super) fn wait_until_polled(&self, sleepers: &Sleepers, when: &str) -> Result {
        let label = format!("{when}, every sharing thread polls the listener, and sleeps");
        sleepers.wait_until(&self.harness, &label, || self.harness.is_polled(self.handle, self.mask()))
    }

    /// Waits until the pollers of the sharing threads have the listener for receiving, and no update is
    /// pending. Then checks it once more after a fence of all threads.
    ///
    /// It looks before it fences: a fence wakes a thread that the core may have forgotten.
    pub(super) fn check_converged(&mut self, test: &mut TestContext, when: &str) -> Result {
        let label = format!("{when}, every sharing thread polls the listener without being woken for it");
        self.harness.wait_until(&label, || self.harness.is_polled(self.handle, self.mask()))?;
        self.harness.fence_all()?;
        let entry = self.entry()?;
        let what = format!("{when}: pollers that have it");
        test.check_eq(what, self.mask().bits(), entry.polled_recv.bits(), "S11, bug 20");
        let what = format!("{when}: pollers that have it for sending");
        test.check_eq(what, 0, entry.polled_send.bits(), "S11");
        test.check_eq(format!("{when}: pending updates"), 0, entry.update_mask.bits(), "L3");
        Ok(())
    }

    /// Checks that the pollers of `threads` report fences and nothing else: each of their events is one wait
    /// that returns, one handler call, one iteration. All earlier work must have ended.
    pub(super) fn check_quiet(&mut self, test: &mut TestContext, threads: &[ThreadId], when: &str) -> Result {
        const ROUNDS: u64 = 3;
        // Events that are already under way, such as a wake-up for a task.
        threads.iter().try_for_each(|thread| self.harness.fence(*thread))?;
        let before: Vec<_> = threads.iter().map(|thread| self.harness.activity(*thread)).collect();
        for _ in 0..ROUNDS {
            threads.iter().try_for_each(|thread| self.harness.fence(*thread))?;
        }
        for (thread, before) in threads.iter().zip(before) {
            let activity = self.harness.activity(*thread).since(&before);
            self.check_activity(test, *thread, &activity, 2 * ROUNDS, when);
        }
        Ok(())
    }

    /// Checks that the activity of a thread was `fenced` events of fences and nothing else.
    pub(super) fn check_activity(
        &self,
        test: &mut TestContext,
        thread: ThreadId,
        activity: &fd_core::ActivitySnapshot,
        fenced: u64,
        when: &str,
    ) {
        let label = |counter: &str| format!("{when}: {counter} of thread {thread}");
        test.check_cost_eq(label("poll_io"), fenced, activity.poll_io, "L6, bug 9");
        test.check_eq(label("handler runs"), fenced, activity.fd_run, "S18");
        test.check_cost_eq(label("poll_skip"), 0, activity.poll_skip, "L5, bug 9");
        // An iteration ends some time after its event's handler: one may be counted late at either end.
        let expected = format!("{} to {}", fenced - 1, fenced + 1);
        let holds = (fenced - 1..=fenced + 1).contains(&activity.loops);
        test.check_cost(label("loops"), expected, activity.loops, "bug 7, bug 9", holds);
    }
}

fn mask(threads: &[ThreadId]) -> ThreadMask {
    threads.iter().fold(ThreadMask::NONE, |mask, thread| mask.or(thread.mask()))
}
