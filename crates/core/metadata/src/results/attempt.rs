//! The result of one process.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::seed::Seed;
use super::status::Status;
use super::timeline::Timeline;
use crate::defect::Defect;

/// The question that one answer belongs to: the key of the answer in the expectations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Asked {
    /// The id of the behaviour in the catalogue: `V06`.
    pub behaviour: String,
    /// The state: `tcp:after-read-0`. The part before the colon is the kind of descriptor.
    pub variant: String,
    /// The interface that answers: `poll`, `epoll-add-before`, `read`.
    pub api: String,
    /// `level`, `edge`. Absent for system calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

impl Asked {
    /// Returns the state without the kind of descriptor: `after-read-0`. Empty if the state has no name.
    pub fn state(&self) -> &str {
        self.variant.split_once(':').map_or("", |(_, state)| state)
    }

    /// Returns `poll@level`, or only the name of a system call.
    pub fn api_and_trigger(&self) -> String {
        api_and_trigger(&self.api, self.trigger.as_deref())
    }
}

/// Returns `poll@level`, or only the name of a system call.
pub fn api_and_trigger(api: &str, trigger: Option<&str>) -> String {
    match trigger {
        Some(trigger) => format!("{api}@{trigger}"),
        None => api.to_owned(),
    }
}

/// Returns whether an interface is that of a poller: `poll` and `poll-events0` are poll's.
pub fn is_api_of(api: &str, poller: &str) -> bool {
    api.strip_prefix(poller).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Written as `poll@level after-read-0`.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state() {
            "" => f.write_str(&self.api_and_trigger()),
            state => write!(f, "{} {state}", self.api_and_trigger()),
        }
    }
}

/// One comparison of an observed answer with the expected ones.
///
/// `evidence`, `since`, `until` and `url` describe the expectation. If the check does not hold and a
/// divergence is documented, they describe the divergence.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Check {
    /// What the check compares.
    pub what: String,
    /// The allowed answers.
    pub expected: Vec<String>,
    /// The observed answer.
    pub observed: String,
    /// Where the expectation comes from: an invariant, a man page, a clause, a commit.
    pub source: String,
    /// Whether the answer is allowed.
    pub holds: bool,
    /// The question that this answers. Only in characterisations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// Why another run may observe different numbers: `scheduling`, `size`, `timing`, `chance`. The answer is
    /// then not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<String>,
    /// What is wrong with the answer in every reading: `early`, `data-not-reported`, `ended-registration`,
    /// `spins`, `program-ended`. Absent if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "Option<String>"))]
    pub defect: Option<Defect>,
    /// How well the expectation is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The first kernel version that it is known to hold for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The last kernel version that it is known to hold for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Where to read more: a bug, a manual page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Check {
    /// Returns the evidence, the versions and the URL of the expectation: `issue or commit, since 6.1,
    /// https://example.org/1`. `None` if all four fields are empty.
    pub fn known(&self) -> Option<String> {
        let parts = [
            self.evidence.map(|evidence| evidence.meaning().to_owned()),
            self.since.as_ref().map(|since| format!("since {since}")),
            self.until.as_ref().map(|until| format!("until {until}")),
            self.url.clone(),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// One attempt at one cell: the line that `pollmatrix worker cell` prints, or that its supervisor writes
/// instead.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Attempt {
    /// The cell's id.
    pub cell: String,
    /// The outcome.
    pub status: Status,
    /// Why the attempt did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The seed of the attempt.
    pub seed: Seed,
    /// The fault that was switched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// One in this many system calls below the core's pollers was made to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject_errors: Option<NonZeroU32>,
    /// The scenario's data arrived up to this many milliseconds late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_data: Option<NonZeroU32>,
    /// Wall-clock time in milliseconds.
    pub duration_ms: u64,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
    /// Named counters.
    pub counters: BTreeMap<String, u64>,
    /// Free text.
    pub notes: Vec<String>,
    /// What each thread did, and when. Only if the attempt failed, or if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The last part of the process's standard error. Empty if the process wrote nothing there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}
