//! The parameters of a cell, and the part of its id that encodes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::axes::{Mode, Transport};

/// The parameters of a cell, except its backend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema), schemars(rename = "VariantParams"))]
pub struct Variant {
    /// `tcp`, `unix`, `pipe`.
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub transport: Transport,
    /// `level`, `edge`.
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub trigger: Mode,
    /// Total number of worker threads.
    pub threads: usize,
    /// Number of thread groups.
    pub groups: usize,
}

/// `tcp-level-4t2g`: transport, trigger, threads, groups.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}t{}g", self.transport, self.trigger, self.threads, self.groups)
    }
}

/// The error for a text that is not of the form `tcp-level-4t2g`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not a variant: expected TRANSPORT-TRIGGER-THREADStGROUPSg, for example tcp-level-4t2g")]
pub struct ParseVariantError(String);

impl FromStr for Variant {
    type Err = ParseVariantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (names, shape) = text.rsplit_once('-')?;
            let (threads, groups) = shape.strip_suffix('g')?.split_once('t')?;
            let (threads, groups) = (threads.parse().ok()?, groups.parse().ok()?);
            // Some names contain a hyphen. Only one split yields a known transport and a known mode.
            let (transport, trigger) = names.match_indices('-').find_map(|(at, _)| {
                Some((names[..at].parse::<Transport>().ok()?, names[at + 1..].parse::<Mode>().ok()?))
            })?;
            let variant = Self { transport, trigger, threads, groups };
            (variant.to_string() == text).then_some(variant)
        };
        parse().ok_or_else(|| ParseVariantError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_parses_to_itself() {
        for &transport in Transport::ALL {
            for &trigger in Mode::ALL {
                let variant = Variant { transport, trigger, threads: 8, groups: 2 };
                assert_eq!(variant.to_string().parse(), Ok(variant));
            }
        }
    }

    #[test]
    fn other_spellings_of_a_variant_are_refused() {
        for text in
            ["", "tcp", "tcp-level", "tcp-level-04t1g", "tcp-level-4t1g-", "tcp-level-4t", "sctp-level-4t1g"]
        {
            assert!(text.parse::<Variant>().is_err(), "{text}");
        }
    }
}
