//! The description of a scenario in a report.

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::axes::Layer;

/// The description of a scenario, for readers of a report without the code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Scenario {
    /// The property, as a sentence.
    pub title: String,
    /// `contract` (must hold everywhere) or `characterisation` (recorded per OS).
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub layer: Layer,
    /// The invariants, past bugs and behaviours that the scenario covers: `S3`, `bug 66`, `V26`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<String>,
    /// The question that the scenario answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The steps, as a script of verbs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbs: Option<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The version of pollmatrix that wrote this description.
    pub pollmatrix: String,
}

/// A hyperlink.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Link {
    /// The text of the link.
    pub text: String,
    /// The URL.
    pub url: String,
}

impl Scenario {
    /// Returns the version of pollmatrix that wrote this description. `None`, which sorts before every
    /// version, if the field is no version.
    pub fn described_by(&self) -> Option<Version> {
        Version::parse(&self.pollmatrix).ok()
    }

    /// Returns whether both descriptions are equal, apart from the version of pollmatrix that wrote them.
    pub fn is_same_description(&self, other: &Self) -> bool {
        Self { pollmatrix: String::new(), ..self.clone() }
            == Self { pollmatrix: String::new(), ..other.clone() }
    }
}
