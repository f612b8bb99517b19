//! `39ebef82a`, `26d7cfce3`: a report of both directions ran the handler once for each; and errors and hang-ups, which
//! nobody can refuse to be told of, made events that nothing ever took away. `2c30de3b9`: an error was reported once
//! more than needed.

use std::io::Write;

use metadata::{Axes, Layer, Transport};

use super::set_up::is_quiet;
use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::descriptors;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/hangup-without-wants-spins",
    title: "A report of both directions is one call; a hang-up of an FD that wants nothing is none, and then it is quiet",
    layer: Layer::Contract,
    clauses: &["S18", "L6", "bug 61", "bug 85"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&ends.near);
    let handler = {
        let watch = std::sync::Arc::clone(&watch);
        watch.clone().doing(move |ready| {
            watch.recorder.record(ready);
            let _ = ready.registration().stop_both();
        })
    };
    let handle = harness.insert(ends.near, handler, thread)?;

    // Both directions are ready when the thread first looks.
    let turn = harness.hold(thread)?;
    ends.far.write_all(b"heard").map_err(Failure::broken)?;
    harness.wait_until("the data", || descriptors::readable(watch.number()))?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.core().registration(handle).want_send().map_err(Failure::broken)?;
    turn.open();
    harness.wait_until("the report", || watch.calls() > 0)?;
    harness.fence(thread)?;
    test.check_eq("handler calls for both directions", 1, watch.calls(), "bug 85");

    // It stays registered for receiving while nobody wants anything.
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence(thread)?;
    harness.core().registration(handle).stop_recv().map_err(Failure::broken)?;
    let polled = harness.entry(handle)?.polled_recv.contains(thread.mask());
    test.check_eq("polled, though no longer wanted", true, polled, "protocol 10.2: stopping is lazy");
    let calls = watch.calls();
    drop(ends.far);
    harness.wait_until("the end", || descriptors::readable(watch.number()))?;
    harness.fence(thread)?;
    is_quiet(test, &mut harness, thread, "after a hang-up that nobody wants", "L6, bugs 61 and 85")?;
    test.check_eq("handler calls for it", 0, watch.calls() - calls, "S18");
    let entry = harness.entry(handle)?;
    test.check_eq("polled by", 0, entry.polled_recv.or(entry.polled_send).bits(), "L6");
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.finish(test, &[])
}
