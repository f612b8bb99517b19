//! The canonical form of a line.

use std::fmt::{self, Display, Formatter, Result};

use super::{
    Act, Call, Change, ChangeKind, Clause, Direction, FIRST, INTERESTS, Line, MODES, Reading, Size,
    SocketOption, Thing,
};

impl Display for Line {
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
        self.act.fmt(f)?;
        f.write_str(if self.asked { "?" } else { "" })?;
        match &self.state {
            Some(state) => write!(f, " as {state}"),
            None => Ok(()),
        }
    }
}

impl Display for Act {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Title(title) => write!(f, "this is {title}"),
            Self::Make(who, what) => write!(f, "{who} is {what}"),
            Self::Connect(a, b) => write!(f, "{a} and {b} are connected"),
            Self::Call(who, call) => write!(f, "{who} {call}"),
            Self::Change(change) => change.fmt(f),
            Self::Take(poller) => write!(f, "take{}", In(poller)),
            Self::Look { at, interest } => {
                write!(f, "look at {at}")?;
                interest.map_or(Ok(()), |interest| write!(f, " for {}", word(&INTERESTS, &interest)))
            }
            Self::Wait { room, poller } => {
                f.write_str("wait")?;
                if let Some(room) = room {
                    write!(f, " room {room}")?;
                }
                In(poller).fmt(f)
            }
            Self::Sleep { thread, poller } => write!(f, "{thread} waits{}", In(poller)),
            Self::Answers(thread) => write!(f, "{thread} answers"),
            Self::Crowd { count, alone, poller } => {
                write!(f, "{count} threads wait{}{}", if *alone { " alone" } else { "" }, In(poller))
            }
            Self::CrowdAnswers => f.write_str("threads answer"),
            Self::Wake(poller) => write!(f, "wake{}", In(poller)),
            Self::ClosePoller(poller) => write!(f, "close{}", In(poller)),
        }
    }
}

/// ` in second`; nothing for the first poller.
struct In<'a>(&'a str);

impl Display for In<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0 == FIRST { Ok(()) } else { write!(f, " in {}", self.0) }
    }
}

fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    // The parser makes only what has a word.
    words.iter().find(|(_, known)| known == value).map_or("everything", |(word, _)| word)
}

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.kind.verb(), self.who)?;
        if self.kind != ChangeKind::Remove {
            if let Some(interest) = &self.interest {
                write!(f, " for {}", word(&INTERESTS, interest))?;
            }
            if let Some(mode) = &self.mode {
                write!(f, " {}", word(&MODES, mode))?;
            }
        }
        In(&self.poller).fmt(f)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " called {label}"))
    }
}

impl Display for Thing {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Fresh => f.write_str("fresh"),
            Self::Copy(of) => write!(f, "a copy of {of}"),
            Self::File { size, offset: 0 } => write!(f, "a file of {size}"),
            Self::File { size, offset } => write!(f, "a file of {size} at {offset}"),
            Self::Directory => f.write_str("a directory"),
            Self::Device(path) => f.write_str(path),
        }
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

/// ` twice` and the like; nothing for once.
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
            Self::Listens { backlog: None } => f.write_str("listens"),
            Self::Listens { backlog: Some(backlog) } => write!(f, "listens backlog {backlog}"),
            Self::Connects(None) => f.write_str("connects to nobody"),
            Self::Connects(Some(to)) => write!(f, "connects to {to}"),
            Self::Reaches(whom) => write!(f, "reaches {whom}"),
            Self::Accepts(name) => write!(f, "accepts {name}"),
            Self::Opens(Direction::Write) => f.write_str("opens for writing"),
            Self::Opens(Direction::Read) => f.write_str("opens for reading"),
            Self::Opens(Direction::Both) => f.write_str("opens for both"),
            Self::Sends(bytes) => write!(f, "sends {bytes}"),
            Self::SendsNothing => f.write_str("sends nothing"),
            Self::SendsUrgent => f.write_str("sends urgent"),
            Self::Fills(None) => f.write_str("fills"),
            Self::Fills(Some(block)) => write!(f, "fills by {block}"),
            Self::Reads(Reading::Calls(count)) => write!(f, "reads{}", times(*count)),
            Self::Reads(Reading::Bytes(bytes)) => write!(f, "reads {bytes}"),
            Self::Reads(Reading::UpTo(size)) => write!(f, "reads up to {size}"),
            Self::Drains => f.write_str("drains"),
            Self::Grows(bytes) => write!(f, "grows by {bytes}"),
            Self::ReceivesUrgent => f.write_str("receives urgent"),
            Self::Shuts(direction) => write!(f, "shuts {direction}"),
            Self::Resets => f.write_str("resets"),
            Self::Closes => f.write_str("closes"),
            Self::TakesNumberOf(whose) => write!(f, "takes the number of {whose}"),
            Self::Sets(option) => match option {
                SocketOption::OobInline => write!(f, "sets {}", option.name()),
                SocketOption::RcvLowat(bytes) | SocketOption::SndLowat(bytes) => {
                    write!(f, "sets {} {bytes}", option.name())
                }
            },
            Self::AsksError(count) => write!(f, "asks SO_ERROR{}", times(*count)),
        }
    }
}

impl fmt::Display for super::ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "column {}: {}", self.column, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}
