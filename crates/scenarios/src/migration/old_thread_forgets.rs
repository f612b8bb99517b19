//! A thread that lost a descriptor stops hearing of it.
//!
//! `79e90b961`: the events of a migrated descriptor were skipped and no update was programmed, so that a
//! level-triggered poller reported them for ever, and the old thread spun for as long as the new one did not read.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fd_core::error::MoveError;
use metadata::{Axes, Layer};

use super::{Endpoint, Route, check_answer, routes};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/old-thread-forgets",
    title: "After a takeover the old thread's poller reports the FD at most once more",
    layer: Layer::Contract,
    clauses: &["L5", "L6", "bug 52"],
    axes: Axes { threads: &[2, 4], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const WRITES: u64 = 5;
const HOPS: u64 = 40;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        while_nobody_reads(test, &mut harness, route)?;
        under_fire(test, &mut harness, route)?;
    }
    harness.finish(test, &[])
}

/// The new owner wants nothing yet, so all that arrives stays readable for the old thread's poller.
fn while_nobody_reads(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result<(), Failure> {
    let (old, new) = (route.from, route.to);
    let at = |what: &str| format!("{}, nobody reads: {what}", route.name);
    let kernel_state = harness.core().backend().capabilities().kernel_state;
    let mut endpoint = Endpoint::start(test, harness, old)?;
    check_answer(test, at("takeover"), Ok(()), endpoint.take_over(harness, new)?, "L9")?;

    let start = harness.activity(old);
    let (mut skips, mut drops) = (Vec::new(), Vec::new());
    for _ in 0..WRITES {
        endpoint.write(b"x")?;
        harness.fence(old)?;
        let now = harness.activity(old).since(&start);
        skips.push(now.poll_skip);
        drops.push(now.poll_drop);
    }
    // A kernel that keeps the registration reports it once, and it is removed before the next wait. Another group's
    // pollers are told by the takeover itself. Without kernel state, the array that the thread sleeps on may be
    // from before the takeover, or it may have been built after.
    let (expected_skips, expected_drops): (&[u64], &[u64]) = match (kernel_state, route.crosses()) {
        (true, false) => (&[1], &[0]),
        (true, true) => (&[0], &[0]),
        (false, false) => (&[0, 1], &[0]),
        (false, true) => (&[0], &[0, 1]),
    };
    for (what, expected, counts) in [("skips", expected_skips, skips), ("drops", expected_drops, drops)] {
        let holds = expected.contains(&counts[0]) && counts.iter().all(|count| *count == counts[0]);
        let expected = format!("{expected:?} at the first write and no more at the others");
        test.cost(
            at(&format!("{what} of the old thread so far")),
            expected,
            format!("{counts:?}"),
            "L5, bug 52",
            holds,
        );
    }
    // Two fence events per write, and the one that was not for it.
    let waits = harness.activity(old).since(&start).poll_io;
    test.cost(
        at("waits of the old thread that returned something"),
        "≤ 11",
        waits,
        "L5, L6",
        waits <= 2 * WRITES + 1,
    );
    let polled = harness.entry(endpoint.handle)?.polled_recv;
    let still = kernel_state && !route.crosses() && polled.contains(old.mask());
    test.check(at("the old thread polls it"), "not any more", format!("{polled:?}"), "L5, S11", !still);

    endpoint.want(harness, new)?;
    endpoint.wait_for_bytes(harness, b"xxxxx")?;
    harness.fence_all()?;
    let strangers = endpoint.recorder.reports() - endpoint.recorder.reports_on(new);
    test.check_eq(at("reports on other threads"), 0, strangers, "S3");
    endpoint.end(harness)
}

/// It goes to and fro while data arrives without a pause.
fn under_fire(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result<(), Failure> {
    let at = |what: &str| format!("{}, under fire: {what}", route.name);
    let Endpoint { handle, recorder, owner, mut far } = Endpoint::start(test, harness, route.from)?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let writer = spawn(move || {
        let mut written = 0_u64;
        while !stopped.load(Ordering::SeqCst) {
            far.write_all(&[written as u8])?;
            written += 1;
            // The readers get a chance to catch up, so that there are many edges.
            std::thread::yield_now();
        }
        Ok::<_, std::io::Error>((written, far))
    })?;

    let (mut most, mut total, mut refused) = (0, 0, 0);
    let (mut old, mut new) = (route.from, route.to);
    for _ in 0..HOPS {
        let before = harness.activity(old);
        loop {
            let taken = harness.on(new, move |context| {
                context.takeover(handle, owner)?;
                context.registration(handle).want_recv().map_err(MoveError::from)
            })?;
            match taken {
                Ok(()) => break,
                Err(MoveError::Busy) => refused += 1,
                Err(error) => return Err(Failure::Wrong(at(&format!("takeover: {error}")))),
            }
        }
        harness.fence(old)?;
        let since = harness.activity(old).since(&before);
        most = most.max(since.poll_skip + since.poll_drop);
        total += since.poll_skip + since.poll_drop;
        std::mem::swap(&mut old, &mut new);
    }
    stop.store(true, Ordering::SeqCst);
    let (written, far) =
        writer.join().map_err(|_| Failure::Broken("the writer".into()))?.map_err(Failure::broken)?;
    harness.wait_until(&at("everything written is read"), || recorder.bytes().len() as u64 >= written)?;
    harness.fence_all()?;
    test.count(at("skips and drops"), total);
    test.count(at("takeovers refused as busy"), refused);
    test.cost(at("most skips and drops after one takeover"), "≤ 2", most, "L5", most <= 2);
    let in_order = recorder.bytes().iter().enumerate().all(|(index, byte)| *byte == index as u8);
    test.check_eq(at("bytes"), written, recorder.bytes().len() as u64, "S1: read by one thread at a time");
    test.check_eq(at("bytes are in order"), true, in_order, "S1");
    drop(far);
    harness.core().registration(handle).delete().map_err(|error| Failure::Wrong(error.to_string()))
}
