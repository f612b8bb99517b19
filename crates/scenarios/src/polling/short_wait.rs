//! Waits of less than a millisecond. epoll_wait and poll count in milliseconds and must round up; epoll_pwait2 (Linux 5.11),
//! select and kevent count finer. An emulator that does not know epoll_pwait2 answers `ENOSYS`, and the cell says so.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use fd_core::Context;
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/short-wait",
    title: "A wait of less than a millisecond is one wait, and does not end before its time",
    layer: Layer::Contract,
    clauses: &["L10", "T03"],
    // Nothing is there to be reported.
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

const WAITS: usize = 40;
const WAIT: Duration = Duration::from_micros(200);
/// One that waits, and one for what the runtime itself has to do.
const TURNS_PER_WAIT: u64 = 2;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    if let Err(why) = harness.core().backend().capabilities().fine_timeouts {
        return Err(Failure::Unsupported(why.into()));
    }
    let thread = harness.thread(0);
    harness.fence(thread)?;
    let before = harness.activity(thread);
    let (tell, told) = channel();
    let _ = harness.core().post(thread, move |context| next(context, WAITS, tell));
    let mut took = Vec::with_capacity(WAITS);
    while took.len() < WAITS {
        let one = told.recv_timeout(patience());
        took.push(one.map_err(|_| Failure::Wrong(format!("{} of {WAITS} waits ended", took.len())))?);
    }
    let turns = harness.activity(thread).since(&before).loops;
    took.sort_unstable();
    test.check(
        "the shortest wait",
        format!("at least {WAIT:?}"),
        format!("{:?}", took[0]),
        "L10",
        took[0] >= WAIT,
    );
    let bound = WAITS as u64 * TURNS_PER_WAIT;
    test.cost(
        format!("turns of the loop for {WAITS} waits"),
        format!("at most {bound}"),
        turns,
        "L10: no spin",
        turns <= bound,
    );
    test.note(format!("a wait of {WAIT:?} took {:?} in the middle", took[WAITS / 2]));
    harness.finish(test, &[])
}

/// One wait after the other.
fn next(context: &Context, left: usize, tell: Sender<Duration>) {
    if left == 0 {
        return;
    }
    let began = Instant::now();
    context.after(WAIT, move |context| {
        let _ = tell.send(began.elapsed());
        next(context, left - 1, tell);
    });
}
