//! A takeover overtakes an update: the old owner's update has read the masks, and writes after the new
//! owner's update is over. Where the group shares the interest (poll, select), that made the old owner the
//! polling thread again, and a delete by a third thread ended the wrong thread's wait: the peer saw its end a
//! minute later. Between that write and its repair, the new owner also built its arrays without the
//! descriptor, and slept: its data was never reported.

use super::{Endpoint, Route, check_answer, routes};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/update-overtaken",
    title: "An update that a takeover overtakes leaves the new owner polling, and a delete ends that owner's wait",
    layer: Layer::Contract,
    clauses: &["L1", "L5", "core 5", "core 18"],
    axes: Axes::PLAIN,
    run,
};

/// The scenario is repeated because it cannot see from outside whether a thread is in its wait yet.
const ROUNDS: usize = 10;

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    for round in 0..ROUNDS {
        for route in routes(&harness).into_iter().filter(|route| !route.crosses()) {
            overtaken(test, &mut harness, &sleepers, route, round)?;
            if !harness.core().backend().capabilities().kernel_state {
                repaired(test, &mut harness, &sleepers, route, round)?;
            }
        }
    }
    harness.finish(test, &[])
}

fn overtaken(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    route: Route,
    round: usize,
) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("round {round}: {what}");
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let late = points.hold(old, Point::ApplyBegun, handle.number());
    // An update without a change: the thread reads the entry all the same.
    let update = move |context: &Context| {
        let fd = context.registration(handle);
        fd.want_send().and_then(|()| fd.stop_send())
    };
    harness.on(old, update)??;
    late.reached()?;
    let taken = endpoint.take_over(harness, new)?;
    check_answer(test, label("takeover"), Ok(()), taken, "protocol 8.2: no thread is running")?;
    endpoint.want_recv(harness, new)?;
    harness.wait_until_polled_by(handle, new)?;
    sleepers.wait_for(harness, &[new])?;
    late.release();
    endpoint.write(b"one")?;
    endpoint.wait_for_bytes(harness, b"one")?;
    // The former owner's late update is over when that thread sleeps.
    sleepers.wait_for(harness, &[old])?;
    harness.wait_until_polled_by(handle, new)?;
    harness.fence(old)?;
    harness.fence(new)?;
    let polled = harness.entry(handle)?.polled_recv;
    if harness.core().backend().capabilities().kernel_state {
        // The old owner's poller may keep the descriptor until it reports it (L5).
        test.check_eq(label("polled by the new owner"), true, polled.contains(new.mask()), "L1");
    } else {
        test.check_eq(label("polled by"), new.mask().bits(), polled.bits(), "core 5");
    }
    let by = endpoint.recorder.reports_on(new);
    test.check_eq(label("reports to the new owner"), endpoint.recorder.reports(), by, "S3");
    // Deleted by a thread outside the runtime: the new owner sleeps, and only the delete wakes it.
    sleepers.wait_for(harness, &[new])?;
    harness.registration(handle).delete()?;
    harness.wait_until(&label("the peer sees the end"), || endpoint.far.ended())?;
    test.stop_if_failed()
}

/// The old owner's update removes the interest that the new owner has just enabled, and then repairs its
/// write. Before the repair, the new owner builds its arrays and goes to sleep.
///
/// ```text
/// old                   | new
/// stops, reads the state|
///                       | takes, enables, applies
/// writes no interest    |
///                       | wakes, builds its arrays, sleeps
/// writes the interest   |
/// ```
fn repaired(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    route: Route,
    round: usize,
) -> Result {
    let (old, new) = (route.from, route.to);
    let points = Checkpoints::watch();
    let label = |what: &str| format!("round {round}, repaired: {what}");
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    let late = points.hold(old, Point::ApplyBegun, handle.number());
    let update = move |context: &Context| {
        let registration = context.registration(handle);
        registration.stop_recv().and_then(|()| registration.want_send())?;
        registration.stop_send()
    };
    harness.on(old, update)??;
    late.reached()?;
    let taken = endpoint.take_over(harness, new)?;
    check_answer(test, label("takeover"), Ok(()), taken, "protocol 8.2: no thread is running")?;
    endpoint.want_recv(harness, new)?;
    harness.fence(new)?;
    let repair = points.hold(old, Point::ApplyBegun, handle.number());
    late.release();
    repair.reached()?;
    // The new owner has built its arrays anew when the fence is over.
    harness.fence(new)?;
    sleepers.wait_for(harness, &[new])?;
    repair.release();
    endpoint.write(b"one")?;
    endpoint.wait_for_bytes(harness, b"one")?;
    test.check_eq(label("reports"), format!("{new}:one"), endpoint.reads(), "L1");
    endpoint.end(harness)
}
