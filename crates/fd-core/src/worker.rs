//! The loop of a worker thread: tasks, timers, signals, one pass over the updates, one wait, dispatch.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::checkpoint::{Point, hit};
use crate::context::{Context, Reported};
use crate::core::Task;
use crate::fault::{self, Fault};
use crate::ids::{ThreadId, ThreadMask};
use crate::poller::{Capabilities, Change, Event, Generation, Interest, Poller, Trigger};
use crate::signals::Signals;
use crate::state;
use crate::sync::Ordering;
use crate::table::{FdHandle, Pin, Update};
use crate::weak::{self, Weak};

/// The longest wait: a thread looks around at least this often.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How many events one wait may harvest.
const HARVEST: usize = 256;

/// How many changes may be queued, and their entries pinned, before they are submitted.
const QUEUE: usize = 64;

/// In how many consecutive passes a registration of a dead life may be reported before the poller is replaced. A
/// batch that was harvested before the life ended accounts for one.
const GHOST_PASSES: u32 = 2;

pub(crate) struct Worker<'c> {
    context: &'c Context,
    poller: Box<dyn Poller>,
    signals: Option<Arc<Signals>>,
    kernel_state: bool,
    /// Whether the kernel may report a life for ever that is over.
    has_ghosts: bool,
    harvest: Vec<Event>,
    updates: Vec<Update>,
    tasks: Vec<Task>,
    /// Entries with queued changes: pinned, so that the changes cannot reach another file.
    queued: Vec<Pin<'c>>,
    ghosts: Vec<Ghost>,
    pass: u64,
}

/// A registration in this thread's kernel poller of a life that is over.
struct Ghost {
    fd: RawFd,
    generation: Generation,
    passes: u32,
    last: u64,
}

impl<'c> Worker<'c> {
    pub(crate) fn new(context: &'c Context, poller: Box<dyn Poller>, signals: Option<Arc<Signals>>) -> Self {
        let Capabilities { kernel_state, close_forgets, .. } = context.core().backend().capabilities();
        Self {
            context,
            poller,
            signals,
            kernel_state,
            has_ghosts: kernel_state && (!close_forgets || fault::on(Fault::KqueueClosingIsGhost)),
            harvest: Vec::with_capacity(HARVEST),
            updates: Vec::with_capacity(HARVEST),
            tasks: Vec::new(),
            queued: Vec::with_capacity(QUEUE),
            ghosts: Vec::new(),
            pass: 0,
        }
    }

    /// Runs until the core is told to stop.
    ///
    /// # Errors
    /// What made the poller unusable.
    pub(crate) fn run(&mut self) -> std::io::Result<()> {
        while !self.context.core().is_stopping() {
            self.turn()?;
        }
        Ok(())
    }

    /// One turn of the loop: with one wait, and what it leads to.
    pub(crate) fn turn(&mut self) -> std::io::Result<()> {
        let context = self.context;
        let shared = context.shared();
        let activity = context.activity();
        activity.loops.bump();
        self.pass += 1;
        self.run_tasks();
        let now = Instant::now();
        context.run_timers(now);
        if context.take_forked() && !fault::on(Fault::ForkKeepsPoller) {
            self.rebuild(true)?;
        }

        hit(Point::TurnDone, -1);
        let looked = weak::on(Weak::LookBeforeAnnounce).then(|| self.has_work());
        shared.sleep.announce();
        hit(Point::SleepAnnounced, -1);
        let busy = looked.unwrap_or_else(|| self.has_work());
        self.apply_updates();
        let timeout = if busy || context.has_updates() { Duration::ZERO } else { self.timeout(now) };
        if fault::on(Fault::SleepingClearedEarly) {
            shared.sleep.end();
        }
        hit(Point::BeforeWait, -1);
        let waited = self.poller.wait(context.core().table(), timeout, &mut self.harvest);
        shared.sleep.end();
        waited?;
        hit(Point::AfterWait, -1);
        self.dispatch();
        if self.ghosts.iter().any(|ghost| ghost.passes > GHOST_PASSES) {
            activity.poll_rebuild.bump();
            self.rebuild(false)?;
        }
        Ok(())
    }

    /// Whether something was published before the sleep was announced.
    fn has_work(&self) -> bool {
        let (shared, activity) = (self.context.shared(), self.context.activity());
        if fault::on(Fault::NoLookBeforeSleep) {
            return false;
        }
        let tasks = shared.has_tasks()
            || fault::on(Fault::WorkIsEverybodys) && self.context.core().anybody_has_work();
        let signals = self.signals.is_some() && shared.signals.load(Ordering::SeqCst) != 0;
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
        self.context.shared().take_tasks(&mut self.tasks);
        for task in self.tasks.drain(..) {
            self.context.activity().tasks.bump();
            task(self.context);
        }
    }

    /// How long to wait: until the next timer, bounded.
    fn timeout(&self, now: Instant) -> Duration {
        let left = self.context.next_timer().map(|due| due.saturating_duration_since(now));
        left.map_or(LONGEST_WAIT, |left| left.min(LONGEST_WAIT))
    }

    /// One pass over what this thread's poller owes: its private list, then the group's shared one.
    pub(crate) fn apply_updates(&mut self) {
        let context = self.context;
        let table = context.core().table();
        let (id, me) = (context.id(), context.id().mask());
        let mut updates = std::mem::take(&mut self.updates);
        context.swap_updates(&mut updates);
        for update in updates.drain(..) {
            let Ok(pin) = table.pin(FdHandle { fd: update.fd, generation: update.generation }) else {
                context.activity().poll_drop.bump();
                continue;
            };
            if pin.group() == id.group() {
                // Before anything is tested, and before the state is read (bug 18, L1).
                let mask = if self.kernel_state { me } else { ThreadMask::ALL };
                if weak::on(Weak::ApplyBeforeClear) {
                    let handle = pin.handle();
                    self.apply(pin, update.force);
                    table.pin(handle).into_iter().for_each(|pin| pin.clear_update(mask));
                } else {
                    pin.clear_update(mask);
                    self.apply(pin, update.force);
                }
            } else if update.force {
                // Another group's by now. Its masks are not ours to read, but our poller is ours to clean.
                self.submit(pin, Interest::NONE, Interest::NONE, true);
            } else {
                context.activity().poll_drop.bump();
            }
        }
        self.updates = updates;
        let walked = table.walk_updates(id, !self.kernel_state, |pin| self.apply(pin, false));
        context.activity().poll_drop.add(walked.dropped);
        if !weak::on(Weak::RelistedWakesNobody) {
            let to_wake = walked.to_wake.indices().filter_map(|index| ThreadId::new(id.group(), index));
            to_wake.for_each(|thread| context.core().wake(thread));
        }
        self.flush();
    }

    /// Brings this thread's poller up to date about a pinned entry of its group, after the update bit is cleared.
    fn apply(&mut self, pin: Pin<'c>, force: bool) {
        if fault::on(Fault::UpdateUnpinned) {
            return self.apply_unpinned(pin);
        }
        if !self.kernel_state {
            self.apply_for_all(&pin);
            return;
        }
        if self.queued.iter().any(|queued| queued.fd() == pin.fd()) {
            // The polled masks do not know yet what an earlier change of this pass will have led to.
            self.flush();
        }
        let me = self.context.id().mask();
        let mut allowed = pin.thread_mask().contains(me);
        let mut word = pin.state();
        let mut force = force;
        if allowed && word & state::REARM != 0 {
            hit(Point::RearmSeen, pin.fd());
            word = pin.entry().state.fetch_and(!state::REARM, Ordering::SeqCst);
            force = true;
            // A takeover changes the mask, and then sets the mark. So a mark that was set since the look at the mask shows a
            // mask that has changed, too: it was the new owner's, whose pass may have been made without it by now.
            allowed = pin.thread_mask().contains(me) || fault::on(Fault::RearmStolen);
            if !allowed {
                pin.entry().state.fetch_or(state::REARM, Ordering::SeqCst);
                self.context.core().schedule(&pin, None);
            }
        }
        let (recv, send) = pin.polled().load();
        let known = Interest { recv: recv & me.bits() != 0, send: send & me.bits() != 0 };
        let wanted = if allowed { state::wanted(word) } else { Interest::NONE };
        hit(Point::ApplyBegun, pin.fd());
        self.submit(pin, known, wanted, force);
    }

    /// What [`Worker::apply`] must not do.
    fn apply_unpinned(&mut self, pin: Pin<'c>) {
        let me = self.context.id().mask();
        let allowed = pin.thread_mask().contains(me);
        let wanted = if allowed { state::wanted(pin.state()) } else { Interest::NONE };
        let change = change(&pin, Interest::NONE, wanted, true);
        pin.polled().set(me.bits(), wanted.recv, wanted.send);
        let fd = pin.fd();
        drop(pin);
        hit(Point::ApplyBegun, fd);
        self.poller.update(&change);
        self.flush();
    }

    fn submit(&mut self, pin: Pin<'c>, known: Interest, wanted: Interest, force: bool) {
        let change = change(&pin, known, wanted, force);
        if change.is_noop() && !fault::on(Fault::KqueueNoopDropsChanges) {
            return;
        }
        self.context.activity().poll_update.bump();
        match self.poller.update(&change) {
            Some(holds) => settle(&pin, self.context, holds),
            None => {
                self.queued.push(pin);
                if self.poller.queued() >= QUEUE {
                    self.flush();
                }
            }
        }
    }

    /// Submits what is queued, notes what the poller holds, and lets go of the entries.
    fn flush(&mut self) {
        let (queued, context) = (&self.queued, self.context);
        self.poller.flush(&mut |fd, holds| {
            if let Some(pin) = queued.iter().find(|pin| pin.fd() == fd) {
                settle(pin, context, holds);
            }
        });
        self.queued.clear();
    }

    /// For backends that keep the interest in memory shared by the group: the first thread to see an update
    /// applies it for all.
    fn apply_for_all(&mut self, pin: &Pin<'c>) {
        loop {
            let before = pin.state();
            let allowed = pin.thread_mask();
            let (recv, send) = pin.polled().load();
            let known = Interest { recv: recv != 0, send: send != 0 };
            let wanted = if allowed.is_empty() { Interest::NONE } else { state::wanted(before) };
            hit(Point::ApplyBegun, pin.fd());
            self.context.activity().poll_update.bump();
            let holds = self.poller.update(&change(pin, known, wanted, true)).unwrap_or(wanted);
            pin.polled().clear();
            pin.polled().set(allowed.bits(), holds.recv, holds.send);
            // Those that sleep with it in their arrays.
            let keep = if holds.is_none() { ThreadMask::NONE } else { allowed };
            let lost = ThreadMask::from_bits(recv | send).without(keep.or(self.context.id().mask()));
            self.context.core().end_waits(pin.group(), lost);
            // Two threads may apply at once, and the one that read the older state may write last. It looks again
            // after it has written: so the last write is always of the last state (L1).
            if weak::on(Weak::AppliedOnce) || state::wanted(pin.state()) == state::wanted(before) {
                pin.entry().state.fetch_and(!state::REARM, Ordering::SeqCst);
                return;
            }
        }
    }

    fn dispatch(&mut self) {
        let activity = self.context.activity();
        if !self.harvest.is_empty() {
            activity.poll_io.bump();
        }
        if self.context.next_timer().is_some_and(|due| due <= Instant::now()) {
            activity.poll_exp.bump();
        }
        for index in 0..self.harvest.len() {
            let event = self.harvest[index];
            if self.context.report(event) == Reported::Closed && self.has_ghosts {
                self.note_ghost(event);
            }
        }
        self.harvest.clear();
        let pass = self.pass;
        self.ghosts.retain(|ghost| ghost.last == pass);
    }

    /// Remembers an event of a dead life. epoll forgets a closed descriptor by itself, unless its open file lives on in a
    /// copy that nobody declared: then it reports it for ever, and no number is left to remove it by. kqueue goes by the
    /// number: an event of a dead life means that its close is still to come, however long that takes.
    fn note_ghost(&mut self, event: Event) {
        let pass = self.pass;
        match self
            .ghosts
            .iter_mut()
            .find(|ghost| (ghost.fd, ghost.generation) == (event.fd, event.generation))
        {
            Some(ghost) if ghost.last == pass => {}
            Some(ghost) => {
                ghost.passes += 1;
                ghost.last = pass;
            }
            None => {
                self.ghosts.push(Ghost { fd: event.fd, generation: event.generation, passes: 1, last: pass });
            }
        }
    }

    fn rebuild(&mut self, forked: bool) -> std::io::Result<()> {
        self.poller.rebuild(forked)?;
        self.ghosts.clear();
        self.context.register_all();
        Ok(())
    }
}

fn change(pin: &Pin<'_>, known: Interest, wanted: Interest, force: bool) -> Change {
    let trigger = if pin.state() & state::EDGE != 0 { Trigger::Edge } else { Trigger::Level };
    Change { fd: pin.fd(), generation: pin.generation(), known, wanted, trigger, force }
}

/// Notes what this thread's poller holds, if the entry is of its group.
fn settle(pin: &Pin<'_>, context: &Context, holds: Interest) {
    if pin.group() == context.id().group() {
        pin.polled().set(context.id().mask().bits(), holds.recv, holds.send);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::core::{FdCore, InsertOptions};
    use crate::ids::{GroupId, ThreadId};
    use crate::poller::{Backend, Events, Leave, Wake};
    use crate::ready::Ready;
    use crate::table::FdTable;

    /// A kernel that holds one registration, and a poller that queues, as kqueue's does.
    #[derive(Default)]
    struct Kernel {
        holds: Mutex<Interest>,
    }

    struct Queueing {
        capabilities: Capabilities,
    }

    impl Backend for Queueing {
        fn name(&self) -> &'static str {
            "queueing"
        }

        fn capabilities(&self) -> Capabilities {
            self.capabilities
        }

        fn poller(&self, _: ThreadId) -> io::Result<Box<dyn Poller>> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn waker(&self, _: ThreadId) -> Option<Arc<dyn Wake>> {
            None
        }

        fn forget(&self, _: RawFd, _: GroupId, _: ThreadMask, _: ThreadMask, _: Leave) {}
    }

    /// Calls `meddle` in the middle of a pass, after the first change is queued.
    struct QueueingPoller<F> {
        kernel: Arc<Kernel>,
        changes: Vec<Change>,
        meddle: Option<F>,
    }

    impl<F: FnOnce() + Send> Poller for QueueingPoller<F> {
        fn update(&mut self, change: &Change) -> Option<Interest> {
            self.changes.push(*change);
            if let Some(meddle) = self.meddle.take() {
                meddle();
            }
            None
        }

        fn queued(&self) -> usize {
            self.changes.len()
        }

        fn flush(&mut self, settled: &mut dyn FnMut(RawFd, Interest)) {
            for change in self.changes.drain(..) {
                *self.kernel.holds.lock().unwrap() = change.wanted;
                settled(change.fd, change.wanted);
            }
        }

        fn wait(&mut self, _: &FdTable, _: Duration, _: &mut Vec<Event>) -> io::Result<()> {
            Ok(())
        }

        fn rebuild(&mut self, _: bool) -> io::Result<()> {
            Ok(())
        }
    }

    /// L1: a removal is queued by the private list; before it is submitted, another thread wants the direction again,
    /// and the shared list, which comes later in the same pass, finds a mask that still says "registered".
    #[test]
    fn a_want_between_a_queued_removal_and_its_submission_is_not_lost() {
        let kernel = Arc::new(Kernel::default());
        let table = FdTable::new(64, &[2]).unwrap();
        let core = Arc::new(FdCore::new(table, Box::new(Queueing { capabilities: Capabilities::ALL })));
        let group = GroupId::new(1).unwrap();
        let fd: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let handler = Arc::new(|_: &Ready<'_>| {});
        let handle = core.insert(fd, handler, group, ThreadMask::ALL, InsertOptions::default()).unwrap();

        // Registered for receiving, and then stopped: the next pass removes it.
        let id = ThreadId::new(group, 0).unwrap();
        let context = Context::new(core.clone(), id);
        core.table().pin(handle).unwrap().polled().set(id.mask().bits(), true, false);
        *kernel.holds.lock().unwrap() = Interest::RECV;
        context.push_update(handle, false);

        let other = core.clone();
        let meddle = move || other.fd(handle).want_recv().unwrap();
        let poller = QueueingPoller { kernel: kernel.clone(), changes: vec![], meddle: Some(meddle) };
        Worker::new(&context, Box::new(poller), None).apply_updates();
        assert_eq!(*kernel.holds.lock().unwrap(), Interest::RECV, "wanted, and nobody polls it");
        assert!(core.entry(handle).unwrap().polled_recv.contains(id.mask()), "S11");
    }

    /// Reports a dead life in every wait, as a kernel does until its number is closed, or for ever.
    struct Haunted {
        dead: Event,
        rebuilt: Arc<AtomicUsize>,
    }

    impl Poller for Haunted {
        fn update(&mut self, change: &Change) -> Option<Interest> {
            Some(change.wanted)
        }

        fn wait(&mut self, _: &FdTable, _: Duration, harvest: &mut Vec<Event>) -> io::Result<()> {
            harvest.push(self.dead);
            Ok(())
        }

        fn rebuild(&mut self, _: bool) -> io::Result<()> {
            self.rebuilt.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    /// How often the poller of a backend with these capabilities is replaced in `turns` turns that each hear of a dead life.
    fn rebuilt_in(turns: usize, capabilities: Capabilities) -> usize {
        let core =
            Arc::new(FdCore::new(FdTable::new(64, &[1]).unwrap(), Box::new(Queueing { capabilities })));
        let group = GroupId::new(1).unwrap();
        let context = Context::new(core.clone(), ThreadId::new(group, 0).unwrap());
        let fd: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let handler = Arc::new(|_: &Ready<'_>| {});
        let handle = core.insert(fd, handler, group, ThreadMask::ALL, InsertOptions::default()).unwrap();
        core.fd(handle).delete().unwrap();
        let dead = Event { fd: handle.number(), generation: handle.generation(), events: Events::READY_R };
        let rebuilt = Arc::new(AtomicUsize::new(0));
        let mut worker = Worker::new(&context, Box::new(Haunted { dead, rebuilt: rebuilt.clone() }), None);
        for _ in 0..turns {
            worker.turn().unwrap();
        }
        rebuilt.load(Ordering::SeqCst)
    }

    #[test]
    fn a_life_that_is_reported_after_its_end_costs_the_poller_only_if_a_close_does_not_end_it() {
        let once = GHOST_PASSES as usize + 1;
        let epoll = Capabilities { close_forgets: false, ..Capabilities::ALL };
        assert_eq!(rebuilt_in(once - 1, epoll), 0, "a batch that was harvested before the end is none");
        assert_eq!(rebuilt_in(2 * once, epoll), 2, "suspect 17");
        assert_eq!(rebuilt_in(20 * once, Capabilities::ALL), 0, "kqueue's goes when the number is closed");
        let poll = Capabilities { kernel_state: false, close_forgets: false, ..Capabilities::ALL };
        assert_eq!(rebuilt_in(20 * once, poll), 0, "there is nothing in the kernel");
    }
}
