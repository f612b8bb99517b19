//! The interactive HTML report: one self-contained file that makes no network request.
//!
//! Summary, failures, a table by scenario and provenance are HTML. The page's script builds the matrix and
//! the cells from the data in the page. The content security policy of the page allows only its own two
//! scripts and its style, by their hashes. Even if a text from a result file escaped from its context, it
//! could not run, load or send anything.

pub mod catalogue;
mod data;
mod shell;
pub mod site;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use metadata::{CellResult, NotRun, Results, Run, Status};
use serde::Serialize;

use crate::conformance::{Conformance, Verdict};
use crate::costs::Figure;
use crate::first_line;
use crate::grid::{Absent, Grid, Overview, Tally};
use crate::text::escaped;
use crate::timeline;
use data::Data;
use shell::{Shell, short_title};

const SHELL: Shell<'_> = Shell {
    template: include_str!("template.html"),
    partials: &[
        ("overview.html", include_str!("overview.html")),
        ("cost-figures.html", include_str!("cost-figures.html")),
        ("data.html", include_str!("data.html")),
    ],
    style: include_str!("report.css"),
    scripts: &[
        include_str!("dom.js"),
        include_str!("theme-button.js"),
        include_str!("model.js"),
        include_str!("filter.js"),
        include_str!("tally.js"),
        include_str!("grid.js"),
        include_str!("panel.js"),
        include_str!("page.js"),
    ],
};

/// Renders report.html. Equal results give equal text.
pub fn report(results: &Results) -> String {
    page(results, costs(results))
}

/// Renders the report, with these costs: a site has a page for them.
fn page(results: &Results, costs: Vec<Costs>) -> String {
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
        costs,
        unsupported: unsupported(results, &absent),
        failures: Failures::of(results),
        by_scenario: ByScenario::of(results),
        data: data::packed(&Data::of(results, &grid, timelines(results))),
    })
}

/// The greatest number of cells whose timelines are in the page: each is as large as hundreds of passing
/// cells.
const DRAWN: usize = 50;

/// Returns the pictures of the timelines, each with the index of its cell: of cells that failed; and of the
/// others, unless they are so many that the page would have an arbitrary part of them.
fn timelines(results: &Results) -> Vec<(usize, String)> {
    let recorded = || results.cells.iter().enumerate().filter(|(_, cell)| cell.timeline.is_some());
    let all = recorded().count() <= DRAWN;
    let chosen = recorded().filter(|(_, cell)| all || cell.status.is_failure());
    let drawn = chosen.map(|(index, cell)| (index, timeline::svg(cell)));
    drawn.filter(|(_, svg)| !svg.is_empty()).take(DRAWN).collect()
}

/// The fragment of the address at which a report shows a cell.
fn fragment(cell: &CellResult) -> String {
    format!("cell={}&on={}", encoded(&cell.id), encoded(&cell.target))
}

/// Returns a text as a value in a fragment. The report reads it as a form does.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/@,".contains(&byte);
    text.bytes().fold(String::new(), |out, byte| match plain(byte) {
        true => out + char::from(byte).encode_utf8(&mut [0; 4]),
        false => out + &format!("%{byte:02X}"),
    })
}

/// The cells that fail, for readers in a hurry and for browsers that run no script.
#[derive(Serialize)]
struct Failures<'a> {
    shown: Vec<Failed<'a>>,
    /// How many more there are.
    more: usize,
}

/// A cell that does not pass.
#[derive(Serialize)]
struct Failed<'a> {
    id: &'a str,
    target: &'a str,
    part: Part,
    reason: String,
    fragment: String,
}

/// The greatest number of failed cells in the list of a page.
const LISTED: usize = 100;

impl<'a> Failures<'a> {
    fn of(results: &'a Results) -> Self {
        let mut shown: Vec<_> =
            results.cells.iter().filter(|cell| cell.status.is_failure()).map(Failed::of).collect();
        let more = shown.len().saturating_sub(LISTED);
        shown.truncate(LISTED);
        Self { shown, more }
    }
}

impl<'a> Failed<'a> {
    fn of(cell: &'a CellResult) -> Self {
        Self {
            id: &cell.id,
            target: &cell.target,
            part: Part::of(cell.status),
            reason: first_line(cell.reason.as_deref().unwrap_or_default()),
            fragment: fragment(cell),
        }
    }
}

/// The table for browsers that run no script: a row for each contract scenario, and for each family of
/// characterisation scenarios.
#[derive(Serialize)]
struct ByScenario {
    /// The targets, with their numbers of columns.
    targets: Vec<(String, usize)>,
    backends: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl ByScenario {
    fn of(results: &Results) -> Self {
        let grid = Grid::new(results.cells.iter(), row_of);
        let targets = grid.targets().into_iter().map(|(target, of)| (target.to_owned(), of.len())).collect();
        let backends = grid.columns.into_iter().filter_map(|column| column.backend).collect();
        let texts = |tallies: Vec<Tally>| tallies.iter().map(Tally::to_string).collect();
        let rows = grid.rows.into_iter().map(|(name, tallies)| (name, texts(tallies))).collect();
        Self { targets, backends, rows }
    }
}

/// Returns the columns and scenarios of the matrix. Unlike the other reports, it includes absent backends,
/// which the page can show.
fn columns(results: &Results) -> Grid {
    Grid::new(results.cells.iter(), |cell| &cell.scenario).with_not_run(results)
}

/// The row of a cell in [`ByScenario`].
fn row_of(cell: &CellResult) -> &str {
    let family = cell.scenario.split('/').next().filter(|_| !cell.is_contract());
    family.unwrap_or(&cell.scenario)
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
    failures: Failures<'a>,
    by_scenario: ByScenario,
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
