//! The loop of a worker thread. An iteration runs tasks and timers, applies pending updates, waits once in
//! the poller, and dispatches the events of that batch.

mod apply;
mod mistakes;
mod refused;
pub(crate) mod signals;
pub(crate) mod stale;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollTimeout, poll};

use crate::entry::guarded::Guarded;
use crate::hooks::trace::Stopwatch;
use crate::poller::{BATCH, Capabilities, Poller};
use crate::shared::context::{Context, Reported};
use crate::shared::task_queue::Task;
use crate::table::{Pin, Update};
use crate::words::events::{Event, Interest};
use crate::words::sync::Ordering;
use crate::worker::refused::{RETRY, Refused};
use crate::worker::signals::Signals;
use crate::worker::stale::{StaleRegistrations, has_children};

/// The number of changes that may be queued, with their entries pinned, before they are submitted.
const QUEUE: usize = 64;

/// The pause of a thread whose next wait would return at once and without progress.
const PAUSE: Duration = Duration::from_millis(1);

/// The greatest number of tasks that one iteration runs. Between two looks at the poller, other work must not
/// grow with the number of tasks that wait.
const TASKS: usize = 64;

/// The number of consecutive waits that may fail with an error that means that the poller is lost.
const LOST: u32 = 100;

/// A thread's loop, with its own poller.
pub(crate) struct Worker<'c> {
    context: &'c Context,
    poller: Box<dyn Poller>,
    signals: Option<Arc<Signals>>,
    /// The poller's interest lives in the kernel. Otherwise the threads of a group share it in memory.
    kernel_state: bool,
    /// The kernel may report a registration after its descriptor is closed.
    has_stale: bool,
    batch: Vec<Event>,
    updates: Vec<Update>,
    tasks: VecDeque<Task>,
    /// The entries with queued changes, and the wanted interest of each. They are pinned, so that a queued
    /// change cannot reach another open file (protocol 12.6).
    queued: Vec<(Pin<'c>, Interest)>,
    stale: StaleRegistrations,
    /// The events of the last batch whose registrations had ended.
    stale_events: Vec<Event>,
    refused: Refused,
    /// The time of the next attempt to replace a poller that could not be replaced.
    rebuild_at: Option<Instant>,
    /// The process is a forked child, and the poller is still its parent's.
    inherited: bool,
    /// The number of consecutive waits that have failed.
    failed_waits: u32,
    /// Started after the last wait.
    since_wait: Stopwatch,
}

impl<'c> Worker<'c> {
    pub(crate) fn new(context: &'c Context, poller: Box<dyn Poller>, signals: Option<Arc<Signals>>) -> Self {
        let Capabilities { kernel_state, close_forgets, .. } = context.core().capabilities();
        fault!(KqueueClosingIsStale: close_forgets => false);
        Self {
            context,
            poller,
            signals,
            kernel_state,
            has_stale: kernel_state && !close_forgets,
            batch: Vec::with_capacity(BATCH),
            updates: Vec::with_capacity(BATCH),
            tasks: VecDeque::new(),
            queued: Vec::with_capacity(QUEUE),
            stale: StaleRegistrations::default(),
            stale_events: Vec::new(),
            refused: Refused::default(),
            rebuild_at: None,
            inherited: false,
            failed_waits: 0,
            since_wait: Stopwatch::of_iteration(),
        }
    }

    /// Runs iterations until the core stops.
    ///
    /// # Errors
    /// The error that made the poller unusable.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        while !self.context.core().is_stopping() {
            self.iterate()?;
        }
        Ok(())
    }

    /// Ends the worker. Drops the tasks that it has taken and not run, and keeps their panics.
    pub(crate) fn end(self) -> Guarded {
        let mut guarded = Guarded::default();
        self.tasks.into_iter().for_each(|task| guarded.run(|| drop(task)));
        guarded
    }

    /// Runs one iteration of the loop, with one wait (protocol 15.1).
    ///
    /// The order makes sure that no wake-up is lost (L2): the thread announces its sleep first, then looks
    /// for work and applies updates, then waits. A thread that publishes work after the announcement wakes
    /// it.
    ///
    /// After a wait, the processor has to fetch most of the code again. So what an iteration rarely does is
    /// in functions that are not inlined, and the rest is a straight line.
    ///
    /// # Errors
    /// The error that made the poller unusable.
    pub(crate) fn iterate(&mut self) -> io::Result<()> {
        let context = self.context;
        let shared = context.shared();
        context.activity().loops.bump();
        fault!(StaleClock => mistakes::note_time(context.now()));
        if self.has_signals() || self.has_tasks() {
            self.run_tasks();
        }
        context.run_timers();
        // A handler that is told of a refusal may fork: before the look at that.
        self.refused.retry(context);
        if (self.inherited || context.is_forked()) && !self.continue_forked() {
            return Ok(());
        }

        checkpoint!(WorkDone);
        unless!(LookBeforeAnnounce => shared.sleep.announce());
        checkpoint!(SleepAnnounced);
        let busy = self.has_work();
        fault!(LookBeforeAnnounce => shared.sleep.announce());
        self.apply_updates();
        invariant!(!context.has_updates(), "L1: {:?} sleeps with an update that it must apply", context.id());
        let timeout = if busy { Some(Duration::ZERO) } else { self.timeout() };
        fault!(SleepingClearedEarly => shared.sleep.end());
        checkpoint!(BeforeWait);
        self.since_wait.waits(context.id());
        let waited = self.poller.wait(context.core().table(), timeout, &mut self.batch);
        shared.sleep.end();
        self.since_wait = Stopwatch::of_iteration();
        if !self.kernel_state && self.poller.is_degraded() {
            context.activity().poll_degraded.bump();
        }
        match waited {
            Ok(()) => self.failed_waits = 0,
            Err(error) => self.continue_failed(error)?,
        }
        checkpoint!(AfterWait);
        self.dispatch();
        if !self.stale_events.is_empty() {
            self.end_stale();
        }
        self.batch.clear();
        Ok(())
    }

    /// Whether a signal is pending.
    #[inline]
    fn has_signals(&self) -> bool {
        // Pairs: signals, sleep.
        self.signals.is_some() && self.context.shared().signals.load(Ordering::Acquire) != 0
    }

    /// Whether a task is in the queue, or was taken from it and has not run.
    #[inline]
    fn has_tasks(&self) -> bool {
        // Both are read, which is cheaper than to predict whether the second is needed.
        !self.tasks.is_empty() | !self.context.shared().tasks.is_empty()
    }

    /// Whether a task, a signal or a stop is pending. The sleep is announced already.
    #[inline]
    fn has_work(&self) -> bool {
        fault!(NoLookBeforeSleep => return false);
        let tasks = self.has_tasks();
        fault!(WorkIsEverybodys: tasks => tasks || mistakes::some_thread_has_work(self.context.core()));
        let signals = self.has_signals();
        if tasks || signals {
            self.count_work(tasks, signals);
        }
        tasks || signals || self.context.core().is_stopping()
    }

    #[cold]
    #[inline(never)]
    fn count_work(&self, tasks: bool, signals: bool) {
        let activity = self.context.activity();
        activity.wake_tasks.add(tasks.into());
        activity.wake_signal.add(signals.into());
    }

    /// Runs the actions of pending signals, then posted tasks: at most [`TASKS`], in the order of their
    /// posts. The rest has its turn after the next look at the poller.
    #[inline(never)]
    fn run_tasks(&mut self) {
        if let Some(signals) = &self.signals {
            signals.handle(self.context);
        }
        let mut left = TASKS;
        fault!(TasksUnbounded => left = usize::MAX);
        // Those that were taken before were posted before.
        if self.tasks.is_empty() {
            self.context.shared().tasks.take(&mut self.tasks);
        }
        // The tasks run one at a time from the queue: if one panics, the others remain there and are dropped
        // in order.
        while left > 0
            && !self.context.must_end()
            && let Some(task) = self.tasks.pop_front()
        {
            left -= 1;
            self.context.activity().tasks.bump();
            task(self.context);
        }
    }

    /// The timeout of the wait: up to the next timer or retry, if there is one. It reads the clock as late as
    /// possible, because the work of this iteration has taken time (L10). Without a timer, neither this
    /// thread nor the kernel reads a clock.
    #[inline]
    fn timeout(&self) -> Option<Duration> {
        if self.context.has_timers() || self.refused.retry_at.is_some() { self.time_left() } else { None }
    }

    #[inline(never)]
    fn time_left(&self) -> Option<Duration> {
        let due = self.context.next_timer().into_iter().chain(self.refused.retry_at).min()?;
        let now = self.context.now();
        fault!(StaleClock: now => mistakes::noted_time(now));
        Some(due.saturating_duration_since(now))
    }

    /// Counts a failed wait, and pauses, if the worker can wait again.
    ///
    /// # Errors
    /// The error of the last of [`LOST`] consecutive waits on a poller that is lost.
    #[cold]
    #[inline(never)]
    fn continue_failed(&mut self, error: io::Error) -> io::Result<()> {
        self.context.activity().poll_error.bump();
        self.failed_waits += 1;
        let lost = matches!(
            error.raw_os_error().map(Errno::from_raw),
            Some(Errno::EBADF | Errno::EINVAL | Errno::EFAULT | Errno::ENOSYS)
        );
        fault!(FailedWaitFatal => return Err(error));
        if lost && self.failed_waits >= LOST {
            return Err(error);
        }
        self.pause(PAUSE * self.failed_waits.min(10));
        Ok(())
    }

    /// Delivers the events of the batch, and collects those whose registration had ended before.
    #[inline]
    fn dispatch(&mut self) {
        let context = self.context;
        if !self.batch.is_empty() {
            context.activity().poll_io.bump();
        }
        if context.has_timers() {
            self.count_expiry();
        }
        for event in &self.batch {
            if context.report(event) == Reported::Stale && self.has_stale {
                self.stale_events.push(*event);
            }
        }
    }

    #[inline(never)]
    fn count_expiry(&self) {
        if self.context.next_timer().is_some_and(|due| due <= self.context.now()) {
            self.context.activity().poll_exp.bump();
        }
    }

    /// Replaces the poller if it holds registrations of closed descriptors that do not end by themselves.
    ///
    /// epoll forgets a closed descriptor, unless a copy of it keeps the open file. kqueue identifies a
    /// registration by the number: an event of a registration that has ended means that its close has not
    /// been executed yet, and the close ends the registration, however late it is.
    #[cold]
    #[inline(never)]
    fn end_stale(&mut self) {
        let only_stale = self.stale_events.len() == self.batch.len();
        let now = self.context.now();
        self.stale.note(&self.stale_events, now);
        self.stale_events.clear();
        if self.stale.need_new_poller(now, has_children) && self.rebuild_at.is_none_or(|at| at <= now) {
            self.rebuild_at = if self.rebuild(false) { None } else { Some(now + RETRY) };
        } else if only_stale {
            // The next wait would return at once with the same events.
            self.pause(PAUSE);
        }
    }

    /// Waits without the poller, for `time` and at least [`PAUSE`].
    fn pause(&self, time: Duration) {
        let time = time.max(PAUSE);
        self.context.activity().poll_pause.add(time.as_millis() as u64);
        pause(time);
    }

    /// Continues in a forked child. Returns whether the thread has its own poller; otherwise it has paused.
    #[cold]
    #[inline(never)]
    fn continue_forked(&mut self) -> bool {
        let is_forked = self.context.take_forked();
        fault!(ForkKeepsPoller: is_forked => false);
        self.inherited |= is_forked;
        let is_ready = !self.inherited || self.replace_inherited_poller();
        if !is_ready {
            self.pause(self.timeout().unwrap_or(RETRY).min(RETRY));
        }
        is_ready
    }

    /// Gives a forked child its own wake descriptor and poller, and registers everything again (protocol
    /// 16.4). Returns whether both exist.
    fn replace_inherited_poller(&mut self) -> bool {
        let renewed = self.context.shared().sleep.renew();
        if renewed.is_err() {
            self.context.activity().poll_rebuild_fail.bump();
        }
        self.inherited = renewed.is_err() || !self.rebuild(true);
        !self.inherited
    }

    /// Replaces the poller, and registers everything again. If the system refuses, it keeps the old poller
    /// and counts the failure. Returns whether it replaced the poller.
    fn rebuild(&mut self, forked: bool) -> bool {
        let activity = self.context.activity();
        if let Err(error) = self.poller.rebuild(forked) {
            activity.poll_rebuild_fail.bump();
            fault!(RebuildFailureFatal => panic!("the poller cannot be replaced: {error}"));
            return false;
        }
        // After the attempt: one in progress must not count as a success.
        if !forked {
            activity.poll_rebuild.bump();
        }
        self.stale.clear();
        self.context.register_all();
        true
    }
}

/// Waits for `time`, or until a signal arrives. `std::thread::sleep` continues after each signal, and so
/// would never end if signals arrive fast enough.
fn pause(time: Duration) {
    let milliseconds = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // Without descriptors the only possible error is an interruption by a signal.
    let _ = poll(&mut [], milliseconds);
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
