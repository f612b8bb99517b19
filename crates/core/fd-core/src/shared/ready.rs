//! The guard that a handler gets, and the calls on a registration.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};

use crate::entry::error::{DeleteError, MoveError, Stale};
use crate::entry::owner::OwnerId;
use crate::entry::source::Duplicate;
use crate::shared::FdCore;
use crate::shared::context::Context;
use crate::table::{FdHandle, Live};
use crate::words::events::Events;
use crate::words::ids::ThreadId;
use crate::words::state::{self, State};
use crate::words::sync::Ordering;

/// A report, or an entry outside a report. The running bit of the context's thread is set.
///
/// It is passed by reference: a copy would load in one piece what was just stored in several, which waits for
/// the stores.
pub(crate) struct Report<'a> {
    pub(crate) context: &'a Context,
    pub(crate) live: Live<'a>,
    pub(crate) events: Events,
}

/// Lends a registered source to its handler, or to the action of [`Context::enter`].
///
/// While the guard exists, the source stays open, and takeovers and moves fail. If a thread deletes the
/// registration meanwhile, it ends after the handler has returned.
///
/// ```
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use std::sync::mpsc::channel;
///
/// use pollmatrix_fd_core::ids::ThreadId;
/// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime, State};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
/// let core = runtime.core();
/// let id = ThreadId::FIRST;
/// let (near, mut far) = UnixStream::pair()?;
/// near.set_nonblocking(true)?;
///
/// let (sender, receiver) = channel();
/// let handler = move |ready: &ReadyGuard<'_, UnixStream>| {
///     assert!(ready.events().is_readable() && ready.state().contains(State::POLL_IN));
///     let mut bytes = [0; 512];
///     let count = ready.source().read(&mut bytes).expect("it is readable");
///     let report = (ready.context().id(), ready.handle(), bytes[..count].to_vec());
///     sender.send(report).expect("main waits");
/// };
/// let handle = core.insert(near, handler, id.group(), id.mask(), InsertOptions::default())?;
/// core.registration(handle).want_recv()?;
/// far.write_all(b"hello")?;
/// assert_eq!(receiver.recv()?, (id, handle, b"hello".to_vec()));
/// # runtime.stop()?;
/// # Ok(())
/// # }
/// ```
pub struct ReadyGuard<'a, S = OwnedFd> {
    pub(crate) report: &'a Report<'a>,
    pub(crate) source: &'a S,
}

impl<S> ReadyGuard<'_, S> {
    /// The registered source, as it was inserted. The standard library's sockets read, write and accept by
    /// reference.
    pub fn source(&self) -> &S {
        self.source
    }

    /// The calls of the worker thread that runs the handler.
    pub fn context(&self) -> &Context {
        self.report.context
    }

    /// The handle of the registration.
    pub fn handle(&self) -> FdHandle {
        self.report.live.handle()
    }

    /// The events of this report, for directions that are not enabled, too. Empty in [`Context::enter`].
    pub fn events(&self) -> Events {
        self.report.events
    }

    /// The state of the registration at this moment. Other threads can change it.
    pub fn state(&self) -> State {
        State::from_bits(self.report.live.state())
    }

    /// The calls on the registration. None of them is stale while the guard exists, even after a delete.
    pub fn registration(&self) -> RegistrationRef<'_> {
        RegistrationRef {
            core: self.report.context.core(),
            caller: Some(self.report.context),
            handle: self.handle(),
            entered: Some(&self.report.live),
        }
    }
}

impl<S: AsFd> AsFd for ReadyGuard<'_, S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl<S> fmt::Debug for ReadyGuard<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyGuard")
            .field("handle", &self.handle())
            .field("thread", &self.context().id())
            .field("events", &self.events())
            .finish_non_exhaustive()
    }
}

/// The calls on one registration, from [`Context::registration`], [`ReadyGuard::registration`] or
/// [`FdCore::registration`].
///
/// Every call checks the handle. If the registration has ended, the call returns an error and changes
/// nothing, even if the number is registered again. A deleted registration that a thread still uses has not
/// ended: `want`, `stop` and the other changes of its state succeed then, without effect.
///
/// - **`want_…`, `stop_…`** enable and disable the directions in which the descriptor is polled. No handler
///   is called while both are disabled, not even for a hang-up.
/// - **`cant_…`, `may_…`, `cond_…`** are notes for the program, in [`State::READY`]: which direction last
///   answered `EAGAIN`. No poller and no call of a handler depends on them. A program that does not read them
///   does not need these calls.
///
/// ```
/// use std::os::unix::net::UnixStream;
///
/// use pollmatrix_fd_core::ids::ThreadId;
/// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime, State};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
/// let core = runtime.core();
/// let id = ThreadId::FIRST;
/// let (near, far) = UnixStream::pair()?;
/// near.set_nonblocking(true)?;
/// let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
/// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
///
/// let registration = core.registration(handle);
/// registration.want_recv()?;
/// assert!(core.entry(handle)?.state.contains(State::ACTIVE_R));
/// registration.stop_recv()?;
/// assert!(!core.entry(handle)?.state.intersects(State::ACTIVE));
///
/// registration.delete()?;
/// assert!(registration.want_recv().is_err());
/// runtime.stop()?;
/// # Ok(())
/// # }
/// ```
pub struct RegistrationRef<'a> {
    pub(crate) core: &'a FdCore,
    pub(crate) caller: Option<&'a Context>,
    pub(crate) handle: FdHandle,
    /// The registration of the handler that runs: its running bit keeps it, so no call needs a pin.
    pub(crate) entered: Option<&'a Live<'a>>,
}

/// The calls that change the state and schedule nothing (protocol 10). They change nothing of a registration
/// that is deleted and not ended yet.
macro_rules! transitions {
    ($($(#[$doc:meta])* $name:ident: |$state:ident| $after:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
            pub fn $name(&self) -> Result<(), Stale> {
                self.transition(|$state| $after)
            }
        )*
    };
}

impl<'a> RegistrationRef<'a> {
    /// The handle of the registration.
    pub fn handle(&self) -> FdHandle {
        self.handle
    }

    /// Enables read interest. Every thread of the mask polls the descriptor from its next wait on; those that
    /// sleep are woken. If the direction is enabled already, the call changes nothing; of a descriptor that
    /// several threads may use, it wakes them nevertheless, because another caller may not have woken them
    /// yet.
    ///
    /// If the kernel refuses to poll the descriptor for one second, as epoll(7) does for `O_PATH`, or for
    /// lack of memory, both directions are disabled for all threads, and the handler gets
    /// [`Events::ERR`](crate::poller::Events::ERR). A handler that wants to go on enables them again.
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
    pub fn want_recv(&self) -> Result<(), Stale> {
        self.want(state::ACTIVE_R)
    }

    /// Enables write interest, as [`RegistrationRef::want_recv`] does for reading. A socket is nearly always
    /// writable: enable it when a write was incomplete, and [stop](RegistrationRef::stop_send) it afterwards.
    ///
    /// ```
    #[doc = include_str!("../doc/one_thread.txt")]
    /// # use std::sync::mpsc::channel;
    /// let (sender, receiver) = channel();
    /// let handler = move |ready: &ReadyGuard<'_, UnixStream>| {
    ///     // Here a program writes the rest.
    ///     ready.registration().stop_send().expect("it is in use");
    ///     sender.send(ready.events().is_writable()).expect("main waits");
    /// };
    /// let handle = core.insert(near, handler, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).want_send()?;
    /// assert!(receiver.recv()?);
    /// # runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
    pub fn want_send(&self) -> Result<(), Stale> {
        self.want(state::ACTIVE_W)
    }

    transitions! {
        /// Disables read interest. The handler gets no report while both directions are disabled. A poller
        /// removes the interest lazily: after its next report.
        stop_recv: |state| state & !state::ACTIVE_R;
        /// Disables write interest, as [`RegistrationRef::stop_recv`] does for reading.
        stop_send: |state| state & !state::ACTIVE_W;
        /// Disables both directions, as [`RegistrationRef::stop_recv`] does for reading.
        stop_both: |state| state & !state::ACTIVE;
        /// Notes that receiving would block: clears [`State::READY_R`]. The next report sets it again.
        ///
        /// ```
        #[doc = include_str!("../doc/one_thread.txt")]
        /// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
        /// let registration = core.registration(handle);
        /// registration.cant_recv()?;
        /// assert!(!core.entry(handle)?.state.contains(State::READY_R));
        /// registration.may_recv()?;
        /// assert!(core.entry(handle)?.state.contains(State::READY_R));
        /// # Ok(())
        /// # }
        /// ```
        cant_recv: |state| state & !state::READY_R;
        /// Notes that sending would block: clears [`State::READY_W`].
        cant_send: |state| state & !state::READY_W;
        /// Notes that receiving may succeed: sets [`State::READY_R`].
        may_recv: |state| state | state::READY_R;
        /// Notes that sending may succeed: sets [`State::READY_W`].
        may_send: |state| state | state::READY_W;
        /// Notes that both directions may succeed: sets [`State::READY`].
        may_both: |state| state | state::READY;
        /// Notes that receiving may succeed, unless the direction is enabled: then the poller reports it.
        cond_recv: |state| if state & state::ACTIVE_R == 0 { state | state::READY_R } else { state };
        /// Notes that sending may succeed, unless the direction is enabled: then the poller reports it.
        cond_send: |state| if state & state::ACTIVE_W == 0 { state | state::READY_W } else { state };
    }

    /// Sets the time after which the handler gets a report with
    /// [`Events::TIMEOUT`](crate::poller::Events::TIMEOUT), in place of the former one; `None` clears it. The
    /// report comes once, never early, on a thread that may use the descriptor, and also while both
    /// directions are disabled. A takeover or move takes the timeout along, and the end of the registration
    /// ends it.
    ///
    /// A call that moves the timeout to a later time is one exchange of a number: an idle timeout can be set
    /// anew at every read. A call that moves it to an earlier time, by a thread that is not the only one that
    /// may use the descriptor, posts a task to each that may.
    ///
    /// ```
    /// use std::io::Read;
    /// use std::os::unix::net::UnixStream;
    /// use std::time::Duration;
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// const IDLE: Duration = Duration::from_millis(20);
    ///
    /// /// Reads, and closes a connection that was idle for too long.
    /// fn serve(ready: &ReadyGuard<'_, UnixStream>) {
    ///     if ready.events().is_timeout() {
    ///         let _ = ready.registration().delete();
    ///         return;
    ///     }
    ///     let _ = ready.source().read(&mut [0; 512]);
    ///     ready.registration().set_timeout(Some(IDLE)).expect("it is in use");
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let (core, id) = (runtime.core(), ThreadId::FIRST);
    /// let handle = core.insert(near, serve, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).set_timeout(Some(IDLE))?;
    /// core.registration(handle).want_recv()?;
    /// assert_eq!(far.read(&mut [0])?, 0, "the end of file comes with the timeout");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
    pub fn set_timeout(&self, after: Option<Duration>) -> Result<(), Stale> {
        // Before the pin, which the end of the registration waits for: the program's clock may wait for that.
        let due = after.map_or(0, |after| self.core.timeout_in(after));
        match self.entered {
            Some(live) => self.set_timeout_of(live, due),
            None => self.set_timeout_of(&*self.core.table().pin(self.handle)?, due),
        }
        Ok(())
    }

    #[inline]
    fn set_timeout_of(&self, live: &Live<'_>, due: u64) {
        // Pair: timeout. The thread that looks at the former time finds this one there.
        let former = live.timeout().swap(due, Ordering::AcqRel);
        let is_found = former != 0 && former <= due;
        if due != 0 && !is_found {
            self.announce_timeout(live);
        }
    }

    #[inline(never)]
    fn announce_timeout(&self, live: &Live<'_>) {
        // Pairs: want-takeover, timeout. The timeout and the flag precede the read of the thread mask: a
        // takeover that does not see them is seen here.
        live.entry().state.activate(state::TIMED);
        match self.caller {
            Some(context) if context.owns_alone(live) => context.look_at_timeout(live),
            _ => self.core.announce_timeout(live),
        }
    }

    /// Makes the close reset the connection (`SO_LINGER` with a zero timeout), which leaves no
    /// `TIME_WAIT`. It applies to every later end of the registration by a close; for a source that is no
    /// connected socket it has no effect.
    ///
    /// ```
    /// use std::io::{ErrorKind, Read};
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// # use pollmatrix_fd_core::ids::ThreadId;
    /// # use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// # let core = runtime.core();
    /// # let id = ThreadId::FIRST;
    /// # let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// let (stream, _) = listener.accept()?;
    /// stream.set_nonblocking(true)?;
    /// let ignore = |_: &ReadyGuard<'_, TcpStream>| {};
    /// let handle = core.insert(stream, ignore, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).reset_on_close()?;
    /// core.registration(handle).delete()?;
    /// assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
    pub fn reset_on_close(&self) -> Result<(), Stale> {
        self.mark(state::LINGER_RISK)
    }

    /// Declares that the open file has another descriptor, in this process or another one. Then a close
    /// does not end the kernel's registrations, and the descriptor is removed from every poller first.
    /// [`RegistrationRef::duplicate`] and [`FdCore::before_fork`] do this by themselves. Call it
    /// before a `try_clone` of the source, or before the descriptor is sent to another process.
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
    pub fn mark_cloned(&self) -> Result<(), Stale> {
        self.mark(state::CLONED)
    }

    fn want(&self, active: u32) -> Result<(), Stale> {
        match self.entered {
            Some(live) => self.want_of(live, active),
            None => self.want_of(&*self.core.table().pin(self.handle)?, active),
        }
        Ok(())
    }

    fn want_of(&self, live: &Live<'_>, active: u32) {
        fault!(UpdateBeforeState => self.core.schedule(live, self.caller));
        let is_mine = self.caller.is_some_and(|context| context.owns_alone(live));
        // Pair: update. Of a descriptor that only this thread may use, no other thread clears the update.
        if is_mine && live.state() & active == active {
            return;
        }
        // Pairs: want-takeover, update. The state precedes the update bit: a poller clears its bit and then
        // reads the state (L1). It also precedes the read of the thread mask: a takeover that sees no active
        // direction leaves the state as it is, and this thread then sees the new owner.
        let before = live.entry().state.activate(active);
        // Only the exclusive owner may conclude from the state that the update is published. For a shared
        // descriptor, another caller may have set the state and not woken a thread yet (suspect 19).
        if before & active != 0 && is_mine {
            return;
        }
        checkpoint!(InterestSet, live.fd());
        unless!(UpdateBeforeState => self.core.schedule(live, self.caller));
    }

    /// Applies `after` to the flags of the state.
    fn transition(&self, after: impl Fn(u32) -> u32) -> Result<(), Stale> {
        match self.entered {
            Some(live) => live.entry().state.change_of(live.generation(), after),
            None => return self.core.table().change_state(self.handle, after),
        };
        Ok(())
    }

    /// Sets a flag that the end of the registration reads. The pin makes the end wait.
    fn mark(&self, flag: u32) -> Result<(), Stale> {
        // Pair: drain.
        let set = |live: &Live<'_>| _ = live.entry().state.fetch_or(flag, Ordering::AcqRel);
        match self.entered {
            Some(live) => set(live),
            None => set(&*self.core.table().pin(self.handle)?),
        }
        Ok(())
    }

    /// Deletes the registration, and closes the source when no thread uses it any more: at once, or when the
    /// last handler returns. Never waits. The handler is dropped after the close, and never while it runs.
    ///
    /// Every thread may call it, and a handler for its own registration, too. A call of the handler
    /// that has begun in another thread, or is about to begin there, may still run after the delete.
    ///
    /// ```
    #[doc = include_str!("../doc/one_thread.txt")]
    /// use pollmatrix_fd_core::error::DeleteError;
    ///
    /// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).delete()?;
    /// let again = core.registration(handle).delete();
    /// assert!(matches!(again, Err(DeleteError::Stale(_))), "no thread used it, so it has ended");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DeleteError`]. The registration has not changed then.
    pub fn delete(&self) -> Result<(), DeleteError> {
        self.end(false)
    }

    /// Deletes the registration as [`RegistrationRef::delete`] does, and returns the source to
    /// [`Handler::released`](crate::Handler::released) instead of closing it.
    ///
    /// ```
    /// use std::os::unix::net::UnixStream;
    /// use std::sync::mpsc::{Sender, channel};
    ///
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::{Handler, InsertOptions, ReadyGuard, Runtime};
    ///
    /// struct Return(Sender<UnixStream>);
    ///
    /// impl Handler<UnixStream> for Return {
    ///     fn ready(&self, _: &ReadyGuard<'_, UnixStream>) {}
    ///
    ///     fn released(&self, source: UnixStream) {
    ///         let _ = self.0.send(source);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let id = ThreadId::FIRST;
    /// let (sender, returned) = channel();
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let handle = core.insert(near, Return(sender), id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).disown()?;
    /// let near: UnixStream = returned.recv()?;
    /// # runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DeleteError`]. The registration has not changed then.
    pub fn disown(&self) -> Result<(), DeleteError> {
        self.end(true)
    }

    fn end(&self, disown: bool) -> Result<(), DeleteError> {
        let orphan = self.core.table().pin(self.handle)?.delete(disown)?;
        if let Some(context) = self.caller {
            context.activity().fd_del.bump();
        }
        if let Some(orphan) = orphan {
            self.core.finish(orphan, self.caller);
        }
        Ok(())
    }

    /// Makes `target`, a thread of any group, the only thread that may use the descriptor, of which one
    /// thread or several were the users. Both directions are disabled afterwards, also if `target` was the
    /// only user before: re-enable the interest you need. The poller of `target` then reports what is ready,
    /// level- and edge-triggered. The pollers of a former group forget the descriptor.
    ///
    /// Every thread may call it. The descriptor's own handler gets [`MoveError::Busy`], because it uses the
    /// descriptor until it returns. It posts a task to its own thread, which runs after the handler:
    ///
    /// ```
    /// use std::io::Write;
    /// use std::os::unix::net::UnixStream;
    /// use std::sync::mpsc::channel;
    ///
    /// use pollmatrix_fd_core::error::MoveError;
    /// use pollmatrix_fd_core::ids::ThreadId;
    /// use pollmatrix_fd_core::{Context, FdHandle, InsertOptions, ReadyGuard, Runtime};
    ///
    /// fn give(context: &Context, handle: FdHandle, target: ThreadId) {
    ///     match context.registration(handle).migrate_on(target) {
    ///         Ok(()) => drop(context.registration(handle).want_recv()),
    ///         Err(MoveError::Busy) => {
    ///             let retry = move |context: &Context| give(context, handle, target);
    ///             let _ = context.core().post(context.id(), retry);
    ///         }
    ///         // The connection or the runtime has ended.
    ///         Err(_) => {}
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(1).group(1).start(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let threads: Vec<_> = core.threads().collect();
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    ///
    /// let (sender, served_by) = channel();
    /// let (first, second) = (threads[0], threads[1]);
    /// let handler = move |ready: &ReadyGuard<'_, UnixStream>| {
    ///     // It does not read, so each thread gets a report.
    ///     let (context, handle) = (ready.context(), ready.handle());
    ///     sender.send(context.id()).expect("main has the receiver");
    ///     ready.registration().stop_recv().expect("it is in use");
    ///     if context.id() == first {
    ///         let _ = context.core().post(first, move |context| give(context, handle, second));
    ///     }
    /// };
    /// let handle = core.insert(near, handler, first.group(), first.mask(), InsertOptions::default())?;
    /// core.registration(handle).want_recv()?;
    /// far.write_all(b"hello")?;
    /// assert_eq!((served_by.recv()?, served_by.recv()?), (first, second));
    /// runtime.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Any other thread moves it at once:
    ///
    /// ```
    /// # use std::os::unix::net::UnixStream;
    /// # use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(1).group(1).start(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let threads: Vec<_> = core.threads().collect();
    /// # let (near, far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let ignore = |_: &ReadyGuard<'_, UnixStream>| {};
    /// let (group, mask) = (threads[0].group(), threads[0].mask());
    /// let handle = core.insert(near, ignore, group, mask, InsertOptions::default())?;
    /// core.registration(handle).migrate_on(threads[1])?;
    /// core.registration(handle).want_recv()?;
    /// assert_eq!(core.entry(handle)?.group, threads[1].group());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`MoveError`], but neither [`MoveError::WrongOwner`] nor [`MoveError::Shared`]. The registration has
    /// not changed then. After [`MoveError::Busy`] a later attempt can succeed: a thread uses the descriptor,
    /// or was preempted while it looked at the entry.
    pub fn migrate_on(&self, target: ThreadId) -> Result<(), MoveError> {
        self.core.relocate(self.handle, target, None)
    }

    /// Makes another descriptor of the same open file. The registration is marked as cloned before the copy
    /// exists, and the registration of the [`Duplicate`] is marked, too. Without the marks, a close would
    /// leave a registration in an epoll instance that no call can remove. `try_clone` makes no marks: use
    /// this call in its place.
    ///
    /// ```
    /// use std::net::TcpListener;
    ///
    /// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(1).group(1).start(pollmatrix_poller_poll::backend)?;
    /// let core = runtime.core();
    /// let threads: Vec<_> = core.threads().collect();
    /// let accept = |ready: &ReadyGuard<'_, TcpListener>| _ = ready.source().accept();
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// listener.set_nonblocking(true)?;
    ///
    /// // A registration belongs to one group, so each group gets a descriptor.
    /// let (one, other) = (threads[0], threads[1]);
    /// let first = core.insert(listener, accept, one.group(), one.mask(), InsertOptions::default())?;
    /// let copy = core.registration(first).duplicate()?.map(TcpListener::from);
    /// let second = core.insert(copy, accept, other.group(), other.mask(), InsertOptions::default())?;
    /// assert_ne!(first, second);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Stale`] as [`io::ErrorKind::NotFound`], or the error of fcntl(2) with `F_DUPFD_CLOEXEC`.
    pub fn duplicate(&self) -> io::Result<Duplicate> {
        let stale = |stale: Stale| io::Error::new(io::ErrorKind::NotFound, stale);
        let pin = self.core.table().pin(self.handle).map_err(stale)?;
        // Pair: drain. The end of the registration reads the flag.
        pin.entry().state.fetch_or(state::CLONED, Ordering::AcqRel);
        // By its number, without the code of the user: a source whose `as_fd` ended the registration would
        // wait for this pin.
        // SAFETY: the pin keeps the number open.
        let number = unsafe { BorrowedFd::borrow_raw(pin.fd()) };
        let copy = fcntl(number, FcntlArg::F_DUPFD_CLOEXEC(0))?;
        // SAFETY: fcntl has made it, and no other code knows the number.
        Ok(Duplicate::new(unsafe { OwnedFd::from_raw_fd(copy) }))
    }

    /// The identity of the owner, which [`Context::takeover`] expects and has an example of.
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended. Never in a call from a [`ReadyGuard`].
    pub fn owner(&self) -> Result<OwnerId, Stale> {
        self.core.table().pin(self.handle).map(|pin| pin.owner_id())
    }
}

impl fmt::Debug for RegistrationRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caller = self.caller.map(Context::id);
        f.debug_struct("RegistrationRef")
            .field("handle", &self.handle)
            .field("caller", &caller)
            .finish_non_exhaustive()
    }
}
