//! `39ebef82a`, `26d7cfce3`: a report of both directions ran the handler once for each; and errors and
//! hang-ups, which kernels report without any interest, caused events that nothing ended. `2c30de3b9`: an
//! error was reported once too often.

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/hangup-without-wants-spins",
    title: "A report of both directions is one handler call; a hang-up without interest is no call and does not spin",
    layer: Layer::Contract,
    clauses: &["S18", "L6", "bug 61", "bug 85"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.doing(|monitor, ready| {
        monitor.recorder.record(ready);
        let _ = ready.registration().stop_both();
    });
    let handle = harness.insert(ends.near, handler, thread)?;

    // Both directions are ready before the thread polls for the first time.
    let gate = harness.hold(thread)?;
    ends.far.write_all(b"data")?;
    harness.wait_until("the data", || descriptors::readable(monitor.number()))?;
    harness.registration(handle).want_recv()?;
    harness.registration(handle).want_send()?;
    gate.open();
    harness.wait_until("the report", || monitor.calls() > 0)?;
    harness.fence(thread)?;
    test.check_eq("handler calls for both directions", 1, monitor.calls(), "bug 85");

    // It stays registered for receiving, without interest.
    harness.registration(handle).want_recv()?;
    harness.wait_until_polled(handle, thread.mask())?;
    harness.fence(thread)?;
    harness.registration(handle).stop_recv()?;
    let polled = harness.entry(handle)?.polled_recv.contains(thread.mask());
    test.check_eq("polled, though no longer wanted", true, polled, "protocol 10.2: stopping is lazy");
    let calls = monitor.calls();
    drop(ends.far);
    harness.wait_until("the end", || descriptors::readable(monitor.number()))?;
    let is_removed = |harness: &Harness| {
        harness.entry(handle).is_ok_and(|entry| entry.polled_recv.or(entry.polled_send).is_empty())
    };
    harness.wait_until("its report removes it from its poller", || is_removed(&harness))?;
    harness.fence(thread)?;
    harness.check_quiet(test, thread, "after a hang-up without interest", "L6, bugs 61 and 85")?;
    test.check_eq("handler calls for it", 0, monitor.calls() - calls, "S18");
    let entry = harness.entry(handle)?;
    test.check_eq("polled by", 0, entry.polled_recv.or(entry.polled_send).bits(), "L6");
    harness.registration(handle).delete()?;
    harness.finish(test, &[])
}
