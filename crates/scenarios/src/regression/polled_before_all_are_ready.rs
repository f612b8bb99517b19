//! A thread is slow to start. HAProxy's others polled meanwhile, and used what the slow one had not set up yet (bug 31).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/polled-before-all-are-ready",
    title: "No thread polls before every thread has registered what is its own",
    layer: Layer::Contract,
    clauses: &["L1", "bug 31"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// How often a slow thread gives way to the others, unless it has seen one of them poll.
const SLOW: u32 = 2000;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let count = test.params.threads as u64;
    // Each place in the order of arrival is the slow one's once. By chance only: nothing says that nobody will poll.
    for slow in 0..count {
        let (arrived, ready, early) =
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (place, registered, polled) = (Arc::clone(&arrived), Arc::clone(&ready), Arc::clone(&early));
        let checkpoints = Checkpoints::telling(move |point, _| match point {
            Point::ThreadRegistered => {
                if place.fetch_add(1, Ordering::SeqCst) == slow {
                    for _ in 0..SLOW {
                        if polled.load(Ordering::SeqCst) > 0 {
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
        test.all_hold()?;
        drop(checkpoints);
        harness.finish(test, &[])?;
    }
    Ok(())
}
