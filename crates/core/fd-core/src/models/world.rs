//! The environment of the core in a model: descriptors that are only numbers, kernel pollers that only
//! record, and shadow variables that state what must hold. What a model need not explore is a plain std
//! atomic or mutex, which the checker does not see.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::entry::owner::{OwnerId, Registered};
use crate::poller::interest::GroupInterest;
use crate::poller::{
    Backend, Capabilities, Change, DeregisterReason, Event, Events, Generation, Interest, Poller, Wake,
};
use crate::shared::FdCore;
use crate::shared::clock::Clock;
use crate::shared::context::{Context, Reported};
use crate::shared::handler::numbers::Number;
use crate::shared::handler::{self, Handler};
use crate::shared::ready::{ReadyGuard, RegistrationRef};
use crate::table::{FdHandle, FdTable, Pin};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::state;
use crate::words::sync::UnsafeCell;
use crate::words::update_list::Next;
use crate::worker::Worker;
use crate::worker::signals::Signals;

#[cfg(loom)]
pub(super) use loom::thread::{JoinHandle, yield_now};
#[cfg(shuttle)]
pub(super) use shuttle::thread::{JoinHandle, yield_now};

pub(super) fn group(number: usize) -> GroupId {
    GroupId::new(number).unwrap()
}

pub(super) fn thread(group_number: usize, index: usize) -> ThreadId {
    ThreadId::new(group(group_number), index).unwrap()
}

/// A number for `id`, from 1.
fn number(id: ThreadId) -> u32 {
    (id.group().index() * crate::words::ids::THREADS_PER_GROUP + id.index() + 1) as u32
}

/// What the handlers of one registration have observed.
pub(super) struct Observed {
    pub(super) inside: AtomicUsize,
    pub(super) ran: AtomicUsize,
    pub(super) closed: AtomicUsize,
    /// Set by the model: from now on only the thread of this [`number`] may begin to run the handler.
    pub(super) only: crate::words::sync::AtomicU32,
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            inside: AtomicUsize::new(0),
            ran: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            only: crate::words::sync::AtomicU32::new(0),
        }
    }
}

impl Observed {
    /// S3: only `id` may begin to run the handler from now on.
    #[cfg(loom)]
    pub(super) fn only(&self, id: ThreadId) {
        self.only.store(number(id), Ordering::Relaxed);
    }
}

/// The handler of a registration. It is dropped right after the number is closed, so the drop represents the
/// close.
struct Owner {
    observed: Arc<Observed>,
    kernel: Arc<Kernel>,
    fd: RawFd,
    exclusive: bool,
    /// Written by the close and by every run of an exclusive handler, and read by every run of a shared one.
    /// loom reports two of these accesses that nothing orders: a handler that is not exclusive (S1), or a
    /// close that is not the last (S5).
    file: UnsafeCell<()>,
}

// SAFETY: the cell is empty. The model checks the order of its accesses.
unsafe impl Sync for Owner {}

impl Handler<Number> for Owner {
    fn ready(&self, ready: &ReadyGuard<'_, Number>) {
        let observed = &self.observed;
        // Relaxed: a thread may read an old value before it sees the end of the takeover. The cell below
        // detects that case.
        let only = observed.only.load(Ordering::Relaxed);
        assert!(
            only == 0 || only == number(ready.context().id()),
            "S3: the handler begins to run after the takeover"
        );
        let before = observed.inside.fetch_add(1, Ordering::Relaxed);
        assert!(!self.exclusive || before == 0, "S1: two threads run the handler of one thread's descriptor");
        assert_eq!(observed.closed.load(Ordering::SeqCst), 0, "S5: the handler runs on a closed descriptor");
        if self.exclusive {
            self.file.with_mut(|_| yield_now());
        } else {
            self.file.with(|_| yield_now());
        }
        observed.inside.fetch_sub(1, Ordering::Relaxed);
        observed.ran.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns an address that the model keeps: the address of the owner is free for the next registration.
    fn id(&self, _: handler::Internal) -> OwnerId {
        OwnerId::of(&self.observed)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.file.with_mut(|_| ());
        assert_eq!(self.observed.inside.load(Ordering::SeqCst), 0, "S5: closed under a running handler");
        assert_eq!(self.observed.closed.fetch_add(1, Ordering::SeqCst), 0, "S4: closed twice");
        self.kernel.close(self.fd);
    }
}

/// The kernel pollers of all threads: what each holds, and how many wake-ups each thread got.
#[derive(Default)]
pub(super) struct Kernel {
    holds: Mutex<HashMap<(ThreadId, RawFd), (Generation, Interest)>>,
    /// The interest of group 1, if the backend shares it. These are the atomics of the backends, because they
    /// order other accesses.
    shared: Option<GroupInterest>,
    wakes: Mutex<HashMap<ThreadId, usize>>,
    /// How many times each thread's poller began to hold a number, or replaced it: an edge is reported again
    /// then.
    begun: Mutex<HashMap<(ThreadId, RawFd), usize>>,
    /// The shared interest in each number that each thread's last wait began with.
    waits: Mutex<HashMap<ThreadId, HashMap<RawFd, Interest>>>,
}

impl Kernel {
    fn holds_map(&self) -> std::sync::MutexGuard<'_, HashMap<(ThreadId, RawFd), (Generation, Interest)>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The interest that the poller of `thread` holds under this number.
    pub(super) fn holds(&self, thread: ThreadId, fd: RawFd) -> Interest {
        if let Some(shared) = &self.shared {
            return shared.read(fd);
        }
        self.holds_map().get(&(thread, fd)).map_or(Interest::NONE, |(_, interest)| *interest)
    }

    /// How many times the poller of `thread` has begun to hold this number.
    #[cfg(loom)]
    pub(super) fn begun(&self, thread: ThreadId, fd: RawFd) -> usize {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).get(&(thread, fd)).copied().unwrap_or(0)
    }

    /// The interest in this number that the last wait of `thread` began with.
    #[cfg(loom)]
    pub(super) fn waits_for(&self, thread: ThreadId, fd: RawFd) -> Interest {
        let waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        waits.get(&thread).and_then(|arrays| arrays.get(&fd)).copied().unwrap_or(Interest::NONE)
    }

    /// Removes a closed descriptor from all pollers, as a kernel does.
    fn close(&self, fd: RawFd) {
        self.holds_map().retain(|(_, number), _| *number != fd);
    }

    /// The number of wake-ups that were written to `thread` and not read.
    pub(super) fn unread(&self, thread: ThreadId) -> usize {
        self.wakes.lock().unwrap_or_else(PoisonError::into_inner).get(&thread).copied().unwrap_or(0)
    }
}

struct ModelBackend {
    kernel: Arc<Kernel>,
    kernel_state: bool,
}

impl Backend for ModelBackend {
    fn name(&self) -> &'static str {
        "model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { kernel_state: self.kernel_state, ..Capabilities::ALL }
    }

    fn poller(&self, _: ThreadId) -> io::Result<Box<dyn Poller>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn forget(&self, fd: RawFd, group: GroupId, recv: ThreadMask, send: ThreadMask, _: DeregisterReason) {
        if let Some(shared) = &self.kernel.shared {
            shared.write(fd, Interest::NONE);
        }
        for index in recv.or(send).indices() {
            let thread = ThreadId::new(group, index).unwrap();
            self.kernel.holds_map().remove(&(thread, fd));
        }
    }
}

/// The payload by which a wait that would block ends an iteration. The thread stays asleep until the model
/// runs another iteration.
struct Asleep;

/// The poller of one thread. Its wait does not block, but unwinds.
struct ModelPoller {
    thread: ThreadId,
    kernel: Arc<Kernel>,
}

impl Poller for ModelPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        if let Some(shared) = &self.kernel.shared {
            shared.write(change.fd, change.wanted);
            return Some(change.wanted);
        }
        let key = (self.thread, change.fd);
        let mut holds = self.kernel.holds_map();
        let held = holds.get(&key).map_or(Interest::NONE, |(_, interest)| *interest);
        assert!(
            change.force || held == change.known,
            "S9, S11: the masks say {:?}, the poller holds {held:?}",
            change.known
        );
        if change.wanted.is_none() {
            holds.remove(&key);
        } else {
            holds.insert(key, (change.generation, change.wanted));
            if change.force || held.is_none() {
                *self.kernel.begun.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() +=
                    1;
            }
        }
        Some(change.wanted)
    }

    fn wait(&mut self, _: &FdTable, timeout: Option<Duration>, _: &mut Vec<Event>) -> io::Result<()> {
        if let Some(shared) = &self.kernel.shared {
            let mut arrays = HashMap::new();
            shared.scan(|fd, interest| {
                arrays.insert(fd, interest);
            });
            self.kernel.waits.lock().unwrap_or_else(PoisonError::into_inner).insert(self.thread, arrays);
        }
        let woken = self.kernel.wakes.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.thread);
        if timeout != Some(Duration::ZERO) && woken.is_none() {
            resume_unwind(Box::new(Asleep));
        }
        Ok(())
    }

    fn rebuild(&mut self, _: bool) -> io::Result<()> {
        Ok(())
    }
}

/// The writing end of a wake pipe.
struct ModelWake {
    thread: ThreadId,
    kernel: Arc<Kernel>,
}

impl Wake for ModelWake {
    fn wake(&self) {
        *self.kernel.wakes.lock().unwrap_or_else(PoisonError::into_inner).entry(self.thread).or_default() +=
            1;
    }
}

/// A core with a simulated kernel.
pub(super) struct World {
    pub(super) core: Arc<FdCore>,
    pub(super) kernel: Arc<Kernel>,
}

/// One registration of a world.
#[derive(Clone)]
pub(super) struct Registration {
    pub(super) core: Arc<FdCore>,
    pub(super) handle: FdHandle,
    pub(super) owner: OwnerId,
    pub(super) observed: Arc<Observed>,
}

impl Registration {
    /// The calls on it by a thread that is no worker.
    pub(super) fn by_outsider(&self) -> RegistrationRef<'_> {
        self.core.registration(self.handle)
    }

    /// Pins it. It must not have ended.
    pub(super) fn pin(&self) -> Pin<'_> {
        self.core.table().pin(self.handle).expect("S4: the registration has ended")
    }
}

impl World {
    /// Creates a world with groups of the given numbers of threads, and numbers below `capacity`.
    pub(super) fn new(capacity: usize, threads: &[usize]) -> Arc<Self> {
        Self::with(capacity, threads, true)
    }

    /// Creates a world as [`World::new`] does. `kernel_state` tells whether its backend keeps the interest in
    /// the kernel or shares it.
    pub(super) fn with(capacity: usize, threads: &[usize], kernel_state: bool) -> Arc<Self> {
        let shared = (!kernel_state).then(|| GroupInterest::new(capacity));
        if let Some(shared) = &shared {
            // loom does not look into the std lock that orders the creation of a chunk.
            shared.write(0, Interest::BOTH);
            shared.write(0, Interest::NONE);
        }
        let kernel = Arc::new(Kernel { shared, ..Kernel::default() });
        let backend = ModelBackend { kernel: kernel.clone(), kernel_state };
        let table = FdTable::new(capacity, threads).unwrap();
        let core = FdCore::new(table, Box::new(backend), Clock::System);
        for id in core.threads().collect::<Vec<_>>() {
            let waker = ModelWake { thread: id, kernel: kernel.clone() };
            core.thread(id).unwrap().sleep.set_waker(Arc::new(waker));
        }
        Arc::new(Self { core: Arc::new(core), kernel })
    }

    /// Creates a world with one registration, of number 0 in group 1.
    #[cfg(loom)]
    pub(super) fn one(threads: &[usize], mask: u64) -> (Arc<Self>, Registration) {
        let world = Self::new(1, threads);
        let registration = world.insert(0, 1, mask);
        (world, registration)
    }

    /// Inserts a registration that is active for receiving, so its handler runs when it is reported.
    pub(super) fn insert(&self, fd: RawFd, group_number: usize, mask: u64) -> Registration {
        self.insert_with(fd, group_number, mask, state::ACTIVE_R)
            .expect("S10: the slot is free once the number is closed")
    }

    pub(super) fn insert_with(
        &self,
        fd: RawFd,
        group_number: usize,
        mask: u64,
        flags: u32,
    ) -> Option<Registration> {
        let observed = Arc::new(Observed::default());
        let handler = Owner {
            observed: observed.clone(),
            kernel: self.kernel.clone(),
            fd,
            exclusive: mask.count_ones() == 1,
            file: UnsafeCell::new(()),
        };
        let registered = Box::new(handler::Registration::new(handler, Number(fd)));
        let owner = registered.id();
        match self.core.table().insert(
            fd,
            registered,
            group(group_number),
            ThreadMask::from_bits(mask),
            flags,
        ) {
            Ok(handle) => Some(Registration { core: self.core.clone(), handle, owner, observed }),
            Err((_, registered)) => {
                // Nothing was registered, so the drop must not count as a close.
                std::mem::forget(registered);
                None
            }
        }
    }

    /// Creates the context of a worker. The thread that acts as that worker must call this.
    pub(super) fn context(&self, id: ThreadId) -> Context {
        Context::new(self.core.clone(), id)
    }

    fn poller(&self, id: ThreadId) -> Box<dyn Poller> {
        Box::new(ModelPoller { thread: id, kernel: self.kernel.clone() })
    }

    /// Applies the pending updates of the worker of `context` once.
    pub(super) fn apply_updates(&self, context: &Context) {
        Worker::new(context, self.poller(context.id()), None).apply_updates();
    }

    /// Lets the worker `id` apply an update of the registration, so that its poller holds the interest.
    #[cfg(loom)]
    pub(super) fn poll(&self, id: ThreadId, registration: &Registration) {
        let context = self.context(id);
        self.core.schedule(&registration.pin(), Some(&context));
        self.apply_updates(&context);
    }

    /// Runs one iteration of the worker of `context`. Returns whether the thread is asleep in its wait at the
    /// end.
    pub(super) fn iterate(&self, context: &Context, signals: Option<Arc<Signals>>) -> bool {
        let mut worker = Worker::new(context, self.poller(context.id()), signals);
        match catch_unwind(AssertUnwindSafe(|| worker.iterate())) {
            Ok(result) => {
                result.unwrap();
                false
            }
            Err(end) if end.is::<Asleep>() => true,
            Err(failure) => resume_unwind(failure),
        }
    }

    /// The entries in the shared list of a group. No thread may change the list meanwhile.
    pub(super) fn listed(&self, group_number: usize) -> Vec<usize> {
        let (table, list) = (self.core.table(), self.core.table().updates(group(group_number)));
        let mut listed = vec![];
        let mut at = list.head();
        while let Some(fd) = at {
            assert!(!listed.contains(&fd), "S13: cycle: {listed:?}");
            listed.push(fd);
            at = match list.after(table, fd) {
                Next::Fd(next) => Some(next),
                Next::End => None,
                Next::Lost => panic!("S13: {fd} is not linked"),
            };
        }
        listed
    }

    /// Lets the poller of `context` report the registration.
    pub(super) fn report(&self, context: &Context, registration: &Registration) -> Reported {
        context.report(&Event {
            fd: registration.handle.fd,
            generation: registration.handle.generation,
            events: Events::READY_R,
        })
    }

    /// Lets the poller of the worker thread `id` report the registration.
    #[cfg(loom)]
    pub(super) fn report_as(&self, id: ThreadId, registration: &Registration) -> Reported {
        self.report(&self.context(id), registration)
    }

    /// Asserts S4, L4, S10 and S12 for a deleted registration, once all threads are done.
    pub(super) fn assert_ended(&self, registration: &Registration) {
        assert_eq!(
            registration.observed.closed.load(Ordering::SeqCst),
            1,
            "L4: not closed, although no thread uses it"
        );
        assert!(self.core.table().pin(registration.handle).is_err());
    }

    /// Asserts S12 and L9 for a current registration, once all threads are done.
    #[cfg(loom)]
    pub(super) fn assert_at_rest(&self, registration: &Registration) {
        let pin = registration.pin();
        assert!(pin.running().is_empty(), "L9: a running bit remains set");
        assert_eq!(pin.entry().group.peek().references(), 1, "S12: a reference is not released");
        assert_eq!(registration.observed.closed.load(Ordering::SeqCst), 0, "S4: closed without a delete");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The checker has stopped, so no atomic may be used any more.
            std::mem::forget(self.core.clone());
        }
    }
}

/// Runs `act` on another thread.
pub(super) fn spawn<T: 'static>(
    world: &Arc<World>,
    registration: &Registration,
    act: impl FnOnce(&World, &Registration) -> T + Send + 'static,
) -> JoinHandle<T>
where
    T: Send,
{
    let (world, registration) = (world.clone(), registration.clone());
    #[cfg(loom)]
    use loom::thread::spawn;
    #[cfg(shuttle)]
    use shuttle::thread::spawn;
    spawn(move || act(&world, &registration))
}

/// Lets the poller of the worker `id` report the registration, on another thread.
#[cfg(loom)]
pub(super) fn spawn_report(world: &Arc<World>, registration: &Registration, id: ThreadId) -> JoinHandle<()> {
    spawn(world, registration, move |world, registration| _ = world.report_as(id, registration))
}
