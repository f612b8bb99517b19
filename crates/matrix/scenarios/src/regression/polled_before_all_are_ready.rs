//! A thread is slow to start. In HAProxy the other threads polled meanwhile, and used state that the slow
//! thread had not initialised yet (bug 31).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/polled-before-all-are-ready",
    title: "No thread polls before every thread has registered its own descriptors",
    layer: Layer::Contract,
    clauses: &["L1", "bug 31"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// How often a slow thread yields to the others, unless one of them polls.
const SLOW: u32 = 2000;
/// The time after which it goes on nevertheless: on a loaded machine, each yield may take a time slice of
/// every other process.
const LONG: Duration = Duration::from_millis(200);

fn run(test: &mut TestContext) -> Result {
    let count = test.params.threads as u64;
    // The slow thread has each place in the order of arrival once. A mistake is found by chance only: nothing
    // proves that no other thread is about to poll.
    for slow in 0..count {
        let (arrived, ready, early) =
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (place, registered, polled) = (Arc::clone(&arrived), Arc::clone(&ready), Arc::clone(&early));
        let checkpoints = Checkpoints::with_listener(move |point, _| match point {
            Point::ThreadRegistered => {
                if place.fetch_add(1, Ordering::SeqCst) == slow {
                    let end = Instant::now() + LONG;
                    for _ in 0..SLOW {
                        if polled.load(Ordering::SeqCst) > 0 || Instant::now() >= end {
                            break;
                        }
                        std::thread::yield_now();
                    }
                }
                registered.fetch_add(1, Ordering::SeqCst);
            }
            Point::BeforeWait if registered.load(Ordering::SeqCst) < count => {
                polled.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        });
        let mut harness = Harness::start(test)?;
        harness.fence_all()?;
        test.check_eq("threads that were ready", count, ready.load(Ordering::SeqCst), "bug 31");
        let what = format!("waits before that, the thread in place {slow} being slow");
        test.check_eq(what, 0, early.load(Ordering::SeqCst), "bug 31");
        test.stop_if_failed()?;
        drop(checkpoints);
        harness.finish(test, &[])?;
    }
    Ok(())
}
