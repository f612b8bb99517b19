//! The result of one cell, combined from its attempts.

use std::collections::BTreeMap;

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, Check};
use super::seed::Seed;
use super::status::Status;
use super::timeline::Timeline;
use crate::axes::Layer;
use crate::variant::Variant;

/// The counter of answers that the expectations do not contain.
const UNKNOWN: &str = "unknown";

/// A planned cell: everything that is known before it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedCell {
    /// `group/name/variant@backend`.
    pub id: String,
    /// `group/name`.
    pub scenario: String,
    /// `epoll`.
    pub backend: String,
    /// The target that it runs on: `x86_64-linux-gnu`.
    pub target: String,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The parameters.
    pub params: Variant,
    /// The command that runs the cell again, without the seed.
    pub command: String,
}

/// The number of attempts at a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Attempts {
    /// How many attempts passed.
    pub passed: u32,
    /// How many attempts were made.
    pub total: u32,
}

/// The result of one cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct CellResult {
    /// `group/name/variant@backend`. Stable.
    pub id: String,
    /// `group/name`.
    pub scenario: String,
    /// `epoll`.
    pub backend: String,
    /// The target that it ran on: `x86_64-linux-gnu`.
    pub target: String,
    /// `contract` (must hold everywhere) or `characterisation` (recorded per OS).
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub layer: Layer,
    /// The outcome.
    pub status: Status,
    /// Why the cell did not pass. Always present if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The parameters that the variant of the id encodes.
    pub params: Variant,
    /// How many attempts were made, and how many passed.
    pub attempts: Attempts,
    /// The seed of the attempt shown here: the first that did not pass, otherwise the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// Wall-clock time of all attempts, in milliseconds.
    pub duration_ms: u64,
    /// The command that runs this cell again with the same seed.
    pub reproducer: String,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
    /// Named counters.
    pub counters: BTreeMap<String, u64>,
    /// Free text.
    pub notes: Vec<String>,
    /// What each thread did, and when. Only if the attempt failed, or if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The last part of the process's standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl CellResult {
    /// Creates the result of a cell without an attempt: unsupported on this target, or not run.
    pub fn without_attempt(cell: PlannedCell, status: Status, reason: impl Into<String>) -> Self {
        Self {
            reproducer: cell.command.clone(),
            id: cell.id,
            scenario: cell.scenario,
            backend: cell.backend,
            target: cell.target,
            layer: cell.layer,
            status,
            reason: Some(reason.into()),
            params: cell.params,
            attempts: Attempts { passed: 0, total: 0 },
            seed: None,
            duration_ms: 0,
            checks: Vec::new(),
            counters: BTreeMap::new(),
            notes: Vec::new(),
            timeline: None,
            stderr: String::new(),
        }
    }

    /// Combines the attempts at one cell. A cell is flaky if some attempts passed and some did not.
    ///
    /// An attempt that differs in a documented way counts as passed. The result shows the first attempt that
    /// did not pass, with its seed; otherwise the first that differs in a documented way; otherwise the first
    /// attempt.
    pub fn from_attempts(cell: PlannedCell, attempts: Vec<Attempt>) -> Self {
        let total = attempts.len() as u32;
        let passed = attempts.iter().filter(|attempt| attempt.status == Status::Pass).count() as u32;
        let duration_ms =
            attempts.iter().fold(0, |sum: u64, attempt| sum.saturating_add(attempt.duration_ms));
        let held = attempts.iter().filter(|attempt| attempt.status.is_pass()).count() as u32;
        let first_bad = attempts.iter().position(|attempt| !attempt.status.is_pass());
        let first_different = || attempts.iter().position(|attempt| attempt.status != Status::Pass);
        let shown = first_bad.or_else(first_different).unwrap_or(0);
        let Some(shown) = attempts.into_iter().nth(shown) else {
            return Self::without_attempt(cell, Status::NotRun, "no attempt was made");
        };
        let mut result = Self::without_attempt(cell, shown.status, String::new());
        result.reason = shown.reason;
        if held > 0 && held < total {
            let why = result.reason.as_deref().unwrap_or("no reason given");
            result.reason = Some(format!("flaky {held}/{total}: {}: {why}", shown.status));
            result.status = Status::Flaky;
        }
        result.attempts = Attempts { passed, total };
        result.seed = Some(shown.seed);
        result.reproducer = format!("{} --seed {}", result.reproducer, shown.seed);
        result.duration_ms = duration_ms;
        result.checks = shown.checks;
        result.counters = shown.counters;
        result.notes = shown.notes;
        result.timeline = shown.timeline;
        result.stderr = shown.stderr;
        result
    }

    /// Returns the number of answers that were not recorded before.
    pub fn unknown_answers(&self) -> u64 {
        self.counters.get(UNKNOWN).copied().filter(|_| !self.is_contract()).unwrap_or(0)
    }

    /// Returns the part of the id between the scenario and the backend: `tcp-level-2t1g`. `None` if the id
    /// does not begin with the scenario and end with the backend.
    pub fn variant(&self) -> Option<&str> {
        let rest = self.id.strip_prefix(self.scenario.as_str())?.strip_prefix('/')?;
        rest.strip_suffix(self.backend.as_str())?.strip_suffix('@')
    }

    /// Returns whether this is a contract cell, which must hold on every system.
    pub fn is_contract(&self) -> bool {
        self.layer == Layer::Contract
    }

    /// Returns `group`, the first part of the id.
    pub fn group(&self) -> &str {
        self.scenario.split('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::{Mode, Transport};

    fn planned() -> PlannedCell {
        PlannedCell {
            id: "group/name/tcp-level-1t1g@epoll".into(),
            scenario: "group/name".into(),
            backend: "epoll".into(),
            target: "x86_64-linux-gnu".into(),
            layer: Layer::Contract,
            params: Variant { transport: Transport::Tcp, trigger: Mode::Level, threads: 1, groups: 1 },
            command: "pollmatrix run 'group/name/tcp-level-1t1g@epoll'".into(),
        }
    }

    fn attempt(status: Status, seed: u64) -> Attempt {
        Attempt {
            cell: planned().id,
            status,
            reason: (status != Status::Pass).then(|| format!("reason {seed}")),
            seed: Seed(seed),
            fault: None,
            inject_errors: None,
            late_data: None,
            duration_ms: 2,
            checks: Vec::new(),
            counters: BTreeMap::new(),
            notes: Vec::new(),
            timeline: None,
            stderr: String::new(),
        }
    }

    #[test]
    fn attempts_with_equal_statuses_give_that_status() {
        for status in [Status::Pass, Status::Fail, Status::Timeout] {
            let result = CellResult::from_attempts(planned(), vec![attempt(status, 1), attempt(status, 2)]);
            assert_eq!((result.status, result.attempts.total, result.duration_ms), (status, 2, 4));
            assert_eq!(result.seed, Some(Seed(1)));
        }
    }

    #[test]
    fn a_flaky_cell_shows_its_first_failure_and_that_seed() {
        let attempts = vec![attempt(Status::Pass, 1), attempt(Status::Crash, 2), attempt(Status::Fail, 3)];
        let result = CellResult::from_attempts(planned(), attempts);
        assert_eq!(result.status, Status::Flaky);
        assert_eq!(result.reason.as_deref(), Some("flaky 1/3: crash: reason 2"));
        assert!(result.reproducer.ends_with("--seed 0x2"), "{}", result.reproducer);
    }

    #[test]
    fn a_documented_difference_is_no_failure_and_hides_no_failure() {
        let of = |statuses: &[Status]| {
            let attempts = statuses.iter().zip(1..).map(|(status, seed)| attempt(*status, seed)).collect();
            let result = CellResult::from_attempts(planned(), attempts);
            (result.status, result.attempts.passed, result.seed)
        };
        let (pass, permitted, known) = (Status::Pass, Status::Permitted, Status::KnownFail);
        assert_eq!(of(&[pass, permitted, pass]), (permitted, 2, Some(Seed(2))));
        assert_eq!(of(&[known, pass]), (known, 1, Some(Seed(1))));
        assert_eq!(of(&[permitted, Status::Fail]), (Status::Flaky, 0, Some(Seed(2))));
        assert_eq!(of(&[pass, Status::Unsupported]), (Status::Flaky, 1, Some(Seed(2))));
    }

    #[test]
    fn failures_of_several_kinds_give_the_first_one() {
        let result =
            CellResult::from_attempts(planned(), vec![attempt(Status::Timeout, 1), attempt(Status::Fail, 2)]);
        assert_eq!((result.status, result.attempts.passed), (Status::Timeout, 0));
    }
}
