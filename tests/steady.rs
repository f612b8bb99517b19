//! An iteration in which nothing changes allocates nothing, and waits once. The test is alone in its process,
//! because it counts the allocations of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs::File;
use std::io::{PipeReader, Read, Write, pipe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use fd_core::poller::MakeBackend;
use fd_core::{ActivitySnapshot, InsertOptions, ReadyGuard, Runtime, Source};
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
