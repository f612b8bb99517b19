//! Every thread takes connections from every other thread, continuously and under traffic.
//!
//! This covers the interleavings that cannot be forced one by one. The method is that of `cd8914bc5`: threads
//! are delayed wherever only one of two masks has been changed.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fd_core::OwnerId;
use fd_core::error::MoveError;

use super::stream::Connection;
use crate::prelude::*;
use crate::threads::spawn;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-storm",
    title: "No data is lost or duplicated while threads take FDs from each other",
    layer: Layer::Contract,
    clauses: &["S1", "S2", "S3", "L1", "L5", "L9", "M1", "M10", "bug 42", "bug 66"],
    axes: Axes { threads: &[2, 4, 8], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const CONNECTIONS: usize = 6;
/// Numbers sent through each connection, four bytes each.
const FRAMES: u32 = 4000;
/// Those that are sent while threads take connections.
const FRAMES_OF_STORM: u32 = FRAMES / 4 * 3;

#[derive(Default)]
struct Workload {
    connections: Vec<Arc<Connection>>,
    stop: AtomicBool,
    /// Threads that still take connections.
    active_threads: AtomicU64,
    taken: AtomicU64,
    /// Takeovers that succeeded while another thread was reading.
    concurrent: AtomicU64,
    busy: AtomicU64,
    refused: Mutex<Vec<MoveError>>,
}

impl Workload {
    /// Takes one connection, and schedules the next takeover for the next iteration.
    fn take_one(self: Arc<Self>, context: &Context) {
        if self.stop.load(Ordering::SeqCst) {
            self.active_threads.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let connection = &self.connections[fastrand::usize(..self.connections.len())];
        let Some(handle) = connection.handle.get().copied() else { return };
        match context.takeover(handle, OwnerId::of(connection)) {
            Ok(()) => {
                self.taken.fetch_add(1, Ordering::Relaxed);
                self.check_exclusive(context, connection, handle);
                if fastrand::u8(..4) == 0 {
                    // Another thread may have taken it again already.
                    let _ = context.enter(handle, |ready| connection.read(ready));
                }
                let _ = context.registration(handle).want_recv();
            }
            Err(MoveError::Busy) => {
                self.busy.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => unpoisoned(&self.refused).push(error),
        }
        let core = Arc::clone(context.core());
        let _ = core.post(context.id(), move |context| self.take_one(context));
    }

    /// Waits until every connection has read `frames`: as long as frames arrive, there is no time limit.
    fn have_read(&self, harness: &Harness, frames: u32) -> Result {
        let read = || self.connections.iter().map(|connection| connection.received()).collect::<Vec<_>>();
        loop {
            let before = read();
            if before.iter().all(|read| *read >= frames) {
                return Ok(());
            }
            harness.wait_until("a connection reads another frame", || read() != before).map_err(
                |stalled| Failure::Wrong(format!("frames read of {frames}: {before:?}; {stalled}")),
            )?;
        }
    }

    /// Checks that no thread is reading right after a takeover, before this thread's own next step. If the
    /// connection still belongs to this thread after the check, it belonged to it during the check: only a
    /// takeover by this thread would make it the owner again.
    fn check_exclusive(&self, context: &Context, connection: &Connection, handle: FdHandle) {
        let has_reader = connection.has_reader();
        let Ok(entry) = context.core().entry(handle) else { return };
        if has_reader && entry.group == context.id().group() && entry.thread_mask == context.id().mask() {
            self.concurrent.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let mut fars = Vec::new();
    let mut connections = Vec::new();
    for index in 0..CONNECTIONS {
        let ends = test.pair()?;
        let connection = Connection::new(test.trigger);
        let handle = harness.insert(ends.near, connection.clone(), harness.thread(index))?;
        let _ = connection.handle.set(handle);
        harness.registration(handle).want_recv()?;
        connections.push(connection);
        fars.push(ends.far);
    }
    let threads = harness.threads();
    let workload = Arc::new(Workload {
        connections,
        active_threads: AtomicU64::new(threads.len() as u64),
        ..Workload::default()
    });
    let delays = Checkpoints::with_listener(|point, _| delay(point));
    for (index, thread) in threads.iter().enumerate() {
        let (workload, seed) = (Arc::clone(&workload), test.seed.wrapping_add(1 + index as u64));
        let _ = harness.core().post(*thread, move |context| {
            fastrand::seed(seed);
            workload.take_one(context);
        });
    }
    let seed = test.seed;
    // Not joined if the scenario fails: the stop closes the near ends, which ends the writer.
    let writer = spawn(move || write_all(fars, seed, 0..FRAMES_OF_STORM))?;
    let ended = workload.have_read(&harness, FRAMES_OF_STORM);
    workload.stop.store(true, Ordering::SeqCst);
    drop(delays);
    ended?;
    harness.wait_until("every thread has ended its takeovers", || {
        workload.active_threads.load(Ordering::SeqCst) == 0
    })?;
    let fars = writer.join().map_err(|_| Failure::Broken("the writer panicked".into()))??;
    // Now the threads sleep, and only their pollers wake them for the rest, which fits into any buffer.
    sleepers.wait(&harness)?;
    let fars = write_all(fars, seed, FRAMES_OF_STORM..FRAMES)?;
    workload.have_read(&harness, FRAMES)?;
    for connection in &workload.connections {
        connection.handle.get().map_or(Ok(()), |handle| harness.wait_until_unused(*handle))?;
    }
    harness.fence_all()?;
    check(test, &harness, &workload, &threads)?;
    drop(fars);
    harness.finish(test, &[])
}

/// Widens the windows in which only one mask has been changed.
fn delay(point: Point) {
    let window = [
        Point::ReportBeforeRunning,
        Point::ReportRunningSet,
        Point::ExitRunningCleared,
        Point::TakeoverRunningSet,
        Point::TakeoverMaskSet,
        Point::AfterWait,
    ];
    if window.contains(&point) && fastrand::u8(..16) == 0 {
        std::thread::yield_now();
    }
}

/// Sends these numbers in pieces of all sizes, through all connections in turn.
fn write_all(mut fars: Vec<FarEnd>, seed: u64, frames: Range<u32>) -> std::io::Result<Vec<FarEnd>> {
    fastrand::seed(seed);
    let bytes: Vec<u8> = frames.flat_map(u32::to_le_bytes).collect();
    let mut sent = [0; CONNECTIONS];
    while sent.iter().any(|sent| *sent < bytes.len()) {
        let index = fastrand::usize(..CONNECTIONS);
        let end = bytes.len().min(sent[index] + fastrand::usize(1..=64));
        fars[index].write_all(&bytes[sent[index]..end])?;
        sent[index] = end;
        if fastrand::u8(..4) == 0 {
            // Lets the readers catch up, so that there are many edges.
            std::thread::yield_now();
        }
    }
    Ok(fars)
}

fn check(test: &mut TestContext, harness: &Harness, workload: &Workload, threads: &[ThreadId]) -> Result {
    for (index, connection) in workload.connections.iter().enumerate() {
        let label = |what: &str| format!("connection {index}: {what}");
        connection.check(test, &label, FRAMES);
        if let Some(handle) = connection.handle.get() {
            let entry = harness.entry(*handle)?;
            test.check_eq(label("running at the end"), 0, entry.running.bits(), "L9");
            test.check_eq(label("references at the end"), 0, entry.references, "S12");
        }
    }
    let sum = |count: fn(&fd_core::ActivitySnapshot) -> u64| {
        threads.iter().map(|id| count(&harness.activity(*id))).sum::<u64>()
    };
    let (taken, busy) = (workload.taken.load(Ordering::SeqCst), workload.busy.load(Ordering::SeqCst));
    let refused = unpoisoned(&workload.refused);
    let what = "refusals other than Busy";
    test.check_eq(what, String::new(), format!("{refused:?}").trim_matches(['[', ']']).into(), "L9");
    let concurrent = workload.concurrent.load(Ordering::SeqCst);
    test.check_eq("takeovers while another thread was reading", 0, concurrent, "S2, S3");
    test.check_eq("takeovers counted", taken, sum(|counters| counters.fd_takeover), "activity counters");
    test.check_eq("refusals counted", busy, sum(|counters| counters.fd_takeover_fail), "activity counters");
    let skips = sum(|counters| counters.poll_skip);
    test.check_cost("skips", "at most two per takeover", skips, "L5", skips <= 2 * taken);
    test.check("takeovers", "at least one", taken, "the workload took place", taken > 0);
    test.record_counter("takeovers", taken);
    test.record_counter("takeovers refused as busy", busy);
    test.record_counter("skips", skips);
    test.record_counter("drops", sum(|counters| counters.poll_drop));
    test.record_counter("reports", sum(|counters| counters.fd_run));
    Ok(())
}
