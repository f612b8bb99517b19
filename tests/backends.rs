//! Properties of the core on every backend of this OS that need no cell of the matrix.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::{Events, Trigger};
use fd_core::{FdCore, InsertOptions, ReadyGuard, Runtime};
use matrix::testing::backends;
use scenarios::Checkpoints;

/// The limit for events that must arrive. It is no requirement on speed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A regular file is always ready while it has interest, whatever the kernel poller reports for it (F01).
#[test]
fn a_regular_file_is_reported_until_it_is_deleted() {
    for (name, make) in backends() {
        let runtime = Runtime::builder().group(1).capacity(256).start(make).unwrap();
        let file = File::open(env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml").unwrap();
        let (sender, events) = channel();
        let state: Mutex<(Sender<Events>, usize)> = Mutex::new((sender, 0));
        let handler = move |ready: &ReadyGuard<'_>| {
            let mut state = state.lock().unwrap();
            state.1 += 1;
            state.0.send(ready.events()).unwrap();
            if state.1 == 3 {
                ready.registration().delete().unwrap();
            }
        };
        let group = GroupId::new(1).unwrap();
        let core = runtime.core();
        let options = InsertOptions { assume_nonblocking: true, ..InsertOptions::default() };
        let handle =
            core.insert(OwnedFd::from(file), Arc::new(handler), group, ThreadMask::ALL, options).unwrap();
        core.registration(handle).want_recv().unwrap();
        for _ in 0..3 {
            assert_eq!(events.recv_timeout(PATIENCE), Ok(Events::READY_R), "{name}");
        }
        run_many_iterations(core, ThreadId::new(group, 0).unwrap());
        assert_eq!(events.try_iter().count(), 0, "{name}: event after the delete");
        runtime.stop().unwrap();
    }
}

/// An event that arrives without interest is reported once interest is enabled. This includes an edge, which
/// the kernel reports once. It includes interest that is enabled again before the thread's next iteration,
/// when the poller already has it.
#[test]
fn an_event_without_interest_is_reported_when_interest_is_enabled() {
    for ((name, make), trigger) in
        backends().flat_map(|backend| [Trigger::Level, Trigger::Edge].map(|trigger| (backend, trigger)))
    {
        let runtime = Runtime::builder().group(1).capacity(256).start(make).unwrap();
        let (core, group) = (runtime.core(), GroupId::new(1).unwrap());
        let thread = ThreadId::new(group, 0).unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let number = near.as_raw_fd();
        let (sender, events) = channel();
        let sender = Mutex::new(sender);
        let handler = move |ready: &ReadyGuard<'_>| {
            sender.lock().unwrap().send(ready.events()).unwrap();
            ready.registration().stop_both().unwrap();
        };
        let options = InsertOptions { trigger, ..InsertOptions::default() };
        let handle =
            core.insert(OwnedFd::from(near), Arc::new(handler), group, ThreadMask::ALL, options).unwrap();
        let checkpoints = Checkpoints::watch();

        let before_handler = checkpoints.hold(thread, Point::ReportBeforeRunning, number);
        let after_handler = checkpoints.hold(thread, Point::ReportHandlerDone, number);
        core.registration(handle).want_recv().unwrap();
        far.write_all(b"x").unwrap();
        before_handler.reached().unwrap();
        core.registration(handle).stop_both().unwrap();
        before_handler.release();
        after_handler.reached().unwrap();
        assert_eq!(events.try_recv().ok(), None, "{name} {trigger:?}: event without interest");
        core.registration(handle).want_recv().unwrap();
        after_handler.release();
        run_many_iterations(core, thread);
        assert_eq!(events.try_iter().next(), Some(Events::READY_R), "{name} {trigger:?}");
        runtime.stop().unwrap();
    }
}

/// A hang-up is reported for both directions, even if only one has interest. The event for the other
/// direction must not make the core re-arm the kernel's edge: the handler would be called without end.
#[test]
fn the_edge_of_a_hang_up_is_reported_once() {
    for (name, make) in backends() {
        let runtime = Runtime::builder().group(1).capacity(256).start(make).unwrap();
        let (core, group) = (runtime.core(), GroupId::new(1).unwrap());
        if !core.backend().capabilities().edge {
            continue;
        }
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let (sender, events) = channel();
        let sender = Mutex::new(sender);
        let handler = move |ready: &ReadyGuard<'_>| sender.lock().unwrap().send(ready.events()).unwrap();
        let options = InsertOptions { trigger: Trigger::Edge, ..InsertOptions::default() };
        let handle =
            core.insert(OwnedFd::from(near), Arc::new(handler), group, ThreadMask::ALL, options).unwrap();
        core.registration(handle).want_recv().unwrap();
        run_many_iterations(core, ThreadId::new(group, 0).unwrap());
        assert_eq!(events.try_iter().count(), 0, "{name}");
        drop(far);
        run_many_iterations(core, ThreadId::new(group, 0).unwrap());
        let events: Vec<_> = events.try_iter().collect();
        // A kernel may report the two halves of the hang-up separately. A busy loop would report one per
        // iteration.
        assert!(
            (1..=3).contains(&events.len()) && events[0].intersects(Events::SHUT_R),
            "{name}: {events:?}"
        );
        runtime.stop().unwrap();
    }
}

/// Lets the thread run 100 iterations, each with its pending updates, a wait, and the dispatch of the batch.
fn run_many_iterations(core: &FdCore, thread: ThreadId) {
    for _ in 0..100 {
        let (sender, done) = channel();
        core.post(thread, move |_| sender.send(()).unwrap()).unwrap();
        done.recv_timeout(PATIENCE).unwrap();
    }
}
