//! Timers use a clock that only this scenario advances: no real time passes for them. A thread that computes
//! its wait from the time at which its iteration began sleeps past a timer that became due during its own
//! work (200 ms became 301 ms here).

use std::rc::Rc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fastrand::Rng;

use crate::manual_clock::ManualClock;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/timer-after-work",
    title: "Timers fire in order, never early, and before the next wait if they became due during other work",
    layer: Layer::Contract,
    clauses: &["L10", "T02", "core 4", "core 13"],
    // No descriptor is under test.
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Waits, and pieces of work, of an hour each.
const STEPS: u32 = 25;
/// Timers at random times of one day, on each thread.
const TIMERS: usize = 40;

fn run(test: &mut TestContext) -> Result {
    let clock = ManualClock::new();
    let mut harness = Harness::start_with_clock(test, &clock)?;
    let (never, dropped) = channel();
    for thread in harness.threads() {
        let never = never.clone();
        harness.on(thread, move |context| {
            for delay in [Duration::MAX, Duration::from_secs(u64::MAX)] {
                set_endless_timer(context, delay, never.clone());
            }
        })?;
        wait_and_work(test, &harness, &clock, thread)?;
    }
    drop(never);
    random(test, &mut harness, &clock)?;
    test.check_eq("timers without an end that fired", 0, dropped.try_iter().count(), "core 13");
    harness.finish(test, &[])?;
    let left = dropped.recv().is_ok();
    let what = "timers without an end that fired or stayed when the runtime stopped";
    test.check_eq(what, false, left, "core 6");
    Ok(())
}

fn set_endless_timer(context: &Context, delay: Duration, sender: Sender<()>) {
    context.after(delay, move |_| {
        let _ = sender.send(());
    });
}

/// Sets a timer of an hour, works for an hour, and repeats that in the timer: each timer is due when the work
/// is done, so no time is lost between two of them.
fn wait_and_work(test: &mut TestContext, harness: &Harness, clock: &ManualClock, thread: ThreadId) -> Result {
    fn step(context: &Context, clock: &ManualClock, left: u32, fired: Sender<Duration>) {
        let _ = fired.send(clock.passed());
        if left > 0 {
            let later = clock.clone();
            context.after(HOUR, move |context| step(context, &later, left - 1, fired));
            clock.advance(HOUR);
        }
    }
    let (sender, receiver) = channel();
    let (began, works) = (clock.passed(), clock.clone());
    harness.on(thread, move |context| step(context, &works, STEPS, sender))?;
    let mut fired = Vec::new();
    harness.wait_until(&format!("{STEPS} timers, each due when the work before it is done"), || {
        fired.extend(receiver.try_iter().map(|at| (at - began).as_secs() / 60));
        fired.len() > STEPS as usize
    })?;
    let expected: Vec<_> = (0..=u64::from(STEPS)).map(|step| 60 * step).collect();
    let what = format!("when the timers of {thread} fired, in minutes");
    test.check_debug(what, expected, fired, "core 4: no drift");
    test.stop_if_failed()
}

/// The timers that have fired: the thread's index, the delay of the timer, and its place in the order of
/// setting.
type Fired = Arc<Mutex<Vec<(usize, (Duration, usize))>>>;

/// Sets timers at random times, and advances the clock in random steps.
fn random(test: &mut TestContext, harness: &mut Harness, clock: &ManualClock) -> Result {
    let mut random = Rng::with_seed(test.seed);
    let (began, fired) = (clock.passed(), Fired::default());
    let mut due = Vec::new();
    for (index, thread) in harness.threads().into_iter().enumerate() {
        // Few different times: some timers are due together, and fire in the order in which they were set.
        let delays: Vec<_> = (0..TIMERS).map(|_| MINUTE * 30 * random.u32(1..=48)).collect();
        let mut expected: Vec<_> = delays.iter().copied().zip(0..).collect();
        expected.sort_unstable();
        due.push(expected);
        let fired = Arc::clone(&fired);
        harness.on(thread, move |context| {
            // A timer's closure need not be Send.
            let fired = Rc::new(fired);
            for (order, delay) in delays.into_iter().enumerate() {
                let fired = Rc::clone(&fired);
                context.after(delay, move |_| unpoisoned(&fired).push((index, (delay, order))));
            }
        })?;
    }
    while clock.passed() - began <= HOUR * 24 {
        clock.advance(MINUTE * random.u32(1..200));
        // The threads sleep in real time. A fence is two events: before the second one the thread has checked
        // its timers.
        harness.fence_all()?;
        let now = clock.passed() - began;
        for (index, timers) in due.iter().enumerate() {
            let fired = unpoisoned(&fired).clone();
            let observed: Vec<_> =
                fired.iter().filter(|(of, _)| *of == index).map(|(_, timer)| *timer).collect();
            let expected: Vec<_> = timers.iter().copied().filter(|(due, _)| *due <= now).collect();
            let what =
                format!("timers of thread {index} that have fired after {} minutes", now.as_secs() / 60);
            test.check_debug(what, expected, observed, "L10, T02");
        }
        test.stop_if_failed()?;
    }
    Ok(())
}
