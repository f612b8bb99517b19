//! An iteration in which nothing changes allocates nothing, and waits once; and no thread writes to the wake
//! descriptor of one that is awake. The tests are alone in their process, because they count the allocations
//! of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs::File;
use std::io::{PipeReader, Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};

use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::poller::MakeBackend;
use fd_core::{ActivitySnapshot, Context, FdCore, InsertOptions, ReadyGuard, Runtime, Source};
use matrix::testing::backends;

struct Counting;

thread_local! {
    /// Of this thread: the one that waits for the looks allocates when it begins to wait.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the methods call the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What the thread had done at a call of a handler.
struct Seen {
    allocations: u64,
    counters: ActivitySnapshot,
}

/// The number of calls of the handler before the first look, and between the two.
const CALLS: u64 = 1_000;

/// Registers a source that is ready again after each call of `handle`, and returns two looks, [`CALLS`] calls
/// apart.
fn looks<S: Source>(
    backend: MakeBackend,
    source: S,
    handle: impl Fn(&S) + Send + Sync + 'static,
) -> [Seen; 2] {
    thread_local!(static FIRST: Cell<Option<Seen>> = const { Cell::new(None) });

    let runtime = Runtime::builder().group(1).capacity(64).start(backend).unwrap();
    let core = runtime.core();
    let id = core.threads().next().unwrap();
    let (sender, receiver) = channel();
    let calls = AtomicU64::new(0);
    let handler = move |ready: &ReadyGuard<'_, S>| {
        handle(ready.source());
        let call = calls.fetch_add(1, Ordering::Relaxed);
        if call == CALLS || call == 2 * CALLS {
            // Before the copy of the counters, which allocates.
            let allocations = ALLOCATIONS.get();
            let counters = ready.context().core().activity().0[0].1;
            ALLOCATIONS.set(allocations);
            if call == CALLS {
                FIRST.with(|first| first.set(Some(Seen { allocations, counters })));
            } else {
                let first = FIRST.with(Cell::take).unwrap();
                let _ = sender.send([first, Seen { allocations, counters }]);
            }
        }
    };
    let options = InsertOptions { assume_nonblocking: true, ..InsertOptions::default() };
    let handle = core.insert(source, handler, id.group(), id.mask(), options).unwrap();
    core.registration(handle).want_recv().unwrap();
    let looks = receiver.recv().unwrap();
    runtime.stop().unwrap();
    looks
}

fn assert_steady([first, second]: [Seen; 2], what: &str) {
    assert_eq!(second.allocations - first.allocations, 0, "allocations: {what}");
    let made = second.counters.since(&first.counters);
    let expected = ActivitySnapshot { loops: CALLS, poll_io: CALLS, fd_run: CALLS, ..Default::default() };
    assert_eq!(made, expected, "{what}");
}

#[test]
fn an_iteration_in_which_nothing_changes_allocates_nothing_and_waits_once() {
    for (name, backend) in backends() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let move_on = move |mut reader: &PipeReader| {
            reader.read_exact(&mut [0]).unwrap();
            (&writer).write_all(b"x").unwrap();
        };
        assert_steady(looks(backend, reader, move_on), &format!("a pipe, {name}"));
        // Where the poller refuses it, the core's own list reports it.
        let file = File::open("Cargo.toml").unwrap();
        assert_steady(looks(backend, file, |_| ()), &format!("a file, {name}"));
    }
}

/// The threads of a group that shares a listener.
const SHARERS: usize = 4;

/// The number of writes to the wake descriptors of these threads that they have read.
fn wakes(core: &FdCore, threads: impl Fn(ThreadId) -> bool) -> u64 {
    core.activity().0.iter().filter(|(id, _)| threads(*id)).map(|(_, counters)| counters.wake_thread).sum()
}

/// Sends the number of this thread's wake-ups after so many further iterations. The waits of two report each
/// write before: a thread with a task does not sleep.
fn count(context: &Context, iterations: u32, counted: Sender<u64>) {
    if iterations == 0 {
        return counted.send(wakes(context.core(), |id| id == context.id())).unwrap();
    }
    let next = move |context: &Context| count(context, iterations - 1, counted);
    context.core().post(context.id(), next).unwrap();
}

#[test]
fn an_insertion_writes_to_no_thread_that_is_awake() {
    for (name, backend) in backends() {
        let runtime = Runtime::builder().group(SHARERS).capacity(256).start(backend).unwrap();
        let core = runtime.core();
        let busy = core.threads().next().unwrap();
        let ((counted, counts), (release, released)) = (channel(), channel::<()>());
        // From the first count on, it is in this task.
        let first = move |context: &Context| {
            let before = counted.clone();
            let blocks = move |context: &Context| {
                count(context, 0, before);
                let _ = released.recv();
                count(context, 2, counted);
            };
            context
                .core()
                .post(context.id(), |context| _ = context.core().post(context.id(), blocks))
                .unwrap();
        };
        core.post(busy, first).unwrap();
        let before = counts.recv().unwrap();
        let is_other = |id| id != busy;
        let others = wakes(core, is_other);
        for _ in 0..100 {
            // Each sleeper has to poll it.
            let (reader, _writer) = pipe().unwrap();
            let ignore = |_: &ReadyGuard<'_, PipeReader>| {};
            let sharers = ThreadMask::first(SHARERS);
            let options = InsertOptions { assume_nonblocking: true, ..InsertOptions::default() };
            let handle = core.insert(reader, ignore, busy.group(), sharers, options).unwrap();
            core.registration(handle).want_recv().unwrap();
            while core.entry(handle).unwrap().polled_recv.len() < SHARERS - 1 {
                std::thread::yield_now();
            }
            core.registration(handle).delete().unwrap();
        }
        release.send(()).unwrap();
        assert_eq!(counts.recv().unwrap(), before, "{name}: it was in a task all the time");
        assert!(wakes(core, is_other) > others, "{name}: a sleeper has to be woken");
        runtime.stop().unwrap();
    }
}

#[test]
fn a_steady_accept_loop_wakes_no_sharer() {
    const CONNECTIONS: u64 = 200;
    for (name, backend) in backends() {
        let runtime = Runtime::builder().group(SHARERS).capacity(256).start(backend).unwrap();
        let core = runtime.core();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        // The end of the connection is the answer.
        let accept = |ready: &ReadyGuard<'_, TcpListener>| drop(ready.source().accept());
        let group = core.threads().next().unwrap().group();
        let sharers = ThreadMask::first(SHARERS);
        let handle = core.insert(listener, accept, group, sharers, InsertOptions::default()).unwrap();
        core.registration(handle).want_recv().unwrap();
        let connect = || assert_eq!(TcpStream::connect(address).unwrap().read(&mut [0]).unwrap(), 0);
        connect();
        let before = wakes(core, |_| true);
        (0..CONNECTIONS).for_each(|_| connect());
        let made = wakes(core, |_| true) - before;
        // Those of the insertion may be read only now.
        assert!(made <= SHARERS as u64, "{name}: {made} wake-ups for {CONNECTIONS} connections");
        runtime.stop().unwrap();
    }
}
