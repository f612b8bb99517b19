//! A number comes back for the same open file, while the kernel still has its registration of an earlier life.
//!
//! `ADD` then answers `EEXIST`. HAProxy ignored that, so the registration of long ago stayed in place, with its
//! interest and its generation (`752c5cba5`, found through a round trip between groups). Here the leftover is made on
//! purpose: a copy that nobody declared keeps the open file, and with it epoll's registration, over the close by the
//! thread that polls it.

use std::os::fd::AsFd;

use super::{Subject, told};
use crate::catalogue::{Layer, Scenario};
use crate::deletion::cloned::replacements;
use crate::lab::Lab;
use crate::transport::{copy_at, pair};
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/registration-left-behind",
    title: "A registration left over from an earlier life of the number is replaced by the new one",
    layer: Layer::Contract,
    clauses: &["S7", "L1", "L5", "bug 77", "epoll_ctl(2) EEXIST"],
    run,
};

const LIVES: usize = 3;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let thread = lab.thread(0);
    let start = lab.activity(thread);
    let ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let copy = ends.near.as_fd().try_clone_to_owned().map_err(Failure::broken)?;
    let mut subject = Subject::start_with(&mut lab, thread, ends.near, ends.far)?;
    for life in 1..=LIVES {
        let at = |what: &str| format!("life {life}: {what}");
        subject.write(b"data")?;
        subject.wait_for_bytes(&lab, b"data")?;
        lab.fence(thread)?;
        trial.check_eq(at("reports"), format!("{thread}:data"), told(&subject.recorder.seen()), "S7, bug 77");
        let since = lab.activity(thread).since(&start);
        let counts = format!("{} {}", since.poll_drop, replacements(&since));
        trial.cost_eq(at("events of dead lives, pollers replaced"), "0 0".into(), counts, "S7, L5, bug 77");
        trial.held_so_far()?;
        if life < LIVES {
            let Subject { handle, far, .. } = subject;
            // By the thread that polls it: a close by any other takes the registration out first.
            let deleted = lab.on(thread, move |context| context.fd(handle).delete())?;
            deleted.map_err(|error| Failure::Wrong(error.to_string()))?;
            let again = copy_at(&copy, handle.number()).map_err(Failure::broken)?;
            subject = Subject::start_with(&mut lab, thread, again, far)?;
            trial.check_eq(
                at("number"),
                handle.number(),
                subject.handle.number(),
                "the scenario's own doing",
            );
        }
    }
    // The last life is declared: what the kernel would remember of it is taken out before the close.
    lab.core().fd(subject.handle).mark_cloned().map_err(|stale| Failure::Wrong(stale.to_string()))?;
    subject.end(&lab)?;
    drop(copy);
    lab.finish(trial, &[])
}
