//! What a report says of a scenario.

use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::axes::Layer;

/// What a scenario is about, for readers who have the report and not the code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// The property, as a sentence.
    pub title: String,
    /// `contract` (must hold everywhere) or `characterisation` (recorded per OS).
    #[schemars(with = "String")]
    pub layer: Layer,
    /// The invariants, mistakes of the past and rows of the catalogue that it is about: `S3`, `bug 66`, `V26`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<String>,
    /// What one would ask to get its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What is done, as a script in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbs: Option<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The version of pollmatrix that describes it so.
    pub pollmatrix: String,
}

/// An address with a text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// What is there.
    pub text: String,
    /// The address.
    pub url: String,
}

impl Scenario {
    /// The version that describes it. One that is no version is older than any.
    pub fn described_by(&self) -> Option<Version> {
        Version::parse(&self.pollmatrix).ok()
    }

    /// Whether another version of pollmatrix, too, would describe it so.
    pub fn says_the_same(&self, other: &Self) -> bool {
        Self { pollmatrix: String::new(), ..self.clone() }
            == Self { pollmatrix: String::new(), ..other.clone() }
    }
}
