//! The two sides of a comparison: a poller that performs lines, here or elsewhere.

use std::collections::BTreeSet;

use metadata::{Column, Interface, Mode};
use raw::{Stopped, Transcript};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line::Line;

/// What is known of a side before it performs a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct About {
    /// The name of the poller: `epoll`.
    pub name: String,
    /// The system on which it performs lines: `linux 6.18.44, x86_64`.
    pub system: String,
    /// The words of the poller, and what it is built over.
    pub column: Column,
    /// The features of the poller.
    pub features: Features,
}

/// The features that decide which lines a side can perform.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Features {
    /// The names of the modes of registrations.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub modes: Vec<Mode>,
    /// Several threads may wait at once.
    pub shared_wait: bool,
    /// A wait sees the changes that another thread makes meanwhile.
    pub changes_seen_by_waiters: bool,
    /// A descriptor can be moved to another number.
    pub own_numbers: bool,
    /// The poller has a wake-up.
    pub wakes: bool,
    /// The poller is in the process that performs the line.
    pub same_process: bool,
    /// The poller itself bounds the number of events of a wait.
    pub room: bool,
}

impl Features {
    /// Returns the features of a poller.
    pub fn of(selector: &dyn selector::Selector) -> Self {
        let capabilities = selector.capabilities();
        Self {
            modes: capabilities.modes,
            shared_wait: capabilities.shared_wait.is_ok(),
            changes_seen_by_waiters: capabilities.changes_seen_by_waiters.is_ok(),
            own_numbers: capabilities.own_numbers.is_ok(),
            wakes: selector.wake().is_ok(),
            same_process: selector.process().is_none(),
            room: !matches!(selector.column().interface(), Some(Interface::Poll | Interface::Select)),
        }
    }

    /// Returns every feature, with these modes.
    #[cfg(test)]
    pub(crate) fn every(modes: &[Mode]) -> Self {
        Self {
            modes: modes.to_vec(),
            shared_wait: true,
            changes_seen_by_waiters: true,
            own_numbers: true,
            wakes: true,
            same_process: true,
            room: true,
        }
    }

    /// Returns the features that both have.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let modes = self.modes.iter().copied().filter(|mode| other.modes.contains(mode));
        Self {
            modes: modes.collect(),
            shared_wait: self.shared_wait && other.shared_wait,
            changes_seen_by_waiters: self.changes_seen_by_waiters && other.changes_seen_by_waiters,
            own_numbers: self.own_numbers && other.own_numbers,
            wakes: self.wakes && other.wakes,
            same_process: self.same_process && other.same_process,
            room: self.room && other.room,
        }
    }
}

/// How the performance of a line ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "status", content = "reason", rename_all = "kebab-case")]
pub enum End {
    /// Every clause was performed.
    Performed,
    /// The poller, the transport or the system does not support a clause.
    Unsupported(String),
    /// A clause that must succeed did not.
    Broken(String),
    /// The process died, or the program of the adapter.
    Crash(String),
    /// The process did not answer in time.
    Hang(String),
    /// The recording does not have the line.
    NotRecorded,
}

/// The answers of one performance of a line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Performed {
    /// The answer of each clause, in order. The last one is missing if the line ended early.
    pub answers: Vec<String>,
    /// How it ended.
    #[serde(flatten)]
    pub end: End,
}

impl Performed {
    /// Returns a performance without answers.
    pub fn ended(end: End) -> Self {
        Self { answers: Vec::new(), end }
    }

    /// Returns the answers in a transcript of this line.
    pub fn of(line: &Line, transcript: &Transcript, ended: Result<(), Stopped>) -> Self {
        let answer = |(clause, traced): (_, &String)| {
            let clause: &raw::verbs::Clause = clause;
            let child = clause.process.prefix();
            let asked = format!("{child}{} -> ", clause.action);
            traced.strip_prefix(&asked).unwrap_or(traced).to_owned()
        };
        let mut answers: Vec<_> = line.clauses().iter().zip(&transcript.trace).map(answer).collect();
        let end = match ended {
            Ok(()) => End::Performed,
            Err(Stopped::Unsupported(why)) => End::Unsupported(why),
            Err(Stopped::Broken(why) | Stopped::Script(why)) => End::Broken(why),
            // The program of the poller, which is an adapter.
            Err(Stopped::Ended(why)) => End::Crash(why),
        };
        if end != End::Performed && answers.len() == transcript.trace.len() {
            // The trace of the clause that ended the line is the reason.
            answers.pop();
        }
        Self { answers, end }
    }

    /// Returns whether every clause was performed.
    pub fn is_complete(&self) -> bool {
        self.end == End::Performed
    }

    /// Returns whether it does not have an answer to each clause of its line, for no reason.
    pub fn lacks_answers(&self, line: &Line) -> bool {
        match self.end {
            End::Performed => self.answers.len() < line.clauses().len(),
            End::NotRecorded => true,
            End::Unsupported(_) | End::Broken(_) | End::Crash(_) | End::Hang(_) => false,
        }
    }
}

/// Performs lines.
pub trait Side {
    /// Performs a line, in a process that has performed others before.
    fn perform(&mut self, line: &Line) -> Performed;

    /// Performs a line in a process of its own, with the full time limits.
    fn perform_afresh(&mut self, line: &Line) -> Performed;
}

/// Starts the sides of the jobs. Callable from any thread.
pub trait MakeSide: Sync {
    /// Returns what is known of the side.
    fn about(&self) -> &About;

    /// Returns a side for one job.
    fn make(&self) -> Box<dyn Side + Send + '_>;
}

/// The different performances of one line.
pub type Runs = BTreeSet<Performed>;
