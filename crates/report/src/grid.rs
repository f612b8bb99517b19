//! Counts for the tables: rows × backends.

use std::collections::BTreeMap;
use std::fmt;

use crate::cell::CellResult;
use crate::status::Status;

/// How many cells of each status there are at one place of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally(BTreeMap<Status, usize>);

impl Tally {
    /// The statuses that occur.
    pub fn statuses(&self) -> impl Iterator<Item = Status> + '_ {
        self.0.keys().copied()
    }

    /// Whether one of its cells makes a run fail.
    pub fn has_failures(&self) -> bool {
        self.statuses().any(Status::is_failure)
    }
}

/// `P14 F2`: a letter and a count per status; `-` if there is no cell.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("-");
        }
        for (index, (status, count)) in self.0.iter().enumerate() {
            write!(f, "{}{}{count}", if index == 0 { "" } else { " " }, status.letter())?;
        }
        Ok(())
    }
}

/// A table of tallies: one column per backend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The columns' headings, sorted.
    pub backends: Vec<String>,
    /// The rows' headings, sorted, and one tally per backend.
    pub rows: Vec<(String, Vec<Tally>)>,
}

impl Grid {
    /// One row per value of `row`.
    pub fn new<'a>(cells: &'a [CellResult], row: impl Fn(&'a CellResult) -> &'a str) -> Self {
        let mut backends: Vec<_> = cells.iter().map(|cell| cell.backend.clone()).collect();
        backends.sort();
        backends.dedup();
        let mut rows: BTreeMap<&str, Vec<Tally>> = BTreeMap::new();
        for cell in cells {
            let tallies = rows.entry(row(cell)).or_insert_with(|| vec![Tally::default(); backends.len()]);
            if let Ok(column) = backends.binary_search(&cell.backend) {
                *tallies[column].0.entry(cell.status).or_default() += 1;
            }
        }
        Self { rows: rows.into_iter().map(|(name, tallies)| (name.to_owned(), tallies)).collect(), backends }
    }

    /// What the letters that occur stand for: `P pass  F fail`.
    pub fn legend(&self) -> String {
        let occurs = |status: &Status| {
            self.rows.iter().flat_map(|(_, tallies)| tallies).any(|tally| tally.0.contains_key(status))
        };
        let parts: Vec<_> = Status::ALL.iter().filter(|status| occurs(status)).collect();
        let parts: Vec<_> = parts.iter().map(|status| format!("{} {status}", status.letter())).collect();
        parts.join("  ")
    }
}
