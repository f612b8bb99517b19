//! What the raw pollers are asked.
//!
//! A scenario is one line of verbs: `own and peer are connected, watch own, peer shuts write, look at own`. The
//! line is what is performed, what a person reads, and what `pollmatrix probe` runs again: there is no second
//! description. A line is performed over one transport, in one mode, with one poller, and makes observations: each
//! has the key under which `expectations/` knows what is to be expected.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]

mod behaviours;
mod interpreter;
mod keys;
pub mod verbs;

use std::fmt;
use std::time::Duration;

use metadata::{Axes, Description, Layer, Mode, Transport};
use selector::MakeSelector;

pub use crate::behaviours::{Omission, find, omissions, scenarios};
pub use crate::keys::{Key, keys};

/// A row of the catalogue as a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The row of the catalogue of behaviours: `V06`.
    pub behaviour: &'static str,
    /// The scenario: `readiness/peer-shut-write`. Stable, never re-used.
    pub id: &'static str,
    /// The question, as a sentence that ends with a question mark.
    pub question: &'static str,
    /// The line of verbs. It may say what only some transports can do: that is unsupported, with the reason, on
    /// the others.
    pub script: &'static str,
    /// Over which transports it is performed.
    pub transports: &'static [Transport],
    /// In which modes.
    pub modes: &'static [Mode],
    /// Bugs that knowing the answer would have prevented: URLs.
    pub bugs: &'static [&'static str],
}

impl Scenario {
    /// What matrix.yml has to know of it. A line has the thread that performs it.
    pub fn description(&self) -> Description {
        let axes = Axes { transports: self.transports, triggers: self.modes, threads: &[1], groups: &[1] };
        Description { id: self.id, title: self.question, layer: Layer::Characterisation, axes }
    }
}

/// What a line is performed with.
#[derive(Clone, Copy)]
pub struct Setting {
    /// What the descriptors are.
    pub transport: Transport,
    /// In which mode they are registered where the line does not say.
    pub mode: Mode,
    /// The poller.
    pub make: MakeSelector,
    /// The system's own queue, epoll or kqueue: what a line calls `a queue`. Not every system has one.
    pub queue: Option<MakeSelector>,
    /// For what is done in random order.
    pub seed: u64,
    /// How long it is waited for what must come: [`PATIENCE`], and longer on a slow machine. Nothing is concluded from
    /// how long it took.
    pub patience: Duration,
}

/// How long it is waited for what must come, on a machine of ordinary speed under any load.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// One answer, under the key of the published answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// What was looked at: `tcp`, `tcp:after-read-0`.
    pub variant: String,
    /// Who was asked: `poll`, `poll-events0`, `epoll-add-before`, or another call: `SO_ERROR`.
    pub api: String,
    /// `level`, `edge`; not for other calls.
    pub trigger: Option<String>,
    /// The answer, in the notation of docs/expectations.md.
    pub answer: String,
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

/// What performing a line came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transcript {
    /// In the order in which they were made.
    pub observations: Vec<Observation>,
    /// What was done and what every call answered, a line each.
    pub trace: Vec<String>,
}

/// What the trace says of a clause about something that a question before it failed to make.
pub(crate) const LEFT_OUT: &str = "left out: ";

impl Transcript {
    /// Whether clauses were left out, because a question before them failed to make what they are about. Not every answer
    /// that the line asks for is then there.
    pub fn is_partial(&self) -> bool {
        let begins = format!("-> {LEFT_OUT}");
        self.trace.iter().any(|line| line.contains(&begins))
    }
}

/// Why a line was not performed to its end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stopped {
    /// The line is not understood. Tells where and what would be.
    #[error("{0}")]
    Script(String),
    /// This poller, transport or system cannot do it.
    #[error("{0}")]
    Unsupported(String),
    /// The set-up failed: no statement about the poller.
    #[error("{0}")]
    SetUp(String),
}

/// Performs a line of verbs.
///
/// Limits, signal handlers and children are the process's: a process performs one line at a time.
///
/// # Errors
/// [`Stopped`], with the performance up to there.
pub fn run(script: &str, setting: Setting) -> (Transcript, Result<(), Stopped>) {
    match script.parse() {
        Ok(script) => interpreter::run(&script, setting),
        Err(error) => (Transcript::default(), Err(Stopped::Script(format!("{script}\n{error}")))),
    }
}
