//! epoll refuses a file without readiness (`EPERM`), and so does kqueue (`ENODEV`); for poll and select it is
//! always ready. HAProxy never polls one. A core that accepts its registration must report it, or its owner
//! waits endlessly.

use std::sync::atomic::{AtomicUsize, Ordering};

use fd_core::poller::{Events, Trigger};

use crate::deletion::monitor::HandlerMonitor;
use crate::descriptors::null_device;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/device-always-ready",
    title: "A device that the kernel cannot poll is reported as ready exactly as long as it is wanted",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "epoll_ctl(2) EPERM"],
    // The descriptor is the null device, whatever the transport.
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// In level mode, the reports after which the owner stops.
const ENOUGH: usize = 3;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let device = null_device()?;
    let monitor = HandlerMonitor::new(&device);
    let (read, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let handler = {
        let (read, written) = (Arc::clone(&read), Arc::clone(&written));
        monitor.doing(move |_, ready| {
            for (count, event) in [(&read, Events::READY_R), (&written, Events::READY_W)] {
                count.fetch_add(usize::from(ready.events().intersects(event)), Ordering::SeqCst);
            }
            if read.load(Ordering::SeqCst) >= ENOUGH && written.load(Ordering::SeqCst) >= ENOUGH {
                let _ = ready.registration().stop_both();
            }
        })
    };
    let handle = harness.insert(device, handler, thread)?;
    let expected = match test.trigger {
        Trigger::Level => ENOUGH,
        Trigger::Edge => 1,
    };
    let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
    let want_both = move |context: &Context| {
        context.registration(handle).want_recv().and_then(|()| context.registration(handle).want_send())
    };
    harness.on(thread, want_both)??;
    harness.wait_until("the reports", || count(&read) >= expected && count(&written) >= expected)?;
    harness.check_quiet(test, thread, "without interest", "L6")?;
    let (reads, writes) = (count(&read), count(&written));
    let exact = |count: usize| count >= expected && (test.trigger == Trigger::Level || count == 1);
    let holds = exact(reads) && exact(writes);
    let observed = format!("{reads} readable, {writes} writable");
    let what = "reports";
    test.check(what, format!("{expected} of each direction"), observed, "epoll_ctl(2) EPERM, poll(2)", holds);

    // Deleted while it is ready: then nothing keeps the thread awake.
    harness.on(thread, want_both)??;
    harness.registration(handle).delete()?;
    harness.fence(thread)?;
    harness.check_quiet(test, thread, "after the delete", "L6")?;
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    harness.finish(test, &[])
}
