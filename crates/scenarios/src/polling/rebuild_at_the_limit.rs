//! A poller must be replaced when the process has no descriptor left: after a close with a copy that nobody declared (epoll),
//! and in a forked child. The thread keeps what it has, serves it, and tries again.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use fd_core::poller::Trigger;
use fd_core::{ActivitySnapshot, Context, InsertOptions, Ready};

use crate::catalogue::{Layer, Scenario};
use crate::deletion::cloned::{for_nobody, snapshots};
use crate::deletion::life::unpoisoned;
use crate::deletion::watch::Watch;
use crate::lab::Lab;
use crate::lifecycle::child::{Child, Report, when};
use crate::recorder::Recorder;
use crate::scarcity::Scarcity;
use crate::transport::pair;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/rebuild-at-the-limit",
    title: "A poller that cannot be replaced for lack of descriptors is kept and serves, until there are some",
    layer: Layer::Contract,
    clauses: &["L4", "L5", "core 3", "prior art, section 5, epoll (ii)"],
    run,
};

/// Replacements that fail before there are descriptors again.
const FAILURES: u64 = 3;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    stale_registration(trial, &mut lab)?;
    forked(trial, &lab)?;
    lab.finish(trial, &[])
}

fn counters(context: &Context) -> ActivitySnapshot {
    let mine = |(id, counters)| (id == context.id()).then_some(counters);
    context.core().activity().0.into_iter().find_map(mine).unwrap_or_default()
}

/// A copy that nobody declared keeps a registration in the poller of the thread that closed.
fn stale_registration(trial: &mut Trial, lab: &mut Lab) -> Result<(), Failure> {
    let thread = lab.thread(0);
    let mut other = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&other.near);
    let kept = lab.insert(other.near, watch.recording(), thread)?;
    lab.core().fd(kept).want_recv().map_err(Failure::broken)?;
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let copy = ends.near.try_clone().map_err(Failure::broken)?;
    let handle = lab.insert(ends.near, Recorder::new(), thread)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    lab.fence(thread)?;
    let before = lab.activity(thread);
    let scarcity = Scarcity::new(0).map_err(Failure::broken)?;
    lab.on(thread, move |context| context.fd(handle).delete())?.map_err(Failure::broken)?;
    // The number is free, and somebody else's at once.
    let filler = std::fs::File::open("/dev/null").map_err(Failure::broken)?;
    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;

    // Only epoll goes on reporting it, and goes on and on only if it is level-triggered.
    let capabilities = lab.core().backend().capabilities();
    let stale = !capabilities.close_forgets && trial.params.trigger == Trigger::Level;
    let failures = if stale { FAILURES } else { 0 };
    lab.wait_until("replacements that fail", || {
        lab.activity(thread).since(&before).poll_rebuild_fail >= failures
    })?;
    other.far.write_all(b"at the limit").map_err(Failure::broken)?;
    lab.wait_until("data at the limit", || watch.text() == "at the limit")?;
    scarcity.end().map_err(Failure::broken)?;
    drop(filler);
    let replaced = |lab: &Lab| lab.activity(thread).since(&before).poll_rebuild;
    lab.wait_until("the poller is replaced", || replaced(lab) >= u64::from(stale))?;
    lab.fence(thread)?;
    let later = snapshots(lab);
    lab.fence_all()?;
    trial.check_eq("pollers replaced", u64::from(stale), replaced(lab), "core 3");
    trial.check_eq("events for nobody, later", 0, for_nobody(lab, &later), "L5: then quiet");
    other.far.write_all(b", and after").map_err(Failure::broken)?;
    lab.wait_until("data after the limit", || watch.text() == "at the limit, and after")?;
    lab.fence_all()?;
    trial.check_eq("handler calls", 2, watch.entered(), "S8");
    trial.count("replacements that failed", lab.activity(thread).since(&before).poll_rebuild_fail);
    drop(copy);
    lab.core().fd(kept).delete().map_err(Failure::broken)?;
    trial.held_so_far()
}

/// A forked child must not wait with its parent's poller, and goes on without one until it has its own.
fn forked(trial: &mut Trial, lab: &Lab) -> Result<(), Failure> {
    let ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let (near, mut far) = (Mutex::new(Some(ends.near)), ends.far);
    far.write_all(b"x").map_err(Failure::broken)?;
    lab.core().before_fork();
    let mut child = Child::fork_on(lab, lab.thread(0), move |context, report| {
        let near = unpoisoned(&near).take();
        in_the_child(context, report, near.expect("taken once"));
    })?;
    child.record(trial, "at the limit", "core 3")
}

fn in_the_child(context: &Context, report: Report, near: OwnedFd) {
    let before = counters(context);
    let handler = move |ready: &Ready<'_>| {
        let since = counters(ready.context()).since(&before);
        report.eq("replacements that failed before it polls", true, since.poll_rebuild_fail >= FAILURES);
        report.end()
    };
    let options = InsertOptions::default();
    let (core, group) = (context.core(), context.id().group());
    let handle = core.insert(near, Arc::new(handler), group, context.id().mask(), options);
    context.fd(handle.expect("the number is free")).want_recv().expect("just inserted");
    let scarcity = Scarcity::new(0).expect("the limit can be lowered");
    when(
        context,
        move |context| counters(context).since(&before).poll_rebuild_fail >= FAILURES,
        move |_| scarcity.end().expect("the limit can be raised again"),
    );
}
