//! Splits cells over several machines, evenly by duration.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::cells::Cell;

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

    /// Returns the number of this shard, counted from 1.
    pub fn number(self) -> usize {
        self.number
    }

    /// Returns the number of shards.
    pub fn of(self) -> usize {
        self.of
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

/// Returns the cells of each of `of` machines, in their order. `of` is at most the number of cells, so every
/// machine has at least one.
pub(crate) fn split(cells: Vec<Cell>, of: usize, durations: &Durations) -> Vec<Vec<Cell>> {
    let places = places(&cells, of, durations);
    let mut parts = vec![Vec::new(); of];
    for (cell, place) in cells.into_iter().zip(places) {
        parts[place].push(cell);
    }
    parts
}

/// Assigns each cell to one of `of` machines, counted from 0: the longest cell first, each to the machine
/// with the shortest total time.
///
/// Each backend is split separately, because the backends that a machine can run depend on its system. The
/// cells of every set of backends are then spread evenly, and every machine computes the same split whatever
/// its system is.
fn places(cells: &[Cell], of: usize, durations: &Durations) -> Vec<usize> {
    let mut places = vec![0; cells.len()];
    let mut total = vec![0; of];
    let mut by_backend: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate() {
        by_backend.entry(&cell.id.backend).or_default().push(index);
    }
    for mut indices in by_backend.into_values() {
        // Ids break ties, so that the order in which cells were listed does not matter.
        indices.sort_by_key(|index| {
            let id = &cells[*index].id;
            (std::cmp::Reverse(durations.of(&id.scenario)), id)
        });
        let mut load = vec![0; of];
        for index in indices {
            // At least 1 ms: cells with a duration of 0 must not all go to the same machine.
            let duration = durations.of(&cells[index].id.scenario).max(1);
            let place = (0..of).min_by_key(|place| (load[*place], total[*place])).unwrap_or(0);
            load[place] += duration;
            total[place] += duration;
            places[index] = place;
        }
    }
    places
}

/// The duration of a cell of each scenario, in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Durations {
    measured: BTreeMap<String, u64>,
    /// The duration of a scenario without a measurement.
    median: u64,
}

impl Durations {
    /// Returns the durations that are built into this program.
    pub fn built_in() -> Self {
        Self::from_json(include_str!("../durations.json")).expect("a test reads the same text")
    }

    /// Reads the text that [`to_json`](Self::to_json) writes.
    ///
    /// # Errors
    /// The text has another form.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self::of_scenarios(serde_json::from_str(text)?))
    }

    /// Computes the mean of each scenario's cells, from pairs of a scenario and the milliseconds of one of
    /// its cells.
    pub fn measured<'a>(cells: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (scenario, milliseconds) in cells {
            let (sum, count) = sums.entry(scenario.to_owned()).or_default();
            *sum += milliseconds;
            *count += 1;
        }
        Self::of_scenarios(sums.into_iter().map(|(id, (sum, count))| (id, sum / count)).collect())
    }

    fn of_scenarios(measured: BTreeMap<String, u64>) -> Self {
        let mut sorted: Vec<_> = measured.values().copied().collect();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(1);
        Self { measured, median }
    }

    /// Replaces durations by those of `newer`, and removes the scenarios that are not in `scenarios`.
    pub fn update<'a>(self, newer: Self, scenarios: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known: BTreeMap<_, _> = self.measured.into_iter().chain(newer.measured).collect();
        let kept = scenarios.into_iter().filter_map(|id| known.remove_entry(id));
        Self::of_scenarios(kept.collect())
    }

    /// Returns the duration of a cell of this scenario: as measured, or that of the median scenario.
    pub fn of(&self, scenario: &str) -> u64 {
        self.measured.get(scenario).copied().unwrap_or(self.median)
    }

    /// Returns the scenarios with a measurement.
    pub fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.measured.keys().map(String::as_str)
    }

    /// Returns the text of `crates/matrix/durations.json`.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(&self.measured);
        text.expect("the keys are strings") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use metadata::{CellId, Layer, Mode, Transport, Variant};

    use super::*;

    /// Returns cells of every measured scenario, more for some than for others.
    fn cells() -> Vec<Cell> {
        let durations = Durations::built_in();
        let scenarios = durations.measured.keys().enumerate();
        let cells = scenarios.flat_map(|(index, scenario)| {
            ["epoll", "kqueue", "poll", "select"].into_iter().flat_map(move |backend| {
                (1..=1 + index % 8).map(move |threads| cell(scenario, backend, threads))
            })
        });
        cells.collect()
    }

    fn cell(scenario: &str, backend: &str, threads: usize) -> Cell {
        let variant = Variant { transport: Transport::Tcp, trigger: Mode::Level, threads, groups: 1 };
        let id = CellId {
            scenario: scenario.to_owned(),
            variant: variant.to_string(),
            backend: backend.to_owned(),
        };
        Cell { id, variant, layer: Layer::Contract, timeout: Duration::from_secs(60) }
    }

    fn time(cells: &[Cell], durations: &Durations) -> u64 {
        cells.iter().map(|cell| durations.of(&cell.id.scenario)).sum()
    }

    #[test]
    fn every_cell_is_in_exactly_one_shard_whatever_their_number() {
        let (cells, durations) = (cells(), Durations::built_in());
        for of in (1..=40).chain([64, 100, 500, cells.len()]) {
            let mut seen = BTreeSet::new();
            let mut count = 0;
            for part in split(cells.clone(), of, &durations) {
                assert!(!part.is_empty(), "one of {of} machines has no cells");
                count += part.len();
                seen.extend(part.into_iter().map(|cell| cell.id));
            }
            assert_eq!((seen.len(), count), (cells.len(), cells.len()), "{of} shards");
        }
    }

    #[test]
    fn shards_are_even_for_every_backend() {
        let (cells, durations) = (cells(), Durations::built_in());
        for of in [2, 3, 4, 7] {
            let parts = split(cells.clone(), of, &durations);
            for backend in ["epoll", "kqueue", "poll", "select"] {
                let of_backend = |part: &Vec<Cell>| -> Vec<Cell> {
                    part.iter().filter(|cell| cell.id.backend == backend).cloned().collect()
                };
                let times: Vec<_> = parts.iter().map(|part| time(&of_backend(part), &durations)).collect();
                let longest = cells.iter().map(|cell| durations.of(&cell.id.scenario)).max().unwrap();
                let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
                assert!(most - least <= longest, "{backend} in {of} shards: {times:?} ms");
            }
        }
    }

    #[test]
    fn the_split_does_not_depend_on_the_order_of_the_cells() {
        let (cells, durations) = (cells(), Durations::built_in());
        let ids = |cells| -> Vec<BTreeSet<_>> {
            let parts = split(cells, 3, &durations).into_iter();
            parts.map(|part| part.into_iter().map(|cell| cell.id).collect()).collect()
        };
        let backwards = cells.iter().rev().cloned().collect();
        assert_eq!(ids(cells), ids(backwards));
    }

    #[test]
    fn a_long_cell_is_alone_where_the_others_are_short() {
        let one = |scenario: &str| cell(scenario, "poll", 1);
        let cells = vec![one("deletion/disown"), one("deletion/close-once"), one("deletion/own-handler")];
        let durations = Durations::measured([
            ("deletion/disown", 1),
            ("deletion/close-once", 10),
            ("deletion/own-handler", 3),
        ]);
        let parts = split(cells, 2, &durations).into_iter();
        let scenarios: Vec<Vec<_>> =
            parts.map(|part| part.into_iter().map(|cell| cell.id.scenario).collect()).collect();
        assert_eq!(scenarios[0], ["deletion/close-once"]);
        assert_eq!(scenarios[1], ["deletion/disown", "deletion/own-handler"]);
    }

    #[test]
    fn durations_are_means_and_an_unknown_one_is_the_median() {
        let durations = Durations::measured([("a/a", 1), ("a/a", 3), ("b/b", 10), ("c/c", 100)]);
        let of = ["a/a", "b/b", "c/c", "d/d"].map(|scenario| durations.of(scenario));
        assert_eq!(of, [2, 10, 100, 10]);
        assert_eq!(Durations::from_json(&durations.to_json()).unwrap(), durations);
    }

    #[test]
    fn newer_durations_replace_older_ones_and_unknown_scenarios_are_removed() {
        let older = Durations::measured([("a/a", 1), ("b/b", 2), ("gone/gone", 3)]);
        let newer = Durations::measured([("b/b", 20), ("c/c", 30)]);
        let updated = older.update(newer, ["a/a", "b/b", "c/c", "never/run"]);
        assert_eq!(updated, Durations::measured([("a/a", 1), ("b/b", 20), ("c/c", 30)]));
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
