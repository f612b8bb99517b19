//! A signal ends a wait with `EINTR`, also with `SA_RESTART` for poll(2), select(2) and epoll_wait(2)
//! (signal(7)). That is neither an error nor an event: the thread iterates, and waits again for the rest of
//! the time.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nix::libc::c_int;
use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/interrupted-wait",
    title: "A signal that interrupts a wait fires no timer early, and data that arrive later are reported once",
    layer: Layer::Contract,
    clauses: &["L4", "L10", "T05"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// Waits to interrupt, with a timer and without.
const WAITS: u64 = 8;
/// Longer than it takes to interrupt some waits.
const TIMER: Duration = Duration::from_millis(50);

/// A signal without a handler ends the process.
extern "C" fn handler(_: c_int) {}

/// The thread that the signals are sent to.
struct Sleeper(Pthread);

// SAFETY: some systems define it as a pointer, but nothing here dereferences it: pthread_kill(3) accepts it
// from any thread.
unsafe impl Send for Sleeper {}

fn run(test: &mut TestContext) -> Result {
    let action = SigAction::new(SigHandler::Handler(handler), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing, and no other code handles this signal.
    unsafe { sigaction(Signal::SIGUSR2, &action) }?;
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handle = harness.insert_recv(ends.near, monitor.recording(), thread)?;
    let sleeper = harness.on(thread, |_| Sleeper(pthread_self()))?;
    harness.fence(thread)?;

    let (sender, receiver) = channel();
    harness.on(thread, move |context| {
        let began = Instant::now();
        context.after(TIMER, move |_| {
            let _ = sender.send(began.elapsed());
        });
    })?;
    interrupt(&harness, &sleeper, "with a timer")?;
    let took = receiver.recv_timeout(patience());
    let took = took.map_err(|_| Failure::Wrong("the timer did not fire".into()))?;
    test.check("the timer", format!("not before {TIMER:?}"), format!("{took:?}"), "L10", took >= TIMER);
    test.stop_if_failed()?;

    interrupt(&harness, &sleeper, "without a timer")?;
    ends.far.write_all(b"data")?;
    harness.wait_until("the data", || monitor.text() == "data")?;
    harness.fence(thread)?;
    test.check_eq("handler calls", 1, monitor.calls(), "S8");
    harness.registration(handle).delete()?;
    drop(ends.far);
    harness.finish(test, &[])
}

/// Sends signals until they have interrupted some waits. Only signals end waits here: no descriptor is ready,
/// and at most one timer is set.
fn interrupt(harness: &Harness, sleeper: &Sleeper, when: &str) -> Result {
    let iterations = || harness.activity(harness.thread(0)).loops;
    let enough = iterations() + WAITS;
    let mut sent = Ok(());
    harness.wait_until(&format!("{WAITS} waits are interrupted, {when}"), || {
        // A signal between two waits interrupts none.
        sent = sent.and_then(|()| pthread_kill(sleeper.0, Signal::SIGUSR2));
        sent.is_err() || iterations() >= enough
    })?;
    sent.map_err(Failure::broken)
}
