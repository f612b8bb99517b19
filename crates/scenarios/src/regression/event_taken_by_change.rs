//! kqueue takes changes and gives events in one call. To hear of every change that fails, the call needs room for as
//! many answers (`ebaba7542`); if they are not asked for by `EV_RECEIPT`, events come into that room, and an edge that
//! nobody looks at is gone.

use std::io::Write;

use metadata::{Axes, Layer};

use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::descriptors;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/event-taken-by-change",
    title: "What became ready before a pass with changes is reported after it",
    layer: Layer::Contract,
    clauses: &["L1", "bug 19", "kevent(2) EV_RECEIPT"],
    axes: Axes { threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ready = pair(test.params.transport).map_err(Failure::broken)?;
    let mut changed = pair(test.params.transport).map_err(Failure::broken)?;
    let (waiting, newcomer) = (HandlerMonitor::new(&ready.near), HandlerMonitor::new(&changed.near));
    let handle = harness.insert(ready.near, waiting.recording(), thread)?;
    let next = harness.insert(changed.near, newcomer.recording(), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence(thread)?;

    // The thread is between two turns: it finds both the event and the change.
    let turn = harness.hold(thread)?;
    ready.far.write_all(b"heard").map_err(Failure::broken)?;
    harness.wait_until("the data", || descriptors::readable(waiting.number()))?;
    harness.core().registration(next).want_recv().map_err(Failure::broken)?;
    turn.open();
    harness.fence(thread)?;
    test.check_eq("what was read", "heard".into(), waiting.text(), "L1: no event is lost");
    test.check_eq("reports", 1, waiting.calls(), "L1");
    changed.far.write_all(b"heard, too").map_err(Failure::broken)?;
    harness.wait_until("the newcomer's data", || newcomer.text() == "heard, too")?;
    drop((ready.far, changed.far));
    harness.finish(test, &[])
}
