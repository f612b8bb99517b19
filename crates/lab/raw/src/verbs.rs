//! The language of the scripts: clauses that run one after the other.
//!
//! `own and peer are connected, watch own, peer sends 3, look at own as 3-bytes, own reads 1?`
//!
//! A clause is a fact to bring about. It must succeed; otherwise the state is not the intended one. With a
//! question mark a clause is a question: it accepts any answer and records it. `look at` and `wait` are
//! questions without a mark. docs/verbs.md describes the whole language.

mod parse;
mod print;

use std::time::Duration;

use metadata::Mode;
use selector::{Interest, RawArgument};

pub use parse::ParseError;

/// A descriptor's name in a script: `own`, `peer`, `listener`.
pub type Name = String;

/// The poller of clauses that name none.
pub const FIRST: &str = "first";

/// The name of the descriptor under test.
pub const OWN: &str = "own";

/// A parsed script. Its `Display` form is canonical and parses to the same script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// The clauses, in the order in which they run.
    pub clauses: Vec<Clause>,
}

/// One action or question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    /// The action.
    pub action: Action,
    /// Whether the answer is recorded and may be anything: the question mark.
    pub is_question: bool,
    /// The state that begins with this clause: the word after `as`.
    pub state: Option<String>,
    /// `in a child`: a forked child runs the clause and exits. It has a copy of everything that the script
    /// has made.
    pub in_child: bool,
}

/// The action of a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// `N times`: repeats the rest of the script N times, each time with everything made anew.
    Times(usize),
    /// `this is NAME`: publishes later answers under NAME instead of the transport.
    Title(String),
    /// `NAME is KIND`: makes a descriptor.
    Make(Name, DescriptorKind),
    /// `A and B are connected`. Of a pipe or FIFO, A is the reading end; of a pseudo-terminal, A is the
    /// master.
    Connect(Name, Name),
    /// `NAME does SOMETHING`: a call on a descriptor.
    Call(Name, Call),
    /// `watch`, `add`, `modify`, `remove`: changes a registration.
    Change(Change),
    /// `take`: consumes the poller's current events and records nothing.
    Take(Name),
    /// `look at NAME`: asks every view of the poller about the descriptor.
    Look {
        /// The descriptor.
        at: Name,
        /// The interest of a registration made now; `None` for every view.
        interest: Option<Interest>,
    },
    /// `wait`: waits with a timeout of zero.
    Wait {
        /// The number of waits, one after the other.
        times: usize,
        /// The maximum number of events per wait.
        room: Option<usize>,
        /// The poller.
        poller: Name,
    },
    /// `THREAD waits`: a thread begins a wait and falls asleep in it.
    ThreadWaits {
        /// The thread.
        thread: Name,
        /// The arguments of its wait.
        arguments: WaitArguments,
        /// The poller.
        poller: Name,
    },
    /// `THREAD is signalled`: sends a signal that has a handler.
    Signal {
        /// The thread.
        thread: Name,
        /// With `SA_RESTART`.
        restarting: bool,
        /// The handler wakes the poller in which the thread waits.
        wakes: bool,
    },
    /// `THREAD answers`: records the result of its wait, or that it still sleeps.
    ThreadAnswers(Name),
    /// `N threads wait`: N threads fall asleep, in one poller or each in its own.
    Waiters {
        /// The number of threads.
        count: usize,
        /// Each thread has its own poller with the same registrations.
        alone: bool,
        /// The poller.
        poller: Name,
    },
    /// `N threads accept from A`, `look`, `collect`: threads that work until no work is left.
    WorkerPool {
        /// The number of threads.
        count: usize,
        /// The work of each thread.
        work: Work,
        /// Each thread has its own poller with the same registrations.
        alone: bool,
        /// The poller.
        poller: Name,
    },
    /// `N clients reach A`: N connections, one after the other.
    Clients {
        /// The number of connections.
        count: usize,
        /// The listener.
        listener: Name,
        /// Each connection is made when all threads sleep again.
        one_by_one: bool,
    },
    /// `N pairs are added and written`: adds the first end of each pair for reading, then sends a byte to
    /// each.
    Pairs(usize),
    /// `threads answer`: records how many of them were woken, or the result of their work.
    ThreadsAnswer,
    /// `threads share`: records how many of them did the work.
    ThreadsShare,
    /// `wake`: the poller's own wake-up.
    Wake {
        /// The number of wake-ups.
        times: usize,
        /// The poller.
        poller: Name,
    },
    /// `a poller is made`: makes a poller and closes it.
    MakePoller,
    /// `descriptors end at N`, `descriptors run out`, `descriptors are back`: sets `RLIMIT_NOFILE`.
    Limit(Limit),
    /// `a child is forked`: the child does nothing and inherits every open descriptor of the script.
    Fork,
    /// `the child ends`.
    ChildEnds,
    /// `a child waits at most …`: the child waits in its own poller, without registrations.
    ChildWaits(Duration),
    /// `the child is stopped and continued`: sends `SIGSTOP`, and `SIGCONT` once the child has stopped.
    ChildIsStopped,
    /// `the child answers`: records the result of its wait.
    ChildAnswers,
    /// `close`: closes the poller's own descriptor.
    ClosePoller(Name),
}

/// The work of a thread of a worker pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Waits, and accepts from this listener: one connection per event in modes that repeat the event,
    /// otherwise all pending ones. A registration that fires once is modified again afterwards.
    Accept(Name),
    /// Waits N times without sleeping.
    Look(usize),
    /// Waits, and keeps the events.
    Collect,
}

/// The arguments with which a thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitArguments {
    /// No timeout.
    NoTimeout,
    /// `at most N s`, `ms`, `us` or `ns`.
    Timeout(Duration),
    /// One raw argument of the system call.
    Raw(RawArgument),
}

/// A limit on descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// No descriptor beyond the open ones.
    RunOut,
    /// Numbers below this one.
    At(usize),
    /// The limit at the start of the script.
    Back,
}

impl Action {
    /// Returns the descriptor that must exist for this action.
    pub fn needs(&self) -> Option<&Name> {
        match self {
            Self::Call(name, call) if !call.makes() => Some(name),
            Self::Change(Change { descriptor: name, .. }) | Self::Look { at: name, .. } => Some(name),
            _ => None,
        }
    }
}

impl Call {
    /// Returns whether the call makes its descriptor if none has this name.
    pub const fn makes(&self) -> bool {
        matches!(self, Self::Listens { .. } | Self::Connects(_) | Self::Reaches(_) | Self::Opens(_))
    }
}

/// A kind of descriptor that a script can make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DescriptorKind {
    /// `fresh`: of the script's transport, without a peer: a socket, or the master of a pseudo-terminal.
    Fresh,
    /// `a copy of NAME`: dup(2).
    Copy(Name),
    /// `a file of SIZE at OFFSET`: a regular file, opened for reading and writing.
    File {
        /// Size in bytes.
        size: usize,
        /// File offset.
        offset: usize,
    },
    /// `a directory`.
    Directory,
    /// `/dev/…`.
    Device(String),
    /// `a queue`: the system's epoll(7) or kqueue(2), which is also the poller of this name.
    Queue,
    /// `an eventfd`.
    Eventfd,
    /// `a timer`: a timerfd, which is not set.
    Timer,
    /// `a process`: a pidfd of a child, which runs.
    Process,
    /// `shared memory`.
    SharedMemory,
    /// `no descriptor`: −1.
    NoDescriptor,
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// This number.
    Bytes(usize),
    /// The system's `PIPE_BUF` plus this number.
    PipeBuf(usize),
}

/// How much a `reads` clause reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadExtent {
    /// `reads`: this many read(2) calls, each with room for everything.
    Calls(usize),
    /// `reads N`: one read(2) with room for N bytes.
    Bytes(usize),
    /// `reads up to N`: reads until N bytes have been read since the other end's `fills`.
    UpTo(Size),
}

/// A direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Reading: `SHUT_RD`, `O_RDONLY`.
    Read,
    /// Writing: `SHUT_WR`, `O_WRONLY`.
    Write,
    /// Both: `SHUT_RDWR`.
    Both,
}

/// A call on a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// bind(2) to a fresh address.
    Binds,
    /// listen(2), after socket(2) and bind(2) if no descriptor has this name.
    Listens {
        /// The length of the accept queue.
        backlog: Option<usize>,
        /// The listener whose address it shares. Both set `SO_REUSEPORT` before bind(2).
        beside: Option<Name>,
    },
    /// connect(2), non-blocking, to the address of this descriptor; `None`: to an address without a listener.
    Connects(Option<Name>),
    /// connect(2) to its end: the handshake has completed or failed.
    Reaches(Name),
    /// accept(2); the new descriptor gets the name.
    Accepts(Name),
    /// open(2) of the FIFO, non-blocking.
    Opens(Direction),
    /// write(2).
    Sends(usize),
    /// send(2) with no bytes: an empty datagram.
    SendsNothing,
    /// send(2) of one byte with `MSG_OOB`.
    SendsUrgent,
    /// write(2) until the buffer is full: in blocks of one size, or in ever smaller ones.
    Fills(Option<usize>),
    /// read(2).
    Reads(ReadExtent),
    /// read(2) until no data is left.
    Drains,
    /// Appends this many bytes through another descriptor of the same regular file.
    Grows(usize),
    /// recv(2) of one byte with `MSG_OOB`.
    ReceivesUrgent,
    /// shutdown(2).
    Shuts(Direction),
    /// close(2) with `SO_LINGER` on and 0: a reset.
    Resets,
    /// close(2).
    Closes,
    /// Moves to the number of a closed descriptor.
    TakesNumberOf(Name),
    /// Moves to this number.
    MovesTo(usize),
    /// setsockopt(2).
    Sets(SocketOption),
    /// getsockopt(2) of `SO_ERROR`, this many times.
    AsksError(usize),
    /// The timer is set to an hour from now.
    Starts,
    /// The timer is set to now, and has expired.
    Expires,
    /// The timer is not set any more.
    Stops,
    /// The process has ended, and nobody has asked for its status.
    Exits,
    /// waitpid(2) of the process, which has ended.
    IsReaped,
}

/// A socket option that a script can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketOption {
    /// `SO_OOBINLINE`, on.
    OobInline,
    /// `SO_REUSEPORT`, on.
    ReusePort,
    /// `SO_RCVLOWAT`.
    RcvLowat(usize),
    /// `SO_SNDLOWAT`.
    SndLowat(usize),
}

impl SocketOption {
    /// Returns POSIX's name of the option.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OobInline => "SO_OOBINLINE",
            Self::ReusePort => "SO_REUSEPORT",
            Self::RcvLowat(_) => "SO_RCVLOWAT",
            Self::SndLowat(_) => "SO_SNDLOWAT",
        }
    }
}

/// A change of a registration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The descriptor.
    pub descriptor: Name,
    /// The interest; `None` for everything.
    pub interest: Option<Interest>,
    /// The mode; `None` for the mode of the [`Setting`](crate::Setting).
    pub mode: Option<Mode>,
    /// The poller.
    pub poller: Name,
    /// The name of the registration in the answers; `None` for the descriptor's name.
    pub label: Option<Name>,
}

/// The kinds of changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// Registers. In edge mode, consumes the initial event: later answers show only later events.
    Watch,
    /// Registers.
    Add,
    /// Changes the registration.
    Modify,
    /// Removes the registration.
    Remove,
}

impl ChangeKind {
    /// Returns the verb.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Add => "add",
            Self::Modify => "modify",
            Self::Remove => "remove",
        }
    }
}

/// The units of a timeout in nanoseconds, the largest first.
const UNITS: [(u128, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];

/// The words for interests.
const INTERESTS: [(&str, Interest); 6] = [
    ("reading", Interest::READ),
    ("writing", Interest::WRITE),
    ("both", Interest { read: true, write: true, urgent: false, peer_shut: false }),
    ("urgent", Interest { read: false, write: false, urgent: true, peer_shut: false }),
    ("nothing", Interest::NONE),
    ("everything", Interest::ALL),
];

/// The words for modes.
const MODES: [(&str, Mode); 6] = [
    ("level", Mode::Level),
    ("edge", Mode::Edge),
    ("one-shot", Mode::OneShot),
    ("dispatch", Mode::Dispatch),
    ("exclusive", Mode::Exclusive),
    ("exclusive-edge", Mode::ExclusiveEdge),
];

#[cfg(test)]
mod tests;
