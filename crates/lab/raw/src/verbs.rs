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
use nix::sys::signal::Signal;
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
    /// The process that runs the clause.
    pub process: Process,
}

/// The process that runs a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Process {
    /// The script's own.
    Own,
    /// `in a child`: a forked child runs the clause and exits. It has a copy of everything that the script
    /// has made.
    NewChild,
    /// `in the child`: the child that `a child is forked` has made, and that keeps what it makes and closes.
    Child,
}

impl Process {
    /// Returns the words before a clause.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::NewChild => "in a child ",
            Self::Child => "in the child ",
        }
    }
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
    /// `inspect`: waits with a timeout of zero, and looks what the call has written into memory.
    Inspect(Name),
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
        /// The maximum number of events that each returns.
        room: Option<usize>,
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
    /// `N queues are chained over A called B`: each is registered in the next one for reading, the first one
    /// has the descriptor. The last one gets the name.
    Chain {
        /// The number of queues.
        count: usize,
        /// The innermost descriptor.
        over: Name,
        /// The descriptor is added after the queues.
        from_outside: bool,
        /// The name of the outermost queue.
        outermost: Name,
    },
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
    /// `a child takes A as its terminal`: the child leads a session that A, a slave, controls.
    ChildTakesTerminal(Name),
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
    /// Changes registrations, and waits without sleeping, this many times.
    Storm(Storm, usize),
}

/// The changes that threads make all at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Storm {
    /// `add and remove A`: adds, modifies and removes it.
    Remove(Name),
    /// `modify A`: changes its interest to nothing and back.
    Modify(Name),
    /// `open and close pairs`: makes a pair, adds its first end for reading, sends a byte and closes both
    /// ends.
    Close,
}

/// The arguments with which a thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitArguments {
    /// No timeout.
    NoTimeout,
    /// `room N`: the maximum number of events, and no timeout.
    Room(usize),
    /// `at most N s`, `ms`, `us` or `ns`.
    Timeout(Duration),
    /// One raw argument of the system call.
    Raw(RawArgument),
    /// A signal mask, and `at most …`.
    Masked(SignalMask, Option<Duration>),
}

impl WaitArguments {
    /// Returns whether a signal to the thread stays pending until its wait has ended.
    pub const fn is_masking(self) -> bool {
        matches!(self, Self::Masked(SignalMask::Blocks, _))
    }

    /// Returns the timeout after which the wait ends.
    pub const fn timeout(self) -> Option<Duration> {
        match self {
            Self::Timeout(timeout) => Some(timeout),
            Self::Masked(_, timeout) => timeout,
            Self::NoTimeout | Self::Room(_) | Self::Raw(_) => None,
        }
    }
}

/// The signal mask of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalMask {
    /// `masking`: it blocks a signal that the thread does not block.
    Blocks,
    /// `unmasking`: it does not block a signal that the thread blocks.
    Allows,
    /// `unmasking a pending signal`: the thread has got the signal before the wait.
    AllowsPending,
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
            Self::Change(Change { descriptor: name, .. })
            | Self::Look { at: name, .. }
            | Self::Chain { over: name, .. } => Some(name),
            Self::ChildTakesTerminal(name) => Some(name),
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
    /// `the slave of NAME`: opens the slave of this pseudo-terminal's master once more.
    Slave(Name),
    /// `a timer`: a timerfd or `EVFILT_TIMER`, which is not set.
    Timer,
    /// `a wall-clock timer`: a timerfd of the clock that can be set.
    WallClockTimer,
    /// `a process`: a pidfd or `EVFILT_PROC` of a child, which runs.
    Process,
    /// `a thread of NAME`: a pidfd of a second thread, which the process starts.
    Thread(Name),
    /// `the first thread of NAME`: a pidfd of the thread that the process began with.
    FirstThread(Name),
    /// `a signal`: a signalfd or `EVFILT_SIGNAL` of `SIGUSR2`, which has no effect on its own.
    Signal,
    /// `SIGCHLD`, `SIGUSR2 and SIGWINCH`: a signalfd of these signals, which every thread blocks.
    Signals(Vec<Signal>),
    /// `a watched file`: an inotify or `EVFILT_VNODE` of a file of no bytes.
    WatchedFile,
    /// `a watched directory`: an inotify of an empty directory.
    WatchedDirectory,
    /// `a packet socket`, `the mount table`: in namespaces of its own.
    Private(Private),
    /// `a user event`: `EVFILT_USER`.
    UserEvent,
    /// `shared memory`.
    SharedMemory,
    /// `no descriptor`: −1.
    NoDescriptor,
}

/// A kind of descriptor that a child with namespaces of its own opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Private {
    /// `a packet socket`: cooked, of IP.
    Packet,
    /// `a packet socket of another protocol`.
    OtherPacket,
    /// `a raw socket`: of UDP, connected to the loopback address.
    Raw,
    /// `a netlink socket`: of routing, in the group of links.
    Netlink,
    /// `a message queue`: POSIX's, with room for two messages.
    MessageQueue,
    /// `the mount table`: `/proc/self/mounts`.
    Mounts,
    /// `the hostname`: `/proc/sys/kernel/hostname`.
    Hostname,
    /// `the domain name`: `/proc/sys/kernel/domainname`.
    DomainName,
}

impl Private {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Packet,
        Self::OtherPacket,
        Self::Raw,
        Self::Netlink,
        Self::MessageQueue,
        Self::Mounts,
        Self::Hostname,
        Self::DomainName,
    ];
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
    /// `reads a count`: one read(2) of the value of an eventfd or a timer.
    Count,
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
    /// sendto(2) of this many bytes to an address without a receiver.
    SendsToNobody(usize),
    /// recvmsg(2) with `MSG_ERRQUEUE`.
    ReceivesError,
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
    /// recv(2) with `MSG_PEEK`, with room for this many bytes or for everything.
    Peeks(Option<usize>),
    /// write(2) of this value to an eventfd.
    Counts(u64),
    /// Appends this many bytes through another descriptor of the regular or watched file.
    Grows(usize),
    /// truncate(2) of the regular or watched file.
    Shrinks(usize),
    /// unlink(2) of the regular or watched file.
    IsRemoved,
    /// rename(2) of the regular or watched file.
    IsRenamed,
    /// The watched directory gets a new file.
    GetsFile,
    /// A datagram passes the loopback interface.
    GetsPacket,
    /// mq_send(3) of a message of one byte.
    GetsMessage,
    /// write(2) of a request for all addresses to a netlink socket.
    AsksForAddresses,
    /// What the descriptor shows changes: the mounts, a name, the link.
    Changes,
    /// The last file of the watched directory is removed.
    LosesFile,
    /// recv(2) of one byte with `MSG_OOB`.
    ReceivesUrgent,
    /// shutdown(2).
    Shuts(Direction),
    /// close(2) with `SO_LINGER` on and 0: a reset.
    Resets,
    /// close(2).
    Closes,
    /// sendmsg(2) with `SCM_RIGHTS` to the child, which closes the copy that it has inherited.
    IsSent,
    /// dup2(2) onto the number of this open descriptor, which becomes a copy.
    Replaces(Name),
    /// Moves to the number of a closed descriptor.
    TakesNumberOf(Name),
    /// Moves to this number.
    MovesTo(usize),
    /// setsockopt(2).
    Sets(SocketOption),
    /// tcsetattr(3) or ioctl(2) of a terminal.
    SetsMode(TerminalMode),
    /// tcflush(3) of a terminal: what was received and not read, what was written and not sent, or both.
    Flushes(Direction),
    /// getsockopt(2) of `SO_ERROR`, this many times.
    AsksError(usize),
    /// The timer is set to an hour from now; the terminal's output goes on.
    Starts,
    /// The timer is set to now, and has expired.
    Expires,
    /// The timer is not set any more; the terminal's output is suspended.
    Stops,
    /// The timer expires again and again, and has expired since the last clause.
    Ticks,
    /// The timer is set to a time in the past and to a long period. This many expirations are pending.
    IsOverdue(usize),
    /// The user event is triggered: `NOTE_TRIGGER`, in each poller that has it, or in one.
    IsTriggered(Option<Name>),
    /// The process has ended, and nobody has asked for its status; or the thread has ended.
    Exits,
    /// The process, or the thread, has executed another program.
    Executes,
    /// waitpid(2) of the process, which has ended.
    IsReaped,
    /// The signal is sent to this process, or to this thread.
    IsRaised(Option<Name>),
}

/// A mode of a terminal that a script can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TerminalMode {
    /// `raw mode`: cfmakeraw(3). Without it, a slave reads whole lines, and the master reads an echo.
    Raw,
    /// `packet mode`: `TIOCPKT`, of a master.
    Packet,
}

/// A socket option that a script can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketOption {
    /// `SO_OOBINLINE`, on.
    OobInline,
    /// `SO_REUSEPORT`, on.
    ReusePort,
    /// `IP_RECVERR`, on.
    RecvErr,
    /// `SO_TIMESTAMPING`: of what is sent, by software.
    Timestamping,
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
            Self::RecvErr => "IP_RECVERR",
            Self::Timestamping => "SO_TIMESTAMPING",
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
    /// Disables the registration, which keeps its events.
    Disable,
    /// Enables it again.
    Enable,
}

impl ChangeKind {
    /// Returns whether the clause names an interest and a mode.
    pub const fn registers(self) -> bool {
        matches!(self, Self::Watch | Self::Add | Self::Modify)
    }

    /// Returns the verb.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Add => "add",
            Self::Modify => "modify",
            Self::Remove => "remove",
            Self::Disable => "disable",
            Self::Enable => "enable",
        }
    }
}

/// The units of a timeout in nanoseconds, the largest first.
const UNITS: [(u128, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];

/// The signals of which a script can make a descriptor.
const SIGNALS: [(&str, Signal); 4] = [
    ("SIGCHLD", Signal::SIGCHLD),
    ("SIGKILL", Signal::SIGKILL),
    ("SIGUSR2", Signal::SIGUSR2),
    ("SIGWINCH", Signal::SIGWINCH),
];

/// The words for interests.
const INTERESTS: [(&str, Interest); 6] = [
    ("reading", Interest::READ),
    ("writing", Interest::WRITE),
    ("both", Interest::READ.or(Interest::WRITE)),
    ("urgent", Interest { urgent: true, ..Interest::NONE }),
    ("nothing", Interest::NONE),
    ("everything", Interest::ALL),
];

/// The words for modes.
const MODES: [(&str, Mode); 7] = [
    ("level", Mode::Level),
    ("edge", Mode::Edge),
    ("one-shot", Mode::OneShot),
    ("dispatch", Mode::Dispatch),
    ("exclusive", Mode::Exclusive),
    ("exclusive-edge", Mode::ExclusiveEdge),
    ("edge-one-shot", Mode::EdgeOneShot),
];

#[cfg(test)]
mod tests;
