//! The interactive HTML report: one self-contained file that makes no network request.
//!
//! Summary and provenance are HTML. The page's script builds the matrix and the cells from the data in the
//! page. The content security policy of the page allows only its own two scripts and its style, by their
//! hashes. Even if a text from a result file escaped from its context, it could not run, load or send
//! anything.

pub mod catalogue;
mod data;
mod shell;
pub mod site;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use metadata::{NotRun, Results, Run, Status};
use serde::Serialize;

use crate::conformance::{Conformance, Verdict};
use crate::costs::Figure;
use crate::grid::{Absent, Grid, Overview, Tally};
use data::Data;
use shell::{Shell, escaped, short_title};

const SHELL: Shell<'_> = Shell {
    template: include_str!("template.html"),
    partials: &[
        ("overview.html", include_str!("overview.html")),
        ("cost-figures.html", include_str!("cost-figures.html")),
    ],
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

/// Renders report.html. Equal results give equal text.
pub fn report(results: &Results) -> String {
    let absent = Absent::of(&results.cells);
    let grid = columns(results);
    let totals = results.totals_lines().join(" · ");
    SHELL.page(Page {
        title: escaped(&short_title(&format!("pollmatrix: {totals}"), "")),
        totals,
        fault: results.fault(),
        inject_errors: results.inject_errors(),
        late_data: results.late_data(),
        interrupted: interrupted(results),
        characterised: results.cells.iter().any(|cell| !cell.is_contract()),
        conformance: Conformance::of(results)
            .into_iter()
            .map(|(name, conformance)| Card::of(name, &conformance))
            .collect(),
        overview: results.has_several_targets().then(|| Table::of(results, &absent)),
        absent: absence_reasons(results, &absent),
        legend: Status::ALL
            .into_iter()
            .filter(|status| results.cells.iter().any(|cell| cell.status == *status))
            .map(Part::of)
            .collect(),
        runs: results.runs.iter().map(Provenance::of).collect(),
        not_run: &results.not_run,
        costs: costs(results),
        unsupported: unsupported(results, &absent),
        data: Data::of(results, &grid).to_json(),
    })
}

/// Returns the columns and scenarios of the matrix. Unlike the other reports, it includes absent backends,
/// which the page can show.
fn columns(results: &Results) -> Grid {
    Grid::new(results.cells.iter(), |cell| &cell.scenario).with_not_run(results)
}

/// The values for the template.
#[derive(Serialize)]
struct Page<'a> {
    title: String,
    totals: String,
    fault: Option<&'a str>,
    inject_errors: Option<NonZeroU32>,
    late_data: Option<NonZeroU32>,
    interrupted: Vec<&'a str>,
    characterised: bool,
    conformance: Vec<Card<'a>>,
    overview: Option<Table>,
    absent: Vec<AbsenceReason<'a>>,
    legend: Vec<Part>,
    runs: Vec<Provenance<'a>>,
    not_run: &'a [NotRun],
    costs: Vec<Costs>,
    unsupported: Vec<Unsupported<'a>>,
    data: String,
}

/// The costs of one operation.
#[derive(Serialize)]
struct Costs {
    title: String,
    svg: Option<String>,
    has_calls: bool,
    figure: Figure,
}

fn costs(results: &Results) -> Vec<Costs> {
    let several = results.has_several_targets();
    let all = Figure::all(results).into_iter();
    let entry = |figure: Figure| {
        let (title, svg, has_calls) = (figure.title(several), figure.svg(), figure.has_calls());
        Costs { title, svg, has_calls, figure }
    };
    all.map(entry).collect()
}

/// Returns the CSS class of a status.
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
    fn of(status: Status) -> Self {
        Self { letter: status.letter(), name: status.label(), class: style_of(status), count: 0 }
    }

    fn all_of(tally: &Tally) -> Vec<Self> {
        tally.counts().map(|(status, count)| Self { count, ..Self::of(status) }).collect()
    }
}

/// The summary of a backend.
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
    fn of(name: &'a str, conformance: &Conformance) -> Self {
        let verdict = conformance.verdict();
        let class = match verdict {
            Verdict::NoAnswer => "absent",
            Verdict::Holds { .. } => "good",
            Verdict::Incomplete { .. } => "unsure",
            Verdict::Fails { .. } => "bad",
        };
        let targets = match conformance.targets {
            0 => String::new(),
            1 => "on 1 target".to_owned(),
            several => format!("on {several} targets"),
        };
        let (contract, characterisation) =
            (Part::all_of(&conformance.contract), Part::all_of(&conformance.characterisation));
        Self { name, class, verdict: verdict.to_string(), contract, characterisation, targets }
    }
}

/// The table of targets × backends, for the contract cells.
#[derive(Serialize)]
struct Table {
    backends: Vec<String>,
    rows: Vec<TableRow>,
}

#[derive(Serialize)]
struct TableRow {
    target: String,
    fields: Vec<Field>,
}

/// A tally, or a text instead.
#[derive(Serialize)]
struct Field {
    text: Option<String>,
    parts: Vec<Part>,
}

impl Table {
    fn of(results: &Results, absent: &Absent<'_>) -> Self {
        let overview = Overview::of(results, absent);
        let field = |(text, tally): (String, Tally)| {
            let parts = Part::all_of(&tally);
            let is_tally = tally.to_string() == text && !parts.is_empty();
            Field { text: (!is_tally).then_some(text), parts }
        };
        let row = |(target, fields): (String, Vec<(String, Tally)>)| TableRow {
            target,
            fields: fields.into_iter().map(field).collect(),
        };
        Self { backends: overview.backends, rows: overview.targets.into_iter().map(row).collect() }
    }
}

/// A reason why backends are absent, with the targets.
#[derive(Serialize)]
struct AbsenceReason<'a> {
    reason: &'a str,
    targets: Vec<&'a str>,
}

/// Returns the reasons below the table of targets. Empty if there is only one target, and thus no table.
fn absence_reasons<'a>(results: &Results, absent: &Absent<'a>) -> Vec<AbsenceReason<'a>> {
    if !results.has_several_targets() {
        return Vec::new();
    }
    let entry = |(reason, targets): (&'a str, _)| AbsenceReason { reason, targets: Vec::from_iter(targets) };
    absent.reasons().into_iter().map(entry).collect()
}

/// The number of cells that are unsupported for the same reason.
#[derive(Serialize)]
struct Unsupported<'a> {
    reason: &'a str,
    count: usize,
}

fn unsupported<'a>(results: &'a Results, absent: &Absent<'_>) -> Vec<Unsupported<'a>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in results.cells.iter().filter(|cell| cell.status == Status::Unsupported) {
        // With several targets, the table of targets already shows the reason of absent backends.
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

/// A run with its provenance.
#[derive(Serialize)]
struct Provenance<'a> {
    target: &'a str,
    headline: String,
    entries: Vec<(&'static str, String)>,
}

/// Returns a summary of a run: `linux 6.18.0 on x86_64, runner prefix (qemu-arm), started
/// 2026-11-22T03:41:00Z`.
fn headline(run: &Run) -> String {
    let runner =
        if run.runner == "native" { String::new() } else { format!(", runner {}", run.runner_in_full()) };
    format!("{} {} on {}{runner}, started {}", run.os, run.kernel, run.machine, run.started)
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
            ("kqueue", optional(&run.kqueue)),
            ("adapters", run.adapters()),
            ("runner", run.runner_in_full()),
            ("built for", format!("{} ({})", run.triple, run.arch)),
            ("cells", run.selection.clone()),
            ("fault", optional(&run.fault)),
            (
                "injected errors",
                run.inject_errors.map(|one_in| format!("one in {one_in}")).unwrap_or_default(),
            ),
            (
                "late data",
                run.late_data.map(|milliseconds| format!("up to {milliseconds} ms")).unwrap_or_default(),
            ),
            ("seed", run.seed.to_string()),
            ("attempts", run.repeat.to_string()),
            ("started", run.started.clone()),
            ("finished", run.finished.clone()),
            ("resumed", if run.resumed > 0 { format!("{} times", run.resumed) } else { String::new() }),
            (
                "interrupted",
                if run.interrupted { "the results are incomplete".to_owned() } else { String::new() },
            ),
            ("executable", format!("SHA-256 {}", run.executable)),
            ("matrix", format!("SHA-256 {}", run.matrix)),
        ];
        let entries = entries.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        Self { target: &run.target, headline: headline(run), entries }
    }
}

#[cfg(test)]
mod tests;
