//! What a handler is given, and what anybody can do with a handle.

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

/// A report, or an entry that was entered outside one: the running bit of the context's thread is set.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) context: &'a Context,
    pub(crate) entry: &'a Entry,
    pub(crate) handle: FdHandle,
    pub(crate) events: Events,
}

/// Lends a registered source to a handler, or to the action of [`Context::enter`].
///
/// While the guard exists, the source stays open and in its place, even if another thread deletes the registration or
/// tries to take it over.
pub struct ReadyGuard<'a, S = OwnedFd> {
    pub(crate) report: Report<'a>,
    pub(crate) source: &'a S,
}

impl<S> ReadyGuard<'_, S> {
    /// The registered source: `ready.source().accept()`.
    pub fn source(&self) -> &S {
        self.source
    }

    /// The worker thread's side of the core.
    pub fn context(&self) -> &Context {
        self.report.context
    }

    /// The handle of the registration.
    pub fn handle(&self) -> FdHandle {
        self.report.handle
    }

    /// The events of this report. Empty when entered outside a report.
    pub fn events(&self) -> Events {
        self.report.events
    }

    /// The state of the registration at this moment.
    pub fn state(&self) -> State {
        // Pair: update.
        State::from_bits(self.report.entry.state.load(Ordering::Acquire))
    }

    /// The calls on the registration, which cannot be stale.
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

/// A handle at hand: the calls on one registered descriptor.
///
/// From a worker thread ([`Context::fd`], [`ReadyGuard::fd`]) or from any other ([`FdCore::fd`]). Every call validates
/// the handle; a stale one changes nothing.
pub struct RegistrationRef<'a> {
    pub(crate) core: &'a FdCore,
    pub(crate) caller: Option<&'a Context>,
    pub(crate) handle: FdHandle,
    pub(crate) entered: Option<&'a Entry>,
}

/// The readiness calls, each a transition of the state word (protocol 10).
macro_rules! transitions {
    ($($(#[$doc:meta])* $name:ident: |$state:ident| $after:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Stale`]; never for the descriptor of a [`ReadyGuard`].
            pub fn $name(&self) -> Result<(), Stale> {
                self.transition(|$state| $after).map(drop)
            }
        )*
    };
}

impl<'a> RegistrationRef<'a> {
    /// The handle.
    pub fn handle(&self) -> FdHandle {
        self.handle
    }

    /// Wants to receive: within one pass of some allowed thread, which is woken if need be, the descriptor is
    /// polled for it (L1).
    ///
    /// # Errors
    /// [`Stale`]; never for the descriptor of a [`ReadyGuard`].
    pub fn want_recv(&self) -> Result<(), Stale> {
        self.want(state::ACTIVE_R)
    }

    /// Wants to send; see [`RegistrationRef::want_recv`].
    ///
    /// # Errors
    /// [`Stale`]; never for the descriptor of a [`ReadyGuard`].
    pub fn want_send(&self) -> Result<(), Stale> {
        self.want(state::ACTIVE_W)
    }

    transitions! {
        /// Stops wanting to receive. Lazily: pollers learn of it when they next report the descriptor (L6).
        stop_recv: |state| state & !state::ACTIVE_R;
        /// Stops wanting to send; see [`RegistrationRef::stop_recv`].
        stop_send: |state| state & !state::ACTIVE_W;
        /// Stops wanting either; see [`RegistrationRef::stop_recv`].
        stop_both: |state| state & !state::ACTIVE;
        /// Notes that receiving would block.
        cant_recv: |state| state & !state::READY_R;
        /// Notes that sending would block.
        cant_send: |state| state & !state::READY_W;
        /// Notes that receiving may be tried.
        may_recv: |state| state | state::READY_R;
        /// Notes that sending may be tried.
        may_send: |state| state | state::READY_W;
        /// Notes that both may be tried.
        may_both: |state| state | state::READY;
        /// Notes that receiving may be tried, unless it is wanted: then the poller decides.
        cond_recv: |state| if state & state::ACTIVE_R == 0 { state | state::READY_R } else { state };
        /// Notes that sending may be tried, unless it is wanted: then the poller decides.
        cond_send: |state| if state & state::ACTIVE_W == 0 { state | state::READY_W } else { state };
        /// Makes closing reset the connection (`SO_LINGER` with a zero timeout), so that no `TIME_WAIT` is left.
        reset_on_close: |state| state | state::LINGER_RISK;
        /// Says that the open file has another descriptor, here or in another process: closing this one will not
        /// make the kernel forget the registration, so it must be taken out of every poller first.
        mark_cloned: |state| state | state::CLONED;
    }

    fn want(&self, active: u32) -> Result<(), Stale> {
        let pin = self.core.table().pin(self.handle)?;
        fault!(UpdateBeforeState => self.core.schedule(&pin, self.caller));
        // Pair: update. The state before the update bit: a poller clears its bit and then reads the state (L1).
        let before = pin.entry().state.fetch_or(active, Ordering::AcqRel);
        // Only the exclusive owner may conclude from the state alone that the update is published, or will be:
        // for a shared descriptor the other caller may have woken nobody (suspect 19).
        if before & active != 0 && self.caller.is_some_and(|context| context.owns_alone(&pin)) {
            return Ok(());
        }
        unless!(UpdateBeforeState => self.core.schedule(&pin, self.caller));
        Ok(())
    }

    /// Applies `after` to the state word; returns the word before.
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
            // The running bit keeps the registration; no pin is needed.
            Some(entry) => Ok(change(entry)),
            None => self.core.table().pin(self.handle).map(|pin| change(pin.entry())),
        }
    }

    /// Deletes the registration and closes the descriptor, at once or when its last user is done. Never waits.
    /// The handler is dropped after the close; never while it runs.
    ///
    /// # Errors
    /// [`DeleteError`]; nothing has changed then.
    pub fn delete(&self) -> Result<(), DeleteError> {
        self.end(false)
    }

    /// Deletes the registration without closing: when the last user is done, the handler's
    /// [`released`](crate::Handler::released) gets the descriptor back.
    ///
    /// # Errors
    /// [`DeleteError`]; nothing has changed then.
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

    /// Gives the descriptor to `target`, of whatever group, and stops both directions; the new owner wants what it
    /// wants. Its poller state in a former group is removed.
    ///
    /// # Errors
    /// [`MoveError`]; the entry is as it was. `Busy` also from inside the descriptor's own handler, and if a thread is
    /// preempted while it looks at the entry: then trying again is all there is to do.
    pub fn migrate_on(&self, target: ThreadId) -> Result<(), MoveError> {
        self.core.relocate(self.handle, target, None)
    }

    /// Another descriptor of the same open file. The registration is marked as cloned first, and so is the duplicate when
    /// it is inserted: without that, closing either would leave a ghost in an epoll instance that nobody can remove
    /// (suspect 17).
    ///
    /// # Errors
    /// [`Stale`] as `NotFound`, or what `fcntl(F_DUPFD_CLOEXEC)` answers.
    pub fn duplicate(&self) -> io::Result<Duplicate> {
        let stale = |stale: Stale| io::Error::new(io::ErrorKind::NotFound, stale);
        let pin = self.core.table().pin(self.handle).map_err(stale)?;
        // Pair: drain. The end of the registration reads it.
        pin.entry().state.fetch_or(state::CLONED, Ordering::AcqRel);
        let copy = fcntl(pin.owner(), FcntlArg::F_DUPFD_CLOEXEC(0))?;
        // SAFETY: fcntl has just made it, and no other code knows it.
        Ok(Duplicate::new(unsafe { OwnedFd::from_raw_fd(copy) }))
    }

    /// The identity of the registration's owner, for [`Context::takeover`].
    ///
    /// # Errors
    /// [`Stale`]; never for the descriptor of a [`ReadyGuard`].
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
