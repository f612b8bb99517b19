//! What one process answered.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::seed::Seed;
use crate::status::Status;

/// One thing that was looked at.
///
/// `evidence`, `since`, `until` and `url` are about the expectation. Where it does not hold, and that is documented,
/// they are about what is documented.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was looked at.
    pub what: String,
    /// The allowed answers.
    pub expected: Vec<String>,
    /// The answer.
    pub observed: String,
    /// Where the expectation comes from: an invariant, a man page, a clause, a commit.
    pub source: String,
    /// Whether the answer is allowed.
    pub holds: bool,
    /// How well it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The first version of the kernel that it is known of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The last version of the kernel that it is known of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Where to read more: a bug, a manual page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Check {
    /// How well the expectation is known, for which versions, and where to read more: `issue or commit, since 6.1,
    /// https://example.org/1`. `None` if nothing is said of it.
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

/// One attempt at one cell: the line that `pollmatrix run-cell` prints, or what its runner says in its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// The cell's id.
    pub cell: String,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The seed it was run with.
    pub seed: Seed,
    /// The fault that was switched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Wall-clock time in milliseconds.
    pub duration_ms: u64,
    /// What was looked at, in order.
    pub checks: Vec<Check>,
    /// Numbers worth reporting.
    pub counters: BTreeMap<String, u64>,
    /// Free text.
    pub notes: Vec<String>,
    /// The end of what the process wrote to standard error. Empty if there was nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}
