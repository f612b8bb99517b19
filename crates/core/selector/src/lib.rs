//! One small interface to every raw poller.
//!
//! A [`Selector`] hides nothing: it returns the kernel's own bits and error numbers, so that one script
//! records the answers of every poller. The multi-threaded FD core does not use this interface: the core
//! hides the differences that selectors show. Libraries and adapters implement the same interface.

mod acts;
mod changed;
mod forward;
mod raw_wait;
mod record;
mod sources;
mod wake_pipe;

use std::fmt;
use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

use metadata::Outcome;
pub use metadata::{Column, Interest, Interface, Mode, PollBits};
use nix::errno::Errno;

pub use crate::acts::{Act, Acted, Acts, Shut};
pub use crate::changed::{Changed, Refusal, Unsupported};
pub use crate::raw_wait::{Inspected, RawArgument, RawWaited, timespec};
pub use crate::record::{Bits, Filter, Record};
pub use crate::sources::{Source, Sources, TimerSetting};
pub use crate::wake_pipe::{WakePipe, set_nonblocking};

/// The caller's identifier of a registration. Each event contains it.
pub type Token = u64;

/// The token of the registration that is a fence. It is larger than those of a script, and fits into a double
/// and into a signed number of 32 bits, in which programs may keep it. It is not the largest of any size: a
/// poller may use that itself, as minus one.
pub const FENCE: Token = 0x7e57_fe2c;

/// One event of a poller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The token of the registration.
    pub token: Token,
    /// The contents of the event.
    pub record: Record,
}

/// The features of a poller. An error is the reason why a feature is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// The modes of registrations.
    pub modes: Vec<Mode>,
    /// Several threads may wait on one poller at once, each as a waiter of its own in the kernel.
    pub shared_wait: Result<(), &'static str>,
    /// A wait sees the changes that another thread makes meanwhile.
    pub changes_seen_by_waiters: Result<(), &'static str>,
    /// Descriptors have the same numbers in the poller as in this process.
    pub own_numbers: Result<(), &'static str>,
    /// Events have the kernel's terms ([`Record::Bits`], [`Record::Sets`], [`Record::Filter`]), and not only
    /// the poller's own ([`Record::Names`]).
    pub raw_records: bool,
}

/// One way to observe a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The name in the published answers: `poll`, `poll-events0`, `epoll-add-before`, `kqueue-add-after`.
    pub api: &'static str,
    /// The interest of the registration.
    pub interest: Interest,
    /// When the registration is made.
    pub registered: Registered,
}

/// When the registration of a [`View`] is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// Before the state exists.
    Before,
    /// After the state exists, again for each observation.
    After,
}

/// A poller. Any thread may call each method; [`Capabilities::shared_wait`] is whether several threads may
/// wait at once.
pub trait Selector: Send + Sync {
    /// Returns the name of the poller in the published answers: `epoll`.
    fn name(&self) -> &str;

    /// Returns the version of the poller, if it is not part of the system: that of its library or program.
    fn version(&self) -> Option<String> {
        None
    }

    /// Returns the words of the poller's events, and the interface that it is built over.
    fn column(&self) -> Column;

    /// Returns the features of the poller.
    fn capabilities(&self) -> Capabilities;

    /// Returns the ways to observe a state in this mode, as in the published answers. Empty if the poller has
    /// no such mode.
    fn views(&self, mode: Mode) -> &'static [View];

    /// Returns the notation for a registration without an event. poll and select have their own.
    fn no_event(&self) -> &'static str {
        "silent"
    }

    /// Registers a descriptor.
    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;

    /// Changes the interest, the mode and the token of a registration.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;

    /// Removes a registration.
    fn remove(&self, fd: RawFd) -> Changed;

    /// Disables a registration, which keeps its events, or enables it again: `EV_DISABLE` and `EV_ENABLE`.
    fn enable(&self, fd: RawFd, enabled: bool) -> Changed {
        let _ = (fd, enabled);
        Changed::unsupported(format!("{} has no disabled registrations", self.name()))
    }

    /// Waits for events, and returns at most `room` of them in the poller's order. A timeout of `None` waits
    /// without a limit. A timeout that the call cannot express is rounded up, or cut to the longest possible
    /// one.
    ///
    /// # Errors
    /// The error of the system call, `EINTR` too.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno>;

    /// Returns whether a wait returns at most `room` events.
    ///
    /// # Errors
    /// The reason why the poller cannot limit them. Then a wait can return more.
    fn limits_room(&self) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Waits with one argument that is passed to the system call unchanged: an invalid timeout, or a negative
    /// room. The rest is as in [`Selector::wait`]. The memory that the kernel may write is always valid.
    ///
    /// # Errors
    /// `Unsupported` if the call has no such argument. The inner error is that of the system call.
    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        Err(Unsupported(format!("{} has no such argument: {argument:?}", self.name())))
    }

    /// Waits with a timeout of zero, and looks what the call has written into the caller's memory.
    ///
    /// # Errors
    /// `Unsupported` if the poller is not a system call. The inner error is that of the system call.
    fn wait_inspected(&self) -> Result<Result<Inspected, Errno>, Unsupported> {
        Err(Unsupported(format!("{} writes no memory of this process", self.name())))
    }

    /// Waits as [`Selector::wait`] does. The call replaces the thread's signal mask by this one meanwhile.
    ///
    /// # Errors
    /// `Unsupported` if the system call takes no mask. The inner error is that of the system call.
    fn wait_masked(
        &self,
        room: usize,
        timeout: Option<Duration>,
        mask: &nix::libc::sigset_t,
    ) -> Result<Result<Vec<Event>, Errno>, Unsupported> {
        let _ = (room, timeout, mask);
        Err(Unsupported(format!("{} does not wait with a signal mask", self.name())))
    }

    /// Ends the current or the next wait. If several threads wait, it ends one of the waits. The means are
    /// the poller's own: an eventfd, a pipe, a user event. The wait that it ends returns no event for the
    /// wake-up, and may return others. Wake-ups before a wait sees them count as one.
    ///
    /// # Errors
    /// The reason why the poller cannot be woken.
    fn wake(&self) -> Result<(), Unsupported>;

    /// Closes the poller's own descriptor, even while threads wait. Later calls return `EBADF`.
    ///
    /// # Errors
    /// `Unsupported` if the poller has no descriptor. The inner error is that of close(2).
    fn close(&self) -> Result<Result<(), Errno>, Unsupported>;

    /// Returns another descriptor of the poller's own open file, for registration in other pollers.
    ///
    /// # Errors
    /// `Unsupported` if the poller has no descriptor, or if it cannot be duplicated.
    fn descriptor(&self) -> Result<OwnedFd, Unsupported> {
        Err(Unsupported(format!("{} has no descriptor of its own", self.name())))
    }

    /// Uses this descriptor, which another process has sent, in place of the poller's own.
    ///
    /// # Errors
    /// `Unsupported` if the poller has no descriptor.
    fn adopt(&self, descriptor: OwnedFd) -> Result<(), Unsupported> {
        drop(descriptor);
        Err(Unsupported(format!("{} has no descriptor of its own", self.name())))
    }

    /// Reports that this process has closed its descriptor `fd`. A poller in another process then closes its
    /// copy.
    ///
    /// # Errors
    /// The poller cannot receive the report now. Its copy stays open, and its later answers are about another
    /// state.
    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        let _ = fd;
        Ok(())
    }

    /// Reports that this process has opened a descriptor that may be registered later, or under a number that
    /// a registration may name. A poller in another process then takes a copy, and not at its registration:
    /// by then, the copy could get the number of one that was closed in the meantime.
    ///
    /// # Errors
    /// The poller cannot have this number now. Its later answers are about another state.
    fn opened(&self, fd: RawFd) -> Result<(), Unsupported> {
        let _ = fd;
        Ok(())
    }

    /// Returns the acts of a poller whose program makes the descriptors under test itself. Such a poller
    /// refuses a registration of any other descriptor as unsupported.
    fn actor(&self) -> Option<&dyn Acts> {
        None
    }

    /// Returns the sources of a poller that has filters for timers, processes, signals and files. Elsewhere
    /// they are descriptors, if the system has such.
    fn sources(&self) -> Option<&dyn Sources> {
        None
    }

    /// Returns the id of the process in which the poller waits, if it is another one.
    fn process(&self) -> Option<i32> {
        None
    }

    /// Returns how long the poller's own calls have taken since the last call of this method, if the poller
    /// is in another process and measures them there. The way to it is no part of that time.
    fn spent(&self) -> Option<Duration> {
        None
    }

    /// Returns why the poller is unusable, if it is: it is in another process, which has ended or has broken
    /// the protocol. Answers since then are invalid.
    fn failure(&self) -> Option<Failure> {
        None
    }
}

/// The reason why a poller in another process is unusable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// A description, with the last command.
    pub reason: String,
    /// The poller's answer to that command, if the failure is one: `aborts(SIGABRT)`, `exits(3)`, `spins`.
    pub answer: Option<Outcome>,
}

/// The reason.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Creates a poller. The kind of the [error](std::io::Error) is `Unsupported` if this system has no such
/// poller.
pub type MakeSelector = &'static (dyn Fn() -> std::io::Result<Box<dyn Selector>> + Send + Sync);
