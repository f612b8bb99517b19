//! Threads in groups, each with its own poller, from start to clean stop.

use std::any::Any;
use std::fmt;
use std::io;
use std::os::raw::c_int;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use nix::sys::resource::{Resource, getrlimit};

use crate::entry::error::StartError;
use crate::entry::guarded::Guarded;
use crate::poller::{Limits, MakeBackend, Poller};
use crate::shared::FdCore;
use crate::shared::clock::Clock;
use crate::shared::context::Context;
use crate::shared::wake::{drain_wake_pipe, wake_pipe};
use crate::table::FdTable;
use crate::words::ids::{MAX_GROUPS, THREADS_PER_GROUP, ThreadId};
use crate::words::state;
use crate::worker::Worker;
use crate::worker::signals::{self, Action, Caught, Signals};

/// A table for every number that `RLIMIT_NOFILE` allows is not larger than this unless asked for: the limit may be
/// "infinite", or a billion.
const LARGEST_DEFAULT_CAPACITY: usize = 1 << 20;

/// A place in the shared list is written as a number plus one.
const LARGEST_CAPACITY: usize = i32::MAX as usize - 1;

/// How a runtime is to be.
#[derive(Default)]
pub struct Builder {
    groups: Vec<usize>,
    capacity: Option<usize>,
    signals: Vec<(c_int, Action)>,
    clock: Clock,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signals: Vec<_> = self.signals.iter().map(|(signal, _)| signal).collect();
        f.debug_struct("Builder")
            .field("groups", &self.groups)
            .field("capacity", &self.capacity)
            .field("signals", &signals)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Adds a group of `threads` threads, 1 to 64.
    #[must_use]
    pub fn group(mut self, threads: usize) -> Self {
        self.groups.push(threads);
        self
    }

    /// Makes room for descriptor numbers below `capacity`. By default, for those that `RLIMIT_NOFILE` allows, as far
    /// as the backend can take them. Unused entries cost address space, not memory.
    #[must_use]
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = Some(capacity);
        self
    }

    /// Runs `action` on the first thread when `signal` arrives.
    #[must_use]
    pub fn signal(mut self, signal: c_int, action: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        self.signals.push((signal, Box::new(action)));
        self
    }

    /// Takes the time from `now` in place of [`Instant::now`]: what [`Context::after`] counts from and is due by. For tests. It
    /// must not go back; the threads wait in real time.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Clock::Given(Arc::new(now));
        self
    }

    /// Makes the table and every thread's poller; the threads are started by [`Prepared::start`]. What is inserted
    /// between the two is registered when they start.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left behind.
    pub fn prepare(self, make: MakeBackend) -> Result<Prepared, StartError> {
        let shape = &self.groups;
        if !(1..=MAX_GROUPS).contains(&shape.len())
            || shape.iter().any(|n| !(1..=THREADS_PER_GROUP).contains(n))
        {
            let rule = format!("1 to {MAX_GROUPS} groups of 1 to {THREADS_PER_GROUP} threads are possible");
            return Err(StartError::Shape(format!("{rule}; asked for {shape:?}")));
        }
        for (signal, _) in &self.signals {
            signals::check(*signal).map_err(StartError::Shape)?;
        }
        if self.capacity.is_some_and(|capacity| !(1..=LARGEST_CAPACITY).contains(&capacity)) {
            return Err(StartError::Shape(format!(
                "a table has room for 1 to {LARGEST_CAPACITY} descriptors"
            )));
        }
        let threads = shape.iter().copied().max().unwrap_or(0);
        let limits = |capacity| Limits { capacity, groups: shape.len(), threads };
        let (backend, capacity) = match self.capacity {
            Some(capacity) => (make(&limits(capacity))?, capacity),
            None => {
                let wanted = default_capacity()?;
                match make(&limits(wanted)) {
                    Ok(backend) => (backend, wanted),
                    Err(crate::poller::BackendError::Capacity { limit, .. }) => {
                        (make(&limits(limit))?, limit)
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let system = |what| move |source| StartError::System { what, source };
        let table = FdTable::new(capacity, shape).map_err(system("mapping the table"))?;
        let core = Arc::new(FdCore::new(table, backend, self.clock));
        let mut pollers = Vec::new();
        for id in core.threads() {
            let poller = core.backend().poller(id).map_err(system("making a thread's poller"))?;
            equip_with_waker(&core, id).map_err(system("making a thread's wake descriptor"))?;
            pollers.push((id, poller));
        }
        let signals = Arc::new(Signals::new(self.signals));
        Ok(Prepared { core, pollers, signals })
    }

    /// [`Builder::prepare`] and [`Prepared::start`].
    ///
    /// # Errors
    /// [`StartError`]; nothing is left behind.
    pub fn start(self, make: MakeBackend) -> Result<Runtime, StartError> {
        self.prepare(make)?.start()
    }
}

/// As many entries as this process can have descriptors.
fn default_capacity() -> Result<usize, StartError> {
    let source =
        |error: nix::Error| StartError::System { what: "reading RLIMIT_NOFILE", source: error.into() };
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(source)?;
    // "Infinity" is a large positive number on some systems.
    let capacity = usize::try_from(hard).unwrap_or(usize::MAX).min(LARGEST_DEFAULT_CAPACITY);
    fault!(CapacityIgnoresOwn: capacity => capacity - 8);
    Ok(capacity)
}

fn equip_with_waker(core: &Arc<FdCore>, id: ThreadId) -> io::Result<()> {
    let shared = core.thread(id).ok_or(io::ErrorKind::NotFound)?;
    fault!(NoWakerForOneThread => if core.threads().count() == 1 { return Ok(()) });
    if let Some(waker) = core.backend().waker(id) {
        shared.sleep.set_waker(waker);
        return Ok(());
    }
    let (waker, reader) = wake_pipe()?;
    let handle = core
        .register(reader, drain_wake_pipe, id.group(), id.mask(), state::INTERNAL)
        .map_err(|error| io::Error::other(error.reason))?;
    shared.sleep.set_waker(waker);
    core.registration(handle).want_recv().map_err(io::Error::other)
}

/// A runtime whose threads have not started.
pub struct Prepared {
    core: Arc<FdCore>,
    pollers: Vec<(ThreadId, Box<dyn Poller>)>,
    signals: Arc<Signals>,
}

impl Prepared {
    /// The shared side: descriptors may be inserted and wanted already.
    pub fn core(&self) -> &Arc<FdCore> {
        &self.core
    }

    /// Starts the threads. None of them polls before all have registered what is theirs.
    ///
    /// # Errors
    /// [`StartError::System`] if a thread or a signal handler cannot be had; nothing is left behind.
    pub fn start(mut self) -> Result<Runtime, StartError> {
        let first = self.pollers.first().map(|(id, _)| *id);
        let gate = Arc::new(Gate::default());
        let (ended, deaths) = channel();
        let mut runtime = Runtime {
            core: Arc::clone(&self.core),
            threads: Vec::new(),
            deaths,
            caught: None,
            gate: Arc::clone(&gate),
        };
        let count = self.pollers.len();
        for (id, poller) in self.pollers.drain(..) {
            let (core, gate, ended) = (Arc::clone(&self.core), Arc::clone(&gate), ended.clone());
            let signals = (Some(id) == first).then(|| Arc::clone(&self.signals));
            self.core.begin_work();
            let spawned = std::thread::Builder::new()
                .name(format!("worker {id}"))
                .spawn(move || work(core, id, poller, signals, &gate, &ended));
            match spawned {
                Ok(thread) => runtime.threads.push(thread),
                // Dropping the runtime stops and joins those that did start.
                Err(source) => {
                    self.core.end_work();
                    return Err(StartError::System { what: "starting a thread", source });
                }
            }
        }
        if let Some(first) = first {
            let caught = self.signals.catch(&self.core, first);
            let system = |source| StartError::System { what: "catching a signal", source };
            runtime.caught = Some(caught.map_err(system)?);
        }
        gate.open_for(count);
        Ok(runtime)
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("core", &self.core).finish_non_exhaustive()
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // Started, the threads look after what is in the table.
        if !self.pollers.is_empty() {
            self.core.request_stop();
            let _ = self.core.clear();
        }
    }
}

/// Holds the threads until all are ready, or until it turns out that they never will be.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    ready: usize,
    open: Option<bool>,
}

impl Gate {
    /// Reports one thread ready and waits. Returns whether to go on.
    fn pass(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready += 1;
        self.changed.notify_all();
        fault!(ThreadsStartAlone => return true);
        loop {
            match state.open {
                Some(open) => return open,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits for `count` threads, then lets all of them go.
    fn open_for(&self, count: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.ready < count {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.open = Some(true);
        self.changed.notify_all();
    }

    /// Sends home whoever waits.
    fn abandon(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open.get_or_insert(false);
        self.changed.notify_all();
    }
}

fn work(
    core: Arc<FdCore>,
    id: ThreadId,
    poller: Box<dyn Poller>,
    signals: Option<Arc<Signals>>,
    gate: &Gate,
    ended: &Sender<WorkerError>,
) {
    let context = Context::new(core, id);
    let core = Arc::clone(context.core());
    let mut worker = Worker::new(&context, poller, signals);
    let mut guarded = Guarded::default();
    guarded.run(|| {
        context.register_all();
        checkpoint!(ThreadRegistered);
        if gate.pass()
            && let Err(source) = worker.run()
        {
            let _ = ended.send(WorkerError::Poller { thread: id, source });
        }
    });
    guarded.merge(worker.end());
    // One thread less is a runtime that cannot keep its promises: it stops as a whole.
    core.request_stop();
    core.table().disable(id);
    guarded.merge(context.shared().end_tasks());
    guarded.merge(context.end_timers());
    if core.end_work() {
        guarded.merge(core.clear());
    }
    if let Some(panic) = guarded.panic() {
        let _ = ended.send(WorkerError::Panic { thread: id, panic });
    }
}

/// Why a worker thread ended before it was told to.
pub enum WorkerError {
    /// Its poller could not go on.
    Poller {
        /// The thread.
        thread: ThreadId,
        /// What the wait answered.
        source: io::Error,
    },
    /// A handler or task panicked.
    Panic {
        /// The thread.
        thread: ThreadId,
        /// The payload, for [`std::panic::resume_unwind`].
        panic: Box<dyn Any + Send>,
    },
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poller { thread, source } => write!(f, "thread {thread}: its poller failed: {source}"),
            Self::Panic { thread, panic } => {
                let text = panic.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                write!(f, "thread {thread} panicked: {}", text.unwrap_or_else(|| "(no text)".into()))
            }
        }
    }
}

impl fmt::Debug for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for WorkerError {}

/// A running runtime. Dropping it stops it.
pub struct Runtime {
    core: Arc<FdCore>,
    threads: Vec<JoinHandle<()>>,
    deaths: Receiver<WorkerError>,
    caught: Option<Caught>,
    gate: Arc<Gate>,
}

impl Runtime {
    /// What a runtime is made with.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The shared side.
    pub fn core(&self) -> &Arc<FdCore> {
        &self.core
    }

    /// Stops: every thread leaves its wait and its loop, every registration ends and is closed, every task and timer that has
    /// not run is dropped. Prompt: a sleeping thread is woken. The wake descriptors go with the last reference to the core.
    ///
    /// One of the runtime's own threads cannot wait for itself: called there, in a handler, task or timer, this returns at
    /// once, and the last thread to leave ends what is left. So does dropping the runtime there. In a forked child there are
    /// no threads to wait for; what is left is ended at once.
    ///
    /// # Errors
    /// [`WorkerError`] of the first thread that had ended by itself, or in which a handler, task or timer panicked as it was dropped.
    pub fn stop(mut self) -> Result<(), WorkerError> {
        self.shut_down();
        self.deaths.try_recv().map_or(Ok(()), Err)
    }

    fn shut_down(&mut self) {
        // No signal handler may touch the threads any more.
        self.caught = None;
        if self.core.is_inherited() {
            // First: the stop wakes the threads, and these are the parent's.
            self.threads.drain(..).for_each(std::mem::forget);
            let _ = self.core.adopt(None);
        }
        self.core.request_stop();
        self.gate.abandon();
        let me = std::thread::current().id();
        let is_own = self.threads.iter().any(|thread| thread.thread().id() == me);
        fault!(RuntimeJoinsItself: is_own => false);
        if is_own {
            return;
        }
        for thread in self.threads.drain(..) {
            // Panics were caught inside; see `work`.
            let _ = thread.join();
        }
        // Threads that could not be started have left this to be done.
        let _ = self.core.clear();
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("core", &self.core).finish_non_exhaustive()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shut_down();
    }
}
