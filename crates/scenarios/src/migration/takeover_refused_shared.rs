//! A takeover of a descriptor that several threads share.
//!
//! Between threads that are all allowed, a takeover between its two steps could not be told from a running handler:
//! HAProxy's callers never try. A push may narrow it to one thread.

use std::sync::Arc;

use fd_core::error::MoveError;
use metadata::{Axes, Layer};

use super::{Subject, answered, routes, untouched};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::recorder::Recorder;
use crate::transport::pair;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-refused-shared",
    title: "An FD that several threads share cannot be taken over, but pushed to one of them or to another",
    layer: Layer::Contract,
    clauses: &["S3", "S9", "L5", "protocol 9"],
    axes: Axes { threads: &[4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let first = lab.thread(0);
    let sharing = lab.core().table().threads(first.group());
    if sharing.len() < 2 {
        return Err(Failure::Unsupported("needs two threads in the first group".into()));
    }
    let mut targets = vec![first];
    targets.extend(routes(&lab).iter().map(|route| route.to));
    for target in targets {
        let at = |what: &str| format!("to {target}: {what}");
        let ends = pair(trial.params.transport).map_err(Failure::broken)?;
        let recorder = Recorder::new();
        let handle = lab.insert_shared(ends.near, recorder.clone(), first, sharing)?;
        let mut subject =
            Subject { handle, owner: recorder.id(), recorder: Arc::clone(&recorder), far: ends.far };
        subject.want(&lab, first)?;
        // Every sharing thread learns of it from its own next pass.
        lab.fence_all()?;
        let before = lab.entry(handle)?;
        for thread in lab.threads() {
            let what = at(&format!("takeover by {thread}"));
            answered(trial, what, Err(MoveError::Shared), subject.take(&lab, thread)?, "MoveError::Shared")?;
        }
        lab.fence_all()?;
        untouched(trial, at("entry after the refusals"), before, lab.entry(handle)?, "MoveError::Shared")?;

        answered(trial, at("push"), Ok(()), lab.core().registration(handle).migrate_on(target), "protocol 9")?;
        let mask = lab.entry(handle)?.thread_mask;
        trial.check_eq(at("thread mask"), target.mask().bits(), mask.bits(), "protocol 9.3, S9");
        trial.all_hold()?;
        subject.want(&lab, target)?;
        lab.fence(target)?;
        subject.write(b"one")?;
        subject.wait_for_bytes(&lab, b"one")?;
        lab.fence_all()?;
        subject.write(b"two")?;
        subject.wait_for_bytes(&lab, b"onetwo")?;
        lab.fence_all()?;
        let strangers = recorder.reports() - recorder.reports_on(target);
        trial.check_eq(at("reports on other threads"), 0, strangers, "S3");
        subject.end(&lab)?;
    }
    lab.finish(trial, &[])
}
