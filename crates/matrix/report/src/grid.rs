//! Counts for the tables: rows × targets × backends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use metadata::{CellResult, Results, Status};

/// The number of cells per status, in one field of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally(BTreeMap<Status, usize>);

impl Tally {
    /// Returns the statuses that occur.
    pub fn statuses(&self) -> impl Iterator<Item = Status> + '_ {
        self.0.keys().copied()
    }

    /// Returns whether any of the cells makes a run fail.
    pub fn has_failures(&self) -> bool {
        self.statuses().any(Status::is_failure)
    }

    /// Returns each status that occurs, with its number of cells.
    pub fn counts(&self) -> impl Iterator<Item = (Status, usize)> + '_ {
        self.0.iter().map(|(status, count)| (*status, *count))
    }

    /// Returns the number of cells whose status satisfies `predicate`.
    pub(crate) fn count_of(&self, predicate: impl Fn(Status) -> bool) -> usize {
        self.counts().filter(|(status, _)| predicate(*status)).map(|(_, count)| count).sum()
    }

    /// Adds one cell.
    pub(crate) fn count(&mut self, status: Status) {
        *self.0.entry(status).or_default() += 1;
    }
}

/// Written as a letter and a count per status, `P14 F2`, or as `-` if there is no cell.
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

/// A column of a [`Grid`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Column {
    /// The target.
    pub target: String,
    /// The backend. `None` for a target that was not run.
    pub backend: Option<String>,
}

/// A table of tallies: one column per target and backend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The columns, sorted.
    pub columns: Vec<Column>,
    /// The headings of the rows, sorted, each with one tally per column.
    pub rows: Vec<(String, Vec<Tally>)>,
}

impl Grid {
    /// Creates a table with one row per value of `row`, and one column per target and backend of the cells.
    pub fn new<'a>(
        cells: impl Iterator<Item = &'a CellResult> + Clone,
        row: impl Fn(&'a CellResult) -> &'a str,
    ) -> Self {
        let columns: BTreeMap<_, _> =
            cells.clone().map(|cell| ((cell.target.as_str(), cell.backend.as_str()), 0)).collect();
        let columns: BTreeMap<_, _> =
            columns.into_keys().enumerate().map(|(index, column)| (column, index)).collect();
        let mut rows: BTreeMap<&str, Vec<Tally>> = BTreeMap::new();
        for cell in cells {
            let tallies = rows.entry(row(cell)).or_insert_with(|| vec![Tally::default(); columns.len()]);
            tallies[columns[&(cell.target.as_str(), cell.backend.as_str())]].count(cell.status);
        }
        let column = |(target, backend): (&str, &str)| Column {
            target: target.to_owned(),
            backend: Some(backend.to_owned()),
        };
        Self {
            columns: columns.into_keys().map(column).collect(),
            rows: rows.into_iter().map(|(name, tallies)| (name.to_owned(), tallies)).collect(),
        }
    }

    /// Adds one column per target that was not run.
    pub(crate) fn with_not_run(mut self, results: &Results) -> Self {
        let targets: BTreeSet<_> = results.not_run.iter().map(|not_run| not_run.target.clone()).collect();
        for (_, tallies) in &mut self.rows {
            tallies.resize(tallies.len() + targets.len(), Tally::default());
        }
        self.columns.extend(targets.into_iter().map(|target| Column { target, backend: None }));
        self
    }

    /// Returns the columns of each target.
    pub fn targets(&self) -> Vec<(&str, Range<usize>)> {
        let mut targets: Vec<(&str, Range<usize>)> = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            match targets.last_mut() {
                Some((target, columns)) if *target == column.target => columns.end = index + 1,
                _ => targets.push((&column.target, index..index + 1)),
            }
        }
        targets
    }

    /// Distributes the targets over several tables, each at most `width` characters wide. `width_of` returns
    /// the width of the columns of one target. The columns of one target stay in one table, even if they are
    /// wider than `width`.
    pub(crate) fn folded(
        &self,
        width: usize,
        width_of: impl Fn(&str, &Range<usize>) -> usize,
    ) -> Vec<Vec<(&str, Range<usize>)>> {
        let mut tables: Vec<Vec<(&str, Range<usize>)>> = Vec::new();
        let mut used = 0;
        for (target, columns) in self.targets() {
            let needed = width_of(target, &columns);
            match tables.last_mut() {
                Some(table) if used + needed <= width => table.push((target, columns)),
                _ => {
                    tables.push(vec![(target, columns)]);
                    used = self.heading_width();
                }
            }
            used += needed;
        }
        tables
    }

    /// Returns the width of the longest row heading, in characters.
    pub(crate) fn heading_width(&self) -> usize {
        self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0)
    }

    /// Returns the width of the widest entry of a column, in characters.
    pub(crate) fn width(&self, column: usize) -> usize {
        let heading = self.columns[column].backend.as_deref().unwrap_or_default().chars().count();
        self.rows.iter().map(|(_, tallies)| tallies[column].to_string().len()).max().unwrap_or(0).max(heading)
    }

    /// Returns the meanings of the letters that occur: `P pass  F fail`.
    pub fn legend(&self) -> String {
        let occurs = |status: &Status| {
            self.rows.iter().flat_map(|(_, tallies)| tallies).any(|tally| tally.0.contains_key(status))
        };
        let parts: Vec<_> = Status::ALL.iter().filter(|status| occurs(status)).collect();
        let parts: Vec<_> =
            parts.iter().map(|status| format!("{} {}", status.letter(), status.label())).collect();
        parts.join("  ")
    }
}

/// The backends that are absent on a target: all their cells there are unsupported, for the same reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Absent<'a>(BTreeMap<(&'a str, &'a str), &'a str>);

impl<'a> Absent<'a> {
    pub(crate) fn of(cells: &'a [CellResult]) -> Self {
        let mut reasons: BTreeMap<_, Option<&str>> = BTreeMap::new();
        for cell in cells {
            let reason = cell.reason.as_deref().filter(|_| cell.status == Status::Unsupported);
            let known = reasons.entry((cell.target.as_str(), cell.backend.as_str())).or_insert(reason);
            if *known != reason {
                *known = None;
            }
        }
        Self(reasons.into_iter().filter_map(|(column, reason)| Some((column, reason?))).collect())
    }

    /// Returns whether the backend is absent on the target.
    pub(crate) fn has(&self, target: &str, backend: &str) -> bool {
        self.0.contains_key(&(target, backend))
    }

    /// Returns the reason why the backend is absent on the target, if it is.
    pub(crate) fn reason(&self, target: &str, backend: &str) -> Option<&'a str> {
        self.0.get(&(target, backend)).copied()
    }

    /// Returns each reason with its targets.
    pub(crate) fn reasons(&self) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let mut reasons: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for ((target, _), reason) in &self.0 {
            reasons.entry(*reason).or_default().insert(*target);
        }
        reasons
    }
}

/// A table of targets × backends. Each field has the text to show: the tally of the contract cells, `n/a` or
/// `not run`.
pub(crate) struct Overview {
    /// The columns.
    pub(crate) backends: Vec<String>,
    /// The rows.
    pub(crate) targets: Vec<(String, Vec<(String, Tally)>)>,
}

impl Overview {
    pub(crate) fn of(results: &Results, absent: &Absent<'_>) -> Self {
        let mut tallies: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
        for cell in results.contract() {
            tallies.entry((&cell.target, &cell.backend)).or_default().count(cell.status);
        }
        let backends: BTreeSet<&str> = results.cells.iter().map(|cell| cell.backend.as_str()).collect();
        let not_run: BTreeSet<&str> = results.not_run.iter().map(|not_run| not_run.target.as_str()).collect();
        let row = |target: &str| {
            let cell = |backend: &&str| {
                let tally = tallies.get(&(target, *backend)).cloned().unwrap_or_default();
                let text = match () {
                    () if not_run.contains(target) => "not run".to_owned(),
                    () if absent.has(target, backend) => "n/a".to_owned(),
                    () => tally.to_string(),
                };
                (text, tally)
            };
            (target.to_owned(), backends.iter().map(cell).collect())
        };
        let targets = results.targets().into_iter().chain(not_run.iter().copied()).map(row).collect();
        Self { backends: backends.iter().map(|backend| (*backend).to_owned()).collect(), targets }
    }
}

#[cfg(test)]
mod tests {
    use Status::{Fail, Pass, Unsupported};

    use super::*;
    use crate::samples;

    fn cells() -> Vec<CellResult> {
        let rows = [("a", "epoll", Pass), ("a", "kqueue", Unsupported), ("a", "poll", Fail)];
        ["one", "two"].iter().flat_map(|target| samples::results(target, &rows).cells).collect()
    }

    #[test]
    fn columns_are_targets_and_their_backends() {
        let cells = cells();
        let grid = Grid::new(cells.iter(), |cell| &cell.scenario);
        assert_eq!(grid.targets(), [("one", 0..3), ("two", 3..6)]);
        assert_eq!(grid.rows.len(), 1);
        let tallies: Vec<_> = grid.rows[0].1.iter().map(Tally::to_string).collect();
        assert_eq!(tallies, ["P1", "U1", "F1", "P1", "U1", "F1"]);
        assert_eq!(grid.legend(), "P pass  F fail  U unsupported");
    }

    #[test]
    fn tables_are_folded_between_targets() {
        let cells = cells();
        let grid = Grid::new(cells.iter(), |cell| &cell.scenario);
        let (heading, target) = ("group/name".len(), 21);
        let tables = |width| grid.folded(width, |_, _| target).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(tables(heading + 2 * target), [2]);
        assert_eq!(tables(heading + 2 * target - 1), [1, 1]);
        assert_eq!(tables(1), [1, 1]);
    }

    #[test]
    fn a_backend_is_absent_where_all_its_cells_are_unsupported_for_one_reason() {
        let mut cells = cells();
        assert_eq!(
            Absent::of(&cells).reasons(),
            BTreeMap::from([("why unsupported", ["one", "two"].into())])
        );
        let mut other = samples::cell("one", "b", "kqueue", Unsupported);
        other.reason = Some("another reason".into());
        cells.push(other);
        cells.push(samples::cell("two", "b", "kqueue", Pass));
        assert_eq!(Absent::of(&cells), Absent::default());
    }
}
