//! The soak: every thread performs random operations on descriptors at the same time, with all invariants
//! asserted.
//!
//! Each worker thread performs all operations: it takes descriptors from other threads, moves them to other
//! threads, deletes and inserts them, enables and disables their interest. At intervals the workers stop, and
//! the quiescent state is checked: every byte that was written arrives at the current owner of its
//! descriptor, no thread is running a handler, every registration is accounted for.

mod listener;
mod rest;
mod ring;
mod slots;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fd_core::poller::MakeBackend;
use fd_core::{Builder, FdCore, Runtime};

use crate::patience::LONGEST;
use crate::prelude::*;
use crate::retry;
use listener::SharedListener;
use ring::{Op, Ring};
use slots::Slot;

/// The time between two checks for violations and progress.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The time between two checks of the quiescent state.
const ROUND: Duration = Duration::from_secs(1);
const NO_WORKER: usize = usize::MAX;
/// Descriptors in use, per thread.
const SLOTS_PER_THREAD: usize = 64;

/// The parameters of a soak.
#[derive(Clone, Debug)]
pub struct Soak {
    /// Worker threads in all.
    pub threads: usize,
    /// Groups that they are spread over.
    pub groups: usize,
    /// The duration.
    pub duration: Duration,
    /// The seed of everything random. The system's schedule still differs from run to run.
    pub seed: u64,
}

/// The work done so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The time since the start.
    pub elapsed: Duration,
    /// The number of each kind of operation and event, by name.
    pub counts: BTreeMap<&'static str, u64>,
}

impl Progress {
    /// Returns the number of the operations or events called `name`.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Returns the number of all operations of the workers.
    pub fn operations(&self) -> u64 {
        Op::ALL.iter().map(|op| self.count(op.name())).sum()
    }
}

/// A violation of an invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The invariant and the observation.
    pub what: String,
    /// The last operations of each thread, the newest at the end.
    pub schedule: String,
    /// A dump of the table, or a note that the dump did not finish.
    pub table: String,
}

/// The end of a soak.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The time was over, or the caller stopped it.
    Clean,
    /// A violation stopped it.
    Violated(Box<Violation>),
}

/// The state that all threads share.
struct Shared {
    soak: Soak,
    slots: Vec<Slot>,
    listeners: Vec<SharedListener>,
    threads: Vec<Thread>,
    /// If set, workers do not begin another batch of operations.
    resting: AtomicBool,
    /// The number of workers that have seen `resting` and stopped.
    rested: AtomicUsize,
    /// The index of a worker that stays parked once it is, to the end of the round. [`NO_WORKER`]: none.
    stays_parked: AtomicUsize,
    /// Handlers dropped: registrations that have ended completely.
    dropped: AtomicU64,
    /// Handlers that exist.
    alive: AtomicU64,
    violation: Mutex<Option<String>>,
    violated: AtomicBool,
    began: Instant,
}

/// The state of a worker that other threads read.
struct Thread {
    id: ThreadId,
    ring: Mutex<Ring>,
    /// Batches of operations begun. A thread that begins none hangs.
    batches: AtomicU64,
    /// It has no task until another thread posts its next batch.
    parked: AtomicBool,
}

impl Shared {
    /// Records an operation of a worker.
    pub(super) fn note(&self, thread: ThreadId, op: Op, handle: Option<FdHandle>, outcome: &'static str) {
        if let Some(thread) = self.threads.iter().find(|known| known.id == thread) {
            unpoisoned(&thread.ring).note(op, handle, outcome);
        }
    }

    /// Records a violation. Only the first one is kept.
    fn violate(&self, what: impl Into<String>) {
        let mut violation = unpoisoned(&self.violation);
        violation.get_or_insert_with(|| what.into());
        self.violated.store(true, Ordering::SeqCst);
    }

    fn require(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violate(what());
        }
    }
}

/// Runs a soak in this process until its time is over, `stop` returns true, or an invariant is violated.
/// Calls `each` at intervals. After a violation some of its threads may still run: the process cannot run
/// another soak.
///
/// [`Failure`] if the runtime cannot start, or if there are not enough descriptors.
pub fn run(
    soak: &Soak,
    make: MakeBackend,
    stop: impl Fn() -> bool,
    mut each: impl FnMut(&Progress),
) -> Result<(Progress, Ended)> {
    fd_core::hooks::invariants::enable();
    let open_before = descriptors::open();
    let threads = |group| soak.threads / soak.groups + usize::from(group < soak.threads % soak.groups);
    let builder = || (0..soak.groups).map(threads).fold(Runtime::builder(), Builder::group);
    let prepared = retry::prepare(builder, make).map_err(Failure::from_start)?;
    let sleepers = Sleepers::watch();
    let runtime = prepared.start().map_err(Failure::from_start)?;
    let core = Arc::clone(runtime.core());
    let thread = |id| Thread {
        id,
        ring: Mutex::default(),
        batches: AtomicU64::new(0),
        parked: AtomicBool::new(false),
    };
    let folder = tempfile::tempdir()?;
    let listeners = core.table().groups().map(|group| SharedListener::new(group, folder.path()));
    let shared = Arc::new(Shared {
        soak: soak.clone(),
        slots: (0..SLOTS_PER_THREAD * soak.threads).map(|_| Slot::default()).collect(),
        listeners: listeners.collect::<Result<_, _>>()?,
        threads: core.threads().map(thread).collect(),
        resting: AtomicBool::new(false),
        rested: AtomicUsize::new(0),
        stays_parked: AtomicUsize::new(NO_WORKER),
        dropped: AtomicU64::new(0),
        alive: AtomicU64::new(0),
        violation: Mutex::default(),
        violated: AtomicBool::new(false),
        began: Instant::now(),
    });
    record_panics(&shared);
    slots::fill(&shared, &core)?;
    let windows = Checkpoints::with_listener(|_, _| worker::widen_windows());
    let outcome = rounds(&shared, &core, &sleepers, &stop, &mut each);
    drop((windows, sleepers));
    let progress = progress(&shared, &core);
    if outcome.is_some() || shared.violated.load(Ordering::SeqCst) {
        // A stop waits for the threads, and one of them may hang.
        std::mem::forget(runtime);
        return Ok((progress, Ended::Violated(Box::new(violation(&shared, &core)))));
    }
    let ended = runtime.stop();
    shared.slots.iter().for_each(Slot::empty);
    if let Err(death) = ended {
        shared.violate(death.to_string());
    }
    let registrations = core.registration_counts();
    shared.require(core.table().used() == 0, || {
        format!("L8: {} registrations are left after the stop", core.table().used())
    });
    shared.require(registrations.inserted == registrations.closed + registrations.released, || {
        format!("S4: at the end {registrations:?}")
    });
    shared.require(registrations.close_errors == 0, || {
        format!("S4: numbers closed that were not open: {registrations:?}")
    });
    let found = violation(&shared, &core);
    let violated = shared.violated.load(Ordering::SeqCst);
    // The wake descriptors close with the last reference to the core.
    let listener: Vec<_> = shared.listeners.iter().map(SharedListener::clients).collect();
    drop(listener);
    let references = Arc::strong_count(&core);
    drop(core);
    let open_after = descriptors::open();
    if !violated && references == 1 && open_after != open_before {
        let what = format!("S4, S5: open before {open_before:?}, after {open_after:?}");
        return Ok((progress, Ended::Violated(Box::new(Violation { what, ..found }))));
    }
    Ok((progress, if violated { Ended::Violated(Box::new(found)) } else { Ended::Clean }))
}

/// Alternates work and checks of the quiescent state. Returns `Some` after a violation.
fn rounds(
    shared: &Arc<Shared>,
    core: &Arc<FdCore>,
    sleepers: &Sleepers,
    stop: &impl Fn() -> bool,
    each: &mut impl FnMut(&Progress),
) -> Option<()> {
    let end = shared.began + shared.soak.duration.min(LONGEST);
    let mut client = rest::Client::new(shared.soak.seed);
    loop {
        shared.resting.store(false, Ordering::SeqCst);
        shared.rested.store(0, Ordering::SeqCst);
        shared.stays_parked.store(NO_WORKER, Ordering::SeqCst);
        shared.threads.iter().for_each(|thread| thread.parked.store(false, Ordering::SeqCst));
        for index in 0..shared.threads.len() {
            worker::start(shared, core, index);
        }
        let round = Instant::now();
        let mut seen: Vec<_> = shared.threads.iter().map(|_| (0, round)).collect();
        let mut last_check = round;
        while round.elapsed() < ROUND && Instant::now() < end && !stop() {
            client.step(shared, core);
            worker::unpark_all(shared, core);
            if round.elapsed() >= ROUND / 2 && shared.stays_parked.load(Ordering::SeqCst) == NO_WORKER {
                shared.stays_parked.store(client.choose(shared.threads.len()), Ordering::SeqCst);
            }
            if last_check.elapsed() >= CHECK_INTERVAL {
                last_check = Instant::now();
                rest::check_progress(shared, &mut seen);
                each(&progress(shared, core));
            }
            if shared.violated.load(Ordering::SeqCst) {
                return Some(());
            }
        }
        rest::check_quiescent(shared, core, sleepers, &mut client);
        if shared.violated.load(Ordering::SeqCst) {
            return Some(());
        }
        if Instant::now() >= end || stop() {
            return None;
        }
    }
}

fn progress(shared: &Shared, core: &FdCore) -> Progress {
    let mut counts = BTreeMap::new();
    for thread in &shared.threads {
        let ring = unpoisoned(&thread.ring);
        for op in Op::ALL {
            *counts.entry(op.name()).or_default() += ring.done(op);
        }
    }
    for (_, counters) in core.activity().0 {
        for (name, count) in counters.rows() {
            *counts.entry(name).or_default() += count;
        }
    }
    let accepted = shared.listeners.iter().map(|listener| listener.accepted.load(Ordering::SeqCst));
    counts.insert("accepted", accepted.sum());
    Progress { elapsed: shared.began.elapsed(), counts }
}

fn violation(shared: &Shared, core: &Arc<FdCore>) -> Violation {
    let what = unpoisoned(&shared.violation).clone().unwrap_or_default();
    let mut schedule = String::new();
    for thread in &shared.threads {
        // The thread that locked it may have panicked.
        let ring = unpoisoned(&thread.ring);
        schedule.push_str(&format!("thread {}:\n{ring}", thread.id));
    }
    // The dump pins each entry, and so waits for a change of group, which may never end.
    let (sender, receiver) = std::sync::mpsc::channel();
    let core = Arc::clone(core);
    // If no thread can start, the time limit ends the wait.
    let _ = std::thread::Builder::new().spawn(move || sender.send(core.entries().to_string()));
    let table =
        receiver.recv_timeout(patience() / 10).unwrap_or_else(|_| "(the dump does not finish)\n".into());
    Violation { what, schedule, table }
}

/// Records a panic as the violation: it is an assertion of the core or of the soak, and more precise than
/// later effects.
fn record_panics(shared: &Arc<Shared>) {
    let weak = Arc::downgrade(shared);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(shared) = weak.upgrade() {
            let thread = std::thread::current().name().unwrap_or("a thread").to_owned();
            shared.violate(format!("{thread}: {panic}"));
        } else {
            before(panic);
        }
    }));
}
