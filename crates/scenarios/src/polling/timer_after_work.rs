//! Timers go by a clock that only this scenario advances: no real time passes for them. A thread that computes its wait from
//! the time at which its iteration began sleeps past a timer that its own work has made due (200 ms became 301 ms here).

use std::rc::Rc;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use fd_core::Context;
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::deletion::registration::unpoisoned;
use crate::harness::Harness;
use crate::still_clock::StillClock;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/timer-after-work",
    title: "Timers fire in order, never early, and before the next wait if work has made them due, whatever the delay",
    layer: Layer::Contract,
    clauses: &["L10", "T02", "core 4", "core 13"],
    // Nothing is there to be reported.
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Waits and works of an hour each.
const STEPS: u32 = 25;
/// Timers at random times of one day, on each thread.
const TIMERS: usize = 40;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let clock = StillClock::new();
    let mut harness = Harness::start_by(test, &clock)?;
    let (never, dropped) = channel();
    for thread in harness.threads() {
        let never = never.clone();
        harness.on(thread, move |context| {
            for delay in [Duration::MAX, Duration::from_secs(u64::MAX)] {
                tell_never(context, delay, never.clone());
            }
        })?;
        wait_and_work(test, &harness, &clock, thread)?;
    }
    drop(never);
    random(test, &mut harness, &clock)?;
    test.check_eq("timers without an end that fired", 0, dropped.try_iter().count(), "core 13");
    harness.finish(test, &[])?;
    let left = dropped.recv().is_ok();
    test.check_eq(
        "timers without an end that fired or stayed when the runtime stopped",
        false,
        left,
        "core 6",
    );
    Ok(())
}

fn tell_never(context: &Context, delay: Duration, tell: Sender<()>) {
    context.after(delay, move |_| {
        let _ = tell.send(());
    });
}

/// Sets a timer for the next hour, works for an hour, and so on: each timer is due when the work is done, so no hour is lost
/// between two of them.
fn wait_and_work(
    test: &mut TestContext,
    harness: &Harness,
    clock: &StillClock,
    thread: fd_core::ids::ThreadId,
) -> Result<(), Failure> {
    fn step(context: &Context, clock: &StillClock, left: u32, fired: Sender<Duration>) {
        let _ = fired.send(clock.passed());
        if left > 0 {
            let later = clock.clone();
            context.after(HOUR, move |context| step(context, &later, left - 1, fired));
            clock.advance(HOUR);
        }
    }
    let (tell, told) = channel();
    let (began, works) = (clock.passed(), clock.clone());
    harness.on(thread, move |context| step(context, &works, STEPS, tell))?;
    let mut fired = Vec::new();
    harness.wait_until(&format!("{STEPS} timers, each due when the work before it is done"), || {
        fired.extend(told.try_iter().map(|at| (at - began).as_secs() / 60));
        fired.len() > STEPS as usize
    })?;
    let expected: Vec<_> = (0..=u64::from(STEPS)).map(|step| 60 * step).collect();
    let what = format!("when the timers of {thread} fired, in minutes");
    test.check_eq(what, format!("{expected:?}"), format!("{fired:?}"), "core 4: no drift");
    test.all_hold()
}

/// What has fired, on all threads: the thread's index, and when each timer was due and set.
type Fired = Arc<Mutex<Vec<(usize, (Duration, usize))>>>;

/// Timers at random times, and a clock that goes on in random steps.
fn random(test: &mut TestContext, harness: &mut Harness, clock: &StillClock) -> Result<(), Failure> {
    let mut random = Rng::with_seed(test.seed);
    let (began, fired) = (clock.passed(), Fired::default());
    let mut due = Vec::new();
    for (index, thread) in harness.threads().into_iter().enumerate() {
        // Few different times: some are due at once, and fire in the order in which they were set.
        let delays: Vec<_> = (0..TIMERS).map(|_| MINUTE * 30 * random.u32(1..=48)).collect();
        let mut expected: Vec<_> = delays.iter().copied().zip(0..).collect();
        expected.sort_unstable();
        due.push(expected);
        let fired = Arc::clone(&fired);
        harness.on(thread, move |context| {
            // What a timer holds need not be Send.
            let fired = Rc::new(fired);
            for (order, delay) in delays.into_iter().enumerate() {
                let fired = Rc::clone(&fired);
                context.after(delay, move |_| unpoisoned(&fired).push((index, (delay, order))));
            }
        })?;
    }
    while clock.passed() - began <= HOUR * 24 {
        clock.advance(MINUTE * random.u32(1..200));
        // The threads sleep in real time. Two events each: before the second one the timers have been looked at.
        harness.fence_all()?;
        let now = clock.passed() - began;
        for (index, timers) in due.iter().enumerate() {
            let fired = unpoisoned(&fired).clone();
            let observed: Vec<_> =
                fired.iter().filter(|(of, _)| *of == index).map(|(_, timer)| *timer).collect();
            let expected: Vec<_> = timers.iter().copied().filter(|(due, _)| *due <= now).collect();
            let what =
                format!("timers of thread {index} that have fired after {} minutes", now.as_secs() / 60);
            test.check_eq(what, format!("{expected:?}"), format!("{observed:?}"), "L10, T02");
        }
        test.all_hold()?;
    }
    Ok(())
}
