//! `cf181c9d4`: with nothing to poll, epoll_wait was asked for no event at all, which failed at once, again and again. A
//! timeout that is rounded down does the same for the last fraction of each timer.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fd_core::{Context, FdCore, Runtime};
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::persist;
use crate::test_context::{Failure, TestContext, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/short-timeout-spins",
    title: "A thread that has nothing but a timer sleeps until the timer is due, whatever the poller's unit of time",
    layer: Layer::Contract,
    clauses: &["L10", "bug 3"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

const TIMERS: u64 = 40;
/// Below one millisecond and between two: neither is a whole number of them.
const DELAYS: [Duration; 2] = [Duration::from_micros(900), Duration::from_micros(1900)];
/// One that waits, and two to spare.
const TURNS_PER_TIMER: u64 = 3;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    // Nothing is registered but what the runtime itself needs.
    let prepared =
        persist::prepare(|| Runtime::builder().group(1), test.make).map_err(Failure::from_start)?;
    let bare = prepared.start().map_err(Failure::from_start)?;
    let turns = turns_of(bare.core())?;
    check(test, "with nothing registered", turns);
    bare.stop().map_err(|death| Failure::Wrong(death.to_string()))?;
    test.all_hold()?;

    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    harness.fence(thread)?;
    let turns = turns_of(harness.core())?;
    check(test, "with descriptors that are not ready", turns);
    harness.finish(test, &[])
}

/// How often the first thread goes round its loop for all the timers, one after the other.
fn turns_of(core: &Arc<FdCore>) -> Result<u64, Failure> {
    let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
    let loops = || core.activity().0.into_iter().find(|(id, _)| *id == thread).map_or(0, |row| row.1.loops);
    let before = loops();
    let (tell, told) = channel();
    let _ = core.post(thread, move |context| next(context, TIMERS, tell));
    told.recv_timeout(patience()).map_err(|_| Failure::Wrong("the timers did not fire".into()))?;
    Ok(loops() - before)
}

fn check(test: &mut TestContext, when: &str, turns: u64) {
    let bound = TIMERS * TURNS_PER_TIMER;
    test.cost(
        format!("turns of the loop for {TIMERS} timers, {when}"),
        format!("at most {bound}"),
        turns,
        "L10: no spin",
        turns <= bound,
    );
}

/// Sets one timer after the other.
fn next(context: &Context, left: u64, tell: Sender<()>) {
    if left == 0 {
        let _ = tell.send(());
        return;
    }
    let delay = DELAYS[left as usize % DELAYS.len()];
    context.after(delay, move |context| next(context, left - 1, tell));
}
