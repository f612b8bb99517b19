//! Work is published while a thread goes to sleep, at each step of that. HAProxy published it too late (bug 17), took a
//! mark for a wake-up and did not look again (bug 30), and passed for awake before it waited (bug 50).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metadata::{Axes, Layer, Transport};

use super::{about, wake};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/work-before-the-wait",
    title: "Work that is published at any step of a thread's way to sleep is done, and so is what comes after",
    layer: Layer::Contract,
    clauses: &["L1", "L2", "bug 17", "bug 30", "bug 50"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let sleeper = harness.thread(0);
    for step in ["WorkDone", "SleepAnnounced", "BeforeWait"] {
        task(test, &mut harness, step)?;
        let mut subject = Endpoint::start(test, &mut harness, sleeper)?;
        let handle = subject.handle;
        harness.core().registration(handle).stop_recv().map_err(Failure::broken)?;
        // Reported once and removed, so that its next want is a change for the poller.
        subject.write(b"one")?;
        harness.fence(sleeper)?;
        let core = Arc::clone(harness.core());
        about(&subject, format!("update at {step}"), "L1")
            .worker("sleeper", sleeper)
            .outsider("other")
            .we("wakes", || wake(&core, &[sleeper]))
            .play(test, &mut harness, &drawing(step, "wants = Ok(())"))?;
        subject.wait_for_bytes(&harness, b"one")?;
        subject.end(&harness)?;
    }
    harness.finish(test, &[])
}

fn drawing(step: &str, work: &str) -> String {
    format!(
        "
        us    | sleeper   | other
        wakes |           |
              | at {step} |
              |           | {work}
              | goes on   |
        "
    )
}

fn task(test: &mut TestContext, harness: &mut Harness, step: &str) -> Result<(), Failure> {
    let sleeper = harness.thread(0);
    let subject = Endpoint::start(test, harness, sleeper)?;
    let core = Arc::clone(harness.core());
    let done = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&done);
    let posts = Arc::clone(&core);
    let post = move || {
        let count = Arc::clone(&count);
        posts.post(sleeper, move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
    };
    let again = post.clone();
    about(&subject, format!("task at {step}"), "L2")
        .worker("sleeper", sleeper)
        .outsider("other")
        .does("posts", move |_| post().is_ok())
        .we("wakes", || wake(&core, &[sleeper]))
        .play(test, harness, &drawing(step, "posts = true"))?;
    harness
        .wait_until(&format!("the task that was posted at {step}"), || done.load(Ordering::SeqCst) == 1)?;
    // What is left of the first wake-up must not pass for the second.
    let _ = again();
    harness.wait_until(&format!("the task after the one that was posted at {step}"), || {
        done.load(Ordering::SeqCst) == 2
    })?;
    drop(again);
    subject.end(harness)
}
