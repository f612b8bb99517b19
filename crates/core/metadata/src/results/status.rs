//! The statuses of cells.

use std::fmt;

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every check held.
    Pass,
    /// The answer differs from the common one in a documented, permitted way.
    Permitted,
    /// Known failure: the cell fails as the expectations document, with a URL.
    KnownFail,
    /// Unexpected pass: the cell passes although a failure was expected.
    UnexpectedPass,
    /// A check did not hold.
    Fail,
    /// Some attempts passed and some did not.
    Flaky,
    /// The backend or the system lacks a feature that the cell needs.
    Unsupported,
    /// Broken: the cell could not be prepared, so the result says nothing about the poller.
    Broken,
    /// The cell did not end within its time limit.
    Timeout,
    /// The process was ended by a signal or a panic.
    Crash,
    /// The cell was planned and has no result.
    NotRun,
}

impl Status {
    /// All statuses, those that are no failure first.
    pub const ALL: [Self; 11] = [
        Self::Pass,
        Self::Permitted,
        Self::KnownFail,
        Self::UnexpectedPass,
        Self::Fail,
        Self::Flaky,
        Self::Unsupported,
        Self::Broken,
        Self::Timeout,
        Self::Crash,
        Self::NotRun,
    ];

    /// Returns the name, as in results.json.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Permitted => "permitted",
            Self::KnownFail => "known-fail",
            Self::UnexpectedPass => "unexpected-pass",
            Self::Fail => "fail",
            Self::Flaky => "flaky",
            Self::Unsupported => "unsupported",
            Self::Broken => "broken",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::NotRun => "not-run",
        }
    }

    /// Returns the term for people. It differs from the name for [`Self::KnownFail`],
    /// [`Self::UnexpectedPass`], [`Self::Broken`] and [`Self::NotRun`].
    pub const fn label(self) -> &'static str {
        match self {
            Self::KnownFail => "known failure",
            Self::UnexpectedPass => "unexpected pass",
            Self::Broken => "broken",
            Self::NotRun => "not run",
            same => same.name(),
        }
    }

    /// Returns the letter for tables.
    pub const fn letter(self) -> char {
        match self {
            Self::Pass => 'P',
            Self::Permitted => 'D',
            Self::KnownFail => 'K',
            Self::UnexpectedPass => 'X',
            Self::Fail => 'F',
            Self::Flaky => 'L',
            Self::Unsupported => 'U',
            Self::Broken => 'B',
            Self::Timeout => 'T',
            Self::Crash => 'C',
            Self::NotRun => 'N',
        }
    }

    /// Returns whether the poller answers as required, or as documented.
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Permitted | Self::KnownFail)
    }

    /// Returns the rank of the status, higher is worse. It orders two results of the same cell.
    pub const fn severity(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Permitted => 1,
            Self::KnownFail => 2,
            Self::Unsupported => 3,
            Self::NotRun => 4,
            Self::Broken => 5,
            Self::UnexpectedPass => 6,
            Self::Flaky => 7,
            Self::Fail => 8,
            Self::Timeout => 9,
            Self::Crash => 10,
        }
    }

    /// Returns whether a run with this status exits non-zero.
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Pass | Self::Permitted | Self::KnownFail | Self::Unsupported)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn severities_are_distinct_and_every_failure_is_worse_than_any_other_status() {
        let severities: HashSet<_> = Status::ALL.iter().map(|status| status.severity()).collect();
        assert_eq!(severities.len(), Status::ALL.len());
        for (a, b) in Status::ALL.iter().flat_map(|a| Status::ALL.iter().map(move |b| (a, b))) {
            assert!(!a.is_failure() || b.is_failure() || a.severity() > b.severity(), "{a} {b}");
        }
    }

    #[test]
    fn letters_are_distinct_and_names_equal_those_in_json() {
        let letters: HashSet<_> = Status::ALL.iter().map(|status| status.letter()).collect();
        assert_eq!(letters.len(), Status::ALL.len());
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
    }
}
