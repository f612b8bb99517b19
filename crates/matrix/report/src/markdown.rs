//! The Markdown report: a summary table, then each cell that did not pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use metadata::{CellResult, Results, Status};

use crate::costs;
use crate::grid::{Absent, Column, Grid, Overview};
pub use crate::text::markdown as text;
use crate::text::{code_block, code_span, markdown, table_code, tail};

/// GitHub limits a CI job summary to 1 MiB. This leaves room for other output of the job.
pub const MAX_BYTES: usize = 900 * 1024;
/// Tables of several targets are folded to about this many characters, so that a page needs no horizontal
/// scrolling.
const WIDTH: usize = 160;
/// The number of bytes of standard error shown per cell.
const STDERR_BYTES: usize = 4 * 1024;

/// Renders report.md, in at most [`MAX_BYTES`] bytes.
pub fn report(results: &Results) -> String {
    let mut out = summary(results);
    unsupported(&mut out, results);
    let shown = |cell: &&CellResult| !matches!(cell.status, Status::Pass | Status::Unsupported);
    let cells: Vec<_> = results.cells.iter().filter(shown).collect();
    if !cells.is_empty() {
        out.push_str("\n## Cells that did not pass\n");
    }
    for (index, cell) in cells.iter().enumerate() {
        let text = detail(cell, results.has_several_targets());
        // 200 bytes are reserved for the closing sentence.
        if out.len() + text.len() + 200 > MAX_BYTES {
            let left = cells.len() - index;
            let _ =
                write!(out, "\n{left} more cells did not pass and are omitted here: see `results.json`.\n");
            break;
        }
        out.push_str(&text);
    }
    let costs = costs::section(results);
    if out.len() + costs.len() <= MAX_BYTES {
        out.push_str(&costs);
    }
    out
}

fn summary(results: &Results) -> String {
    let mut out = String::from("# pollmatrix\n\n");
    if let Some(fault) = results.fault() {
        let fault = code_span(fault);
        let _ = writeln!(out, "**The fault {fault} was switched on: failures are expected.**\n");
    }
    if let Some(one_in) = results.inject_errors() {
        let _ =
            writeln!(out, "**Errors were injected: one in {one_in} system calls below the core failed.**\n");
    }
    if let Some(milliseconds) = results.late_data() {
        let _ =
            writeln!(out, "**Data were late: they arrived up to {milliseconds} ms after they were sent.**\n");
    }
    let interrupted = results.runs.iter().filter(|run| run.interrupted);
    let interrupted: BTreeSet<_> = interrupted.map(|run| run.target.as_str()).collect();
    if !interrupted.is_empty() && results.runs.len() > 1 {
        let interrupted: Vec<_> = interrupted.into_iter().map(markdown).collect();
        let _ = writeln!(
            out,
            "**Runs of {} were interrupted: their results are incomplete.**\n",
            interrupted.join(", ")
        );
    } else if !interrupted.is_empty() {
        out.push_str("**The run was interrupted: its results are incomplete.**\n\n");
    }
    for line in results.totals_lines() {
        let _ = writeln!(out, "{line}\n");
    }
    if let [run] = results.runs.as_slice() {
        let libraries = run.libraries();
        let libraries = if libraries.is_empty() { libraries } else { format!(", {libraries}") };
        let runner = if run.runner == "native" {
            String::new()
        } else {
            format!(" · runner {}", run.runner_in_full())
        };
        let system = format!("{}{runner} · {} {} on {}", run.target, run.os, run.kernel, run.machine);
        let system = system + &libraries;
        let build = format!("pollmatrix {} · {}", run.build(), run.started);
        let (system, build) = (markdown(&system), markdown(&build));
        let _ = writeln!(out, "{system}, {} CPUs · seed `{}` · {build}\n", run.cpus, run.seed);
    }
    if results.has_several_targets() {
        several_targets(&mut out, results);
    } else {
        let mut first = true;
        for (heading, cells) in layers(results) {
            if !first {
                out.push('\n');
            }
            first = false;
            out.push_str(heading);
            let grid = Grid::new(cells.into_iter(), CellResult::group);
            groups(&mut out, &grid, &(0..grid.columns.len()).collect::<Vec<_>>(), |column| {
                markdown(column.backend.as_deref().unwrap_or_default())
            });
            let _ = writeln!(out, "\n{}", grid.legend());
        }
    }
    if results.runs.len() > 1 {
        provenance(&mut out, results);
    }
    if !results.not_run.is_empty() {
        out.push_str("\n## Not run\n\n");
    }
    for not_run in &results.not_run {
        let line = format!("{} ({}): {}", not_run.target, not_run.os, not_run.reason);
        let _ = writeln!(out, "- {}", markdown(&line));
    }
    out
}

/// Returns the cells of each layer that is not empty, with the heading of the layer.
fn layers(results: &Results) -> Vec<(&'static str, Vec<&CellResult>)> {
    let contract: Vec<_> = results.contract().collect();
    let characterisation: Vec<_> = results.characterisation().collect();
    let mut layers = vec![("", contract), ("## Characterisation\n\n", characterisation)];
    layers.retain(|(_, cells)| !cells.is_empty());
    layers
}

/// Writes a table of targets × backends, then a table of scenario groups with one column per target and
/// backend.
fn several_targets(out: &mut String, results: &Results) {
    let absent = Absent::of(&results.cells);
    let overview = Overview::of(results, &absent);
    header(out, &overview.backends.iter().map(|backend| markdown(backend)).collect::<Vec<_>>());
    for (target, cells) in &overview.targets {
        let target = markdown(target);
        let cells: Vec<_> = cells.iter().map(|(text, _)| text.as_str()).collect();
        let _ = writeln!(out, "| {target} | {} |", cells.join(" | "));
    }
    // The target's name is the heading of each of its columns.
    let width_of = |target: &str, columns: &Range<usize>| columns.len() * (target.len() + " | ".len());
    for (heading, cells) in layers(results) {
        if !heading.is_empty() {
            let _ = write!(out, "\n{}", heading.trim_end_matches('\n'));
            out.push('\n');
        }
        let present = cells.into_iter().filter(|cell| !absent.has(&cell.target, &cell.backend));
        let grid =
            Grid::new(present.collect::<Vec<_>>().into_iter(), CellResult::group).with_not_run(results);
        for targets in grid.folded(WIDTH, width_of) {
            out.push('\n');
            let columns: Vec<_> = targets.into_iter().flat_map(|(_, columns)| columns).collect();
            groups(out, &grid, &columns, |column| match &column.backend {
                Some(backend) => format!("{}<br>{}", markdown(&column.target), markdown(backend)),
                None => markdown(&column.target),
            });
        }
        let _ = writeln!(out, "\n{}", grid.legend());
    }
}

/// Writes a table with some columns of the grid.
fn groups(out: &mut String, grid: &Grid, columns: &[usize], heading: impl Fn(&Column) -> String) {
    header(out, &columns.iter().map(|column| heading(&grid.columns[*column])).collect::<Vec<_>>());
    for (group, tallies) in &grid.rows {
        let cell = |column: &usize| match &grid.columns[*column].backend {
            Some(_) => tallies[*column].to_string(),
            None => "not run".to_owned(),
        };
        let cells: Vec<_> = columns.iter().map(cell).collect();
        let _ = writeln!(out, "| {} | {} |", markdown(group), cells.join(" | "));
    }
}

/// Writes the first two lines of a table whose first column has no heading.
fn header(out: &mut String, columns: &[String]) {
    let _ = writeln!(out, "| | {} |", columns.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(columns.len()));
}

/// Writes a table with one row per run.
fn provenance(out: &mut String, results: &Results) {
    out.push_str("\n## Runs\n\n");
    let columns = [
        "runner",
        "system",
        "machine",
        "libraries",
        "CPUs",
        "seed",
        "attempts",
        "cells",
        "pollmatrix",
        "started",
    ];
    header(out, &columns.map(str::to_owned));
    for run in &results.runs {
        let emulator = run.emulator.as_deref().map(|emulator| format!(" {}", table_code(emulator)));
        let cells = [
            markdown(&run.target),
            format!("{}{}", markdown(&run.runner), emulator.unwrap_or_default()),
            markdown(&format!("{} {}", run.os, run.kernel)),
            markdown(&run.machine),
            markdown(&run.libraries()),
            run.cpus.to_string(),
            format!("`{}`", run.seed),
            run.repeat.to_string(),
            markdown(&run.selection),
            markdown(&run.build()),
            markdown(&run.started),
        ];
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

/// Writes one line per reason for unsupported cells, with the number of cells.
fn unsupported(out: &mut String, results: &Results) {
    let mut reasons: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for cell in results.cells.iter().filter(|cell| cell.status == Status::Unsupported) {
        let (count, targets) =
            reasons.entry(cell.reason.as_deref().unwrap_or("no reason given")).or_default();
        *count += 1;
        targets.insert(&cell.target);
    }
    if !reasons.is_empty() {
        let here = if results.has_several_targets() { "" } else { " here" };
        let _ = writeln!(out, "\n## Unsupported{here}\n");
    }
    for (reason, (count, targets)) in reasons {
        let targets: Vec<_> = targets.into_iter().collect();
        let on =
            if results.has_several_targets() { format!(" on {}", targets.join(", ")) } else { String::new() };
        let _ = writeln!(out, "- {}", markdown(&format!("{count} cells{on}: {reason}")));
    }
}

fn detail(cell: &CellResult, several_targets: bool) -> String {
    let on = if several_targets { format!(" on {}", markdown(&cell.target)) } else { String::new() };
    let mut out = format!("\n### {} {}{on}\n\n", cell.status.label(), code_span(&cell.id));
    if let Some(reason) = &cell.reason {
        let _ = writeln!(out, "{}\n", code_block(reason));
    }
    for check in cell.checks.iter().filter(|check| !check.holds) {
        let text = format!(
            "{}\n  expected: {}\n  observed: {}\n  source:   {}{}",
            check.what,
            check.expected.join(" | "),
            check.observed,
            check.source,
            check.known().map(|known| format!("\n  known:    {known}")).unwrap_or_default()
        );
        let _ = writeln!(out, "{}\n", code_block(&text));
    }
    if !cell.stderr.is_empty() {
        let _ =
            writeln!(out, "The end of standard error:\n\n{}\n", code_block(tail(&cell.stderr, STDERR_BYTES)));
    }
    let _ = writeln!(out, "{}", code_span(&cell.reproducer));
    out
}

#[cfg(test)]
mod tests {
    use Status::{Fail, Pass, Unsupported};

    use super::*;
    use crate::samples;

    fn merged() -> Results {
        let rows = [("a", "epoll", Pass), ("a", "kqueue", Unsupported), ("a", "poll", Fail)];
        let mut results = samples::merged_of(["one", "two"].map(|target| {
            let mut results = samples::results(target, &rows);
            results.runs[0].emulator = Some("a | b".into());
            results
        }));
        results.not_run.push(samples::not_run("bsd"));
        results
    }

    #[test]
    fn a_merged_report_has_a_column_per_target_and_backend() {
        let text = report(&merged());
        for part in [
            "| | epoll | kqueue | poll |\n|---|---|---|---|\n| one | P1 | n/a | F1 |\n| two | P1 | n/a | F1 |\n| bsd | not run | not run | not run |\n",
            "| | one<br>epoll | one<br>poll | two<br>epoll | two<br>poll | bsd |\n",
            "| group | P1 | F1 | P1 | F1 | not run |\n",
            "\n## Not run\n\n- bsd (freebsd): no machine\n",
            "- 2 cells on one, two: why unsupported\n",
            "### fail `group/name/a@poll` on two\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn every_table_row_has_as_many_fields_as_the_table_has_headings() {
        let text = report(&merged());
        let mut columns = None;
        for line in text.lines() {
            let cells = line.starts_with('|').then(|| line.replace("\\|", "").matches('|').count());
            assert!(columns.is_none() || cells.is_none() || columns == cells, "{line}\n{text}");
            columns = cells;
        }
        assert_eq!(text.matches("native `a \\| b`").count(), 2, "{text}");
    }

    #[test]
    fn tables_of_many_targets_are_folded() {
        let of = |number| {
            let target = format!("armv{number}-linux-gnueabihf");
            samples::results(&target, &[("a", "epoll", Pass), ("a", "poll", Pass)])
        };
        let text = report(&samples::merged_of((10..24).map(of)));
        let widest =
            text.lines().filter(|line| line.contains("<br>")).map(|line| line.matches("<br>").count()).max();
        assert_eq!((widest, text.matches("<br>").count()), (Some(6), 28), "{text}");
    }

    #[test]
    fn a_failed_check_shows_the_evidence() {
        let mut results = merged();
        let failed = results.cells.iter_mut().find(|cell| cell.status == Fail).unwrap();
        failed.checks = vec![samples::check()];
        let text = report(&results);
        let known = "  known:    manual page or standard, since 6.1, until 6.9, https://example.org/bug\n";
        assert!(text.contains(known), "{text}");
    }

    #[test]
    fn interrupted_runs_are_named() {
        let mut results = merged();
        results.runs[1].interrupted = true;
        assert!(report(&results).contains("**Runs of two were interrupted"));
    }

    #[test]
    fn a_report_of_many_failures_fits_into_a_job_summary() {
        let cells = (0..4000).map(|number| {
            let mut cell = CellResult::without_attempt(
                samples::planned("here", &format!("tcp-level-{number}t1g"), "epoll"),
                Status::Crash,
                "why".repeat(100),
            );
            cell.stderr = "x".repeat(16 * 1024);
            cell
        });
        let results = Results::new(samples::run("here"), Vec::new(), cells.collect());
        let text = report(&results);
        assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());
        assert!(text.contains("more cells did not pass and are omitted here"));
    }
}
