//! A thread has more tasks and timers than it can run at once.
//!
//! Its descriptors have their turn nevertheless, and a stop does not wait for the rest: two posters of empty
//! tasks delayed an echo by seconds, and so did timers of one moment. With a clock that stands still, a timer
//! that sets itself again with no delay kept the thread for ever.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fd_core::hooks::inject;

use crate::manual_clock::ManualClock;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/work-beside-events",
    title: "Between tasks and timers that do not end, a thread serves its descriptors, and a stop does not wait for them",
    layer: Layer::Contract,
    clauses: &["L8", "L11", "core 22", "core 23"],
    // A byte in a pipe has arrived when its write returns.
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

const TASKS: u64 = 3000;

/// Tasks that may run between a write and its report: those of two iterations of the loop.
const BETWEEN: u64 = 200;

/// As [`BETWEEN`], while errors are injected: the waits of several iterations in succession may fail.
const BETWEEN_WITH_ERRORS: u64 = 1000;

fn run(test: &mut TestContext) -> Result {
    let harness = Harness::start_with_clock(test, &ManualClock::new())?;
    let thread = harness.thread(0);
    let ends = test.pair()?;
    let (ran, ran_at_report) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let handler = {
        let (ran, ran_at_report) = (Arc::clone(&ran), Arc::clone(&ran_at_report));
        move |ready: &ReadyGuard<'_>| {
            let _ = read_all(ready, &mut Vec::new());
            unpoisoned(&ran_at_report).push(ran.load(Ordering::SeqCst));
        }
    };
    let handle = harness.insert_recv(ends.near, Arc::new(handler), thread)?;
    let far = Arc::new(Mutex::new(ends.far));
    let reports = || unpoisoned(&ran_at_report).len();

    // A registration that injected errors refuse is tried again only later.
    harness.wait_until_polled(handle, thread.mask())?;
    beside_tasks(&harness, &ran, &far)?;
    harness.wait_until("every task has run", || ran.load(Ordering::SeqCst) == TASKS)?;
    harness.wait_until("the report", || reports() == 1)?;
    let between = unpoisoned(&ran_at_report)[0];
    let most = if inject::is_on() { BETWEEN_WITH_ERRORS } else { BETWEEN };
    let expected = format!("at most {most} of {TASKS}");
    test.check("tasks before the report", expected, between, "L11", between <= most);

    let stop = beside_a_timer(&harness, &far)?;
    harness.wait_until("the report beside a timer that sets itself again", || reports() == 2)?;
    stop.store(true, Ordering::SeqCst);

    drop(far);
    ran.store(0, Ordering::SeqCst);
    let held = harness.hold(thread)?;
    let guard = held.guard();
    harness.core().post(thread, |context| context.core().request_stop())?;
    post(&harness, &ran)?;
    drop(guard);
    // The task stops the runtime, and not this thread: the others have been taken with it.
    harness.wait_until("the stop", || harness.core().is_stopping())?;
    harness.finish_with(test, &[], |test, runtime| {
        let stopped = runtime.stop().map_err(|error| Failure::Wrong(error.to_string()));
        test.check_eq("tasks that ran after the stop", 0, ran.load(Ordering::SeqCst), "L8");
        stopped
    })
}

/// Posts tasks that count, while their thread is held. The first one makes the descriptor ready.
fn beside_tasks(harness: &Harness, ran: &Arc<AtomicU64>, far: &Arc<Mutex<FarEnd>>) -> Result {
    let thread = harness.thread(0);
    let held: Gate = harness.hold(thread)?;
    let guard = held.guard();
    let writer = Arc::clone(far);
    let write = move |_: &Context| unpoisoned(&writer).write_all(b"x").expect("the pipe has room");
    harness.core().post(thread, write)?;
    post(harness, ran)?;
    drop(guard);
    Ok(())
}

/// Posts tasks that count.
fn post(harness: &Harness, ran: &Arc<AtomicU64>) -> Result {
    for _ in 0..TASKS {
        let ran = Arc::clone(ran);
        let count = move |_: &Context| _ = ran.fetch_add(1, Ordering::SeqCst);
        harness.core().post(harness.thread(0), count)?;
    }
    Ok(())
}

/// Sets a timer that sets itself again with no delay, until the returned flag is set. Its first run makes the
/// descriptor ready.
fn beside_a_timer(harness: &Harness, far: &Arc<Mutex<FarEnd>>) -> Result<Arc<AtomicBool>> {
    fn again(context: &Context, stop: Arc<AtomicBool>) {
        if !stop.load(Ordering::SeqCst) {
            context.after(Duration::ZERO, move |context| again(context, stop));
        }
    }
    let (stop, writer) = (Arc::new(AtomicBool::new(false)), Arc::clone(far));
    let flag = Arc::clone(&stop);
    let begin = move |context: &Context| {
        context.after(Duration::ZERO, move |context| {
            unpoisoned(&writer).write_all(b"x").expect("the pipe has room");
            again(context, flag);
        });
    };
    harness.core().post(harness.thread(0), begin)?;
    Ok(stop)
}
