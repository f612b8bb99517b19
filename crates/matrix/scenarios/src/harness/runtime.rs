//! A runtime under test, and the checks at the end of every scenario.

use std::io::{ErrorKind, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fd_core::hooks::inject;
use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::{
    ActivitySnapshot, Builder, Context, EntryInfo, FdCore, FdHandle, Handler, InsertOptions, ReadyGuard,
    RegistrationRef, Runtime,
};
use metadata::Act;

use crate::descriptors;
use crate::failure::{Failure, Result};
use crate::gate::Gate;
use crate::manual_clock::ManualClock;
use crate::patience::{patience, wait_until};
use crate::recorder::Recorder;
use crate::retry;
use crate::test_context::TestContext;
use crate::timeline;
use crate::transport::{self, FarEnd};

/// A running runtime on the backend under test, with the cell's threads and groups.
pub struct Harness {
    /// A scenario that fails leaves it running: a stop waits for the threads, and one of them may hang. The
    /// process of the cell ends anyway.
    runtime: ManuallyDrop<Runtime>,
    fences: Vec<Fence>,
    open_before: Vec<RawFd>,
    options: InsertOptions,
    /// Whether waits and changes may fail.
    expects_errors: bool,
    /// The clock of the runtime, if it is not the system's.
    clock: Option<ManualClock>,
}

fn arrival(bytes: &[u8], near: RawFd) -> String {
    format!("'{}' arrives at {near}", String::from_utf8_lossy(bytes))
}

/// A pipe into one thread's poller.
struct Fence {
    thread: ThreadId,
    /// Registered by the first use: a registration wakes the thread.
    near: Option<OwnedFd>,
    far: FarEnd,
    passed: Arc<AtomicU64>,
}

impl Fence {
    /// Opens the pipe. The numbers of a scenario's own descriptors do not depend on its first use.
    fn new(thread: ThreadId) -> Result<Self> {
        let ends = transport::pair(metadata::Transport::Pipe)?;
        timeline::ignore(ends.far.number());
        Ok(Self { thread, near: Some(ends.near), far: ends.far, passed: Arc::default() })
    }

    fn register(&mut self, core: &FdCore) -> Result {
        let Some(near) = self.near.take() else { return Ok(()) };
        let passed = Arc::clone(&self.passed);
        let handler = move |ready: &ReadyGuard<'_>| {
            let mut bytes = Vec::new();
            let _ = transport::read_all(ready, &mut bytes);
            passed.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        };
        // Level-triggered in every cell: the fence is not under test.
        let (group, mask, options) = (self.thread.group(), self.thread.mask(), InsertOptions::default());
        timeline::ignore(near.as_raw_fd());
        let handle = core.insert(near, handler, group, mask, options)?;
        core.registration(handle).want_recv().map_err(Failure::broken)
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        timeline::heed(self.far.number());
    }
}

impl Harness {
    /// Starts the runtime: the cell's threads, spread evenly over its groups. They go to sleep by themselves,
    /// and nothing that the harness does wakes them before the first task or fence.
    ///
    /// # Errors
    /// [`Failure::Unsupported`] if this system does not have the backend, [`Failure::Broken`] if anything
    /// else fails.
    pub fn start(test: &TestContext) -> Result<Self> {
        Self::start_with(test, |builder| builder, |_| Ok(()))
    }

    /// As [`Harness::start`], with a clock that only the scenario advances. While errors are injected, the
    /// clock also advances as the scenario waits: the core retries after a while what the system has refused.
    pub(crate) fn start_with_clock(test: &TestContext, clock: &ManualClock) -> Result<Self> {
        let mut harness = Self::start_with(test, |builder| builder.clock(clock.source()), |_| Ok(()))?;
        harness.clock = Some(clock.clone());
        Ok(harness)
    }

    /// As [`Harness::start`]; `configure` extends the configuration, and `boot` runs before the threads
    /// start.
    ///
    /// # Errors
    /// As for [`Harness::start`], and those of `boot`.
    pub fn start_with(
        test: &TestContext,
        configure: impl Fn(Builder) -> Builder,
        boot: impl FnOnce(&Arc<FdCore>) -> Result,
    ) -> Result<Self> {
        let open_before = descriptors::open();
        let (threads, groups) = (test.params.threads, test.params.groups);
        // The first groups get the remainder.
        let sizes = || (0..groups).map(|group| threads / groups + usize::from(group < threads % groups));
        let builder = || configure(sizes().fold(Runtime::builder(), Builder::group));
        let prepared = retry::prepare(builder, test.make).map_err(Failure::from_start)?;
        boot(prepared.core())?;
        let runtime = ManuallyDrop::new(prepared.start().map_err(Failure::from_start)?);
        let options = InsertOptions { trigger: test.trigger, ..InsertOptions::default() };
        let fences = runtime.core().threads().map(Fence::new).collect::<Result<_, _>>()?;
        Ok(Self { runtime, fences, open_before, options, expects_errors: false, clock: None })
    }

    /// Returns the runtime without the checks of [`Harness::finish`]: for a forked child.
    pub(crate) fn into_runtime(self) -> Runtime {
        ManuallyDrop::into_inner(self.runtime)
    }

    /// Returns the core of the runtime.
    pub fn core(&self) -> &Arc<FdCore> {
        self.runtime.core()
    }

    /// Returns the insert options with the cell's trigger.
    pub fn options(&self) -> InsertOptions {
        self.options
    }

    /// Returns every thread, group by group.
    pub fn threads(&self) -> Vec<ThreadId> {
        self.core().threads().collect()
    }

    /// Returns the thread at `index`, counted group by group and modulo the number of threads.
    pub fn thread(&self, index: usize) -> ThreadId {
        let threads = self.threads();
        threads[index % threads.len()]
    }

    /// Lets waits and changes fail in this run: [`Harness::finish`] does not check them.
    pub fn expect_errors(&mut self) {
        self.expects_errors = true;
    }

    /// Registers `fd` for one thread, without interest.
    pub fn insert(&self, fd: OwnedFd, handler: Arc<dyn Handler>, thread: ThreadId) -> Result<FdHandle> {
        self.insert_shared(fd, handler, thread, thread.mask())
    }

    /// Registers `fd` for several threads of `thread`'s group, without interest.
    pub fn insert_shared(
        &self,
        fd: OwnedFd,
        handler: Arc<dyn Handler>,
        thread: ThreadId,
        mask: ThreadMask,
    ) -> Result<FdHandle> {
        self.core().insert(fd, handler, thread.group(), mask, self.options).map_err(Failure::broken)
    }

    /// As [`Harness::insert`], with read interest.
    pub fn insert_recv(&self, fd: OwnedFd, handler: Arc<dyn Handler>, thread: ThreadId) -> Result<FdHandle> {
        self.insert_shared_recv(fd, handler, thread, thread.mask())
    }

    /// As [`Harness::insert_shared`], with read interest.
    pub fn insert_shared_recv(
        &self,
        fd: OwnedFd,
        handler: Arc<dyn Handler>,
        thread: ThreadId,
        mask: ThreadMask,
    ) -> Result<FdHandle> {
        let handle = self.insert_shared(fd, handler, thread, mask)?;
        self.registration(handle).want_recv()?;
        Ok(handle)
    }

    /// Returns the calls on a registration, made by a thread of no group.
    pub fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        self.core().registration(handle)
    }

    /// Returns how many descriptors the core has closed.
    pub fn closed(&self) -> u64 {
        self.core().registration_counts().closed
    }

    /// Runs `action` on a worker thread and waits for its result.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the thread does not run it: the thread was not woken, spins, or has ended.
    pub fn on<R: Send + 'static>(
        &self,
        thread: ThreadId,
        action: impl FnOnce(&Context) -> R + Send + 'static,
    ) -> Result<R> {
        let (sender, receiver) = channel();
        let task = move |context: &Context| _ = sender.send(action(context));
        self.core().post(thread, task).map_err(|refused| Failure::Wrong(refused.to_string()))?;
        receiver
            .recv_timeout(patience())
            .map_err(|_| Failure::Wrong(format!("thread {thread} did not run a task that was posted to it")))
    }

    /// Calls `call` on a registration: on a worker thread, or on the scenario's own.
    pub(crate) fn call_on<R: Send + 'static>(
        &self,
        thread: Option<ThreadId>,
        handle: FdHandle,
        call: impl FnOnce(&RegistrationRef<'_>) -> R + Send + 'static,
    ) -> Result<R> {
        match thread {
            Some(thread) => self.on(thread, move |context| call(&context.registration(handle))),
            None => Ok(call(&self.registration(handle))),
        }
    }

    /// Holds a thread between two iterations of its loop until the gate is opened. Everything that becomes
    /// ready meanwhile arrives in one batch.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the thread does not reach the gate.
    pub fn hold(&self, thread: ThreadId) -> Result<Gate> {
        let gate = Gate::new();
        let held = gate.clone();
        let task = move |_: &Context| held.pass();
        self.core().post(thread, task).map_err(|refused| Failure::Wrong(refused.to_string()))?;
        let arrived = gate.wait_for(1);
        arrived
            .then_some(gate)
            .ok_or_else(|| Failure::Wrong(format!("thread {thread} did not reach the gate of its task")))
    }

    /// Waits until `holds` returns true; calls it repeatedly.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with `what` if it never returns true.
    pub fn wait_until(&self, what: &str, mut holds: impl FnMut() -> bool) -> Result {
        Self::wait_with_core(self.core(), what, || {
            self.advance_clock_under_injected_errors();
            holds()
        })
    }

    fn advance_clock_under_injected_errors(&self) {
        if let Some(clock) = self.clock.as_ref().filter(|_| inject::is_on()) {
            clock.advance(Duration::from_millis(1));
        }
    }

    /// As [`Harness::wait_until`], for callers that have the core but not the harness.
    pub(crate) fn wait_with_core(core: &FdCore, what: &str, holds: impl FnMut() -> bool) -> Result {
        let never = || Failure::Wrong(format!("never happened: {what}\n{}", core.entries()));
        wait_until(holds).then_some(()).ok_or_else(never)
    }

    /// Returns the current table entry of a registration.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the registration has ended.
    pub fn entry(&self, handle: FdHandle) -> Result<EntryInfo> {
        self.core().entry(handle).map_err(|stale| Failure::Wrong(stale.to_string()))
    }

    /// Returns whether the pollers of the threads of `mask`, and no others, have the descriptor for
    /// receiving, and no update is pending. The masks are what the core believes; epoll must say the same.
    ///
    /// With poll and select, one thread writes the masks for all: only [`Harness::reported_by_each`] shows
    /// that the others know it.
    pub(crate) fn is_polled(&self, handle: FdHandle, mask: ThreadMask) -> bool {
        let is_noted = |entry: EntryInfo| entry.polled_recv == mask && entry.update_mask.is_empty();
        self.core().entry(handle).is_ok_and(is_noted)
            && descriptors::epolls_with(handle.number()).is_none_or(|count| count == mask.len())
    }

    /// Waits until the descriptor [is polled](Harness::is_polled) by the threads of `mask`. It wakes no
    /// thread: a fence would wake one that the core has forgotten.
    pub(crate) fn wait_until_polled(&self, handle: FdHandle, mask: ThreadMask) -> Result {
        let what = format!("{mask:?} poll number {}, and nothing but the core wakes them", handle.number());
        self.wait_until(&what, || self.is_polled(handle, mask))
    }

    /// As [`Harness::wait_until_polled`], for one thread: the pollers of former owners may still have the
    /// descriptor.
    pub(crate) fn wait_until_polled_by(&self, handle: FdHandle, thread: ThreadId) -> Result {
        let what = format!("{thread} polls number {}, and nothing but the core wakes it", handle.number());
        self.wait_until(&what, || {
            self.core().entry(handle).is_ok_and(|entry| entry.polled_recv.contains(thread.mask()))
        })
    }

    /// Waits until no thread uses the descriptor: no running bit and no reference is left. It wakes no
    /// thread.
    pub(crate) fn wait_until_unused(&self, handle: FdHandle) -> Result {
        let is_unused = |entry: EntryInfo| entry.running.is_empty() && entry.references == 0;
        let what = format!("no thread uses number {}", handle.number());
        self.wait_until(&what, || self.core().entry(handle).is_ok_and(is_unused))
    }

    /// Sends `bytes`, and waits until each thread of `mask` has reported them, as `recorder` is the handler.
    /// Nothing reads them before, and nothing but the core and its pollers wakes a thread.
    pub(crate) fn reported_by_each(
        &self,
        mask: ThreadMask,
        recorder: &Recorder,
        far: &mut FarEnd,
        bytes: &[u8],
    ) -> Result {
        let (gate, held) = recorder.hold_all();
        far.write_all(bytes)?;
        let what = format!("each of {mask:?} reports '{}' by itself", String::from_utf8_lossy(bytes));
        self.wait_until(&what, || gate.arrived() >= mask.len())?;
        drop(held);
        self.wait_until("they are read", || recorder.bytes().ends_with(bytes))
    }

    /// Returns the current counters of a thread.
    pub fn activity(&self, thread: ThreadId) -> ActivitySnapshot {
        Self::activity_of(self.core(), thread)
    }

    /// As [`Harness::activity`], for callers that have the core but not the harness.
    pub(crate) fn activity_of(core: &FdCore, thread: ThreadId) -> ActivitySnapshot {
        let table = core.activity().0;
        table
            .into_iter()
            .find(|(id, _)| *id == thread)
            .map_or_else(ActivitySnapshot::default, |(_, counters)| counters)
    }

    /// Proves that a thread has dispatched everything that its poller had to report before this call: two
    /// later events on another descriptor have passed through the same poller. After the first event, its
    /// batch may still be in dispatch; after the second, it is complete. All changes that the kernel refused
    /// have been applied again.
    ///
    /// The events wake the thread, which then runs its tasks and timers, applies every pending update and
    /// builds its arrays. So afterwards its poller is up to date, whether or not the core has woken it: what
    /// must come by itself is waited for before.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the events do not arrive.
    pub fn fence(&mut self, thread: ThreadId) -> Result {
        timeline::to(Act::Fence, thread);
        let end = Instant::now() + patience();
        let refusals = |harness: &Self| {
            let counters = harness.activity(thread);
            (counters.poll_refused, counters.poll_retry)
        };
        loop {
            let (refused, retried) = refusals(self);
            for _ in 0..2 {
                self.send_fence_event(thread)?;
            }
            // No refused change was pending before the two events, and none has been refused since.
            if refused == retried && refusals(self) == (refused, retried) {
                return Ok(());
            }
            if Instant::now() >= end {
                let (refused, retried) = refusals(self);
                return Err(Failure::Wrong(format!(
                    "the kernel keeps refusing changes of thread {thread}: {refused} refused, {retried} of them applied again"
                )));
            }
        }
    }

    /// Sends one event through a thread's poller.
    fn send_fence_event(&mut self, thread: ThreadId) -> Result {
        let fence = self.fences.iter_mut().find(|fence| fence.thread == thread);
        let fence = fence.ok_or_else(|| Failure::Broken(format!("no thread {thread}")))?;
        fence.register(self.runtime.core())?;
        let before = fence.passed.load(Ordering::SeqCst);
        fence.far.write_all(&[0])?;
        let passed = Arc::clone(&fence.passed);
        self.wait_until(&format!("the fence of thread {thread}"), || passed.load(Ordering::SeqCst) > before)
    }

    /// Calls [`Harness::fence`] for every thread.
    pub fn fence_all(&mut self) -> Result {
        self.threads().into_iter().try_for_each(|thread| self.fence(thread))
    }

    /// Sends `bytes` from `far`, and waits until they have arrived at the descriptor `near`, which nothing
    /// reads meanwhile. Then a fence proves that its pollers have had the chance to report them.
    ///
    /// A write alone proves nothing: a system may deliver it after the event of the fence, which comes over
    /// another descriptor. Every scenario that fences after it has sent uses this method,
    /// [`Harness::send_while_read`] or [`Harness::send_unseen`] (`tests/documents/arrival.rs`).
    ///
    /// # Errors
    /// [`Failure::Broken`] if the write fails, [`Failure::Wrong`] if the bytes do not arrive.
    pub(crate) fn send(&self, far: &mut FarEnd, near: RawFd, bytes: &[u8]) -> Result {
        let expected = transport::unread(near) + bytes.len();
        far.write_all(bytes)?;
        self.wait_until(&arrival(bytes, near), || transport::unread(near) >= expected)
    }

    /// As [`Harness::send`], for a descriptor from which handlers may read meanwhile. `read` returns how many
    /// bytes of this far end they have read so far, since its creation.
    pub(crate) fn send_while_read(
        &self,
        far: &mut FarEnd,
        near: RawFd,
        bytes: &[u8],
        read: impl Fn() -> usize,
    ) -> Result {
        far.write_all(bytes)?;
        // In this order: a byte that is read between the two is not counted, and then the next look counts
        // it.
        self.wait_until(&arrival(bytes, near), || read() + transport::unread(near) >= far.sent())
    }

    /// As [`Harness::send`], to a descriptor that this process cannot look into: a copy in another process,
    /// or in a message, or no descriptor at all, because it is closed.
    ///
    /// # Errors
    /// As for [`Harness::send`]. It is no error if the other end is closed.
    pub(crate) fn send_unseen(&self, far: &mut FarEnd, bytes: &[u8]) -> Result {
        match far.write_all(bytes) {
            Err(error) if !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                return Err(Failure::broken(error));
            }
            _ => {}
        }
        self.wait_until("the sent bytes are acknowledged", || far.is_acknowledged())
    }

    /// Stops the runtime and makes the checks of every scenario:
    ///
    /// - no thread failed;
    /// - every registration ended once, closed or disowned;
    /// - no close hit a number that was not open;
    /// - no wait and no change failed, unless errors are expected;
    /// - the process has the descriptors that it had before. The scenario has closed what it opened, or lists
    ///   it in `kept`.
    pub fn finish(self, test: &mut TestContext, kept: &[RawFd]) -> Result {
        self.finish_with(test, kept, |_, runtime| {
            runtime.stop().map_err(|error| Failure::Wrong(error.to_string()))
        })
    }

    /// As [`Harness::finish`], with the caller's own way to `stop` the runtime.
    pub(crate) fn finish_with(
        self,
        test: &mut TestContext,
        kept: &[RawFd],
        stop: impl FnOnce(&mut TestContext, Runtime) -> Result,
    ) -> Result {
        let Self { runtime, fences, open_before, expects_errors, .. } = self;
        let core = Arc::clone(runtime.core());
        test.note(format!("show activity\n{}", core.activity()));
        let ended = stop(test, ManuallyDrop::into_inner(runtime));
        // After the stop: running threads would report the ends of their fences again and again.
        drop(fences);
        // The wake descriptors are closed with the core. A thread of the scenario may still hold a reference
        // after its last message, and if a worker thread has stopped the runtime, no thread waits for the
        // workers.
        wait_until(|| Arc::strong_count(&core) == 1);
        let registrations = core.registration_counts();
        let used = core.table().used();
        for (name, value) in [
            ("inserted", registrations.inserted),
            ("closed", registrations.closed),
            ("released", registrations.released),
        ] {
            test.record_counter(name, value);
        }
        let activity = core.activity();
        drop(core);
        ended?;
        test.check_eq("registrations left after the stop", 0, used, "L8");
        let what = "registrations closed or disowned";
        test.check_eq(what, registrations.inserted, registrations.closed + registrations.released, "S4, L4");
        test.check_eq("closes of a number that was not open", 0, registrations.close_errors, "S4");
        if !expects_errors && !inject::is_on() {
            let sum =
                |of: fn(&ActivitySnapshot) -> u64| activity.0.iter().map(|(_, counters)| of(counters)).sum();
            test.check_eq("waits that failed", 0, sum(|counters| counters.poll_error), "L10");
            test.check_eq("changes that the kernel refused", 0, sum(|counters| counters.poll_refused), "L1");
        }
        let mut open_after = descriptors::open();
        open_after.retain(|fd| !kept.contains(fd));
        test.check_debug("open descriptors, before and after", open_before, open_after, "S4, S5");
        Ok(())
    }
}
