//! What one process answered.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::seed::Seed;
use super::status::Status;

/// What a poller was asked: the key that the expectations know its answer by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The row of the catalogue of behaviours: `V06`.
    pub row: String,
    /// The state: `tcp:after-read-0`. The part before the colon is what the descriptor is.
    pub variant: String,
    /// Who is asked: `poll`, `epoll-add-before`, `read`.
    pub api: String,
    /// `level`, `edge`; not for system calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

impl Asked {
    /// The state without what the descriptor is: `after-read-0`. Empty if it has no name.
    pub fn state(&self) -> &str {
        self.variant.split_once(':').map_or("", |(_, state)| state)
    }

    /// `poll@level`, or only the system call.
    pub fn api_and_trigger(&self) -> String {
        api_and_trigger(&self.api, self.trigger.as_deref())
    }
}

/// `poll@level`, or only the system call.
pub fn api_and_trigger(api: &str, trigger: Option<&str>) -> String {
    match trigger {
        Some(trigger) => format!("{api}@{trigger}"),
        None => api.to_owned(),
    }
}

/// `poll@level after-read-0`.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state() {
            "" => f.write_str(&self.api_and_trigger()),
            state => write!(f, "{} {state}", self.api_and_trigger()),
        }
    }
}

/// One thing that was looked at.
///
/// `evidence`, `since`, `until` and `url` are about the expectation. Where it does not hold, and that is documented,
/// they are about what is documented.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
    /// Which answer of which poller it is. Only in characterisations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// Why another run may answer with other numbers: `scheduling`, `size`, `timing`, `chance`. The answer is then not
    /// compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<String>,
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
    /// One in how many system calls below the core's pollers was made to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject_errors: Option<NonZeroU32>,
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
