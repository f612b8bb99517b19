//! Tables for a terminal.

use std::fmt::Write;
use std::ops::Range;

use anstyle::AnsiColor;
use metadata::{CellResult, Results, Run, Status, one_line};

use crate::grid::{Absent, Grid, Overview, Tally};
use crate::table::{Cell, GAP, Table};
use crate::text::shortened;

/// Tables of several targets are folded to this width, whatever the width of the terminal is, so that equal
/// results give equal output.
const WIDTH: usize = 100;
/// The longest name of a runner in the table of runs. The report has the whole name.
const LONGEST_RUNNER: usize = 40;

/// Renders the results as tables: scenarios as rows, backends as columns, a letter and a count per status,
/// and the legend.
///
/// Characterisation cells have a separate table. Its rows are groups, or scenarios if there are no contract
/// cells.
///
/// With several targets, the first table has targets as rows and backends as columns. Then follow tables of
/// scenarios, each with as many targets side by side as fit, then the runs, and the targets that were not
/// run.
pub fn matrix(results: &Results, colour: bool) -> String {
    let mut out = String::new();
    let absent = match results.has_several_targets() {
        true => Absent::of(&results.cells),
        false => Absent::default(),
    };
    let alone = results.contract().next().is_none() && !results.cells.is_empty();
    if !alone {
        if results.has_several_targets() {
            overview(&mut out, results, &absent, colour);
        }
        let present = results.contract().filter(|cell| !absent.has(&cell.target, &cell.backend));
        tables(&mut out, results, &Grid::new(present, scenario), colour);
    }
    if results.characterisation().next().is_some() {
        let present = results.characterisation().filter(|cell| !absent.has(&cell.target, &cell.backend));
        let grid = Grid::new(present, if alone { scenario } else { CellResult::group });
        let _ = writeln!(
            out,
            "{}characterisation: the answers of each poller, compared with the recorded ones",
            if alone { "" } else { "\n" }
        );
        tables(&mut out, results, &grid, colour);
    }
    provenance(&mut out, results);
    out
}

/// Writes a grid, folded into several tables if necessary, and its legend.
fn tables(out: &mut String, results: &Results, grid: &Grid, colour: bool) {
    let width_of = |target: &str, columns: &Range<usize>| {
        let (width, missing) = room(grid, target, columns);
        width + missing
    };
    let width = if results.has_several_targets() { WIDTH } else { usize::MAX };
    for targets in grid.folded(width, width_of) {
        let columns = targets.iter().flat_map(|(_, columns)| columns.clone()).collect::<Vec<_>>();
        if results.has_several_targets() {
            let _ = writeln!(out, "{}", headings(grid, &targets));
        }
        let rows = grid.rows.iter().map(|(name, tallies)| {
            let tallies = columns.iter().map(|column| &tallies[*column]);
            plain(name).chain(tallies.map(|tally| coloured(tally.to_string(), tally))).collect()
        });
        let backend = |column: &usize| grid.columns[*column].backend.clone().unwrap_or_default();
        let header: Vec<_> = columns.iter().map(backend).collect();
        let mut table = table(&header, rows);
        if results.has_several_targets() {
            widen(&mut table, grid, &targets);
        }
        let _ = writeln!(out, "{}", table.text(colour));
    }
    let _ = writeln!(out, "{}", grid.legend());
}

fn scenario(cell: &CellResult) -> &str {
    &cell.scenario
}

fn table(header: &[String], rows: impl Iterator<Item = Vec<Cell>>) -> Table {
    let mut table = Table::default();
    table.add(std::iter::once("").chain(header.iter().map(String::as_str)));
    rows.for_each(|row| table.add_coloured(row));
    table
}

fn plain(text: &str) -> std::iter::Once<Cell> {
    std::iter::once((one_line(text).into_owned(), None))
}

fn coloured(text: String, tally: &Tally) -> Cell {
    (text, Some(colour_of(tally)))
}

fn colour_of(tally: &Tally) -> AnsiColor {
    if tally.has_failures() {
        AnsiColor::BrightRed
    } else if tally.statuses().all(|status| status == Status::Unsupported) {
        AnsiColor::BrightBlack
    } else if tally.statuses().any(|status| matches!(status, Status::Permitted | Status::KnownFail)) {
        AnsiColor::BrightYellow
    } else {
        AnsiColor::BrightGreen
    }
}

/// Returns the total width of a target's columns, and the width that the target's name needs in addition.
fn room(grid: &Grid, target: &str, columns: &Range<usize>) -> (usize, usize) {
    let width: usize = columns.clone().map(|column| grid.width(column) + GAP).sum();
    (width, (target.chars().count() + GAP).saturating_sub(width))
}

/// Returns the line of target names above the backends.
fn headings(grid: &Grid, targets: &[(&str, Range<usize>)]) -> String {
    let mut line = " ".repeat(grid.heading_width() + GAP);
    for (target, columns) in targets {
        let (width, missing) = room(grid, target, columns);
        let _ = write!(line, "{:1$}", one_line(target), width + missing);
    }
    line.trim_end().to_owned()
}

/// Widens the last column of each target until the target's name fits above its columns.
fn widen(table: &mut Table, grid: &Grid, targets: &[(&str, Range<usize>)]) {
    // Column 0 holds the row headings, so the index of a target's last column is the number of columns so
    // far.
    let mut last = 0;
    for (target, columns) in targets {
        last += columns.len();
        let (_, missing) = room(grid, target, columns);
        table.space.insert(last, missing);
    }
}

/// Writes a table of targets × backends, and the reasons for absent backends.
fn overview(out: &mut String, results: &Results, absent: &Absent<'_>, colour: bool) {
    let overview = Overview::of(results, absent);
    let rows = overview.targets.iter().map(|(target, cells)| {
        let cells = cells.iter().map(|(text, tally)| match text.as_str() {
            "n/a" | "not run" => (text.clone(), Some(AnsiColor::BrightBlack)),
            _ => coloured(text.clone(), tally),
        });
        plain(target).chain(cells).collect()
    });
    let _ = writeln!(out, "{}", table(&overview.backends, rows).text(colour));
    for (reason, targets) in absent.reasons() {
        let _ = writeln!(out, "n/a  {} ({} targets)", one_line(reason), targets.len());
    }
    if !absent.reasons().is_empty() {
        out.push('\n');
    }
}

/// Writes a table of runs if there are several, and the targets that were not run.
fn provenance(out: &mut String, results: &Results) {
    if results.runs.len() > 1 {
        let rows = results.runs.iter().map(|run| {
            let interrupted = if run.interrupted { "interrupted" } else { "" };
            let runner = shortened(&run.runner_in_full(), LONGEST_RUNNER);
            let (seed, cpus) = (run.seed.to_string(), run.cpus.to_string());
            [run.target.clone(), runner, kernel(run), cpus, seed, interrupted.to_owned()]
                .map(|text| (one_line(&text).into_owned(), None))
                .into()
        });
        let header = ["runner", "kernel", "CPUs", "seed", ""].map(str::to_owned);
        let _ = write!(out, "\n{}", table(&header, rows).text(false));
    }
    if !results.not_run.is_empty() {
        out.push('\n');
    }
    for not_run in &results.not_run {
        let line = format!("{}: {}", not_run.target, not_run.reason);
        let _ = writeln!(out, "not run  {}", one_line(&line));
    }
}

fn kernel(run: &Run) -> String {
    format!("{} {}, {}", run.os, run.kernel, run.machine)
}

#[cfg(test)]
mod tests {
    use Status::{Fail, Pass, Unsupported};

    use super::*;
    use crate::samples;

    const ROWS: [(&str, &str, Status); 5] = [
        ("a", "epoll", Pass),
        ("a", "kqueue", Unsupported),
        ("a", "poll", Pass),
        ("b", "poll", Fail),
        ("a", "select", Pass),
    ];

    /// As many targets as matrix.yml has.
    fn many() -> Results {
        samples::merged_of((0..14).map(|number| {
            let mut results = samples::results(&format!("armv{number:02}-linux-gnueabihf"), &ROWS);
            results.runs[0].emulator = Some(format!("qemu-arm -L {}", "x".repeat(200)));
            results
        }))
    }

    #[test]
    fn results_of_one_target_are_one_table_with_every_backend() {
        let text = matrix(&samples::results("here", &ROWS), false);
        let expected = "            epoll  kqueue  poll   select\n\
                        group/name  P1     U1      P1 F1  P1\n\
                        \n\
                        P pass  F fail  U unsupported\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn characterisation_rows_are_groups_below_contract_cells_and_scenarios_otherwise() {
        let mut results = samples::results("here", &[("a", "poll", Pass), ("b", "poll", Fail)]);
        results.cells[1].layer = metadata::Layer::Characterisation;
        let expected = "            poll\n\
                        group/name  P1\n\
                        \n\
                        P pass\n\
                        \n\
                        characterisation: the answers of each poller, compared with the recorded ones\n       \
                        poll\n\
                        group  F1\n\
                        \n\
                        F fail\n";
        assert_eq!(matrix(&results, false), expected);
        results.cells.remove(0);
        let expected = "characterisation: the answers of each poller, compared with the recorded ones\n            \
                        poll\n\
                        group/name  F1\n\
                        \n\
                        F fail\n";
        assert_eq!(matrix(&results, false), expected);
    }

    #[test]
    fn two_targets_are_side_by_side_with_their_own_backends() {
        let targets = ["one", "a-target-with-quite-a-long-name"];
        let mut results = samples::merged_of(targets.map(|target| samples::results(target, &ROWS)));
        results.not_run.push(samples::not_run("bsd"));
        let text = matrix(&results, false);
        let lines: Vec<_> = text.lines().collect();
        let expected = [
            "                                 epoll    kqueue   poll     select",
            "a-target-with-quite-a-long-name  P1       n/a      P1 F1    P1",
            "one                              P1       n/a      P1 F1    P1",
            "bsd                              not run  not run  not run  not run",
            "",
            "n/a  why unsupported (2 targets)",
            "",
            "            a-target-with-quite-a-long-name  one",
            "            epoll  poll   select             epoll  poll   select",
            "group/name  P1     P1 F1  P1                 P1     P1 F1  P1",
            "",
            "P pass  F fail",
            "",
        ];
        assert_eq!(lines[..expected.len()], expected, "{text}");
        assert!(text.ends_with("\nnot run  bsd: no machine\n"), "{text}");
    }

    #[test]
    fn fourteen_targets_fit_into_100_columns() {
        let text = matrix(&many(), false);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{text}");
        for number in 0..14 {
            let target = format!("armv{number:02}-linux-gnueabihf");
            // In the overview, above its columns, and in the table of runs.
            assert_eq!(text.matches(&target).count(), 3, "{text}");
        }
    }

    #[test]
    fn colours_do_not_change_the_layout() {
        let plain = matrix(&many(), false);
        let coloured = matrix(&many(), true);
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        stripped.push_str(rest);
        let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_ne!(plain, coloured);
        assert_eq!(trimmed(&stripped), trimmed(&plain));
    }
}
