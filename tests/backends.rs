//! What the core makes of every backend of this OS: properties that need no cell of their own.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cli::testing::backends;
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::Events;
use fd_core::{InsertOptions, Ready, Runtime};

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
        let handler = move |ready: &Ready<'_>| {
            let mut seen = seen.lock().unwrap();
            seen.1 += 1;
            seen.0.send(ready.events()).unwrap();
            if seen.1 == 3 {
                ready.fd().delete().unwrap();
            }
        };
        let group = GroupId::new(1).unwrap();
        let (core, options) = (runtime.core(), InsertOptions::default());
        let handle =
            core.insert(OwnedFd::from(file), Arc::new(handler), group, ThreadMask::ALL, options).unwrap();
        core.fd(handle).want_recv().unwrap();
        for _ in 0..3 {
            assert_eq!(all.recv_timeout(PATIENCE), Ok(Events::READY_R), "{name}");
        }
        // Many passes of the only thread, each with a look at its updates and a wait.
        for _ in 0..100 {
            let (done, passed) = channel();
            core.post(ThreadId::new(group, 0).unwrap(), move |_| done.send(()).unwrap());
            passed.recv_timeout(PATIENCE).unwrap();
        }
        assert_eq!(all.try_iter().count(), 0, "{name}: reported after its end");
        runtime.stop().unwrap();
    }
}
