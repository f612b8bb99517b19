//! A descriptor is pushed to another thread.
//!
//! HAProxy's push ignores who is running the handler (suspect 15): a running bit would survive in a mask that
//! belongs to another group by then. Here it is refused.

use fd_core::error::MoveError;
use fd_core::ids::ThreadId;
use fd_core::state;
use metadata::{Axes, Layer, Transport};

use super::{Route, Subject, answered, routes, told, untouched};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::recorder::Recorder;
use crate::transport::pair;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/migrate-on",
    title: "An FD pushed to another thread stops here and goes on there",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "S9", "L1", "L3", "protocol 9", "suspect 15", "suspect 16"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Who pushes.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Owner,
    Target,
    Outsider,
}

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    for route in routes(&lab) {
        for by in [By::Owner, By::Target, By::Outsider] {
            pushed(trial, &mut lab, route, by)?;
        }
        pushed_while_listed(trial, &mut lab, route)?;
        refused_in_handler(trial, &mut lab, route)?;
    }
    no_such_thread(trial, &mut lab)?;
    lab.finish(trial, &[])
}

fn pushed(trial: &mut Trial, lab: &mut Lab, route: Route, by: By) -> Result<(), Failure> {
    let who = match by {
        By::Owner => "its owner",
        By::Target => "the target",
        By::Outsider => "no worker",
    };
    let at = |what: &str| format!("{}, by {who}: {what}", route.name);
    let mut subject = Subject::start(trial, lab, route.from)?;
    let (handle, target) = (subject.handle, route.to);
    // The reading end of a pipe is nothing to write to.
    let sends = trial.params.transport != Transport::Pipe;
    let answer = match by {
        By::Owner => lab.on(route.from, move |context| {
            // Within one task: what it wanted last has not reached the poller when the descriptor goes.
            if sends {
                context.registration(handle).want_send()?;
            }
            context.registration(handle).migrate_on(target)
        })?,
        By::Target => lab.on(target, move |context| context.registration(handle).migrate_on(target))?,
        By::Outsider => lab.core().registration(handle).migrate_on(target),
    };
    answered(trial, at("push"), Ok(()), answer, "protocol 9")?;
    let entry = lab.entry(handle)?;
    trial.check_eq(at("group"), target.group(), entry.group, "protocol 9");
    trial.check_eq(at("thread mask"), target.mask().bits(), entry.thread_mask.bits(), "protocol 9");
    trial.check_eq(at("active directions"), 0, entry.state & state::ACTIVE, "protocol 9.5: both are stopped");
    trial.check_eq(at("changes of owner"), 1, entry.takeovers, "protocol 9");

    if route.crosses() {
        // Left behind, it would tell the target's next want that an update is on its way already.
        trial.check_eq(at("threads that owe an update"), 0, entry.update_mask.bits(), "S9, L1");
    }
    trial.all_hold()?;

    // Stopped until the target wants it.
    lab.fence_all()?;
    subject.write(b"one")?;
    lab.fence_all()?;
    trial.check_eq(at("reports before anybody wants it"), 0, subject.recorder.reports(), "S3, S18");
    if by == By::Outsider {
        // The target sleeps, and must be woken for it.
        lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    } else {
        subject.want(lab, target)?;
    }
    subject.wait_for_bytes(lab, b"one")?;
    subject.write(b"two")?;
    subject.wait_for_bytes(lab, b"onetwo")?;
    lab.fence_all()?;
    trial.check_eq(
        at("reports"),
        format!("{target}:one {target}:two"),
        told(&subject.recorder.seen()),
        "S3, L1",
    );
    subject.end(lab)
}

/// It is in the shared list, because somebody outside wanted it while its owner was busy. An FD that changes its group
/// must not stay linked in the old group's list: the new group would never list it (suspect 16).
fn pushed_while_listed(trial: &mut Trial, lab: &mut Lab, route: Route) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, listed: {what}", route.name);
    let mut busy = Subject::start(trial, lab, old)?;
    let inside = busy.recorder.hold_next();
    busy.write(b"busy")?;
    inside.reached()?;

    let ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let recorder = Recorder::new();
    let handle = lab.insert(ends.near, recorder.clone(), old)?;
    let mut subject = Subject { handle, owner: recorder.id(), recorder, far: ends.far };
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let owed = lab.entry(handle)?.update_mask;
    trial.check_eq(at("threads that owe an update before"), old.mask().bits(), owed.bits(), "protocol 11.2");
    answered(trial, at("push"), Ok(()), lab.core().registration(handle).migrate_on(new), "protocol 9")?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    subject.write(b"one")?;
    // The old owner is still busy: nobody else's pass must be needed.
    subject.wait_for_bytes(lab, b"one")?;
    inside.release();
    busy.wait_for_bytes(lab, b"busy")?;
    subject.write(b"two")?;
    subject.wait_for_bytes(lab, b"onetwo")?;
    lab.fence_all()?;
    trial.check_eq(
        at("reports"),
        format!("{new}:one {new}:two"),
        told(&subject.recorder.seen()),
        "S3, L1, L3",
    );
    let entry = lab.entry(handle)?;
    trial.check_eq(at("threads that owe an update"), 0, entry.update_mask.bits(), "L3");
    busy.end(lab)?;
    subject.end(lab)
}

fn refused_in_handler(trial: &mut Trial, lab: &mut Lab, route: Route) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, in the handler: {what}", route.name);
    let mut subject = Subject::start(trial, lab, old)?;
    let handle = subject.handle;
    let inside = subject.recorder.hold_next();
    subject.write(b"one")?;
    inside.reached()?;
    let before = lab.entry(handle)?;
    let busy = Err(MoveError::Busy);
    answered(trial, at("push from outside"), busy, lab.core().registration(handle).migrate_on(new), "S2, suspect 15")?;
    let pushed = lab.on(new, move |context| context.registration(handle).migrate_on(new))?;
    answered(trial, at("push by the target"), busy, pushed, "S2, suspect 15")?;
    untouched(trial, at("entry after the refusals"), before, lab.entry(handle)?, "suspect 15")?;
    inside.release();
    subject.wait_for_bytes(lab, b"one")?;
    lab.fence(old)?;

    // By its own user, too: the running bit would stay behind.
    let own = lab.on(old, move |context| context.enter(handle, |ready| ready.registration().migrate_on(new)))?;
    trial.check_eq(at("push inside enter()"), "Ok(Err(Busy))".into(), format!("{own:?}"), "S2, suspect 15");
    subject.write(b"two")?;
    subject.wait_for_bytes(lab, b"onetwo")?;
    lab.fence_all()?;
    trial.check_eq(at("reports"), format!("{old}:one {old}:two"), told(&subject.recorder.seen()), "S3");
    subject.end(lab)
}

fn no_such_thread(trial: &mut Trial, lab: &mut Lab) -> Result<(), Failure> {
    let subject = Subject::start(trial, lab, lab.thread(0))?;
    let before = lab.entry(subject.handle)?;
    // The highest thread of a group: no cell has that many.
    let nobody = ThreadId::new(before.group, 63).ok_or_else(|| Failure::Broken("no thread 63".into()))?;
    let pushed = lab.core().registration(subject.handle).migrate_on(nobody);
    answered(trial, "push to a thread that does not exist".into(), Err(MoveError::NoThread), pushed, "S19")?;
    untouched(trial, "entry after that".into(), before, lab.entry(subject.handle)?, "S19")?;
    subject.end(lab)
}
