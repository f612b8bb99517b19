//! Work is published at each step on a thread's way to sleep. HAProxy published it too late (bug 17), mistook
//! a mark for a wake-up and did not check again (bug 30), was considered awake before it waited (bug 50), and
//! changed its two marks one after the other (bug 86).

use std::sync::atomic::{AtomicU64, Ordering};

use super::{about, wake};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/work-before-the-wait",
    title: "Work that is published at any step on a thread's way to sleep is done, and so is later work",
    layer: Layer::Contract,
    clauses: &["L1", "L2", "bug 17", "bug 30", "bug 50", "bug 86"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let sleeper = harness.thread(0);
    for step in ["WorkDone", "SleepAnnounced", "BeforeWait"] {
        task(test, &mut harness, step)?;
        let mut endpoint = Endpoint::start(test, &mut harness, sleeper)?;
        let handle = endpoint.handle;
        harness.registration(handle).stop_recv()?;
        // Reported once and removed, so that the next want changes the poller.
        endpoint.send(&harness, b"one")?;
        harness.fence(sleeper)?;
        let core = Arc::clone(harness.core());
        about(&endpoint, format!("update at {step}"), "L1")
            .worker("sleeper", sleeper)
            .outsider("other")
            .main_action("wakes", || wake(&core, &[sleeper]))
            .run(test, &mut harness, &drawing(step, "wants = Ok(())"))?;
        endpoint.wait_for_bytes(&harness, b"one")?;
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}

fn drawing(step: &str, work: &str) -> String {
    format!(
        "
        main  | sleeper   | other
        wakes |           |
              | at {step} |
              |           | {work}
              | continues |
        "
    )
}

fn task(test: &mut TestContext, harness: &mut Harness, step: &str) -> Result {
    let sleeper = harness.thread(0);
    let endpoint = Endpoint::start(test, harness, sleeper)?;
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
    about(&endpoint, format!("task at {step}"), "L2")
        .worker("sleeper", sleeper)
        .outsider("other")
        .action("posts", move |_| post().is_ok())
        .main_action("wakes", || wake(&core, &[sleeper]))
        .run(test, harness, &drawing(step, "posts = true"))?;
    harness
        .wait_until(&format!("the task that was posted at {step}"), || done.load(Ordering::SeqCst) == 1)?;
    // A leftover of the first wake-up must not count as the second one.
    let _ = again();
    harness.wait_until(&format!("the task after the one that was posted at {step}"), || {
        done.load(Ordering::SeqCst) == 2
    })?;
    drop(again);
    endpoint.end(harness)
}
