//! A registration with a timeout changes its thread, and then its group.
//!
//! A timer stays on its thread, and finds a descriptor there that another thread uses. The timeout of a
//! registration moves with it: the thread that has it when the time is over reports it, and no other.

use std::time::Duration;

use fd_core::poller::Events;

use crate::manual_clock::ManualClock;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/timeout-moves",
    title: "The timeout of a descriptor is reported once, by the thread that has it, and not before its last time",
    layer: Layer::Contract,
    clauses: &["S3", "L12"],
    axes: Axes {
        transports: &[Transport::Unix, Transport::Pipe],
        threads: &[2, 4],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

const TIMEOUT: Duration = Duration::from_secs(60);

fn run(test: &mut TestContext) -> Result {
    let clock = ManualClock::new();
    let mut harness = Harness::start_with_clock(test, &clock)?;
    let ends = test.pair()?;
    let recorder = Recorder::new();
    let threads = harness.threads();
    let handle = harness.insert(ends.near, recorder.clone(), threads[0])?;
    let mut expected = Vec::new();
    for (index, owner) in threads.iter().cycle().take(2 * threads.len()).enumerate() {
        let when = format!("move {index}, {owner}");
        set_timeout(&harness, handle, index, TIMEOUT)?;
        clock.advance(TIMEOUT / 2);
        move_to(&harness, handle, &recorder, *owner, index)?;
        // Its former time is over, and a later one is not.
        set_timeout(&harness, handle, index + 1, TIMEOUT)?;
        clock.advance(TIMEOUT / 2);
        wake_and_fence(&mut harness)?;
        check_reports(test, &when, &expected, &recorder);
        clock.advance(TIMEOUT / 2);
        expected.push((*owner, Events::TIMEOUT));
        threads.iter().for_each(|thread| harness.core().wake(*thread));
        harness.wait_until(&format!("{when}, the timeout"), || recorder.reports() >= expected.len())?;
        wake_and_fence(&mut harness)?;
        check_reports(test, &when, &expected, &recorder);
    }

    // Cleared, and ended with the registration.
    set_timeout(&harness, handle, 0, TIMEOUT)?;
    harness.registration(handle).set_timeout(None)?;
    clock.advance(TIMEOUT);
    wake_and_fence(&mut harness)?;
    set_timeout(&harness, handle, 0, TIMEOUT)?;
    harness.registration(handle).delete()?;
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    let next = test.pair()?;
    let silent = Recorder::new();
    harness.insert(next.near, silent.clone(), threads[0])?;
    clock.advance(TIMEOUT);
    wake_and_fence(&mut harness)?;
    check_reports(test, "at the end", &expected, &recorder);
    test.check_eq("reports of the next registration", 0, silent.reports(), "S7");
    drop((ends.far, next.far));
    harness.finish(test, &[])
}

/// Sets the timeout from outside, and on the thread that has the descriptor, by turns.
fn set_timeout(harness: &Harness, handle: FdHandle, turn: usize, after: Duration) -> Result {
    let entry = harness.entry(handle)?;
    let owner = entry.thread_mask.indices().next().and_then(|index| ThreadId::new(entry.group, index));
    let caller = owner.filter(|_| turn.is_multiple_of(2));
    Ok(harness.call_on(caller, handle, move |fd| fd.set_timeout(Some(after)))??)
}

/// Moves the descriptor by a takeover and by a move from outside, by turns.
fn move_to(
    harness: &Harness,
    handle: FdHandle,
    recorder: &Arc<Recorder>,
    target: ThreadId,
    turn: usize,
) -> Result {
    let owner = recorder.id();
    let moved = if turn.is_multiple_of(2) {
        harness.on(target, move |context| context.takeover(handle, owner))?
    } else {
        harness.registration(handle).migrate_on(target)
    };
    moved.map_err(Failure::broken)
}

/// Makes every thread look at its timeouts: the clock of this scenario wakes no thread.
fn wake_and_fence(harness: &mut Harness) -> Result {
    harness.threads().into_iter().for_each(|thread| harness.core().wake(thread));
    harness.fence_all()
}

fn check_reports(test: &mut TestContext, when: &str, expected: &[(ThreadId, Events)], recorder: &Recorder) {
    let seen: Vec<_> = recorder.seen().into_iter().map(|report| (report.thread, report.events)).collect();
    test.check_debug(format!("{when}: reports"), expected, &seen[..], "L12");
}
