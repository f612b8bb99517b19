//! What the core makes of every backend of this OS: properties that need no cell of their own.

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
use runner::testing::backends;
use scenarios::Checkpoints;

/// For what must happen; not a bound on how fast.
const PATIENCE: Duration = Duration::from_secs(60);

/// Regular files are always ready, whatever the backend's kernel says of them (F01), for as long as somebody wants them.
#[test]
fn a_regular_file_is_reported_until_it_is_deleted() {
    for (name, make) in backends() {
        let runtime = Runtime::builder().group(1).capacity(256).start(make).unwrap();
        let file = File::open(env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml").unwrap();
        let (seen, all) = channel();
        let seen: Mutex<(Sender<Events>, usize)> = Mutex::new((seen, 0));
        let handler = move |ready: &ReadyGuard<'_>| {
            let mut seen = seen.lock().unwrap();
            seen.1 += 1;
            seen.0.send(ready.events()).unwrap();
            if seen.1 == 3 {
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
            assert_eq!(all.recv_timeout(PATIENCE), Ok(Events::READY_R), "{name}");
        }
        let_many_passes_go_by(core, ThreadId::new(group, 0).unwrap());
        assert_eq!(all.try_iter().count(), 0, "{name}: reported after its end");
        runtime.stop().unwrap();
    }
}

/// What comes while nobody wants it is told when it is wanted: also an edge, which the kernel tells once, and also if it
/// is wanted again before the thread's next pass, when the poller holds what is wanted already.
#[test]
fn what_came_unwanted_is_told_when_it_is_wanted() {
    for ((name, make), trigger) in
        backends().flat_map(|backend| [Trigger::Level, Trigger::Edge].map(|trigger| (backend, trigger)))
    {
        let runtime = Runtime::builder().group(1).capacity(256).start(make).unwrap();
        let (core, group) = (runtime.core(), GroupId::new(1).unwrap());
        let thread = ThreadId::new(group, 0).unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let number = near.as_raw_fd();
        let (seen, all) = channel();
        let seen = Mutex::new(seen);
        let handler = move |ready: &ReadyGuard<'_>| {
            seen.lock().unwrap().send(ready.events()).unwrap();
            ready.registration().stop_both().unwrap();
        };
        let options = InsertOptions { trigger, ..InsertOptions::default() };
        let handle =
            core.insert(OwnedFd::from(near), Arc::new(handler), group, ThreadMask::ALL, options).unwrap();
        let checkpoints = Checkpoints::watch();

        let harvested = checkpoints.hold(thread, Point::ReportBeforeRunning, number);
        let dropped = checkpoints.hold(thread, Point::ReportHandlerDone, number);
        core.registration(handle).want_recv().unwrap();
        far.write_all(b"x").unwrap();
        harvested.reached().unwrap();
        core.registration(handle).stop_both().unwrap();
        harvested.release();
        dropped.reached().unwrap();
        assert_eq!(all.try_recv().ok(), None, "{name} {trigger:?}: told though nobody wants it");
        core.registration(handle).want_recv().unwrap();
        dropped.release();
        let_many_passes_go_by(core, thread);
        assert_eq!(all.try_iter().next(), Some(Events::READY_R), "{name} {trigger:?}");
        runtime.stop().unwrap();
    }
}

/// A hang-up comes unasked for the direction that nobody wants, with the one that is wanted. That is no reason to have
/// the kernel tell its edge again: the owner would be called for ever.
#[test]
fn the_edge_of_a_hang_up_is_told_once() {
    for (name, make) in backends() {
        let runtime = Runtime::builder().group(1).capacity(256).start(make).unwrap();
        let (core, group) = (runtime.core(), GroupId::new(1).unwrap());
        if !core.backend().capabilities().edge {
            continue;
        }
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let (seen, all) = channel();
        let seen = Mutex::new(seen);
        let handler = move |ready: &ReadyGuard<'_>| seen.lock().unwrap().send(ready.events()).unwrap();
        let options = InsertOptions { trigger: Trigger::Edge, ..InsertOptions::default() };
        let handle =
            core.insert(OwnedFd::from(near), Arc::new(handler), group, ThreadMask::ALL, options).unwrap();
        core.registration(handle).want_recv().unwrap();
        let_many_passes_go_by(core, ThreadId::new(group, 0).unwrap());
        assert_eq!(all.try_iter().count(), 0, "{name}");
        drop(far);
        let_many_passes_go_by(core, ThreadId::new(group, 0).unwrap());
        let told: Vec<_> = all.try_iter().collect();
        // A kernel may tell the two halves of the end apart. A spin would be told by every pass.
        assert!((1..=3).contains(&told.len()) && told[0].intersects(Events::SHUT_R), "{name}: {told:?}");
        runtime.stop().unwrap();
    }
}

/// Each with a look at the thread's updates, a wait, and the reports of what it saw.
fn let_many_passes_go_by(core: &FdCore, thread: ThreadId) {
    for _ in 0..100 {
        let (done, passed) = channel();
        core.post(thread, move |_| done.send(()).unwrap()).unwrap();
        passed.recv_timeout(PATIENCE).unwrap();
    }
}
