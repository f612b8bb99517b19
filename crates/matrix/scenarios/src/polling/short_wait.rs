//! Waits of less than a millisecond. epoll_wait and poll count in milliseconds and must round up;
//! epoll_pwait2 (Linux 5.11), select and kevent have finer units. Under an emulator without epoll_pwait2
//! (`ENOSYS`) the cell is unsupported.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/short-wait",
    title: "A wait of less than a millisecond takes one wait, and does not end early",
    layer: Layer::Contract,
    clauses: &["L10", "T03"],
    // No descriptor is under test.
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

const WAITS: usize = 40;
const WAIT: Duration = Duration::from_micros(200);
/// One iteration that waits, and one for the runtime's own work.
const ITERATIONS_PER_WAIT: u64 = 2;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    if let Err(reason) = harness.core().backend().capabilities().fine_timeouts {
        return Err(Failure::Unsupported(reason.into()));
    }
    let thread = harness.thread(0);
    harness.fence(thread)?;
    let before = harness.activity(thread);
    let (sender, receiver) = channel();
    let _ = harness.core().post(thread, move |context| next(context, WAITS, sender));
    let mut took = Vec::with_capacity(WAITS);
    while took.len() < WAITS {
        let one = receiver.recv_timeout(patience());
        took.push(one.map_err(|_| Failure::Wrong(format!("{} of {WAITS} waits ended", took.len())))?);
    }
    let iterations = harness.activity(thread).since(&before).loops;
    took.sort_unstable();
    let holds = took[0] >= WAIT;
    test.check("the shortest wait", format!("at least {WAIT:?}"), format!("{:?}", took[0]), "L10", holds);
    let bound = WAITS as u64 * ITERATIONS_PER_WAIT;
    test.check_cost_most(
        format!("iterations of the loop for {WAITS} waits"),
        bound,
        iterations,
        "L10: no spin",
    );
    test.note(format!("a wait of {WAIT:?} took {:?} in the middle", took[WAITS / 2]));
    harness.finish(test, &[])
}

/// Waits once, then starts the next wait.
fn next(context: &Context, left: usize, sender: Sender<Duration>) {
    if left == 0 {
        return;
    }
    let began = Instant::now();
    context.after(WAIT, move |context| {
        let _ = sender.send(began.elapsed());
        next(context, left - 1, sender);
    });
}
