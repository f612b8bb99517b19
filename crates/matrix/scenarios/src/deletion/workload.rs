//! A random workload: all threads call all operations on a few descriptors at the same time.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use fastrand::Rng;
use fd_core::{FdCore, OwnerId, RegistrationRef};
use metadata::Variant;

use super::registration::TrackedRegistration;
use crate::descriptors::inode;
use crate::needs;
use crate::prelude::*;
use crate::transport::Pairs;

/// Steps of all threads together.
pub(super) const STEPS: u64 = 50_000;
/// Descriptors that are registered at one time.
const PLACES: usize = 12;
/// The largest number of ended registrations that are not closed, or whose peers have not seen the close: at
/// one time, as far as descriptors are available. The kernel reports a close to the peer with a delay, and
/// select must have room for all of them.
const LINGERING: usize = 200;
/// Steps of a worker in one iteration of its loop.
const STEPS_PER_ITERATION: u64 = 16;

pub(super) struct Workload {
    core: Arc<FdCore>,
    threads: Vec<ThreadId>,
    pairs: Pairs,
    options: InsertOptions,
    places: Vec<Mutex<Option<Arc<TrackedRegistration>>>>,
    registrations: Mutex<Vec<Arc<TrackedRegistration>>>,
    /// Those whose peer has not seen the end.
    unended: Mutex<Vec<Arc<TrackedRegistration>>>,
    steps: AtomicU64,
    lingering: usize,
    most_lingering: AtomicUsize,
    violations: Mutex<Vec<String>>,
}

impl Workload {
    pub(super) fn new(harness: &Harness, params: Variant) -> Result<Arc<Self>> {
        // Each pair has two ends, and each thread may be about to make one more.
        let pairs = needs::room(params) / 2;
        let lingering = pairs.saturating_sub(PLACES + params.threads).min(LINGERING);
        Ok(Arc::new(Self {
            lingering,
            core: Arc::clone(harness.core()),
            threads: harness.threads(),
            pairs: Pairs::new(params.transport)?,
            // Avoids connections in TIME_WAIT.
            options: InsertOptions { reset_on_close: true, ..harness.options() },
            places: (0..PLACES).map(|_| Mutex::new(None)).collect(),
            registrations: Mutex::default(),
            unended: Mutex::default(),
            steps: AtomicU64::new(0),
            most_lingering: AtomicUsize::new(0),
            violations: Mutex::default(),
        }))
    }

    pub(super) fn is_active(&self) -> bool {
        self.steps.load(Ordering::Relaxed) < STEPS
    }

    pub(super) fn registrations(&self) -> Vec<Arc<TrackedRegistration>> {
        unpoisoned(&self.registrations).clone()
    }

    /// Returns the largest number of ended registrations with open descriptors.
    pub(super) fn most_lingering(&self) -> u64 {
        self.most_lingering.load(Ordering::Relaxed) as u64
    }

    pub(super) fn violations(&self) -> Vec<String> {
        unpoisoned(&self.violations).clone()
    }

    fn note(&self, violation: impl Into<String>) {
        unpoisoned(&self.violations).push(violation.into());
    }

    /// The steps of a worker in one iteration. They continue in its next iteration.
    pub(super) fn iterate(self: Arc<Self>, context: &Context, mut random: Rng) {
        for _ in 0..STEPS_PER_ITERATION {
            self.step(Some(context), &mut random);
        }
        if self.is_active() {
            let core = Arc::clone(&self.core);
            let _ = core.post(context.id(), move |context| self.iterate(context, random));
        }
    }

    /// Calls a random operation on a random descriptor, in any state.
    pub(super) fn step(self: &Arc<Self>, context: Option<&Context>, random: &mut Rng) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let place = &self.places[random.usize(..PLACES)];
        let Some(registration) = unpoisoned(place).clone() else { return self.insert(place, random) };
        let handle = registration.handle();
        let fd =
            context.map_or_else(|| self.core.registration(handle), |context| context.registration(handle));
        let target = self.threads[random.usize(..self.threads.len())];
        // Refusals are valid results: the handle may be stale, the descriptor busy or owned by another
        // thread.
        match random.u32(..100) {
            0..25 => registration.write(),
            25..40 => drop(fd.want_recv()),
            40..45 => drop(fd.want_send()),
            45..50 => drop(fd.stop_both()),
            50..65 => match (context, registration.owner.get()) {
                (Some(context), Some(owner)) => drop(context.takeover(handle, *owner)),
                _ => drop(fd.migrate_on(target)),
            },
            65..70 => drop(fd.migrate_on(target)),
            70..78 => {
                if let Some(context) = context {
                    let _ = context.enter(handle, |ready: &ReadyGuard<'_>| {
                        self.check_file(&registration, ready, "while entered")
                    });
                }
            }
            78..88 => registration.end(|_| fd.delete()),
            88..91 => registration.end(|_| fd.disown()),
            _ if registration.ended() > 0 => self.insert(place, random),
            _ => {}
        }
    }

    fn insert(self: &Arc<Self>, place: &Mutex<Option<Arc<TrackedRegistration>>>, random: &mut Rng) {
        if !self.has_room() {
            // Another step may close some: also one of this thread, which may be in a handler.
            return std::thread::yield_now();
        }
        let thread = self.threads[random.usize(..self.threads.len())];
        let shared = random.u32(..10) < 3;
        let mask = if shared { self.core.table().threads(thread.group()) } else { thread.mask() };
        let ends = match self.pairs.pair() {
            Ok(ends) => ends,
            Err(error) => return self.note(format!("no descriptors: {error}")),
        };
        let registration = Arc::new(TrackedRegistration {
            shared,
            file: inode(&ends.near),
            far: Mutex::new(Some(ends.far)),
            random: Mutex::new(random.fork()),
            ..TrackedRegistration::default()
        });
        let handler: Arc<dyn Handler> =
            Arc::new(WorkloadHandler { registration: Arc::clone(&registration), workload: Arc::clone(self) });
        registration.owner.get_or_init(|| OwnerId::of(&handler));
        match self.core.insert(ends.near, handler, thread.group(), mask, self.options) {
            Ok(handle) => {
                registration.handle.get_or_init(|| handle);
                unpoisoned(&self.registrations).push(Arc::clone(&registration));
                unpoisoned(&self.unended).push(Arc::clone(&registration));
                // Another thread may have put a registration here meanwhile. Only this call ends it.
                let other = unpoisoned(place).replace(registration);
                if let Some(other) = other {
                    other.end(|handle| self.core.registration(handle).delete());
                }
            }
            Err(refused) => self.note(format!("insert: {refused}")),
        }
    }

    /// Closes the peers that have seen their end. Returns whether few enough registrations linger.
    fn has_room(&self) -> bool {
        let mut unended = unpoisoned(&self.unended);
        unended.retain(|registration| !registration.peer_saw_the_end());
        let now = unended.iter().filter(|registration| registration.ended() > 0).count();
        drop(unended);
        self.most_lingering.fetch_max(now, Ordering::Relaxed);
        now <= self.lingering
    }

    /// Checks that a user of a descriptor finds the file that was inserted (S5).
    fn check_file(&self, registration: &TrackedRegistration, fd: &impl AsFd, when: &str) {
        if inode(fd) != registration.file {
            self.note(format!("{:?} has another open file, or none, {when}", registration.handle()));
        }
    }
}

/// The handler of each registration.
struct WorkloadHandler {
    registration: Arc<TrackedRegistration>,
    workload: Arc<Workload>,
}

impl Handler for WorkloadHandler {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let (registration, workload) = (&self.registration, &self.workload);
        if registration.in_handler.fetch_add(1, Ordering::SeqCst) > 0 && !registration.shared {
            workload.note(format!("two threads in the handler: {:?}", registration.handle()));
        }
        workload.check_file(registration, ready, "when the handler begins");
        let fd: RegistrationRef<'_> = ready.registration();
        let ended = read_all(ready, &mut Vec::new()).unwrap_or(true);
        let _ = fd.stop_send().and_then(|()| if ended { fd.stop_recv() } else { fd.cant_recv() });
        let mut random = unpoisoned(&registration.random).fork();
        match random.u32(..10) {
            0..2 => registration.end(|_| fd.delete()),
            2 => registration.end(|_| fd.disown()),
            3..6 if workload.is_active() => workload.step(Some(ready.context()), &mut random),
            _ => {}
        }
        std::thread::yield_now();
        workload.check_file(registration, ready, "when the handler ends");
        registration.in_handler.fetch_sub(1, Ordering::SeqCst);
    }

    fn released(&self, fd: OwnedFd) {
        self.workload.check_file(&self.registration, &fd, "when it is returned");
    }
}

impl Drop for WorkloadHandler {
    fn drop(&mut self) {
        self.registration.dropped.fetch_add(1, Ordering::SeqCst);
    }
}
