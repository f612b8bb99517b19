//! Descriptors are closed while the process starts children. Between fork and exec a child has copies of all of them, so epoll
//! goes on reporting what is closed, until the exec. That is no reason to replace the epoll: it cost 216 of them, with
//! everything registered again in each, in 3,232 closes beside 1,776 children.
//!
//! The runtime's clock stands still: however long the machine takes for an exec, it is not long.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use fd_core::ReadyGuard;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer, Transport};

use super::children::BeforeExec;
use super::cloned::{snapshots, undelivered_events};
use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::still_clock::StillClock;
use crate::test_context::{Failure, TestContext, patience};
use crate::threads;
use crate::transport::{Far, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/closes-beside-children",
    title: "A close beside the start of a child costs no poller, and the peer sees the end when the child has exec'ed",
    layer: Layer::Contract,
    clauses: &["S4", "L4", "L5", "suspect 17", "core 2"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], ..Axes::PLAIN },
    run,
};

/// Descriptors that are closed at once.
const CLOSES: usize = 8;
/// How often, at the most, while children are started all the time.
const ROUNDS: u64 = 150;
/// How many threads start them.
const STARTERS: usize = 2;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let clock = StillClock::new();
    let mut harness = Harness::start_by(test, &clock)?;
    held_before_exec(test, &mut harness, Then::LivesOn)?;
    held_before_exec(test, &mut harness, Then::IsGone)?;
    all_the_time(test, &mut harness)?;
    test.check_eq("pollers replaced", 0, rebuilt(&harness), "core 2");
    harness.finish(test, &[])
}

/// What becomes of the child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// It goes on as another program, without copies.
    LivesOn,
    /// It ends, while the last batch with what it has copies of waits to be dispatched: then there is no child to be seen.
    IsGone,
}

fn rebuilt(harness: &Harness) -> u64 {
    harness.core().activity().0.iter().map(|(_, counters)| counters.poll_rebuild).sum()
}

/// A descriptor that is registered for one thread, with a handler that deletes it and reads nothing.
fn deleting_itself(
    test: &TestContext,
    harness: &Harness,
    thread: ThreadId,
) -> Result<(Arc<HandlerMonitor>, Far), Failure> {
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.doing(|ready: &ReadyGuard<'_>| {
        let _ = ready.registration().delete();
    });
    let handle = harness.insert(ends.near, handler, thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    Ok((monitor, ends.far))
}

/// A child stays between its fork and its exec while its parent's thread closes, and is reported to.
fn held_before_exec(test: &mut TestContext, harness: &mut Harness, then: Then) -> Result<(), Failure> {
    let thread = harness.thread(0);
    let mut subjects = Vec::new();
    for _ in 0..CLOSES {
        subjects.push(deleting_itself(test, harness, thread)?);
    }
    harness.fence_all()?;
    let child = BeforeExec::start()?;
    let before = snapshots(harness);
    for (monitor, far) in &mut subjects {
        far.write_all(b"one").map_err(Failure::broken)?;
        harness.wait_until("the close", || monitor.dropped() > 0)?;
    }
    // What is closed is reported in several batches. No number is left to remove it by.
    for _ in 0..4 {
        subjects.iter_mut().try_for_each(|(_, far)| far.write_all(b"more")).map_err(Failure::broken)?;
        harness.fence_all()?;
    }
    test.count("events for nobody beside the held child", undelivered_events(harness, &before));
    let ended = subjects.iter().filter(|(_, far)| far.ended()).count();
    test.check_eq("peers that see the end before the exec", 0, ended, "fork(2): the child has copies");
    test.check_eq("pollers replaced beside the held child", 0, rebuilt(harness), "core 2");
    test.all_hold()?;
    let points = Checkpoints::watch();
    let lives_on = if then == Then::IsGone && !harness.core().backend().capabilities().close_forgets {
        let collected = points.hold_batch(thread);
        subjects.iter_mut().try_for_each(|(_, far)| far.write_all(b"last")).map_err(Failure::broken)?;
        collected.reached()?;
        drop(child.exec()?);
        None
    } else {
        child.exec()?
    };
    drop(points);
    harness.wait_until("every peer sees the end after the exec", || {
        subjects.iter().all(|(_, far)| far.ended())
    })?;
    harness.fence_all()?;
    let later = snapshots(harness);
    harness.fence_all()?;
    test.check_eq(
        "events for nobody after the exec",
        0,
        undelivered_events(harness, &later),
        "L5: then quiet",
    );
    drop(lives_on);
    Ok(())
}

/// Children are started all the time, and none is waited for.
fn all_the_time(test: &mut TestContext, harness: &mut Harness) -> Result<(), Failure> {
    let (over, children) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = snapshots(harness);
    let mut rounds = 0;
    let enough = Instant::now() + patience() / 5;
    let result = std::thread::scope(|scope| {
        let start = || {
            while !over.load(Ordering::SeqCst) {
                // If there is no such program, the child ends in its place.
                let _ = Command::new("true").status();
                children.fetch_add(1, Ordering::SeqCst);
            }
        };
        let mut result = (0..STARTERS).try_for_each(|_| threads::spawn_in(scope, start).map(drop));
        // A loaded machine starts few children, but one there must be.
        let goes_on =
            |rounds| rounds < ROUNDS && Instant::now() < enough || children.load(Ordering::SeqCst) == 0;
        while result.is_ok() && goes_on(rounds) {
            rounds += 1;
            result = closed(test, harness);
        }
        over.store(true, Ordering::SeqCst);
        result
    });
    result?;
    harness.fence_all()?;
    let updates = harness.threads().into_iter().zip(&before);
    let updates: u64 =
        updates.map(|(thread, before)| harness.activity(thread).since(before).poll_update).sum();
    test.count("children", children.load(Ordering::SeqCst));
    test.count("closes beside children", rounds * CLOSES as u64);
    test.count("updates of the pollers", updates);
    test.count("events for nobody", undelivered_events(harness, &before));
    Ok(())
}

fn closed(test: &TestContext, harness: &Harness) -> Result<(), Failure> {
    let mut subjects = Vec::new();
    for index in 0..CLOSES {
        subjects.push(deleting_itself(test, harness, harness.thread(index))?);
    }
    subjects.iter_mut().try_for_each(|(_, far)| far.write_all(b"one")).map_err(Failure::broken)?;
    harness.wait_until("every peer sees the end", || subjects.iter().all(|(_, far)| far.ended()))
}
