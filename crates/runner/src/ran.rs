//! What a run of a cell in this process came to.

use std::collections::BTreeMap;

use metadata::{Check, Status};
use scenarios::{Outcome, Verdict};

/// What a run of a cell came to.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub status: Status,
    /// Why it is no pass.
    pub reason: Option<String>,
    /// What was looked at, in order.
    pub checks: Vec<Check>,
    /// Numbers worth reporting.
    pub counters: BTreeMap<String, u64>,
    /// Free text.
    pub notes: Vec<String>,
}

impl Default for Ran {
    /// A pass that says nothing.
    fn default() -> Self {
        let (checks, counters, notes) = Default::default();
        Self { status: Status::Pass, reason: None, checks, counters, notes }
    }
}

impl From<(Verdict, Outcome)> for Ran {
    fn from((verdict, outcome): (Verdict, Outcome)) -> Self {
        let (status, reason) = match verdict {
            Verdict::Pass => (Status::Pass, None),
            Verdict::Fail(what) => (Status::Fail, Some(what)),
            Verdict::Unsupported(reason) => (Status::Unsupported, Some(reason)),
            Verdict::Broken(reason) => (Status::Broken, Some(reason)),
        };
        Self { status, reason, checks: outcome.checks, counters: outcome.counters, notes: outcome.notes }
    }
}
