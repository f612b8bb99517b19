//! A descriptor is readable and writable at the same time. A handler of HAProxy served one direction per
//! report, and a busy direction starved the other (bug 39).

use std::os::fd::AsRawFd;

use fd_core::poller::Events;

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/one-direction-served",
    title: "One report of a readable and writable descriptor contains both directions",
    layer: Layer::Contract,
    clauses: &["L1", "bug 39"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let number = ends.near.as_raw_fd();
    let reports: Arc<Mutex<Vec<Events>>> = Arc::default();
    let record = Arc::clone(&reports);
    let handler = move |ready: &ReadyGuard<'_>| {
        unpoisoned(&record).push(ready.events());
        // The data stay unread, so the descriptor stays readable.
        let _ = ready.registration().stop_both();
    };
    let handle = harness.insert(ends.near, Arc::new(handler), thread)?;
    // Both directions are wanted and ready before the thread polls.
    let held = harness.hold(thread)?;
    ends.far.write_all(b"x")?;
    harness.wait_until("the data", || descriptors::readable(number))?;
    for want in [fd_core::RegistrationRef::want_recv, fd_core::RegistrationRef::want_send] {
        want(&harness.registration(handle))?;
    }
    held.open();
    harness.wait_until("a report", || !unpoisoned(&reports).is_empty())?;
    harness.fence(thread)?;
    let reports = unpoisoned(&reports).clone();
    let both = reports[0].intersects(Events::READY_R) && reports[0].intersects(Events::READY_W);
    test.check("the first report", "readable and writable", format!("{reports:?}"), "bug 39", both);
    test.check_eq("reports", 1, reports.len(), "L6");
    harness.registration(handle).delete()?;
    drop(ends.far);
    harness.finish(test, &[])
}
