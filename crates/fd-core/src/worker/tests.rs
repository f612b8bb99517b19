//! The loop of one thread, over pollers that play a kernel.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

use super::*;
use crate::poller::Events;
use crate::table::FdTable;
use crate::testing::{Time, context, group, handler, insert, open, thread};

/// A poller that answers as `script` says, and notes what it is asked.
#[derive(Default)]
struct Script {
    /// What each wait answers, in order; then nothing happens.
    waits: Vec<io::Result<Vec<Event>>>,
    /// What each rebuild answers, in order; then it succeeds.
    rebuilds: Vec<Errno>,
    /// How many updates are refused.
    refusals: usize,
    /// Whether updates are queued until a flush.
    queues: bool,
    queue: Vec<Change>,
    /// How many changes each flush submitted.
    flushed: Vec<usize>,
    /// Every change, in order.
    changes: Vec<Change>,
    timeouts: Vec<Duration>,
    /// What happens during the next wait.
    meanwhile: Option<Box<dyn FnOnce() + Send>>,
    rebuilt: Vec<bool>,
    holds: HashMap<RawFd, Interest>,
}

#[derive(Clone, Default)]
struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    fn poller(&self) -> Box<dyn Poller> {
        Box::new(self.clone())
    }

    fn with<R>(&self, action: impl FnOnce(&mut Script) -> R) -> R {
        action(&mut self.0.lock().unwrap())
    }
}

impl Poller for Scripted {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        self.with(|script| {
            if script.refusals > 0 {
                script.refusals -= 1;
                return Some(change.known);
            }
            script.changes.push(*change);
            if script.queues {
                script.queue.push(*change);
                return None;
            }
            script.holds.insert(change.fd, change.wanted);
            Some(change.wanted)
        })
    }

    fn queued(&self) -> usize {
        self.with(|script| script.queue.len())
    }

    fn flush(&mut self, settled: &mut dyn FnMut(RawFd, Interest)) {
        let submitted = self.with(|script| {
            script.flushed.push(script.queue.len());
            std::mem::take(&mut script.queue)
        });
        submitted.iter().for_each(|change| settled(change.fd, change.wanted));
    }

    fn wait(&mut self, _: &FdTable, timeout: Duration, batch: &mut Vec<Event>) -> io::Result<()> {
        self.with(|script| {
            script.timeouts.push(timeout);
            script.meanwhile.take().into_iter().for_each(|action| action());
            if !script.waits.is_empty() {
                batch.extend(script.waits.remove(0)?);
            }
            Ok(())
        })
    }

    fn rebuild(&mut self, forked: bool) -> io::Result<()> {
        self.with(|script| {
            script.rebuilt.push(forked);
            if script.rebuilds.is_empty() { Ok(()) } else { Err(script.rebuilds.remove(0).into()) }
        })
    }
}

/// Queues its changes, as kqueue's does. Calls `meddle` in the middle of a pass, after the first change is queued.
struct Queueing<F> {
    holds: Arc<Mutex<Interest>>,
    changes: Vec<Change>,
    meddle: Option<F>,
}

impl<F: FnOnce() + Send> Poller for Queueing<F> {
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
            *self.holds.lock().unwrap() = change.wanted;
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
    let context = context(Capabilities::ALL, &Time::new());
    let handle = insert(&context);
    let mask = context.id().mask();

    // Registered for receiving, and then stopped: the next pass removes it.
    context.core().table().pin(handle).unwrap().polled().set(mask.bits(), true, false);
    let holds = Arc::new(Mutex::new(Interest::RECV));
    context.push_update(handle, false);

    let other = Arc::clone(context.core());
    let meddle = move || other.registration(handle).want_recv().unwrap();
    let poller = Queueing { holds: holds.clone(), changes: vec![], meddle: Some(meddle) };
    Worker::new(&context, Box::new(poller), None).apply_updates();
    assert_eq!(*holds.lock().unwrap(), Interest::RECV, "wanted, and nobody polls it");
    assert!(context.core().entry(handle).unwrap().polled_recv.contains(mask), "S11");
}

/// An event of a registration that has ended.
fn stale_event(context: &Context) -> Event {
    let handle = insert(context);
    context.core().registration(handle).delete().unwrap();
    Event { fd: handle.number(), generation: handle.generation(), events: Events::READY_R }
}

/// What becomes of the poller in two seconds in each of whose milliseconds it reports a stale registration.
fn rebuilt_in_two_seconds(capabilities: Capabilities) -> Vec<bool> {
    let time = Time::new();
    let context = context(capabilities, &time);
    let (stale, scripted) = (stale_event(&context), Scripted::default());
    let mut worker = Worker::new(&context, scripted.poller(), None);
    while time.since_start() < 2_000 {
        scripted.with(|script| script.waits.push(Ok(vec![stale])));
        worker.iterate().unwrap();
        time.pass(100);
    }
    scripted.with(|script| script.rebuilt.clone())
}

#[test]
fn a_stale_registration_costs_the_poller_only_if_no_close_ends_it() {
    let epoll = Capabilities { close_forgets: false, ..Capabilities::ALL };
    assert!(!rebuilt_in_two_seconds(epoll).is_empty(), "suspect 17");
    assert_eq!(rebuilt_in_two_seconds(Capabilities::ALL), [], "kqueue's goes when the number is closed");
    let poll = Capabilities { kernel_state: false, close_forgets: false, ..Capabilities::ALL };
    assert_eq!(rebuilt_in_two_seconds(poll), [], "there is nothing in the kernel");
}

/// With nothing but stale events the next wait would return at once, too. With others there is work.
#[test]
fn a_batch_of_nothing_but_stale_events_is_followed_by_a_pause() {
    for (stale_events, live_events, waits, pause) in [(0, 0, 0, 0), (0, 1, 1, 0), (1, 1, 1, 0), (2, 0, 1, 1)]
    {
        let context = context(Capabilities { close_forgets: false, ..Capabilities::ALL }, &Time::new());
        let (stale, scripted) = (stale_event(&context), Scripted::default());
        let handle = insert(&context);
        let live = Event { fd: handle.number(), generation: handle.generation(), events: Events::READY_R };
        let batch = [vec![stale; stale_events], vec![live; live_events]].concat();
        scripted.with(|script| script.waits.push(Ok(batch)));
        Worker::new(&context, scripted.poller(), None).iterate().unwrap();
        let counters = context.activity().snapshot();
        let expected = (waits, pause);
        assert_eq!((counters.poll_io, counters.poll_pause), expected, "{stale_events} and {live_events}");
    }
}

#[test]
fn a_wait_that_reaches_the_time_of_a_timer_is_counted() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let scripted = Scripted::default();
    let mut worker = Worker::new(&context, scripted.poller(), None);
    context.after(Duration::from_millis(5), |_| ());
    let expired = [4, 1].map(|waited| {
        let time = time.clone();
        scripted.with(|script| script.meanwhile = Some(Box::new(move || time.pass(waited))));
        worker.iterate().unwrap();
        context.activity().snapshot().poll_exp
    });
    assert_eq!(expired, [0, 1], "after 4 ms, and after 5");
}

/// B3: a new poller needs a descriptor.
#[test]
fn a_poller_that_cannot_be_replaced_is_kept_and_tried_again() {
    let time = Time::new();
    let context = context(Capabilities { close_forgets: false, ..Capabilities::ALL }, &time);
    let (stale, scripted) = (stale_event(&context), Scripted::default());
    scripted.with(|script| script.rebuilds = vec![Errno::EMFILE, Errno::ENFILE]);
    let mut worker = Worker::new(&context, scripted.poller(), None);
    let mut turn = |milliseconds| {
        scripted.with(|script| script.waits.push(Ok(vec![stale])));
        worker.iterate().unwrap();
        time.pass(milliseconds);
        scripted.with(|script| script.rebuilt.len())
    };
    assert_eq!([turn(2_000), turn(1), turn(1)], [0, 1, 1], "tried once, and then left alone for a while");
    assert_eq!([turn(20), turn(20), turn(20)], [1, 2, 3]);
    let counters = context.activity().snapshot();
    assert_eq!((counters.poll_rebuild, counters.poll_rebuild_fail), (3, 2));
}

/// The parent's poller must not be touched: its answers are the parent's.
#[test]
fn a_forked_child_without_a_poller_of_its_own_does_not_wait_and_goes_on() {
    let context = context(Capabilities::ALL, &Time::new());
    let (scripted, ran) = (Scripted::default(), Arc::new(AtomicU32::new(0)));
    scripted.with(|script| script.rebuilds = vec![Errno::EMFILE; 2]);
    let mut worker = Worker::new(&context, scripted.poller(), None);
    context.pretend_forked();
    for expected in [0, 0, 1] {
        let count = Arc::clone(&ran);
        context
            .core()
            .post(context.id(), move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap();
        worker.iterate().unwrap();
        assert_eq!(scripted.with(|script| script.timeouts.len()), expected);
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3, "tasks run meanwhile");
    assert_eq!(scripted.with(|script| script.rebuilt.clone()), [true; 3]);
    let counters = context.activity().snapshot();
    assert_eq!((counters.poll_rebuild_fail, counters.poll_pause), (2, 2 * RETRY.as_millis() as u64));
}

/// B4: what runs in an iteration takes time, and the wait behind it is shorter by that.
#[test]
fn a_wait_ends_when_the_next_timer_is_due_whatever_ran_before_it() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (scripted, fired) = (Scripted::default(), Rc::new(RefCell::new(vec![])));
    let set = |name: &'static str, delay: u64, work: u32| {
        let (time, fired) = (time.clone(), Rc::clone(&fired));
        context.after(Duration::from_millis(delay), move |_| {
            fired.borrow_mut().push((name, time.since_start()));
            time.pass(work);
        });
    };
    set("works", 0, 100);
    set("late", 200, 0);
    set("last", 200, 0);
    let busy = time.clone();
    context.core().post(context.id(), move |_| busy.pass(30)).unwrap();
    let mut worker = Worker::new(&context, scripted.poller(), None);
    worker.iterate().unwrap();
    let waited = scripted.with(|script| script.timeouts.pop()).unwrap();
    assert_eq!(waited, Duration::from_millis(70), "of 200, 130 have passed at work");
    time.pass(70);
    worker.iterate().unwrap();
    assert_eq!(*fired.borrow(), [("works", 30), ("late", 200), ("last", 200)]);
    assert_eq!(scripted.with(|script| script.timeouts.pop()), Some(LONGEST_WAIT));
}

/// B4: 25 times 20 ms of waiting and 20 ms of work take one second.
#[test]
fn work_between_two_timers_does_not_add_up_to_a_drift() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let scripted = Scripted::default();
    let mut worker = Worker::new(&context, scripted.poller(), None);
    for _ in 0..25 {
        let work = time.clone();
        context
            .core()
            .post(context.id(), |context| {
                context.after(Duration::from_millis(40), |_| {});
            })
            .unwrap();
        context.core().post(context.id(), move |_| work.pass(20)).unwrap();
        worker.iterate().unwrap();
        let waited = scripted.with(|script| script.timeouts.pop()).unwrap();
        time.pass(waited.as_millis() as u32);
    }
    assert_eq!(time.since_start(), 1000);
}

#[test]
fn a_delay_without_end_is_a_timer_that_never_fires() {
    let context = context(Capabilities::ALL, &Time::new());
    let scripted = Scripted::default();
    let mut worker = Worker::new(&context, scripted.poller(), None);
    context.after(Duration::MAX, |_| panic!("never"));
    worker.iterate().unwrap();
    assert_eq!(scripted.with(|script| script.timeouts.pop()), Some(LONGEST_WAIT));
}

#[test]
fn a_thread_whose_waits_fail_for_lack_of_memory_goes_on() {
    let context = context(Capabilities::ALL, &Time::new());
    let scripted = Scripted::default();
    let failures = 2 * LOST as usize;
    scripted.with(|script| script.waits = (0..failures).map(|_| Err(Errno::ENOMEM.into())).collect());
    let mut worker = Worker::new(&context, scripted.poller(), None);
    (0..=failures).for_each(|_| worker.iterate().unwrap());
    let counters = context.activity().snapshot();
    assert_eq!(counters.poll_error, failures as u64);
    let paused: u64 = (1..=failures as u64).map(|failure| failure.min(10)).sum();
    assert_eq!(counters.poll_pause, paused, "in milliseconds");
}

#[test]
fn a_thread_whose_poller_is_gone_ends_and_one_that_recovers_does_not() {
    for recovers in [false, true] {
        let context = context(Capabilities::ALL, &Time::new());
        let scripted = Scripted::default();
        let failure = |index| Err(if index % 2 == 0 { Errno::EBADF } else { Errno::EINVAL }.into());
        scripted.with(|script| script.waits = (1..LOST).map(failure).collect());
        if recovers {
            scripted.with(|script| script.waits.push(Ok(vec![])));
        }
        scripted.with(|script| script.waits.extend((0..2).map(failure)));
        let mut worker = Worker::new(&context, scripted.poller(), None);
        let ended = (0..=LOST).find_map(|_| worker.iterate().err());
        assert_eq!(ended.is_some(), !recovers, "{ended:?}");
    }
}

#[test]
fn what_the_kernel_refuses_is_wanted_again_until_it_is_held() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let scripted = Scripted::default();
    scripted.with(|script| script.refusals = 2);
    let handle = insert(&context);
    context.registration(handle).want_recv().unwrap();
    let mut worker = Worker::new(&context, scripted.poller(), None);
    let mut held = vec![];
    for _ in 0..4 {
        worker.iterate().unwrap();
        held.push(scripted.with(|script| script.holds.contains_key(&handle.number())));
        let waited = scripted.with(|script| script.timeouts.pop()).unwrap();
        time.pass(waited.as_millis() as u32);
    }
    assert_eq!(held, [false, false, true, true]);
    assert_eq!(time.since_start(), 2 * RETRY.as_millis() as u32 + 2 * LONGEST_WAIT.as_millis() as u32);
    assert_eq!(context.activity().snapshot().poll_refused, 2);
    let entry = context.core().entry(handle).unwrap();
    assert!(entry.polled_recv.contains(context.id().mask()), "S11");
}

#[test]
fn a_pause_lasts_as_long_as_it_was_to_be() {
    let (begun, time) = (Instant::now(), Duration::from_millis(20));
    pause(time);
    assert!(begun.elapsed() >= time);
}

/// With the sleep of std this one would never end: each signal restarts it with the rest of its time.
#[test]
fn a_pause_ends_with_a_signal_however_long_it_was_to_be() {
    use std::os::unix::thread::JoinHandleExt;

    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    extern "C" fn ignore(_: nix::libc::c_int) {}

    let handler = SigAction::new(SigHandler::Handler(ignore), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does nothing, and no other test uses the signal, which does nothing without a handler either.
    unsafe { sigaction(Signal::SIGURG, &handler) }.unwrap();
    let paused = std::thread::spawn(|| pause(Duration::from_secs(24 * 60 * 60)));
    while !paused.is_finished() {
        // SAFETY: the thread has not been joined.
        unsafe { nix::libc::pthread_kill(paused.as_pthread_t(), nix::libc::SIGURG) };
        std::thread::yield_now();
    }
    paused.join().unwrap();
}

/// What one pass tells the poller of one descriptor: what it holds by the masks, what it is to hold, and whether by force.
struct Told {
    /// State, and the polled masks of this thread and of another one.
    state: u32,
    mine: Interest,
    others: Interest,
    allowed: bool,
    force: bool,
    expected: Option<(Interest, Interest, bool)>,
}

#[test]
fn a_change_goes_from_what_this_thread_holds_to_what_it_is_to_hold() {
    const NONE: Interest = Interest::NONE;
    const RECV: Interest = Interest::RECV;
    const SEND: Interest = Interest::SEND;
    let told = |state, mine, others, allowed, force, expected| Told {
        state,
        mine,
        others,
        allowed,
        force,
        expected,
    };
    for (number, told) in [
        told(state::ACTIVE_R, NONE, NONE, true, false, Some((NONE, RECV, false))),
        told(state::ACTIVE_R, RECV, NONE, true, false, None),
        told(state::ACTIVE_R, RECV, NONE, true, true, Some((RECV, RECV, true))),
        told(state::ACTIVE_R, NONE, Interest::BOTH, true, false, Some((NONE, RECV, false))),
        told(state::ACTIVE_W, RECV, NONE, true, false, Some((RECV, SEND, false))),
        told(state::ACTIVE_W, NONE, SEND, true, false, Some((NONE, SEND, false))),
        told(0, SEND, NONE, true, false, Some((SEND, NONE, false))),
        told(state::ACTIVE, RECV, NONE, false, false, Some((RECV, NONE, false))),
        told(state::ACTIVE, NONE, RECV, false, false, None),
        told(state::ACTIVE_R | state::REARM, RECV, NONE, true, false, Some((RECV, RECV, true))),
        told(state::ACTIVE_R | state::REARM, RECV, NONE, false, false, Some((RECV, NONE, false))),
        told(state::ACTIVE_R | state::REARM, NONE, NONE, false, false, None),
    ]
    .into_iter()
    .enumerate()
    {
        let context = context(Capabilities::ALL, &Time::new());
        let scripted = Scripted::default();
        let owner = if told.allowed { context.id() } else { thread(1, 1) };
        let options = crate::shared::InsertOptions::default();
        let handle = context.core().insert(open(), handler(), group(1), owner.mask(), options).unwrap();
        let pin = context.core().table().pin(handle).unwrap();
        pin.entry().state.fetch_or(told.state, Ordering::AcqRel);
        pin.polled().set(0b01, told.mine.recv, told.mine.send);
        pin.polled().set(0b10, told.others.recv, told.others.send);
        drop(pin);
        context.push_update(handle, told.force);
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let changes = scripted.with(|script| std::mem::take(&mut script.changes));
        let changes: Vec<_> = changes.iter().map(|it| (it.known, it.wanted, it.force)).collect();
        assert_eq!(changes, Vec::from_iter(told.expected), "row {number}");
        let entry = context.core().entry(handle).unwrap();
        let rearm = if told.allowed { 0 } else { told.state & state::REARM };
        assert_eq!(
            entry.state.bits() & (state::ACTIVE | state::REARM),
            told.state & state::ACTIVE | rearm,
            "row {number}"
        );
        let holds = told.expected.map_or(told.mine, |(_, wanted, _)| wanted);
        let polled = [entry.polled_recv, entry.polled_send].map(|mask| mask.bits());
        let expected = [holds.recv, holds.send].into_iter().zip([told.others.recv, told.others.send]);
        let expected: Vec<_> =
            expected.map(|(mine, others)| u64::from(mine) + 2 * u64::from(others)).collect();
        assert_eq!(polled, expected[..], "row {number}: S11");
    }
}

#[test]
fn a_change_carries_the_trigger_of_its_registration() {
    for trigger in [Trigger::Level, Trigger::Edge] {
        let context = context(Capabilities::ALL, &Time::new());
        let scripted = Scripted::default();
        let options = crate::shared::InsertOptions { trigger, ..Default::default() };
        let id = context.id();
        let handle = context.core().insert(open(), handler(), id.group(), id.mask(), options).unwrap();
        context.registration(handle).want_recv().unwrap();
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let triggers: Vec<_> = scripted.with(|script| script.changes.iter().map(|it| it.trigger).collect());
        assert_eq!(triggers, [trigger]);
    }
}

/// Work that is published after it was looked for, and before the sleep is announced, writes to no wake descriptor.
#[test]
fn a_thread_that_finds_work_does_not_sleep() {
    let context = context(Capabilities::ALL, &Time::new());
    let scripted = Scripted::default();
    let mut worker = Worker::new(&context, scripted.poller(), None);
    context
        .core()
        .post(context.id(), |context| {
            context.core().post(context.id(), |_| ()).unwrap();
        })
        .unwrap();
    let waited = [0, 1].map(|_| {
        worker.iterate().unwrap();
        scripted.with(|script| script.timeouts.pop()).unwrap()
    });
    assert_eq!(waited, [Duration::ZERO, LONGEST_WAIT]);
}

#[test]
fn queued_changes_are_submitted_together_and_those_of_one_descriptor_one_by_one() {
    for (pushed, flushes) in [(&[0, 1, 2][..], &[3][..]), (&[0, 1, 0, 2], &[2, 2]), (&[0, 0], &[1, 1])] {
        let context = context(Capabilities::ALL, &Time::new());
        let scripted = Scripted::default();
        scripted.with(|script| script.queues = true);
        let handles: Vec<_> = (0..3).map(|_| insert(&context)).collect();
        for index in pushed {
            let pin = context.core().table().pin(handles[*index]).unwrap();
            pin.entry().state.fetch_or(state::ACTIVE_R, Ordering::AcqRel);
            drop(pin);
            context.push_update(handles[*index], true);
        }
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let mut flushed = scripted.with(|script| std::mem::take(&mut script.flushed));
        flushed.retain(|count| *count > 0);
        assert_eq!(flushed, flushes, "{pushed:?}");
        for index in pushed {
            let entry = context.core().entry(handles[*index]).unwrap();
            assert_eq!(entry.polled_recv, context.id().mask(), "{pushed:?}: S11");
        }
    }
}

/// The shared list: with state in the kernel each thread owes its own look; without, one thread looks for all.
#[test]
fn who_looks_at_an_update_of_several_threads_depends_on_where_the_interest_is() {
    for (kernel_state, left) in [(true, 0b10), (false, 0)] {
        let capabilities = Capabilities { kernel_state, ..Capabilities::ALL };
        let context = context(capabilities, &Time::new());
        let options = crate::shared::InsertOptions::default();
        let both = crate::words::ids::ThreadMask::from_bits(0b11);
        let handle = context.core().insert(open(), handler(), group(1), both, options).unwrap();
        context.core().registration(handle).want_recv().unwrap();
        let bits = || context.core().table().pin(handle).unwrap().entry().update_mask.load(Ordering::Acquire);
        assert_eq!(bits(), 0b11, "L1");
        let scripted = Scripted::default();
        Worker::new(&context, scripted.poller(), None).apply_updates();
        assert_eq!(bits(), left, "kernel state: {kernel_state}");
        let changes = scripted.with(|script| std::mem::take(&mut script.changes));
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].known, changes[0].wanted), (Interest::NONE, Interest::RECV));
        let polled = context.core().entry(handle).unwrap().polled_recv.bits();
        assert_eq!(polled, if kernel_state { 0b01 } else { 0b11 });
        // Once more, from what is held now.
        context.core().registration(handle).want_send().unwrap();
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let change = scripted.with(|script| script.changes.pop()).unwrap();
        assert_eq!((change.known, change.wanted), (Interest::RECV, Interest::BOTH));
    }
}

#[test]
fn a_task_a_signal_or_a_stop_is_work_and_nothing_else_is() {
    let context = context(Capabilities::ALL, &Time::new());
    let signals = Arc::new(Signals::new(vec![(1, Box::new(|_: &Context| ()))]));
    let mut worker = Worker::new(&context, Scripted::default().poller(), Some(signals));
    assert!(!worker.has_work());
    crate::worker::signals::note(context.core(), context.id(), 1);
    assert!(worker.has_work());
    worker.run_tasks();
    assert!(!worker.has_work());
    context.core().post(context.id(), |_| ()).unwrap();
    assert!(worker.has_work());
    worker.run_tasks();
    assert!(!worker.has_work());
    context.core().request_stop();
    assert!(worker.has_work());
}

#[test]
fn a_worker_that_ends_keeps_the_panic_of_a_task_that_it_never_ran() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let context = context(Capabilities::ALL, &Time::new());
    let mut worker = Worker::new(&context, Scripted::default().poller(), None);
    worker.tasks.push_back(Box::new({
        let panics = Panics;
        move |_| drop(panics)
    }));
    assert!(worker.end().panic().is_some());
}
