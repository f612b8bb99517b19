//! The soak: everything that can be done with descriptors, at random, by every thread at once, with all invariants on.
//!
//! Each worker thread has a share in everything: it takes descriptors from the others, gives them away, deletes and inserts
//! them, wants and stops. Now and then everything is brought to rest, and what must be true at rest is checked: every
//! byte that was written arrives where its descriptor is now, nobody is running, every registration is accounted for.

mod rest;
mod ring;
mod subject;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fd_core::hooks::checkpoint;
use fd_core::ids::ThreadId;
use fd_core::poller::MakeBackend;
use fd_core::{Builder, FdCore, Runtime};

use crate::descriptors;
use crate::persist;
use crate::test_context::{Failure, LONGEST, patience};
use ring::Ring;
use subject::{Listening, Slot};

/// Between two looks at whether something went wrong.
const LOOK: Duration = Duration::from_millis(20);
/// Between two rests.
const ROUND: Duration = Duration::from_secs(1);
/// Descriptors that are moved about, per thread.
const SLOTS_PER_THREAD: usize = 64;

/// What is to be soaked.
#[derive(Clone, Debug)]
pub struct Soak {
    /// Worker threads in all.
    pub threads: usize,
    /// Groups that they are spread over.
    pub groups: usize,
    /// For how long.
    pub duration: Duration,
    /// For everything random. The schedule is the system's all the same.
    pub seed: u64,
}

/// What was done so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Since the start.
    pub elapsed: Duration,
    /// How often each thing was done, by its name.
    pub counts: BTreeMap<&'static str, u64>,
}

impl Progress {
    /// How often something was done.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// How often anything was done that a worker does on purpose.
    pub fn operations(&self) -> u64 {
        ring::Op::ALL.iter().map(|op| self.count(op.name())).sum()
    }
}

/// Something that must never be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What.
    pub what: String,
    /// The last operations of each thread, the newest last.
    pub schedule: String,
    /// The table, if it still answered.
    pub table: String,
}

/// How a soak ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// When it should, or when it was told to.
    Clean,
    /// Too early.
    Violated(Box<Violation>),
}

/// What all threads share.
struct Shared {
    soak: Soak,
    slots: Vec<Slot>,
    listeners: Vec<Listening>,
    threads: Vec<Thread>,
    /// Workers do not begin another batch.
    resting: AtomicBool,
    /// How many have noticed.
    rested: AtomicUsize,
    /// Handlers dropped: lives that are over for good.
    dropped: AtomicU64,
    /// Handlers that live.
    alive: AtomicU64,
    violation: Mutex<Option<String>>,
    violated: AtomicBool,
    began: Instant,
}

/// A worker as the others see it.
struct Thread {
    id: ThreadId,
    ring: Mutex<Ring>,
    /// Batches begun. Whoever makes none hangs.
    batches: AtomicU64,
    /// It has nothing to do until another thread gives it its work back.
    parked: AtomicBool,
}

impl Shared {
    /// Notes that an invariant is broken. The first to do so counts.
    fn violate(&self, what: impl Into<String>) {
        let mut violation = self.violation.lock().unwrap_or_else(PoisonError::into_inner);
        violation.get_or_insert_with(|| what.into());
        self.violated.store(true, Ordering::SeqCst);
    }

    fn must(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violate(what());
        }
    }
}

/// Runs a soak in this process until its time is over, `stop` says so or something is wrong. `each` is called every now
/// and then. After a violation threads of it may still be running: the process is good for nothing any more.
///
/// # Errors
/// [`Failure`] if the runtime cannot be had, or descriptors are short.
pub fn run(
    soak: &Soak,
    make: MakeBackend,
    stop: impl Fn() -> bool,
    mut each: impl FnMut(&Progress),
) -> Result<(Progress, Ended), Failure> {
    fd_core::hooks::invariants::enable();
    let open_before = descriptors::open();
    let threads = |group| soak.threads / soak.groups + usize::from(group < soak.threads % soak.groups);
    let builder = || (0..soak.groups).map(threads).fold(Runtime::builder(), Builder::group);
    let prepared = persist::prepare(builder, make).map_err(Failure::from_start)?;
    let runtime = prepared.start().map_err(Failure::from_start)?;
    let core = Arc::clone(runtime.core());
    let thread = |id| Thread {
        id,
        ring: Mutex::default(),
        batches: AtomicU64::new(0),
        parked: AtomicBool::new(false),
    };
    let folder = tempfile::tempdir().map_err(Failure::broken)?;
    let listeners = core.table().groups().map(|group| Listening::new(group, folder.path()));
    let shared = Arc::new(Shared {
        soak: soak.clone(),
        slots: (0..SLOTS_PER_THREAD * soak.threads).map(|_| Slot::default()).collect(),
        listeners: listeners.collect::<Result<_, _>>().map_err(Failure::broken)?,
        threads: core.threads().map(thread).collect(),
        resting: AtomicBool::new(false),
        rested: AtomicUsize::new(0),
        dropped: AtomicU64::new(0),
        alive: AtomicU64::new(0),
        violation: Mutex::default(),
        violated: AtomicBool::new(false),
        began: Instant::now(),
    });
    watch_panics(&shared);
    subject::fill(&shared, &core).map_err(Failure::broken)?;
    checkpoint::install(|_, _| worker::widen());
    let outcome = rounds(&shared, &core, &stop, &mut each);
    checkpoint::remove();
    let progress = progress(&shared, &core);
    if outcome.is_some() || shared.violated.load(Ordering::SeqCst) {
        // Stopping waits for the threads, and one of them may hang.
        std::mem::forget(runtime);
        return Ok((progress, Ended::Violated(Box::new(violation(&shared, &core)))));
    }
    let ended = runtime.stop();
    shared.slots.iter().for_each(Slot::empty);
    if let Err(death) = ended {
        shared.violate(death.to_string());
    }
    let registrations = core.registration_counts();
    shared.must(core.table().used() == 0, || {
        format!("L8: {} lives are left after the stop", core.table().used())
    });
    shared.must(registrations.inserted == registrations.closed + registrations.released, || {
        format!("S4: at the end {registrations:?}")
    });
    shared.must(registrations.close_errors == 0, || {
        format!("S4: numbers closed that were not open: {registrations:?}")
    });
    let found = violation(&shared, &core);
    let violated = shared.violated.load(Ordering::SeqCst);
    // The wake descriptors go with the last reference to the core.
    let listening: Vec<_> = shared.listeners.iter().map(Listening::clients).collect();
    drop(listening);
    let references = Arc::strong_count(&core);
    drop(core);
    let open_after = descriptors::open();
    if !violated && references == 1 && open_after != open_before {
        let what = format!("S4, S5: open before {open_before:?}, after {open_after:?}");
        return Ok((progress, Ended::Violated(Box::new(Violation { what, ..found }))));
    }
    Ok((progress, if violated { Ended::Violated(Box::new(found)) } else { Ended::Clean }))
}

/// Work and rest in turn. Returns something if it is broken.
fn rounds(
    shared: &Arc<Shared>,
    core: &Arc<FdCore>,
    stop: &impl Fn() -> bool,
    each: &mut impl FnMut(&Progress),
) -> Option<()> {
    let end = shared.began + shared.soak.duration.min(LONGEST);
    let mut client = rest::Client::new(shared.soak.seed);
    loop {
        shared.resting.store(false, Ordering::SeqCst);
        shared.rested.store(0, Ordering::SeqCst);
        for index in 0..shared.threads.len() {
            worker::start(shared, core, index);
        }
        let round = Instant::now();
        let mut seen: Vec<_> = shared.threads.iter().map(|_| (0, round)).collect();
        let mut looked = round;
        while round.elapsed() < ROUND && Instant::now() < end && !stop() {
            client.step(shared, core);
            worker::unpark_all(shared, core);
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                rest::watch(shared, &mut seen);
                each(&progress(shared, core));
            }
            if shared.violated.load(Ordering::SeqCst) {
                return Some(());
            }
        }
        rest::settle(shared, core, &mut client);
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
        let ring = thread.ring.lock().unwrap_or_else(PoisonError::into_inner);
        for op in ring::Op::ALL {
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
    let what = shared.violation.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
    let mut schedule = String::new();
    for thread in &shared.threads {
        // Whoever holds it may have died with it.
        let ring = thread.ring.lock().unwrap_or_else(PoisonError::into_inner);
        schedule.push_str(&format!("thread {}:\n{ring}", thread.id));
    }
    // The dump pins each entry, which waits for a change of group that may never end.
    let (sender, receiver) = std::sync::mpsc::channel();
    let core = Arc::clone(core);
    // Without a thread there is no answer.
    let _ = std::thread::Builder::new().spawn(move || sender.send(core.entries().to_string()));
    let table = receiver.recv_timeout(patience() / 10).unwrap_or_else(|_| "(does not answer)\n".into());
    Violation { what, schedule, table }
}

/// A panic is the core's or the soak's own assertion: it is the violation, and says more than what follows from it.
fn watch_panics(shared: &Arc<Shared>) {
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
