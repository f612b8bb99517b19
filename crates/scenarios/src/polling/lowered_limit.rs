//! `RLIMIT_NOFILE` is lowered below the number of open descriptors, which stay open. Linux's poll(2) then answers `EINVAL`, as
//! it does to more descriptors than the limit: its backend has to look at them in parts. With a limit of zero it may look
//! at none, and its threads look for work in short intervals.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use fd_core::ids::ThreadId;
use fd_core::{FdHandle, InsertOptions, Runtime};
use metadata::{Axes, Layer, Transport};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::persist;
use crate::test_context::{Failure, TestContext, patience};
use crate::transport::{Far, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/lowered-limit",
    title: "With a limit below what is open already, every descriptor is reported, every thread woken, and the stop works",
    layer: Layer::Contract,
    clauses: &["L1", "L2", "L8", "S4"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// How many each thread polls, besides its wake descriptor and its fence.
const EACH: usize = 7;

/// Parts of several sizes, of one descriptor, and no part at all.
const LIMITS: [rlim_t; 4] = [6, 2, 1, 0];

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let mut subjects = Vec::new();
    for thread in harness.threads() {
        for _ in 0..EACH {
            subjects.push(Subject::new(test, &harness, thread)?);
        }
    }
    harness.fence_all()?;
    for limit in LIMITS {
        under(test, &harness, &mut subjects, limit)?;
        test.all_hold()?;
    }
    harness.fence_all()?;
    let written: String = LIMITS.into_iter().map(data).collect();
    for subject in &subjects {
        test.check_eq(subject.about("data"), written.clone(), subject.watch.text(), "S8");
    }
    stopped(test)?;
    let counters = harness.core().activity().0;
    test.count("waits in parts", counters.iter().map(|(_, counters)| counters.poll_degraded).sum());
    drop(subjects);
    harness.finish(test, &[])
}

/// What is written while the limit is so low.
fn data(limit: rlim_t) -> String {
    format!("{limit};")
}

/// Every thread is woken, every timer fires, and every descriptor is reported: if the limit is zero, once it is raised.
fn under(
    test: &mut TestContext,
    harness: &Harness,
    subjects: &mut [Subject],
    limit: rlim_t,
) -> Result<(), Failure> {
    let lowered = Lowered::to(limit)?;
    for subject in &mut *subjects {
        subject.far.write_all(data(limit).as_bytes()).map_err(Failure::broken)?;
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
    let told = |subject: &Subject| subject.watch.text().ends_with(&data(limit));
    let wait = || {
        let every = || subjects.iter().all(told);
        harness.wait_until(&format!("limit {limit}: every descriptor's data"), every)
    };
    if limit > 0 {
        wait()?;
    }
    drop(lowered);
    wait()
}

/// A runtime stops while the limit is below what it polls.
fn stopped(test: &mut TestContext) -> Result<(), Failure> {
    let prepared =
        persist::prepare(|| Runtime::builder().group(1), test.make).map_err(Failure::from_start)?;
    let core = prepared.core();
    let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
    let mut watched = Vec::new();
    for _ in 0..EACH {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let watch = HandlerMonitor::new(&ends.near);
        let (group, mask) = (thread.group(), thread.mask());
        let inserted = core.insert(ends.near, watch.recording(), group, mask, InsertOptions::default());
        core.registration(inserted.map_err(Failure::broken)?).want_recv().map_err(Failure::broken)?;
        watched.push((watch, ends.far));
    }
    let runtime = prepared.start().map_err(Failure::from_start)?;
    let lowered = Lowered::to(1)?;
    let (ran, has_run) = channel();
    let _ = runtime.core().post(thread, move |_| {
        let _ = ran.send(());
    });
    let has_run = has_run.recv_timeout(patience()).is_ok();
    test.check_eq("a task of the thread that is stopped", true, has_run, "L2");
    test.all_hold()?;
    runtime.stop().map_err(|death| Failure::Wrong(death.to_string()))?;
    drop(lowered);
    let dropped: usize = watched.iter().map(|(watch, _)| watch.dropped()).sum();
    test.check_eq("handlers dropped by the stop", EACH, dropped, "L8, S4");
    Ok(())
}

/// The soft limit, lowered until this is dropped.
struct Lowered {
    before: (rlim_t, rlim_t),
}

impl Lowered {
    fn to(limit: rlim_t) -> Result<Self, Failure> {
        let before = getrlimit(Resource::RLIMIT_NOFILE).map_err(Failure::broken)?;
        setrlimit(Resource::RLIMIT_NOFILE, limit, before.1).map_err(Failure::broken)?;
        Ok(Self { before })
    }
}

impl Drop for Lowered {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, self.before.0, self.before.1);
    }
}

/// One descriptor that is polled.
struct Subject {
    watch: Arc<HandlerMonitor>,
    handle: FdHandle,
    thread: ThreadId,
    far: Far,
}

impl Subject {
    fn new(test: &TestContext, harness: &Harness, thread: ThreadId) -> Result<Self, Failure> {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let watch = HandlerMonitor::new(&ends.near);
        let handle = harness.insert(ends.near, watch.recording(), thread)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        Ok(Self { watch, handle, thread, far: ends.far })
    }

    fn about(&self, what: &str) -> String {
        format!("{what} of number {} on thread {}", self.handle.number(), self.thread)
    }
}
