//! The language of the lines: clauses that are performed one after the other.
//!
//! `own and peer are connected, watch own, peer sends 3, look at own as 3-bytes, own reads 1?`
//!
//! A clause is a fact to bring about and must succeed, or the state is not the one that the line speaks of. With a
//! question mark it is a question: any answer is right, and it is recorded. `look at` and `wait` are questions
//! without one. docs/verbs.md has the whole language.

mod parse;
mod print;
mod table;

use std::time::Duration;

use metadata::Mode;
use selector::{Interest, RawArgument};

pub use parse::ParseError;
pub use table::{FORMS, Form};

/// A descriptor's name in a line: `own`, `peer`, `listener`.
pub type Name = String;

/// The poller that a clause means if it names none.
pub const FIRST: &str = "first";

/// The name of the descriptor under test.
pub const OWN: &str = "own";

/// A parsed line. It prints its canonical form, which parses to the same line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// In the order in which they are performed.
    pub clauses: Vec<Clause>,
}

/// One thing that is done, or asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    /// What.
    pub action: Action,
    /// Whether its answer is what the line wants to know: the question mark.
    pub is_question: bool,
    /// The state that begins with it: what follows `as`.
    pub state: Option<String>,
    /// `in a child`: a forked child does it and ends, with a copy of everything that the line has made.
    pub in_child: bool,
}

/// What a clause does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// `N times`: the rest of the line is done so many times, each time with everything made anew.
    Times(usize),
    /// `this is NAME`: what the observed thing is called from here on, in place of the transport.
    Title(String),
    /// `NAME is WHAT`: a descriptor is made.
    Make(Name, DescriptorKind),
    /// `A and B are connected`. Over pipes and FIFOs A is the reading end, over a pseudo-terminal A is the master.
    Connect(Name, Name),
    /// `NAME does SOMETHING`: a call on a descriptor.
    Call(Name, Call),
    /// `watch`, `add`, `modify`, `remove`: a change of what a poller watches.
    Change(Change),
    /// `take`: what the poller has to say now is taken and not recorded.
    Take(Name),
    /// `look at NAME`: what every way of asking says of it.
    Look {
        /// Who is looked at.
        at: Name,
        /// Only this is asked for, by registrations made now.
        interest: Option<Interest>,
    },
    /// `wait`: waits that do not sleep.
    Wait {
        /// How many, one after the other.
        times: usize,
        /// How many events there is room for.
        room: Option<usize>,
        /// Which poller.
        poller: Name,
    },
    /// `THREAD waits`: a thread begins a wait and falls asleep in it.
    ThreadWaits {
        /// The thread.
        thread: Name,
        /// With which arguments.
        arguments: WaitArguments,
        /// Which poller.
        poller: Name,
    },
    /// `THREAD is signalled`: a signal that has a handler.
    Signal {
        /// The thread.
        thread: Name,
        /// With `SA_RESTART`.
        restarting: bool,
        /// The handler makes the poller's own wake-up, of the poller in which the thread waits.
        wakes: bool,
    },
    /// `THREAD answers`: what its wait said, or that it sleeps on.
    ThreadAnswers(Name),
    /// `N threads wait`: so many threads fall asleep, in one poller or each in one of its own.
    Waiters {
        /// How many.
        count: usize,
        /// Each in a poller of its own with the same registrations.
        alone: bool,
        /// Which poller.
        poller: Name,
    },
    /// `N threads accept from A`, `look`, `collect`: threads that work until nothing is left to do.
    WorkerPool {
        /// How many.
        count: usize,
        /// What each of them does.
        work: Work,
        /// Each in a poller of its own with the same registrations.
        alone: bool,
        /// Which poller.
        poller: Name,
    },
    /// `N clients reach A`: so many connections, one after the other.
    Clients {
        /// How many.
        count: usize,
        /// The listener.
        listener: Name,
        /// Each when all threads sleep again.
        one_by_one: bool,
    },
    /// `N pairs are added and written`: each first end is added for reading, then a byte is sent to each.
    Pairs(usize),
    /// `threads answer`: how many of them are awake.
    ThreadsAnswer,
    /// `threads share`: how many of them did the work.
    ThreadsShare,
    /// `wake`: the poller's own wake-up.
    Wake {
        /// So many times.
        times: usize,
        /// Which poller.
        poller: Name,
    },
    /// `a poller is made`: and given up again.
    MakePoller,
    /// `descriptors end at N`, `descriptors run out`, `descriptors are back`: `RLIMIT_NOFILE`.
    Limit(Limit),
    /// `a child is forked`: it does nothing, and has everything open that the line has.
    Fork,
    /// `the child ends`.
    ChildEnds,
    /// `a child waits at most …`: in a poller of its own, with nothing registered.
    ChildWaits(Duration),
    /// `the child is stopped and continued`: `SIGSTOP`, and `SIGCONT` once it has stopped.
    ChildIsStopped,
    /// `the child answers`: what its wait said.
    ChildAnswers,
    /// `close`: closes the poller's own descriptor.
    ClosePoller(Name),
}

/// What a thread of several does until nothing is left to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// It waits, and accepts from this listener: one connection each time, or all of them where a listener that is
    /// ready is reported once. One that is reported once until it is modified is modified then.
    Accept(Name),
    /// It waits so many times without sleeping.
    Look(usize),
    /// It waits, and keeps what is reported.
    Collect,
}

/// With which arguments a thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitArguments {
    /// Without a timeout.
    NoTimeout,
    /// `at most N s`, `ms`, `us` or `ns`.
    Timeout(Duration),
    /// With one argument as it is.
    Raw(RawArgument),
}

/// How many descriptors there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// No more than there are.
    RunOut,
    /// Numbers below this one.
    At(usize),
    /// As many as when the line began.
    Back,
}

impl Action {
    /// The descriptor that must be there for it.
    pub fn needs(&self) -> Option<&Name> {
        match self {
            Self::Call(name, call) if !call.makes() => Some(name),
            Self::Change(Change { descriptor: name, .. }) | Self::Look { at: name, .. } => Some(name),
            _ => None,
        }
    }
}

impl Call {
    /// Whether it makes the descriptor that it is made on, if there is none of this name.
    pub const fn makes(&self) -> bool {
        matches!(self, Self::Listens { .. } | Self::Connects(_) | Self::Reaches(_) | Self::Opens(_))
    }
}

/// What a descriptor can be made as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DescriptorKind {
    /// `fresh`: of the line's transport and with no peer: a socket, a pseudo-terminal's master.
    Fresh,
    /// `a copy of NAME`: dup(2).
    Copy(Name),
    /// `a file of SIZE at OFFSET`: a regular file, opened for reading and writing.
    File {
        /// Bytes in it.
        size: usize,
        /// Where it is read next.
        offset: usize,
    },
    /// `a directory`.
    Directory,
    /// `/dev/…`.
    Device(String),
    /// `a queue`: epoll(7) or kqueue(2), as the system has it, and the poller of this name.
    Queue,
    /// `an eventfd`.
    Eventfd,
    /// `shared memory`.
    SharedMemory,
    /// `no descriptor`: −1.
    NoDescriptor,
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// So many.
    Bytes(usize),
    /// `PIPE_BUF`, as the system has it, and so many more.
    PipeBuf(usize),
}

/// How a descriptor is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadExtent {
    /// `reads`: read(2) with room for everything, so many times.
    Calls(usize),
    /// `reads N`: one read(2) with room for N bytes.
    Bytes(usize),
    /// `reads up to N`: until N bytes have been read of what was sent since `fills`.
    UpTo(Size),
}

/// Which direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// ReadExtent: `SHUT_RD`, `O_RDONLY`.
    Read,
    /// Writing: `SHUT_WR`, `O_WRONLY`.
    Write,
    /// Both: `SHUT_RDWR`.
    Both,
}

/// A call on a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// bind(2) to an address of its own.
    Binds,
    /// listen(2); socket(2) and bind(2) before if there is no descriptor of this name.
    Listens {
        /// The length of the queue.
        backlog: Option<usize>,
        /// At the address of this one, which has set `SO_REUSEPORT` before it was bound, as this one does.
        beside: Option<Name>,
    },
    /// connect(2), non-blocking, to this one's address, or to an address where nobody listens.
    Connects(Option<Name>),
    /// connect(2) to its end: the handshake is over, or has failed.
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
    /// write(2) until there is no room: with one size of block, or with less and less.
    Fills(Option<usize>),
    /// read(2).
    Reads(ReadExtent),
    /// read(2) until there is nothing more.
    Drains,
    /// Another descriptor of the same regular file appends so many bytes.
    Grows(usize),
    /// recv(2) of one byte with `MSG_OOB`.
    ReceivesUrgent,
    /// shutdown(2).
    Shuts(Direction),
    /// close(2) with `SO_LINGER` on and 0: a reset.
    Resets,
    /// close(2).
    Closes,
    /// It moves to the number that a closed descriptor had.
    TakesNumberOf(Name),
    /// It moves to this number.
    MovesTo(usize),
    /// setsockopt(2).
    Sets(SocketOption),
    /// getsockopt(2) of `SO_ERROR`, so many times.
    AsksError(usize),
}

/// What can be set.
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
    /// POSIX's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OobInline => "SO_OOBINLINE",
            Self::ReusePort => "SO_REUSEPORT",
            Self::RcvLowat(_) => "SO_RCVLOWAT",
            Self::SndLowat(_) => "SO_SNDLOWAT",
        }
    }
}

/// A change of what a poller watches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Which.
    pub kind: ChangeKind,
    /// The descriptor.
    pub descriptor: Name,
    /// What is asked for; everything if the line does not say.
    pub interest: Option<Interest>,
    /// In which mode; in the setting's if the line does not say.
    pub mode: Option<Mode>,
    /// Which poller.
    pub poller: Name,
    /// What the registration is called in the answers; as the descriptor if the line does not say.
    pub label: Option<Name>,
}

/// The kinds of changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// Register, and take what is said at once if only news is reported: what is seen later is what happened later.
    Watch,
    /// Register.
    Add,
    /// Change the registration.
    Modify,
    /// Take it out.
    Remove,
}

impl ChangeKind {
    /// The verb.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Add => "add",
            Self::Modify => "modify",
            Self::Remove => "remove",
        }
    }
}

/// The units of a timeout, and how many nanoseconds they are, the largest first.
const UNITS: [(u128, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];

/// The interests that have a word.
const INTERESTS: [(&str, Interest); 6] = [
    ("reading", Interest::READ),
    ("writing", Interest::WRITE),
    ("both", Interest { read: true, write: true, urgent: false, peer_shut: false }),
    ("urgent", Interest { read: false, write: false, urgent: true, peer_shut: false }),
    ("nothing", Interest::NONE),
    ("everything", Interest::ALL),
];

/// The modes that have a word.
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
