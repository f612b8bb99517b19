//! The loop of one thread, over simulated pollers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

use super::*;
use crate::poller::testing::in_child;
use crate::poller::{Change, Events, Trigger};
use crate::shared::ready::ReadyGuard;
use crate::shared::timers::TIMERS;
use crate::table::{FdHandle, FdTable};
use crate::testing::{Time, context, group, handler, insert, insert_for, insert_with, one_thread, thread};
use crate::words::state;

/// A poller that answers as `script` prescribes, and records its calls.
#[derive(Default)]
struct Script {
    /// The result of each wait, in order. Later waits return no events.
    waits: Vec<io::Result<Vec<Event>>>,
    /// The error of each rebuild, in order. Later rebuilds succeed.
    rebuilds: Vec<Errno>,
    /// The number of updates that are refused.
    refusals: usize,
    /// Whether updates are queued until a flush.
    queues: bool,
    queue: Vec<Change>,
    /// The number of changes that each flush submitted.
    flushed: Vec<usize>,
    /// Every change, in order.
    changes: Vec<Change>,
    timeouts: Vec<Option<Duration>>,
    /// An action that runs during the next wait.
    during_wait: Option<Box<dyn FnOnce() + Send>>,
    rebuilt: Vec<bool>,
    holds: HashMap<RawFd, Interest>,
}

#[derive(Clone, Default)]
struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    fn poller(&self) -> Box<dyn Poller> {
        Box::new(self.clone())
    }

    /// A poller, and a worker that has it.
    fn worker(context: &Context) -> (Self, Worker<'_>) {
        let scripted = Self::default();
        let worker = Worker::new(context, scripted.poller(), None);
        (scripted, worker)
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

    fn wait(&mut self, _: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        self.with(|script| {
            script.timeouts.push(timeout);
            script.during_wait.take().into_iter().for_each(|action| action());
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

/// Queues its changes, as kqueue's poller does. Calls `interfere` once, after the first change is queued.
struct Queueing<F> {
    holds: Arc<Mutex<Interest>>,
    changes: Vec<Change>,
    interfere: Option<F>,
}

impl<F: FnOnce() + Send> Poller for Queueing<F> {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        self.changes.push(*change);
        if let Some(interfere) = self.interfere.take() {
            interfere();
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

    fn wait(&mut self, _: &FdTable, _: Option<Duration>, _: &mut Vec<Event>) -> io::Result<()> {
        Ok(())
    }

    fn rebuild(&mut self, _: bool) -> io::Result<()> {
        Ok(())
    }
}

/// L1: the private list queues a removal. Before it is submitted, another thread enables the direction again,
/// and the shared list, which is applied later, finds a polled mask that still has the thread.
#[test]
fn a_want_between_a_queued_removal_and_its_submission_is_not_lost() {
    let context = one_thread();
    let handle = insert(&context);
    let mask = context.id().mask();

    // Registered for receiving, and then deactivated: the next application of updates removes it.
    context.core().table().pin(handle).unwrap().polled().set(mask.bits(), true, false);
    let holds = Arc::new(Mutex::new(Interest::RECV));
    context.push_update(handle, false);

    let other = Arc::clone(context.core());
    let interfere = move || other.registration(handle).want_recv().unwrap();
    let poller = Queueing { holds: holds.clone(), changes: vec![], interfere: Some(interfere) };
    Worker::new(&context, Box::new(poller), None).apply_updates();
    assert_eq!(*holds.lock().unwrap(), Interest::RECV, "the active direction is not polled");
    assert!(context.core().entry(handle).unwrap().polled_recv.contains(mask), "S11");
}

/// An event of a registration that has ended.
fn stale_event(context: &Context) -> Event {
    let handle = insert(context);
    context.core().registration(handle).delete().unwrap();
    Event { fd: handle.number(), generation: handle.generation(), events: Events::READY_R }
}

/// Lets the poller report a stale registration for two seconds. Returns its rebuilds.
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
fn a_poller_is_replaced_only_if_no_close_ends_the_stale_registration() {
    let epoll = Capabilities { close_forgets: false, ..Capabilities::ALL };
    assert!(!rebuilt_in_two_seconds(epoll).is_empty(), "suspect 17");
    assert_eq!(
        rebuilt_in_two_seconds(Capabilities::ALL),
        [false; 0],
        "kqueue's registration ends with the close"
    );
    let poll = Capabilities { kernel_state: false, close_forgets: false, ..Capabilities::ALL };
    assert_eq!(rebuilt_in_two_seconds(poll), [false; 0], "the kernel has no registration");
}

/// With stale events only, the next wait would return at once, too. With other events, there is work.
#[test]
fn a_batch_of_stale_events_only_is_followed_by_a_pause() {
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

/// The most common end of a connection. A pause of a millisecond for each would stop a busy server.
#[test]
fn a_handler_that_ends_its_own_registration_is_no_stale_event() {
    let context = context(Capabilities { close_forgets: false, ..Capabilities::ALL }, &Time::new());
    let (scripted, mut worker) = Scripted::worker(&context);
    let handle = insert_with(&context, |ready: &ReadyGuard<'_>| ready.registration().delete().unwrap());
    context.registration(handle).want_recv().unwrap();
    let event = Event { fd: handle.number(), generation: handle.generation(), events: Events::READY_R };
    scripted.with(|script| script.waits = vec![Ok(vec![event]), Ok(vec![event])]);
    let mut paused = || {
        worker.iterate().unwrap();
        context.activity().snapshot().poll_pause
    };
    assert_eq!(paused(), 0, "its handler ran");
    assert_eq!(paused(), 1, "a copy of the descriptor, which the second event comes from, is stale");
}

#[test]
fn a_wait_that_reaches_the_time_of_a_timer_is_counted() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (scripted, mut worker) = Scripted::worker(&context);
    context.after(Duration::from_millis(5), |_| ());
    let expired = [4, 1].map(|waited| {
        let time = time.clone();
        scripted.with(|script| script.during_wait = Some(Box::new(move || time.pass(waited))));
        worker.iterate().unwrap();
        context.activity().snapshot().poll_exp
    });
    assert_eq!(expired, [0, 1], "after 4 ms, and after 5");
}

/// A new poller needs a descriptor.
#[test]
fn a_poller_that_cannot_be_replaced_is_kept_and_replaced_later() {
    let time = Time::new();
    let context = context(Capabilities { close_forgets: false, ..Capabilities::ALL }, &time);
    let (stale, scripted) = (stale_event(&context), Scripted::default());
    scripted.with(|script| script.rebuilds = vec![Errno::EMFILE, Errno::ENFILE]);
    let mut worker = Worker::new(&context, scripted.poller(), None);
    let mut iterate = |milliseconds| {
        scripted.with(|script| script.waits.push(Ok(vec![stale])));
        worker.iterate().unwrap();
        time.pass(milliseconds);
        scripted.with(|script| script.rebuilt.len())
    };
    assert_eq!([iterate(2_000), iterate(1), iterate(1)], [0, 1, 1], "one attempt, and then a delay");
    assert_eq!([iterate(20), iterate(20), iterate(20)], [1, 2, 3]);
    let counters = context.activity().snapshot();
    assert_eq!((counters.poll_rebuild, counters.poll_rebuild_fail), (1, 2));
}

/// The child must not use the parent's poller, whose events belong to the parent.
#[test]
fn a_forked_child_without_its_own_poller_does_not_wait_and_continues() {
    let context = one_thread();
    let (scripted, ran) = (Scripted::default(), Arc::new(AtomicU32::new(0)));
    scripted.with(|script| script.rebuilds = vec![Errno::EMFILE; 2]);
    let mut worker = Worker::new(&context, scripted.poller(), None);
    context.pretend_forked();
    for expected in [0, 0, 1] {
        let count = Arc::clone(&ran);
        context.core().post(context.id(), move |_| _ = count.fetch_add(1, Ordering::SeqCst)).unwrap();
        worker.iterate().unwrap();
        assert_eq!(scripted.with(|script| script.timeouts.len()), expected);
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3, "tasks run meanwhile");
    assert_eq!(scripted.with(|script| script.rebuilt.clone()), [true; 3]);
    let counters = context.activity().snapshot();
    assert_eq!((counters.poll_rebuild_fail, counters.poll_pause), (2, 2 * RETRY.as_millis() as u64));
}

/// A waker that counts its calls.
#[derive(Default)]
struct Counting(AtomicU32);

impl crate::poller::Wake for Counting {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The wake descriptor is the parent's: until the child has adopted the core, its signals wake no thread. The
/// adoption finds them.
#[test]
fn a_signal_in_a_child_that_has_not_adopted_the_core_wakes_no_thread_of_the_parent() {
    let context = one_thread();
    let (core, waker) = (context.core(), Arc::new(Counting::default()));
    context.shared().sleep.set_waker(waker.clone());
    context.shared().sleep.announce();
    assert!(in_child(|| {
        crate::worker::signals::note(core, 1);
        let woke = waker.0.load(Ordering::SeqCst) != 0;
        !woke && context.shared().signals.load(Ordering::SeqCst) == 1
    }));
    crate::worker::signals::note(core, 1);
    assert_eq!(waker.0.load(Ordering::SeqCst), 1, "in the parent it does");
}

/// Two posts, each with a task that notes its name. The queue is emptied in between.
#[test]
fn tasks_run_in_the_order_of_their_posts() {
    let context = one_thread();
    let (scripted, ran) = (Scripted::default(), Arc::new(Mutex::new(vec![])));
    let mut worker = Worker::new(&context, scripted.poller(), None);
    let post = |number: usize| {
        let ran = Arc::clone(&ran);
        context.core().post(context.id(), move |_| ran.lock().unwrap().push(number)).unwrap();
    };
    // More than one iteration runs, so that some wait beside later posts.
    (0..TASKS + 10).for_each(post);
    worker.iterate().unwrap();
    (TASKS + 10..3 * TASKS).for_each(post);
    (0..3).for_each(|_| worker.iterate().unwrap());
    assert_eq!(*ran.lock().unwrap(), (0..3 * TASKS).collect::<Vec<_>>());
}

/// Two posters kept a thread from its descriptors for seconds.
#[test]
fn an_iteration_runs_a_bounded_number_of_tasks_and_does_not_sleep_before_the_rest() {
    let context = one_thread();
    let (scripted, ran) = (Scripted::default(), Arc::new(AtomicU32::new(0)));
    let mut worker = Worker::new(&context, scripted.poller(), None);
    for _ in 0..2 * TASKS + 1 {
        let ran = Arc::clone(&ran);
        context.core().post(context.id(), move |_| _ = ran.fetch_add(1, Ordering::SeqCst)).unwrap();
    }
    let tasks = TASKS as u32;
    for (expected, timeout) in
        [(tasks, Some(Duration::ZERO)), (2 * tasks, Some(Duration::ZERO)), (2 * tasks + 1, None)]
    {
        worker.iterate().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), expected);
        assert_eq!(scripted.with(|script| script.timeouts.pop()), Some(timeout), "{expected} have run");
    }
    let counters = context.core().activity().0[0].1;
    assert_eq!((counters.tasks_posted, counters.tasks), (u64::from(2 * tasks + 1), u64::from(2 * tasks + 1)));
}

/// A task that posts itself again, and one that posts two.
#[test]
fn tasks_that_post_tasks_do_not_keep_the_thread_from_its_poller() {
    fn again(context: &Context) {
        (0..2).for_each(|_| context.core().post(context.id(), again).unwrap());
    }
    let context = one_thread();
    let (scripted, mut worker) = Scripted::worker(&context);
    context.core().post(context.id(), again).unwrap();
    for iterations in 1..4 {
        worker.iterate().unwrap();
        assert_eq!(scripted.with(|script| script.timeouts.len()), iterations);
    }
}

#[test]
fn tasks_and_timers_do_not_begin_after_a_stop_is_requested() {
    let context = one_thread();
    let (scripted, ran) = (Scripted::default(), Arc::new(AtomicU32::new(0)));
    let mut worker = Worker::new(&context, scripted.poller(), None);
    context.core().post(context.id(), |context| context.core().request_stop()).unwrap();
    let count = |ran: &Arc<AtomicU32>| {
        let ran = Arc::clone(ran);
        move |_: &Context| _ = ran.fetch_add(1, Ordering::SeqCst)
    };
    context.core().post(context.id(), count(&ran)).unwrap();
    context.after(Duration::ZERO, count(&ran));
    worker.iterate().unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(worker.end().panic().is_none());
    assert!(context.end_timers().panic().is_none());
    assert_eq!(Arc::strong_count(&ran), 1, "both are dropped");
}

/// The clock stands still, as a test's may.
#[test]
fn an_iteration_runs_a_bounded_number_of_timers_and_none_that_is_set_meanwhile() {
    fn again(ran: Rc<RefCell<usize>>, context: &Context) {
        *ran.borrow_mut() += 1;
        context.after(Duration::ZERO, move |context| again(ran, context));
    }
    let context = one_thread();
    let (scripted, ran) = (Scripted::default(), Rc::new(RefCell::new(0)));
    let mut worker = Worker::new(&context, scripted.poller(), None);
    let first = Rc::clone(&ran);
    context.after(Duration::ZERO, move |context| again(first, context));
    for expected in 1..4 {
        worker.iterate().unwrap();
        assert_eq!(*ran.borrow(), expected, "one that sets itself again");
        assert_eq!(scripted.with(|script| script.timeouts.pop()), Some(Some(Duration::ZERO)));
    }
    for _ in 0..2 * TIMERS {
        let ran = Rc::clone(&ran);
        context.after(Duration::ZERO, move |_| *ran.borrow_mut() += 1000);
    }
    worker.iterate().unwrap();
    assert_eq!(*ran.borrow() / 1000, TIMERS - 1);
}

/// The work of an iteration takes time, and its wait is shorter by that time.
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
    assert_eq!(waited, Some(Duration::from_millis(70)), "130 of 200 ms have passed with work");
    time.pass(70);
    worker.iterate().unwrap();
    assert_eq!(*fired.borrow(), [("works", 30), ("late", 200), ("last", 200)]);
    assert_eq!(scripted.with(|script| script.timeouts.pop()), Some(None), "no limit");
}

/// 25 times 20 ms of waiting and 20 ms of work take one second.
#[test]
fn work_between_two_timers_does_not_add_up_to_a_drift() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (scripted, mut worker) = Scripted::worker(&context);
    for _ in 0..25 {
        let work = time.clone();
        let set = |context: &Context| _ = context.after(Duration::from_millis(40), |_| {});
        context.core().post(context.id(), set).unwrap();
        context.core().post(context.id(), move |_| work.pass(20)).unwrap();
        worker.iterate().unwrap();
        let waited = scripted.with(|script| script.timeouts.pop()).unwrap().expect("there is a timer");
        time.pass(waited.as_millis() as u32);
    }
    assert_eq!(time.since_start(), 1000);
}

#[test]
fn a_timer_with_an_infinite_delay_never_fires() {
    let context = one_thread();
    let (scripted, mut worker) = Scripted::worker(&context);
    context.after(Duration::MAX, |_| panic!("never"));
    worker.iterate().unwrap();
    let waited = scripted.with(|script| script.timeouts.pop()).unwrap();
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    assert!(waited.is_none_or(|waited| waited > YEAR), "{waited:?}");
}

#[test]
fn a_thread_continues_after_waits_that_fail_for_lack_of_memory() {
    let context = one_thread();
    let (scripted, mut worker) = Scripted::worker(&context);
    let failures = 2 * LOST as usize;
    scripted.with(|script| script.waits = (0..failures).map(|_| Err(Errno::ENOMEM.into())).collect());
    (0..=failures).for_each(|_| worker.iterate().unwrap());
    let counters = context.activity().snapshot();
    assert_eq!(counters.poll_error, failures as u64);
    let paused: u64 = (1..=failures as u64).map(|failure| failure.min(10)).sum();
    assert_eq!(counters.poll_pause, paused, "in milliseconds");
}

#[test]
fn a_thread_whose_poller_is_gone_ends_and_one_that_recovers_does_not() {
    for recovers in [false, true] {
        let context = one_thread();
        let (scripted, mut worker) = Scripted::worker(&context);
        let failure = |index| Err(if index % 2 == 0 { Errno::EBADF } else { Errno::EINVAL }.into());
        scripted.with(|script| script.waits = (1..LOST).map(failure).collect());
        if recovers {
            scripted.with(|script| script.waits.push(Ok(vec![])));
        }
        scripted.with(|script| script.waits.extend((0..2).map(failure)));
        let ended = (0..=LOST).find_map(|_| worker.iterate().err());
        assert_eq!(ended.is_some(), !recovers, "{ended:?}");
    }
}

/// Inserts a descriptor whose handler notes the events of its reports.
fn insert_noting(context: &Context) -> (FdHandle, Arc<Mutex<Vec<Events>>>) {
    let reports = Arc::<Mutex<Vec<Events>>>::default();
    let seen = Arc::clone(&reports);
    let note = move |ready: &ReadyGuard<'_>| seen.lock().unwrap().push(ready.events());
    (insert_with(context, note), reports)
}

/// A poller that was refused may hold another interest than it said. Without force, a change to the interest
/// that it is known to hold would do nothing, and the interest would be lost.
#[test]
fn a_refused_change_is_repeated_with_force() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let handle = insert(&context);
    let (scripted, mut worker) = Scripted::worker(&context);
    scripted.with(|script| script.refusals = 1);
    context.registration(handle).want_recv().unwrap();
    for _ in 0..2 {
        worker.iterate().unwrap();
        time.pass(RETRY.as_millis() as u32);
    }
    let forced: Vec<_> = scripted.with(|script| script.changes.iter().map(|change| change.force).collect());
    assert_eq!(forced, [true]);
}

/// `O_PATH` on epoll: every attempt is refused, and nothing else tells the program.
#[test]
fn a_change_that_is_refused_for_a_second_is_reported_as_an_error_and_given_up() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (handle, reports) = insert_noting(&context);
    let (scripted, idle) = (Scripted::default(), insert(&context));
    scripted.with(|script| script.refusals = usize::MAX);
    let mut worker = Worker::new(&context, scripted.poller(), None);
    let iterate = |worker: &mut Worker<'_>| {
        worker.iterate().unwrap();
        time.pass(RETRY.as_millis() as u32);
        scripted.with(|script| script.timeouts.pop()).unwrap()
    };
    for _ in 0..2 {
        context.registration(handle).want_recv().unwrap();
        let started = time.since_start();
        while reports.lock().unwrap().is_empty() {
            iterate(&mut worker);
            assert!(time.since_start() - started < 2000, "nobody is told");
        }
        assert!(time.since_start() - started >= 900, "a lack of memory may end");
        assert_eq!(reports.lock().unwrap().split_off(0), [Events::ERR]);
        let entry = context.core().entry(handle).unwrap();
        assert!(!entry.state.intersects(crate::State::ACTIVE) && entry.running.is_empty());
        (0..3).for_each(|_| _ = iterate(&mut worker));
        assert_eq!(iterate(&mut worker), None, "no attempt is left");
        assert!(reports.lock().unwrap().is_empty(), "once");
    }
    // The wake descriptor of a thread has no one who could be told.
    context.core().table().pin(idle).unwrap().entry().state.fetch_or(state::INTERNAL, Ordering::AcqRel);
    context.registration(idle).want_recv().unwrap();
    (0..300).for_each(|_| _ = iterate(&mut worker));
    assert!(iterate(&mut worker).is_some(), "it is tried on");
}

/// Several refusals between two attempts are no longer a refusal for a second: other threads may want the
/// interest again at any rate.
#[test]
fn wants_of_others_between_the_attempts_do_not_shorten_the_patience() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let reports = Arc::<AtomicU32>::default();
    let count = Arc::clone(&reports);
    let handler = move |_: &ReadyGuard<'_>| _ = count.fetch_add(1, Ordering::SeqCst);
    let handle = insert_with(&context, handler);
    let (scripted, mut worker) = Scripted::worker(&context);
    scripted.with(|script| script.refusals = usize::MAX);
    for _ in 0..500 {
        context.core().registration(handle).want_recv().unwrap();
        worker.iterate().unwrap();
    }
    assert_eq!(reports.load(Ordering::SeqCst), 0, "no time has passed");
    assert_eq!(context.activity().snapshot().poll_refused, 500);
    time.pass(RETRY.as_millis() as u32);
    worker.iterate().unwrap();
    let counters = context.activity().snapshot();
    assert_eq!(counters.poll_refused, 501, "one attempt, however many were refused");
    assert_eq!(counters.poll_retry, 500, "each refusal is answered");
    time.pass(1000);
    (0..2).for_each(|_| worker.iterate().unwrap());
    assert_eq!(reports.load(Ordering::SeqCst), 1);
}

/// The child must not wait in the poller of its parent.
#[test]
fn a_handler_that_is_told_of_a_refusal_may_fork() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let handler = |ready: &ReadyGuard<'_>| ready.context().pretend_forked();
    let handle = insert_with(&context, handler);
    let (scripted, mut worker) = Scripted::worker(&context);
    scripted.with(|script| script.refusals = usize::MAX);
    context.registration(handle).want_recv().unwrap();
    while context.activity().snapshot().fd_run == 0 {
        worker.iterate().unwrap();
        time.pass(RETRY.as_millis() as u32);
    }
    assert_eq!(scripted.with(|script| script.rebuilt.clone()), [true], "before the wait that follows");
}

/// A thread that set the time, and was about to tell the others, does not exist in a child.
#[test]
fn a_forked_child_looks_at_every_timeout() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (handle, reports) = insert_noting(&context);
    let due = context.core().timeout_in(Duration::from_millis(50));
    context.core().table().pin(handle).unwrap().timeout().store(due, Ordering::Release);
    let mut worker = Worker::new(&context, Scripted::default().poller(), None);
    context.pretend_forked();
    worker.iterate().unwrap();
    time.pass(50);
    worker.iterate().unwrap();
    assert_eq!(reports.lock().unwrap().split_off(0), [Events::TIMEOUT]);
}

#[test]
fn a_refused_change_is_repeated_until_the_poller_holds_it() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (scripted, mut worker) = Scripted::worker(&context);
    scripted.with(|script| script.refusals = 2);
    let handle = insert(&context);
    context.registration(handle).want_recv().unwrap();
    let (mut held, mut waits) = (vec![], vec![]);
    for _ in 0..4 {
        worker.iterate().unwrap();
        held.push(scripted.with(|script| script.holds.contains_key(&handle.number())));
        let waited = scripted.with(|script| script.timeouts.pop()).unwrap();
        time.pass(waited.unwrap_or_default().as_millis() as u32);
        waits.push(waited);
    }
    assert_eq!(held, [false, false, true, true]);
    assert_eq!(waits, [Some(RETRY), Some(RETRY), None, None]);
    assert_eq!(context.activity().snapshot().poll_refused, 2);
    let entry = context.core().entry(handle).unwrap();
    assert!(entry.polled_recv.contains(context.id().mask()), "S11");
}

#[test]
fn a_pause_lasts_as_long_as_requested() {
    let (begun, time) = (Instant::now(), Duration::from_millis(20));
    pause(time);
    assert!(begun.elapsed() >= time);
}

/// `std::thread::sleep` would never end here: each signal restarts it with the rest of its time.
#[test]
fn a_signal_ends_a_pause_of_any_length() {
    use std::os::unix::thread::JoinHandleExt;

    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    extern "C" fn ignore(_: nix::libc::c_int) {}

    let handler = SigAction::new(SigHandler::Handler(ignore), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does nothing, no other test uses the signal, and its default action is to ignore
    // it.
    unsafe { sigaction(Signal::SIGURG, &handler) }.unwrap();
    let paused = std::thread::spawn(|| pause(Duration::from_secs(24 * 60 * 60)));
    while !paused.is_finished() {
        // SAFETY: the thread has not been joined.
        unsafe { nix::libc::pthread_kill(paused.as_pthread_t(), nix::libc::SIGURG) };
        std::thread::yield_now();
    }
    paused.join().unwrap();
}

/// A state, and the change that applying an update of it makes: known interest, wanted interest, forced.
struct Case {
    state: u32,
    /// The interest by the polled masks of this thread.
    mine: Interest,
    /// The interest by the polled masks of another thread.
    others: Interest,
    allowed: bool,
    force: bool,
    expected: Option<(Interest, Interest, bool)>,
}

#[test]
fn a_change_leads_from_the_held_interest_to_the_wanted_one() {
    const NONE: Interest = Interest::NONE;
    const RECV: Interest = Interest::RECV;
    const SEND: Interest = Interest::SEND;
    const EDGE_REARM: u32 = state::EDGE | state::REARM;
    let case = |state, mine, others, allowed, force, expected| Case {
        state,
        mine,
        others,
        allowed,
        force,
        expected,
    };
    for (number, case) in [
        case(state::ACTIVE_R, NONE, NONE, true, false, Some((NONE, RECV, false))),
        case(state::ACTIVE_R, RECV, NONE, true, false, None),
        case(state::ACTIVE_R, RECV, NONE, true, true, Some((RECV, RECV, true))),
        case(state::ACTIVE_R, NONE, Interest::BOTH, true, false, Some((NONE, RECV, false))),
        case(state::ACTIVE_W, RECV, NONE, true, false, Some((RECV, SEND, false))),
        case(state::ACTIVE_W, NONE, SEND, true, false, Some((NONE, SEND, false))),
        case(0, SEND, NONE, true, false, Some((SEND, NONE, false))),
        case(state::ACTIVE, RECV, NONE, false, false, Some((RECV, NONE, false))),
        case(state::ACTIVE, NONE, RECV, false, false, None),
        case(state::ACTIVE_R | state::REARM, RECV, NONE, true, false, None),
        case(state::ACTIVE_R | state::REARM, NONE, NONE, true, false, Some((NONE, RECV, false))),
        case(state::ACTIVE_R | EDGE_REARM, RECV, NONE, true, false, Some((RECV, RECV, true))),
        case(state::ACTIVE_R | EDGE_REARM, SEND, NONE, true, false, Some((SEND, RECV, true))),
        case(state::ACTIVE_R | EDGE_REARM, NONE, NONE, true, false, Some((NONE, RECV, false))),
        case(state::ACTIVE_R | state::REARM, RECV, NONE, false, false, Some((RECV, NONE, false))),
        case(state::ACTIVE_R | state::REARM, NONE, NONE, false, false, None),
    ]
    .into_iter()
    .enumerate()
    {
        let context = one_thread();
        let scripted = Scripted::default();
        let owner = if case.allowed { context.id() } else { thread(1, 1) };
        let handle = insert_for(context.core(), group(1), owner.mask());
        let pin = context.core().table().pin(handle).unwrap();
        pin.entry().state.fetch_or(case.state, Ordering::AcqRel);
        pin.polled().set(0b01, case.mine.recv, case.mine.send);
        pin.polled().set(0b10, case.others.recv, case.others.send);
        drop(pin);
        context.push_update(handle, case.force);
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let changes = scripted.with(|script| std::mem::take(&mut script.changes));
        let changes: Vec<_> =
            changes.iter().map(|change| (change.known, change.wanted, change.force)).collect();
        assert_eq!(changes, Vec::from_iter(case.expected), "case {number}");
        let entry = context.core().entry(handle).unwrap();
        let rearm = if case.allowed { 0 } else { case.state & state::REARM };
        assert_eq!(
            entry.state.bits() & (state::ACTIVE | state::REARM),
            case.state & state::ACTIVE | rearm,
            "case {number}"
        );
        let holds = case.expected.map_or(case.mine, |(_, wanted, _)| wanted);
        let polled = [entry.polled_recv, entry.polled_send].map(|mask| mask.bits());
        let expected = [holds.recv, holds.send].into_iter().zip([case.others.recv, case.others.send]);
        let expected: Vec<_> =
            expected.map(|(mine, others)| u64::from(mine) + 2 * u64::from(others)).collect();
        assert_eq!(polled, expected[..], "case {number}: S11");
    }
}

#[test]
fn a_change_carries_the_trigger_of_its_registration() {
    for trigger in [Trigger::Level, Trigger::Edge] {
        let context = one_thread();
        let scripted = Scripted::default();
        let options = crate::shared::options::InsertOptions { trigger, ..Default::default() };
        let (id, fd) = (context.id(), crate::testing::open());
        let handle = context.core().insert(fd, handler(), id.group(), id.mask(), options).unwrap();
        context.registration(handle).want_recv().unwrap();
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let triggers: Vec<_> =
            scripted.with(|script| script.changes.iter().map(|change| change.trigger).collect());
        assert_eq!(triggers, [trigger]);
    }
}

/// Work that is published before the sleep is announced must be found before the wait.
#[test]
fn a_thread_that_finds_work_does_not_sleep() {
    let context = one_thread();
    let (scripted, mut worker) = Scripted::worker(&context);
    let post = |context: &Context| context.core().post(context.id(), |_| ()).unwrap();
    context.core().post(context.id(), post).unwrap();
    let waited = [0, 1].map(|_| {
        worker.iterate().unwrap();
        scripted.with(|script| script.timeouts.pop()).unwrap()
    });
    assert_eq!(waited, [Some(Duration::ZERO), None]);
}

#[test]
fn queued_changes_are_submitted_together_and_those_of_one_descriptor_one_by_one() {
    for (pushed, flushes) in [(&[0, 1, 2][..], &[3][..]), (&[0, 1, 0, 2], &[2, 2]), (&[0, 0], &[1, 1])] {
        let context = one_thread();
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

/// The shared list: with interest in the kernel each thread applies the update; otherwise one thread applies
/// it for all.
#[test]
fn an_update_of_several_threads_is_applied_by_each_or_by_one_for_all() {
    for (kernel_state, pending) in [(true, 0b10), (false, 0)] {
        let capabilities = Capabilities { kernel_state, ..Capabilities::ALL };
        let context = context(capabilities, &Time::new());
        let both = crate::words::ids::ThreadMask::from_bits(0b11);
        let handle = insert_for(context.core(), group(1), both);
        context.core().registration(handle).want_recv().unwrap();
        let bits = || context.core().table().pin(handle).unwrap().entry().update_mask.load(Ordering::Acquire);
        assert_eq!(bits(), 0b11, "L1");
        let scripted = Scripted::default();
        Worker::new(&context, scripted.poller(), None).apply_updates();
        assert_eq!(bits(), pending, "kernel state: {kernel_state}");
        let changes = scripted.with(|script| std::mem::take(&mut script.changes));
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].known, changes[0].wanted), (Interest::NONE, Interest::RECV));
        let polled = context.core().entry(handle).unwrap().polled_recv.bits();
        assert_eq!(polled, if kernel_state { 0b01 } else { 0b11 });
        // A second update starts from the interest that is held now.
        context.core().registration(handle).want_send().unwrap();
        Worker::new(&context, scripted.poller(), None).apply_updates();
        let change = scripted.with(|script| script.changes.pop()).unwrap();
        assert_eq!((change.known, change.wanted), (Interest::RECV, Interest::BOTH));
    }
}

#[test]
fn only_a_task_a_signal_or_a_stop_is_work() {
    let context = one_thread();
    let signals = Arc::new(Signals::new(vec![(1, Box::new(|_: &Context| ()))]));
    let mut worker = Worker::new(&context, Scripted::default().poller(), Some(signals));
    assert!(!worker.has_work());
    crate::worker::signals::note(context.core(), 1);
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
    let context = one_thread();
    let mut worker = Worker::new(&context, Scripted::default().poller(), None);
    worker.tasks.push_back(Box::new({
        let panics = Panics;
        move |_| drop(panics)
    }));
    assert!(worker.end().panic().is_some());
}
