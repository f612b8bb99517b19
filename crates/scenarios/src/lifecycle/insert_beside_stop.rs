//! An insertion and a stop at the same time. An insertion that looked whether the runtime stops and then took its slot
//! outlived the stop: 17 of 3,000 runtimes left 51 descriptors.

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use fd_core::error::InsertRefused;
use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use fd_core::{FdCore, FdHandle, InsertOptions};
use metadata::{Axes, Layer, Mode, Transport};

use super::{both_ends, idle, stopped};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext, patience};
use crate::threads;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/insert-beside-stop",
    title: "An insertion beside a stop is refused, or its registration ends with the runtime",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "core 8"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

/// Runtimes that are stopped while threads insert.
const ROUNDS: usize = 60;
/// Threads that insert all the time.
const INSERTERS: usize = 2;

/// Registrations that each of them leaves.
const LEFT: usize = 50;

type Inserted = Result<FdHandle, InsertRefused>;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    for worker in [false, true] {
        before_the_slot_is_taken(test, worker)?;
        with_the_slot_taken(test, worker)?;
        test.all_hold()?;
    }
    for round in 0..ROUNDS {
        unforced(test, round)?;
    }
    Ok(())
}

/// Inserts on a worker thread, or on a thread of no group. Returns the name of the thread and what the answer will be.
fn inserter(
    harness: &Harness,
    worker: bool,
    fd: std::os::fd::OwnedFd,
) -> Result<(String, Receiver<Inserted>), Failure> {
    let (tell, told) = channel();
    let thread = harness.thread(0);
    let insert = move |core: &FdCore| {
        let inserted = core.insert(fd, idle(), thread.group(), thread.mask(), InsertOptions::default());
        let _ = tell.send(inserted.map_err(|refused| refused.reason));
    };
    if worker {
        let _ = harness.core().post(thread, move |context| insert(context.core()));
        return Ok((format!("worker {thread}"), told));
    }
    let core = Arc::clone(harness.core());
    let named = std::thread::Builder::new().name("inserter".into());
    named.spawn(move || insert(&core)).map_err(Failure::broken)?;
    Ok(("inserter".into(), told))
}

fn answer(told: &Receiver<Inserted>) -> Result<String, Failure> {
    let answer = told.recv_timeout(patience());
    let answer = answer.map_err(|_| Failure::Wrong("the insertion does not come to its end".into()))?;
    Ok(format!("{:?}", answer.map(|_| "inserted")))
}

/// The insertion has found the table open. Then the runtime stops.
fn before_the_slot_is_taken(test: &mut TestContext, worker: bool) -> Result<(), Failure> {
    let harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    let (near, far) = both_ends(test)?;
    let name = if worker { format!("worker {}", harness.thread(0)) } else { "inserter".into() };
    let held = points.hold_thread(&name, Point::InsertBeforeClaim, near.as_raw_fd());
    let (_, told) = inserter(&harness, worker, near)?;
    held.reached()?;
    harness.finish_by(test, &[], |test, runtime| {
        let core = Arc::clone(runtime.core());
        if worker {
            // It is one of those whom the stop waits for.
            core.request_stop();
            held.release();
            stopped(runtime)?;
        } else {
            stopped(runtime)?;
            held.release();
        }
        let refused: Inserted = Err(InsertRefused::Stopping);
        let refused = format!("{:?}", refused.map(|_| "inserted"));
        test.check_eq(format!("insertion by {name} over a stop"), refused, answer(&told)?, "core 8");
        test.check_eq("registrations", 0, core.table().used(), "core 8");
        test.check_eq(
            "the peer sees the end",
            true,
            far.ended(),
            "the descriptor came back, and was dropped",
        );
        drop(far);
        Ok(())
    })
}

/// The insertion has its slot, and nothing is published: the last thread to leave waits for it.
fn with_the_slot_taken(test: &mut TestContext, worker: bool) -> Result<(), Failure> {
    let harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    let (near, far) = both_ends(test)?;
    let name = if worker { format!("worker {}", harness.thread(0)) } else { "inserter".into() };
    let held = points.hold_thread(&name, Point::InsertClaimed, near.as_raw_fd());
    let (_, told) = inserter(&harness, worker, near)?;
    held.reached()?;
    harness.finish_by(test, &[], |test, runtime| {
        runtime.core().request_stop();
        held.release();
        stopped(runtime)?;
        let inserted: Result<_, InsertRefused> = Ok("inserted");
        let what = format!("insertion by {name}, with its slot, over a stop");
        test.check_eq(what, format!("{inserted:?}"), answer(&told)?, "it began before the stop");
        test.check_eq("the peer sees the end", true, far.ended(), "L8");
        drop(far);
        Ok(())
    })
}

/// Threads insert all the time while a runtime stops.
fn unforced(test: &mut TestContext, round: usize) -> Result<(), Failure> {
    let harness = Harness::start(test)?;
    let threads: Vec<ThreadId> = harness.threads();
    let mut inserters = Vec::new();
    for index in 0..INSERTERS {
        let core = Arc::clone(harness.core());
        let (threads, transport) = (threads.clone(), test.params.transport);
        inserters.push(threads::spawn(move || {
            let mut inserted = 0_usize;
            loop {
                let thread = threads[(index + inserted) % threads.len()];
                let near = crate::transport::pair(transport).map_err(Failure::broken)?.near;
                let options = InsertOptions::default();
                match core.insert(near, idle(), thread.group(), thread.mask(), options) {
                    Ok(handle) => {
                        inserted += 1;
                        // What is left is enough for the stop to end, and the numbers are few.
                        if inserted > LEFT {
                            let _ = core.registration(handle).delete();
                        }
                    }
                    Err(refused) if refused.reason == InsertRefused::Stopping => return Ok(inserted),
                    Err(refused) => return Err(Failure::broken(refused)),
                }
            }
        })?);
    }
    harness.finish_by(test, &[], |test, runtime| {
        let some = || runtime.core().registration_counts().inserted > (threads.len() + round) as u64;
        Harness::wait(runtime.core(), "some insertions", some)?;
        let core = Arc::clone(runtime.core());
        stopped(runtime)?;
        for inserter in inserters {
            let ended = inserter.join().map_err(|_| Failure::Broken("an inserter panicked".into()))?;
            ended?;
        }
        let lives = core.registration_counts();
        test.check_eq("registrations that outlive the stop", lives.inserted, lives.closed, "core 8");
        test.count("insertions in the last round", lives.inserted);
        Ok(())
    })?;
    test.all_hold()
}
