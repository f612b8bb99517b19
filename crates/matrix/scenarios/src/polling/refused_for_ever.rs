//! A descriptor that cannot be read: opened with `O_PATH`, it only names a file. epoll refuses it with
//! `EBADF`, though the number is open. A core that tries again without end tells nobody. poll reports it as
//! not open, and select as ready: its handler finds the error.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nix::errno::Errno;

use crate::manual_clock::ManualClock;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/refused-for-ever",
    title: "The handler of a descriptor that the system cannot poll is called, and finds the error",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "epoll_ctl(2) EBADF", "core 26"],
    // The descriptor is a directory, whatever the transport.
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let clock = ManualClock::new();
    let mut harness = Harness::start_with_clock(test, &clock)?;
    harness.expect_errors();
    let thread = harness.thread(0);
    let (reports, reads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let handler = {
        let (reports, reads) = (Arc::clone(&reports), Arc::clone(&reads));
        move |ready: &ReadyGuard<'_>| {
            unpoisoned(&reads).push(nix::unistd::read(ready, &mut [0; 8]));
            let _ = ready.registration().stop_both();
            reports.fetch_add(1, Ordering::SeqCst);
        }
    };
    let options = InsertOptions { assume_nonblocking: true, ..harness.options() };
    let handle = harness.core().insert(unreadable()?, handler, thread.group(), thread.mask(), options);
    let handle = handle?;
    for expected in 1..=2 {
        harness.registration(handle).want_recv()?;
        // The core tries again every 10 ms of this clock, for a second.
        harness.wait_until(&format!("call {expected} of the handler"), || {
            clock.advance(Duration::from_millis(20));
            harness.core().wake(thread);
            reports.load(Ordering::SeqCst) >= expected
        })?;
        // So does the removal.
        harness.wait_until("the last attempt", || {
            clock.advance(Duration::from_millis(20));
            harness.core().wake(thread);
            let entry = harness.entry(handle);
            entry.is_ok_and(|entry| entry.polled_recv.is_empty() && !entry.state.intersects(State::ACTIVE))
        })?;
        harness.check_quiet(test, thread, &format!("after call {expected}"), "L6")?;
        test.check_eq("calls of the handler", expected, reports.load(Ordering::SeqCst), "once for each want");
    }
    let answers = format!("{:?}", unpoisoned(&reads));
    let what = "reads in the handler";
    test.check_eq(what, format!("{:?}", [Err::<usize, _>(Errno::EBADF); 2]), answers, "open(2)");
    harness.registration(handle).delete()?;
    harness.finish(test, &[])
}

/// A descriptor with `O_PATH`.
fn unreadable() -> Result<OwnedFd> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use nix::fcntl::{OFlag, open};
        use nix::sys::stat::Mode;
        open("/", OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).map_err(Failure::broken)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    Err(Failure::Unsupported("this system has no O_PATH".into()))
}
