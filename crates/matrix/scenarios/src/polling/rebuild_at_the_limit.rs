//! A poller must be replaced while the process cannot open descriptors: after a close with an undeclared copy
//! (epoll), and in a forked child. The thread keeps its poller, serves it, and tries again.

use std::os::fd::{AsRawFd, OwnedFd};

use fd_core::ActivitySnapshot;
use fd_core::poller::Trigger;

use crate::deletion::cloned::{snapshots, undelivered_events};
use crate::deletion::monitor::HandlerMonitor;
use crate::descriptor_limit::DescriptorLimit;
use crate::lifecycle::child::{Child, Report, when};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/rebuild-at-the-limit",
    title: "A poller that cannot be replaced for lack of descriptors keeps working until it is replaced",
    layer: Layer::Contract,
    clauses: &["L4", "L5", "core 3", "protocol 16.5"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Replacements that fail before descriptors are available again.
const FAILURES: u64 = 3;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    stale_registration(test, &mut harness)?;
    forked(test, &harness)?;
    harness.finish(test, &[])
}

fn counters(context: &Context) -> ActivitySnapshot {
    let mine = |(id, counters)| (id == context.id()).then_some(counters);
    context.core().activity().0.into_iter().find_map(mine).unwrap_or_default()
}

/// An undeclared copy keeps a registration in the poller of the thread that closed.
fn stale_registration(test: &mut TestContext, harness: &mut Harness) -> Result {
    let thread = harness.thread(0);
    let mut other = test.pair()?;
    let monitor = HandlerMonitor::new(&other.near);
    let kept = harness.insert_recv(other.near, monitor.recording(), thread)?;
    let mut ends = test.pair()?;
    let copy = ends.near.try_clone()?;
    let handle = harness.insert_recv(ends.near, Recorder::new(), thread)?;
    harness.fence(thread)?;
    let before = harness.activity(thread);
    let limit = DescriptorLimit::leave(0)?;
    harness.on(thread, move |context| context.registration(handle).delete())??;
    // Another file takes the free number at once.
    let filler = std::fs::File::open("/dev/null")?;
    harness.send(&mut ends.far, copy.as_raw_fd(), b"for the copy")?;

    // Only epoll continues to report it, and repeatedly only in level mode.
    let capabilities = harness.core().backend().capabilities();
    let stale = !capabilities.close_forgets && test.trigger == Trigger::Level;
    let failures = if stale { FAILURES } else { 0 };
    harness.wait_until("replacements that fail", || {
        harness.activity(thread).since(&before).poll_rebuild_fail >= failures
    })?;
    other.far.write_all(b"at the limit")?;
    harness.wait_until("data at the limit", || monitor.text() == "at the limit")?;
    limit.restore()?;
    drop(filler);
    let replaced = |harness: &Harness| harness.activity(thread).since(&before).poll_rebuild;
    harness.wait_until("the poller is replaced", || replaced(harness) >= u64::from(stale))?;
    harness.fence(thread)?;
    let later = snapshots(harness);
    harness.fence_all()?;
    test.check_eq("pollers replaced", u64::from(stale), replaced(harness), "core 3");
    test.check_eq("undelivered events, later", 0, undelivered_events(harness, &later), "L5: then quiet");
    other.far.write_all(b", and after")?;
    harness.wait_until("data after the limit", || monitor.text() == "at the limit, and after")?;
    harness.fence_all()?;
    test.check_eq("handler calls", 2, monitor.calls(), "S8");
    test.record_counter(
        "replacements that failed",
        harness.activity(thread).since(&before).poll_rebuild_fail,
    );
    drop(copy);
    harness.registration(kept).delete()?;
    test.stop_if_failed()
}

/// A forked child must not wait with its parent's poller, and continues without one until it has its own.
fn forked(test: &mut TestContext, harness: &Harness) -> Result {
    let ends = test.pair()?;
    let (near, mut far) = (Mutex::new(Some(ends.near)), ends.far);
    far.write_all(b"x")?;
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
    let limit = DescriptorLimit::leave(0).expect("the limit can be lowered");
    when(
        context,
        move |context| counters(context).since(&before).poll_rebuild_fail >= FAILURES,
        move |_| limit.restore().expect("the limit can be raised again"),
    );
}
