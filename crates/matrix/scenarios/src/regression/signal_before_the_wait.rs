//! A signal arrives at each step on its thread's way to sleep. HAProxy saw it after the wait only, and later
//! let it keep every thread from waiting (bug 62).

use std::sync::atomic::{AtomicU64, Ordering};

use fd_core::Builder;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{about, wake};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/signal-before-the-wait",
    title: "A signal at any step on its thread's way to sleep is handled at once, and by no other thread",
    layer: Layer::Contract,
    clauses: &["L2", "L8", "bug 62"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let handled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&handled);
    let configure = |builder: Builder| {
        let count = Arc::clone(&count);
        builder.signal(Signal::SIGUSR1 as i32, move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
    };
    let mut harness = Harness::start_with(test, configure, |_| Ok(()))?;
    // The first thread handles all signals.
    let (sleeper, other) = (harness.thread(0), harness.thread(1));
    for step in ["WorkDone", "SleepAnnounced", "BeforeWait"] {
        let endpoint = Endpoint::start(test, &mut harness, sleeper)?;
        let core = Arc::clone(harness.core());
        let (before, others) = (handled.load(Ordering::SeqCst), harness.activity(other));
        let raises = || kill(Pid::this(), Signal::SIGUSR1).map_err(Failure::broken);
        let drawing = format!(
            "
            main   | sleeper   | other
            wakes  |           |
                   | at {step} |
            raises |           |
                   |           | ends
                   | continues |
            "
        );
        about(&endpoint, format!("signal at {step}"), "L2, bug 62")
            .worker("sleeper", sleeper)
            .worker("other", other)
            .main_action("wakes", || wake(&core, &[sleeper]))
            .main_action("raises", raises)
            .run(test, &mut harness, &drawing)?;
        harness.wait_until(&format!("the signal that was raised at {step}"), || {
            handled.load(Ordering::SeqCst) > before
        })?;
        let since = harness.activity(other).since(&others);
        let what = format!("sleeps of {other} that it prevented");
        test.check_eq(what, 0, since.wake_tasks + since.wake_signal, "bug 62");
        test.stop_if_failed()?;
        endpoint.end(&harness)?;
    }
    // A pending signal does not keep a thread from ending.
    kill(Pid::this(), Signal::SIGUSR1)?;
    harness.finish(test, &[])
}
