//! Runtimes that start, stop, panic and are dropped, on the poll backend. The scenarios `lifecycle/…` do the
//! same on every backend, while other threads work.

use std::io::{PipeWriter, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use pollmatrix_fd_core::error::{InsertRefused, PostError, StartError};
use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
use pollmatrix_fd_core::{
    Builder, Context, FdCore, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime, State,
    WorkerError,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn start(threads: usize) -> Runtime {
    Runtime::builder().group(threads).start(pollmatrix_poller_poll::backend).unwrap()
}

fn group() -> GroupId {
    GroupId::new(1).unwrap()
}

fn first() -> ThreadId {
    ThreadId::new(group(), 0).unwrap()
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
    let inserted = core.insert(reader, Arc::new(handler), group(), first().mask(), InsertOptions::default());
    let handle = inserted.unwrap();
    core.registration(handle).want_recv().unwrap();
    (handle, writer)
}

fn has_ended(peer: &mut PipeWriter) -> bool {
    peer.write(b"x").is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Stops the runtime, and returns the text of its error.
fn error_of(runtime: Runtime) -> String {
    match runtime.stop() {
        Ok(()) => "nothing".into(),
        Err(WorkerError::Panic { panic, .. }) => panic.downcast_ref::<&str>().unwrap().to_string(),
        Err(error) => error.to_string(),
    }
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

/// B7.
#[test]
fn the_panic_of_a_handler_that_deleted_itself_is_returned() {
    for disowns in [false, true] {
        let runtime = start(2);
        let core = Arc::clone(runtime.core());
        let (_, mut peer) = insert(&core, move |ready: &ReadyGuard<'_>| {
            let ended = if disowns { ready.registration().disown() } else { ready.registration().delete() };
            ended.unwrap();
            panic!("the handler");
        });
        peer.write_all(b"x").unwrap();
        until(|| core.is_stopping());
        assert_eq!(error_of(runtime), "the handler");
        assert!(has_ended(&mut peer));
    }
}

#[test]
fn of_two_panics_the_first_one_counts_and_neither_ends_the_process() {
    for disowns in [false, true] {
        let runtime = start(1);
        let core = Arc::clone(runtime.core());
        let handler = Acting {
            ready: move |ready: &ReadyGuard<'_>| {
                if disowns {
                    ready.registration().disown().unwrap();
                } else {
                    ready.registration().delete().unwrap();
                    panic!("the handler");
                }
            },
            released: || panic!("released"),
            dropped: || panic!("the drop"),
        };
        let (_, mut peer) = insert(&core, handler);
        peer.write_all(b"x").unwrap();
        until(|| core.is_stopping());
        assert_eq!(error_of(runtime), if disowns { "released" } else { "the handler" });
        assert!(has_ended(&mut peer));
    }
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
    core.post(first(), move |context| {
        for (task, timer) in left {
            context.after(Duration::from_secs(3600), move |_| std::mem::forget(timer));
            context.core().post(first(), move |_| std::mem::forget(task)).unwrap();
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
            let inserted = core.insert(pipe().0, idle(), group(), ThreadMask::ALL, InsertOptions::default());
            let refused = inserted.err().map(|refused| refused.reason);
            sender.send((what, core.post(first(), |_| ()), refused)).unwrap();
        }
    };
    let (handle, mut peer) = insert(
        &core,
        Acting { ready: |_: &ReadyGuard<'_>| {}, released: || {}, dropped: calling("handler") },
    );
    let unrun = Acting { ready: |_: &ReadyGuard<'_>| {}, released: || {}, dropped: calling("task") };
    let late = Arc::clone(&core);
    core.post(first(), move |context| {
        context.core().post(first(), move |_| std::mem::forget(unrun)).unwrap();
        late.request_stop();
    })
    .unwrap();
    runtime.stop().unwrap();
    let (ended, stopping) = (Err(PostError::Ended { thread: first() }), Some(InsertRefused::Stopping));
    assert_eq!(receiver.try_recv(), Ok(("task", ended, stopping)));
    assert_eq!(receiver.try_recv(), Ok(("handler", ended, stopping)));
    assert!(core.registration(handle).delete().is_err() && has_ended(&mut peer));
}

/// B12.
#[test]
fn the_handle_of_a_wake_descriptor_is_refused() {
    let runtime = start(2);
    let core = Arc::clone(runtime.core());
    let own: Vec<_> =
        core.entries().0.into_iter().filter(|entry| entry.state.contains(State::INTERNAL)).collect();
    assert_eq!(own.len(), 2);
    for entry in own {
        let fd = core.registration(entry.handle);
        assert!(fd.delete().is_err() && fd.disown().is_err() && fd.stop_recv().is_err());
        assert!(fd.want_recv().is_err() && fd.mark_cloned().is_err() && fd.duplicate().is_err());
        assert!(fd.migrate_on(first()).is_err() && core.entry(entry.handle).is_err());
        let (sender, receiver) = channel();
        core.post(first(), move |context: &Context| {
            let entered = context.enter(entry.handle, |_: &ReadyGuard<'_>| ()).is_ok();
            sender.send((entered, context.takeover(entry.handle, entry.owner).is_ok())).unwrap();
        })
        .unwrap();
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok((false, false)));
    }
    runtime.stop().unwrap();
}

/// B13.
#[test]
fn a_signal_that_cannot_be_caught_is_an_error() {
    let never =
        [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, libc::SIGILL, libc::SIGFPE, 0, 65, -1, i32::MIN];
    for signal in never {
        let started =
            Runtime::builder().group(1).signal(signal, |_| ()).start(pollmatrix_poller_poll::backend);
        let Err(StartError::Shape(text)) = started else { panic!("signal {signal} is accepted") };
        assert!(text.contains(&format!("{signal} ")), "{text}");
    }
}

#[test]
fn an_impossible_capacity_is_an_error() {
    let with =
        |capacity| Runtime::builder().group(1).capacity(capacity).start(pollmatrix_poller_poll::backend);
    for capacity in [0, i32::MAX as usize, usize::MAX] {
        let Err(StartError::Shape(text)) = with(capacity) else { panic!("{capacity} is accepted") };
        assert!(text.contains("room for 1 to"), "{text}");
    }
    with(1 << 16).unwrap().stop().unwrap();
}

/// B13.
#[test]
fn a_timer_may_have_the_longest_delay() {
    let runtime = start(1);
    let (sender, receiver) = channel();
    let held = sender.clone();
    runtime
        .core()
        .post(first(), move |context| {
            context.after(Duration::MAX, move |_| held.send("never").unwrap());
            context.after(Duration::ZERO, move |_| sender.send("now").unwrap());
        })
        .unwrap();
    assert_eq!(receiver.recv_timeout(PATIENCE), Ok("now"));
    runtime.stop().unwrap();
    assert!(receiver.recv().is_err(), "dropped with the runtime");
}

/// Holds a runtime for its own thread, which ends it.
type Slot = Arc<Mutex<Option<Runtime>>>;

/// B14.
#[test]
fn a_runtime_that_its_own_thread_ends_closes_everything_and_does_not_hang() {
    let ends: [fn(Runtime); 2] = [drop, |runtime| runtime.stop().unwrap()];
    for end in ends {
        let slot = Slot::default();
        let taken = Arc::clone(&slot);
        let runtime = start(2);
        let core = Arc::clone(runtime.core());
        let (_, mut ender) =
            insert(&core, move |_: &ReadyGuard<'_>| end(taken.lock().unwrap().take().unwrap()));
        let (_, mut other) = insert(&core, |_: &ReadyGuard<'_>| {});
        *slot.lock().unwrap() = Some(runtime);
        ender.write_all(b"x").unwrap();
        until(|| Arc::strong_count(&core) == 1);
        assert!(slot.lock().unwrap().is_none());
        assert!(has_ended(&mut ender) && has_ended(&mut other));
        assert_eq!(core.table().used(), 0);
    }
}

#[test]
fn a_runtime_may_end_in_a_signal_action_a_timer_and_the_drop_of_its_own_handler() {
    let slot = Slot::default();
    let end = |slot: &Slot| {
        let slot = Arc::clone(slot);
        move || drop(slot.lock().unwrap().take())
    };
    let in_action = end(&slot);
    let by_signal: fn(&FdCore, &Slot) =
        |_, _| nix::sys::signal::raise(nix::sys::signal::Signal::SIGUSR2).unwrap();
    let by_timer: fn(&FdCore, &Slot) = |core, slot| {
        let slot = Arc::clone(slot);
        let set = move |context: &Context| {
            context.after(Duration::ZERO, move |_| drop(slot.lock().unwrap().take()));
        };
        core.post(first(), set).unwrap();
    };
    let by_drop: fn(&FdCore, &Slot) = |core, slot| {
        let slot = Arc::clone(slot);
        let dropped = move || drop(slot.lock().unwrap().take());
        let deletes = |ready: &ReadyGuard<'_>| ready.registration().delete().unwrap();
        let (_, mut peer) = insert(core, Acting { ready: deletes, released: || {}, dropped });
        peer.write_all(b"x").unwrap();
    };
    let in_action = Arc::new(in_action);
    for way in [by_signal, by_timer, by_drop] {
        let action = Arc::clone(&in_action);
        let builder: Builder = Runtime::builder().group(2).signal(libc::SIGUSR2, move |_| action());
        let runtime = builder.start(pollmatrix_poller_poll::backend).unwrap();
        let core = Arc::clone(runtime.core());
        let (_, mut peer) = insert(&core, |_: &ReadyGuard<'_>| {});
        *slot.lock().unwrap() = Some(runtime);
        way(&core, &slot);
        until(|| Arc::strong_count(&core) == 1);
        assert!(has_ended(&mut peer));
    }
}

/// B15.
#[test]
fn a_handle_of_one_runtime_is_refused_by_another() {
    let (one, other) = (start(1), start(1));
    let (reader, _writer) = pipe();
    let number = reader.as_raw_fd();
    // A number that no other test uses: the system gives out the lowest numbers first.
    let high = fcntl(&reader, FcntlArg::F_DUPFD_CLOEXEC(number + 100)).unwrap();
    // SAFETY: fcntl has just made it.
    let fd = unsafe { OwnedFd::from_raw_fd(high) };
    let copy = fd.try_clone().unwrap();
    let options = InsertOptions::default();
    let stale = one.core().insert(fd, idle(), group(), ThreadMask::ALL, options).unwrap();
    one.core().registration(stale).delete().unwrap();
    let again = fcntl(&copy, FcntlArg::F_DUPFD_CLOEXEC(high)).unwrap();
    assert_eq!(again, high, "the number is free again");
    // SAFETY: fcntl has just made it.
    let fd = unsafe { OwnedFd::from_raw_fd(again) };
    let handler = idle();
    let owner = OwnerId::of(&handler);
    let live = other.core().insert(fd, handler, group(), ThreadMask::ALL, options).unwrap();
    assert_eq!((stale.number(), stale.generation()), (live.number(), live.generation()));
    for (core, foreign) in [(other.core(), stale), (one.core(), live)] {
        let fd = core.registration(foreign);
        assert!(fd.want_recv().is_err() && fd.stop_recv().is_err() && fd.duplicate().is_err());
        assert!(fd.disown().is_err() && fd.delete().is_err() && fd.migrate_on(first()).is_err());
        let (sender, receiver) = channel();
        core.post(first(), move |context| {
            let entered = context.enter(foreign, |_: &ReadyGuard<'_>| ()).is_ok();
            sender.send((entered, context.takeover(foreign, owner).is_ok())).unwrap();
        })
        .unwrap();
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok((false, false)));
    }
    assert!(other.core().entry(live).is_ok());
    one.stop().unwrap();
    other.stop().unwrap();
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
