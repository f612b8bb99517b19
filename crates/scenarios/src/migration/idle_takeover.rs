//! An idle descriptor changes its thread, and only the new one hears of it afterwards.
//!
//! What HAProxy does with idle connections to servers. It once forgot to stop receiving on a takeover that
//! succeeded (`ddc874c46`), so that the new owner's want changed nothing and its poller never learnt of it.

use fd_core::state;
use metadata::{Axes, Layer};

use super::{Subject, answered, routes, told};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/idle-takeover",
    title: "An idle FD that another thread takes over is reported to that thread only",
    layer: Layer::Contract,
    clauses: &["S3", "L1", "L9", "bug 41"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    for route in routes(&lab) {
        let (old, new) = (route.from, route.to);
        let at = |what: &str| format!("{}: {what}", route.name);
        let mut subject = Subject::start(trial, &mut lab, old)?;
        subject.write(b"before")?;
        subject.wait_for_bytes(&lab, b"before")?;
        lab.fence(old)?;

        let (handle, owner) = (subject.handle, subject.owner);
        let (taken, entry) = lab.on(new, move |context| {
            let taken = context.takeover(handle, owner);
            (taken, context.core().entry(handle))
        })?;
        answered(trial, at("takeover"), Ok(()), taken, "L9")?;
        let entry = entry.map_err(|stale| Failure::Wrong(stale.to_string()))?;
        trial.check_eq(at("thread mask"), new.mask().bits(), entry.thread_mask.bits(), "protocol 8.3");
        trial.check_eq(at("group"), new.group(), entry.group, "protocol 9.6");
        trial.check_eq(at("running"), 0, entry.running.bits(), "protocol 8.5");
        trial.check_eq(at("active directions"), 0, entry.state & state::ACTIVE, "protocol 8.4, bug 41");
        trial.check_eq(at("changes of owner"), 1, entry.takeovers, "protocol 8.4");
        trial.check_eq(at("owner"), owner, entry.owner, "protocol 8");

        trial.all_hold()?;
        subject.want(&lab, new)?;
        lab.fence(new)?;
        let polled = lab.entry(handle)?.polled_recv;
        trial.check(
            at("the new thread polls it"),
            "its bit is set",
            format!("{polled:?}"),
            "L1",
            polled.contains(new.mask()),
        );
        subject.write(b"after")?;
        subject.wait_for_bytes(&lab, b"beforeafter")?;
        // Whatever the old thread's poller still had to say, it has said.
        lab.fence_all()?;
        let expected = format!("{old}:before {new}:after");
        trial.check_eq(
            at("reports"),
            expected,
            told(&subject.recorder.seen()),
            "S3: one per write, no other thread",
        );
        let (won, refused) = (lab.activity(new).fd_takeover, lab.activity(old).fd_takeover);
        trial.check_eq(
            at("takeovers counted, new and old thread"),
            "1 0".into(),
            format!("{won} {refused}"),
            "seed counters",
        );
        subject.end(&lab)?;
    }
    lab.finish(trial, &[])
}
