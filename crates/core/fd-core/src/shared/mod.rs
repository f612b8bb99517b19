//! The part of a runtime that its threads share: the table, the other threads' view of a thread, the backend.

pub(crate) mod activity;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod dump;
pub(crate) mod handler;
mod mistakes;
pub(crate) mod options;
pub(crate) mod ready;
pub(crate) mod task_queue;
pub(crate) mod timers;
mod waiters;
pub(crate) mod wake;

use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::socket::{setsockopt, sockopt};

use crate::entry::error::{InsertError, MoveError, PostError, TryPostError};
use crate::entry::guarded::Guarded;
use crate::entry::owner::OwnerId;
use crate::entry::source::{IntoSource, Source};
use crate::hooks::trace;
use crate::poller::owner_process::OwnerProcess;
use crate::poller::{Backend, Capabilities};
use crate::shared::activity::{Activity, ActivitySnapshot, ActivityTable};
use crate::shared::clock::Clock;
use crate::shared::context::Context;
use crate::shared::handler::{Handler, Registration};
use crate::shared::options::InsertOptions;
use crate::shared::ready::RegistrationRef;
use crate::shared::task_queue::TaskQueue;
use crate::shared::waiters::Waiters;
use crate::shared::wake::Sleep;
use crate::table::counts::Count;
use crate::table::{FdHandle, FdTable, Live, Orphan, Retired, Scheduled};
use crate::words::events::DeregisterReason;
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::state;
use crate::words::sync::{AtomicU64, Ordering, count};

/// The part of a runtime that all threads share: the table, its backend, and the queues of the worker
/// threads.
///
/// Every thread may call every method, and none of them waits for a handler. A worker thread has calls of its
/// own in its [`Context`].
///
/// ```
/// use std::os::unix::net::UnixStream;
///
/// use pollmatrix_fd_core::ids::ThreadMask;
/// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
/// let core = runtime.core();
/// let group = core.table().groups().next().expect("the table has one group");
///
/// let (near, far) = UnixStream::pair()?;
/// near.set_nonblocking(true)?;
/// let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
/// let handle = core.insert(near, ignore, group, ThreadMask::ALL, InsertOptions::default())?;
/// assert_eq!(core.entry(handle)?.thread_mask.len(), 2, "both threads may use it");
///
/// core.registration(handle).delete()?;
/// assert!(core.entry(handle).is_err(), "the handle is stale");
/// runtime.stop()?;
/// # Ok(())
/// # }
/// ```
pub struct FdCore {
    table: FdTable,
    backend: Box<dyn Backend>,
    capabilities: Capabilities,
    /// By group, and by the index of the thread.
    threads: Box<[Box<[Arc<SharedThread>]>]>,
    pub(crate) clock: Clock,
    /// The timeouts of registrations count from here.
    epoch: Instant,
    /// A forked child has a copy of the core.
    process: OwnerProcess,
    /// The thread that handles signals. It changes only in a forked child, which has one thread then.
    signal_thread: count::AtomicU32,
    /// The number of worker threads that have started and not ended.
    working: count::AtomicU32,
    /// The number of worker threads that have not run their last code.
    living: count::AtomicU32,
    /// The number of registrations of the runtime itself.
    internal: count::AtomicU64,
    draining: std::sync::atomic::AtomicBool,
    waiters: Waiters,
}

/// The part of a worker thread that other threads use.
#[repr(align(128))]
pub(crate) struct SharedThread {
    pub(crate) sleep: Sleep,
    pub(crate) activity: Activity,
    pub(crate) tasks: TaskQueue,
    /// The caught signals that are not handled yet: bit n − 1 for signal n.
    pub(crate) signals: AtomicU64,
}

/// The numbers of registrations that have begun and ended, from [`FdCore::registration_counts`].
///
/// If no thread begins or ends a registration, `inserted` is the sum of `closed`, `released` and
/// [`FdTable::used`]. The wake descriptors of the runtime count as registrations: one for each thread whose
/// backend has no waker of its own.
///
/// ```
/// # use std::os::unix::net::UnixStream;
/// # use pollmatrix_fd_core::ids::ThreadId;
/// # use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
/// let core = runtime.core();
/// assert_eq!(core.registration_counts().inserted, 2, "a wake descriptor for each thread");
///
/// # let id = ThreadId::FIRST;
/// # let (near, far) = UnixStream::pair()?;
/// # near.set_nonblocking(true)?;
/// # let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
/// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
/// core.registration(handle).delete()?;
/// let counts = core.registration_counts();
/// assert_eq!((counts.inserted, counts.closed, core.table().used()), (3, 1, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegistrationCounts {
    /// Registrations that have begun.
    pub inserted: u64,
    /// Registrations that ended with a close of their descriptor.
    pub closed: u64,
    /// Registrations that ended with a return of their source.
    pub released: u64,
    /// The number of closes in `closed` that failed: with `EBADF` other code had closed the number.
    pub close_errors: u64,
}

impl FdCore {
    pub(crate) fn new(table: FdTable, backend: Box<dyn Backend>, clock: Clock) -> Self {
        let thread = |_| {
            Arc::new(SharedThread {
                sleep: Sleep::new(),
                activity: Activity::default(),
                tasks: TaskQueue::new(),
                signals: AtomicU64::new(0),
            })
        };
        let threads =
            table.groups().map(|group| (0..table.threads(group).len()).map(thread).collect()).collect();
        Self {
            table,
            capabilities: backend.capabilities(),
            backend,
            threads,
            epoch: clock.now(),
            clock,
            process: OwnerProcess::this(),
            signal_thread: count::AtomicU32::new(ThreadId::FIRST.number()),
            working: count::AtomicU32::new(0),
            living: count::AtomicU32::new(0),
            internal: count::AtomicU64::new(0),
            draining: std::sync::atomic::AtomicBool::new(false),
            waiters: Waiters::new(),
        }
    }

    /// The table. Its methods read sizes and groups; insertions and all other changes go through the core.
    pub fn table(&self) -> &FdTable {
        &self.table
    }

    /// The backend that the runtime was started with.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// The features of the backend, which do not change.
    pub(crate) fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Every worker thread, lowest group and lowest index first.
    ///
    /// ```
    /// # fn main() -> Result<(), pollmatrix_fd_core::error::StartError> {
    /// use pollmatrix_fd_core::Runtime;
    /// let runtime = Runtime::builder().group(2).group(1).start(pollmatrix_poller_poll::backend)?;
    /// let names: Vec<_> = runtime.core().threads().map(|id| id.to_string()).collect();
    /// assert_eq!(names, ["1/0", "1/1", "2/0"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let of =
            |group| self.table.threads(group).indices().filter_map(move |index| ThreadId::new(group, index));
        self.table.groups().flat_map(of)
    }

    pub(crate) fn thread(&self, id: ThreadId) -> Option<&Arc<SharedThread>> {
        self.threads.get(id.group().index())?.get(id.index())
    }

    /// Registers a source with its handler, for the threads of `threads` that `group` has. At least one must
    /// exist.
    ///
    /// The table owns both until [`RegistrationRef::delete`] closes the source, or
    /// [`RegistrationRef::disown`] returns it to [`Handler::released`]. Both directions begin disabled: no
    /// thread polls the source before the first [`want_recv`](RegistrationRef::want_recv) or
    /// [`want_send`](RegistrationRef::want_send).
    ///
    /// A closure must state the type of its argument, `|ready: &ReadyGuard<'_, TcpListener>| …`: the compiler
    /// does not infer it. The handler gets the handle of its registration from
    /// [`ReadyGuard::handle`](crate::ReadyGuard::handle).
    ///
    /// ```
    /// use std::net::TcpListener;
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::error::InsertRefused;
    /// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let id = ThreadId::FIRST;
    /// let accept = |ready: &ReadyGuard<'_, TcpListener>| _ = ready.source().accept();
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let (group, threads, options) = (id.group(), id.mask(), InsertOptions::default());
    /// let refused = core.insert(listener, accept, group, threads, options).unwrap_err();
    /// assert!(matches!(refused.reason, InsertRefused::Blocking { .. }));
    ///
    /// // The error returns the source and the handler.
    /// let listener = refused.source;
    /// listener.set_nonblocking(true)?;
    /// let handle = core.insert(listener, accept, group, threads, options)?;
    /// core.registration(handle).want_recv()?;
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InsertError`] with the source, the handler and the [reason](crate::error::InsertRefused). Nothing
    /// has changed then.
    #[inline]
    pub fn insert<I: IntoSource, H: Handler<I::Source>>(
        &self,
        source: I,
        handler: H,
        group: GroupId,
        threads: ThreadMask,
        options: InsertOptions,
    ) -> Result<FdHandle, InsertError<I, H>> {
        if let Err(reason) = options.check_mode(source.as_fd()) {
            return Err(InsertError { reason, source, handler });
        }
        let cloned = if I::IS_CLONED { state::CLONED } else { 0 };
        self.register(source.into_source(), handler, group, threads, options.flags() | cloned).map_err(
            |InsertError { reason, source, handler }| InsertError {
                reason,
                source: I::from_source(source),
                handler,
            },
        )
    }

    /// [`FdCore::insert`] with state bits in place of options, and without the check of the mode.
    #[inline]
    pub(crate) fn register<S: Source, H: Handler<S>>(
        &self,
        source: S,
        handler: H,
        group: GroupId,
        threads: ThreadMask,
        flags: u32,
    ) -> Result<FdHandle, InsertError<S, H>> {
        let fd = source.as_fd().as_raw_fd();
        let owner = Box::new(Registration::new(handler, source));
        match self.table.insert(fd, owner, group, threads, flags) {
            Ok(handle) => {
                trace::insert(fd, handle.generation(), group, threads);
                Ok(handle)
            }
            Err((reason, owner)) => {
                trace::insert_refused(fd, reason);
                let Registration { handler, source, .. } = *owner;
                Err(InsertError { reason, source, handler })
            }
        }
    }

    /// Returns the calls on one registration. It does not check the handle; each of the calls does. In a
    /// worker thread [`Context::registration`] is faster: it needs no wake-up for a descriptor of the thread.
    pub fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        RegistrationRef { core: self, caller: None, handle, entered: None }
    }

    /// Runs `task` on a worker thread, after the tasks that the same caller posted before. A sleeping thread
    /// is woken. The task must not block.
    ///
    /// A handler that posts to its own thread gets the task run after it has returned. Between two looks at
    /// its poller, a thread runs at most 64 tasks. The queue has no bound: [`FdCore::try_post`] refuses a
    /// task where too many wait.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// use pollmatrix_fd_core::error::PostError;
    /// use pollmatrix_fd_core::ids::ThreadId;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let id = ThreadId::FIRST;
    /// let (sender, receiver) = channel();
    /// core.post(id, move |context| sender.send(context.id()).expect("the receiver waits"))?;
    /// assert_eq!(receiver.recv()?, id);
    ///
    /// let nowhere = ThreadId::new(id.group(), 7).expect("a group can have 64 threads");
    /// assert_eq!(core.post(nowhere, |_| ()), Err(PostError::NoThread { thread: nowhere }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PostError`]. The task has been dropped then. A task that was accepted is dropped if its thread ends
    /// before it runs the task.
    ///
    /// # Panics
    /// A panic of the task stops the runtime; [`Runtime::stop`](crate::Runtime::stop) returns it.
    pub fn post(
        &self,
        thread: ThreadId,
        task: impl FnOnce(&Context) + Send + 'static,
    ) -> Result<(), PostError> {
        let shared = self.thread(thread).ok_or(PostError::NoThread { thread })?;
        checkpoint!(WakeBegun, thread.number() as RawFd);
        let posted = shared.wake_after(|tasks| tasks.push(Box::new(task)));
        posted.map_err(|_| PostError::Ended { thread })
    }

    /// As [`FdCore::post`], if fewer than `limit` tasks wait for the thread. The caller gets a task back for
    /// which there is no room: work that comes faster than it is done must be refused somewhere.
    ///
    /// ```
    /// use pollmatrix_fd_core::error::TryPostError;
    /// use pollmatrix_fd_core::ids::ThreadId;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let (core, id) = (runtime.core(), ThreadId::FIRST);
    /// let (hold, held) = std::sync::mpsc::channel::<()>();
    /// let (runs, running) = std::sync::mpsc::channel();
    /// core.post(id, move |_| {
    ///     runs.send(()).expect("main waits");
    ///     let _ = held.recv();
    /// })?;
    /// running.recv()?;
    ///
    /// assert!(core.try_post(id, 1, |_| ()).is_ok());
    /// let Err(TryPostError::Full { waiting, .. }) = core.try_post(id, 1, |_| ()) else {
    ///     panic!("one task waits")
    /// };
    /// assert_eq!(waiting, 1);
    /// drop(hold);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TryPostError`].
    ///
    /// # Panics
    /// As [`FdCore::post`].
    pub fn try_post<F: FnOnce(&Context) + Send + 'static>(
        &self,
        thread: ThreadId,
        limit: usize,
        task: F,
    ) -> Result<(), TryPostError<F>> {
        let shared = self.thread(thread).ok_or(PostError::NoThread { thread })?;
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        match shared.tasks.reserve(limit, || shared.activity.tasks.get()) {
            // Of a thread that has ended, no task waits any more, and there will never be room.
            Err(_) if shared.tasks.is_closed() => Err(PostError::Ended { thread }.into()),
            Err(waiting) => Err(TryPostError::Full { task, waiting }),
            Ok(()) => {
                checkpoint!(WakeBegun, thread.number() as RawFd);
                let posted = shared.wake_after(|tasks| tasks.push_reserved(Box::new(task)));
                posted.map_err(|_| PostError::Ended { thread }.into())
            }
        }
    }

    /// Makes a worker thread begin another iteration of its loop, even if it sleeps. A thread that does not
    /// exist is ignored. A signal handler may call it. Insertions, tasks and all other calls wake the threads
    /// that must act, so programs need it with [`Builder::clock`](crate::Builder::clock) only.
    pub fn wake(&self, thread: ThreadId) {
        if let Some(shared) = self.thread(thread) {
            checkpoint!(WakeBegun, thread.number() as RawFd);
            shared.sleep.wake();
        }
    }

    /// Wakes the threads of `threads` in `group`.
    pub(crate) fn wake_all(&self, group: GroupId, threads: ThreadMask) {
        let threads = threads.indices().filter_map(|index| ThreadId::new(group, index));
        threads.for_each(|thread| self.wake(thread));
    }

    /// Whether a stop was requested: by [`FdCore::request_stop`], by [`Runtime::stop`](crate::Runtime::stop),
    /// or because a worker thread has ended.
    pub fn is_stopping(&self) -> bool {
        self.table.is_closed()
    }

    /// Requests the worker threads to stop, and does not wait for them. From now on insertions are refused.
    /// The last thread that ends closes the sources that are still registered. Every thread may call it, in
    /// handlers, tasks and signal actions too.
    ///
    /// ```
    /// # use pollmatrix_fd_core::ids::ThreadId;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
    /// let core = std::sync::Arc::clone(runtime.core());
    /// let id = ThreadId::FIRST;
    /// // A worker thread cannot wait for itself, so it requests the stop.
    /// core.post(id, |context| context.core().request_stop())?;
    /// runtime.wait(None);
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn request_stop(&self) {
        let wake = || self.threads().for_each(|thread| self.wake(thread));
        fault!(WakeBeforeStop => wake());
        // Pair: sleep. The stop is published before the wake-up (L2, L8).
        self.table.close();
        unless!(StopWithoutWake, WakeBeforeStop => wake());
    }

    /// Whether the runtime [drains](FdCore::begin_drain). Handlers then close a connection as soon as it is
    /// idle.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Makes [`FdCore::is_draining`] true. [`Runtime::drain`](crate::Runtime::drain) does it, too; a program
    /// calls it before if its idle connections must be told, by a timeout or a task. It changes nothing else.
    ///
    /// A connection that becomes idle at the same time can miss both. A handler that sets the timeout of an
    /// idle connection asks [`FdCore::is_draining`] *after* that: then either it learns of the end, or the
    /// timeout that the end sets comes after its own. The example `http_server` does so.
    pub fn begin_drain(&self) {
        // Relaxed: who replaces a timeout that was set after this has acquired it (pair: timeout).
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Counts a registration of the runtime itself.
    pub(crate) fn count_internal(&self) {
        self.internal.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of registrations of the program.
    pub(crate) fn left(&self) -> u64 {
        self.table.used().saturating_sub(self.internal.load(Ordering::Relaxed))
    }

    /// Whether no worker thread is left.
    pub(crate) fn has_ended(&self) -> bool {
        // Pair: end.
        self.living.load(Ordering::Acquire) == 0
    }

    /// Waits until `holds` returns true, at most `timeout`. Returns whether it does. It is asked again when a
    /// worker thread ends, and at the ends of registrations while the runtime drains.
    pub(crate) fn wait_until(&self, timeout: Option<Duration>, holds: impl Fn(&Self) -> bool) -> bool {
        self.waiters.wait(timeout, || holds(self))
    }

    /// Notes that a worker thread has run its last code, and makes the threads of [`FdCore::wait_until`]
    /// look.
    pub(crate) fn end_thread(&self) {
        // Pair: end.
        self.living.fetch_sub(1, Ordering::AcqRel);
        self.waiters.notify();
    }

    /// Makes them look after the end of a registration.
    #[inline]
    fn note_end(&self) {
        // Without an order: a thread that begins to wait at this moment looks again by itself.
        if self.is_draining() {
            self.waiters.notify();
        }
    }

    /// Counts a worker thread that starts.
    pub(crate) fn begin_work(&self) {
        self.working.fetch_add(1, Ordering::Relaxed);
        self.living.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a worker thread that ends. Returns whether it is the last one. The last one sees the writes of
    /// the others.
    pub(crate) fn end_work(&self) -> bool {
        // Pair: end.
        self.working.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether this process is a forked child that has not adopted the core.
    pub(crate) fn is_inherited(&self) -> bool {
        !self.process.is_this()
    }

    /// Adopts the core in a forked child: finishes or undoes the steps of the threads that do not exist here,
    /// and releases their references. `worker` is the worker thread that continues, if there is one, and the
    /// descriptors that it uses.
    ///
    /// Only the single thread of the process may call it. The caller decides what to do with the panic of a
    /// handler that this ends.
    pub(crate) fn adopt(&self, worker: Option<(ThreadId, &[RawFd])>) -> Guarded {
        let me = worker.map(|(me, _)| me);
        self.draining.store(false, Ordering::Relaxed);
        self.working.store(u32::from(me.is_some()), Ordering::Relaxed);
        self.living.store(u32::from(me.is_some()), Ordering::Relaxed);
        for thread in self.threads().filter(|thread| Some(*thread) != me) {
            self.table.disable(thread);
            if let Some(shared) = self.thread(thread) {
                shared.sleep.silence();
                // The drop of a task could wait for a thread that does not exist here, so the tasks are
                // leaked.
                std::mem::forget(shared.tasks.close());
            }
        }
        if let Some(me) = me {
            unless!(SignalsStayBehind => self.move_signals(me));
        }
        // From now on a signal handler wakes threads: none of the parent's any more.
        self.process.claim();
        let mut guarded = Guarded::default();
        fault!(ForkKeepsUsers => return guarded);
        let ended = self.table.after_fork(worker, |fd, group, recv, send, reason| {
            self.backend.forget(fd, group, recv, send, reason);
        });
        ended.into_iter().for_each(|retired| guarded.run(|| self.end(retired)));
        guarded
    }

    /// The thread that handles signals. A signal handler may call it.
    pub(crate) fn signal_thread(&self) -> ThreadId {
        ThreadId::from_number(self.signal_thread.load(Ordering::Relaxed))
    }

    /// Makes `me` handle signals in a forked child, those too that were caught and not handled.
    fn move_signals(&self, me: ThreadId) {
        let former = self.signal_thread();
        self.signal_thread.store(me.number(), Ordering::Relaxed);
        if let (Some(former), Some(mine)) = (self.thread(former), self.thread(me)) {
            // Pair: signals. After the store: a signal that arrives in between is noted for one of the two.
            let caught = former.signals.swap(0, Ordering::AcqRel);
            mine.signals.fetch_or(caught, Ordering::AcqRel);
        }
    }

    /// Marks all registrations as [cloned](crate::State::CLONED). Call it before the process forks: the
    /// child's descriptors keep the open files, so a close in one process alone does not end the kernel's
    /// registrations. A child that execs at once, as with [`std::process::Command`], does not need the call.
    ///
    /// A child that continues with a worker's loop also calls [`Context::forked`].
    ///
    /// ```
    #[doc = include_str!("../doc/one_thread.txt")]
    /// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
    /// core.before_fork();
    /// assert!(core.entry(handle)?.state.contains(State::CLONED));
    /// # Ok(())
    /// # }
    /// ```
    pub fn before_fork(&self) {
        for pin in self.table.pin_each() {
            // Pair: drain. The end of the registration reads the flag.
            pin.entry().state.fetch_or(state::CLONED, Ordering::AcqRel);
        }
    }

    /// A copy of the counters of every thread. It prints as HAProxy's `show activity`.
    ///
    /// ```
    /// # fn main() -> Result<(), pollmatrix_fd_core::error::StartError> {
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let table = runtime.core().activity();
    /// assert_eq!(table.0[0].1.fd_run, 0, "no handler has run");
    /// assert!(table.to_string().contains("fd_run: 0"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn activity(&self) -> ActivityTable {
        let snapshot = |id| self.thread(id).map(|shared| (id, shared.snapshot()));
        ActivityTable(self.threads().filter_map(snapshot).collect())
    }

    /// The numbers of registrations that have begun and ended.
    pub fn registration_counts(&self) -> RegistrationCounts {
        let counts = &self.table.counts;
        RegistrationCounts {
            inserted: counts.sum(Count::Inserted),
            closed: counts.sum(Count::Closed),
            released: counts.sum(Count::Released),
            close_errors: counts.sum(Count::CloseErrors),
        }
    }

    /// Publishes an update, and wakes the threads that must apply it.
    pub(crate) fn schedule(&self, pin: &Live<'_>, caller: Option<&Context>) {
        match pin.schedule(caller.map(Context::id)) {
            Scheduled::Nothing => {}
            Scheduled::Private => {
                if let Some(context) = caller {
                    context.push_update(pin.handle(), false);
                }
            }
            // Pair: sleep. The update is published before the wake-up (L2).
            Scheduled::Wake(threads) => self.wake_all(pin.group(), threads),
        }
    }

    /// The time `after` from now, as the timeout of a registration: in nanoseconds, never zero.
    #[inline]
    pub(crate) fn timeout_in(&self, after: Duration) -> u64 {
        let since = self.clock.after(after).saturating_duration_since(self.epoch);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).max(1)
    }

    /// The time of a timeout. Zero is none.
    #[inline]
    pub(crate) fn instant(&self, timeout: u64) -> Option<Instant> {
        (timeout != 0).then(|| self.epoch + Duration::from_nanos(timeout))
    }

    /// Makes every thread that may use the registration look at its timeout.
    #[cold]
    #[inline(never)]
    pub(crate) fn announce_timeout(&self, live: &Live<'_>) {
        let handle = live.handle();
        for index in live.thread_mask().indices() {
            if let Some(thread) = ThreadId::new(live.group(), index) {
                // A thread that has ended serves no registration.
                let _ = self.post(thread, move |context| context.look_at_timeout_of(handle));
            }
        }
    }

    pub(crate) fn relocate(
        &self,
        handle: FdHandle,
        target: ThreadId,
        expected: Option<OwnerId>,
    ) -> Result<(), MoveError> {
        let shared_interest = !self.capabilities.kernel_state;
        let forget = |fd, group, recv, send, reason| self.forget(fd, group, recv, send, reason);
        let moved = self.table.relocate(handle, target, expected, shared_interest, forget);
        trace::relocate(handle.number(), handle.generation(), target, moved.as_ref().err());
        let has_timeout = moved?;
        fault!(TimeoutStaysBehind: has_timeout => false);
        if has_timeout {
            // If another thread has taken it over meanwhile, that thread looks at the timeout.
            self.table.pin(handle).into_iter().for_each(|pin| self.announce_timeout(&pin));
        }
        Ok(())
    }

    /// Removes a descriptor from the pollers of the threads in `recv` and `send`, which hold it.
    fn forget(
        &self,
        fd: RawFd,
        group: GroupId,
        recv: ThreadMask,
        send: ThreadMask,
        reason: DeregisterReason,
    ) {
        self.backend.forget(fd, group, recv, send, reason);
        if !self.capabilities.kernel_state {
            self.end_waits(group, recv.or(send));
        }
    }

    /// Ends the waits of threads that sleep. A thread in poll(2) or select(2) holds the open files that it
    /// waits for. Without this call, the peer of a closed descriptor would see the end only after that wait,
    /// up to a minute later.
    pub(crate) fn end_waits(&self, group: GroupId, threads: ThreadMask) {
        unless!(SleepersKeepFiles => self.wake_all(group, threads));
    }

    /// Ends a registration. The caller is its last user.
    pub(crate) fn finish(&self, orphan: Orphan<'_>, caller: Option<&Context>) {
        let caller_id = caller.map(Context::id);
        let retired = orphan.retire(|fd, group, recv, send, reason| {
            // The close itself ends the registration in this thread's own poller, because this thread is in
            // no wait.
            let own = caller_id.filter(|id| id.group() == group && reason == DeregisterReason::Close);
            let own = own.map_or(ThreadMask::NONE, ThreadId::mask);
            self.forget(fd, group, recv.without(own), send.without(own), reason);
        });
        if let Some(context) = caller {
            context.activity().fd_close.bump();
        }
        self.end(retired);
    }

    /// Closes or returns the source of a registration that has ended, and drops its handler.
    fn end(&self, retired: Retired) {
        // After the close and the drop of the handler, even if that panics.
        let _note = OnDrop(|| self.note_end());
        let Retired { fd: number, owner, state } = retired;
        let is_disowned = state & state::DISOWN != 0;
        fault!(DisownCloses: is_disowned => false);
        if is_disowned {
            return owner.release().resume();
        }
        // The handler is dropped last: its drop may insert the same number again.
        owner.close(&mut |fd| {
            invariant!(fd.as_raw_fd() == number, "the source of fd {number} becomes {fd:?}");
            if state & state::LINGER_RISK != 0 {
                let linger = nix::libc::linger { l_onoff: 1, l_linger: 0 };
                // The call fails if the file is no connected socket. Then there is no connection to reset.
                let _ = setsockopt(&fd.as_fd(), sockopt::Linger, &linger);
            }
            self.close(fd);
        });
    }

    /// Closes a descriptor. No other function does.
    fn close(&self, fd: OwnedFd) {
        fault!(LeakOnClose => return std::mem::forget(fd));
        let number: RawFd = fd.as_raw_fd();
        if cfg!(any(loom, shuttle)) {
            // A model's numbers are not open. The drop of the handler represents the close.
            let _ = fd.into_raw_fd();
            return;
        }
        if nix::unistd::close(fd).is_err() {
            self.table.counts.add(Count::CloseErrors, 1);
        }
        checkpoint!(Closed, number);
        fault!(DoubleClose => _ = nix::unistd::close(number));
    }

    /// Ends every registration and refuses every task. The core is stopping and no worker thread is left. A
    /// panic of a handler or a task that ends does not keep the others from ending; the caller decides what
    /// to do with it.
    pub(crate) fn clear(&self) -> Guarded {
        let mut guarded = Guarded::default();
        for pin in self.table.pin_all() {
            if let Ok(Some(orphan)) = pin.delete(false) {
                guarded.run(|| self.finish(orphan, None));
            }
        }
        for shared in self.threads.iter().flatten() {
            guarded.merge(shared.end_tasks());
        }
        guarded
    }
}

/// Runs its function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl SharedThread {
    /// Wakes the thread after `publish` has changed its tasks.
    fn wake_after<R>(&self, publish: impl FnOnce(&TaskQueue) -> R) -> R {
        fault!(WakeBeforePost => self.sleep.wake());
        // Pair: sleep. The task is published before the wake-up (L2): the sleeper checks its queue after it
        // has announced its sleep.
        let published = publish(&self.tasks);
        unless!(WakeBeforePost => self.sleep.wake());
        published
    }

    fn snapshot(&self) -> ActivitySnapshot {
        let own = self.activity.snapshot();
        // A task that has begun was posted, even if this thread does not see that yet.
        ActivitySnapshot { tasks_posted: self.tasks.posted().max(own.tasks), ..own }
    }

    /// Refuses tasks from now on, and drops those that have not run.
    pub(crate) fn end_tasks(&self) -> Guarded {
        let mut guarded = Guarded::default();
        fault!(TasksOutliveStop => return guarded);
        self.tasks.close().into_iter().for_each(|task| guarded.run(|| drop(task)));
        guarded
    }
}

impl std::fmt::Debug for FdCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FdCore")
            .field("backend", &self.backend.name())
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

impl Drop for FdCore {
    fn drop(&mut self) {
        // For a runtime that was never started, or whose threads could not start.
        self.table.close();
        let _ = self.clear();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::poller::Capabilities;
    use crate::testing::{core, group, handler, insert, insert_for, one_thread, open, thread};

    /// Bugs 1 and 76: a close ends the registration in the closing thread's own poller, unless another
    /// descriptor keeps the open file.
    #[test]
    fn a_closing_thread_leaves_out_its_own_poller_only_if_the_close_ends_it() {
        let both = (group(1), 0b11, 0b01);
        let own_left_out = (group(1), 0b10, 0b00);
        for (cloned, disown, (group, recv, send), reason) in [
            (false, false, own_left_out, DeregisterReason::Close),
            (true, false, both, DeregisterReason::CloseCloned),
            (false, true, both, DeregisterReason::StaysOpen),
            (true, true, both, DeregisterReason::StaysOpen),
        ] {
            let (core, forgotten) = core(Capabilities::ALL, Clock::System);
            let context = Context::new(Arc::clone(&core), thread(1, 0));
            let options = InsertOptions { cloned, ..InsertOptions::default() };
            let handle = core.insert(open(), handler(), group, ThreadMask::ALL, options).unwrap();
            let pin = core.table().pin(handle).unwrap();
            pin.polled().set(0b11, true, false);
            pin.polled().set(0b01, true, true);
            drop(pin);
            let fd = context.registration(handle);
            if disown { fd.disown() } else { fd.delete() }.unwrap();
            assert_eq!(*forgotten.lock().unwrap(), [(group, recv, send, reason)], "cloned {cloned}");
        }
    }

    #[test]
    fn a_close_by_another_group_or_by_no_thread_leaves_out_no_poller() {
        for caller in [None, Some(thread(2, 0))] {
            let (core, forgotten) = core(Capabilities::ALL, Clock::System);
            let handle = insert_for(&core, group(1), ThreadMask::ALL);
            core.table().pin(handle).unwrap().polled().set(0b01, true, true);
            let context = caller.map(|id| Context::new(Arc::clone(&core), id));
            context
                .map_or_else(
                    || core.registration(handle).delete(),
                    |context| context.registration(handle).delete(),
                )
                .unwrap();
            assert_eq!(*forgotten.lock().unwrap(), [(group(1), 1, 1, DeregisterReason::Close)]);
        }
    }

    /// B8.
    #[test]
    fn a_stopping_core_refuses_registrations_and_gives_everything_back() {
        let context = one_thread();
        let core = context.core();
        let handle = insert(&context);
        core.request_stop();
        let refused =
            core.insert(open(), handler(), group(1), ThreadMask::ALL, InsertOptions::default()).unwrap_err();
        assert_eq!(refused.reason, crate::entry::error::InsertRefused::Stopping);
        assert!(
            nix::fcntl::fcntl(&refused.source, nix::fcntl::FcntlArg::F_GETFD).is_ok(),
            "it comes back open"
        );
        assert_eq!(core.table().used(), 1);
        assert!(core.clear().panic().is_none());
        assert!(core.entry(handle).is_err());
        assert_eq!((core.table().used(), core.registration_counts().closed), (0, 1));
    }
}
