//! One thread deletes a descriptor while another thread, on the way into its wait, checks that descriptor for
//! readiness. Since Linux 6.10 epoll_wait(2) holds a reference on the open file during this check. A close at
//! that moment leaves epoll_wait(2) with the last reference, which it releases at the end of the wait, up to
//! a minute later: until then the peer sees no end. This matrix found it, as one failure in a thousand runs
//! of `deletion/other-thread-in-handler`.
//!
//! The kernel has no checkpoint there, so the scenario tries many times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fastrand::Rng;

use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/close-beside-a-wait",
    title: "The peer of a deleted FD sees the end at once, even if the polling thread is about to wait again",
    layer: Layer::Contract,
    clauses: &["L4", "L5"],
    // Edge-triggered, the kernel does not check the descriptor again on the way into the next wait.
    axes: Axes {
        transports: &[Transport::Unix, Transport::Pipe],
        triggers: &[Mode::Level],
        threads: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

/// On an idle machine with two processors about one round in a thousand is late: this is six times as many. A
/// loaded machine completes fewer rounds.
const ROUNDS: u64 = 6_000;

/// The longest pause before the delete, in iterations of an empty loop. Without a pause the handler still
/// runs, and its thread closes; after a longer pause the thread already sleeps.
const LONGEST_PAUSE: u32 = 2_000;

fn run(test: &mut TestContext) -> Result {
    let harness = Harness::start(test)?;
    let mut random = Rng::with_seed(test.seed);
    let thread = harness.thread(0);
    let (mut rounds, mut closed_by_deleter) = (0, 0);
    let deadline = Instant::now() + patience() / 5;
    while rounds < ROUNDS && Instant::now() < deadline {
        rounds += 1;
        let mut ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        let handled = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&handled);
        let handler = monitor.doing(move |monitor, ready| {
            monitor.recorder.record(ready);
            seen.store(true, Ordering::SeqCst);
        });
        let handle = harness.insert_recv(ends.near, handler, thread)?;
        ends.far.write_all(b"x")?;
        let end = Instant::now() + patience();
        let mut spins = 0;
        while !handled.load(Ordering::SeqCst) {
            // No sleep here: the critical moment lasts only microseconds.
            spins += 1;
            if spins < 20_000 {
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
        let closes_before = harness.activity(thread).fd_close;
        harness.registration(handle).delete()?;
        harness.wait_until("the close", || monitor.dropped() > 0)?;
        closed_by_deleter += u64::from(harness.activity(thread).fd_close == closes_before);
        // From here on, no event wakes any thread.
        harness.wait_until(&format!("round {rounds}: the peer sees the end"), || ends.far.ended())?;
    }
    test.check(
        "closed by the deleting thread",
        "at least one",
        closed_by_deleter,
        "otherwise the race was never tried",
        closed_by_deleter > 0,
    );
    test.record_counter("rounds", rounds);
    test.record_counter("closed by the deleter", closed_by_deleter);
    harness.finish(test, &[])
}
