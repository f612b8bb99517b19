//! Prints the canonical form of a script.

use std::fmt::{self, Display, Formatter, Result};

use selector::{Interest, RawArgument};

use super::{
    Action, Call, Change, Clause, DescriptorKind, Direction, FIRST, INTERESTS, Limit, MODES, Private,
    ReadExtent, Script, SignalMask, Size, SocketOption, Storm, TerminalMode, WaitArguments, Work,
};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, clause) in self.clauses.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            clause.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Clause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.process.prefix())?;
        self.action.fmt(f)?;
        f.write_str(if self.is_question { "?" } else { "" })?;
        match &self.state {
            Some(state) => write!(f, " as {state}"),
            None => Ok(()),
        }
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Times(times) => write!(f, "{times} times"),
            Self::Title(title) => write!(f, "this is {title}"),
            Self::Make(name, kind) => write!(f, "{name} is {kind}"),
            Self::Connect(a, b) => write!(f, "{a} and {b} are connected"),
            Self::Call(name, call) => write!(f, "{name} {call}"),
            Self::Change(change) => change.fmt(f),
            Self::Take(poller) => write!(f, "take{}", In(poller)),
            Self::Look { at, interest } => {
                write!(f, "look at {at}")?;
                interest.map_or(Ok(()), |interest| write!(f, " for {}", interest_word(interest)))
            }
            Self::Wait { times, room, poller } => {
                write!(f, "wait{}", Times(*times))?;
                if let Some(room) = room {
                    write!(f, " room {room}")?;
                }
                In(poller).fmt(f)
            }
            Self::Inspect(poller) => write!(f, "inspect{}", In(poller)),
            Self::ThreadWaits { thread, arguments, poller } => {
                write!(f, "{thread} waits{arguments}{}", In(poller))
            }
            Self::Signal { thread, restarting, wakes } => {
                write!(f, "{thread} is signalled")?;
                f.write_str(if *restarting { " restarting" } else { "" })?;
                f.write_str(if *wakes { " and wakes" } else { "" })
            }
            Self::ThreadAnswers(thread) => write!(f, "{thread} answers"),
            Self::Waiters { count, alone, room, poller } => {
                write!(f, "{count} threads wait{}", if *alone { " alone" } else { "" })?;
                room.map_or(Ok(()), |room| write!(f, " room {room}"))?;
                In(poller).fmt(f)
            }
            Self::WorkerPool { count, work, alone, poller } => {
                write!(f, "{count} threads {work}{}{}", if *alone { " alone" } else { "" }, In(poller))
            }
            Self::Clients { count, listener, one_by_one } => {
                write!(f, "{count} clients reach {listener}{}", if *one_by_one { " one by one" } else { "" })
            }
            Self::Chain { count, over, from_outside, outermost } => {
                let from = if *from_outside { " from the outside" } else { "" };
                write!(f, "{count} queues are chained over {over}{from} called {outermost}")
            }
            Self::Pairs(count) => write!(f, "{count} pairs are added and written"),
            Self::ThreadsAnswer => f.write_str("threads answer"),
            Self::ThreadsShare => f.write_str("threads share"),
            Self::Wake { times, poller } => write!(f, "wake{}{}", Times(*times), In(poller)),
            Self::MakePoller => f.write_str("a poller is made"),
            Self::Limit(Limit::RunOut) => f.write_str("descriptors run out"),
            Self::Limit(Limit::At(end)) => write!(f, "descriptors end at {end}"),
            Self::Limit(Limit::Back) => f.write_str("descriptors are back"),
            Self::Fork => f.write_str("a child is forked"),
            Self::ChildWaits(timeout) => write!(f, "a child waits{}", WaitArguments::Timeout(*timeout)),
            Self::ChildIsStopped => f.write_str("the child is stopped and continued"),
            Self::ChildTakesTerminal(name) => write!(f, "a child takes {name} as its terminal"),
            Self::ChildAnswers => f.write_str("the child answers"),
            Self::ChildEnds => f.write_str("the child ends"),
            Self::ClosePoller(poller) => write!(f, "close{}", In(poller)),
        }
    }
}

/// ` in second`; empty for the first poller.
struct In<'a>(&'a str);

impl Display for In<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0 == FIRST { Ok(()) } else { write!(f, " in {}", self.0) }
    }
}

/// ` 12 times`; empty for once.
struct Times(usize);

impl Display for Times {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " {} times", self.0) }
    }
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Accept(listener) => write!(f, "accept from {listener}"),
            Self::Look(times) => write!(f, "look {times} times"),
            Self::Collect => f.write_str("collect"),
            Self::Storm(storm, times) => match storm {
                Storm::Remove(name) => write!(f, "add and remove {name}{}", Times(*times)),
                Storm::Modify(name) => write!(f, "modify {name}{}", Times(*times)),
                Storm::Close => write!(f, "open and close pairs{}", Times(*times)),
            },
        }
    }
}

impl Display for WaitArguments {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let timeout = match self {
            Self::NoTimeout => return Ok(()),
            Self::Room(room) => return write!(f, " room {room}"),
            Self::Raw(argument) => {
                return match argument {
                    RawArgument::Milliseconds(timeout) => write!(f, " with timeout {timeout}"),
                    RawArgument::Timespec { seconds, nanoseconds } => {
                        write!(f, " with timespec {seconds} {nanoseconds}")
                    }
                    RawArgument::Timeval { seconds, microseconds } => {
                        write!(f, " with timeval {seconds} {microseconds}")
                    }
                    RawArgument::Room(room) => write!(f, " with room {room}"),
                    RawArgument::Count(count) => write!(f, " with nfds {count}"),
                };
            }
            Self::Timeout(timeout) => timeout.as_nanos(),
            Self::Masked(mask, timeout) => {
                timeout.map_or(Ok(()), |timeout| Self::Timeout(timeout).fmt(f))?;
                return f.write_str(match mask {
                    SignalMask::Blocks => " masking",
                    SignalMask::Allows => " unmasking",
                    SignalMask::AllowsPending => " unmasking a pending signal",
                });
            }
        };
        let (per_unit, unit) =
            super::UNITS.iter().find(|(per_unit, _)| timeout % per_unit == 0).unwrap_or(&(1, "ns"));
        write!(f, " at most {} {unit}", timeout / per_unit)
    }
}

/// Returns the word for an interest, or else the names of its bits.
fn interest_word(interest: Interest) -> String {
    let word = INTERESTS.iter().find(|(_, known)| *known == interest);
    word.map_or_else(|| interest.bit_names().collect::<Vec<_>>().join("|"), |(word, _)| (*word).to_owned())
}

fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    // The parser makes only values that have a word.
    words.iter().find(|(_, known)| known == value).map_or("level", |(word, _)| word)
}

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.kind.verb(), self.descriptor)?;
        if self.kind.registers() {
            if let Some(interest) = &self.interest {
                write!(f, " for {}", interest_word(*interest))?;
            }
            if let Some(mode) = &self.mode {
                write!(f, " {}", word(&MODES, mode))?;
            }
        }
        In(&self.poller).fmt(f)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " called {label}"))
    }
}

impl Display for DescriptorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Fresh => f.write_str("fresh"),
            Self::Copy(of) => write!(f, "a copy of {of}"),
            Self::File { size, offset: 0 } => write!(f, "a file of {size}"),
            Self::File { size, offset } => write!(f, "a file of {size} at {offset}"),
            Self::Directory => f.write_str("a directory"),
            Self::Device(path) => f.write_str(path),
            Self::Queue => f.write_str("a queue"),
            Self::Eventfd => f.write_str("an eventfd"),
            Self::Slave(master) => write!(f, "the slave of {master}"),
            Self::Timer => f.write_str("a timer"),
            Self::WallClockTimer => f.write_str("a wall-clock timer"),
            Self::Process => f.write_str("a process"),
            Self::Thread(of) => write!(f, "a thread of {of}"),
            Self::FirstThread(of) => write!(f, "the first thread of {of}"),
            Self::Signal => f.write_str("a signal"),
            Self::Signals(signals) => {
                let names: Vec<_> = signals.iter().map(|signal| signal.as_str()).collect();
                f.write_str(&names.join(" and "))
            }
            Self::WatchedFile => f.write_str("a watched file"),
            Self::WatchedDirectory => f.write_str("a watched directory"),
            Self::Private(kind) => kind.fmt(f),
            Self::UserEvent => f.write_str("a user event"),
            Self::SharedMemory => f.write_str("shared memory"),
            Self::NoDescriptor => f.write_str("no descriptor"),
        }
    }
}

impl Display for Private {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Packet => "a packet socket",
            Self::OtherPacket => "a packet socket of another protocol",
            Self::Raw => "a raw socket",
            Self::Netlink => "a netlink socket",
            Self::MessageQueue => "a message queue",
            Self::Mounts => "the mount table",
            Self::Hostname => "the hostname",
            Self::DomainName => "the domain name",
        })
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::PipeBuf(0) => f.write_str("PIPE_BUF"),
            Self::PipeBuf(more) => write!(f, "PIPE_BUF+{more}"),
        }
    }
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Both => "both",
        })
    }
}

/// ` twice` or ` thrice`; empty for once.
fn times(count: usize) -> &'static str {
    match count {
        2 => " twice",
        3 => " thrice",
        _ => "",
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Binds => f.write_str("binds"),
            Self::Listens { backlog, beside } => {
                f.write_str("listens")?;
                backlog.map_or(Ok(()), |backlog| write!(f, " backlog {backlog}"))?;
                beside.as_ref().map_or(Ok(()), |beside| write!(f, " beside {beside}"))
            }
            Self::Connects(None) => f.write_str("connects to nobody"),
            Self::Connects(Some(to)) => write!(f, "connects to {to}"),
            Self::Reaches(listener) => write!(f, "reaches {listener}"),
            Self::Accepts(name) => write!(f, "accepts {name}"),
            Self::Opens(Direction::Write) => f.write_str("opens for writing"),
            Self::Opens(Direction::Read) => f.write_str("opens for reading"),
            Self::Opens(Direction::Both) => f.write_str("opens for both"),
            Self::Sends(bytes) => write!(f, "sends {bytes}"),
            Self::SendsToNobody(bytes) => write!(f, "sends {bytes} to nobody"),
            Self::ReceivesError => f.write_str("receives the error"),
            Self::SendsNothing => f.write_str("sends nothing"),
            Self::SendsUrgent => f.write_str("sends urgent"),
            Self::Fills(None) => f.write_str("fills"),
            Self::Fills(Some(block)) => write!(f, "fills by {block}"),
            Self::Reads(ReadExtent::Calls(count)) => write!(f, "reads{}", times(*count)),
            Self::Reads(ReadExtent::Bytes(bytes)) => write!(f, "reads {bytes}"),
            Self::Reads(ReadExtent::Count) => f.write_str("reads a count"),
            Self::Reads(ReadExtent::UpTo(size)) => write!(f, "reads up to {size}"),
            Self::Drains => f.write_str("drains"),
            Self::Peeks(None) => f.write_str("peeks"),
            Self::Peeks(Some(bytes)) => write!(f, "peeks {bytes}"),
            Self::Counts(value) => write!(f, "counts {value}"),
            Self::IsSent => f.write_str("is sent to the child"),
            Self::Replaces(other) => write!(f, "replaces {other}"),
            Self::Grows(bytes) => write!(f, "grows by {bytes}"),
            Self::Shrinks(bytes) => write!(f, "shrinks to {bytes}"),
            Self::IsRemoved => f.write_str("is removed"),
            Self::IsRenamed => f.write_str("is renamed"),
            Self::GetsFile => f.write_str("gets a file"),
            Self::GetsPacket => f.write_str("gets a packet"),
            Self::GetsMessage => f.write_str("gets a message"),
            Self::AsksForAddresses => f.write_str("asks for addresses"),
            Self::Changes => f.write_str("changes"),
            Self::LosesFile => f.write_str("loses a file"),
            Self::ReceivesUrgent => f.write_str("receives urgent"),
            Self::Shuts(direction) => write!(f, "shuts {direction}"),
            Self::Resets => f.write_str("resets"),
            Self::Closes => f.write_str("closes"),
            Self::MovesTo(number) => write!(f, "moves to {number}"),
            Self::TakesNumberOf(closed) => write!(f, "takes the number of {closed}"),
            Self::Sets(option) => match option {
                SocketOption::OobInline
                | SocketOption::ReusePort
                | SocketOption::RecvErr
                | SocketOption::Timestamping => write!(f, "sets {}", option.name()),
                SocketOption::RcvLowat(bytes) | SocketOption::SndLowat(bytes) => {
                    write!(f, "sets {} {bytes}", option.name())
                }
            },
            Self::AsksError(count) => write!(f, "asks SO_ERROR{}", times(*count)),
            Self::Starts => f.write_str("starts"),
            Self::Expires => f.write_str("expires"),
            Self::Stops => f.write_str("stops"),
            Self::Ticks => f.write_str("ticks"),
            Self::IsOverdue(count) => write!(f, "is overdue{}", Times(*count)),
            Self::Exits => f.write_str("exits"),
            Self::Executes => f.write_str("executes"),
            Self::IsReaped => f.write_str("is reaped"),
            Self::IsTriggered(None) => f.write_str("is triggered"),
            Self::IsTriggered(Some(poller)) => write!(f, "is triggered in {poller}"),
            Self::SetsMode(TerminalMode::Raw) => f.write_str("sets raw mode"),
            Self::SetsMode(TerminalMode::Packet) => f.write_str("sets packet mode"),
            Self::Flushes(direction) => write!(f, "flushes {direction}"),
            Self::IsRaised(None) => f.write_str("is raised"),
            Self::IsRaised(Some(thread)) => write!(f, "is raised for {thread}"),
        }
    }
}

impl fmt::Display for super::ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "column {}: {}", self.column, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}
