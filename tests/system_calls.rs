//! The number of calls of epoll_ctl(2) that a close and a change of the owner make: each row of the table
//! "System calls" in docs/performance.md. The test is alone in its process, because it counts the calls of
//! the whole process.

#![cfg(any(target_os = "linux", target_os = "android"))]

use std::io::{PipeReader, PipeWriter, pipe};
use std::sync::mpsc::channel;

use fd_core::hooks::inject::{Call, made};
use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::poller::Trigger;
use fd_core::{Context, FdCore, FdHandle, InsertOptions, ReadyGuard, Runtime};

/// The numbers of ADD, MOD and DEL.
type Calls = [u64; 3];

const NONE: Calls = [0, 0, 0];

/// Runs an action on a worker thread, and waits until it has ended.
fn on<R: Send + 'static>(
    core: &FdCore,
    thread: ThreadId,
    action: impl FnOnce(&Context) -> R + Send + 'static,
) -> R {
    let (sender, receiver) = channel();
    core.post(thread, move |context| sender.send(action(context)).unwrap()).unwrap();
    receiver.recv().unwrap()
}

/// The calls that an action makes, with those of every thread until it has applied all updates.
fn calls(core: &FdCore, action: impl FnOnce()) -> Calls {
    let count = || [Call::EpollAdd, Call::EpollModify, Call::EpollDelete].map(made);
    let before = count();
    action();
    // A thread runs tasks before it applies updates, so the second task follows the updates before the first.
    for _ in 0..2 {
        core.threads().for_each(|thread| on(core, thread, |_| ()));
    }
    let after = count();
    [0, 1, 2].map(|index| after[index] - before[index])
}

/// Registers the reading end of an empty pipe for these threads.
fn register(core: &FdCore, threads: ThreadMask, trigger: Trigger) -> (FdHandle, PipeWriter) {
    let (reader, writer) = pipe().unwrap();
    let ignore = |_: &ReadyGuard<'_, PipeReader>| {};
    let options = InsertOptions { trigger, assume_nonblocking: true, ..InsertOptions::default() };
    let group = core.threads().next().unwrap().group();
    let handle = core.insert(reader, ignore, group, threads, options).unwrap();
    let polled = calls(core, || core.registration(handle).want_recv().unwrap());
    assert_eq!(polled, [threads.len() as u64, 0, 0], "each thread begins to poll it by one call");
    (handle, writer)
}

fn delete_on(core: &FdCore, thread: ThreadId, handle: FdHandle) -> Calls {
    calls(core, || on(core, thread, move |context| context.registration(handle).delete().unwrap()))
}

/// Takes over and enables receiving.
fn take(core: &FdCore, thread: ThreadId, handle: FdHandle) -> Calls {
    let take = move |context: &Context| {
        let owner = context.registration(handle).owner().unwrap();
        context.takeover(handle, owner).unwrap();
        context.registration(handle).want_recv().unwrap();
    };
    calls(core, || on(core, thread, take))
}

#[test]
fn closes_and_takeovers_make_no_call_that_they_can_avoid() {
    let runtime = Runtime::builder().group(4).capacity(256).start(poller_epoll::backend).unwrap();
    let core = runtime.core();
    let threads: Vec<_> = core.threads().collect();
    let [first, second] = [threads[0], threads[1]];
    let all = ThreadMask::first(4);
    // Each thread registers its wake descriptor.
    calls(core, || ());
    for trigger in [Trigger::Level, Trigger::Edge] {
        let one = || register(core, first.mask(), trigger);
        let shared = || register(core, all, trigger);
        let deleted = |handle| calls(core, || core.registration(handle).delete().unwrap());

        let (handle, _writer) = one();
        assert_eq!(
            delete_on(core, first, handle),
            NONE,
            "{trigger:?}: the only thread that polls it closes it"
        );
        let (handle, _writer) = one();
        assert_eq!(delete_on(core, second, handle), [0, 0, 1], "{trigger:?}: another thread closes it");
        let (handle, _writer) = one();
        assert_eq!(deleted(handle), [0, 0, 1], "{trigger:?}: a thread without a poller closes it");
        let (handle, _writer) = shared();
        assert_eq!(delete_on(core, first, handle), [0, 0, 3], "{trigger:?}: one of four closes it");
        let (handle, _writer) = shared();
        assert_eq!(deleted(handle), [0, 0, 4], "{trigger:?}: a thread without a poller closes it for four");

        let (handle, _writer) = one();
        assert_eq!(take(core, second, handle), [1, 0, 0], "{trigger:?}: a poller that does not know it");
        // A level is reported anyway. An edge that the former owner has consumed has to be reported again.
        let replayed = if trigger == Trigger::Edge { [0, 1, 0] } else { NONE };
        for owner in [first, second, first] {
            assert_eq!(take(core, owner, handle), replayed, "{trigger:?}: a poller that knows it");
        }
        assert_eq!(delete_on(core, first, handle), [0, 0, 1], "{trigger:?}: the other poller still knows it");
    }
    runtime.stop().unwrap();
}
