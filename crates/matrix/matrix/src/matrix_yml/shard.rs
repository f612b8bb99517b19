//! Splits cells over several machines, by a hash of their ids.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One machine's part of the cells. The third of four is `3/4`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// A text that is not a shard.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShardError {
    /// Not two numbers.
    #[error("'{0}' is not a shard: write K/N, such as 1/4 for the first of four")]
    Malformed(String),
    /// No machines.
    #[error("{0}/0 is a shard of no machines: count the machines from 1")]
    OfNone(usize),
    /// Fewer machines than the number of the shard.
    #[error("there is no shard {number} of {of}: they go from 1/{of} to {of}/{of}")]
    OutOfRange {
        /// The number of the shard.
        number: usize,
        /// The number of machines.
        of: usize,
    },
}

impl Shard {
    /// Creates the part of machine `number`, counted from 1, of `of` machines.
    ///
    /// # Errors
    /// There is no such machine.
    pub fn new(number: usize, of: usize) -> Result<Self, ShardError> {
        match (number, of) {
            (_, 0) => Err(ShardError::OfNone(number)),
            _ if number == 0 || number > of => Err(ShardError::OutOfRange { number, of }),
            _ => Ok(Self { number, of }),
        }
    }

    /// Returns whether the cell with this id is in the shard: its 64-bit FNV-1a hash modulo N is K - 1.
    ///
    /// Every id is in exactly one of N shards, the same on every machine, whatever else is selected. A shard
    /// of few cells can be empty.
    pub fn contains(self, id: &str) -> bool {
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        hash % self.of as u64 == self.number as u64 - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (number, of) = text.split_once('/')?;
            Some((number.parse().ok()?, of.parse().ok()?))
        };
        let (number, of) = parse().ok_or_else(|| ShardError::Malformed(text.into()))?;
        Self::new(number, of)
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_in_exactly_one_shard_whatever_their_number() {
        let ids: Vec<_> = (0..300).map(|n| format!("deletion/disown/tcp-level-{n}t1g@poll")).collect();
        for of in (1..=40).chain([1000]) {
            let shards: Vec<_> = (1..=of).map(|number| Shard::new(number, of).unwrap()).collect();
            for id in &ids {
                assert_eq!(shards.iter().filter(|shard| shard.contains(id)).count(), 1, "{id} of {of}");
            }
        }
    }

    /// The machines of a run can have different builds of this program.
    #[test]
    fn the_hash_is_fnv_1a_in_every_build() {
        // The first three are test vectors of its authors: cbf29ce484222325, af63dc4c8601ec8c,
        // 85944171f73967e8.
        for (id, number) in
            [("", 38), ("a", 997), ("foobar", 969), ("deletion/disown/pipe-level-1t1g@poll", 206)]
        {
            assert!(Shard::new(number, 1000).unwrap().contains(id), "{id}");
        }
    }

    #[test]
    fn shards_read_back_and_malformed_ones_get_an_explanation() {
        assert_eq!("3/4".parse::<Shard>().unwrap().to_string(), "3/4");
        for (text, why) in [
            ("5/4", "there is no shard 5 of 4: they go from 1/4 to 4/4"),
            ("0/4", "there is no shard 0 of 4"),
            ("1/0", "1/0 is a shard of no machines"),
            ("1", "write K/N"),
            ("one/4", "write K/N"),
            ("-1/4", "write K/N"),
            ("1/4/4", "write K/N"),
        ] {
            let error = text.parse::<Shard>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
