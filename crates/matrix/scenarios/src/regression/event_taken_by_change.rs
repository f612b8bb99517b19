//! kevent takes changes and returns events in one call. To report every change that fails, the call needs
//! room for as many results (`ebaba7542`). Without `EV_RECEIPT` the kernel also fills that room with events,
//! and an edge that the caller ignores is lost.

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/event-taken-by-change",
    title: "An event that is pending when changes are applied is reported after them",
    layer: Layer::Contract,
    clauses: &["L1", "bug 19", "kevent(2) EV_RECEIPT"],
    axes: Axes { threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ready = test.pair()?;
    let mut changed = test.pair()?;
    let (waiting, newcomer) = (HandlerMonitor::new(&ready.near), HandlerMonitor::new(&changed.near));
    let handle = harness.insert(ready.near, waiting.recording(), thread)?;
    let next = harness.insert(changed.near, newcomer.recording(), thread)?;
    harness.registration(handle).want_recv()?;
    harness.fence(thread)?;

    // The thread is held between two iterations: the next one finds both the event and the change.
    let gate = harness.hold(thread)?;
    ready.far.write_all(b"data")?;
    harness.wait_until("the data", || descriptors::readable(waiting.number()))?;
    harness.registration(next).want_recv()?;
    gate.open();
    harness.wait_until("the data are reported", || waiting.text() == "data")?;
    harness.fence(thread)?;
    test.check_eq("bytes read", "data".into(), waiting.text(), "L1: no event is lost");
    test.check_eq("reports", 1, waiting.calls(), "L1");
    changed.far.write_all(b"data, too")?;
    harness.wait_until("the newcomer's data", || newcomer.text() == "data, too")?;
    drop((ready.far, changed.far));
    harness.finish(test, &[])
}
