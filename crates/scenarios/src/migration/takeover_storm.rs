//! Every thread takes connections from every other, without a pause and under traffic.
//!
//! What cannot be forced one interleaving at a time. The recipe is that of `cd8914bc5`: threads are delayed wherever
//! only one of two masks has been changed.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::error::MoveError;
use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use fd_core::{Context, FdHandle, OwnerId};
use metadata::{Axes, Layer};

use super::stream::Connection;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn;
use crate::transport::{Far, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/takeover-storm",
    title: "No event is lost or doubled while threads take FDs from each other",
    layer: Layer::Contract,
    clauses: &["S1", "S2", "S3", "L1", "L5", "L9", "M1", "M10", "bug 42", "bug 66"],
    axes: Axes { threads: &[2, 4, 8], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const CONNECTIONS: usize = 6;
/// Numbers sent through each connection, four bytes each.
const FRAMES: u32 = 4000;

struct Storm {
    connections: Vec<Arc<Connection>>,
    over: AtomicBool,
    /// Threads that still steal.
    thieves: AtomicU64,
    taken: AtomicU64,
    /// Takeovers that were granted while somebody was inside.
    not_alone: AtomicU64,
    busy: AtomicU64,
    refused: Mutex<Vec<MoveError>>,
}

impl Storm {
    /// One theft by this thread, and the next one after its next pass.
    fn steal(self: Arc<Self>, context: &Context) {
        if self.over.load(Ordering::SeqCst) {
            self.thieves.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let connection = &self.connections[fastrand::usize(..self.connections.len())];
        let Some(handle) = connection.handle.get().copied() else { return };
        match context.takeover(handle, OwnerId::of(connection)) {
            Ok(()) => {
                self.taken.fetch_add(1, Ordering::Relaxed);
                self.check_alone(context, connection, handle);
                if fastrand::u8(..4) == 0 {
                    // It may have been stolen again already.
                    let _ = context.enter(handle, |ready| connection.read(ready));
                }
                let _ = context.registration(handle).want_recv();
            }
            Err(MoveError::Busy) => {
                self.busy.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(error),
        }
        let core = Arc::clone(context.core());
        let _ = core.post(context.id(), move |context| self.steal(context));
    }
}

impl Storm {
    /// Waits until every connection has read everything, however long it takes: as long as some frame arrives.
    fn read_everything(&self, harness: &Harness) -> Result<(), Failure> {
        let read = || self.connections.iter().map(|connection| connection.received()).collect::<Vec<_>>();
        loop {
            let before = read();
            if before.iter().all(|frames| *frames >= FRAMES) {
                return Ok(());
            }
            harness.wait_until("a connection reads another frame", || read() != before).map_err(
                |stalled| Failure::Wrong(format!("frames read of {FRAMES}: {before:?}; {stalled}")),
            )?;
        }
    }

    /// After a takeover and before its own next step, nobody is inside. If it is still this thread's after the look,
    /// it was this thread's at the look: only a takeover by this thread makes it so again.
    fn check_alone(&self, context: &Context, connection: &Connection, handle: FdHandle) {
        let inside = connection.is_inside();
        let Ok(entry) = context.core().entry(handle) else { return };
        if inside && entry.group == context.id().group() && entry.thread_mask == context.id().mask() {
            self.not_alone.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let mut fars = Vec::new();
    let mut connections = Vec::new();
    for index in 0..CONNECTIONS {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let connection = Connection::new(test.trigger);
        let handle = harness.insert(ends.near, connection.clone(), harness.thread(index))?;
        let _ = connection.handle.set(handle);
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        connections.push(connection);
        fars.push(ends.far);
    }
    let threads = harness.threads();
    let storm = Arc::new(Storm {
        connections,
        over: AtomicBool::new(false),
        thieves: AtomicU64::new(threads.len() as u64),
        taken: AtomicU64::new(0),
        not_alone: AtomicU64::new(0),
        busy: AtomicU64::new(0),
        refused: Mutex::default(),
    });
    let delays = Checkpoints::telling(|point, _| delay(point));
    for (index, thread) in threads.iter().enumerate() {
        let (storm, seed) = (Arc::clone(&storm), test.seed.wrapping_add(1 + index as u64));
        let _ = harness.core().post(*thread, move |context| {
            fastrand::seed(seed);
            storm.steal(context);
        });
    }
    let seed = test.seed;
    // Not joined if the scenario fails: the stop closes the near ends, which ends it.
    let writer = spawn(move || write_all(fars, seed))?;
    let ended = storm.read_everything(&harness);
    storm.over.store(true, Ordering::SeqCst);
    drop(delays);
    ended?;
    harness.wait_until("the thieves have ended", || storm.thieves.load(Ordering::SeqCst) == 0)?;
    let fars = writer.join().map_err(|_| Failure::Broken("the writer".into()))?.map_err(Failure::broken)?;
    harness.fence_all()?;
    account(test, &harness, &storm, &threads)?;
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

/// Sends the numbers in pieces of all sizes, through all connections in turn.
fn write_all(mut fars: Vec<Far>, seed: u64) -> std::io::Result<Vec<Far>> {
    fastrand::seed(seed);
    let bytes: Vec<u8> = (0..FRAMES).flat_map(u32::to_le_bytes).collect();
    let mut sent = [0; CONNECTIONS];
    while sent.iter().any(|sent| *sent < bytes.len()) {
        let index = fastrand::usize(..CONNECTIONS);
        let end = bytes.len().min(sent[index] + fastrand::usize(1..=64));
        fars[index].write_all(&bytes[sent[index]..end])?;
        sent[index] = end;
        if fastrand::u8(..4) == 0 {
            // The readers get a chance to catch up, so that there are many edges.
            std::thread::yield_now();
        }
    }
    Ok(fars)
}

fn account(
    test: &mut TestContext,
    harness: &Harness,
    storm: &Storm,
    threads: &[ThreadId],
) -> Result<(), Failure> {
    for (index, connection) in storm.connections.iter().enumerate() {
        let at = |what: &str| format!("connection {index}: {what}");
        connection.account(test, &at, FRAMES);
        if let Some(handle) = connection.handle.get() {
            let entry = harness.entry(*handle)?;
            test.check_eq(at("running at the end"), 0, entry.running.bits(), "L9");
            test.check_eq(at("references at the end"), 0, entry.references, "S12");
        }
    }
    let sum = |count: fn(&fd_core::ActivitySnapshot) -> u64| {
        threads.iter().map(|id| count(&harness.activity(*id))).sum::<u64>()
    };
    let (taken, busy) = (storm.taken.load(Ordering::SeqCst), storm.busy.load(Ordering::SeqCst));
    let refused = storm.refused.lock().unwrap_or_else(PoisonError::into_inner);
    test.check_eq(
        "refusals but for being busy",
        String::new(),
        format!("{refused:?}").trim_matches(['[', ']']).into(),
        "L9",
    );
    let not_alone = storm.not_alone.load(Ordering::SeqCst);
    test.check_eq("takeovers granted while somebody was inside", 0, not_alone, "S2, S3");
    test.check_eq("takeovers counted", taken, sum(|counters| counters.fd_takeover), "seed counters");
    test.check_eq("refusals counted", busy, sum(|counters| counters.fd_takeover_fail), "seed counters");
    let skips = sum(|counters| counters.poll_skip);
    test.cost("skips", "at most two per takeover", skips, "L5", skips <= 2 * taken);
    test.check("takeovers", "some", taken, "the storm took place", taken > 0);
    test.count("takeovers", taken);
    test.count("takeovers refused as busy", busy);
    test.count("skips", skips);
    test.count("drops", sum(|counters| counters.poll_drop));
    test.count("reports", sum(|counters| counters.fd_run));
    Ok(())
}
