//! The report to look around in: one file with everything in it, which asks no network for anything.
//!
//! Summary and provenance are HTML. The matrix and its cells are made by the page's script, from the data in it. A
//! policy in the page allows its own two scripts and its own style, by their hashes, and nothing else: a text of a result
//! file that got out of its place could still not run, load or send anything.

pub mod catalogue;
mod data;
mod shell;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use metadata::{NotRun, Results, Run, Status};
use serde::Serialize;

use crate::conformance::{Conformance, Verdict};
use crate::grid::{Absent, Grid, Overview, Tally};
use data::Data;
use shell::Shell;

const SHELL: Shell<'_> = Shell {
    template: include_str!("template.html"),
    style: include_str!("report.css"),
    scripts: &[
        include_str!("model.js"),
        include_str!("filter.js"),
        include_str!("dom.js"),
        include_str!("tally.js"),
        include_str!("grid.js"),
        include_str!("panel.js"),
        include_str!("page.js"),
        include_str!("theme-button.js"),
    ],
};

/// The text of report.html. The same results give the same text.
pub fn report(results: &Results) -> String {
    let absent = Absent::of(&results.cells);
    let grid = columns(results);
    SHELL.page(Page {
        totals: results.totals_lines().join(" · "),
        fault: results.fault(),
        inject_errors: results.inject_errors(),
        interrupted: interrupted(results),
        characterised: results.cells.iter().any(|cell| !cell.is_contract()),
        conformance: Conformance::of(results)
            .into_iter()
            .map(|(name, found)| Card::of(name, &found))
            .collect(),
        overview: results.has_several_targets().then(|| Table::of(results, &absent)),
        absent: absent_here(results, &absent),
        legend: Status::ALL
            .into_iter()
            .filter(|status| results.cells.iter().any(|cell| cell.status == *status))
            .map(Part::name)
            .collect(),
        runs: results.runs.iter().map(Provenance::of).collect(),
        not_run: &results.not_run,
        unsupported: unsupported(results, &absent),
        data: Data::of(results, &grid).to_json(),
    })
}

/// The columns and scenarios of the matrix: those of every other form of the report, and the backends that targets do
/// not have, which can be shown here.
fn columns(results: &Results) -> Grid {
    Grid::new(results.cells.iter(), |cell| &cell.scenario).with_not_run(results)
}

/// What the template is filled in with.
#[derive(Serialize)]
struct Page<'a> {
    totals: String,
    fault: Option<&'a str>,
    inject_errors: Option<NonZeroU32>,
    interrupted: Vec<&'a str>,
    characterised: bool,
    conformance: Vec<Card<'a>>,
    overview: Option<Table>,
    absent: Vec<AbsentHere<'a>>,
    legend: Vec<Part>,
    runs: Vec<Provenance<'a>>,
    not_run: &'a [NotRun],
    unsupported: Vec<Unsupported<'a>>,
    data: String,
}

/// The name of a status' style.
const fn style_of(status: Status) -> &'static str {
    match status {
        Status::Pass => "good",
        Status::Permitted | Status::KnownFail => "documented",
        Status::Fail | Status::Timeout | Status::Crash | Status::UnexpectedPass => "bad",
        Status::Flaky | Status::Broken => "unsure",
        Status::Unsupported | Status::NotRun => "absent",
    }
}

/// One status of a tally.
#[derive(Serialize)]
struct Part {
    letter: char,
    name: &'static str,
    class: &'static str,
    count: usize,
}

impl Part {
    fn name(status: Status) -> Self {
        Self { letter: status.letter(), name: status.name(), class: style_of(status), count: 0 }
    }

    fn all_of(tally: &Tally) -> Vec<Self> {
        tally.counts().map(|(status, count)| Self { count, ..Self::name(status) }).collect()
    }
}

/// The headline of a backend.
#[derive(Serialize)]
struct Card<'a> {
    name: &'a str,
    class: &'static str,
    verdict: String,
    contract: Vec<Part>,
    characterisation: Vec<Part>,
    targets: String,
}

impl<'a> Card<'a> {
    fn of(name: &'a str, found: &Conformance) -> Self {
        let verdict = found.verdict();
        let class = match verdict {
            Verdict::NoAnswer => "absent",
            Verdict::Holds { .. } => "good",
            Verdict::Incomplete { .. } => "unsure",
            Verdict::Fails { .. } => "bad",
        };
        let targets = match found.targets {
            0 => String::new(),
            1 => "on 1 target".to_owned(),
            several => format!("on {several} targets"),
        };
        let (contract, characterisation) =
            (Part::all_of(&found.contract), Part::all_of(&found.characterisation));
        Self { name, class, verdict: verdict.to_string(), contract, characterisation, targets }
    }
}

/// Targets × backends, of the contract cells.
#[derive(Serialize)]
struct Table {
    backends: Vec<String>,
    rows: Vec<TableRow>,
}

#[derive(Serialize)]
struct TableRow {
    target: String,
    places: Vec<Place>,
}

/// A tally, or words in its place.
#[derive(Serialize)]
struct Place {
    words: Option<String>,
    parts: Vec<Part>,
}

impl Table {
    fn of(results: &Results, absent: &Absent<'_>) -> Self {
        let overview = Overview::of(results, absent);
        let place = |(text, tally): (String, Tally)| {
            let parts = Part::all_of(&tally);
            let is_tally = tally.to_string() == text && !parts.is_empty();
            Place { words: (!is_tally).then_some(text), parts }
        };
        let row = |(target, places): (String, Vec<(String, Tally)>)| TableRow {
            target,
            places: places.into_iter().map(place).collect(),
        };
        Self { backends: overview.backends, rows: overview.targets.into_iter().map(row).collect() }
    }
}

/// Why backends are not there.
#[derive(Serialize)]
struct AbsentHere<'a> {
    reason: &'a str,
    targets: Vec<&'a str>,
}

/// The reasons under the table of targets, if there is one.
fn absent_here<'a>(results: &Results, absent: &Absent<'a>) -> Vec<AbsentHere<'a>> {
    if !results.has_several_targets() {
        return Vec::new();
    }
    let entry = |(reason, targets): (&'a str, _)| AbsentHere { reason, targets: Vec::from_iter(targets) };
    absent.reasons().into_iter().map(entry).collect()
}

/// Cells that are unsupported for one reason.
#[derive(Serialize)]
struct Unsupported<'a> {
    reason: &'a str,
    count: usize,
}

fn unsupported<'a>(results: &'a Results, absent: &Absent<'_>) -> Vec<Unsupported<'a>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in results.cells.iter().filter(|cell| cell.status == Status::Unsupported) {
        // Where there are several targets, the table of them says it.
        if !(results.has_several_targets() && absent.has(&cell.target, &cell.backend)) {
            *counts.entry(cell.reason.as_deref().unwrap_or("no reason given")).or_default() += 1;
        }
    }
    counts.into_iter().map(|(reason, count)| Unsupported { reason, count }).collect()
}

fn interrupted(results: &Results) -> Vec<&str> {
    let mut targets: Vec<_> =
        results.runs.iter().filter(|run| run.interrupted).map(|run| run.target.as_str()).collect();
    targets.dedup();
    targets
}

/// A run, and everything that is known about it.
#[derive(Serialize)]
struct Provenance<'a> {
    target: &'a str,
    headline: String,
    entries: Vec<(&'static str, String)>,
}

/// `linux 6.18.0 on x86_64, via prefix (qemu-arm), started 2026-11-22T03:41:00Z`.
fn headline(run: &Run) -> String {
    let via = if run.via == "native" { String::new() } else { format!(", via {}", run.runner()) };
    format!("{} {} on {}{via}, started {}", run.os, run.kernel, run.machine, run.started)
}

impl<'a> Provenance<'a> {
    fn of(run: &'a Run) -> Self {
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        let entries = [
            ("pollmatrix", run.build()),
            ("system", format!("{} {}", run.os, run.kernel)),
            ("machine", run.machine.clone()),
            ("CPUs", run.cpus.to_string()),
            ("libc", optional(&run.libc)),
            ("via", run.runner()),
            ("built for", format!("{} ({})", run.triple, run.arch)),
            ("cells", run.selection.clone()),
            ("fault", optional(&run.fault)),
            (
                "injected errors",
                run.inject_errors.map(|one_in| format!("one in {one_in}")).unwrap_or_default(),
            ),
            ("seed", run.seed.to_string()),
            ("attempts", run.repeat.to_string()),
            ("started", run.started.clone()),
            ("finished", run.finished.clone()),
            ("resumed", if run.resumed > 0 { format!("{} times", run.resumed) } else { String::new() }),
            ("interrupted", if run.interrupted { "it is not complete".to_owned() } else { String::new() }),
            ("executable", format!("SHA-256 {}", run.executable)),
            ("matrix", format!("SHA-256 {}", run.matrix)),
        ];
        let entries = entries.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        Self { target: &run.target, headline: headline(run), entries }
    }
}

#[cfg(test)]
mod tests;
