//! The part of a worker thread that only this thread uses.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::entry::error::{EnterError, MoveError};
use crate::entry::guarded::Guarded;
use crate::entry::owner::{OwnerId, Registered};
use crate::entry::source::Source;
use crate::hooks::trace::{self, Stopwatch};
use crate::shared::activity::Activity;
use crate::shared::handler::Handler;
use crate::shared::mistakes;
use crate::shared::ready::{ReadyGuard, RegistrationRef, Report};
use crate::shared::timers::{TIMERS, TimerId, Timers};
use crate::shared::{FdCore, SharedThread};
use crate::table::{Denied, Failed, FdHandle, Live, NotTaken, Orphan, Update};
use crate::words::events::{Event, Events, Generation};
use crate::words::ids::ThreadId;
use crate::words::state;
use crate::words::sync::Ordering;

/// A worker thread's own calls: take a descriptor over, use a source outside a report, set timers.
///
/// A context belongs to one thread: it is neither `Send` nor `Sync`. The runtime lends it to handlers
/// ([`ReadyGuard::context`]), tasks ([`FdCore::post`]), timers and signal actions. Another thread reaches it
/// with a task.
pub struct Context {
    core: Arc<FdCore>,
    id: ThreadId,
    /// This thread's part of the core.
    shared: Arc<SharedThread>,
    /// Updates of descriptors that only this thread may use, and removals from this thread's poller. It
    /// grows, because deletes and inserts of one number may add any number of elements in one iteration
    /// (suspect 6).
    private: RefCell<Vec<Update>>,
    timers: RefCell<Timers>,
    /// The number of timers and looks: each iteration reads it several times.
    timers_left: Cell<usize>,
    forked: Cell<bool>,
    /// The number of the registration whose event this thread reports now, or -1, and its generation. Two
    /// cells, because a report writes them from registers.
    reported: Cell<RawFd>,
    reported_generation: Cell<Generation>,
    /// See [`Context::data`].
    data: OnceCell<Box<dyn Any>>,
    /// The registrations that this thread has entered, the latest last: an action may enter another one.
    entered: RefCell<Vec<FdHandle>>,
}

/// The payload of a panic of the user's code.
type Panic = Box<dyn Any + Send>;

/// The result of a report: HAProxy's `FD_UPDT_DONE`, `FD_UPDT_CLOSED` and `FD_UPDT_MIGRATED`. Its
/// `FD_UPDT_CLOSED` is both `Closed` and `Stale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reported {
    /// The event was applied, and the handler ran if a direction is active.
    Done,
    /// As `Done`, and this thread has ended the registration afterwards. The number must not be used.
    Closed,
    /// The registration of the event had ended before. The number must not be used.
    Stale,
    /// This thread may not use the descriptor. The removal from its poller is scheduled.
    Migrated,
}

impl Context {
    pub(crate) fn new(core: Arc<FdCore>, id: ThreadId) -> Self {
        let shared = Arc::clone(core.thread(id).expect("a context is made for a thread of its core"));
        Self {
            core,
            id,
            shared,
            private: RefCell::new(Vec::with_capacity(256)),
            timers: RefCell::default(),
            timers_left: Cell::new(0),
            forked: Cell::new(false),
            reported: Cell::new(-1),
            reported_generation: Cell::new(0),
            data: OnceCell::new(),
            entered: RefCell::default(),
        }
    }

    /// The part of the runtime that all threads share.
    pub fn core(&self) -> &Arc<FdCore> {
        &self.core
    }

    /// The identity of this thread.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// This thread's own value from [`Builder::thread_data`](crate::Builder::thread_data), which has an
    /// example. `None` if there is none, or if it has another type.
    pub fn data<T: 'static>(&self) -> Option<&T> {
        self.data.get()?.downcast_ref()
    }

    /// Keeps this thread's own value. The first one stays.
    pub(crate) fn set_data(&self, data: Box<dyn Any>) {
        let _ = self.data.set(data);
    }

    pub(crate) fn shared(&self) -> &SharedThread {
        &self.shared
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.shared().activity
    }

    /// Returns the calls on one registration, made as this thread. The registration may belong to any thread
    /// of any group; a thread that must act is woken. It does not check the handle; each of the calls does.
    pub fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        RegistrationRef { core: &self.core, caller: Some(self), handle, entered: None }
    }

    /// Runs `action` on this thread after `delay`, never early. Timers run in the order in which they are
    /// due, once each, and must not block. The longest delay is a hundred years; a longer one is reduced to
    /// it. How late an action runs depends on the backend's
    /// [`fine_timeouts`](crate::poller::Capabilities::fine_timeouts), and on what the thread does before it.
    ///
    /// A timer stays on its thread. A registration has a timeout of its own, which moves with it:
    /// [`RegistrationRef::set_timeout`]. An action that has not run is dropped when the thread ends, or when
    /// the timer is [cancelled](Context::cancel).
    ///
    /// One iteration of the loop runs at most 64 timers, and none that is set meanwhile: descriptors and
    /// tasks have their turn between them.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// # use pollmatrix_fd_core::ids::ThreadId;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let id = ThreadId::FIRST;
    /// let (sender, receiver) = channel();
    /// runtime.core().post(id, move |context| {
    ///     let late = sender.clone();
    ///     context.after(Duration::from_millis(20), move |_| late.send("late").expect("main waits"));
    ///     context.after(Duration::from_millis(10), move |_| sender.send("early").expect("main waits"));
    /// })?;
    /// assert_eq!((receiver.recv()?, receiver.recv()?), ("early", "late"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// A panic of the action stops the runtime; [`Runtime::stop`](crate::Runtime::stop) returns it.
    pub fn after(&self, delay: Duration, action: impl FnOnce(&Self) + 'static) -> TimerId {
        let due = self.core.clock.after(delay);
        let key = self.change_timers(|timers| timers.set(due, Box::new(action)));
        TimerId { thread: self.id, table: self.core.table().id(), key }
    }

    /// Cancels a timer of this thread, and drops its action. Returns whether there was something to cancel:
    /// false if the action has begun to run, if the timer was cancelled before, and for a timer of another
    /// thread.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = pollmatrix_fd_core::Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let (sender, receiver) = channel();
    /// runtime.core().post(ThreadId::FIRST, move |context| {
    ///     let timer = context.after(Duration::from_secs(3600), |_| panic!("never"));
    ///     let answers = [context.cancel(timer), context.cancel(timer)];
    ///     sender.send(answers).expect("main waits");
    /// })?;
    /// assert_eq!(receiver.recv()?, [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self, timer: TimerId) -> bool {
        if (timer.thread, timer.table) != (self.id, self.core.table().id()) {
            return false;
        }
        // The timers are free again before the drop of the action, which may set others.
        let action = self.change_timers(|timers| timers.cancel(timer.key));
        action.is_some()
    }

    /// Makes this thread the only one that may use the descriptor, if its owner is the expected one and no
    /// thread uses it. The descriptor may belong to a thread of this group or of another one. Never waits for
    /// a handler.
    ///
    /// Both directions are disabled afterwards: re-enable the interest you need. The poller of this thread
    /// then reports what is ready, level- and edge-triggered. If the descriptor belongs to this thread alone
    /// already, the call succeeds and changes nothing.
    ///
    /// [`RegistrationRef::migrate_on`] gives a descriptor to another thread instead.
    ///
    /// ```
    /// use std::os::unix::net::UnixStream;
    ///
    /// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
    /// let core = std::sync::Arc::clone(runtime.core());
    /// let threads: Vec<_> = core.threads().collect();
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    ///
    /// let (group, first) = (threads[0].group(), threads[0].mask());
    /// let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
    /// let handle = core.insert(near, ignore, group, first, InsertOptions::default())?;
    /// let owner = core.registration(handle).owner()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// core.post(threads[1], move |context| {
    ///     context.takeover(handle, owner).expect("no thread uses it");
    ///     context.registration(handle).want_recv().expect("it is not deleted");
    ///     sender.send(()).expect("main waits");
    /// })?;
    /// receiver.recv()?;
    /// assert_eq!(core.entry(handle)?.thread_mask, threads[1].mask());
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`MoveError`]. The registration has not changed then. After [`MoveError::Busy`] a later attempt can
    /// succeed: a task that a handler posts to another thread often runs before the handler returns.
    pub fn takeover(&self, handle: FdHandle, expected: OwnerId) -> Result<(), MoveError> {
        let result = match self.try_takeover(handle, expected, |_| true, |_| ()) {
            Err(NotTaken::Elsewhere) => self.core.relocate(handle, self.id, Some(expected)),
            Err(NotTaken::Refused(refused)) => Err(refused),
            Ok(()) => Ok(()),
        };
        self.count_takeover(handle, &result);
        result
    }

    /// [Takes the descriptor over](Context::takeover), and uses it at once: `action` gets the source in a
    /// [`ReadyGuard`], on which no call fails, and the handler. So a thread that needs an idle connection
    /// takes it, enables what it needs, and writes its request, with one call that can fail.
    ///
    /// `S` and `H` are the types that were inserted; the arguments of the closure must state them. For a
    /// handler that was inserted as an `Arc<T>`, `H` is `Arc<T>`.
    ///
    /// ```
    /// use std::io::Write;
    /// use std::os::unix::net::UnixStream;
    /// use std::sync::mpsc::{Sender, channel};
    ///
    /// use pollmatrix_fd_core::{Handler, InsertOptions, ReadyGuard, Runtime};
    ///
    /// /// The handler of an idle connection.
    /// struct Pooled {
    ///     name: &'static str,
    /// }
    ///
    /// impl Handler<UnixStream> for Pooled {
    ///     fn ready(&self, _: &ReadyGuard<'_, UnixStream>) {}
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(2).start(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let threads: Vec<_> = core.threads().collect();
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let (group, first) = (threads[0].group(), threads[0].mask());
    /// let handle = core.insert(near, Pooled { name: "first" }, group, first, InsertOptions::default())?;
    ///
    /// let owner = core.registration(handle).owner()?;
    /// let (sender, receiver) = channel();
    /// core.post(threads[1], move |context| {
    ///     let request = |ready: &ReadyGuard<'_, UnixStream>, pooled: &Pooled| {
    ///         ready.registration().want_recv().expect("it is in use");
    ///         ready.source().write_all(b"hello").expect("the buffer is empty");
    ///         pooled.name
    ///     };
    ///     sender.send(context.takeover_with(handle, owner, request)).expect("main waits");
    /// })?;
    /// assert_eq!(receiver.recv()?, Ok("first"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`MoveError`]. `action` has not run then, and the registration has not changed; but after
    /// [`MoveError::Busy`] a descriptor of another group may have come to this thread, and from there to
    /// another one.
    ///
    /// # Panics
    /// A panic of `action` goes to the caller, after the end of the use.
    pub fn takeover_with<S: Source, H: Handler<S>, R>(
        &self,
        handle: FdHandle,
        expected: OwnerId,
        action: impl FnOnce(&ReadyGuard<'_, S>, &H) -> R,
    ) -> Result<R, MoveError> {
        let mut action = Some(action);
        let mut answer = None;
        let taken = self.takeover_and(handle, expected, fits::<S, H>, &mut |live| {
            answer = action.take().map(|action| self.lend(live, action));
        });
        let result = match (taken, answer) {
            (Ok(()), Some(Ok(answer))) => answer.ok_or(MoveError::WrongType),
            (Ok(()), Some(Err(panic))) => {
                self.count_takeover(handle, &Ok(()));
                resume_unwind(panic)
            }
            (Ok(()), None) => Err(MoveError::Busy),
            (Err(NotTaken::Refused(refused)), _) => Err(refused),
            (Err(NotTaken::Elsewhere), _) => self.relocate_with(handle, expected, action),
        };
        self.count_takeover(handle, &result);
        result
    }

    /// One function for the actions of all types: the takeover itself is not compiled for each of them.
    fn takeover_and(
        &self,
        handle: FdHandle,
        expected: OwnerId,
        fits: fn(&dyn Registered) -> bool,
        then: &mut dyn FnMut(&Live<'_>),
    ) -> Result<(), NotTaken> {
        self.try_takeover(handle, expected, fits, then)
    }

    /// As [`Context::takeover_with`], for a descriptor of another group.
    fn relocate_with<S: Source, H: Handler<S>, R>(
        &self,
        handle: FdHandle,
        expected: OwnerId,
        action: Option<impl FnOnce(&ReadyGuard<'_, S>, &H) -> R>,
    ) -> Result<R, MoveError> {
        if !fits::<S, H>(self.core.table().pin(handle)?.owner()) {
            return Err(MoveError::WrongType);
        }
        self.core.relocate(handle, self.id, Some(expected))?;
        let action = action.ok_or(MoveError::Busy)?;
        self.enter_with(handle, action).map_err(|refused| match refused {
            EnterError::Stale(stale) => stale.into(),
            EnterError::WrongType => MoveError::WrongType,
            // Another thread was faster.
            EnterError::NotAllowed | EnterError::Nested => MoveError::Busy,
        })
    }

    fn count_takeover<R>(&self, handle: FdHandle, result: &Result<R, MoveError>) {
        trace::takeover(handle.number(), handle.generation(), self.id, result.as_ref().err());
        let activity = self.activity();
        let count = if result.is_ok() { &activity.fd_takeover } else { &activity.fd_takeover_fail };
        count.bump();
    }

    #[inline(always)]
    fn try_takeover(
        &self,
        handle: FdHandle,
        expected: OwnerId,
        fits: impl Fn(&dyn Registered) -> bool,
        then: impl FnOnce(&Live<'_>),
    ) -> Result<(), NotTaken> {
        let (result, orphan) = self.core.table().takeover(handle, self.id, expected, fits, |live| {
            // An interest that this thread's poller or its group still has ends before the next wait.
            let (recv, send) = live.polled().load();
            let is_held = (recv | send) & self.id.mask().bits() != 0;
            if is_held || !self.core.capabilities().kernel_state {
                self.schedule_own(live, false);
            }
            // Pair: timeout. The mask precedes this read: a timeout that it does not see is announced to this
            // thread.
            let has_timeout = live.state() & state::TIMED != 0;
            fault!(TimeoutStaysBehind: has_timeout => false);
            if has_timeout {
                self.look_at_timeout(live);
            }
            then(live);
        });
        if let Some(orphan) = orphan {
            self.core.finish(orphan, Some(self));
        }
        result
    }

    /// Uses a registered source outside a report: to read after a takeover, or to write from a task. This
    /// thread must be one of those that may use it. While `action` runs, the source stays open, and no other
    /// thread takes it over. If several threads may use it, their handlers may run at the same time.
    ///
    /// `S` is the type that was inserted. The argument of the closure must state it; a wrong type is an error
    /// of the call, which the compiler cannot find.
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use std::os::unix::net::UnixStream;
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let id = ThreadId::FIRST;
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
    /// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
    /// core.post(id, move |context| {
    ///     let greet = |ready: &ReadyGuard<'_, UnixStream>| ready.source().write_all(b"hello");
    ///     context.enter(handle, greet).expect("it is this thread's").expect("the buffer is empty");
    /// })?;
    /// let mut greeting = [0; 5];
    /// far.read_exact(&mut greeting)?;
    /// assert_eq!(&greeting, b"hello");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EnterError`]. `action` has not run then.
    ///
    /// # Panics
    /// A panic of `action` goes to the caller, after the end of the use.
    pub fn enter<S: Source, R>(
        &self,
        handle: FdHandle,
        action: impl FnOnce(&ReadyGuard<'_, S>) -> R,
    ) -> Result<R, EnterError> {
        self.enter_live(handle, |report| {
            let source = report.live.owner().source().downcast_ref()?;
            Some(action(&ReadyGuard { report, source }))
        })
    }

    /// As [`Context::enter`], with the handler: the state of a connection that a task or a timer needs. `H`
    /// is the type that was inserted; for a handler that was inserted as an `Arc<T>`, it is `Arc<T>`.
    ///
    /// ```
    /// use std::os::unix::net::UnixStream;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::{Handler, InsertOptions, ReadyGuard, Runtime};
    ///
    /// #[derive(Default)]
    /// struct Session {
    ///     requests: AtomicU32,
    /// }
    ///
    /// impl Handler<UnixStream> for Session {
    ///     fn ready(&self, _: &ReadyGuard<'_, UnixStream>) {
    ///         self.requests.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let (core, id) = (runtime.core(), ThreadId::FIRST);
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let handle = core.insert(near, Session::default(), id.group(), id.mask(), InsertOptions::default())?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// core.post(id, move |context| {
    ///     let requests = context.enter_with(handle, |_: &ReadyGuard<'_, UnixStream>, session: &Session| {
    ///         session.requests.load(Ordering::Relaxed)
    ///     });
    ///     sender.send(requests).expect("main waits");
    /// })?;
    /// assert_eq!(receiver.recv()?, Ok(0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EnterError`]. `action` has not run then.
    ///
    /// # Panics
    /// As [`Context::enter`].
    pub fn enter_with<S: Source, H: Handler<S>, R>(
        &self,
        handle: FdHandle,
        action: impl FnOnce(&ReadyGuard<'_, S>, &H) -> R,
    ) -> Result<R, EnterError> {
        self.enter_live(handle, |report| with_parts(report, action))
    }

    /// Uses a registration while `action` runs. `None` means that it is of another type.
    fn enter_live<R>(
        &self,
        handle: FdHandle,
        action: impl FnOnce(&Report<'_>) -> Option<R>,
    ) -> Result<R, EnterError> {
        let live = self.begin_use(handle)?;
        let report = Report { context: self, live, events: Events::NONE };
        let result = catch_unwind(AssertUnwindSafe(|| action(&report)));
        self.end_use(live, result.as_ref().err());
        result.unwrap_or_else(|panic| resume_unwind(panic)).ok_or(EnterError::WrongType)
    }

    /// Runs `action` in a registration that this thread uses already.
    fn lend<S: Source, H: Handler<S>, R>(
        &self,
        live: &Live<'_>,
        action: impl FnOnce(&ReadyGuard<'_, S>, &H) -> R,
    ) -> Result<Option<R>, Panic> {
        let report = Report { context: self, live: *live, events: Events::NONE };
        self.entered.borrow_mut().push(live.handle());
        let result = catch_unwind(AssertUnwindSafe(|| with_parts(&report, action)));
        self.entered.borrow_mut().pop();
        result
    }

    fn begin_use(&self, handle: FdHandle) -> Result<Live<'_>, EnterError> {
        if self.is_inside(handle) {
            return Err(EnterError::Nested);
        }
        match self.core.table().enter(handle, self.id) {
            Ok(live) => {
                self.entered.borrow_mut().push(handle);
                Ok(live)
            }
            Err(Denied::Stale) => Err(handle.stale().into()),
            Err(denied) => {
                self.withdraw(denied);
                Err(EnterError::NotAllowed)
            }
        }
    }

    fn end_use(&self, live: Live<'_>, panic: Option<&Panic>) {
        self.entered.borrow_mut().pop();
        self.exit(&live, panic);
    }

    /// Whether this thread uses this registration.
    fn is_inside(&self, handle: FdHandle) -> bool {
        self.reported() == Some(handle) || self.entered.borrow().contains(&handle)
    }

    /// The registration whose event this thread reports now.
    fn reported(&self) -> Option<FdHandle> {
        let fd = self.reported.get();
        (fd >= 0).then(|| self.core.table().handle(fd, self.reported_generation.get()))
    }

    /// The descriptors that this thread uses.
    fn inside(&self) -> Vec<RawFd> {
        self.reported().iter().chain(self.entered.borrow().iter()).map(|handle| handle.fd).collect()
    }

    /// Clears the running bit after the user's code, and ends the registration if this thread is the last
    /// user. The drop of the handler may panic then. If the user's code has panicked before, the first panic
    /// counts.
    #[inline]
    fn exit(&self, live: &Live<'_>, first: Option<&Panic>) -> Reported {
        let Some(orphan) = live.exit(self.id.mask()) else { return Reported::Done };
        self.end(orphan, first)
    }

    #[cold]
    #[inline(never)]
    fn end(&self, orphan: Orphan<'_>, first: Option<&Panic>) -> Reported {
        if first.is_none() {
            self.core.finish(orphan, Some(self));
        } else {
            Guarded::default().run(|| self.core.finish(orphan, Some(self)));
        }
        Reported::Closed
    }

    /// Ends the registration after a denied entry, if this thread was its last user.
    fn withdraw(&self, denied: Denied<'_>) {
        if let Denied::LostRace(Some(orphan)) = denied {
            self.core.finish(orphan, Some(self));
        }
    }

    /// Continues with this thread's loop in the child of a fork. Call it in the child before any other call.
    /// The fork happens in a handler, task, timer or signal action of this thread, and the parent has called
    /// [`FdCore::before_fork`].
    ///
    /// Before its next wait, the thread replaces its kernel poller and its wake descriptor, and registers
    /// everything again. The other threads do not exist in the child. The descriptors that they used, moved
    /// or closed at the fork are free again, or are closed; tasks for those threads are refused. A descriptor
    /// that one of them was about to insert or to close stays open.
    ///
    /// As everything in memory, the tasks and timers of this thread exist in both processes then, and so do
    /// signals that were caught before the fork and not handled: each process runs its own. This thread
    /// handles the child's signals.
    ///
    /// In the process that started the runtime, the call does nothing.
    pub fn forked(&self) {
        if self.core.is_inherited() {
            let guarded = self.core.adopt(Some((self.id, &self.inside())));
            self.forked.set(true);
            guarded.resume();
        }
    }

    /// Makes the worker do the work of [`Context::forked`], in a test that cannot fork.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn pretend_forked(&self) {
        self.forked.set(true);
    }

    /// The present time of the timers.
    pub(crate) fn now(&self) -> Instant {
        self.core.clock.now()
    }

    /// Drops the timers that have not run.
    pub(crate) fn end_timers(&self) -> Guarded {
        let mut guarded = Guarded::default();
        // The cell is free again before the drop, which may set another timer.
        while let Some(timer) = self.change_timers(Timers::pop) {
            guarded.run(|| drop(timer));
        }
        guarded
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.forked.get()
    }

    pub(crate) fn take_forked(&self) -> bool {
        self.forked.take()
    }

    pub(crate) fn owns_alone(&self, pin: &Live<'_>) -> bool {
        pin.group() == self.id.group() && pin.thread_mask() == self.id.mask()
    }

    pub(crate) fn push_update(&self, handle: FdHandle, force: bool) {
        let mut private = self.private.borrow_mut();
        fault!(PrivateListBounded => if private.len() >= 8 { return });
        private.push(Update { handle, force });
    }

    /// Exchanges the private list for an empty one, to reuse its allocation.
    pub(crate) fn swap_updates(&self, other: &mut Vec<Update>) {
        std::mem::swap(&mut *self.private.borrow_mut(), other);
    }

    /// Schedules every descriptor of this thread for a new poller, which holds nothing, and looks at its
    /// timeout.
    pub(crate) fn register_all(&self) {
        fault!(NoReregistration => return);
        for pin in self.core.table().pin_each() {
            if pin.group() != self.id.group() {
                continue;
            }
            pin.polled().set(self.id.mask().bits(), false, false);
            if pin.thread_mask().contains(self.id.mask()) {
                // In a forked child, the thread that set or moved the timeout may not exist.
                self.look_at_timeout(&pin);
                if pin.state() & state::ACTIVE != 0 {
                    self.push_update(pin.handle(), false);
                }
            }
        }
    }

    pub(crate) fn has_updates(&self) -> bool {
        !self.private.borrow().is_empty()
    }

    /// The time when the next timer is due, or when the next timeout must be looked at.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.borrow().next()
    }

    /// Whether a timer is set.
    #[inline]
    pub(crate) fn has_timers(&self) -> bool {
        self.timers_left.get() != 0
    }

    /// Changes the timers, and notes their number.
    fn change_timers<R>(&self, change: impl FnOnce(&mut Timers) -> R) -> R {
        let mut timers = self.timers.borrow_mut();
        let result = change(&mut timers);
        self.timers_left.set(timers.len());
        result
    }

    /// Runs the timers that are due.
    #[inline]
    pub(crate) fn run_timers(&self) {
        if self.has_timers() {
            self.run_due_timers();
        }
    }

    #[inline(never)]
    fn run_due_timers(&self) {
        let (now, bound) = (self.now(), self.timers.borrow().bound());
        fault!(TimersUnbounded: bound => u64::MAX);
        let mut left = TIMERS;
        fault!(TimersUnbounded => left = usize::MAX);
        while left > 0
            && !self.must_end()
            && let Some(timer) = self.change_timers(|timers| timers.pop_due(now, bound))
        {
            left -= 1;
            timer(self);
        }
        let mut left = TIMERS;
        while left > 0
            && !self.must_end()
            && let Some(fd) = self.change_timers(|timers| timers.pop_look(now))
        {
            left -= 1;
            self.report_timeout(fd, now);
        }
    }

    /// Whether the tasks and timers that have not begun must not begin any more, because the runtime stops.
    #[inline]
    pub(crate) fn must_end(&self) -> bool {
        let stopping = self.core.is_stopping();
        fault!(WorkIgnoresStop: stopping => false);
        stopping
    }

    /// Looks at the timeout of a number at `due`.
    pub(crate) fn look(&self, fd: RawFd, due: Instant) {
        self.change_timers(|timers| timers.look(fd, due));
    }

    /// As [`Context::look_at_timeout`], if this thread may use the registration.
    pub(crate) fn look_at_timeout_of(&self, handle: FdHandle) {
        let Ok(pin) = self.core.table().pin(handle) else { return };
        if pin.group() == self.id.group() && pin.thread_mask().contains(self.id.mask()) {
            self.look_at_timeout(&pin);
        }
    }

    /// Looks at the timeout of a registration that this thread may use now, if it has one.
    pub(crate) fn look_at_timeout(&self, live: &Live<'_>) {
        // Pair: timeout.
        if let Some(due) = self.core.instant(live.timeout().load(Ordering::Acquire)) {
            self.look(live.fd(), due);
        }
    }

    /// Looks at the timeout of whatever registration the number has, and reports it if it is over. A
    /// registration that another thread uses alone has a look there.
    #[inline(never)]
    fn report_timeout(&self, fd: RawFd, now: Instant) {
        let table = self.core.table();
        let Some(generation) = table.generation(self.id.group(), fd) else { return };
        let live = match table.enter(table.handle(fd, generation), self.id) {
            Ok(live) => live,
            Err(denied) => return self.withdraw(denied),
        };
        if self.take_timeout(&live, now) {
            self.report_of_core(live, Events::TIMEOUT);
        } else {
            self.exit(&live, None);
        }
    }

    /// Reports as an error that the kernel refuses to poll a descriptor, and deactivates both directions:
    /// every attempt would be refused. If none is active any more, the removal was refused: then this
    /// thread's poller is taken to hold nothing. If it does, its next event leads to another removal (L6).
    #[cold]
    #[inline(never)]
    pub(crate) fn report_refused(&self, handle: FdHandle) {
        let live = match self.core.table().enter(handle, self.id) {
            Ok(live) => live,
            Err(denied) => return self.withdraw(denied),
        };
        let mut report = Report { context: self, live, events: Events::ERR };
        let before = note_report(&mut report);
        // Pair: update. The removal that is scheduled here publishes it.
        live.entry().state.fetch_and(!state::ACTIVE, Ordering::AcqRel);
        if before & state::ACTIVE == 0 {
            live.polled().set(self.id.mask().bits(), false, false);
            self.exit(&live, None);
        } else {
            self.schedule_own(&live, false);
            self.report_of_core(live, Events::ERR);
        }
    }

    /// Runs the handler for events that no poller has reported, and exits. The running bit is set.
    fn report_of_core(&self, live: Live<'_>, events: Events) {
        self.reported.set(live.fd());
        self.reported_generation.set(live.generation());
        let report = Report { context: self, live, events };
        self.activity().fd_run.bump();
        let ran = run_owner(&report);
        self.reported.set(-1);
        match ran {
            Ok(()) => _ = self.exit(&report.live, None),
            Err(panic) => _ = self.exit_after_panic(&report.live, panic),
        }
    }

    /// Takes the timeout of a registration that this thread uses, if it is over; looks at it again otherwise.
    /// Of several threads that find it over, one takes it.
    fn take_timeout(&self, live: &Live<'_>, now: Instant) -> bool {
        let timeout = live.timeout();
        // Pair: timeout.
        let mut nanoseconds = timeout.load(Ordering::Acquire);
        while let Some(due) = self.core.instant(nanoseconds) {
            let is_later = due > now;
            fault!(TimeoutNotMoved: is_later => false);
            if is_later {
                self.look(live.fd(), due);
                return false;
            }
            match timeout.compare_exchange(nanoseconds, 0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(moved) => nanoseconds = moved,
            }
        }
        fault!(TimeoutNotMoved => return true);
        false
    }

    /// Reports an event to the descriptor's owner (protocol 4). By reference, as [`Report`] is: the backend
    /// has just stored the event in pieces.
    pub(crate) fn report(&self, event: &Event) -> Reported {
        let table = self.core.table();
        let handle = table.handle(event.fd, event.generation);
        fault!(LockPassesForGroup => if mistakes::drop_if_locked(self, event) { return Reported::Migrated });
        fault!(NoGenerationCheck => if let Some(done) = mistakes::report_next(self, event) { return done });
        match table.enter_at_once(handle, self.id) {
            Ok(live) => self.report_entered(live, event.events),
            Err(failed) => self.report_again(event, failed),
        }
    }

    /// Reports an event whose first attempt to enter failed.
    #[cold]
    #[inline(never)]
    fn report_again(&self, event: &Event, failed: Failed) -> Reported {
        let table = self.core.table();
        let handle = table.handle(event.fd, event.generation);
        match table.enter_again(handle, self.id, failed) {
            Ok(live) => self.report_entered(live, event.events),
            Err(denied) => self.refuse(handle, event.events, denied),
        }
    }

    /// Applies an event and runs the handler. The running bit is set: it alone protects the registration, as
    /// a takeover fails, and the end waits.
    #[inline(always)]
    fn report_entered(&self, live: Live<'_>, events: Events) -> Reported {
        self.reported.set(live.fd());
        self.reported_generation.set(live.generation());
        let mut report = Report { context: self, live, events };
        let (ran, must_stop) = if events.intersects(Events::INVALID) {
            self.report_invalid(&mut report)
        } else {
            let before = note_report(&mut report);
            let must_stop = state::must_stop(before, report.events);
            (self.run_handler(&report, before), must_stop)
        };
        checkpoint!(ReportHandlerDone, live.fd());
        if must_stop != 0 {
            self.stop_unwanted(&report, must_stop);
        }
        self.reported.set(-1);
        match ran {
            Ok(()) => {
                let reported = self.exit(&report.live, None);
                fault!(OwnEndIsStale: reported => mistakes::stale_if_closed(reported));
                reported
            }
            Err(panic) => self.exit_after_panic(&report.live, panic),
        }
    }

    #[cold]
    #[inline(never)]
    fn exit_after_panic(&self, live: &Live<'_>, panic: Panic) -> Reported {
        let reported = self.exit(live, Some(&panic));
        fault!(PanicLostWithRegistration => if reported == Reported::Closed { return reported });
        resume_unwind(panic)
    }

    /// Counts an event that this thread may not deliver, and schedules the removal of the descriptor from
    /// this thread's poller.
    #[cold]
    #[inline(never)]
    fn refuse(&self, handle: FdHandle, events: Events, denied: Denied<'_>) -> Reported {
        let activity = self.activity();
        match denied {
            Denied::Stale => {
                activity.poll_drop.bump();
                return Reported::Stale;
            }
            Denied::Elsewhere => activity.poll_drop.bump(),
            Denied::NotAllowed | Denied::LostRace(_) => {
                activity.poll_skip.bump();
                fault!(LostReportChangesState => mistakes::apply_report(self, handle, events));
            }
        }
        self.push_forget(handle);
        fault!(RefusedKeepsReference => mistakes::keep_reference(self, handle, &denied));
        self.withdraw(denied);
        Reported::Migrated
    }

    /// Runs the handler if a direction was active at the report. The running bit is set.
    #[inline(always)]
    fn run_handler(&self, report: &Report<'_>, before: u32) -> Result<(), Panic> {
        let events = report.events;
        let is_inactive = before & state::ACTIVE == 0;
        fault!(InactiveRuns: is_inactive => false);
        fault!(FailureNeedsReadiness: is_inactive => is_inactive || mistakes::is_failure(before, events));
        if is_inactive {
            return Ok(());
        }
        self.activity().fd_run.bump();
        run_owner(report)
    }

    /// Applies the report of a number that is not open, and runs the handler. Every wait would report the
    /// number, so the handler gets one report, as an error, and both directions are deactivated.
    #[cold]
    #[inline(never)]
    fn report_invalid(&self, report: &mut Report<'_>) -> (Result<(), Panic>, u32) {
        self.activity().poll_inval.bump();
        report.events = report.events.or(Events::ERR);
        let before = note_report(report);
        // Pair: update. The removal, scheduled after the handler, publishes it.
        report.live.entry().state.fetch_and(!state::ACTIVE, Ordering::AcqRel);
        (self.run_handler(report, before), state::ACTIVE)
    }

    /// Schedules the removal of directions that were reported without being active, if they are still
    /// inactive (L6).
    #[cold]
    #[inline(never)]
    fn stop_unwanted(&self, report: &Report<'_>, unwanted: u32) {
        self.activity().poll_unwanted.bump();
        fault!(InactiveStaysPolled => return);
        // A deleted registration ends in this thread's poller with the exit.
        let (live, events) = (&report.live, report.events);
        if live.thread_mask().is_empty() {
            return;
        }
        let (word, unwanted) = (live.state(), state::wanted(unwanted));
        let (recv, send) = live.polled().load();
        let me = self.id.mask().bits();
        // In edge mode the report has consumed the edge. If the direction is enabled again before the update
        // is applied, the poller holds the wanted interest already, and only a forced new registration
        // reports the edge again. A direction that the poller does not hold gets a new registration anyway.
        // INVALID is no edge: for an owner that enables the direction each time, the replay would be a spin.
        let consumed = word & state::EDGE != 0
            && (unwanted.recv && recv & me != 0 || unwanted.send && send & me != 0)
            && !events.intersects(Events::INVALID);
        if consumed || state::some_inactive(word, unwanted) {
            self.schedule_own(live, consumed);
        }
    }

    /// Schedules an update for this thread alone. The thread may use the entry.
    fn schedule_own(&self, pin: &Live<'_>, force: bool) {
        // Pair: update.
        let before = pin.entry().update_mask.fetch_or(self.id.mask().bits(), Ordering::AcqRel);
        if before & self.id.mask().bits() == 0 || force {
            self.push_update(pin.handle(), force);
        }
    }

    /// Schedules the removal of a descriptor that this thread may not use from its poller. The polled masks
    /// do not matter (L5).
    fn push_forget(&self, handle: FdHandle) {
        fault!(MigratedNotForgotten, OnePollerPerProcess => return);
        // Without an update bit: the entry may belong to another group, and only this thread's poller is
        // concerned.
        self.push_update(handle, true);
    }
}

/// Whether a registration has a source and a handler of these types.
fn fits<S: Source, H: Handler<S>>(owner: &dyn Registered) -> bool {
    owner.source().is::<S>() && owner.handler().is::<H>()
}

/// Runs `action` with the source and the handler, if they have these types.
fn with_parts<S: Source, H: Handler<S>, R>(
    report: &Report<'_>,
    action: impl FnOnce(&ReadyGuard<'_, S>, &H) -> R,
) -> Option<R> {
    let owner = report.live.owner();
    let (source, handler) = (owner.source().downcast_ref()?, owner.handler().downcast_ref()?);
    Some(action(&ReadyGuard { report, source }, handler))
}

/// Runs the handler of a registration whose running bit is set. A panic must not leave the bit set: no thread
/// could take or close the descriptor any more.
#[inline(always)]
fn run_owner(report: &Report<'_>) -> Result<(), Panic> {
    let owner = report.live.owner();
    let stopwatch = Stopwatch::of_handler();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        owner.run(report);
        fault!(HandlerCalledTwice => if mistakes::is_of_both_directions(report.events) { owner.run(report) });
    }));
    stopwatch.handler_returned(report.live.fd(), report.live.generation(), report.context.id());
    ran
}

/// Applies a report to the state, and returns the previous state.
#[inline(always)]
fn note_report(report: &mut Report<'_>) -> u32 {
    let (entry, events) = (report.live.entry(), report.events);
    fault!(OneDirectionPerReport => report.events = mistakes::one_direction(events));
    fault!(StatePlainStore => return mistakes::store_report(entry, report.live.fd(), events));
    checkpoint!(ReportEntered, report.live.fd());
    let update = |state| {
        let next = state::after_report(state, events);
        (next != state).then_some(next)
    };
    // Pair: update. It is a read-modify-write, because other threads set CLONED, EXPORTED and the token at
    // any time (suspect 3).
    match entry.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, update) {
        Ok(before) | Err(before) => before,
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
