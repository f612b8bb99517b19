//! An update is overtaken by a takeover: the old owner's pass has looked at the masks, and writes when the new owner's pass is
//! over. Where the interest is shared by the group (poll, select) that brought the old owner back as the thread that
//! polls, and a delete by a third thread ended the wrong thread's wait: the peer saw its end a minute later.

use fd_core::Context;
use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer};

use super::{Route, Subject, answered, routes};
use crate::catalogue::Scenario;
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

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

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let checkpoints = Checkpoints::watch();
    for round in 0..ROUNDS {
        for route in routes(&lab).into_iter().filter(|route| !route.crosses()) {
            overtaken(trial, &mut lab, &checkpoints, route, round)?;
        }
    }
    drop(checkpoints);
    lab.finish(trial, &[])
}

fn overtaken(
    trial: &mut Trial,
    lab: &mut Lab,
    points: &Checkpoints,
    route: Route,
    round: usize,
) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("round {round}: {what}");
    let mut subject = Subject::start(trial, lab, old)?;
    let handle = subject.handle;
    let late = points.hold(old, Point::ApplyBegun, handle.number());
    // An update with nothing to change: the pass looks at the entry all the same.
    let update = move |context: &Context| {
        let fd = context.registration(handle);
        fd.want_send().and_then(|()| fd.stop_send())
    };
    lab.on(old, update)?.map_err(Failure::broken)?;
    late.reached()?;
    answered(trial, at("takeover"), Ok(()), subject.take(lab, new)?, "protocol 8.2: nobody is running")?;
    subject.want(lab, new)?;
    lab.fence(new)?;
    late.release();
    lab.fence(old)?;
    lab.fence(new)?;
    let polled = lab.entry(handle)?.polled_recv;
    if lab.core().backend().capabilities().kernel_state {
        // The old owner's own poller may have it until it reports it (L5).
        trial.check_eq(at("polled by the new owner"), true, polled.contains(new.mask()), "L1");
    } else {
        trial.check_eq(at("polled by"), new.mask().bits(), polled.bits(), "core 5");
    }
    subject.write(b"one")?;
    subject.wait_for_bytes(lab, b"one")?;
    let by = subject.recorder.reports_on(new);
    trial.check_eq(at("reports to the new owner"), subject.recorder.reports(), by, "S3");
    lab.fence(new)?;
    // By a thread of no group: the new owner sleeps, and nothing but the delete wakes it.
    lab.core().registration(handle).delete().map_err(Failure::broken)?;
    lab.wait_until(&at("the peer sees the end"), || subject.far.ended())?;
    trial.all_hold()
}
