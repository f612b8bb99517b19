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

use fd_core::Ready;
use fd_core::ids::ThreadId;

use super::children::BeforeExec;
use super::cloned::{for_nobody, replacements, snapshots};
use super::watch::Watch;
use crate::catalogue::{Layer, Scenario};
use crate::hold::Checkpoints;
use crate::lab::Lab;
use crate::still_clock::StillClock;
use crate::threads;
use crate::transport::{Far, pair};
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/closes-beside-children",
    title: "A close beside the start of a child costs no poller, and the peer sees the end when the child has exec'ed",
    layer: Layer::Contract,
    clauses: &["S4", "L4", "L5", "suspect 17", "core 2"],
    run,
};

/// Descriptors that are closed at once.
const CLOSES: usize = 8;
/// How often, at the most, while children are started all the time.
const ROUNDS: u64 = 150;
/// How many threads start them.
const STARTERS: usize = 2;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let clock = StillClock::new();
    let mut lab = Lab::start_by(trial, &clock)?;
    held_before_exec(trial, &mut lab, Then::LivesOn)?;
    held_before_exec(trial, &mut lab, Then::IsGone)?;
    all_the_time(trial, &mut lab)?;
    trial.check_eq("pollers replaced", 0, rebuilt(&lab), "core 2");
    lab.finish(trial, &[])
}

/// What becomes of the child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// It goes on as another program, without copies.
    LivesOn,
    /// It ends, while the last batch with what it has copies of waits to be dispatched: then there is no child to be seen.
    IsGone,
}

fn rebuilt(lab: &Lab) -> u64 {
    lab.core().activity().0.iter().map(|(_, counters)| replacements(counters)).sum()
}

/// A descriptor that is registered for one thread, with a handler that deletes it and reads nothing.
fn deleting_itself(trial: &Trial, lab: &Lab, thread: ThreadId) -> Result<(Arc<Watch>, Far), Failure> {
    let ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    let handler = watch.doing(|ready: &Ready<'_>| {
        let _ = ready.fd().delete();
    });
    let handle = lab.insert(ends.near, handler, thread)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    Ok((watch, ends.far))
}

/// A child stays between its fork and its exec while its parent's thread closes, and is reported to.
fn held_before_exec(trial: &mut Trial, lab: &mut Lab, then: Then) -> Result<(), Failure> {
    let thread = lab.thread(0);
    let mut subjects = Vec::new();
    for _ in 0..CLOSES {
        subjects.push(deleting_itself(trial, lab, thread)?);
    }
    lab.fence_all()?;
    let child = BeforeExec::start()?;
    let before = snapshots(lab);
    for (watch, far) in &mut subjects {
        far.write_all(b"one").map_err(Failure::broken)?;
        lab.wait_until("the close", || watch.dropped() > 0)?;
    }
    // What is closed is reported in several batches. No number is left to remove it by.
    for _ in 0..4 {
        subjects.iter_mut().try_for_each(|(_, far)| far.write_all(b"more")).map_err(Failure::broken)?;
        lab.fence_all()?;
    }
    trial.count("events for nobody beside the held child", for_nobody(lab, &before));
    let ended = subjects.iter().filter(|(_, far)| far.ended()).count();
    trial.check_eq("peers that see the end before the exec", 0, ended, "fork(2): the child has copies");
    trial.check_eq("pollers replaced beside the held child", 0, rebuilt(lab), "core 2");
    trial.held_so_far()?;
    let points = Checkpoints::watch();
    let lives_on = if then == Then::IsGone && !lab.core().backend().capabilities().close_forgets {
        let collected = points.hold_harvest(thread);
        subjects.iter_mut().try_for_each(|(_, far)| far.write_all(b"last")).map_err(Failure::broken)?;
        collected.reached()?;
        drop(child.exec()?);
        None
    } else {
        child.exec()?
    };
    drop(points);
    lab.wait_until("every peer sees the end after the exec", || subjects.iter().all(|(_, far)| far.ended()))?;
    lab.fence_all()?;
    let later = snapshots(lab);
    lab.fence_all()?;
    trial.check_eq("events for nobody after the exec", 0, for_nobody(lab, &later), "L5: then quiet");
    drop(lives_on);
    Ok(())
}

/// Children are started all the time, and none is waited for.
fn all_the_time(trial: &mut Trial, lab: &mut Lab) -> Result<(), Failure> {
    let (over, children) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = snapshots(lab);
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
            result = closed(trial, lab);
        }
        over.store(true, Ordering::SeqCst);
        result
    });
    result?;
    lab.fence_all()?;
    let updates = lab.threads().into_iter().zip(&before);
    let updates: u64 = updates.map(|(thread, before)| lab.activity(thread).since(before).poll_update).sum();
    trial.count("children", children.load(Ordering::SeqCst));
    trial.count("closes beside children", rounds * CLOSES as u64);
    trial.count("updates of the pollers", updates);
    trial.count("events for nobody", for_nobody(lab, &before));
    Ok(())
}

fn closed(trial: &Trial, lab: &Lab) -> Result<(), Failure> {
    let mut subjects = Vec::new();
    for index in 0..CLOSES {
        subjects.push(deleting_itself(trial, lab, lab.thread(index))?);
    }
    subjects.iter_mut().try_for_each(|(_, far)| far.write_all(b"one")).map_err(Failure::broken)?;
    lab.wait_until("every peer sees the end", || subjects.iter().all(|(_, far)| far.ended()))
}
