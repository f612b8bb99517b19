//! The worker runtime through its public interface, on the poll backend, which every Unix has. The scenarios
//! `lifecycle/…` start, stop and drop runtimes on every backend, and panic, while other threads work.

use std::io::{PipeWriter, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use pollmatrix_fd_core::error::{InsertRefused, PostError, StartError, TryPostError};
use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
use pollmatrix_fd_core::{
    Context, FdCore, FdHandle, Handler, InsertOptions, ReadyGuard, Runtime, WorkerError,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn start(threads: usize) -> Runtime {
    Runtime::builder().group(threads).start(pollmatrix_poller_poll::backend).unwrap()
}

fn group(number: usize) -> GroupId {
    GroupId::new(number).unwrap()
}

fn thread(group_number: usize, index: usize) -> ThreadId {
    ThreadId::new(group(group_number), index).unwrap()
}

fn idle() -> Arc<dyn Handler> {
    Arc::new(|_: &ReadyGuard<'_>| {})
}

fn pipe() -> (OwnedFd, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    fcntl(&reader, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    (reader.into(), writer)
}

/// Waits until a condition holds.
fn until(mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "the condition never holds");
        std::thread::yield_now();
    }
}

/// Registers a pipe for the first thread and enables read interest. Returns the other end.
fn insert(core: &FdCore, handler: impl Handler) -> (FdHandle, PipeWriter) {
    let (reader, writer) = pipe();
    let inserted =
        core.insert(reader, Arc::new(handler), group(1), ThreadId::FIRST.mask(), InsertOptions::default());
    let handle = inserted.unwrap();
    core.registration(handle).want_recv().unwrap();
    (handle, writer)
}

fn has_ended(peer: &mut PipeWriter) -> bool {
    peer.write(b"x").is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// A handler with an action for each of its calls and for its drop.
struct Acting<A, B, C: FnMut()> {
    ready: A,
    released: B,
    dropped: C,
}

impl<A, B, C> Handler for Acting<A, B, C>
where
    A: Fn(&ReadyGuard<'_>) + Send + Sync + 'static,
    B: Fn() + Send + Sync + 'static,
    C: FnMut() + Send + Sync + 'static,
{
    fn ready(&self, ready: &ReadyGuard<'_>) {
        (self.ready)(ready);
    }

    fn released(&self, _: OwnedFd) {
        (self.released)();
    }
}

impl<A, B, C: FnMut()> Drop for Acting<A, B, C> {
    fn drop(&mut self) {
        (self.dropped)();
    }
}

#[test]
fn an_impossible_shape_is_refused_with_the_possible_ones() {
    for builder in [Runtime::builder(), Runtime::builder().group(0), Runtime::builder().group(65)] {
        let Err(error) = builder.start(pollmatrix_poller_poll::backend) else { panic!("it starts") };
        assert!(matches!(error, StartError::Shape(_)));
        assert!(error.to_string().contains("1 to 64 threads"), "{error}");
    }
}

#[test]
fn a_refused_descriptor_comes_back_open() {
    let runtime = Runtime::builder().group(1).capacity(64).start(pollmatrix_poller_poll::backend).unwrap();
    let (reader, mut writer) = pipe();
    // A copy with a number above the capacity.
    let high = fcntl(&reader, FcntlArg::F_DUPFD_CLOEXEC(64)).unwrap();
    // SAFETY: fcntl has just made it.
    let high = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(high) };
    let number = high.as_raw_fd();
    let refused = runtime.core().insert(high, idle(), group(1), ThreadMask::ALL, InsertOptions::default());
    let error = refused.unwrap_err();
    assert_eq!(error.reason, InsertRefused::Capacity { fd: number, capacity: 64 });
    writer.write_all(b"x").unwrap();
    assert_eq!(nix::unistd::read(error.source.as_fd(), &mut [0; 8]), Ok(1), "the source is open");
    runtime.stop().unwrap();
}

#[test]
fn tasks_run_in_order_on_their_thread() {
    let runtime = Runtime::builder().group(2).group(1).start(pollmatrix_poller_poll::backend).unwrap();
    for id in runtime.core().threads() {
        let (sender, receiver) = channel();
        for number in 0..100 {
            let sender = sender.clone();
            let task = move |context: &Context| sender.send((context.id(), number)).unwrap();
            runtime.core().post(id, task).unwrap();
        }
        for number in 0..100 {
            assert_eq!(receiver.recv_timeout(PATIENCE), Ok((id, number)));
        }
    }
    let nowhere = thread(2, 1);
    assert_eq!(runtime.core().post(nowhere, |_| {}), Err(PostError::NoThread { thread: nowhere }));
    runtime.stop().unwrap();
}

#[test]
fn timers_fire_in_order_and_never_early() {
    let runtime = start(1);
    let (sender, receiver) = channel();
    runtime
        .core()
        .post(thread(1, 0), move |context| {
            let start = Instant::now();
            for millis in [30, 10, 20] {
                let sender = sender.clone();
                context.after(Duration::from_millis(millis), move |_| {
                    sender.send((millis, start.elapsed())).unwrap();
                });
            }
        })
        .unwrap();
    for expected in [10, 20, 30] {
        let (millis, elapsed) = receiver.recv_timeout(PATIENCE).unwrap();
        assert_eq!(millis, expected);
        assert!(elapsed >= Duration::from_millis(millis), "T02: {millis} ms fired after {elapsed:?}");
    }
    let rows = runtime.core().activity();
    // If the thread is delayed, one wait finds all timers expired.
    assert!(rows.0[0].1.poll_exp >= 1, "{rows}");
    runtime.stop().unwrap();
}

/// L8. The threads sleep for up to a minute.
#[test]
fn a_stop_wakes_every_sleeper_and_closes_everything() {
    let runtime = Runtime::builder().group(3).group(2).start(pollmatrix_poller_poll::backend).unwrap();
    let core = Arc::clone(runtime.core());
    let (reader, mut writer) = pipe();
    let handle = core.insert(reader, idle(), group(2), ThreadMask::ALL, InsertOptions::default()).unwrap();
    core.registration(handle).want_recv().unwrap();
    let start = Instant::now();
    runtime.stop().unwrap();
    assert!(start.elapsed() < Duration::from_secs(55), "the stop waits for the end of a poll timeout");
    assert_eq!(core.table().used(), 0);
    assert!(has_ended(&mut writer));
    assert!(core.registration(handle).want_recv().is_err());
    let (late, _writer) = pipe();
    let refused = core.insert(late, idle(), group(1), ThreadMask::ALL, InsertOptions::default());
    assert_eq!(refused.unwrap_err().reason, InsertRefused::Stopping);
    // No thread is left, and no byte may go to a descriptor that is closed (suspect 12, S17).
    core.threads().for_each(|id| core.wake(id));
}

/// Those that the thread did not run wait no longer.
#[test]
fn a_full_queue_of_a_thread_that_has_ended_says_so() {
    let runtime = Runtime::single(pollmatrix_poller_poll::backend).unwrap();
    let (core, id) = (Arc::clone(runtime.core()), ThreadId::FIRST);
    let stop = |context: &Context| context.core().request_stop();
    let (hold, held) = channel::<()>();
    core.post(id, move |_| _ = held.recv()).unwrap();
    core.post(id, stop).unwrap();
    (0..5).for_each(|_| core.post(id, |_| panic!("it runs after the stop")).unwrap());
    assert!(matches!(core.try_post(id, 5, |_| ()), Err(TryPostError::Full { .. })));
    drop(hold);
    runtime.stop().unwrap();
    for limit in [0, 5, 100] {
        let Err(TryPostError::Refused(error)) = core.try_post(id, limit, |_| ()) else { panic!("{limit}") };
        assert_eq!(error, PostError::Ended { thread: id });
    }
}

/// Its drop waits for the main thread.
struct SlowDrop(std::sync::mpsc::Sender<()>, Mutex<std::sync::mpsc::Receiver<()>>);

impl Handler for SlowDrop {
    fn ready(&self, _: &ReadyGuard<'_>) {}
}

impl Drop for SlowDrop {
    fn drop(&mut self) {
        let _ = self.0.send(());
        let _ = self.1.lock().unwrap().recv();
    }
}

#[test]
fn a_runtime_whose_handlers_are_not_dropped_has_not_ended() {
    let runtime = start(2);
    let ((drops, dropping), (release, released)) = (channel(), channel());
    let (reader, _writer) = pipe();
    let handler = SlowDrop(drops, Mutex::new(released));
    let options = InsertOptions::default();
    runtime.core().insert(reader, handler, group(1), thread(1, 0).mask(), options).unwrap();
    runtime.core().request_stop();
    dropping.recv_timeout(PATIENCE).unwrap();
    assert!(!runtime.wait(Some(Duration::ZERO)));
    drop(release);
    assert!(runtime.wait(None));
    runtime.stop().unwrap();
}

/// The end of a registration waits for calls that have found its entry, so none of them may wait for it.
#[test]
fn a_clock_may_wait_for_the_end_of_the_registration_whose_timeout_is_set() {
    let asked = Arc::new(AtomicBool::new(false));
    let ((asks, delete), (deletes, deleted)) = (channel(), channel());
    let deleted = Mutex::new(deleted);
    let is_asked = Arc::clone(&asked);
    let clock = move || {
        if is_asked.swap(false, Ordering::SeqCst) {
            asks.send(()).unwrap();
            deleted.lock().unwrap().recv_timeout(PATIENCE).expect("the delete does not wait for the clock");
        }
        Instant::now()
    };
    let runtime = Runtime::builder().group(1).clock(clock).start(pollmatrix_poller_poll::backend).unwrap();
    let (reader, _writer) = pipe();
    let (core, options) = (runtime.core(), InsertOptions::default());
    let handle = core.insert(reader, idle(), group(1), thread(1, 0).mask(), options).unwrap();
    std::thread::scope(|scope| {
        let deleter = move || {
            delete.recv().unwrap();
            core.registration(handle).delete().unwrap();
            deletes.send(()).unwrap();
        };
        std::thread::Builder::new().spawn_scoped(scope, deleter).unwrap();
        asked.store(true, Ordering::SeqCst);
        // It may be the worker whose clock waits.
        let _ = core.registration(handle).set_timeout(Some(PATIENCE));
    });
    runtime.stop().unwrap();
}

#[test]
fn interest_from_before_the_start_is_registered() {
    let prepared = Runtime::builder().group(2).prepare(pollmatrix_poller_poll::backend).unwrap();
    let (reader, mut writer) = pipe();
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let handler = move |ready: &ReadyGuard<'_>| {
        let _ = nix::unistd::read(ready, &mut [0; 8]);
        count.fetch_add(1, Ordering::SeqCst);
    };
    let core = Arc::clone(prepared.core());
    let mask = thread(1, 1).mask();
    let handle = core.insert(reader, Arc::new(handler), group(1), mask, InsertOptions::default()).unwrap();
    core.registration(handle).want_recv().unwrap();
    writer.write_all(b"x").unwrap();
    let runtime = prepared.start().unwrap();
    until(|| runs.load(Ordering::SeqCst) == 1);
    runtime.stop().unwrap();
}

#[test]
fn a_runtime_that_never_starts_closes_its_sources() {
    let prepared = Runtime::builder().group(2).prepare(pollmatrix_poller_poll::backend).unwrap();
    let (reader, mut writer) = pipe();
    prepared.core().insert(reader, idle(), group(1), ThreadMask::ALL, InsertOptions::default()).unwrap();
    drop(prepared);
    assert!(has_ended(&mut writer));
}

#[test]
fn a_panic_of_a_handler_stops_the_runtime_which_returns_it() {
    let runtime = start(2);
    let core = Arc::clone(runtime.core());
    let (_, mut writer) = insert(&core, |_: &ReadyGuard<'_>| panic!("on purpose"));
    writer.write_all(b"x").unwrap();
    until(|| core.is_stopping());
    let error = runtime.stop().unwrap_err();
    assert!(error.to_string().contains("on purpose"), "{error}");
    assert!(has_ended(&mut writer), "no running bit was left");
}

/// A handler that deletes its own registration is dropped after it has returned.
#[test]
fn a_handler_outlives_its_own_delete() {
    struct Witness {
        running: Arc<AtomicBool>,
        dropped: Arc<Mutex<Option<bool>>>,
    }
    impl Handler for Witness {
        fn ready(&self, ready: &ReadyGuard<'_>) {
            self.running.store(true, Ordering::SeqCst);
            ready.registration().delete().unwrap();
            assert!(self.dropped.lock().unwrap().is_none());
            assert!(fcntl(ready, FcntlArg::F_GETFD).is_ok(), "S5: still open");
            self.running.store(false, Ordering::SeqCst);
        }
    }
    impl Drop for Witness {
        fn drop(&mut self) {
            *self.dropped.lock().unwrap() = Some(self.running.load(Ordering::SeqCst));
        }
    }
    let runtime = start(1);
    let dropped = Arc::new(Mutex::new(None));
    let witness = Witness { running: Arc::default(), dropped: Arc::clone(&dropped) };
    let (_, mut writer) = insert(runtime.core(), witness);
    writer.write_all(b"x").unwrap();
    until(|| dropped.lock().unwrap().is_some());
    assert_eq!(*dropped.lock().unwrap(), Some(false), "the handler is dropped while it runs");
    runtime.stop().unwrap();
}

#[test]
fn signals_are_handled_on_the_first_thread() {
    let seen = Arc::new(Mutex::new(vec![]));
    let log = Arc::clone(&seen);
    let runtime = Runtime::builder()
        .group(2)
        .signal(nix::libc::SIGUSR1, move |context: &Context| log.lock().unwrap().push(context.id()))
        .start(pollmatrix_poller_poll::backend)
        .unwrap();
    for round in 1..=20 {
        nix::sys::signal::raise(nix::sys::signal::Signal::SIGUSR1).unwrap();
        until(|| seen.lock().unwrap().len() >= round);
    }
    assert!(seen.lock().unwrap().iter().all(|id| *id == thread(1, 0)));
    runtime.stop().unwrap();
}

/// A table for a million descriptors uses memory only for those that are registered.
#[test]
fn unused_slots_cost_no_memory() {
    let resident = || {
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
        // In kibibytes, but on macOS in bytes.
        usage.max_rss() as u64 * if cfg!(target_vendor = "apple") { 1 } else { 1024 }
    };
    let before = resident();
    let runtime =
        Runtime::builder().group(1).capacity(1 << 24).start(pollmatrix_poller_poll::backend).unwrap();
    runtime.stop().unwrap();
    let grown = resident() - before;
    // The address space of the table is more than a gibibyte.
    assert!(grown < 64 << 20, "{grown} bytes more are resident");
}

#[test]
fn dumps_show_entries_and_counters() {
    let runtime = start(2);
    let core = runtime.core();
    let (reader, _writer) = pipe();
    let number = reader.as_raw_fd();
    let handle = core.insert(reader, idle(), group(1), ThreadMask::ALL, InsertOptions::default()).unwrap();
    core.registration(handle).want_recv().unwrap();
    let dump = core.entries().to_string();
    let line = dump.lines().find(|line| line.trim_start().starts_with(&format!("{number} :"))).unwrap();
    assert!(line.contains("R:RA") && line.contains("gid=1") && line.contains("tmask=0x3"), "{line}");
    let activity = core.activity().to_string();
    for name in ["loops:", "wake_tasks:", "poll_io:", "poll_exp:", "poll_drop:", "poll_skip:", "fd_takeover:"]
    {
        assert!(activity.contains(name), "{activity}");
    }
    runtime.stop().unwrap();
}

/// A stop drops everything that is left, even if some of the drops panic.
#[test]
fn a_stop_drops_everything_even_if_some_drops_panic() {
    let runtime = start(1);
    let core = Arc::clone(runtime.core());
    let dropped = Arc::new(AtomicUsize::new(0));
    let panicking = |what: &'static str| {
        let count = Arc::clone(&dropped);
        Acting {
            ready: |_: &ReadyGuard<'_>| {},
            released: || {},
            dropped: move || {
                count.fetch_add(1, Ordering::SeqCst);
                panic!("{what}");
            },
        }
    };
    let mut peers: Vec<_> = (0..3).map(|_| insert(&core, panicking("a handler")).1).collect();
    // No task runs after the stop is requested.
    let left: Vec<_> = (0..3).map(|_| (panicking("a task"), panicking("a timer"))).collect();
    core.post(ThreadId::FIRST, move |context| {
        for (task, timer) in left {
            context.after(Duration::from_secs(3600), move |_| std::mem::forget(timer));
            context.core().post(ThreadId::FIRST, move |_| std::mem::forget(task)).unwrap();
        }
        context.core().request_stop();
    })
    .unwrap();
    until(|| dropped.load(Ordering::SeqCst) == 9);
    let Err(WorkerError::Panic { panic, .. }) = runtime.stop() else { panic!("no panic is returned") };
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "a task", "the first panic counts");
    assert!(peers.iter_mut().all(has_ended));
    assert_eq!(core.table().used(), 0);
}

/// A task that is dropped and a handler that ends with the runtime call the runtime.
#[test]
fn calls_to_a_runtime_that_ends_are_refused() {
    let runtime = start(1);
    let core = Arc::clone(runtime.core());
    let (sender, receiver) = channel();
    let calling = |what| {
        let (core, sender) = (Arc::clone(&core), sender.clone());
        move || {
            let inserted = core.insert(pipe().0, idle(), group(1), ThreadMask::ALL, InsertOptions::default());
            let refused = inserted.err().map(|refused| refused.reason);
            sender.send((what, core.post(ThreadId::FIRST, |_| ()), refused)).unwrap();
        }
    };
    let (handle, mut peer) = insert(
        &core,
        Acting { ready: |_: &ReadyGuard<'_>| {}, released: || {}, dropped: calling("handler") },
    );
    let unrun = Acting { ready: |_: &ReadyGuard<'_>| {}, released: || {}, dropped: calling("task") };
    let late = Arc::clone(&core);
    core.post(ThreadId::FIRST, move |context| {
        context.core().post(ThreadId::FIRST, move |_| std::mem::forget(unrun)).unwrap();
        late.request_stop();
    })
    .unwrap();
    runtime.stop().unwrap();
    let (ended, stopping) =
        (Err(PostError::Ended { thread: ThreadId::FIRST }), Some(InsertRefused::Stopping));
    assert_eq!(receiver.try_recv(), Ok(("task", ended, stopping)));
    assert_eq!(receiver.try_recv(), Ok(("handler", ended, stopping)));
    assert!(core.registration(handle).delete().is_err() && has_ended(&mut peer));
}

/// B13.
#[test]
fn a_signal_that_cannot_be_caught_is_an_error() {
    let never = [
        nix::libc::SIGKILL,
        nix::libc::SIGSTOP,
        nix::libc::SIGSEGV,
        nix::libc::SIGILL,
        nix::libc::SIGFPE,
        0,
        65,
        -1,
        i32::MIN,
    ];
    for signal in never {
        let started =
            Runtime::builder().group(1).signal(signal, |_| ()).start(pollmatrix_poller_poll::backend);
        let Err(StartError::Shape(text)) = started else { panic!("signal {signal} is accepted") };
        assert!(text.contains(&format!("{signal} ")), "{text}");
    }
}

/// B13.
#[test]
fn a_timer_may_have_the_longest_delay() {
    let runtime = start(1);
    let (sender, receiver) = channel();
    let held = sender.clone();
    runtime
        .core()
        .post(ThreadId::FIRST, move |context| {
            context.after(Duration::MAX, move |_| held.send("never").unwrap());
            context.after(Duration::ZERO, move |_| sender.send("now").unwrap());
        })
        .unwrap();
    assert_eq!(receiver.recv_timeout(PATIENCE), Ok("now"));
    runtime.stop().unwrap();
    assert!(receiver.recv().is_err(), "dropped with the runtime");
}

/// A thread of one runtime ends another runtime: in a handler, and in the drop of a handler.
#[test]
fn a_runtime_may_end_on_a_thread_of_another() {
    for in_drop in [false, true] {
        let (outer, inner) = (start(1), start(2));
        let core = Arc::clone(inner.core());
        let (_, mut peer) = insert(&core, |_: &ReadyGuard<'_>| {});
        let slot = Mutex::new(Some(inner));
        let (sender, receiver) = channel();
        let end = move || {
            let inner: Option<Runtime> = slot.lock().unwrap().take();
            if let Some(inner) = inner {
                sender.send(inner.stop().is_ok()).unwrap();
            }
        };
        let mut ender = if in_drop {
            let ready = |ready: &ReadyGuard<'_>| ready.registration().delete().unwrap();
            insert(outer.core(), Acting { ready, released: || {}, dropped: end }).1
        } else {
            let end = Mutex::new(end);
            insert(outer.core(), move |ready: &ReadyGuard<'_>| {
                ready.registration().stop_recv().unwrap();
                (end.lock().unwrap())();
            })
            .1
        };
        ender.write_all(b"x").unwrap();
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok(true));
        assert!(has_ended(&mut peer));
        assert_eq!(core.table().used(), 0);
        outer.stop().unwrap();
    }
}
