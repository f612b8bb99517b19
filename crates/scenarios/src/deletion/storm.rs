//! Everybody does everything to a few descriptors at the same time.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use fastrand::Rng;
use fd_core::ids::ThreadId;
use fd_core::{Context, FdCore, Handler, InsertOptions, OwnerId, ReadyGuard, RegistrationRef};
use metadata::{Transport, Variant};

use super::registration::{Registration, identity, unpoisoned};
use crate::harness::Harness;
use crate::needs;
use crate::transport::{pair, read_all};

/// What all threads together do.
pub(super) const STEPS: u64 = 50_000;
/// Descriptors that live at one time.
const PLACES: usize = 12;
/// Registrations that are not closed, or whose peers have not seen that yet, beyond those that live: at one time, as far
/// as there are descriptors. The kernel tells peers when it finds the time; a select must find room for all.
const LINGERING: usize = 200;
/// What a worker does before it goes round its loop.
const STEPS_PER_TURN: u64 = 16;

pub(super) struct Storm {
    core: Arc<FdCore>,
    threads: Vec<ThreadId>,
    transport: Transport,
    options: InsertOptions,
    places: Vec<Mutex<Option<Arc<Registration>>>>,
    registrations: Mutex<Vec<Arc<Registration>>>,
    steps: AtomicU64,
    lingering: usize,
    most_lingering: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

impl Storm {
    pub(super) fn new(harness: &Harness, params: Variant) -> Arc<Self> {
        // Each has two ends, and each thread may be about to make one more.
        let pairs = needs::room(params) / 2;
        let lingering = pairs.saturating_sub(PLACES + params.threads).min(LINGERING);
        Arc::new(Self {
            lingering,
            core: Arc::clone(harness.core()),
            threads: harness.threads(),
            transport: params.transport,
            // No TIME_WAIT is left behind.
            options: InsertOptions { reset_on_close: true, ..harness.options() },
            places: (0..PLACES).map(|_| Mutex::new(None)).collect(),
            registrations: Mutex::default(),
            steps: AtomicU64::new(0),
            most_lingering: AtomicUsize::new(0),
            wrong: Mutex::default(),
        })
    }

    pub(super) fn goes_on(&self) -> bool {
        self.steps.load(Ordering::Relaxed) < STEPS
    }

    pub(super) fn registrations(&self) -> Vec<Arc<Registration>> {
        unpoisoned(&self.registrations).clone()
    }

    /// How many registrations at the most had ended, and still had descriptors.
    pub(super) fn most_lingering(&self) -> u64 {
        self.most_lingering.load(Ordering::Relaxed) as u64
    }

    pub(super) fn wrong(&self) -> Vec<String> {
        unpoisoned(&self.wrong).clone()
    }

    fn note(&self, wrong: impl Into<String>) {
        unpoisoned(&self.wrong).push(wrong.into());
    }

    /// A worker's part of the storm: a few steps, and then again in its next turn.
    pub(super) fn turn(self: Arc<Self>, context: &Context, mut random: Rng) {
        for _ in 0..STEPS_PER_TURN {
            self.step(Some(context), &mut random);
        }
        if self.goes_on() {
            let core = Arc::clone(&self.core);
            let _ = core.post(context.id(), move |context| self.turn(context, random));
        }
    }

    /// Does something to some descriptor, whatever has become of it.
    pub(super) fn step(self: &Arc<Self>, context: Option<&Context>, random: &mut Rng) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let place = &self.places[random.usize(..PLACES)];
        let Some(registration) = unpoisoned(place).clone() else { return self.insert(place, random) };
        let handle = registration.handle();
        let fd =
            context.map_or_else(|| self.core.registration(handle), |context| context.registration(handle));
        let target = self.threads[random.usize(..self.threads.len())];
        // Refusals are answers, too: the handle may be stale, the descriptor busy or somebody else's.
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
                        self.look(&registration, ready, "while entered")
                    });
                }
            }
            78..88 => registration.end(|_| fd.delete()),
            88..91 => registration.end(|_| fd.disown()),
            _ if registration.ended() > 0 => self.insert(place, random),
            _ => {}
        }
    }

    fn insert(self: &Arc<Self>, place: &Mutex<Option<Arc<Registration>>>, random: &mut Rng) {
        if !self.has_room() {
            // Another step may close some: of this thread, too, which may be in a handler.
            return std::thread::yield_now();
        }
        let thread = self.threads[random.usize(..self.threads.len())];
        let shared = random.u32(..10) < 3;
        let mask = if shared { self.core.table().threads(thread.group()) } else { thread.mask() };
        let ends = match pair(self.transport) {
            Ok(ends) => ends,
            Err(error) => return self.note(format!("no descriptors: {error}")),
        };
        let registration = Arc::new(Registration {
            handle: OnceLock::new(),
            owner: OnceLock::new(),
            shared,
            file: identity(&ends.near),
            far: Mutex::new(Some(ends.far)),
            written: AtomicU64::new(0),
            inside: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            random: Mutex::new(random.fork()),
        });
        let handler: Arc<dyn Handler> =
            Arc::new(Guest { registration: Arc::clone(&registration), storm: Arc::clone(self) });
        registration.owner.get_or_init(|| OwnerId::of(&handler));
        match self.core.insert(ends.near, handler, thread.group(), mask, self.options) {
            Ok(handle) => {
                registration.handle.get_or_init(|| handle);
                unpoisoned(&self.registrations).push(Arc::clone(&registration));
                // Another thread may have put one there meanwhile, which nothing else would end.
                let other = unpoisoned(place).replace(registration);
                if let Some(other) = other {
                    other.end(|handle| self.core.registration(handle).delete());
                }
            }
            Err(refused) => self.note(format!("insert: {refused}")),
        }
    }

    /// Closes the peers that have seen their end. Whether few enough are left.
    fn has_room(&self) -> bool {
        let lingers =
            |registration: &&Arc<Registration>| !registration.peer_saw_the_end() && registration.ended() > 0;
        let now = unpoisoned(&self.registrations).iter().filter(lingers).count();
        self.most_lingering.fetch_max(now, Ordering::Relaxed);
        now <= self.lingering
    }

    /// Whoever uses a descriptor finds the file that was inserted (S5).
    fn look(&self, registration: &Registration, fd: &impl AsFd, when: &str) {
        if identity(fd) != registration.file {
            self.note(format!("another file or none {when}: {:?}", registration.handle()));
        }
    }
}

/// The handler.
struct Guest {
    registration: Arc<Registration>,
    storm: Arc<Storm>,
}

impl Handler for Guest {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let (registration, storm) = (&self.registration, &self.storm);
        if registration.inside.fetch_add(1, Ordering::SeqCst) > 0 && !registration.shared {
            storm.note(format!("two threads in the handler: {:?}", registration.handle()));
        }
        storm.look(registration, ready, "when the handler begins");
        let fd: RegistrationRef<'_> = ready.registration();
        let ended = read_all(ready, &mut Vec::new()).unwrap_or(true);
        let _ = fd.stop_send().and_then(|()| if ended { fd.stop_recv() } else { fd.cant_recv() });
        let mut random = unpoisoned(&registration.random).fork();
        match random.u32(..10) {
            0..2 => registration.end(|_| fd.delete()),
            2 => registration.end(|_| fd.disown()),
            3..6 if storm.goes_on() => storm.step(Some(ready.context()), &mut random),
            _ => {}
        }
        std::thread::yield_now();
        storm.look(registration, ready, "when the handler ends");
        registration.inside.fetch_sub(1, Ordering::SeqCst);
    }

    fn released(&self, fd: OwnedFd) {
        self.storm.look(&self.registration, &fd, "when it comes back");
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.registration.dropped.fetch_add(1, Ordering::SeqCst);
    }
}
