//! Two threads delete one descriptor at the same time: the second delete comes after the first has set its
//! token and before it has cleared the thread mask. A second token would close twice, and by then the number
//! may belong to another descriptor (bug 43).

use fd_core::error::DeleteError;

use super::monitor::{HandlerMonitor, delete_on};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/delete-twice",
    title: "The second of two deletes of one FD fails at once, and its handle cannot affect the number's next registration",
    layer: Layer::Contract,
    clauses: &["S4", "S14", "L7", "protocol 2.1", "protocol 6.1", "bug 43"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let (owner, other) = (harness.thread(0), harness.thread(1));
    for point in [Point::DeleteMarked, Point::DeleteMaskCleared] {
        let ends = test.pair()?;
        let mut spare = test.pair()?;
        let (first, second) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
        let handle = harness.insert_recv(ends.near, first.recording(), owner)?;
        harness.fence_all()?;
        let checkpoints = Checkpoints::watch();
        let gate = checkpoints.gate(point, first.number());
        let closed = harness.closed();
        let first_result = delete_on(&harness, Some(other), handle)?;
        if !gate.wait_for(1) {
            return Err(Failure::Wrong("the first delete did not start".into()));
        }
        let second_result = delete_on(&harness, None, handle)?.recv_timeout(patience());
        let second_result =
            second_result.map_err(|_| Failure::Wrong(format!("the second delete at {point:?} hangs")))?;
        let refused = Err(DeleteError::AlreadyDeleted);
        test.check_debug(format!("second at {point:?}"), refused, second_result, "protocol 6.1");
        test.stop_if_failed()?;
        let second_result = harness.registration(handle).disown();
        let is_refused = second_result == Err(DeleteError::AlreadyDeleted);
        test.check_eq("disown at that point", true, is_refused, "protocol 6.1");
        test.check_eq("closed by the second", 0, harness.closed() - closed, "S4");
        test.stop_if_failed()?;
        gate.open();
        let deleted = first_result
            .recv_timeout(patience())
            .map_err(|_| Failure::Wrong("the first delete hangs".into()))?;
        drop(checkpoints);
        test.check_debug("first", Ok(()), deleted, "RegistrationRef::delete");
        test.check_eq("closed", 1, harness.closed() - closed, "S4");
        test.check_eq("handlers dropped", 1, first.dropped(), "S4");
        let what = "returned descriptors";
        test.check_eq(what, 0, first.take_released().len(), "protocol 6.1: the second call changed nothing");

        // The old handle is refused, no matter which registration has the number.
        let near = at_number(spare.near, first.number())?;
        let next = harness.insert_recv(near, second.recording(), owner)?;
        let stale = harness.on(other, move |context| {
            let fd = context.registration(handle);
            [fd.delete(), fd.disown(), fd.stop_both().map_err(DeleteError::from)]
        })?;
        let all_refused = stale.iter().all(|result| matches!(result, Err(DeleteError::Stale(_))));
        let what = "calls with the old handle";
        test.check(what, "all stale", format!("{stale:?}"), "protocol 2.1", all_refused);
        test.stop_if_failed()?;
        spare.far.write_all(b"next")?;
        harness.wait_until("the next registration's data", || second.text() == "next")?;
        harness.fence_all()?;
        test.check_eq("calls of the next registration's handler", 1, second.calls(), "protocol 2.1");
        test.check_eq("closed", 1, harness.closed() - closed, "S4");
        harness.registration(next).delete()?;
    }
    harness.finish(test, &[])
}
