//! The loop of a worker thread: tasks, timers, signals, one pass over the updates, one wait, dispatch.

mod mistakes;
pub(crate) mod signals;
pub(crate) mod stale;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollTimeout, poll};

use crate::entry::guarded::Guarded;
use crate::poller::{Capabilities, Poller};
use crate::shared::context::{Context, Reported};
use crate::shared::task_queue::Task;
use crate::table::{FdHandle, Pin, Update};
use crate::words::events::{Change, Event, Interest, Trigger};
use crate::words::ids::ThreadMask;
use crate::words::state;
use crate::words::sync::Ordering;
use crate::worker::signals::Signals;
use crate::worker::stale::{StaleRegistrations, has_children};

/// The longest wait: a thread looks around at least this often.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How many events one wait may batch.
const HARVEST: usize = 256;

/// How many changes may be queued, and their entries pinned, before they are submitted.
const QUEUE: usize = 64;

/// How long what the system refused is left alone.
const RETRY: Duration = Duration::from_millis(10);

/// How long a thread pauses that would only hear of stale registrations.
const PAUSE: Duration = Duration::from_millis(1);

/// How many waits in a row may fail with an error that says that the poller itself is gone.
const LOST: u32 = 100;

pub(crate) struct Worker<'c> {
    context: &'c Context,
    poller: Box<dyn Poller>,
    signals: Option<Arc<Signals>>,
    kernel_state: bool,
    /// Whether the kernel may go on reporting a registration whose descriptor is closed.
    has_stale: bool,
    batch: Vec<Event>,
    updates: Vec<Update>,
    tasks: VecDeque<Task>,
    /// Entries with queued changes, and what is wanted of each: pinned, so that the changes cannot reach another file.
    queued: Vec<(Pin<'c>, Interest)>,
    stale: StaleRegistrations,
    /// The events of the last batch whose registrations had ended.
    stale_events: Vec<Event>,
    refused: Refused,
    /// When a poller that could not be replaced is tried again.
    rebuild_at: Option<Instant>,
    /// This is a forked child, and the poller still its parent's.
    inherited: bool,
    /// How many waits in a row have failed.
    failed_waits: u32,
}

impl<'c> Worker<'c> {
    pub(crate) fn new(context: &'c Context, poller: Box<dyn Poller>, signals: Option<Arc<Signals>>) -> Self {
        let Capabilities { kernel_state, close_forgets, .. } = context.core().backend().capabilities();
        fault!(KqueueClosingIsGhost: close_forgets => false);
        Self {
            context,
            poller,
            signals,
            kernel_state,
            has_stale: kernel_state && !close_forgets,
            batch: Vec::with_capacity(HARVEST),
            updates: Vec::with_capacity(HARVEST),
            tasks: VecDeque::new(),
            queued: Vec::with_capacity(QUEUE),
            stale: StaleRegistrations::default(),
            stale_events: Vec::new(),
            refused: Refused::default(),
            rebuild_at: None,
            inherited: false,
            failed_waits: 0,
        }
    }

    /// Runs until the core is told to stop.
    ///
    /// # Errors
    /// What made the poller unusable.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        while !self.context.core().is_stopping() {
            self.iterate()?;
        }
        Ok(())
    }

    /// Ends the worker, and drops the tasks that it has taken and not run.
    pub(crate) fn end(self) -> Guarded {
        let mut guarded = Guarded::default();
        self.tasks.into_iter().for_each(|task| guarded.run(|| drop(task)));
        guarded
    }

    /// One turn of the loop: with one wait, and what it leads to.
    pub(crate) fn iterate(&mut self) -> io::Result<()> {
        let context = self.context;
        let shared = context.shared();
        context.activity().loops.bump();
        fault!(StaleClock => mistakes::note_time(context.now()));
        self.run_tasks();
        context.run_timers();
        let is_forked = context.take_forked();
        fault!(ForkKeepsPoller: is_forked => false);
        self.inherited |= is_forked;
        if self.inherited && !self.leave_parents_poller() {
            self.pause(self.timeout().min(RETRY));
            return Ok(());
        }

        checkpoint!(WorkDone);
        unless!(LookBeforeAnnounce => shared.sleep.announce());
        checkpoint!(SleepAnnounced);
        let busy = self.has_work();
        fault!(LookBeforeAnnounce => shared.sleep.announce());
        self.refused.retry(context);
        self.apply_updates();
        invariant!(
            !context.has_updates(),
            "L1: {:?} sleeps with an update that it has to apply",
            context.id()
        );
        let timeout = if busy { Duration::ZERO } else { self.timeout() };
        fault!(SleepingClearedEarly => shared.sleep.end());
        checkpoint!(BeforeWait);
        let waited = self.poller.wait(context.core().table(), timeout, &mut self.batch);
        shared.sleep.end();
        self.judge_wait(waited)?;
        checkpoint!(AfterWait);
        self.dispatch();
        self.end_stale();
        Ok(())
    }

    /// Whether something was published before the sleep was announced.
    fn has_work(&self) -> bool {
        let (shared, activity) = (self.context.shared(), self.context.activity());
        fault!(NoLookBeforeSleep => return false);
        let tasks = !shared.tasks.is_empty();
        fault!(WorkIsEverybodys: tasks => tasks || mistakes::some_thread_has_work(self.context.core()));
        // Pairs: signals, sleep.
        let signals = self.signals.is_some() && shared.signals.load(Ordering::Acquire) != 0;
        if tasks {
            activity.wake_tasks.bump();
        }
        if signals {
            activity.wake_signal.bump();
        }
        tasks || signals || self.context.core().is_stopping()
    }

    fn run_tasks(&mut self) {
        if let Some(signals) = &self.signals {
            signals.handle(self.context);
        }
        self.context.shared().tasks.take(&mut self.tasks);
        // One by one: if a task panics, the rest is still here to be dropped in order.
        while let Some(task) = self.tasks.pop_front() {
            self.context.activity().tasks.bump();
            task(self.context);
        }
    }

    /// How long to wait: until the next timer or retry, bounded. Reads the clock as late as possible, because everything that
    /// ran in this iteration has taken time.
    fn timeout(&self) -> Duration {
        let due = [self.context.next_timer(), self.refused.retry_at].into_iter().flatten().min();
        due.map_or(LONGEST_WAIT, |due| {
            let now = self.context.now();
            fault!(StaleClock: now => mistakes::noted_time(now));
            due.saturating_duration_since(now).min(LONGEST_WAIT)
        })
    }

    /// Judges what a wait answered. A worker that can wait again goes on: it counts the failure and pauses.
    ///
    /// # Errors
    /// What the poller goes on answering although it is gone.
    fn judge_wait(&mut self, waited: io::Result<()>) -> io::Result<()> {
        let activity = self.context.activity();
        if self.poller.is_degraded() {
            activity.poll_degraded.bump();
        }
        let Err(error) = waited else {
            self.failed_waits = 0;
            return Ok(());
        };
        activity.poll_error.bump();
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

    /// One pass over the pending updates of this thread's poller: its private list, then the group's shared
    /// one.
    pub(crate) fn apply_updates(&mut self) {
        let (context, id) = (self.context, self.context.id());
        let mut updates = std::mem::take(&mut self.updates);
        context.swap_updates(&mut updates);
        updates.drain(..).for_each(|update| self.apply_private(update));
        self.updates = updates;
        let is_shared = !self.kernel_state;
        let walked = context.core().table().walk_updates(id, is_shared, |pin| self.apply(pin, false));
        context.activity().poll_drop.add(walked.dropped);
        unless!(RelistedNotWoken => context.core().wake_all(id.group(), walked.to_wake));
        self.flush();
    }

    /// Applies one update of the private list.
    fn apply_private(&mut self, update: Update) {
        let context = self.context;
        let Ok(pin) = context.core().table().pin(update.handle) else {
            context.activity().poll_drop.bump();
            return;
        };
        if pin.group() == context.id().group() {
            // Before anything is tested, and before the state is read (bug 18, L1).
            let mask = if self.kernel_state { context.id().mask() } else { ThreadMask::ALL };
            fault!(ApplyBeforeClear => return mistakes::apply_and_clear(self, pin, update, mask));
            pin.clear_update(mask);
            self.apply(pin, update.force);
        } else if update.force {
            // Another group's by now. Its masks are not this thread's to read, but this poller is this
            // thread's to clean.
            self.submit(pin, Interest::NONE, Interest::NONE, true);
        } else {
            context.activity().poll_drop.bump();
        }
    }

    /// Brings this thread's poller up to date about a pinned entry of its group, after the update bit is cleared.
    fn apply(&mut self, pin: Pin<'c>, force: bool) {
        fault!(UpdateUnpinned => return mistakes::apply_unpinned(self, pin));
        if !self.kernel_state {
            self.apply_for_all(&pin);
            return;
        }
        if self.queued.iter().any(|(queued, _)| queued.fd() == pin.fd()) {
            // The polled masks do not know yet what an earlier change of this pass will have led to.
            self.flush();
        }
        let me = self.context.id().mask();
        let mut allowed = pin.thread_mask().contains(me);
        let mut word = pin.state();
        let mut force = force;
        if allowed && word & state::REARM != 0 {
            checkpoint!(RearmSeen, pin.fd());
            // Pair: rearm.
            word = pin.entry().state.fetch_and(!state::REARM, Ordering::AcqRel);
            force = true;
            // A takeover changes the mask, and then sets the mark. So a mark that was set since the look at the mask shows a
            // mask that has changed, too: it was the new owner's, whose pass may have been made without it by now.
            allowed = pin.thread_mask().contains(me);
            fault!(RearmStolen => allowed = true);
            if !allowed {
                // Pair: update. The schedule below publishes it.
                pin.entry().state.fetch_or(state::REARM, Ordering::AcqRel);
                self.context.core().schedule(&pin, None);
            }
        }
        let (recv, send) = pin.polled().load();
        let known = Interest { recv: recv & me.bits() != 0, send: send & me.bits() != 0 };
        let wanted = if allowed { state::wanted(word) } else { Interest::NONE };
        checkpoint!(ApplyBegun, pin.fd());
        self.submit(pin, known, wanted, force);
    }

    fn submit(&mut self, pin: Pin<'c>, known: Interest, wanted: Interest, force: bool) {
        let change = change(&pin, known, wanted, force);
        let is_noop = change.is_noop();
        fault!(KqueueNoopDropsChanges: is_noop => false);
        if is_noop {
            return;
        }
        self.context.activity().poll_update.bump();
        match self.poller.update(&change) {
            Some(holds) => self.refused.settle(self.context, &pin, wanted, holds),
            None => {
                self.queued.push((pin, wanted));
                if self.poller.queued() >= QUEUE {
                    self.flush();
                }
            }
        }
    }

    /// Submits what is queued, notes what the poller holds, and lets go of the entries.
    fn flush(&mut self) {
        let Self { poller, queued, refused, context, .. } = self;
        poller.flush(&mut |fd, holds| {
            if let Some((pin, wanted)) = queued.iter().find(|(pin, _)| pin.fd() == fd) {
                refused.settle(context, pin, *wanted, holds);
            }
        });
        queued.clear();
    }

    /// For backends that keep the interest in memory shared by the group: the first thread to see an update
    /// applies it for all.
    ///
    /// The polled masks name every thread that may be asleep with the descriptor in its arrays: they are written before the
    /// interest, and who takes a thread out of them ends its wait.
    fn apply_for_all(&mut self, pin: &Pin<'c>) {
        let mut allowed = pin.thread_mask();
        let mut before = pin.state();
        loop {
            let (recv, send) = pin.polled().load();
            let known = Interest { recv: recv != 0, send: send != 0 };
            let wanted = if allowed.is_empty() { Interest::NONE } else { state::wanted(before) };
            checkpoint!(ApplyBegun, pin.fd());
            self.context.activity().poll_update.bump();
            let holds = self.poller.update(&change(pin, known, wanted, true)).unwrap_or(wanted);
            let replaced = pin.polled().replace(allowed.bits(), holds.recv, holds.send);
            // Pair: polled. Two threads may apply at once, and the one that read the older state or mask may write last. It looks
            // again after it has written: so the last write is always of the last state and the last mask (L1, L5).
            let (now, owners) = (pin.state(), pin.thread_mask());
            let unchanged = state::wanted(now) == state::wanted(before) && owners == allowed;
            fault!(AppliedForFormerOwner: unchanged => state::wanted(now) == state::wanted(before));
            fault!(AppliedOnce: unchanged => true);
            // Those that sleep with it in their arrays.
            let keep = if holds.is_none() { ThreadMask::NONE } else { allowed };
            let lost = ThreadMask::from_bits(replaced).without(keep.or(self.context.id().mask()));
            self.context.core().end_waits(pin.group(), lost);
            if unchanged {
                // No pair: where interest is shared the mark means nothing.
                pin.entry().state.fetch_and(!state::REARM, Ordering::AcqRel);
                return;
            }
            (before, allowed) = (now, owners);
        }
    }

    fn dispatch(&mut self) {
        let activity = self.context.activity();
        if !self.batch.is_empty() {
            activity.poll_io.bump();
        }
        if self.context.next_timer().is_some_and(|due| due <= self.context.now()) {
            activity.poll_exp.bump();
        }
        for index in 0..self.batch.len() {
            let event = self.batch[index];
            if self.context.report(event) == Reported::Closed && self.has_stale {
                self.stale_events.push(event);
            }
        }
    }

    /// Replaces the poller if it holds registrations of closed descriptors that do not end by themselves.
    ///
    /// epoll forgets a closed descriptor by itself, unless a copy of it keeps the open file. kqueue goes by the number: an
    /// event of a registration that has ended means that its close is still to come, however long that takes.
    fn end_stale(&mut self) {
        let only_stale = self.stale_events.len() == self.batch.len();
        self.batch.clear();
        if self.stale_events.is_empty() {
            return;
        }
        let now = self.context.now();
        self.stale.note(&self.stale_events, now);
        self.stale_events.clear();
        if self.stale.need_new_poller(now, has_children) && self.rebuild_at.is_none_or(|at| at <= now) {
            self.rebuild_at = if self.rebuild(false) { None } else { Some(now + RETRY) };
        } else if only_stale {
            // The next wait would not block.
            self.pause(PAUSE);
        }
    }

    /// Waits without the poller, for `time` and no less than [`PAUSE`].
    fn pause(&self, time: Duration) {
        let time = time.max(PAUSE);
        self.context.activity().poll_pause.add(time.as_millis() as u64);
        pause(time);
    }

    /// In a forked child: makes a wake descriptor and a poller of its own, and registers everything with it. Returns whether
    /// there is one.
    fn leave_parents_poller(&mut self) -> bool {
        let renewed = self.context.shared().sleep.renew();
        if renewed.is_err() {
            self.context.activity().poll_rebuild_fail.bump();
        }
        self.inherited = renewed.is_err() || !self.rebuild(true);
        !self.inherited
    }

    /// Replaces the poller. If the system refuses, the old one stays, and the failure is counted.
    fn rebuild(&mut self, forked: bool) -> bool {
        let activity = self.context.activity();
        if !forked {
            activity.poll_rebuild.bump();
        }
        if let Err(error) = self.poller.rebuild(forked) {
            activity.poll_rebuild_fail.bump();
            fault!(RebuildFailureFatal => panic!("the poller cannot be replaced: {error}"));
            return false;
        }
        self.stale.clear();
        self.context.register_all();
        true
    }
}

/// What the kernel refused to hold, for lack of memory or of room in one of its tables.
#[derive(Default)]
struct Refused {
    handles: Vec<FdHandle>,
    /// When they are tried again.
    retry_at: Option<Instant>,
}

impl Refused {
    /// Notes what this thread's poller holds, if the entry is of its group, and whether it refused what is wanted.
    fn settle(&mut self, context: &Context, pin: &Pin<'_>, wanted: Interest, holds: Interest) {
        if pin.group() == context.id().group() {
            pin.polled().set(context.id().mask().bits(), holds.recv, holds.send);
        }
        if holds != wanted {
            context.activity().poll_refused.bump();
            self.handles.push(pin.handle());
            if self.retry_at.is_none() {
                self.retry_at = Some(context.now() + RETRY);
            }
        }
    }

    /// Schedules what was refused a while ago.
    fn retry(&mut self, context: &Context) {
        if self.retry_at.is_some_and(|at| at <= context.now()) {
            self.retry_at = None;
            context.activity().poll_retry.add(self.handles.len() as u64);
            // Forced: the masks may name an interest that nothing is known of.
            self.handles.drain(..).for_each(|handle| context.push_update(handle, true));
        }
    }
}

/// Waits for `time`, or until a signal comes. The sleep of std goes on with the rest of its time after each signal, which takes for
/// ever if they come fast enough.
fn pause(time: Duration) {
    let milliseconds = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // It can fail only by a signal: there is no descriptor.
    let _ = poll(&mut [], milliseconds);
}

fn change(pin: &Pin<'_>, known: Interest, wanted: Interest, force: bool) -> Change {
    let trigger = if pin.state() & state::EDGE != 0 { Trigger::Edge } else { Trigger::Level };
    Change { fd: pin.fd(), generation: pin.generation(), known, wanted, trigger, force }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
