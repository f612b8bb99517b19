//! The checks of a poller for `pollmatrix adapter-check`. Each check covers one property that scenarios rely
//! on, with a poller of its own.

mod acts;
mod context;
mod contract;
mod ends;
mod protocol;

use std::fmt;
use std::time::Duration;

use selector::MakeSelector;

use crate::process;

/// The outcome of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The property holds.
    Passed,
    /// The poller does not support this, with its reason. It is not a failure.
    Unsupported(String),
    /// The property does not hold, with the observation.
    Failed(String),
}

/// A check and its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// The name of the check: `token-round-trip`.
    pub name: &'static str,
    /// The property, as a sentence.
    pub claim: &'static str,
    /// The outcome.
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

/// Runs the checks whose names are wanted on a poller. `patience` is the time within which the poller must
/// report a ready descriptor.
pub fn check(make: MakeSelector, patience: Duration, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    contract::all(&|| make(), patience, wanted)
}

/// Runs the checks on the adapter that this command line starts: first those of the protocol, then those of
/// [`check()`]. The check of the answer to `hello` always runs, because the others need that answer.
/// `patience` is also the time for each answer except that of a wait. The first answer may take at least
/// [`PATIENCE`](crate::PATIENCE), because programs need time to start.
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
