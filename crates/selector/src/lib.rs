//! The raw pollers behind one small interface.
//!
//! A [`Selector`] hides nothing: its answers are the kernel's own, bit by bit and errno by errno, so that a scenario which
//! asks a question once gets every poller's answer to it. The multi-threaded FD core does not use it; it is what the
//! core has to hide the differences of. Other people's pollers are behind the same interface.

mod answer;
mod changed;
mod raw_wait;
mod wake_pipe;

use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

pub use metadata::Mode;
use nix::errno::Errno;

pub use crate::answer::{Answer, Bits, Filter, Record};
pub use crate::changed::{Changed, Refusal, Unsupported};
pub use crate::raw_wait::{RawArgument, RawWaited};
pub use crate::wake_pipe::WakePipe;

/// What the caller knows a registration by. It comes back with every event.
pub type Token = u64;

/// What a registration asks for. None of them is `events == 0`: poll and epoll then still report hang-ups and errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interest {
    /// `POLLIN`, the read set, `EVFILT_READ`.
    pub read: bool,
    /// `POLLOUT`, the write set, `EVFILT_WRITE`.
    pub write: bool,
    /// `POLLPRI`, the exception set, `EVFILT_EXCEPT` where there is one.
    pub urgent: bool,
    /// `POLLRDHUP`, where there is one. kqueue and select cannot be asked for it alone.
    pub peer_shut: bool,
}

impl Interest {
    /// Nothing: `events == 0`.
    pub const NONE: Self = Self { read: false, write: false, urgent: false, peer_shut: false };
    /// Reading only.
    pub const READ: Self = Self { read: true, ..Self::NONE };
    /// Writing only.
    pub const WRITE: Self = Self { write: true, ..Self::NONE };
    /// Everything that can be asked for.
    pub const ALL: Self = Self { read: true, write: true, urgent: true, peer_shut: true };

    /// What either asks for.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            urgent: self.urgent || other.urgent,
            peer_shut: self.peer_shut || other.peer_shut,
        }
    }
}

/// One event as the poller gave it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The registration's.
    pub token: Token,
    /// What was said of it.
    pub record: Record,
}

/// What can be asked of a poller. A reason stands where something cannot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// The modes that there are.
    pub modes: Vec<Mode>,
    /// Whether several threads may wait on one poller and each is a waiter of its own in the kernel.
    pub shared_wait: Result<(), &'static str>,
    /// Whether a change made while another thread waits is seen by that wait.
    pub changes_seen_by_waiters: Result<(), &'static str>,
    /// Whether descriptors keep the numbers that this process has for them.
    pub own_numbers: Result<(), &'static str>,
    /// Whether events have the kernel's own words ([`Record::Bits`] …), or only the poller's ([`Record::Names`]).
    pub raw_records: bool,
}

/// How to look at a state: the name that the published answers have for it, and how it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// `poll`, `poll-events0`, `epoll-add-before`, `kqueue-add-after`.
    pub api: &'static str,
    /// What is asked for.
    pub interest: Interest,
    /// Whether the registration is older than the state, or is made when it is looked at.
    pub registered: Registered,
}

/// When the registration was made that a [`View`] looks through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// Before the state came about.
    Before,
    /// When it is looked at, anew each time.
    After,
}

/// A poller. All calls may come from any thread; [`Capabilities`] says which of them may wait at once.
pub trait Selector: Send + Sync {
    /// `epoll`. What answers are published under.
    fn name(&self) -> &str;

    /// What it can be asked.
    fn capabilities(&self) -> Capabilities;

    /// The ways in which it can be asked about a state in this mode, those of the published answers. Empty if it has no such
    /// mode.
    fn views(&self, mode: Mode) -> &'static [View];

    /// What is said of a registration of which a wait has no event: `silent`; poll and select have their own words.
    fn nothing(&self) -> Answer {
        Answer::default()
    }

    /// Registers a descriptor.
    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;

    /// Changes a registration: what is asked for, its mode, its token.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;

    /// Takes a registration out.
    fn remove(&self, fd: RawFd) -> Changed;

    /// Waits for at most `room` events, in the order in which they were given; for ever without a timeout. A timeout that the
    /// call cannot express is rounded up; one that is too long for it is the longest that there is. The call's own failure,
    /// `EINTR` too, is an answer.
    ///
    /// # Errors
    /// What the system call answers.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno>;

    /// Waits with one argument as it is: a timeout that is negative or no timeout at all, room for less than nothing. Everything
    /// else is as in [`Selector::wait`]. What the kernel may write to is always there.
    ///
    /// # Errors
    /// That the call has no such argument. What it answers is inside.
    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        Err(Unsupported(format!("{} has no such argument: {argument:?}", self.name())))
    }

    /// Makes a wait, the current or the next one, end: one of them, if there are several. What it does is the poller's own: an
    /// eventfd, a pipe, a user event. A wait that it ends has no event of it, and may have others. Wake-ups that no wait has
    /// seen yet are one.
    ///
    /// # Errors
    /// Why it cannot.
    fn wake(&self) -> Result<(), Unsupported>;

    /// Closes the poller's own descriptor, whoever waits; later calls answer `EBADF`.
    ///
    /// # Errors
    /// What close(2) answers, or that there is nothing to close.
    fn close(&self) -> Result<Result<(), Errno>, Unsupported>;

    /// Another descriptor of the poller's own open file, to be watched by other pollers.
    ///
    /// # Errors
    /// That it has none, or why there cannot be another one.
    fn descriptor(&self) -> Result<OwnedFd, Unsupported> {
        Err(Unsupported(format!("{} has no descriptor of its own to give away", self.name())))
    }

    /// Says that this process has closed its descriptor `fd`. For pollers in another process, which have a copy of it.
    ///
    /// # Errors
    /// It cannot be told now: its copy stays open, and what it answers from now on is about another state.
    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        let _ = fd;
        Ok(())
    }

    /// The process in which it waits, if that is another one.
    fn process(&self) -> Option<i32> {
        None
    }

    /// Why it cannot be asked any more, if that is so: it is in another process, and that has ended or speaks nonsense. What
    /// was answered since is no answer.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// How a poller is made. An [error](std::io::Error) of the kind `Unsupported` says that this system has none.
pub type MakeSelector = &'static (dyn Fn() -> std::io::Result<Box<dyn Selector>> + Send + Sync);
