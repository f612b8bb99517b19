//! Scripts that ask raw pollers about the behaviours of the catalogue.
//!
//! A script is one line of verbs: `own and peer are connected, watch own, peer shuts write, look at own`.
//! People read this line, the interpreter runs it, and `pollmatrix probe` repeats it: there is no second
//! description. A script runs over one transport, in one mode, with one poller. It makes observations; each
//! has the key under which `expectations/` stores the expected answer.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]

mod added;
mod asked;
pub mod cell;
pub mod expectations;
mod interpreter;
mod keys;
mod peers;
mod readings;
mod tables;
pub mod verbs;

use std::fmt;
use std::time::Duration;

use metadata::{Answer, Mode, Transport};
use selector::{MakeSelector, Unsupported};

pub use crate::added::parse as read_behaviours;
pub use crate::asked::{asked_of, asked_on};
pub use crate::keys::{Key, keys};
pub use crate::peers::peers;
pub use crate::readings::Promises;
pub use crate::tables::{Omission, find, omissions, scenarios};

/// The parameters of one run of a script.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The kind of descriptors.
    pub transport: Transport,
    /// The mode of registrations for which the script names none.
    pub mode: Mode,
    /// Makes the poller.
    pub make: MakeSelector,
    /// Makes the system's own queue, epoll or kqueue: `a queue` in a script. Not every system has one.
    pub queue: Option<MakeSelector>,
    /// The seed of random orders.
    pub seed: u64,
    /// The longest wait for an event that must come: [`PATIENCE`], and longer on a slow machine. The time
    /// that a wait takes has no influence on the answers.
    pub patience: Duration,
}

/// The longest wait for an event that must come, on a machine of ordinary speed under any load.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// One answer, under the key of the published expectations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The descriptor and its state: `tcp`, `tcp:after-read-0`.
    pub variant: String,
    /// The interface: `poll`, `poll-events0`, `epoll-add-before`, or another call: `SO_ERROR`.
    pub api: String,
    /// `level`, `edge`; `None` for other calls.
    pub trigger: Option<String>,
    /// The answer.
    pub answer: Answer,
}

/// `poll@level: IN|HUP`
impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.trigger {
            Some(trigger) => write!(f, "{}@{trigger}: {}", self.api, self.answer),
            None => write!(f, "{}: {}", self.api, self.answer),
        }
    }
}

/// The record of one run of a script.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transcript {
    /// The observations, in the order in which they were made.
    pub observations: Vec<Observation>,
    /// One line per clause: the clause and its answer.
    pub trace: Vec<String>,
}

/// Begins the trace entry of a clause that was skipped because an earlier question did not make its
/// descriptor.
pub(crate) const LEFT_OUT: &str = "left out: ";

impl Transcript {
    /// Returns whether clauses were skipped because an earlier question did not make their descriptor. In
    /// this case the transcript does not have every answer that the script asks for.
    pub fn is_partial(&self) -> bool {
        let beginning = format!("-> {LEFT_OUT}");
        self.trace.iter().any(|line| line.contains(&beginning))
    }
}

/// The reason why a script did not run to its end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stopped {
    /// The script has a syntax error. The message has its position and a suggestion.
    #[error("{0}")]
    Script(String),
    /// This poller, transport or system does not support the script.
    #[error("{0}")]
    Unsupported(String),
    /// The poller's program has ended, or computes without an end. The last observation of the transcript has
    /// that as the poller's answer.
    #[error("{0}")]
    Ended(String),
    /// The set-up failed; this says nothing about the poller.
    #[error("{0}")]
    Broken(String),
}

impl From<Unsupported> for Stopped {
    fn from(Unsupported(why): Unsupported) -> Self {
        Self::Unsupported(why)
    }
}

/// Runs a script.
///
/// Limits, signal handlers and children belong to the process: run one script at a time.
///
/// # Errors
/// [`Stopped`], with the transcript up to that point.
pub fn run(script: &str, setting: Setting) -> (Transcript, Result<(), Stopped>) {
    match script.parse() {
        Ok(parsed) => interpreter::run(&parsed, setting),
        Err(error) => (Transcript::default(), Err(Stopped::Script(format!("{script}\n{error}")))),
    }
}
