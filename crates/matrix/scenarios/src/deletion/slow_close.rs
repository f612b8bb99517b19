//! Another thread has ended a registration and is about to close its number when data arrives. kqueue works
//! by number, and reports the descriptor until the close; epoll, poll and select have removed it before. A
//! thread took these events for those of an undeclared copy and replaced its poller: without need, again and
//! again, and it took a number that other code expected. Found on an emulated kqueue, when
//! `late-report-then-reuse` failed because its number was taken.

use super::cloned::replacements;
use super::monitor::{HandlerMonitor, delete_on};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/slow-close",
    title: "Events of a deleted FD before the close of its number reach no handler and replace no poller",
    layer: Layer::Contract,
    clauses: &["S6", "S7", "L5", "suspect 17"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// More iterations of the polling thread than the core tolerates events of an undeclared copy.
const FENCES: usize = 16;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let mut spare = test.pair()?;
    let (old, new) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
    let handle = harness.insert_recv(ends.near, old.recording(), thread)?;
    harness.fence(thread)?;

    let checkpoints = Checkpoints::watch();
    let gate = checkpoints.gate(Point::RetiredBeforeClose, old.number());
    let before = harness.activity(thread);
    let result = delete_on(&harness, None, handle)?;
    if !gate.wait_for(1) {
        return Err(Failure::Wrong("the registration did not end".into()));
    }
    // A wait in poll(2) or select(2) that had begun before has the number in its arrays.
    harness.fence(thread)?;
    ends.far.write_all(b"undelivered")?;
    harness.wait_until("the data", || descriptors::readable(old.number()))?;
    for _ in 0..FENCES {
        harness.fence(thread)?;
    }
    let during = harness.activity(thread).since(&before);
    test.check_eq("the number is open", true, descriptors::is_open(old.number()), "S5");
    test.check_eq("handler calls", 0, old.calls(), "S6");
    test.check_eq("pollers replaced", 0, replacements(&during), "suspect 17");
    test.record_counter("undelivered events", during.poll_drop);
    let capabilities = harness.core().backend().capabilities();
    if !(capabilities.kernel_state && capabilities.close_forgets) {
        test.check_cost_eq("undelivered events", 0, during.poll_drop, "L5");
    }

    gate.open();
    let deleted = result.recv_timeout(patience()).ok();
    test.check_debug("delete", Some(Ok(())), deleted, "L7");
    test.check_eq("handlers dropped", 1, old.dropped(), "S4");
    drop(checkpoints);
    harness.wait_until("the peer sees the end", || ends.far.ended())?;

    let near = at_number(spare.near, old.number())?;
    let next = harness.insert_recv(near, new.recording(), thread)?;
    spare.far.write_all(b"new")?;
    harness.wait_until("the new registration's data", || new.text() == "new")?;
    harness.registration(next).delete()?;
    drop((ends.far, spare.far));
    harness.finish(test, &[])
}
