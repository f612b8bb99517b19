//! A takeover while the owner is in the handler.
//!
//! Before `8d7b51782` HAProxy's takeover stopped receiving even when it failed: the owner, which went on, was
//! never told of data again.

use fd_core::error::MoveError;
use metadata::{Axes, Layer};

use super::{Route, Subject, answered, routes, told, untouched};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-in-handler",
    title: "A takeover is refused while another thread runs the handler, and changes nothing",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "L7", "L9", "bug 41"],
    axes: Axes { groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const ATTEMPTS: usize = 100;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    for route in routes(&lab) {
        refused_then_granted(trial, &mut lab, route)?;
    }
    lab.finish(trial, &[])
}

fn refused_then_granted(trial: &mut Trial, lab: &mut Lab, route: Route) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}: {what}", route.name);
    let mut subject = Subject::start(trial, lab, old)?;
    let (handle, owner) = (subject.handle, subject.owner);
    let inside = subject.recorder.hold_next();
    subject.write(b"one")?;
    inside.reached()?;

    let before = lab.entry(handle)?;
    let counted = lab.activity(new);
    trial.check_eq(
        at("running while in the handler"),
        old.mask().bits(),
        before.running.bits(),
        "protocol 4.4",
    );
    let busy = Err(MoveError::Busy);
    let refused = lab
        .on(new, move |context| (0..ATTEMPTS).filter(|_| context.takeover(handle, owner) == busy).count())?;
    trial.check_eq(
        at("takeovers that were refused as busy"),
        ATTEMPTS,
        refused,
        "S3, L7: refused at once, every time",
    );
    answered(trial, at("push from outside"), busy, lab.core().registration(handle).migrate_on(new), "protocol 9.2")?;
    untouched(trial, at("entry after the refusals"), before, lab.entry(handle)?, "S3, bug 41")?;
    let counted = lab.activity(new).since(&counted);
    let counts = format!("{} {}", counted.fd_takeover, counted.fd_takeover_fail);
    trial.check_eq(
        at("takeovers counted, granted and refused"),
        format!("0 {ATTEMPTS}"),
        counts,
        "seed counters",
    );

    trial.all_hold()?;

    // The owner goes on as if nothing had happened.
    inside.release();
    subject.wait_for_bytes(lab, b"one")?;
    subject.write(b"two")?;
    subject.wait_for_bytes(lab, b"onetwo")?;
    lab.fence(old)?;

    // Use outside a report protects just as well, and against oneself.
    let own = lab.on(old, move |context| context.enter(handle, |_| context.takeover(handle, owner)))?;
    trial.check_eq(at("takeover inside enter()"), "Ok(Err(Busy))".into(), format!("{own:?}"), "S2");

    answered(trial, at("takeover once the handler was left"), Ok(()), subject.take(lab, new)?, "L9")?;
    subject.want(lab, new)?;
    subject.write(b"three")?;
    subject.wait_for_bytes(lab, b"onetwothree")?;
    lab.fence_all()?;
    let expected = format!("{old}:one {old}:two {new}:three");
    trial.check_eq(at("reports"), expected, told(&subject.recorder.seen()), "S1, S3");
    trial.check_eq(at("changes of owner"), 1, lab.entry(handle)?.takeovers, "S3: refusals do not count");
    subject.end(lab)
}
