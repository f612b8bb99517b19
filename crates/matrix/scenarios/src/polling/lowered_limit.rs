//! `RLIMIT_NOFILE` is lowered below the number of open descriptors, which stay open. Linux's poll(2) returns
//! `EINVAL` for more descriptors than the limit: the backend has to poll them in parts. With a limit of zero
//! it cannot poll any descriptor, and its threads check for work at short intervals.

use std::sync::mpsc::channel;
use std::time::Duration;

use fd_core::Runtime;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::retry;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/lowered-limit",
    title: "With a limit below the number of open descriptors, all are reported, every thread is woken, and the stop works",
    layer: Layer::Contract,
    clauses: &["L1", "L2", "L8", "S4"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Descriptors that each thread polls, besides its wake descriptor and its fence.
const EACH: usize = 7;

/// Parts of several descriptors, parts of one, and none.
const LIMITS: [rlim_t; 4] = [6, 2, 1, 0];

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let mut endpoints = Vec::new();
    for thread in harness.threads() {
        for _ in 0..EACH {
            endpoints.push(Endpoint::new(test, &harness, thread)?);
        }
    }
    harness.fence_all()?;
    for limit in LIMITS {
        under(test, &harness, &mut endpoints, limit)?;
        test.stop_if_failed()?;
    }
    harness.fence_all()?;
    let written: String = LIMITS.into_iter().map(data).collect();
    for endpoint in &endpoints {
        test.check_eq(endpoint.about("data"), written.clone(), endpoint.monitor.text(), "S8");
    }
    stop_under_limit(test)?;
    let counters = harness.core().activity().0;
    test.record_counter("waits in parts", counters.iter().map(|(_, counters)| counters.poll_degraded).sum());
    drop(endpoints);
    harness.finish(test, &[])
}

/// Returns the data that are written under this limit.
fn data(limit: rlim_t) -> String {
    format!("{limit};")
}

/// Checks that every thread is woken, every timer fires, and every descriptor is reported. If the limit is
/// zero, the reports come once it is raised.
fn under(test: &mut TestContext, harness: &Harness, endpoints: &mut [Endpoint], limit: rlim_t) -> Result {
    let lowered = Lowered::to(limit)?;
    for endpoint in &mut *endpoints {
        endpoint.far.write_all(data(limit).as_bytes())?;
    }
    let is_read = |endpoint: &Endpoint| endpoint.monitor.text().ends_with(&data(limit));
    let wait = || {
        let every = || endpoints.iter().all(is_read);
        harness.wait_until(&format!("limit {limit}: every descriptor's data"), every)
    };
    if limit > 0 {
        // Before a task wakes the threads.
        wait()?;
    }
    for thread in harness.threads() {
        let (fire, fired) = channel();
        harness.on(thread, move |context| {
            context.after(Duration::from_millis(1), move |_| {
                let _ = fire.send(());
            });
        })?;
        let fired = fired.recv_timeout(patience()).is_ok();
        test.check_eq(format!("limit {limit}: the timer of thread {thread}"), true, fired, "L10");
    }
    drop(lowered);
    wait()
}

/// Stops a runtime while the limit is below the number of descriptors that it polls.
fn stop_under_limit(test: &mut TestContext) -> Result {
    let prepared = retry::prepare(|| Runtime::builder().group(1), test.make).map_err(Failure::from_start)?;
    let core = prepared.core();
    let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
    let mut watched = Vec::new();
    for _ in 0..EACH {
        let ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        let (group, mask) = (thread.group(), thread.mask());
        let inserted = core.insert(ends.near, monitor.recording(), group, mask, InsertOptions::default());
        core.registration(inserted?).want_recv()?;
        watched.push((monitor, ends.far));
    }
    let runtime = prepared.start().map_err(Failure::from_start)?;
    let lowered = Lowered::to(1)?;
    let (ran, has_run) = channel();
    let _ = runtime.core().post(thread, move |_| {
        let _ = ran.send(());
    });
    let has_run = has_run.recv_timeout(patience()).is_ok();
    test.check_eq("a task of the runtime that is stopped", true, has_run, "L2");
    test.stop_if_failed()?;
    runtime.stop().map_err(|error| Failure::Wrong(error.to_string()))?;
    drop(lowered);
    let dropped: usize = watched.iter().map(|(monitor, _)| monitor.dropped()).sum();
    test.check_eq("handlers dropped by the stop", EACH, dropped, "L8, S4");
    Ok(())
}

/// The soft limit, lowered until this is dropped.
struct Lowered {
    before: (rlim_t, rlim_t),
}

impl Lowered {
    fn to(limit: rlim_t) -> Result<Self> {
        let before = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, limit, before.1)?;
        Ok(Self { before })
    }
}

impl Drop for Lowered {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, self.before.0, self.before.1);
    }
}

/// One descriptor that is polled.
struct Endpoint {
    monitor: Arc<HandlerMonitor>,
    handle: FdHandle,
    thread: ThreadId,
    far: FarEnd,
}

impl Endpoint {
    fn new(test: &TestContext, harness: &Harness, thread: ThreadId) -> Result<Self> {
        let ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        let handle = harness.insert_recv(ends.near, monitor.recording(), thread)?;
        Ok(Self { monitor, handle, thread, far: ends.far })
    }

    fn about(&self, what: &str) -> String {
        format!("{what} of number {} on thread {}", self.handle.number(), self.thread)
    }
}
