//! A file without readiness is refused by epoll (`EPERM`) and by kqueue (`ENODEV`), and always ready for poll and
//! select. HAProxy never polls one; a core that lets it be registered must report it, or its owner waits for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fd_core::poller::{Events, Trigger};
use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::regression::set_up::{is_quiet, null};
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/device-always-ready",
    title: "A device that the kernel does not poll is reported as ready for as long as it is wanted, and no longer",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "epoll_ctl(2) EPERM"],
    // The null device whatever this says.
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// Reports after which the owner has had enough of a level.
const ENOUGH: usize = 3;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let device = null().map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&device);
    let (read, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let handler = {
        let (read, written) = (Arc::clone(&read), Arc::clone(&written));
        watch.doing(move |ready| {
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
    let want_both = move |context: &fd_core::Context| {
        context.registration(handle).want_recv().and_then(|()| context.registration(handle).want_send())
    };
    harness.on(thread, want_both)?.map_err(Failure::broken)?;
    harness.wait_until("the reports", || count(&read) >= expected && count(&written) >= expected)?;
    is_quiet(test, &mut harness, thread, "with nothing left to say", "L6")?;
    let (reads, writes) = (count(&read), count(&written));
    let exact = |count: usize| count >= expected && (test.trigger == Trigger::Level || count == 1);
    let holds = exact(reads) && exact(writes);
    let said = format!("{reads} readable, {writes} writable");
    test.check(
        "reports",
        format!("{expected} of each direction"),
        said,
        "epoll_ctl(2) EPERM, poll(2)",
        holds,
    );

    // Deleted while it is ready: then there is nothing that keeps the thread awake.
    harness.on(thread, want_both)?.map_err(Failure::broken)?;
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.fence(thread)?;
    is_quiet(test, &mut harness, thread, "after the delete", "L6")?;
    test.check_eq("handlers dropped", 1, watch.dropped(), "S4");
    harness.finish(test, &[])
}
