//! A poller must be replaced when the process has no descriptor left: after a close with a copy that nobody declared (epoll),
//! and in a forked child. The thread keeps what it has, serves it, and tries again.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use fd_core::poller::Trigger;
use fd_core::{ActivitySnapshot, Context, InsertOptions, ReadyGuard};
use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::deletion::cloned::{undelivered_events, snapshots};
use crate::deletion::registration::unpoisoned;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::lifecycle::child::{Child, Report, when};
use crate::recorder::Recorder;
use crate::scarcity::Scarcity;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/rebuild-at-the-limit",
    title: "A poller that cannot be replaced for lack of descriptors is kept and serves, until there are some",
    layer: Layer::Contract,
    clauses: &["L4", "L5", "core 3", "protocol 16.5"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Replacements that fail before there are descriptors again.
const FAILURES: u64 = 3;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    stale_registration(test, &mut harness)?;
    forked(test, &harness)?;
    harness.finish(test, &[])
}

fn counters(context: &Context) -> ActivitySnapshot {
    let mine = |(id, counters)| (id == context.id()).then_some(counters);
    context.core().activity().0.into_iter().find_map(mine).unwrap_or_default()
}

/// A copy that nobody declared keeps a registration in the poller of the thread that closed.
fn stale_registration(test: &mut TestContext, harness: &mut Harness) -> Result<(), Failure> {
    let thread = harness.thread(0);
    let mut other = pair(test.params.transport).map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&other.near);
    let kept = harness.insert(other.near, watch.recording(), thread)?;
    harness.core().registration(kept).want_recv().map_err(Failure::broken)?;
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let copy = ends.near.try_clone().map_err(Failure::broken)?;
    let handle = harness.insert(ends.near, Recorder::new(), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence(thread)?;
    let before = harness.activity(thread);
    let scarcity = Scarcity::new(0).map_err(Failure::broken)?;
    harness.on(thread, move |context| context.registration(handle).delete())?.map_err(Failure::broken)?;
    // The number is free, and somebody else's at once.
    let filler = std::fs::File::open("/dev/null").map_err(Failure::broken)?;
    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;

    // Only epoll goes on reporting it, and goes on and on only if it is level-triggered.
    let capabilities = harness.core().backend().capabilities();
    let stale = !capabilities.close_forgets && test.trigger == Trigger::Level;
    let failures = if stale { FAILURES } else { 0 };
    harness.wait_until("replacements that fail", || {
        harness.activity(thread).since(&before).poll_rebuild_fail >= failures
    })?;
    other.far.write_all(b"at the limit").map_err(Failure::broken)?;
    harness.wait_until("data at the limit", || watch.text() == "at the limit")?;
    scarcity.end().map_err(Failure::broken)?;
    drop(filler);
    let replaced = |harness: &Harness| {
        let since = harness.activity(thread).since(&before);
        since.poll_rebuild - since.poll_rebuild_fail
    };
    harness.wait_until("the poller is replaced", || replaced(harness) >= u64::from(stale))?;
    harness.fence(thread)?;
    let later = snapshots(harness);
    harness.fence_all()?;
    test.check_eq("pollers replaced", u64::from(stale), replaced(harness), "core 3");
    test.check_eq("events for nobody, later", 0, undelivered_events(harness, &later), "L5: then quiet");
    other.far.write_all(b", and after").map_err(Failure::broken)?;
    harness.wait_until("data after the limit", || watch.text() == "at the limit, and after")?;
    harness.fence_all()?;
    test.check_eq("handler calls", 2, watch.calls(), "S8");
    test.count("replacements that failed", harness.activity(thread).since(&before).poll_rebuild_fail);
    drop(copy);
    harness.core().registration(kept).delete().map_err(Failure::broken)?;
    test.all_hold()
}

/// A forked child must not wait with its parent's poller, and goes on without one until it has its own.
fn forked(test: &mut TestContext, harness: &Harness) -> Result<(), Failure> {
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let (near, mut far) = (Mutex::new(Some(ends.near)), ends.far);
    far.write_all(b"x").map_err(Failure::broken)?;
    harness.core().before_fork();
    let mut child = Child::fork_on(harness, harness.thread(0), move |context, report| {
        let near = unpoisoned(&near).take();
        in_the_child(context, report, near.expect("taken once"));
    })?;
    child.record(test, "at the limit", "core 3")
}

fn in_the_child(context: &Context, report: Report, near: OwnedFd) {
    let before = counters(context);
    let handler = move |ready: &ReadyGuard<'_>| {
        let since = counters(ready.context()).since(&before);
        report.eq("replacements that failed before it polls", true, since.poll_rebuild_fail >= FAILURES);
        report.end()
    };
    let options = InsertOptions::default();
    let (core, group) = (context.core(), context.id().group());
    let handle = core.insert(near, Arc::new(handler), group, context.id().mask(), options);
    context.registration(handle.expect("the number is free")).want_recv().expect("just inserted");
    let scarcity = Scarcity::new(0).expect("the limit can be lowered");
    when(
        context,
        move |context| counters(context).since(&before).poll_rebuild_fail >= FAILURES,
        move |_| scarcity.end().expect("the limit can be raised again"),
    );
}
