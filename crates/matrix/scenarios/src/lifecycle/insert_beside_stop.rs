//! An insertion and a stop at the same time. An insertion that first checked whether the runtime stops and
//! then claimed its slot outlived the stop: 17 of 3,000 runtimes left 51 descriptors.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, channel};

use fd_core::FdCore;
use fd_core::error::InsertRefused;

use super::{both_ends, idle, stop};
use crate::prelude::*;
use crate::threads;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/insert-beside-stop",
    title: "An insertion during a stop is refused, or its registration ends with the runtime",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "core 8"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

/// How many runtimes are stopped while threads insert.
const ROUNDS: usize = 60;
/// Threads that insert all the time.
const INSERTERS: usize = 2;

/// Registrations that each of them leaves to the stop.
const LEFT: usize = 50;

type Inserted = Result<FdHandle, InsertRefused>;

fn run(test: &mut TestContext) -> Result {
    for worker in [false, true] {
        before_the_slot_is_taken(test, worker)?;
        with_the_slot_taken(test, worker)?;
        test.stop_if_failed()?;
    }
    for round in 0..ROUNDS {
        unforced(test, round)?;
    }
    Ok(())
}

/// Inserts on a worker thread, or on a thread of no group. Returns the name of the thread and the receiver of
/// the result.
fn inserter(harness: &Harness, worker: bool, fd: OwnedFd) -> Result<(String, Receiver<Inserted>)> {
    let (sender, receiver) = channel();
    let thread = harness.thread(0);
    let insert = move |core: &FdCore| {
        let inserted = core.insert(fd, idle(), thread.group(), thread.mask(), InsertOptions::default());
        let _ = sender.send(inserted.map_err(|refused| refused.reason));
    };
    if worker {
        let _ = harness.core().post(thread, move |context| insert(context.core()));
        return Ok((format!("worker {thread}"), receiver));
    }
    let core = Arc::clone(harness.core());
    let named = std::thread::Builder::new().name("inserter".into());
    named.spawn(move || insert(&core))?;
    Ok(("inserter".into(), receiver))
}

fn answer(receiver: &Receiver<Inserted>) -> Result<String> {
    let answer = receiver.recv_timeout(patience());
    let answer = answer.map_err(|_| Failure::Wrong("the insertion does not return".into()))?;
    Ok(format!("{:?}", answer.map(|_| "inserted")))
}

/// The insertion has found the table open; then the runtime stops.
fn before_the_slot_is_taken(test: &mut TestContext, worker: bool) -> Result {
    let harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    let (near, far) = both_ends(test)?;
    let name = if worker { format!("worker {}", harness.thread(0)) } else { "inserter".into() };
    let held = points.hold_thread(&name, Point::InsertBeforeClaim, near.as_raw_fd());
    let (_, receiver) = inserter(&harness, worker, near)?;
    held.reached()?;
    harness.finish_with(test, &[], |test, runtime| {
        let core = Arc::clone(runtime.core());
        if worker {
            // The stop waits for this thread.
            core.request_stop();
            held.release();
            stop(runtime)?;
        } else {
            stop(runtime)?;
            held.release();
        }
        let refused: Inserted = Err(InsertRefused::Stopping);
        let refused = format!("{:?}", refused.map(|_| "inserted"));
        test.check_eq(format!("insertion by {name} over a stop"), refused, answer(&receiver)?, "core 8");
        test.check_eq("registrations", 0, core.table().used(), "core 8");
        test.check_eq("the peer sees the end", true, far.ended(), "the descriptor was returned and dropped");
        drop(far);
        Ok(())
    })
}

/// The insertion has claimed its slot and published nothing yet: the last thread of the runtime waits for it.
fn with_the_slot_taken(test: &mut TestContext, worker: bool) -> Result {
    let harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    let (near, far) = both_ends(test)?;
    let name = if worker { format!("worker {}", harness.thread(0)) } else { "inserter".into() };
    let held = points.hold_thread(&name, Point::InsertClaimed, near.as_raw_fd());
    let (_, receiver) = inserter(&harness, worker, near)?;
    held.reached()?;
    harness.finish_with(test, &[], |test, runtime| {
        runtime.core().request_stop();
        held.release();
        stop(runtime)?;
        let inserted: Result<_, InsertRefused> = Ok("inserted");
        let what = format!("insertion by {name}, with its slot, over a stop");
        test.check_eq(what, format!("{inserted:?}"), answer(&receiver)?, "it began before the stop");
        test.check_eq("the peer sees the end", true, far.ended(), "L8");
        drop(far);
        Ok(())
    })
}

/// Threads insert all the time while a runtime stops.
fn unforced(test: &mut TestContext, round: usize) -> Result {
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
                let near = crate::transport::pair(transport)?.near;
                let options = InsertOptions::default();
                match core.insert(near, idle(), thread.group(), thread.mask(), options) {
                    Ok(handle) => {
                        inserted += 1;
                        // Enough registrations remain for the stop, and few numbers are available.
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
    harness.finish_with(test, &[], |test, runtime| {
        let some = || runtime.core().registration_counts().inserted > (threads.len() + round) as u64;
        Harness::wait_with_core(runtime.core(), "some insertions", some)?;
        let core = Arc::clone(runtime.core());
        stop(runtime)?;
        for inserter in inserters {
            let ended = inserter.join().map_err(|_| Failure::Broken("an inserter panicked".into()))?;
            ended?;
        }
        let counts = core.registration_counts();
        let what = "registrations closed by the end of the stop";
        test.check_eq(what, counts.inserted, counts.closed, "core 8");
        test.record_counter("insertions in the last round", counts.inserted);
        Ok(())
    })?;
    test.stop_if_failed()
}
