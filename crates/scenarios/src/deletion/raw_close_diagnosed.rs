//! Somebody closes a registered descriptor behind the table's back, and its number is used again. poll(2) then answers
//! NVAL at once for ever, select(2) fails as a whole, epoll and kqueue forget in silence. HAProxy had such closes again
//! and again (bug 43), and spun or reported another connection's events.

use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use fd_core::error::InsertRefused;
use fd_core::poller::Events;
use metadata::{Axes, Layer};

use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/raw-close-diagnosed",
    title: "An FD closed behind the table's back makes nobody spin; its owner is told, and its number is refused",
    layer: Layer::Contract,
    clauses: &["S10", "L5", "L6", "bug 43", "suspect 11"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Turns that one fence may take: two events, each with a wake-up of its own and one to spare.
const TURNS_PER_FENCE: u64 = 6;
const FENCES: u64 = 50;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(test.params.transport).map_err(Failure::broken)?;
    let mut fresh = pair(test.params.transport).map_err(Failure::broken)?;
    let number = ends.near.as_raw_fd();
    let monitor = HandlerMonitor::new(&ends.near);
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let handler = {
        let told = Arc::clone(&told);
        monitor.doing(move |ready| {
            // It insists: each report leads to another update, and none of them may be the next turn of a spin.
            let _ = ready.registration().want_recv();
            told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(ready.events());
        })
    };
    let handle = harness.insert(ends.near, handler, thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence_all()?;

    let before = harness.activity(thread);
    close_behind_the_table(number);
    // Some thread must look at it to know: epoll and kqueue when they are next asked for something, poll and select
    // when they next wait.
    harness.core().registration(handle).want_send().map_err(Failure::broken)?;
    for _ in 0..FENCES {
        harness.fence(thread)?;
    }
    let after = harness.activity(thread).since(&before);
    let seen = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let is_diagnosis = |events: &Events| events.intersects(Events::INVALID) && events.intersects(Events::ERR);
    // select(2) on Linux says "readable" of a number that is closed while it waits, and EBADF the next time.
    let told = match &seen[..] {
        [Events::READY_R, told @ ..] if test.backend == "select" => told,
        told => told,
    };
    let interests = 1..=3;
    test.check(
        "what the owner was told",
        "INVALID and ERR, once for each interest that it asked for: recv, both, recv",
        format!("{} times, first {:?}", seen.len(), &seen[..seen.len().min(3)]),
        "poll(2) NVAL, EBADF",
        interests.contains(&told.len()) && told.iter().all(is_diagnosis),
    );
    let invalid = after.poll_inval;
    test.check(
        "events that said so",
        "1 to 3",
        invalid,
        "poll(2) NVAL, EBADF",
        interests.contains(&(invalid as usize)),
    );
    let bound = FENCES * TURNS_PER_FENCE;
    let turns = after.loops;
    test.cost("turns of the loop", format!("at most {bound}"), turns, "L5, L6: no spin", turns <= bound);
    test.all_hold()?;

    // The number is used again by somebody who then wants to register it.
    let near = at_number(spare.near, number).map_err(Failure::broken)?;
    let next = HandlerMonitor::new(&near);
    let (group, mask, options) = (thread.group(), thread.mask(), harness.options());
    let refused = harness.core().insert(near, next.recording(), group, mask, options);
    let refused = match refused {
        Ok(_) => return Err(Failure::Wrong("the number was accepted a second time".into())),
        Err(refused) => refused,
    };
    test.check(
        "insert",
        "InUse",
        refused.reason,
        "S10, bug 43",
        refused.reason == InsertRefused::InUse { fd: number },
    );
    spare.far.write_all(b"for the refused one").map_err(Failure::broken)?;
    harness.fence_all()?;
    test.check_eq("calls of the refused handler", 0, next.calls(), "S7");
    // The old registration ends; its number is given up by the newcomer first, or it would be closed twice.
    let _ = refused.source.into_raw_fd();
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");

    // Refused once, the newcomer's next descriptor under that number is welcome.
    let near = at_number(fresh.near, number).map_err(Failure::broken)?;
    let last = HandlerMonitor::new(&near);
    let handle = harness.insert(near, last.recording(), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    fresh.far.write_all(b"fresh").map_err(Failure::broken)?;
    harness.wait_until("the data under the number's next registration", || last.text() == "fresh")?;
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    let _ = ends.far.write_all(b"x");
    drop((ends.far, spare.far, fresh.far));
    harness.finish(test, &[])
}

/// The mistake.
fn close_behind_the_table(number: RawFd) {
    // SAFETY: not sound in general, which is what the scenario is about: the table owns the number. Nothing else in
    // this process opens or uses descriptors meanwhile.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}
