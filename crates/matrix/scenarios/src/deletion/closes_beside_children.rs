//! Descriptors are closed while the process starts children. Between fork and exec a child has copies of all
//! of them, so until the exec epoll continues to report closed descriptors. These events must not lead to the
//! replacement of the epoll descriptor: an earlier version replaced it 216 times in 3,232 closes beside 1,776
//! children, and registered everything again each time.
//!
//! The runtime's clock stands still, so the time that the machine needs for an exec does not count.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::children::BeforeExec;
use super::cloned::{replacements, snapshots, undelivered_events};
use super::monitor::HandlerMonitor;
use crate::manual_clock::ManualClock;
use crate::prelude::*;
use crate::threads;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/closes-beside-children",
    title: "A close during the start of a child replaces no poller, and the peer sees the end after the child's exec",
    layer: Layer::Contract,
    clauses: &["S4", "L4", "L5", "suspect 17", "core 2"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], ..Axes::PLAIN },
    run,
};

/// Descriptors that are closed at once.
const CLOSES: usize = 8;
/// The largest number of rounds while children are started continuously.
const ROUNDS: u64 = 150;
/// Threads that start children.
const STARTERS: usize = 2;

fn run(test: &mut TestContext) -> Result {
    let clock = ManualClock::new();
    let mut harness = Harness::start_with_clock(test, &clock)?;
    held_before_exec(test, &mut harness, AfterExec::Runs)?;
    held_before_exec(test, &mut harness, AfterExec::Exits)?;
    with_continuous_starts(test, &mut harness)?;
    test.check_eq("pollers replaced", 0, rebuilt(&harness), "core 2");
    harness.finish(test, &[])
}

/// The state of the child after its exec.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AfterExec {
    /// It continues as another program, without copies.
    Runs,
    /// It ends while the last batch with events of its copies waits for dispatch: then no child is left to be
    /// seen.
    Exits,
}

fn rebuilt(harness: &Harness) -> u64 {
    harness.core().activity().0.iter().map(|(_, counters)| replacements(counters)).sum()
}

/// Registers a descriptor for one thread. Its handler reads nothing and deletes it.
fn deleting_itself(
    test: &TestContext,
    harness: &Harness,
    thread: ThreadId,
) -> Result<(Arc<HandlerMonitor>, FarEnd)> {
    let ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.doing(|_, ready| {
        let _ = ready.registration().delete();
    });
    harness.insert_recv(ends.near, handler, thread)?;
    Ok((monitor, ends.far))
}

/// Holds a child between its fork and its exec while a thread of its parent closes descriptors and receives
/// their events.
fn held_before_exec(test: &mut TestContext, harness: &mut Harness, after_exec: AfterExec) -> Result {
    let thread = harness.thread(0);
    let mut endpoints = Vec::new();
    for _ in 0..CLOSES {
        endpoints.push(deleting_itself(test, harness, thread)?);
    }
    harness.fence_all()?;
    let child = BeforeExec::start()?;
    let before = snapshots(harness);
    for (monitor, far) in &mut endpoints {
        far.write_all(b"one")?;
        harness.wait_until("the close", || monitor.dropped() > 0)?;
    }
    // The closed descriptors are reported in several batches. No number is left with which to remove them.
    for _ in 0..4 {
        endpoints.iter_mut().try_for_each(|(_, far)| harness.send_unseen(far, b"more"))?;
        harness.fence_all()?;
    }
    test.record_counter("undelivered events beside the held child", undelivered_events(harness, &before));
    let ended = endpoints.iter().filter(|(_, far)| far.ended()).count();
    test.check_eq("peers that see the end before the exec", 0, ended, "fork(2): the child has copies");
    test.check_eq("pollers replaced beside the held child", 0, rebuilt(harness), "core 2");
    test.stop_if_failed()?;
    let points = Checkpoints::watch();
    let child = if after_exec == AfterExec::Exits && !harness.core().backend().capabilities().close_forgets {
        let collected = points.hold_batch(thread);
        endpoints.iter_mut().try_for_each(|(_, far)| far.write_all(b"last"))?;
        collected.reached()?;
        drop(child.exec()?);
        None
    } else {
        child.exec()?
    };
    drop(points);
    harness.wait_until("every peer sees the end after the exec", || {
        endpoints.iter().all(|(_, far)| far.ended())
    })?;
    harness.fence_all()?;
    let later = snapshots(harness);
    harness.fence_all()?;
    let what = "undelivered events after the exec";
    test.check_eq(what, 0, undelivered_events(harness, &later), "L5: no further events");
    drop(child);
    Ok(())
}

/// Closes descriptors while other threads start children continuously.
fn with_continuous_starts(test: &mut TestContext, harness: &mut Harness) -> Result {
    let (stop, children) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = snapshots(harness);
    let mut rounds = 0;
    let deadline = Instant::now() + patience() / 5;
    let result = std::thread::scope(|scope| {
        let start = || {
            while !stop.load(Ordering::SeqCst) {
                // If there is no such program, the child ends instead.
                let _ = Command::new("true").status();
                children.fetch_add(1, Ordering::SeqCst);
            }
        };
        let mut result = (0..STARTERS).try_for_each(|_| threads::spawn_in(scope, start).map(drop));
        // A loaded machine starts few children, but at least one is needed.
        let is_unfinished =
            |rounds| rounds < ROUNDS && Instant::now() < deadline || children.load(Ordering::SeqCst) == 0;
        while result.is_ok() && is_unfinished(rounds) {
            rounds += 1;
            result = close_round(test, harness);
        }
        stop.store(true, Ordering::SeqCst);
        result
    });
    result?;
    harness.fence_all()?;
    let updates = harness.threads().into_iter().zip(&before);
    let updates: u64 =
        updates.map(|(thread, before)| harness.activity(thread).since(before).poll_update).sum();
    test.record_counter("children", children.load(Ordering::SeqCst));
    test.record_counter("closes beside children", rounds * CLOSES as u64);
    test.record_counter("updates of the pollers", updates);
    test.record_counter("undelivered events", undelivered_events(harness, &before));
    Ok(())
}

fn close_round(test: &TestContext, harness: &Harness) -> Result {
    let mut endpoints = Vec::new();
    for index in 0..CLOSES {
        endpoints.push(deleting_itself(test, harness, harness.thread(index))?);
    }
    endpoints.iter_mut().try_for_each(|(_, far)| far.write_all(b"one"))?;
    harness.wait_until("every peer sees the end", || endpoints.iter().all(|(_, far)| far.ended()))
}
