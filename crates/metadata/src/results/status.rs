//! How a cell ended.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a cell ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every check held.
    Pass,
    /// It differs from the common answer in a documented way.
    Permitted,
    /// It fails as the expectations, with their URL, say it does.
    KnownFail,
    /// It was expected to fail and did not.
    UnexpectedPass,
    /// A check did not hold.
    Fail,
    /// Some attempts passed and some did not.
    Flaky,
    /// This backend or system cannot do what is asked for.
    Unsupported,
    /// The set-up failed: nothing is known about the subject.
    Broken,
    /// It did not end within its time limit.
    Timeout,
    /// The process died of a signal or a panic.
    Crash,
    /// It was planned and has no result.
    NotRun,
}

impl Status {
    /// Every status, the good ones first.
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

    /// The name, as in results.json.
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

    /// The letter that stands for it in tables.
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

    /// Whether the subject answers as it should, or as it is documented to.
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Permitted | Self::KnownFail)
    }

    /// How bad it is beside the others: two answers about one cell are ordered by it.
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

    /// Whether it makes a run exit non-zero.
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
    fn no_two_statuses_are_equally_bad_and_every_failure_is_worse_than_none() {
        let severities: HashSet<_> = Status::ALL.iter().map(|status| status.severity()).collect();
        assert_eq!(severities.len(), Status::ALL.len());
        for (a, b) in Status::ALL.iter().flat_map(|a| Status::ALL.iter().map(move |b| (a, b))) {
            assert!(!a.is_failure() || b.is_failure() || a.severity() > b.severity(), "{a} {b}");
        }
    }

    #[test]
    fn every_status_has_its_own_letter_and_the_name_that_json_has() {
        let letters: HashSet<_> = Status::ALL.iter().map(|status| status.letter()).collect();
        assert_eq!(letters.len(), Status::ALL.len());
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
    }
}
