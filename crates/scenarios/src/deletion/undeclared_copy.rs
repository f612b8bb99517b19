//! A copy that nobody told the core of. epoll reports the deleted descriptor as long as the copy lives, and no number is
//! left to remove it by: only a new epoll gets rid of it. The core must see that by itself, or spin (prior art, section
//! 5, epoll; suspect 17).
//!
//! That is so for the thread that closes. What others poll is removed before the close.
//!
//! A child between fork and exec has a copy as well, for a moment. So a process without children replaces the poller at once,
//! and one with a child when the copy has outlived an exec, by a clock that only this scenario advances.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use fd_core::poller::Trigger;

use super::children::BeforeExec;
use super::cloned::{for_nobody, snapshots};
use super::watch::Watch;
use crate::catalogue::{Layer, Scenario};
use crate::lab::Lab;
use crate::still_clock::StillClock;
use crate::transport::{Far, pair};
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/undeclared-copy",
    title: "A deleted FD with a copy that nobody declared is dropped a bounded number of times, and then forgotten",
    layer: Layer::Contract,
    clauses: &["S6", "S7", "L5", "bug 1", "suspect 17"],
    run,
};

/// Who deletes it, and so closes it: nobody is using it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    /// A thread of no group.
    Outsider,
    /// One of the threads that poll it.
    Poller,
}

/// Which other processes there are.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Beside {
    Nobody,
    /// A child that has exec'ed, and has no copy.
    Child,
}

/// A copy that lives longer belongs to no child on its way to an exec.
const EXEC: Duration = Duration::from_secs(1);

/// How often one thread may hear of it in a row before its poller is replaced. Few: each is a turn without sleep.
const BOUND: u64 = 16;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let clock = StillClock::new();
    let mut lab = Lab::start_by(trial, &clock)?;
    for by in [By::Outsider, By::Poller] {
        deleted(trial, &mut lab, &clock, by, Beside::Nobody)?;
        trial.all_hold()?;
    }
    match BeforeExec::start()?.exec()? {
        Some(child) => {
            deleted(trial, &mut lab, &clock, By::Poller, Beside::Child)?;
            drop(child);
        }
        None => trial.note("not tried beside a child: there is no program to exec"),
    }
    lab.finish(trial, &[])
}

fn deleted(
    trial: &mut Trial,
    lab: &mut Lab,
    clock: &StillClock,
    by: By,
    beside: Beside,
) -> Result<(), Failure> {
    let about = |what: &str| format!("deleted by {by:?} beside {beside:?}: {what}");
    let threads = lab.threads();
    let thread = threads[0];
    let everybody = lab.core().table().threads(thread.group());
    // Each thread has something else, too, before and after.
    let mut others: Vec<(Arc<Watch>, Far)> = Vec::new();
    for thread in &threads {
        let ends = pair(trial.params.transport).map_err(Failure::broken)?;
        let watch = Watch::new(&ends.near);
        let handle = lab.insert(ends.near, watch.recording(), *thread)?;
        lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
        others.push((watch, ends.far));
    }
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let copy = ends.near.try_clone().map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    let handle = lab.insert_shared(ends.near, watch.recording(), thread, everybody)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    lab.fence_all()?;
    match by {
        By::Outsider => lab.core().fd(handle).delete().map_err(Failure::broken)?,
        By::Poller => {
            lab.on(thread, move |context| context.fd(handle).delete())?.map_err(Failure::broken)?;
        }
    }
    // A thread that was in poll(2) with the number may have found it closed.
    lab.fence_all()?;
    let before = snapshots(lab);

    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;
    let rebuilt = |lab: &Lab| -> u64 {
        let of = |(thread, before): (_, &fd_core::ActivitySnapshot)| {
            lab.activity(thread).since(before).poll_rebuild
        };
        lab.threads().into_iter().zip(&before).map(of).sum()
    };
    // kqueue(2) and the others go by the number, which is closed.
    let ghosts = !lab.core().backend().capabilities().close_forgets && by == By::Poller;
    let level = trial.params.trigger == Trigger::Level;
    let replaced = u64::from(ghosts && level);
    if beside == Beside::Child && replaced > 0 {
        let reports = for_nobody(lab, &before) + 3;
        lab.wait_until(&about("reports of the copy"), || for_nobody(lab, &before) >= reports)?;
        trial.check_eq(about("pollers replaced before an exec takes too long"), 0, rebuilt(lab), "core 2");
        clock.advance(EXEC);
    }
    lab.wait_until(&about("the poller is replaced"), || rebuilt(lab) >= replaced)?;
    lab.fence_all()?;
    let dropped = for_nobody(lab, &before);
    let allowed = match (ghosts, level) {
        (false, _) => 0..=0,
        (true, true) if beside == Beside::Child => 1..=u64::MAX,
        (true, true) => 1..=BOUND,
        // One edge, which is not missed.
        (true, false) => 1..=1,
    };
    trial.count(about("events for nobody"), dropped);
    let expected = format!("{} to {}", allowed.start(), allowed.end());
    trial.cost(about("events for nobody"), expected, dropped, "L5: bounded", allowed.contains(&dropped));
    trial.check_eq(about("pollers replaced"), replaced, rebuilt(lab), "L5");
    trial.check_eq(about("handler calls"), 0, watch.entered(), "S6");

    // From here on it is quiet: level-triggered whatever comes, edge-triggered as long as nothing comes.
    let later = snapshots(lab);
    if level {
        ends.far.write_all(b", again").map_err(Failure::broken)?;
    }
    lab.fence_all()?;
    lab.fence_all()?;
    trial.check_eq(about("events for nobody, later"), 0, for_nobody(lab, &later), "L5: then quiet");
    for (watch, far) in &mut others {
        far.write_all(b"still here").map_err(Failure::broken)?;
        let watch = Arc::clone(watch);
        lab.wait_until("the other descriptors' data", || watch.text() == "still here")?;
    }
    lab.fence_all()?;
    let calls: Vec<_> = others.iter().map(|(watch, _)| watch.entered()).collect();
    trial.check_eq(
        about("calls of the other handlers"),
        format!("{:?}", vec![1; calls.len()]),
        format!("{calls:?}"),
        "S8",
    );
    drop(copy);
    lab.wait_until(&about("the peer sees the end"), || ends.far.ended())
}
