//! A worker thread's own side: what only that thread may touch.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::entry::Entry;
use crate::entry::error::{EnterError, MoveError};
use crate::entry::guarded::Guarded;
use crate::entry::owner::OwnerId;
use crate::entry::source::Source;
use crate::shared::activity::Activity;
use crate::shared::mistakes;
use crate::shared::ready::{ReadyGuard, RegistrationRef, Report};
use crate::shared::{FdCore, SharedThread};
use crate::table::{Denied, FdHandle, Orphan, Pin, Update};
use crate::words::events::{Event, Events, Interest};
use crate::words::ids::ThreadId;
use crate::words::state;
use crate::words::sync::Ordering;

/// A worker thread's side of the core. It stands for the thread's identity, so it never leaves its thread: it is
/// neither `Send` nor `Sync`, and is only ever lent.
pub struct Context {
    core: Arc<FdCore>,
    id: ThreadId,
    /// Updates of descriptors that only this thread may use, and removals from this thread's poller. Grows:
    /// delete and insert of one number may add any number of elements in one turn (suspect 6).
    private: RefCell<Vec<Update>>,
    /// By when they are due, and then by the order in which they were set.
    timers: RefCell<BTreeMap<(Instant, u64), Timer>>,
    timers_set: Cell<u64>,
    forked: Cell<bool>,
}

type Timer = Box<dyn FnOnce(&Context)>;

/// What user code panicked with.
type Panic = Box<dyn std::any::Any + Send>;

/// What became of a report: `FD_UPDT_DONE`, `FD_UPDT_CLOSED`, `FD_UPDT_MIGRATED`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reported {
    /// The event was applied, and the handler run if a direction was wanted.
    Done,
    /// The registration that the event was about is over: nothing may be done with the number.
    Closed,
    /// The descriptor is not this thread's. Its removal from this thread's poller is scheduled.
    Migrated,
}

impl Context {
    pub(crate) fn new(core: Arc<FdCore>, id: ThreadId) -> Self {
        Self {
            core,
            id,
            private: RefCell::new(Vec::with_capacity(256)),
            timers: RefCell::default(),
            timers_set: Cell::new(0),
            forked: Cell::new(false),
        }
    }

    /// The shared side.
    pub fn core(&self) -> &Arc<FdCore> {
        &self.core
    }

    /// This thread.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    pub(crate) fn shared(&self) -> &SharedThread {
        self.core.thread(self.id).expect("a context is made for a thread of its core")
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.shared().activity
    }

    /// The calls on one descriptor, as this thread.
    pub fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        RegistrationRef { core: &self.core, caller: Some(self), handle, entered: None }
    }

    /// Runs `action` on this thread after `delay`, never early. Timers run in the order in which they are due. A delay of more
    /// than a hundred years counts as a hundred years.
    pub fn after(&self, delay: Duration, action: impl FnOnce(&Self) + 'static) {
        let order = self.timers_set.replace(self.timers_set.get() + 1);
        let due = self.core.clock.after(delay);
        self.timers.borrow_mut().insert((due, order), Box::new(action));
    }

    /// Makes this thread the only one that may use the descriptor, if nobody is using it and it still has the
    /// expected owner. Both directions are stopped: want what is wanted next. What the descriptor has to report
    /// then is reported here, level- and edge-triggered. What is this thread's alone already stays as it is.
    ///
    /// # Errors
    /// [`MoveError`]; the entry is as it was. Never waits for a handler.
    pub fn takeover(&self, handle: FdHandle, expected: OwnerId) -> Result<(), MoveError> {
        let result = self.try_takeover(handle, expected);
        let count =
            if result.is_ok() { &self.activity().fd_takeover } else { &self.activity().fd_takeover_fail };
        count.bump();
        result
    }

    fn try_takeover(&self, handle: FdHandle, expected: OwnerId) -> Result<(), MoveError> {
        let pin = self.core.table().pin(handle)?;
        if pin.group() != self.id.group() {
            drop(pin);
            return self.core.relocate(handle, self.id, Some(expected));
        }
        let (result, left) = pin.takeover(self.id.mask(), expected);
        if let (Ok(()), Some(pin)) = (result, self.end_if_last(left)) {
            // What this poller holds from an earlier time, or what its group still wants, ends before the next wait.
            self.schedule_own(&pin, false);
        }
        result
    }

    /// Uses a registered source outside a report: for as long as `action` runs it stays open and this thread's. For
    /// reading what is there right after a takeover, for writing from a task.
    ///
    /// `S` is the type that was inserted: `|ready: &ReadyGuard<'_, TcpStream>| …`.
    ///
    /// # Errors
    /// [`EnterError`]; `action` has not run.
    pub fn enter<S: Source, R>(
        &self,
        handle: FdHandle,
        action: impl FnOnce(&ReadyGuard<'_, S>) -> R,
    ) -> Result<R, EnterError> {
        let pin = self.core.table().pin(handle)?;
        if pin.group() != self.id.group() {
            return Err(EnterError::NotAllowed);
        }
        if pin.running().contains(self.id.mask()) {
            return Err(EnterError::Nested);
        }
        if let Err(denied) = pin.enter(self.id.mask()) {
            self.withdraw(pin, denied);
            return Err(EnterError::NotAllowed);
        }
        let entry = pin.entry();
        drop(pin);
        let report = Report { context: self, entry, handle, events: Events::NONE };
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the running bit is set, so the registration and its owner last until it is given up (S5).
            let source = unsafe { entry.owner() }.source().downcast_ref()?;
            Some(action(&ReadyGuard { report, source }))
        }));
        let _ = self.exit(handle, result.as_ref().err());
        let answer = result.unwrap_or_else(|panic| resume_unwind(panic));
        answer.ok_or(EnterError::WrongSource)
    }

    /// Gives up the running bit after the user's code has run, and ends the registration if that makes this thread its last
    /// user. The handler's own drop may panic then: if the user's code has panicked already, that first panic counts.
    fn exit(&self, handle: FdHandle, first: Option<&Panic>) -> Option<Pin<'_>> {
        // The running bit has kept the registration, so this finds it.
        let pin = self.core.table().pin(handle).expect("S5: a registration ended under its runner");
        let left = pin.exit(self.id.mask());
        if first.is_none() {
            return self.end_if_last(left);
        }
        let mut guarded = Guarded::default();
        let mut kept = None;
        guarded.run(|| kept = self.end_if_last(left));
        kept
    }

    /// After an entry that was denied: gives up the running bit if it had been set.
    fn withdraw(&self, pin: Pin<'_>, denied: Denied) {
        if denied == Denied::LostRace {
            self.end_if_last(pin.exit(self.id.mask()));
        }
    }

    /// For the child of a fork that goes on with this thread's loop, before it does anything else: the kernel poller and the
    /// wake descriptor are replaced before the next wait, and everything is registered again. The other threads do not exist
    /// here: what they were using, moving or closing at the fork is free again, or closed; tasks for them are refused. A
    /// descriptor that one of them was about to insert or to close stays open. Does nothing in the process that started the runtime.
    pub fn forked(&self) {
        if self.core.is_inherited() {
            let guarded = self.core.adopt(Some(self.id));
            self.forked.set(true);
            guarded.resume();
        }
    }

    /// What [`Context::forked`] does to the worker, in a test that cannot fork.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn pretend_forked(&self) {
        self.forked.set(true);
    }

    /// The time that this thread's timers go by.
    pub(crate) fn now(&self) -> Instant {
        self.core.clock.now()
    }

    /// Drops the timers that have not run.
    pub(crate) fn end_timers(&self) -> Guarded {
        let mut guarded = Guarded::default();
        // Out of the cell first: what a timer holds may set another one as it is dropped.
        while let Some((_, timer)) = { self.timers.borrow_mut().pop_first() } {
            guarded.run(|| drop(timer));
        }
        guarded
    }

    pub(crate) fn take_forked(&self) -> bool {
        self.forked.take()
    }

    pub(crate) fn owns_alone(&self, pin: &Pin<'_>) -> bool {
        pin.group() == self.id.group() && pin.thread_mask() == self.id.mask()
    }

    pub(crate) fn push_update(&self, handle: FdHandle, force: bool) {
        let mut private = self.private.borrow_mut();
        fault!(PrivateListBounded => if private.len() >= 8 { return });
        private.push(Update { handle, force });
    }

    /// Exchanges the private list for an empty one that has room already.
    pub(crate) fn swap_updates(&self, other: &mut Vec<Update>) {
        std::mem::swap(&mut *self.private.borrow_mut(), other);
    }

    /// Schedules every descriptor of this thread, as if its poller held nothing: for a poller that is new.
    pub(crate) fn register_all(&self) {
        fault!(NoReregistration => return);
        for pin in self.core.table().pin_each() {
            if pin.group() != self.id.group() {
                continue;
            }
            pin.polled().set(self.id.mask().bits(), false, false);
            if pin.thread_mask().contains(self.id.mask()) && pin.state() & state::ACTIVE != 0 {
                self.push_update(pin.handle(), false);
            }
        }
    }

    pub(crate) fn has_updates(&self) -> bool {
        !self.private.borrow().is_empty()
    }

    /// When the next timer is due.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.borrow().keys().next().map(|(due, _)| *due)
    }

    /// Runs what is due.
    pub(crate) fn run_timers(&self) {
        if self.timers.borrow().is_empty() {
            return;
        }
        let now = self.now();
        loop {
            let timer = match self.timers.borrow_mut().first_entry() {
                Some(first) if first.key().0 <= now => first.remove(),
                _ => return,
            };
            timer(self);
        }
    }

    fn end_if_last<'t>(&self, left: Result<Pin<'t>, Orphan<'t>>) -> Option<Pin<'t>> {
        left.map_err(|orphan| self.core.finish(orphan, Some(self))).ok()
    }

    /// Reports an event to the descriptor's owner (protocol 4).
    pub(crate) fn report(&self, event: Event) -> Reported {
        let table = self.core.table();
        let handle = table.handle(event.fd, event.generation);
        let me = self.id.mask();
        fault!(LockPassesForGroup => if mistakes::drop_if_locked(self, event) { return Reported::Migrated });
        let pin = table.pin(handle);
        fault!(NoGenerationCheck: pin => pin.or_else(|stale| table.pin_any(event.fd).ok_or(stale)));
        let Ok(pin) = pin else {
            self.activity().poll_drop.bump();
            return Reported::Closed;
        };
        let is_foreign = pin.group() != self.id.group();
        fault!(NoGroupCheck: is_foreign => false);
        if is_foreign {
            self.activity().poll_drop.bump();
            self.push_forget(&pin);
            return Reported::Migrated;
        }
        let handle = pin.handle();
        if let Err(denied) = pin.enter(me) {
            self.activity().poll_skip.bump();
            self.push_forget(&pin);
            fault!(LostReportChangesState => mistakes::apply_report(&pin, event.events));
            fault!(RefusedKeepsReference => if denied == Denied::NotAllowed { return mistakes::keep(pin) });
            self.withdraw(pin, denied);
            return Reported::Migrated;
        }
        let entry = pin.entry();
        // From here on the running bit alone protects: a takeover fails, the end of the registration waits.
        drop(pin);
        let (ran, must_stop) = self.run_handler(entry, handle, event.events);
        checkpoint!(ReportHandlerDone, event.fd);
        let pin = self.exit(handle, ran.as_ref().err());
        let reported = if pin.is_some() { Reported::Done } else { Reported::Closed };
        if let Some(pin) = pin {
            self.stop_unwanted(&pin, must_stop, event.events);
        }
        fault!(PanicLostWithRegistration => if reported == Reported::Closed { return reported });
        if let Err(panic) = ran {
            resume_unwind(panic);
        }
        reported
    }

    /// With the running bit set: applies the event to the state and runs the handler if a direction is wanted.
    fn run_handler(
        &self,
        entry: &Entry,
        handle: FdHandle,
        mut events: Events,
    ) -> (Result<(), Panic>, Interest) {
        if events.intersects(Events::INVALID) {
            // The number is not open: it would be reported for ever. The owner is told once, as of an error.
            self.activity().poll_inval.bump();
            events = events.or(Events::ERR);
        }
        let before = note_report(entry, handle.fd, events);
        fault!(OneDirectionPerReport: events => mistakes::one_direction(events));
        let must_stop = state::must_stop(before, events);
        let is_inactive = before & state::ACTIVE == 0;
        fault!(InactiveRuns: is_inactive => false);
        fault!(FailureNeedsReadiness: is_inactive => is_inactive || mistakes::is_failure(before, events));
        if is_inactive {
            return (Ok(()), must_stop);
        }
        if events.intersects(Events::INVALID) {
            // Pair: update. The removal that is scheduled after the handler publishes it.
            entry.state.fetch_and(!state::ACTIVE, Ordering::AcqRel);
        }
        self.activity().fd_run.bump();
        // SAFETY: the running bit is set, so the registration and its owner last until it is given up (S5).
        let owner = unsafe { entry.owner() };
        // A panic must not leave the running bit behind: nobody could ever take or close the descriptor.
        let report = Report { context: self, entry, handle, events };
        let ran = catch_unwind(AssertUnwindSafe(|| {
            owner.run(report);
            fault!(HandlerCalledTwice => if mistakes::is_of_both_directions(events) { owner.run(report) });
        }));
        let must_stop = if events.intersects(Events::INVALID) { Interest::BOTH } else { must_stop };
        (ran, must_stop)
    }

    /// After a report of directions that nobody wanted then: what is still unwanted, this thread's poller must no
    /// longer hold (L6).
    fn stop_unwanted(&self, pin: &Pin<'_>, unwanted: Interest, events: Events) {
        fault!(InactiveStaysPolled => return);
        if unwanted.is_none() || pin.group() != self.id.group() {
            return;
        }
        let word = pin.state();
        let (recv, send) = pin.polled().load();
        let me = self.id.mask().bits();
        // The kernel has told its edge and nobody took it. If the direction is wanted again before the pass, what is
        // held is what is wanted, and the edge would be lost: only a new registration tells it once more. A direction
        // that is not held will be registered anyway. That the number is not open is no edge: to replay it to an
        // owner who insists would be a spin.
        let swallowed = word & state::EDGE != 0
            && (unwanted.recv && recv & me != 0 || unwanted.send && send & me != 0)
            && !events.intersects(Events::INVALID);
        if swallowed || state::some_inactive(word, unwanted) {
            self.schedule_own(pin, swallowed);
        }
    }

    /// Schedules an update of an entry that this thread may use, for this thread alone.
    fn schedule_own(&self, pin: &Pin<'_>, force: bool) {
        // Pair: update.
        let before = pin.entry().update_mask.fetch_or(self.id.mask().bits(), Ordering::AcqRel);
        if before & self.id.mask().bits() == 0 || force {
            self.push_update(pin.handle(), force);
        }
    }

    /// Schedules the removal from this thread's poller of what this thread may not use, whatever the polled masks
    /// say (L5).
    fn push_forget(&self, pin: &Pin<'_>) {
        fault!(MigratedNotForgotten, OnePollerPerProcess => return);
        // No update bit: it may be another group's by now, and this is about this thread's poller only.
        self.push_update(pin.handle(), true);
    }
}

/// Applies a report to the state. Returns the state before.
fn note_report(entry: &Entry, fd: RawFd, events: Events) -> u32 {
    fault!(StatePlainStore => return mistakes::store_report(entry, fd, events));
    checkpoint!(ReportEntered, fd);
    let update = |state| {
        let next = state::after_report(state, events);
        (next != state).then_some(next)
    };
    // Pair: update. Always a read-modify-write: other threads set CLONED, EXPORTED and the token at any time (suspect 3).
    match entry.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, update) {
        Ok(before) | Err(before) => before,
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
