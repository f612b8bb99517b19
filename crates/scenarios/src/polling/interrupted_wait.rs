//! A signal ends a wait with `EINTR`, and no `SA_RESTART` changes that of poll(2), select(2) and epoll_wait(2) (signal(7)). It
//! is neither an error nor an event: the thread looks around, and waits again for what is left of the time.

use std::io::Write;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use metadata::{Axes, Layer, Transport};
use nix::libc::c_int;
use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext, patience};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/interrupted-wait",
    title: "A signal that ends a wait ends nothing else: the timer is not early, and data are reported once",
    layer: Layer::Contract,
    clauses: &["L4", "L10", "T05"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// Waits to interrupt, each time.
const WAITS: u64 = 8;
/// Longer than it takes to interrupt some of them.
const TIMER: Duration = Duration::from_millis(50);

/// A signal without a handler ends the process.
extern "C" fn handler(_: c_int) {}

/// Where a signal goes.
struct Sleeper(Pthread);

// SAFETY: where it is a pointer, nobody here follows it: pthread_kill(3) takes it from any thread.
unsafe impl Send for Sleeper {}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let action = SigAction::new(SigHandler::Handler(handler), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing, and nobody else handles this signal.
    unsafe { sigaction(Signal::SIGUSR2, &action) }.map_err(Failure::broken)?;
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&ends.near);
    let handle = harness.insert(ends.near, watch.recording(), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let sleeper = harness.on(thread, |_| Sleeper(pthread_self()))?;
    harness.fence(thread)?;

    let (tell, told) = channel();
    harness.on(thread, move |context| {
        let began = Instant::now();
        context.after(TIMER, move |_| {
            let _ = tell.send(began.elapsed());
        });
    })?;
    interrupt(&harness, &sleeper, "with a timer")?;
    let took = told.recv_timeout(patience());
    let took = took.map_err(|_| Failure::Wrong("the timer never came".into()))?;
    test.check("the timer", format!("not before {TIMER:?}"), format!("{took:?}"), "L10", took >= TIMER);
    test.all_hold()?;

    interrupt(&harness, &sleeper, "without a timer")?;
    ends.far.write_all(b"data").map_err(Failure::broken)?;
    harness.wait_until("the data", || watch.text() == "data")?;
    harness.fence(thread)?;
    test.check_eq("handler calls", 1, watch.calls(), "S8");
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    drop(ends.far);
    harness.finish(test, &[])
}

/// Sends signals until they have ended some waits. Nothing else does: there is nothing to report, and one timer at most.
fn interrupt(harness: &Harness, sleeper: &Sleeper, when: &str) -> Result<(), Failure> {
    let turns = || harness.activity(harness.thread(0)).loops;
    let enough = turns() + WAITS;
    let mut sent = Ok(());
    harness.wait_until(&format!("{WAITS} waits are interrupted, {when}"), || {
        // One that comes between two waits interrupts none.
        sent = sent.and_then(|()| pthread_kill(sleeper.0, Signal::SIGUSR2));
        sent.is_err() || turns() >= enough
    })?;
    sent.map_err(Failure::broken)
}
