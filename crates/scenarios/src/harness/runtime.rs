//! A runtime under test, and the checks that every scenario ends with.

use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fd_core::hooks::inject;
use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::{
    ActivitySnapshot, Builder, Context, EntryInfo, FdCore, FdHandle, Handler, InsertOptions, ReadyGuard,
    Runtime,
};

use crate::descriptors;
use crate::gate::Gate;
use crate::persist;
use crate::still_clock::StillClock;
use crate::test_context::{Failure, TestContext, patience};
use crate::transport::{self, Far};

/// A running runtime on the backend under test, with the cell's threads and groups.
pub struct Harness {
    /// A scenario that went wrong leaves it running: stopping waits for the threads, and one of them may hang. Its
    /// process ends with it.
    runtime: ManuallyDrop<Runtime>,
    fences: Vec<Fence>,
    open_before: Vec<RawFd>,
    options: InsertOptions,
    /// Whether waits and changes may fail.
    expects_errors: bool,
    /// What the runtime takes for the time, if it is not the system's.
    clock: Option<StillClock>,
}

/// A pipe into one thread's poller.
struct Fence {
    thread: ThreadId,
    far: Far,
    passed: Arc<AtomicU64>,
}

impl Harness {
    /// Starts the runtime: the cell's threads, spread evenly over its groups, all asleep.
    ///
    /// # Errors
    /// [`Failure::Unsupported`] if the backend cannot be had here, [`Failure::Broken`] if anything else fails.
    pub fn start(test: &TestContext) -> Result<Self, Failure> {
        Self::start_with(test, |builder| builder, |_| Ok(()))
    }

    /// As [`Harness::start`], with a clock that stands still. Only while errors are injected it goes on as the scenario waits: what
    /// the system refused is tried again after a while.
    ///
    /// # Errors
    /// As for [`Harness::start`].
    pub(crate) fn start_by(test: &TestContext, clock: &StillClock) -> Result<Self, Failure> {
        let mut harness = Self::start_with(test, |builder| builder.clock(clock.given()), |_| Ok(()))?;
        harness.clock = Some(clock.clone());
        Ok(harness)
    }

    /// As [`Harness::start`], with more to configure, and with something to do before the threads start.
    ///
    /// # Errors
    /// As for [`Harness::start`], and those of `boot`.
    pub fn start_with(
        test: &TestContext,
        configure: impl Fn(Builder) -> Builder,
        boot: impl FnOnce(&Arc<FdCore>) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let open_before = descriptors::open();
        let (threads, groups) = (test.params.threads, test.params.groups);
        // What does not divide evenly goes to the first groups.
        let sizes = || (0..groups).map(|group| threads / groups + usize::from(group < threads % groups));
        let builder = || configure(sizes().fold(Runtime::builder(), Builder::group));
        let prepared = persist::prepare(builder, test.make).map_err(Failure::from_start)?;
        boot(prepared.core())?;
        let runtime = ManuallyDrop::new(prepared.start().map_err(Failure::from_start)?);
        let options = InsertOptions { trigger: test.trigger, ..InsertOptions::default() };
        let mut harness =
            Self { runtime, fences: Vec::new(), open_before, options, expects_errors: false, clock: None };
        let ids: Vec<_> = harness.core().threads().collect();
        for thread in ids {
            let fence = harness.make_fence(thread)?;
            harness.fences.push(fence);
        }
        Ok(harness)
    }

    /// The runtime alone, without what [`Harness::finish`] checks: for a forked child.
    pub(crate) fn into_runtime(self) -> Runtime {
        ManuallyDrop::into_inner(self.runtime)
    }

    /// The shared side.
    pub fn core(&self) -> &Arc<FdCore> {
        self.runtime.core()
    }

    /// The options that the cell's trigger asks for.
    pub fn options(&self) -> InsertOptions {
        self.options
    }

    /// Every thread, group by group.
    pub fn threads(&self) -> Vec<ThreadId> {
        self.core().threads().collect()
    }

    /// The thread at `index`, counted group by group and wrapping round.
    pub fn thread(&self, index: usize) -> ThreadId {
        let threads = self.threads();
        threads[index % threads.len()]
    }

    /// Waits and changes may fail in this trial: [`Harness::finish`] does not check that none has.
    pub fn expect_errors(&mut self) {
        self.expects_errors = true;
    }

    /// Registers `fd` for one thread, wanting nothing yet.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub fn insert(
        &self,
        fd: OwnedFd,
        handler: Arc<dyn Handler>,
        thread: ThreadId,
    ) -> Result<FdHandle, Failure> {
        self.insert_shared(fd, handler, thread, thread.mask())
    }

    /// Registers `fd` for several threads of `thread`'s group, wanting nothing yet.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub fn insert_shared(
        &self,
        fd: OwnedFd,
        handler: Arc<dyn Handler>,
        thread: ThreadId,
        mask: ThreadMask,
    ) -> Result<FdHandle, Failure> {
        self.core().insert(fd, handler, thread.group(), mask, self.options).map_err(Failure::broken)
    }

    /// Runs `action` on a worker thread and waits for its answer.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the thread does not get to it: it sleeps too deeply, spins, or is gone.
    pub fn on<R: Send + 'static>(
        &self,
        thread: ThreadId,
        action: impl FnOnce(&Context) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        let (answer, answered) = channel();
        let task = move |context: &Context| _ = answer.send(action(context));
        self.core().post(thread, task).map_err(|refused| Failure::Wrong(refused.to_string()))?;
        answered
            .recv_timeout(patience())
            .map_err(|_| Failure::Wrong(format!("thread {thread} did not run a task that was posted to it")))
    }

    /// Stops a thread between two turns of its loop until the gate is opened: what becomes ready meanwhile is
    /// harvested in one batch.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the thread does not get there.
    pub fn hold(&self, thread: ThreadId) -> Result<Gate, Failure> {
        let gate = Gate::new();
        let held = gate.clone();
        let task = move |_: &Context| held.pass();
        self.core().post(thread, task).map_err(|refused| Failure::Wrong(refused.to_string()))?;
        let there = gate.wait_for(1);
        there
            .then_some(gate)
            .ok_or_else(|| Failure::Wrong(format!("thread {thread} did not come to be held")))
    }

    /// Waits until `holds`, looking again and again.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with `what` if it never does.
    pub fn wait_until(&self, what: &str, mut holds: impl FnMut() -> bool) -> Result<(), Failure> {
        Self::wait(self.core(), what, || {
            self.let_time_pass();
            holds()
        })
    }

    fn let_time_pass(&self) {
        if let Some(clock) = self.clock.as_ref().filter(|_| inject::is_on()) {
            clock.advance(Duration::from_millis(1));
        }
    }

    /// [`Harness::wait_until`] while a script has the lab.
    pub(crate) fn wait(core: &FdCore, what: &str, mut holds: impl FnMut() -> bool) -> Result<(), Failure> {
        let end = Instant::now() + patience();
        while !holds() {
            if Instant::now() >= end {
                return Err(Failure::Wrong(format!("never happened: {what}\n{}", core.entries())));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// What the table says of a descriptor now.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if it is not registered any more.
    pub fn entry(&self, handle: FdHandle) -> Result<EntryInfo, Failure> {
        self.core().entry(handle).map_err(|stale| Failure::Wrong(stale.to_string()))
    }

    /// A thread's counters as they are now.
    pub fn activity(&self, thread: ThreadId) -> ActivitySnapshot {
        Self::activity_of(self.core(), thread)
    }

    /// [`Harness::activity`] while a script has the lab.
    pub(crate) fn activity_of(core: &FdCore, thread: ThreadId) -> ActivitySnapshot {
        let table = core.activity().0;
        table
            .into_iter()
            .find(|(id, _)| *id == thread)
            .map_or_else(ActivitySnapshot::default, |(_, counters)| counters)
    }

    /// Proves that a thread has dispatched whatever its poller had to report before this call, and that its poller holds
    /// what was wanted before this call: two later events on another descriptor went through the same poller. After the
    /// first, the batch that held it may still be going on; after the second, it is over. What the kernel refused has
    /// been applied again.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if they never come through.
    pub fn fence(&mut self, thread: ThreadId) -> Result<(), Failure> {
        let end = Instant::now() + patience();
        let refusals = |harness: &Self| {
            let counters = harness.activity(thread);
            (counters.poll_refused, counters.poll_retry)
        };
        loop {
            let (refused, retried) = refusals(self);
            for _ in 0..2 {
                self.pass(thread)?;
            }
            // Nothing was left to be applied again before the two events, and nothing has been refused since.
            if refused == retried && refusals(self) == (refused, retried) {
                return Ok(());
            }
            if Instant::now() >= end {
                let (refused, retried) = refusals(self);
                return Err(Failure::Wrong(format!(
                    "the kernel refuses changes of thread {thread}, again and again: {refused} in all, {retried} of them applied \
                     again"
                )));
            }
        }
    }

    /// Sends one event through a thread's poller.
    fn pass(&mut self, thread: ThreadId) -> Result<(), Failure> {
        let fence = self.fences.iter_mut().find(|fence| fence.thread == thread);
        let fence = fence.ok_or_else(|| Failure::Broken(format!("no thread {thread}")))?;
        let before = fence.passed.load(Ordering::SeqCst);
        fence.far.write_all(&[0]).map_err(Failure::broken)?;
        let passed = Arc::clone(&fence.passed);
        self.wait_until(&format!("the fence of thread {thread}"), || passed.load(Ordering::SeqCst) > before)
    }

    /// [`Harness::fence`] for every thread.
    ///
    /// # Errors
    /// As for [`Harness::fence`].
    pub fn fence_all(&mut self) -> Result<(), Failure> {
        self.threads().into_iter().try_for_each(|thread| self.fence(thread))
    }

    fn make_fence(&self, thread: ThreadId) -> Result<Fence, Failure> {
        let ends = transport::pair(metadata::Transport::Pipe).map_err(Failure::broken)?;
        let passed = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&passed);
        let handler = move |ready: &ReadyGuard<'_>| {
            let mut bytes = Vec::new();
            let _ = transport::read_all(ready, &mut bytes);
            count.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        };
        // Level-triggered whatever the cell's trigger is: the fence is not under test.
        let options = InsertOptions::default();
        let handle = self
            .core()
            .insert(ends.near, Arc::new(handler), thread.group(), thread.mask(), options)
            .map_err(Failure::broken)?;
        self.core().registration(handle).want_recv().map_err(Failure::broken)?;
        Ok(Fence { thread, far: ends.far, passed })
    }

    /// Ends the trial: stops the runtime and checks what every scenario promises. No thread died; every
    /// registration ended once, closed or handed back; no close hit a number that was not open; no wait and no change
    /// failed, unless that is expected; the process has the descriptors it had before. Whatever else the scenario opened
    /// must be gone, or listed in `kept`.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if a thread died.
    pub fn finish(self, test: &mut TestContext, kept: &[RawFd]) -> Result<(), Failure> {
        self.finish_by(test, kept, |_, runtime| {
            runtime.stop().map_err(|death| Failure::Wrong(death.to_string()))
        })
    }

    /// [`Harness::finish`] for a runtime that `stop` ends, in one way or another.
    ///
    /// # Errors
    /// Those of `stop`.
    pub(crate) fn finish_by(
        self,
        test: &mut TestContext,
        kept: &[RawFd],
        stop: impl FnOnce(&mut TestContext, Runtime) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { runtime, fences, open_before, expects_errors, .. } = self;
        let core = Arc::clone(runtime.core());
        test.note(format!("show activity\n{}", core.activity()));
        let ended = stop(test, ManuallyDrop::into_inner(runtime));
        // After the stop: the threads would see their fences end, over and over.
        drop(fences);
        // The wake descriptors go with the core. A thread of the scenario that has said all that it had to say may not
        // have let go of it yet, and nobody waits for the threads of a runtime that one of them has stopped.
        let end = Instant::now() + patience();
        while Arc::strong_count(&core) > 1 && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(200));
        }
        let lives = core.registration_counts();
        let used = core.table().used();
        for (name, value) in
            [("inserted", lives.inserted), ("closed", lives.closed), ("released", lives.released)]
        {
            test.count(name, value);
        }
        let activity = core.activity();
        drop(core);
        ended?;
        test.check_eq("registrations left after the stop", 0, used, "L8");
        test.check_eq("lives closed or handed back", lives.inserted, lives.closed + lives.released, "S4, L4");
        test.check_eq("closes of a number that was not open", 0, lives.close_errors, "S4");
        if !expects_errors && !inject::is_on() {
            let sum =
                |of: fn(&ActivitySnapshot) -> u64| activity.0.iter().map(|(_, counters)| of(counters)).sum();
            test.check_eq("waits that failed", 0, sum(|counters| counters.poll_error), "L10");
            test.check_eq("changes that the kernel refused", 0, sum(|counters| counters.poll_refused), "L1");
        }
        let mut open_after = descriptors::open();
        open_after.retain(|fd| !kept.contains(fd));
        test.check_eq(
            "open descriptors, before and after",
            format!("{open_before:?}"),
            format!("{open_after:?}"),
            "S4, S5",
        );
        Ok(())
    }
}
