//! `cf181c9d4`: with nothing to poll, epoll_wait was called with room for no event, which failed at once and
//! was repeated. A timeout that is rounded down does the same for the last fraction of each timer.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fd_core::{FdCore, Runtime};

use crate::prelude::*;
use crate::retry;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/short-timeout-spins",
    title: "A thread that has only a timer sleeps until the timer is due, whatever the poller's unit of time",
    layer: Layer::Contract,
    clauses: &["L10", "bug 3"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

const TIMERS: u64 = 40;
/// Below one millisecond, and between one and two: neither is a whole number of milliseconds.
const DELAYS: [Duration; 2] = [Duration::from_micros(900), Duration::from_micros(1900)];
/// One iteration that waits, and two to spare.
const ITERATIONS_PER_TIMER: u64 = 3;

fn run(test: &mut TestContext) -> Result {
    // Only the runtime's own descriptors are registered.
    let prepared = retry::prepare(|| Runtime::builder().group(1), test.make).map_err(Failure::from_start)?;
    let bare = prepared.start().map_err(Failure::from_start)?;
    let iterations = iterations_of(bare.core())?;
    check(test, "with nothing registered", iterations);
    bare.stop().map_err(|error| Failure::Wrong(error.to_string()))?;
    test.stop_if_failed()?;

    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    harness.fence(thread)?;
    let iterations = iterations_of(harness.core())?;
    check(test, "with descriptors that are not ready", iterations);
    harness.finish(test, &[])
}

/// Returns how many iterations the first thread needs for all timers, one after the other.
fn iterations_of(core: &Arc<FdCore>) -> Result<u64> {
    let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
    let loops = || {
        core.activity().0.into_iter().find(|(id, _)| *id == thread).map_or(0, |(_, counters)| counters.loops)
    };
    let before = loops();
    let (sender, receiver) = channel();
    let _ = core.post(thread, move |context| next(context, TIMERS, sender));
    receiver.recv_timeout(patience()).map_err(|_| Failure::Wrong("the timers did not fire".into()))?;
    Ok(loops() - before)
}

fn check(test: &mut TestContext, when: &str, iterations: u64) {
    let bound = TIMERS * ITERATIONS_PER_TIMER;
    let what = format!("iterations of the loop for {TIMERS} timers, {when}");
    test.check_cost_most(what, bound, iterations, "L10: no spin");
}

/// Sets one timer, which sets the next one.
fn next(context: &Context, left: u64, sender: Sender<()>) {
    if left == 0 {
        let _ = sender.send(());
        return;
    }
    let delay = DELAYS[left as usize % DELAYS.len()];
    context.after(delay, move |context| next(context, left - 1, sender));
}
