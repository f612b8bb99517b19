//! An update is overtaken by a takeover: the old owner's pass has looked at the masks, and writes when the new owner's pass is
//! over. Where the interest is shared by the group (poll, select) that brought the old owner back as the thread that
//! polls, and a delete by a third thread ended the wrong thread's wait: the peer saw its end a minute later.

use fd_core::Context;
use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer};

use super::{Endpoint, Route, check_answer, routes};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/update-overtaken",
    title: "An update that a takeover has overtaken leaves the new owner polling, and its wait ends with the descriptor",
    layer: Layer::Contract,
    clauses: &["L1", "L5", "core 5"],
    axes: Axes::PLAIN,
    run,
};

/// Whether a thread is in its wait yet cannot be seen from outside.
const ROUNDS: usize = 10;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let checkpoints = Checkpoints::watch();
    for round in 0..ROUNDS {
        for route in routes(&harness).into_iter().filter(|route| !route.crosses()) {
            overtaken(test, &mut harness, &checkpoints, route, round)?;
        }
    }
    drop(checkpoints);
    harness.finish(test, &[])
}

fn overtaken(
    test: &mut TestContext,
    harness: &mut Harness,
    points: &Checkpoints,
    route: Route,
    round: usize,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("round {round}: {what}");
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let late = points.hold(old, Point::ApplyBegun, handle.number());
    // An update with nothing to change: the pass looks at the entry all the same.
    let update = move |context: &Context| {
        let fd = context.registration(handle);
        fd.want_send().and_then(|()| fd.stop_send())
    };
    harness.on(old, update)?.map_err(Failure::broken)?;
    late.reached()?;
    check_answer(
        test,
        at("takeover"),
        Ok(()),
        endpoint.take_over(harness, new)?,
        "protocol 8.2: nobody is running",
    )?;
    endpoint.want(harness, new)?;
    harness.fence(new)?;
    late.release();
    harness.fence(old)?;
    harness.fence(new)?;
    let polled = harness.entry(handle)?.polled_recv;
    if harness.core().backend().capabilities().kernel_state {
        // The old owner's own poller may have it until it reports it (L5).
        test.check_eq(at("polled by the new owner"), true, polled.contains(new.mask()), "L1");
    } else {
        test.check_eq(at("polled by"), new.mask().bits(), polled.bits(), "core 5");
    }
    endpoint.write(b"one")?;
    endpoint.wait_for_bytes(harness, b"one")?;
    let by = endpoint.recorder.reports_on(new);
    test.check_eq(at("reports to the new owner"), endpoint.recorder.reports(), by, "S3");
    harness.fence(new)?;
    // By a thread of no group: the new owner sleeps, and nothing but the delete wakes it.
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.wait_until(&at("the peer sees the end"), || endpoint.far.ended())?;
    test.all_hold()
}
