//! The outcome of a cell that ran in this process.

use std::collections::BTreeMap;

use metadata::{Check, Status, Timeline};
use scenarios::{Outcome, Verdict};

/// The outcome of a cell, common to contract scenarios, characterisations and self-tests.
#[derive(Debug)]
pub struct CellOutcome {
    /// The status.
    pub status: Status,
    /// The reason for a status other than pass.
    pub reason: Option<String>,
    /// The checks, in order.
    pub checks: Vec<Check>,
    /// Counters for the report, by name.
    pub counters: BTreeMap<String, u64>,
    /// Free text for the report.
    pub notes: Vec<String>,
    /// What each thread did. Only of contract scenarios.
    pub timeline: Option<Timeline>,
}

impl Default for CellOutcome {
    /// Returns a pass without checks, counters and notes.
    fn default() -> Self {
        let (checks, counters, notes) = Default::default();
        Self { status: Status::Pass, reason: None, checks, counters, notes, timeline: None }
    }
}

impl From<(Verdict, Outcome)> for CellOutcome {
    fn from((verdict, outcome): (Verdict, Outcome)) -> Self {
        let (status, reason) = match verdict {
            Verdict::Pass => (Status::Pass, None),
            Verdict::Fail(reason) => (Status::Fail, Some(reason)),
            Verdict::Unsupported(reason) => (Status::Unsupported, Some(reason)),
            Verdict::Broken(reason) => (Status::Broken, Some(reason)),
        };
        let Outcome { checks, counters, notes, timeline } = outcome;
        Self {
            status,
            reason,
            checks,
            counters,
            notes,
            timeline: Some(timeline).filter(|timeline| !timeline.events.is_empty()),
        }
    }
}
