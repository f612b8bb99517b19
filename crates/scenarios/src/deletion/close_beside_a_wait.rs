//! A descriptor is deleted by one thread in the moment when another looks at it on the way into its wait. Since Linux
//! 6.10 epoll_wait(2) holds the open file while it looks. A close in that moment leaves it the last reference, which it
//! gives back when the wait is over, up to a minute later: until then the peer sees no end. Found by this matrix, as one
//! failure in a thousand of `deletion/other-thread-in-handler`.
//!
//! The kernel has no checkpoint there, so it is tried many times.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fastrand::Rng;
use metadata::{Axes, Layer, Mode, Transport};

use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext, patience};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/close-beside-a-wait",
    title: "The peer of a deleted FD sees the end at once, though the polling thread is just going back to its wait",
    layer: Layer::Contract,
    clauses: &["L4", "L5"],
    // An edge is not looked at again on the way into the next wait.
    axes: Axes {
        transports: &[Transport::Unix, Transport::Pipe],
        triggers: &[Mode::Level],
        threads: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

/// About six times as many as one is late in, on an idle machine with two processors. A loaded one makes fewer of them.
const ROUNDS: u64 = 6_000;

/// The longest pause before the delete, in turns of an empty loop. With none the handler still runs, and its thread
/// closes; with more than this it sleeps already.
const LONGEST_PAUSE: u32 = 2_000;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let harness = Harness::start(test)?;
    let mut random = Rng::with_seed(test.seed);
    let thread = harness.thread(0);
    let (mut rounds, mut by_the_deleter) = (0, 0);
    let enough = Instant::now() + patience() / 5;
    while rounds < ROUNDS && Instant::now() < enough {
        rounds += 1;
        let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
        let monitor = HandlerMonitor::new(&ends.near);
        let heard = Arc::new(AtomicBool::new(false));
        let handler = {
            let (recorder, heard) = (Arc::clone(&monitor), Arc::clone(&heard));
            monitor.doing(move |ready| {
                recorder.recorder.record(ready);
                heard.store(true, Ordering::SeqCst);
            })
        };
        let handle = harness.insert(ends.near, handler, thread)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        ends.far.write_all(b"x").map_err(Failure::broken)?;
        let end = Instant::now() + patience();
        let mut looks = 0;
        while !heard.load(Ordering::SeqCst) {
            // Not a sleep: the moment that is looked for is over within microseconds.
            looks += 1;
            if looks < 20_000 {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
            if Instant::now() >= end {
                return Err(Failure::Wrong(format!("round {rounds}: the data was never reported")));
            }
        }
        for _ in 0..random.u32(..LONGEST_PAUSE) {
            std::hint::spin_loop();
        }
        let closed_there = harness.activity(thread).fd_close;
        harness.core().registration(handle).delete().map_err(Failure::broken)?;
        harness.wait_until("the close", || monitor.dropped() > 0)?;
        by_the_deleter += u64::from(harness.activity(thread).fd_close == closed_there);
        // Nothing wakes anybody from here on.
        harness.wait_until(&format!("round {rounds}: the peer sees the end"), || ends.far.ended())?;
    }
    test.check(
        "closed by the deleter",
        "some",
        by_the_deleter,
        "otherwise nothing was tried",
        by_the_deleter > 0,
    );
    test.count("rounds", rounds);
    test.count("closed by the deleter", by_the_deleter);
    harness.finish(test, &[])
}
