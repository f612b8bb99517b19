//! Worker threads in groups, each with its own poller, from the start to a clean stop.

use std::any::Any;
use std::fmt;
use std::io;
use std::os::raw::c_int;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

/// The largest default capacity. The default follows `RLIMIT_NOFILE`, which may be infinite or a billion.
const LARGEST_DEFAULT_CAPACITY: usize = 1 << 20;

/// A link of the shared list stores a number plus one.
const LARGEST_CAPACITY: usize = i32::MAX as usize - 1;

/// Configures a [`Runtime`].
///
/// ```
/// use pollmatrix_fd_core::Runtime;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder()
///     .group(4)
///     .group(4)
///     .capacity(1024)
///     .signal(libc::SIGUSR1, |context| print!("{}", context.core().entries()))
///     .start(pollmatrix_poller_poll::backend)?;
/// assert_eq!(runtime.core().threads().count(), 8);
/// assert_eq!(runtime.core().table().capacity(), 1024);
/// runtime.stop()?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Builder {
    groups: Vec<usize>,
    capacity: Option<usize>,
    signals: Vec<(c_int, Action)>,
    hooks: Hooks,
    clock: Clock,
}

/// Code of the program that runs on each worker thread, at its start and at its end.
#[derive(Default)]
struct Hooks {
    start: Vec<Action>,
    data: Option<MakeData>,
    stop: Vec<Action>,
}

/// Makes the value of [`Context::data`].
type MakeData = Box<dyn Fn(&Context) -> Box<dyn Any> + Send + Sync>;

impl Hooks {
    fn start(&self, context: &Context) {
        self.start.iter().for_each(|start| start(context));
        if let Some(data) = &self.data {
            context.set_data(data(context));
        }
    }

    fn stop(&self, context: &Context) {
        self.stop.iter().for_each(|stop| stop(context));
    }
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
    /// Adds a group of 1 to 64 threads. A runtime has 1 to 16 groups. [`Builder::prepare`] refuses other
    /// numbers.
    ///
    /// ```
    /// use pollmatrix_fd_core::Runtime;
    /// use pollmatrix_fd_core::error::StartError;
    ///
    /// let refused = Runtime::builder().group(65).start(pollmatrix_poller_poll::backend);
    /// assert!(matches!(refused, Err(StartError::Shape(_))));
    /// ```
    #[must_use]
    pub fn group(mut self, threads: usize) -> Self {
        self.groups.push(threads);
        self
    }

    /// Sets the bound of descriptor numbers: each number is below it. The default is the hard limit of
    /// `RLIMIT_NOFILE`, at most 2²⁰, reduced to the bound of the backend. Unused entries use address space,
    /// and no memory.
    ///
    /// It bounds numbers and does not count registrations: all open descriptors of the process use up
    /// numbers, those of the runtime's pollers and wake-ups too. A table without room for a wake descriptor
    /// does not start.
    ///
    /// ```
    /// use pollmatrix_fd_core::Runtime;
    /// let refused = Runtime::builder().group(1).capacity(1).start(pollmatrix_poller_poll::backend);
    /// let reason = refused.expect_err("standard input has number 0").to_string();
    /// assert!(reason.ends_with("does not fit in a table of 1 entries"), "{reason}");
    /// ```
    #[must_use]
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = Some(capacity);
        self
    }

    /// Runs `action` on the first thread of the first group after `signal` has arrived; in a forked child
    /// that goes on, on the thread that does. It is an ordinary function call, not the body of a signal
    /// handler, and it must not block. Signals that arrive before the action runs count as one. A second
    /// action for the same signal runs after the first one.
    ///
    /// [`Builder::prepare`] refuses a signal that cannot be caught (`SIGKILL`), or whose handler cannot
    /// return (`SIGSEGV`). A panic of the action stops the runtime; [`Runtime::stop`] returns it.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = pollmatrix_fd_core::Runtime::builder()
    ///     .group(1)
    ///     .signal(libc::SIGUSR2, move |context| sender.send(context.id()).expect("main waits"))
    ///     .start(pollmatrix_poller_poll::backend)?;
    /// // SAFETY: raise(3) has no precondition.
    /// unsafe { libc::raise(libc::SIGUSR2) };
    /// assert_eq!(receiver.recv()?.to_string(), "1/0");
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn signal(mut self, signal: c_int, action: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        self.signals.push((signal, Box::new(action)));
        self
    }

    /// Runs `action` on each worker thread before its first handler, task or timer: to set its affinity,
    /// priority or name by the calls of the system. A second action runs after the first one. No thread polls
    /// before the actions of all threads have returned.
    ///
    /// A panic of the action stops the runtime; [`Runtime::stop`] returns it.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (started, starts) = channel();
    /// let (stopped, stops) = channel();
    /// let runtime = pollmatrix_fd_core::Runtime::builder()
    ///     .group(2)
    ///     .on_start(move |context| started.send(context.id()).expect("main waits"))
    ///     .on_stop(move |context| stopped.send(context.id()).expect("main waits"))
    ///     .start(pollmatrix_poller_poll::backend)?;
    /// assert_ne!(starts.recv()?, starts.recv()?);
    /// runtime.stop()?;
    /// assert_ne!(stops.recv()?, stops.recv()?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on_start(mut self, action: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        self.hooks.start.push(Box::new(action));
        self
    }

    /// Runs `action` on each worker thread after its last handler, task or timer. A thread whose start has
    /// panicked does not run it. Otherwise as [`Builder::on_start`], which has an example.
    #[must_use]
    pub fn on_stop(mut self, action: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        self.hooks.stop.push(Box::new(action));
        self
    }

    /// Gives each worker thread a value of its own, without a lock: buffers, counters, a pool of idle
    /// connections. `make` runs on the thread, after [`Builder::on_start`], and [`Context::data`] lends the
    /// value. It is dropped on the thread, at its end. A second call replaces the first one.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::builder()
    ///     .group(1)
    ///     .thread_data(|_| Cell::new(0_u32))
    ///     .start(pollmatrix_poller_poll::backend)?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// for _ in 0..2 {
    ///     let sender = sender.clone();
    ///     runtime.core().post(ThreadId::FIRST, move |context| {
    ///         let count = context.data::<Cell<u32>>().expect("each thread has one");
    ///         count.set(count.get() + 1);
    ///         sender.send(count.get()).expect("main waits");
    ///     })?;
    /// }
    /// assert_eq!((receiver.recv()?, receiver.recv()?), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn thread_data<T: 'static>(mut self, make: impl Fn(&Context) -> T + Send + Sync + 'static) -> Self {
        self.hooks.data = Some(Box::new(move |context| Box::new(make(context))));
        self
    }

    /// Takes the time of [`Context::after`] from `now` in place of [`Instant::now`], for tests. Every worker
    /// thread calls it. The time must not go back. The threads wait in real time: a test that sets the time
    /// forward [wakes](FdCore::wake) them.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::sync::{Arc, Mutex};
    /// use std::time::{Duration, Instant};
    ///
    /// # use pollmatrix_fd_core::ids::ThreadId;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// const HOUR: Duration = Duration::from_secs(60 * 60);
    /// let time = Arc::new(Mutex::new(Instant::now()));
    /// let now = Arc::clone(&time);
    /// let runtime = pollmatrix_fd_core::Runtime::builder()
    ///     .group(1)
    ///     .clock(move || *now.lock().expect("no panic"))
    ///     .start(pollmatrix_poller_poll::backend)?;
    /// let id = ThreadId::FIRST;
    /// let (set, is_set) = channel();
    /// let (late, is_late) = channel();
    /// runtime.core().post(id, move |context| {
    ///     context.after(HOUR, move |_| late.send(()).expect("main waits"));
    ///     set.send(()).expect("main waits");
    /// })?;
    /// is_set.recv()?;
    /// *time.lock().expect("no panic") += HOUR;
    /// runtime.core().wake(id);
    /// is_late.recv()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Clock::Given(Arc::new(now));
        self
    }

    /// Creates the table, and the poller of each thread. [`Prepared::start`] starts the threads, which then
    /// register the sources that were inserted in between. `make` is the function `backend` of a backend's
    /// crate.
    ///
    /// ```
    /// # use std::net::TcpListener;
    /// # use pollmatrix_fd_core::ids::ThreadId;
    /// # use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let prepared = Runtime::builder().group(2).prepare(pollmatrix_poller_poll::backend)?;
    /// let core = prepared.core();
    /// let id = ThreadId::FIRST;
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// listener.set_nonblocking(true)?;
    /// let accept = |ready: &ReadyGuard<'_, TcpListener>| _ = ready.source().accept();
    /// let handle = core.insert(listener, accept, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).want_recv()?;
    /// let runtime = prepared.start()?;
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`StartError`]. No thread and no descriptor remains.
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
        let (signals, hooks) = (Arc::new(Signals::new(self.signals)), Arc::new(self.hooks));
        Ok(Prepared { core, pollers, signals, hooks })
    }

    /// [`Builder::prepare`], then [`Prepared::start`].
    ///
    /// # Errors
    /// [`StartError`]. No thread and no descriptor remains.
    pub fn start(self, make: MakeBackend) -> Result<Runtime, StartError> {
        self.prepare(make)?.start()
    }
}

/// The number of descriptors that this process can have.
fn default_capacity() -> Result<usize, StartError> {
    let source =
        |error: nix::Error| StartError::System { what: "reading RLIMIT_NOFILE", source: error.into() };
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(source)?;
    // Infinity is a large positive number on some systems.
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
    core.count_internal();
    core.registration(handle).want_recv().map_err(io::Error::other)
}

/// A runtime whose threads have not started, from [`Builder::prepare`], which has an example. The drop closes
/// the sources that were inserted, and drops the tasks.
pub struct Prepared {
    core: Arc<FdCore>,
    pollers: Vec<(ThreadId, Box<dyn Poller>)>,
    signals: Arc<Signals>,
    hooks: Arc<Hooks>,
}

impl Prepared {
    /// The part that all threads share. It accepts insertions and tasks already.
    pub fn core(&self) -> &Arc<FdCore> {
        &self.core
    }

    /// Starts the threads. No thread polls before all of them have registered their descriptors.
    ///
    /// # Errors
    /// [`StartError::System`] if a thread or a signal handler cannot be created. No thread and no descriptor
    /// remains.
    pub fn start(mut self) -> Result<Runtime, StartError> {
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
            let signals = (!self.signals.is_empty()).then(|| Arc::clone(&self.signals));
            let hooks = Arc::clone(&self.hooks);
            self.core.begin_work();
            let spawned = std::thread::Builder::new()
                .name(format!("worker {id}"))
                .spawn(move || work(core, id, poller, signals, &hooks, &gate, &ended));
            match spawned {
                Ok(thread) => runtime.threads.push(thread),
                // The drop of the runtime stops and joins the threads that have started.
                Err(source) => {
                    self.core.end_work();
                    self.core.end_thread();
                    return Err(StartError::System { what: "starting a thread", source });
                }
            }
        }
        let caught = self.signals.catch(&self.core);
        let system = |source| StartError::System { what: "catching a signal", source };
        runtime.caught = Some(caught.map_err(system)?);
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
        // After a start, the threads end the registrations.
        if !self.pollers.is_empty() {
            self.core.request_stop();
            let _ = self.core.clear();
        }
    }
}

/// Holds the threads until all are ready, or until the start has failed.
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
    /// Reports one thread as ready.
    fn arrive(&self) -> MutexGuard<'_, GateState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready += 1;
        self.changed.notify_all();
        state
    }

    /// Reports one thread as ready and waits. Returns whether to continue.
    fn pass(&self) -> bool {
        let mut state = self.arrive();
        fault!(ThreadsStartAlone => return true);
        loop {
            match state.open {
                Some(open) => return open,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits for `count` threads, then releases all of them.
    fn open_for(&self, count: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.ready < count {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.open = Some(true);
        self.changed.notify_all();
    }

    /// Releases the waiting threads, which then end.
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
    hooks: &Hooks,
    gate: &Gate,
    ended: &Sender<WorkerError>,
) {
    let context = Context::new(core, id);
    let core = Arc::clone(context.core());
    let mut worker = Worker::new(&context, poller, signals);
    let mut guarded = Guarded::default();
    guarded.run(|| hooks.start(&context));
    let has_started = !guarded.has_panic();
    if has_started {
        guarded.run(|| {
            context.register_all();
            checkpoint!(ThreadRegistered);
            if gate.pass()
                && let Err(source) = worker.run()
            {
                let _ = ended.send(WorkerError::Poller { thread: id, source });
            }
        });
    } else {
        drop(gate.arrive());
    }
    guarded.merge(worker.end());
    if has_started {
        guarded.run(|| hooks.stop(&context));
    }
    // A runtime that has lost a thread cannot serve its descriptors, so it stops.
    core.request_stop();
    core.table().disable(id);
    guarded.merge(context.shared().end_tasks());
    guarded.merge(context.end_timers());
    if core.end_work() {
        guarded.merge(core.clear());
    }
    // Its value is dropped on its own thread.
    guarded.run(|| drop(context));
    if let Some(panic) = guarded.panic() {
        let _ = ended.send(WorkerError::Panic { thread: id, panic });
    }
    core.end_thread();
}

/// Why a worker thread ended by itself. `Display` and `Debug` show the thread and the reason.
///
/// ```
/// use std::panic::resume_unwind;
///
/// use pollmatrix_fd_core::ids::ThreadId;
/// use pollmatrix_fd_core::WorkerError;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
/// let id = ThreadId::FIRST;
/// runtime.core().post(id, |_| panic!("on purpose"))?;
/// runtime.wait(None);
/// let Err(WorkerError::Panic { thread, panic }) = runtime.stop() else { panic!("the task panicked") };
/// assert_eq!(thread, id);
/// assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
/// // `resume_unwind(panic)` would continue the panic in this thread.
/// # let _ = resume_unwind;
/// # Ok(())
/// # }
/// ```
pub enum WorkerError {
    /// The wait of its poller fails and cannot succeed again.
    Poller {
        /// The thread.
        thread: ThreadId,
        /// The error of the wait.
        source: io::Error,
    },
    /// A handler, task, timer or signal action panicked, or the drop of one of them.
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

/// Running worker threads. The drop stops them and waits, as [`Runtime::stop`] does, but loses the error.
///
/// It is not `Sync`. Threads and handlers share the [`FdCore`]; a thread that cannot have the runtime calls
/// [`FdCore::request_stop`].
pub struct Runtime {
    core: Arc<FdCore>,
    threads: Vec<JoinHandle<()>>,
    deaths: Receiver<WorkerError>,
    caught: Option<Caught>,
    gate: Arc<Gate>,
}

impl Runtime {
    /// Starts one thread, with the defaults of the [`Builder`]: for examples and small programs.
    /// [`ThreadId::FIRST`] names it.
    ///
    /// # Errors
    /// [`StartError`]. No thread and no descriptor remains.
    pub fn single(make: MakeBackend) -> Result<Self, StartError> {
        Self::builder().group(1).start(make)
    }

    /// Returns a builder without groups. At least one group must be added.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The part that all threads share. It may outlive the runtime, and then refuses all work.
    pub fn core(&self) -> &Arc<FdCore> {
        &self.core
    }

    /// Stops the threads and waits for their end. Sleeping threads are woken. All registrations end and their
    /// sources are closed; tasks and timers that have not run are dropped. The wake descriptors are closed
    /// with the last reference to the core. The call does not wait for open connections.
    ///
    /// A thread of the runtime cannot wait for itself. If a handler, task or timer calls this or drops the
    /// runtime, the call returns at once, and the last thread that ends closes the sources. In a forked child
    /// there are no threads to wait for.
    ///
    /// ```
    /// # use pollmatrix_fd_core::ids::ThreadId;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let id = ThreadId::FIRST;
    /// runtime.core().post(id, |_| panic!("on purpose"))?;
    /// runtime.wait(None);
    /// assert_eq!(runtime.stop().unwrap_err().to_string(), "thread 1/0 panicked: on purpose");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Runtime::drain`] ends the connections first.
    ///
    /// # Errors
    /// [`WorkerError`] of the first thread that ended by itself, or in which a handler, task, timer or signal
    /// action panicked. The runtime has stopped in this case, too. A call by a thread of the runtime returns
    /// the errors so far.
    pub fn stop(mut self) -> Result<(), WorkerError> {
        self.shut_down();
        self.deaths.try_recv().map_or(Ok(()), Err)
    }

    /// Waits until every thread of the runtime has ended, at most `timeout`, or without a limit if it is
    /// `None`. Returns whether they have: after [`FdCore::request_stop`], or because one has failed. By then
    /// the sources are closed and the handlers dropped.
    /// [`Runtime::stop`] then returns at once. A thread of the runtime cannot wait for itself: there the call
    /// returns false at once.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use pollmatrix_fd_core::ids::ThreadId;
    ///
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// assert!(!runtime.wait(Some(Duration::ZERO)), "it runs");
    /// runtime.core().post(ThreadId::FIRST, |context| context.core().request_stop())?;
    /// assert!(runtime.wait(None));
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        !self.is_own_thread() && self.core.wait_until(timeout, FdCore::has_ended)
    }

    /// Waits until the registrations of the program have ended, at most `timeout`, and then stops. Returns
    /// how many were left, which the stop has ended.
    ///
    /// The program deletes its listeners before, so that no connection comes any more. Handlers ask
    /// [`FdCore::is_draining`], and close a connection after its last answer. A thread of the runtime does
    /// not wait.
    ///
    /// ```
    /// use std::io::Write;
    /// use std::os::unix::net::UnixStream;
    /// use std::time::Duration;
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let (core, id) = (runtime.core(), ThreadId::FIRST);
    /// let (near, client) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let handler = |ready: &ReadyGuard<'_, UnixStream>| {
    ///     if ready.events().is_read_closed() {
    ///         let _ = ready.registration().delete();
    ///     }
    /// };
    /// let handle = core.insert(near, handler, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).want_recv()?;
    ///
    /// drop(client);
    /// assert_eq!(runtime.drain(Duration::from_secs(60))?, 0, "the connection has ended by itself");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Runtime::stop`].
    pub fn drain(self, timeout: Duration) -> Result<u64, WorkerError> {
        self.core.begin_drain();
        if !self.is_own_thread() {
            let is_over = |core: &FdCore| core.left() == 0 || core.is_stopping();
            unless!(DrainDoesNotWait => self.core.wait_until(Some(timeout), is_over));
        }
        let left = self.core.left();
        self.stop().map(|()| left)
    }

    fn is_own_thread(&self) -> bool {
        let me = std::thread::current().id();
        self.threads.iter().any(|thread| thread.thread().id() == me)
    }

    fn shut_down(&mut self) {
        // From now on no signal handler uses the threads.
        self.caught = None;
        if self.core.is_inherited() {
            // Before the stop, which wakes threads: these belong to the parent.
            self.threads.drain(..).for_each(std::mem::forget);
            let _ = self.core.adopt(None);
        }
        self.core.request_stop();
        self.gate.abandon();
        let is_own = self.is_own_thread();
        fault!(RuntimeJoinsItself: is_own => false);
        if is_own {
            return;
        }
        for thread in self.threads.drain(..) {
            // `work` has caught the panics.
            let _ = thread.join();
        }
        // Threads that could not start have ended nothing.
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
