//! Two threads delete one descriptor at the same time: the second comes when the first has set its token and not yet
//! cleared the thread mask. A second token closes twice, and by then the number may be somebody else's (bug 43).

use std::io::Write;

use fd_core::error::DeleteError;
use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer};

use super::monitor::{HandlerMonitor, delete_on};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext, patience};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/delete-twice",
    title: "Of two deletes of one FD the second is refused, at once, and later does nothing to the number's next registration",
    layer: Layer::Contract,
    clauses: &["S4", "S14", "L7", "protocol 2.1", "protocol 6.1", "bug 43"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let (owner, other) = (harness.thread(0), harness.thread(1));
    for point in [Point::DeleteTokenSet, Point::DeleteMaskCleared] {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let mut spare = pair(test.params.transport).map_err(Failure::broken)?;
        let (first, second) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
        let handle = harness.insert(ends.near, first.recording(), owner)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        harness.fence_all()?;
        let checkpoints = Checkpoints::watch();
        let gate = checkpoints.gate(point, first.number());
        let closed = harness.core().registration_counts().closed;
        let told = delete_on(&harness, Some(other), handle)?;
        if !gate.wait_for(1) {
            return Err(Failure::Wrong("the first delete never came".into()));
        }
        let again = delete_on(&harness, None, handle)?.recv_timeout(patience());
        let again = again.map_err(|_| Failure::Wrong(format!("the second delete at {point:?} hangs")))?;
        let refused = "Err(AlreadyDeleted)".to_string();
        test.check_eq(format!("second at {point:?}"), refused, format!("{again:?}"), "protocol 6.1");
        test.all_hold()?;
        let again = harness.core().registration(handle).disown();
        test.check_eq(
            "disown at that point",
            true,
            again == Err(DeleteError::AlreadyDeleted),
            "protocol 6.1",
        );
        test.check_eq("closed by the second", 0, harness.core().registration_counts().closed - closed, "S4");
        test.all_hold()?;
        gate.open();
        let deleted =
            told.recv_timeout(patience()).map_err(|_| Failure::Wrong("the first delete hangs".into()))?;
        drop(checkpoints);
        test.check_eq("first", "Ok(())".into(), format!("{deleted:?}"), "RegistrationRef::delete");
        test.check_eq("closed", 1, harness.core().registration_counts().closed - closed, "S4");
        test.check_eq("handlers dropped", 1, first.dropped(), "S4");
        test.check_eq(
            "came back",
            0,
            first.take_released().len(),
            "protocol 6.1: the second changed nothing",
        );

        // The old handle is refused, whoever has the number.
        let near = at_number(spare.near, first.number()).map_err(Failure::broken)?;
        let next = harness.insert(near, second.recording(), owner)?;
        harness.core().registration(next).want_recv().map_err(Failure::broken)?;
        let stale = harness.on(other, move |context| {
            let fd = context.registration(handle);
            [fd.delete(), fd.disown(), fd.stop_both().map_err(DeleteError::from)]
        })?;
        let all_stale = stale.iter().all(|answer| matches!(answer, Err(DeleteError::Stale(_))));
        test.check("calls with the old handle", "all stale", format!("{stale:?}"), "protocol 2.1", all_stale);
        test.all_hold()?;
        spare.far.write_all(b"next").map_err(Failure::broken)?;
        harness.wait_until("the next registration's data", || second.text() == "next")?;
        harness.fence_all()?;
        test.check_eq("calls of the next registration's handler", 1, second.calls(), "protocol 2.1");
        test.check_eq("closed", 1, harness.core().registration_counts().closed - closed, "S4");
        harness.core().registration(next).delete().map_err(Failure::broken)?;
    }
    harness.finish(test, &[])
}
