//! Evidence tags.

#[cfg(any(test, feature = "schema"))]
use std::borrow::Cow;
use std::fmt;

#[cfg(any(test, feature = "schema"))]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How well an answer is known. Every tag except [`Evidence::Measured`] is a hypothesis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Evidence {
    /// Measured on a real system. The source names its version.
    Measured,
    /// Read in the kernel's source code, and not measured.
    Kernel,
    /// Asserted by the test suite of another project that runs on that system.
    Tested,
    /// Reported in an issue, a pull request or a commit.
    Issue,
    /// Documented: a manual page or a standard.
    Documented,
    /// No known source states it.
    Unknown,
}

impl Evidence {
    /// All tags.
    pub const ALL: [Self; 6] =
        [Self::Measured, Self::Kernel, Self::Tested, Self::Issue, Self::Documented, Self::Unknown];

    /// Returns the letter of the tag in the files.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Measured => "M",
            Self::Kernel => "K",
            Self::Tested => "T",
            Self::Issue => "I",
            Self::Documented => "D",
            Self::Unknown => "?",
        }
    }

    /// Returns the meaning of the tag.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Kernel => "kernel source",
            Self::Tested => "another test suite",
            Self::Issue => "issue or commit",
            Self::Documented => "manual page or standard",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether no run on a real system has confirmed the answer.
    pub fn is_hypothesis(self) -> bool {
        self != Self::Measured
    }
}

/// Written as `M (measured)`.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.letter(), self.meaning())
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.letter())
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|evidence| evidence.letter() == text);
        found.ok_or_else(|| {
            // Single letters have no useful nearest match, so the message lists all of them.
            let known = Self::ALL.map(|evidence| evidence.to_string()).join(", ");
            de::Error::custom(format!("unknown evidence '{text}': use one of {known}"))
        })
    }
}

#[cfg(any(test, feature = "schema"))]
impl JsonSchema for Evidence {
    fn schema_name() -> Cow<'static, str> {
        "Evidence".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let meanings = Self::ALL.map(|evidence| evidence.to_string()).join(", ");
        json_schema!({
            "type": "string",
            "enum": Self::ALL.map(Self::letter),
            "description": format!("How well an answer is known: {meanings}."),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_except_measured_is_a_hypothesis() {
        let sure: Vec<_> = Evidence::ALL.into_iter().filter(|evidence| !evidence.is_hypothesis()).collect();
        assert_eq!(sure, [Evidence::Measured]);
    }

    #[test]
    fn each_letter_parses_to_its_tag() {
        for evidence in Evidence::ALL {
            let text = serde_json::to_string(&evidence).unwrap();
            assert_eq!(text, format!("{:?}", evidence.letter()));
            assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), evidence);
        }
    }

    #[test]
    fn the_error_for_a_wrong_letter_lists_all_letters() {
        let error = serde_json::from_str::<Evidence>("\"X\"").unwrap_err().to_string();
        assert!(
            error.contains("unknown evidence 'X'") && error.contains("K (kernel source), T (another"),
            "{error}"
        );
    }
}
