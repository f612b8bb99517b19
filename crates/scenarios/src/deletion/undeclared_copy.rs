//! A copy that nobody told the core of. epoll reports the deleted descriptor as long as the copy lives, and no number is
//! left to remove it by: only a new epoll gets rid of it. The core must see that by itself, or spin (protocol 16.5,
//! suspect 17).
//!
//! That is so for the thread that closes. What others poll is removed before the close.
//!
//! A child between fork and exec has a copy as well, for a moment. So a process without children replaces the poller at once,
//! and one with a child when the copy has outlived an exec, by a clock that only this scenario advances.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use fd_core::poller::Trigger;
use metadata::{Axes, Layer};

use super::children::BeforeExec;
use super::cloned::{snapshots, undelivered_events};
use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::still_clock::StillClock;
use crate::test_context::{Failure, TestContext};
use crate::transport::{Far, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/undeclared-copy",
    title: "A deleted FD with a copy that nobody declared is dropped a bounded number of times, and then forgotten",
    layer: Layer::Contract,
    clauses: &["S6", "S7", "L5", "bug 1", "suspect 17"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
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

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let clock = StillClock::new();
    let mut harness = Harness::start_by(test, &clock)?;
    for by in [By::Outsider, By::Poller] {
        deleted(test, &mut harness, &clock, by, Beside::Nobody)?;
        test.all_hold()?;
    }
    match BeforeExec::start()?.exec()? {
        Some(child) => {
            deleted(test, &mut harness, &clock, By::Poller, Beside::Child)?;
            drop(child);
        }
        None => test.note("not tried beside a child: there is no program to exec"),
    }
    harness.finish(test, &[])
}

fn deleted(
    test: &mut TestContext,
    harness: &mut Harness,
    clock: &StillClock,
    by: By,
    beside: Beside,
) -> Result<(), Failure> {
    let about = |what: &str| format!("deleted by {by:?} beside {beside:?}: {what}");
    let threads = harness.threads();
    let thread = threads[0];
    let everybody = harness.core().table().threads(thread.group());
    // Each thread has something else, too, before and after.
    let mut others: Vec<(Arc<HandlerMonitor>, Far)> = Vec::new();
    for thread in &threads {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let monitor = HandlerMonitor::new(&ends.near);
        let handle = harness.insert(ends.near, monitor.recording(), *thread)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        others.push((monitor, ends.far));
    }
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let copy = ends.near.try_clone().map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handle = harness.insert_shared(ends.near, monitor.recording(), thread, everybody)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence_all()?;
    match by {
        By::Outsider => harness.core().registration(handle).delete().map_err(Failure::broken)?,
        By::Poller => {
            harness
                .on(thread, move |context| context.registration(handle).delete())?
                .map_err(Failure::broken)?;
        }
    }
    // A thread that was in poll(2) with the number may have found it closed.
    harness.fence_all()?;
    let before = snapshots(harness);

    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;
    let rebuilt = |harness: &Harness| -> u64 {
        let of = |(thread, before): (_, &fd_core::ActivitySnapshot)| {
            let since = harness.activity(thread).since(before);
            since.poll_rebuild - since.poll_rebuild_fail
        };
        harness.threads().into_iter().zip(&before).map(of).sum()
    };
    // kqueue(2) and the others go by the number, which is closed.
    let ghosts = !harness.core().backend().capabilities().close_forgets && by == By::Poller;
    let level = test.trigger == Trigger::Level;
    let replaced = u64::from(ghosts && level);
    if beside == Beside::Child && replaced > 0 {
        let reports = undelivered_events(harness, &before) + 3;
        harness
            .wait_until(&about("reports of the copy"), || undelivered_events(harness, &before) >= reports)?;
        test.check_eq(about("pollers replaced before an exec takes too long"), 0, rebuilt(harness), "core 2");
        clock.advance(EXEC);
    }
    harness.wait_until(&about("the poller is replaced"), || rebuilt(harness) >= replaced)?;
    harness.fence_all()?;
    let dropped = undelivered_events(harness, &before);
    let allowed = match (ghosts, level) {
        (false, _) => 0..=0,
        (true, true) if beside == Beside::Child => 1..=u64::MAX,
        (true, true) => 1..=BOUND,
        // One edge, which is not missed.
        (true, false) => 1..=1,
    };
    test.count(about("events for nobody"), dropped);
    let expected = format!("{} to {}", allowed.start(), allowed.end());
    test.cost(about("events for nobody"), expected, dropped, "L5: bounded", allowed.contains(&dropped));
    test.check_eq(about("pollers replaced"), replaced, rebuilt(harness), "L5");
    test.check_eq(about("handler calls"), 0, monitor.calls(), "S6");

    // From here on it is quiet: level-triggered whatever comes, edge-triggered as long as nothing comes.
    let later = snapshots(harness);
    if level {
        ends.far.write_all(b", again").map_err(Failure::broken)?;
    }
    harness.fence_all()?;
    harness.fence_all()?;
    test.check_eq(
        about("events for nobody, later"),
        0,
        undelivered_events(harness, &later),
        "L5: then quiet",
    );
    for (monitor, far) in &mut others {
        far.write_all(b"still here").map_err(Failure::broken)?;
        let monitor = Arc::clone(monitor);
        harness.wait_until("the other descriptors' data", || monitor.text() == "still here")?;
    }
    harness.fence_all()?;
    let calls: Vec<_> = others.iter().map(|(monitor, _)| monitor.calls()).collect();
    test.check_eq(
        about("calls of the other handlers"),
        format!("{:?}", vec![1; calls.len()]),
        format!("{calls:?}"),
        "S8",
    );
    drop(copy);
    harness.wait_until(&about("the peer sees the end"), || ends.far.ended())
}
