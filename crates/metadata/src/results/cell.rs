//! The result of one cell: its attempts put together.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, Check};
use super::seed::Seed;
use super::status::Status;
use crate::axes::Layer;
use crate::variant::Variant;

/// The counter of answers that the expectations do not know.
const UNKNOWN: &str = "unknown";

/// Which cell: what is known about it before it is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    /// `group/name/variant@backend`.
    pub id: String,
    /// `group/name`.
    pub scenario: String,
    /// `epoll`.
    pub backend: String,
    /// Where it is run: `x86_64-linux-gnu`.
    pub target: String,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The variant.
    pub params: Variant,
    /// The command that runs it again, up to the seed.
    pub command: String,
}

/// How many times a cell was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Attempts {
    /// How many attempts passed.
    pub passed: u32,
    /// How many there were.
    pub total: u32,
}

/// The result of one cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CellResult {
    /// `group/name/variant@backend`. Stable.
    pub id: String,
    /// `group/name`.
    pub scenario: String,
    /// `epoll`.
    pub backend: String,
    /// Where it was run: `x86_64-linux-gnu`.
    pub target: String,
    /// `contract` (must hold everywhere) or `characterisation` (recorded per OS).
    #[schemars(with = "String")]
    pub layer: Layer,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass. Always there if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The parameters that the id's variant stands for.
    pub params: Variant,
    /// How many attempts there were.
    pub attempts: Attempts,
    /// The seed of the attempt that is shown: the first that did not pass, or the first of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// Wall-clock time of all attempts, in milliseconds.
    pub duration_ms: u64,
    /// A command that runs this cell again with the same seed.
    pub reproducer: String,
    /// What was looked at, in order.
    pub checks: Vec<Check>,
    /// Numbers worth reporting.
    pub counters: BTreeMap<String, u64>,
    /// Free text.
    pub notes: Vec<String>,
    /// The end of what the process wrote to standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl CellResult {
    /// A cell without an attempt: not supported here, or not run.
    pub fn without_attempt(subject: Subject, status: Status, reason: impl Into<String>) -> Self {
        Self {
            reproducer: subject.command.clone(),
            id: subject.id,
            scenario: subject.scenario,
            backend: subject.backend,
            target: subject.target,
            layer: subject.layer,
            status,
            reason: Some(reason.into()),
            params: subject.params,
            attempts: Attempts { passed: 0, total: 0 },
            seed: None,
            duration_ms: 0,
            checks: Vec::new(),
            counters: BTreeMap::new(),
            notes: Vec::new(),
            stderr: String::new(),
        }
    }

    /// Puts the attempts at one cell together: all alike is that, passes among other answers are flaky.
    ///
    /// What differs in a documented way is as good as a pass, and is the result if nothing is worse. The first attempt
    /// that did worst is shown, with its seed; or the first of all.
    pub fn from_attempts(subject: Subject, attempts: Vec<Attempt>) -> Self {
        let total = attempts.len() as u32;
        let passed = attempts.iter().filter(|attempt| attempt.status == Status::Pass).count() as u32;
        let duration_ms =
            attempts.iter().fold(0, |sum: u64, attempt| sum.saturating_add(attempt.duration_ms));
        let good = |status| matches!(status, Status::Pass | Status::Permitted | Status::KnownFail);
        let held = attempts.iter().filter(|attempt| good(attempt.status)).count() as u32;
        let not_good = attempts.iter().position(|attempt| !good(attempt.status));
        let not_passed = || attempts.iter().position(|attempt| attempt.status != Status::Pass);
        let shown = not_good.or_else(not_passed).unwrap_or(0);
        let Some(shown) = attempts.into_iter().nth(shown) else {
            return Self::without_attempt(subject, Status::NotRun, "there was no attempt");
        };
        let mut result = Self::without_attempt(subject, shown.status, String::new());
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
        result.stderr = shown.stderr;
        result
    }

    /// How many of its answers nobody had recorded before.
    pub fn unknown_answers(&self) -> u64 {
        self.counters.get(UNKNOWN).copied().filter(|_| !self.is_contract()).unwrap_or(0)
    }

    /// `tcp-level-2t1g`, the part of the id between the scenario and the backend. `None` if the id has other parts.
    pub fn variant(&self) -> Option<&str> {
        let rest = self.id.strip_prefix(self.scenario.as_str())?.strip_prefix('/')?;
        rest.strip_suffix(self.backend.as_str())?.strip_suffix('@')
    }

    /// Whether it counts: contract cells must hold everywhere, others record what is.
    pub fn is_contract(&self) -> bool {
        self.layer == Layer::Contract
    }

    /// `group`, the first part of the id.
    pub fn group(&self) -> &str {
        self.scenario.split('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::{Mode, Transport};

    fn subject() -> Subject {
        Subject {
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
            cell: subject().id,
            status,
            reason: (status != Status::Pass).then(|| format!("reason {seed}")),
            seed: Seed(seed),
            fault: None,
            inject_errors: None,
            duration_ms: 2,
            checks: Vec::new(),
            counters: BTreeMap::new(),
            notes: Vec::new(),
            stderr: String::new(),
        }
    }

    #[test]
    fn attempts_that_agree_are_their_common_status() {
        for status in [Status::Pass, Status::Fail, Status::Timeout] {
            let result = CellResult::from_attempts(subject(), vec![attempt(status, 1), attempt(status, 2)]);
            assert_eq!((result.status, result.attempts.total, result.duration_ms), (status, 2, 4));
            assert_eq!(result.seed, Some(Seed(1)));
        }
    }

    #[test]
    fn a_flaky_cell_shows_its_first_failure_and_that_seed() {
        let attempts = vec![attempt(Status::Pass, 1), attempt(Status::Crash, 2), attempt(Status::Fail, 3)];
        let result = CellResult::from_attempts(subject(), attempts);
        assert_eq!(result.status, Status::Flaky);
        assert_eq!(result.reason.as_deref(), Some("flaky 1/3: crash: reason 2"));
        assert!(result.reproducer.ends_with("--seed 0x2"), "{}", result.reproducer);
    }

    #[test]
    fn what_is_documented_is_no_failure_and_hides_none() {
        let of = |statuses: &[Status]| {
            let attempts = statuses.iter().zip(1..).map(|(status, seed)| attempt(*status, seed)).collect();
            let result = CellResult::from_attempts(subject(), attempts);
            (result.status, result.attempts.passed, result.seed)
        };
        let (pass, permitted, known) = (Status::Pass, Status::Permitted, Status::KnownFail);
        assert_eq!(of(&[pass, permitted, pass]), (permitted, 2, Some(Seed(2))));
        assert_eq!(of(&[known, pass]), (known, 1, Some(Seed(1))));
        assert_eq!(of(&[permitted, Status::Fail]), (Status::Flaky, 0, Some(Seed(2))));
        assert_eq!(of(&[pass, Status::Unsupported]), (Status::Flaky, 1, Some(Seed(2))));
    }

    #[test]
    fn failures_of_several_kinds_are_the_first_of_them() {
        let result =
            CellResult::from_attempts(subject(), vec![attempt(Status::Timeout, 1), attempt(Status::Fail, 2)]);
        assert_eq!((result.status, result.attempts.passed), (Status::Timeout, 0));
    }
}
