//! A copy that was not declared to the core. epoll reports the deleted descriptor as long as the copy exists,
//! and no number is left with which to remove it: only a new epoll descriptor ends these events. The core
//! must detect this itself, or spin (protocol 16.5, suspect 17).
//!
//! This applies to the thread that closes. The registrations of other threads are removed before the close.
//!
//! A child between fork and exec also has a copy, for a short time. So a process without children replaces
//! the poller when the copy has outlived the time of a fork, and a process with a child when it has outlived
//! the time of an exec, by a clock that only this scenario advances.

use std::os::fd::AsRawFd;
use std::time::Duration;

use fd_core::poller::Trigger;

use super::children::BeforeExec;
use super::cloned::{snapshots, undelivered_events};
use super::monitor::HandlerMonitor;
use crate::manual_clock::ManualClock;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/undeclared-copy",
    title: "The events of a deleted FD with an undeclared copy are dropped, and they end after a bounded number",
    layer: Layer::Contract,
    clauses: &["S6", "S7", "L5", "bug 1", "suspect 17", "core 20"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The thread that deletes the idle descriptor, and so closes it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Deleter {
    /// A thread outside the runtime.
    Outsider,
    /// One of the polling threads.
    PollingThread,
}

/// The other processes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Beside {
    NoProcess,
    /// A child that has made its exec, and has no copy.
    Child,
}

/// A copy that exists longer than this does not belong to a child that no system call shows yet.
const FORK: Duration = Duration::from_millis(100);

/// A copy that exists longer than this does not belong to a child before its exec.
const EXEC: Duration = Duration::from_secs(1);

/// The number of events that one thread may receive before its poller is replaced, once that time has passed.
/// It is small: each costs an iteration without sleep.
const BOUND: u64 = 16;

fn run(test: &mut TestContext) -> Result {
    let clock = ManualClock::new();
    let mut harness = Harness::start_with_clock(test, &clock)?;
    for by in [Deleter::Outsider, Deleter::PollingThread] {
        deleted(test, &mut harness, &clock, by, Beside::NoProcess)?;
        test.stop_if_failed()?;
    }
    match BeforeExec::start()?.exec()? {
        Some(child) => {
            deleted(test, &mut harness, &clock, Deleter::PollingThread, Beside::Child)?;
            drop(child);
        }
        None => test.note("not tried beside a child: this system has no program to execute"),
    }
    harness.finish(test, &[])
}

fn deleted(
    test: &mut TestContext,
    harness: &mut Harness,
    clock: &ManualClock,
    by: Deleter,
    beside: Beside,
) -> Result {
    let label = |what: &str| format!("deleted by {by:?} beside {beside:?}: {what}");
    let threads = harness.threads();
    let thread = threads[0];
    let group_mask = harness.core().table().threads(thread.group());
    // Each thread also has another descriptor, before and after.
    let mut others: Vec<(Arc<HandlerMonitor>, FarEnd)> = Vec::new();
    for thread in &threads {
        let ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        harness.insert_recv(ends.near, monitor.recording(), *thread)?;
        others.push((monitor, ends.far));
    }
    let mut ends = test.pair()?;
    let copy = ends.near.try_clone()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handle = harness.insert_shared_recv(ends.near, monitor.recording(), thread, group_mask)?;
    harness.wait_until_polled(handle, group_mask)?;
    harness.fence_all()?;
    harness.call_on((by == Deleter::PollingThread).then_some(thread), handle, |fd| fd.delete())??;
    // A thread that waited in poll(2) with the number may have reported it as closed.
    harness.fence_all()?;
    let before = snapshots(harness);

    harness.send(&mut ends.far, copy.as_raw_fd(), b"for the copy")?;
    let rebuilt = |harness: &Harness| -> u64 {
        let of = |(thread, before): (_, &fd_core::ActivitySnapshot)| {
            harness.activity(thread).since(before).poll_rebuild
        };
        harness.threads().into_iter().zip(&before).map(of).sum()
    };
    // kqueue(2) and the other pollers work by number, which is closed.
    let has_stale_events =
        !harness.core().backend().capabilities().close_forgets && by == Deleter::PollingThread;
    let level = test.trigger == Trigger::Level;
    let replaced = u64::from(has_stale_events && level);
    let mut counted = snapshots(harness);
    if replaced > 0 {
        let reports = undelivered_events(harness, &before) + 3;
        harness
            .wait_until(&label("reports of the copy"), || undelivered_events(harness, &before) >= reports)?;
        let (time, clause) = match beside {
            Beside::NoProcess => (FORK, "core 20"),
            Beside::Child => (EXEC, "core 2"),
        };
        test.check_eq(label(&format!("pollers replaced within {time:?}")), 0, rebuilt(harness), clause);
        counted = snapshots(harness);
        clock.advance(time);
    }
    harness.wait_until(&label("the poller is replaced"), || rebuilt(harness) >= replaced)?;
    harness.fence_all()?;
    let dropped = undelivered_events(harness, if replaced > 0 { &counted } else { &before });
    let allowed = match (has_stale_events, level) {
        (false, _) => 0..=0,
        (true, true) => 1..=BOUND,
        // One edge, which is reported once.
        (true, false) => 1..=1,
    };
    test.record_counter(label("undelivered events"), dropped);
    let expected = format!("{} to {}", allowed.start(), allowed.end());
    let holds = allowed.contains(&dropped);
    test.check_cost(label("undelivered events"), expected, dropped, "L5: bounded", holds);
    test.check_eq(label("pollers replaced"), replaced, rebuilt(harness), "L5");
    test.check_eq(label("handler calls"), 0, monitor.calls(), "S6");

    // From here on no event follows: level-triggered with any data, edge-triggered without new data.
    let later = snapshots(harness);
    if level {
        harness.send(&mut ends.far, copy.as_raw_fd(), b", again")?;
    }
    harness.fence_all()?;
    harness.fence_all()?;
    let what = label("undelivered events, later");
    test.check_eq(what, 0, undelivered_events(harness, &later), "L5: no further events");
    for (monitor, far) in &mut others {
        far.write_all(b"still here")?;
        let monitor = Arc::clone(monitor);
        harness.wait_until("the other descriptors' data", || monitor.text() == "still here")?;
    }
    harness.fence_all()?;
    let calls: Vec<_> = others.iter().map(|(monitor, _)| monitor.calls()).collect();
    test.check_debug(label("calls of the other handlers"), vec![1; calls.len()], calls, "S8");
    drop(copy);
    harness.wait_until(&label("the peer sees the end"), || ends.far.ended())
}
