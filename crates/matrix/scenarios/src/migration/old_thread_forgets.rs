//! A thread that lost a descriptor stops receiving its events.
//!
//! `79e90b961`: the events of a migrated descriptor were skipped and no update was scheduled. A
//! level-triggered poller reported them endlessly, and the old thread spun for as long as the new one did not
//! read.

use std::sync::atomic::{AtomicBool, Ordering};

use fd_core::error::MoveError;

use super::{Endpoint, Route, check_answer, routes};
use crate::prelude::*;
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

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for route in routes(&harness) {
        while_unread(test, &mut harness, route)?;
        under_traffic(test, &mut harness, route)?;
    }
    harness.finish(test, &[])
}

/// The new owner has not enabled its interest, so all data stays readable for the old thread's poller.
fn while_unread(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let (old, new) = (route.from, route.to);
    let label = |what: &str| format!("{}, unread: {what}", route.name);
    let kernel_state = harness.core().backend().capabilities().kernel_state;
    let mut endpoint = Endpoint::start(test, harness, old)?;
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, new)?, "L9")?;

    let start = harness.activity(old);
    let (mut skips, mut drops) = (Vec::new(), Vec::new());
    for _ in 0..WRITES {
        endpoint.send(harness, b"x")?;
        harness.fence(old)?;
        let now = harness.activity(old).since(&start);
        skips.push(now.poll_skip);
        drops.push(now.poll_drop);
    }
    // A kernel that keeps the registration reports it once, and the thread removes it before its next wait.
    // The takeover itself removes the registration from pollers of another group. Without kernel state, the
    // array that the thread waits on may have been built before or after the takeover.
    let (expected_skips, expected_drops): (&[u64], &[u64]) = match (kernel_state, route.crosses()) {
        (true, false) => (&[1], &[0]),
        (true, true) => (&[0], &[0]),
        (false, false) => (&[0, 1], &[0]),
        (false, true) => (&[0], &[0, 1]),
    };
    for (what, expected, counts) in [("skips", expected_skips, skips), ("drops", expected_drops, drops)] {
        let holds = expected.contains(&counts[0]) && counts.iter().all(|count| *count == counts[0]);
        let expected = format!("{expected:?} at the first write and no more at the later writes");
        test.check_cost(
            label(&format!("{what} of the old thread so far")),
            expected,
            format!("{counts:?}"),
            "L5, bug 52",
            holds,
        );
    }
    // Two fence events per write, and one event of the descriptor. Without kernel state, the new owner also
    // wakes the old thread out of its array, and can be late: the event comes first, and alone.
    let most = 2 * WRITES + 1 + u64::from(!kernel_state);
    let waits = harness.activity(old).since(&start).poll_io;
    test.check_cost(
        label("waits of the old thread that returned events"),
        format!("≤ {most}"),
        waits,
        "L5, L6",
        waits <= most,
    );
    let polled = harness.entry(endpoint.handle)?.polled_recv;
    let is_polled = kernel_state && !route.crosses() && polled.contains(old.mask());
    test.check(label("the old thread polls it"), "no longer", format!("{polled:?}"), "L5, S11", !is_polled);

    endpoint.want_recv(harness, new)?;
    endpoint.wait_for_bytes(harness, b"xxxxx")?;
    harness.fence_all()?;
    let other_reports = endpoint.recorder.reports() - endpoint.recorder.reports_on(new);
    test.check_eq(label("reports on other threads"), 0, other_reports, "S3");
    endpoint.end(harness)
}

/// The descriptor moves back and forth while data arrives continuously.
fn under_traffic(test: &mut TestContext, harness: &mut Harness, route: Route) -> Result {
    let label = |what: &str| format!("{}, under traffic: {what}", route.name);
    let Endpoint { handle, recorder, owner, mut far } = Endpoint::start(test, harness, route.from)?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let writer = spawn(move || {
        let mut written = 0_u64;
        while !stopped.load(Ordering::SeqCst) {
            far.write_all(&[written as u8])?;
            written += 1;
            // Lets the readers catch up, so that there are many edges.
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
                Err(error) => return Err(Failure::Wrong(label(&format!("takeover: {error}")))),
            }
        }
        harness.fence(old)?;
        let since = harness.activity(old).since(&before);
        most = most.max(since.poll_skip + since.poll_drop);
        total += since.poll_skip + since.poll_drop;
        std::mem::swap(&mut old, &mut new);
    }
    stop.store(true, Ordering::SeqCst);
    let (written, far) = writer.join().map_err(|_| Failure::Broken("the writer panicked".into()))??;
    harness.wait_until(&label("everything written is read"), || recorder.bytes().len() as u64 >= written)?;
    harness.fence_all()?;
    test.record_counter(label("skips and drops"), total);
    test.record_counter(label("takeovers refused as busy"), refused);
    test.check_cost(label("most skips and drops after one takeover"), "≤ 2", most, "L5", most <= 2);
    let in_order = recorder.bytes().iter().enumerate().all(|(index, byte)| *byte == index as u8);
    test.check_eq(label("bytes"), written, recorder.bytes().len() as u64, "S1: read by one thread at a time");
    test.check_eq(label("bytes are in order"), true, in_order, "S1");
    drop(far);
    harness.registration(handle).delete().map_err(|error| Failure::Wrong(error.to_string()))
}
