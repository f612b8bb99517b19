//! The guard that a handler gets, and the calls on a registration.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, fcntl};

use crate::entry::Entry;
use crate::entry::error::{DeleteError, MoveError, Stale};
use crate::entry::owner::OwnerId;
use crate::entry::source::Duplicate;
use crate::shared::FdCore;
use crate::shared::context::Context;
use crate::table::FdHandle;
use crate::words::events::Events;
use crate::words::ids::ThreadId;
use crate::words::state::{self, State};
use crate::words::sync::Ordering;

/// A report, or an entry outside a report. The running bit of the context's thread is set.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) context: &'a Context,
    pub(crate) entry: &'a Entry,
    pub(crate) handle: FdHandle,
    pub(crate) events: Events,
}

/// Lends a registered source to its handler, or to the action of [`Context::enter`].
///
/// While the guard exists, the source stays open, and takeovers by other threads fail. If another thread
/// deletes the registration meanwhile, it ends after the handler has returned.
///
/// ```
/// use std::io::Read;
/// use std::net::TcpStream;
///
/// use fd_core::{ReadyGuard, State};
///
/// fn handle(ready: &ReadyGuard<'_, TcpStream>) {
///     if ready.events().is_readable() {
///         let mut bytes = [0; 512];
///         let read = ready.source().read(&mut bytes);
///         println!("{} read {read:?}, {:?}", ready.context().id(), ready.state());
///     }
///     if ready.state().contains(State::POLL_ERR) {
///         let _ = ready.registration().delete();
///     }
/// }
/// ```
pub struct ReadyGuard<'a, S = OwnedFd> {
    pub(crate) report: Report<'a>,
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
        self.report.handle
    }

    /// The events of this report. Empty in [`Context::enter`].
    pub fn events(&self) -> Events {
        self.report.events
    }

    /// The state of the registration at this moment. Other threads can change it.
    pub fn state(&self) -> State {
        // Pair: update.
        State::from_bits(self.report.entry.state.load(Ordering::Acquire))
    }

    /// The calls on the registration. None of them is stale while the guard exists.
    pub fn registration(&self) -> RegistrationRef<'_> {
        RegistrationRef {
            core: self.report.context.core(),
            caller: Some(self.report.context),
            handle: self.report.handle,
            entered: Some(self.report.entry),
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
/// Every call checks the handle. The handle of a registration that has ended gets an error, even if the
/// number is registered again, and the call changes nothing.
///
/// ```
/// use std::os::unix::net::UnixStream;
///
/// use fd_core::{InsertOptions, ReadyGuard, Runtime, State};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().group(1).start(poller_poll::backend)?;
/// let core = runtime.core();
/// let id = core.threads().next().expect("a runtime has threads");
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
    pub(crate) entered: Option<&'a Entry>,
}

/// The calls that change the state and schedule nothing (protocol 10).
macro_rules! transitions {
    ($($(#[$doc:meta])* $name:ident: |$state:ident| $after:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Stale`]. Never from a [`ReadyGuard`].
            pub fn $name(&self) -> Result<(), Stale> {
                self.transition(|$state| $after).map(drop)
            }
        )*
    };
}

impl<'a> RegistrationRef<'a> {
    /// The handle of the registration.
    pub fn handle(&self) -> FdHandle {
        self.handle
    }

    /// Enables read interest. An allowed thread polls the descriptor from its next wait on; a sleeping thread
    /// is woken (L1).
    ///
    /// # Errors
    /// [`Stale`]. Never from a [`ReadyGuard`].
    pub fn want_recv(&self) -> Result<(), Stale> {
        self.want(state::ACTIVE_R)
    }

    /// Enables write interest, as [`RegistrationRef::want_recv`] does for reading.
    ///
    /// # Errors
    /// [`Stale`]. Never from a [`ReadyGuard`].
    pub fn want_send(&self) -> Result<(), Stale> {
        self.want(state::ACTIVE_W)
    }

    transitions! {
        /// Disables read interest. It is lazy: a poller removes the interest after its next report (L6).
        stop_recv: |state| state & !state::ACTIVE_R;
        /// Disables write interest, as [`RegistrationRef::stop_recv`] does for reading.
        stop_send: |state| state & !state::ACTIVE_W;
        /// Disables both directions, as [`RegistrationRef::stop_recv`] does for reading.
        stop_both: |state| state & !state::ACTIVE;
        /// Notes that receiving would block: clears [`State::READY_R`].
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
        /// Makes the close reset the connection (`SO_LINGER` with a zero timeout), which leaves no
        /// `TIME_WAIT`.
        reset_on_close: |state| state | state::LINGER_RISK;
        /// Declares that the open file has another descriptor, in this process or another one. Then a close
        /// does not end the kernel's registrations, and the descriptor is removed from every poller first.
        /// [`RegistrationRef::duplicate`] and [`FdCore::before_fork`] do this by themselves.
        mark_cloned: |state| state | state::CLONED;
    }

    fn want(&self, active: u32) -> Result<(), Stale> {
        let pin = self.core.table().pin(self.handle)?;
        fault!(UpdateBeforeState => self.core.schedule(&pin, self.caller));
        // Pair: update. The state precedes the update bit: a poller clears its bit and then reads the state
        // (L1).
        let before = pin.entry().state.fetch_or(active, Ordering::AcqRel);
        // Only the exclusive owner may conclude from the state that the update is published. For a shared
        // descriptor, another caller may have set the state and not woken a thread yet (suspect 19).
        if before & active != 0 && self.caller.is_some_and(|context| context.owns_alone(&pin)) {
            return Ok(());
        }
        unless!(UpdateBeforeState => self.core.schedule(&pin, self.caller));
        Ok(())
    }

    /// Applies `after` to the state word, and returns the previous word.
    fn transition(&self, after: impl Fn(u32) -> u32) -> Result<u32, Stale> {
        let change = |entry: &Entry| {
            // Pair: update.
            let changed = entry.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                let next = after(state);
                (next != state).then_some(next)
            });
            changed.unwrap_or_else(|state| state)
        };
        match self.entered {
            // The running bit keeps the registration, so no pin is needed.
            Some(entry) => Ok(change(entry)),
            None => self.core.table().pin(self.handle).map(|pin| change(pin.entry())),
        }
    }

    /// Deletes the registration, and closes the source when no thread uses it any more: at once, or when the
    /// last handler returns. Never waits. The handler is dropped after the close, and never while it runs.
    ///
    /// Every thread may call it, and a handler for its own registration, too.
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
    /// use fd_core::{Handler, InsertOptions, ReadyGuard, Runtime};
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
    /// let runtime = Runtime::builder().group(1).start(poller_poll::backend)?;
    /// let core = runtime.core();
    /// let id = core.threads().next().expect("a runtime has threads");
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

    /// Makes `target`, a thread of any group, the only thread that may use the descriptor. Both directions
    /// are disabled afterwards: re-enable the interest you need. The pollers of a former group forget the
    /// descriptor.
    ///
    /// Every thread may call it, but not the descriptor's own handler, which uses the descriptor.
    ///
    /// ```
    /// # use std::os::unix::net::UnixStream;
    /// # use fd_core::{InsertOptions, ReadyGuard, Runtime};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(1).group(1).start(poller_poll::backend)?;
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
    /// [`MoveError`]. The registration has not changed then. After [`MoveError::Busy`] a later attempt can
    /// succeed: a thread uses the descriptor, or was preempted while it looked at the entry.
    pub fn migrate_on(&self, target: ThreadId) -> Result<(), MoveError> {
        self.core.relocate(self.handle, target, None)
    }

    /// Makes another descriptor of the same open file. The registration is marked as cloned before the copy
    /// exists, and the registration of the [`Duplicate`] is marked, too. Without the marks, a close would
    /// leave a registration in an epoll instance that no call can remove (suspect 17).
    ///
    /// ```
    /// use std::net::TcpListener;
    ///
    /// use fd_core::{InsertOptions, ReadyGuard, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::builder().group(1).group(1).start(poller_poll::backend)?;
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
        let copy = fcntl(pin.owner(), FcntlArg::F_DUPFD_CLOEXEC(0))?;
        // SAFETY: fcntl has made it, and no other code knows the number.
        Ok(Duplicate::new(unsafe { OwnedFd::from_raw_fd(copy) }))
    }

    /// The identity of the owner, which [`Context::takeover`] expects.
    ///
    /// # Errors
    /// [`Stale`]. Never from a [`ReadyGuard`].
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
