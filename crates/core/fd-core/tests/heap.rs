//! A runtime that has stopped has freed every byte that it had allocated. The test is alone in its process,
//! because it counts the allocations of the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::Duration;

use pollmatrix_fd_core::error::PostError;
use pollmatrix_fd_core::ids::ThreadMask;
use pollmatrix_fd_core::{Context, InsertOptions, ReadyGuard, Runtime};

struct Counting;

static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the methods call the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as isize, Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as isize, Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Starts and ends a runtime with registrations, timers and tasks, of which some never run.
fn one(stops: bool) {
    let runtime =
        Runtime::builder().group(2).group(1).capacity(256).start(pollmatrix_poller_poll::backend).unwrap();
    let core = Arc::clone(runtime.core());
    for thread in core.threads() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        nix::fcntl::fcntl(&reader, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
        let held = Arc::clone(&core);
        let handler = move |ready: &ReadyGuard<'_>| {
            let _ = (ready.registration().stop_recv(), &held);
        };
        let (group, options) = (thread.group(), InsertOptions::default());
        let handle = core.insert(OwnedFd::from(reader), handler, group, ThreadMask::ALL, options).unwrap();
        core.registration(handle).want_recv().unwrap();
        std::io::Write::write_all(&mut writer, b"x").unwrap();
        let (in_task, in_timer) = (Arc::clone(&core), Arc::clone(&core));
        core.post(thread, move |_| drop(in_task)).unwrap();
        let set = move |context: &Context| {
            context.after(Duration::from_secs(3600), move |_| drop(in_timer));
        };
        core.post(thread, set).unwrap();
    }
    if stops {
        runtime.stop().unwrap();
    } else {
        drop(runtime);
    }
    for thread in core.threads() {
        let held = Arc::clone(&core);
        assert_eq!(core.post(thread, move |_| drop(held)), Err(PostError::Ended { thread }));
    }
}

#[test]
fn a_runtime_that_has_stopped_has_freed_every_byte() {
    // The first rounds make the allocations that the process keeps.
    (0..10).for_each(|round| one(round % 2 == 0));
    let before = ALLOCATED.load(Ordering::SeqCst);
    for round in 0..200 {
        one(round % 2 == 0);
    }
    assert_eq!(ALLOCATED.load(Ordering::SeqCst) - before, 0, "bytes remain after 200 runtimes");
}
