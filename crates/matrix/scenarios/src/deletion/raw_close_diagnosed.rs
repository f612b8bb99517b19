//! Code outside the table closes a registered descriptor, and its number is used again. poll(2) then reports
//! NVAL at once on every call, select(2) fails as a whole, and epoll and kqueue silently drop their
//! registration. HAProxy repeatedly had such closes (bug 43), and spun or reported another connection's
//! events.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use fd_core::error::InsertRefused;
use fd_core::poller::Events;

use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/raw-close-diagnosed",
    title: "After a close outside the table no thread spins, the owner receives an error, and the number cannot be registered again",
    layer: Layer::Contract,
    clauses: &["S10", "L5", "L6", "bug 43", "suspect 11"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Iterations that one fence may take: two events, each with its own wake-up and one to spare.
const ITERATIONS_PER_FENCE: u64 = 6;
const FENCES: u64 = 50;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let mut spare = test.pair()?;
    let mut fresh = test.pair()?;
    let number = ends.near.as_raw_fd();
    let monitor = HandlerMonitor::new(&ends.near);
    let diagnoses = Arc::new(Mutex::new(Vec::new()));
    let handler = {
        let diagnoses = Arc::clone(&diagnoses);
        monitor.doing(move |_, ready| {
            // The handler enables its interest at each report: every report leads to another update, and none
            // of these may start a spin.
            let _ = ready.registration().want_recv();
            unpoisoned(&diagnoses).push(ready.events());
        })
    };
    let handle = harness.insert_recv(ends.near, handler, thread)?;
    harness.wait_until_polled(handle, thread.mask())?;
    harness.fence_all()?;

    let before = harness.activity(thread);
    close_behind_the_table(number);
    // A thread must use the number to notice the close: epoll and kqueue at the next change of its interest,
    // poll and select at the next wait.
    harness.registration(handle).want_send()?;
    for _ in 0..FENCES {
        harness.fence(thread)?;
    }
    let after = harness.activity(thread).since(&before);
    let seen = unpoisoned(&diagnoses).clone();
    let is_diagnosis = |events: &Events| events.intersects(Events::INVALID) && events.intersects(Events::ERR);
    // On Linux, select(2) reports a number that is closed during the wait as readable, and fails with EBADF
    // at the next call.
    let diagnoses = match &seen[..] {
        [Events::READY_R, diagnoses @ ..] if test.backend == "select" => diagnoses,
        diagnoses => diagnoses,
    };
    let interests = 1..=3;
    test.check(
        "reports to the owner",
        "INVALID and ERR, once for each requested interest: recv, both, recv",
        format!("{} times, first {:?}", seen.len(), &seen[..seen.len().min(3)]),
        "poll(2) NVAL, EBADF",
        interests.contains(&diagnoses.len()) && diagnoses.iter().all(is_diagnosis),
    );
    let invalid = after.poll_inval;
    let holds = interests.contains(&(invalid as usize));
    test.check("INVALID events", "1 to 3", invalid, "poll(2) NVAL, EBADF", holds);
    let bound = FENCES * ITERATIONS_PER_FENCE;
    let iterations = after.loops;
    test.check_cost_most("iterations of the loop", bound, iterations, "L5, L6: no spin");
    test.stop_if_failed()?;

    // Other code uses the number again and tries to register it.
    let near = at_number(spare.near, number)?;
    let next = HandlerMonitor::new(&near);
    let (group, mask, options) = (thread.group(), thread.mask(), harness.options());
    let refused = harness.core().insert(near, next.recording(), group, mask, options);
    let refused = match refused {
        Ok(_) => return Err(Failure::Wrong("the number was registered a second time".into())),
        Err(refused) => refused,
    };
    test.check(
        "insert",
        "InUse",
        refused.reason,
        "S10, bug 43",
        refused.reason == InsertRefused::InUse { fd: number },
    );
    harness.send(&mut spare.far, number, b"for the refused one")?;
    harness.fence_all()?;
    test.check_eq("calls of the refused handler", 0, next.calls(), "S7");
    // The old registration ends. The refused descriptor gives up the number first, or it would be closed
    // twice.
    let _ = refused.source.into_raw_fd();
    harness.registration(handle).delete()?;
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");

    // The next descriptor under that number can be registered.
    let near = at_number(fresh.near, number)?;
    let last = HandlerMonitor::new(&near);
    let handle = harness.insert_recv(near, last.recording(), thread)?;
    fresh.far.write_all(b"fresh")?;
    harness.wait_until("the data under the number's next registration", || last.text() == "fresh")?;
    harness.registration(handle).delete()?;
    let _ = ends.far.write_all(b"x");
    drop((ends.far, spare.far, fresh.far));
    harness.finish(test, &[])
}

/// Closes the number without the table: the error that the scenario is about.
fn close_behind_the_table(number: RawFd) {
    // SAFETY: not sound in general, which is the subject of the scenario: the table owns the number. Nothing
    // else in this process opens or uses descriptors meanwhile.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}
