//! The seed of a run's random choices.

#[cfg(any(test, feature = "schema"))]
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

#[cfg(any(test, feature = "schema"))]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A random seed. Written as a string, `0x…`, because many JSON readers lose the low bits of large numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Seed(pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The error for a text that is not a seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseSeedError(String);

impl fmt::Display for ParseSeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a seed: expected a number below 2^64, decimal or 0x…", self.0)
    }
}

impl std::error::Error for ParseSeedError {}

impl FromStr for Seed {
    type Err = ParseSeedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = match text.strip_prefix("0x") {
            // from_str_radix would accept a sign.
            Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
                u64::from_str_radix(digits, 16)
            }
            _ => text.parse(),
        };
        parsed.map(Self).map_err(|_| ParseSeedError(text.to_owned()))
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(any(test, feature = "schema"))]
impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^0x[0-9a-f]{1,16}$",
            "description": "A random seed: all random choices are derived from it.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_parses_to_itself() {
        for seed in [Seed(0), Seed(0x2a), Seed(u64::MAX)] {
            assert_eq!(seed.to_string().parse(), Ok(seed));
        }
        assert_eq!("42".parse(), Ok(Seed(42)));
    }

    #[test]
    fn text_that_is_no_seed_is_refused() {
        for text in ["", "0x", "0x+1", "-1", "0x1ffffffffffffffff", "seed"] {
            assert!(text.parse::<Seed>().is_err(), "{text}");
        }
    }
}
