//! Does a poller keep what scenarios rely on? Each check asks for one thing, of a poller of its own.

mod contract;
mod protocol;
mod trial;

use std::fmt;
use std::time::Duration;

use selector::MakeSelector;

use crate::process;

/// What a check came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// The subject says that it cannot be asked this: its right.
    Unsupported(String),
    /// It does not hold; what was seen.
    Failed(String),
}

/// A check and its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// `token-round-trip`.
    pub name: &'static str,
    /// What has to hold, as a sentence.
    pub claim: &'static str,
    /// What was seen.
    pub outcome: Outcome,
}

/// `ok    removed-silent`, `FAIL  removed-silent: …` with the claim.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, claim, outcome } = self;
        match outcome {
            Outcome::Passed => write!(f, "ok    {name}"),
            Outcome::Unsupported(reason) => write!(f, "-     {name}: unsupported: {reason}"),
            Outcome::Failed(seen) => write!(f, "FAIL  {name}: {seen}\n      {claim}"),
        }
    }
}

/// Asks a poller for everything that scenarios rely on: for the checks whose names are wanted. `patience` is how long
/// what is ready may take to be reported.
pub fn check(make: MakeSelector, patience: Duration, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    contract::all(&|| make(), patience, wanted)
}

/// Asks the subject that this command line starts: first whether it speaks the protocol, then as [`check()`] does. It
/// is always asked for its greeting, without which there is nothing else to ask. `patience` is also how long it may
/// take to answer what is no wait; for the first answer there are [`PATIENCE`](crate::PATIENCE) in any case, because
/// programs take their time to start.
pub fn check_process(
    command_line: &[String],
    patience: Duration,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<Check> {
    let mut checks = protocol::all(command_line, patience, wanted);
    if checks.first().is_some_and(|hello| hello.outcome == Outcome::Passed) {
        checks.extend(contract::all(&|| process::start(command_line, patience), patience, wanted));
    }
    checks
}
