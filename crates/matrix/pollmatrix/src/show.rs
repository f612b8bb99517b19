//! `pollmatrix show`: the newest result of one cell, in full.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::plan::{Source, unknown_cell};
use matrix::{Environment, diagnostics, journal, output};
use metadata::{CellResult, NotRun, did_you_mean, disturbance, one_line};
use report::timeline;

use crate::args::{Format, ReportDirArg};
use crate::error::Error;
use crate::input;

#[derive(clap::Args)]
pub struct ShowArgs {
    /// The cell's id, or a prefix of it that no other cell has
    #[arg(value_name = "ID")]
    pub id: String,
    /// Only the result on this target
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// Print what each thread of a contract scenario did instead; or write it to FILE as trace events for
    /// Perfetto. Failed cells have a timeline, others after `pollmatrix run --timeline`
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "format"
    )]
    pub timeline: Option<Option<PathBuf>>,
    /// The output format. As JSON, a report of several targets gives a list, unless --target is given
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// A result, and a description of its run.
struct Found {
    cell: CellResult,
    from: String,
}

/// The results of one cell.
#[derive(Default)]
struct FoundResults {
    /// One result per target.
    found: Vec<Found>,
    /// Whether the report has several targets.
    several: bool,
    /// The targets that have a run.
    run: BTreeSet<String>,
    /// The targets that were not run.
    not_run: Vec<NotRun>,
}

/// Prints the results of the cell.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &ShowArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix, environment)?;
    let dir = args.report_dir.path.as_path();
    let id = full_id(&source, dir, &args.id)?;
    let mut results = newest(dir, &id)?;
    if let Some(target) = &args.target {
        results = results.narrowed(target, &id, dir, &source)?;
    }
    if results.found.is_empty() {
        return Err(Error::NoResult { id, path: dir.to_path_buf() });
    }
    if let Some(file) = &args.timeline {
        return show_timeline(&results, &id, dir, file.as_deref());
    }
    output::print(&match args.format {
        Format::Json if results.several => {
            let cells: Vec<_> = results.found.iter().map(|found| &found.cell).collect();
            metadata::json(&cells)
        }
        Format::Json => results.found.iter().map(|found| metadata::json(&found.cell)).collect(),
        Format::Text => {
            let title = title(&source, dir, &results)?;
            let mut text: Vec<_> = results.found.iter().map(|found| describe(found, &title)).collect();
            let not_run = results.not_run.iter();
            let not_run: String = not_run
                .map(|not_run| format!("not run on {}: {}\n", not_run.target, not_run.reason))
                .collect();
            text.extend(Some(not_run).filter(|not_run| !not_run.is_empty()));
            text.join("\n")
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the timelines of the results, or writes them to `file`.
fn show_timeline(
    results: &FoundResults,
    id: &str,
    dir: &Path,
    file: Option<&Path>,
) -> Result<ExitCode, Error> {
    let recorded: Vec<_> =
        results.found.iter().filter_map(|found| Some((found, found.cell.timeline.as_ref()?))).collect();
    if recorded.is_empty() {
        let contract = results.found.iter().find(|found| found.cell.is_contract());
        let help = contract.map_or_else(
            || "only contract scenarios have timelines".to_owned(),
            |found| format!("record it: `{} --timeline`", found.cell.reproducer),
        );
        return Err(Error::NoTimeline { id: id.to_owned(), path: dir.to_path_buf(), help });
    }
    if let Some(file) = file {
        output::write_file(file, &timeline::trace(recorded.iter().map(|(found, _)| &found.cell)))?;
        let written = format!("wrote {}: open it in https://ui.perfetto.dev", file.display());
        output::print(&format!("{}\n", one_line(&written)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let texts = recorded.iter().map(|(Found { cell, from }, recorded)| {
        let about = format!("{} on {}, {from}", cell.status, cell.target);
        format!("{}\n{}\n\n{}", one_line(&cell.id), one_line(&about), timeline::text(recorded))
    });
    output::print(&texts.collect::<Vec<_>>().join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the title of the scenario: of the matrix, or else of the report, which also has behaviours of a
/// file.
fn title(source: &Source<'_>, dir: &Path, results: &FoundResults) -> Result<String, Error> {
    let Some(found) = results.found.first() else { return Ok(String::new()) };
    if let Some(scenario) = source.matrix.scenario(&found.cell.scenario) {
        return Ok(scenario.title.clone());
    }
    let reported = input::find(dir)?.and_then(|mut report| report.scenarios.remove(&found.cell.scenario));
    Ok(reported.map(|scenario| scenario.title).unwrap_or_default())
}

impl FoundResults {
    /// Keeps the result on one target.
    fn narrowed(mut self, target: &str, id: &str, dir: &Path, source: &Source<'_>) -> Result<Self, Error> {
        let known: BTreeSet<_> = self.found.iter().map(|found| found.cell.target.clone()).collect();
        let not_run = self.not_run.iter().find(|not_run| not_run.target == target);
        let help = match not_run {
            Some(not_run) => not_run.reason.clone(),
            None if known.is_empty() => format!("run it with `pollmatrix run '{id}'`"),
            None if self.run.contains(target)
                || source.matrix.targets.iter().any(|listed| listed.id == target) =>
            {
                let known: Vec<_> = known.iter().map(String::as_str).collect();
                format!("there are results of it on {}", known.join(", "))
            }
            None => {
                let not_run = self.not_run.iter().map(|not_run| not_run.target.as_str());
                did_you_mean(target, known.iter().map(String::as_str).chain(not_run))
            }
        };
        self.found.retain(|found| found.cell.target == target);
        self.several = false;
        self.not_run.clear();
        if self.found.is_empty() {
            let (id, target, path) = (id.to_owned(), target.to_owned(), dir.to_path_buf());
            return Err(Error::NoResultOn { id, target, path, help });
        }
        Ok(self)
    }
}

/// Returns the id of the one cell that the argument selects: of the matrix, or else of the report, which also
/// has the cells of adapters.
fn full_id(source: &Source<'_>, dir: &Path, typed: &str) -> Result<String, Error> {
    let cells = source.matrix.cells();
    let mut ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
    if !ids.iter().any(|id| id.starts_with(typed)) {
        ids = reported(dir)?;
    }
    if ids.iter().any(|id| id == typed) {
        return Ok(typed.to_owned());
    }
    let selected: Vec<_> = ids.iter().filter(|id| id.starts_with(typed)).collect();
    match selected.as_slice() {
        [] => Err(unknown_cell(typed, &cells).into()),
        [id] => Ok((*id).clone()),
        several => Err(Error::AmbiguousCell { id: typed.to_owned(), count: several.len() }),
    }
}

/// Returns the ids of the cells with a result, sorted.
fn reported(dir: &Path) -> Result<Vec<String>, Error> {
    let of_journal = journal::read(dir)?.map(|contents| contents.results).unwrap_or_default();
    let of_report = input::find(dir)?.map(|results| results.cells).unwrap_or_default();
    let ids: BTreeSet<_> = of_journal.into_iter().chain(of_report).map(|cell| cell.id).collect();
    Ok(ids.into_iter().collect())
}

/// Returns the result in the journal, which is never older than the report, or else the results in the
/// report, which also has the cells that were not started.
fn newest(dir: &Path, id: &str) -> Result<FoundResults, Error> {
    let journal = journal::read(dir)?;
    if let Some(loss) = journal.as_ref().and_then(|contents| contents.loss.as_ref()) {
        diagnostics::warning(loss);
    }
    if let Some(contents) = journal
        && let Some(cell) = contents.results.iter().find(|result| result.id == id)
    {
        let spec = &contents.identity.spec;
        let disturbance = disturbance(spec.fault.as_deref(), spec.inject_errors, spec.late_data);
        let from = from(&[&contents.started], disturbance);
        let found = vec![Found { cell: cell.clone(), from }];
        return Ok(FoundResults { found, ..FoundResults::default() });
    }
    let Some(results) = input::find(dir)? else { return Ok(FoundResults::default()) };
    let several = results.has_several_targets();
    let found = results.cells.iter().filter(|cell| cell.id == id).map(|cell| {
        let runs = results.runs.iter().filter(|run| run.target == cell.target);
        let started: Vec<_> = runs.map(|run| run.started.as_str()).collect();
        Found { cell: cell.clone(), from: from(&started, results.disturbance()) }
    });
    Ok(FoundResults {
        found: found.collect(),
        several,
        run: results.targets().into_iter().map(str::to_owned).collect(),
        not_run: results.not_run.clone(),
    })
}

fn from(started: &[&str], disturbance: Option<String>) -> String {
    let with = disturbance.map(|disturbance| format!(", with {disturbance}")).unwrap_or_default();
    match started {
        [started] => format!("the run of {started}{with}"),
        // A result does not record which of its target's runs it is from.
        several => format!("one of the runs of {}{with}", several.join(", ")),
    }
}

fn describe(found: &Found, title: &str) -> String {
    let cell = &found.cell;
    let mut out = String::new();
    let _ = writeln!(out, "{}\n{title}\n", cell.id);
    let reason = cell.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    // Continuation lines are indented, so that they do not look like another field.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<11} {}", value.replace('\n', "\n            "));
    };
    line("status", format!("{}{reason}", cell.status));
    line("layer", cell.layer.to_string());
    line("target", cell.target.clone());
    line("from", found.from.clone());
    line("attempts", format!("{} of {} passed", cell.attempts.passed, cell.attempts.total));
    if let Some(seed) = cell.seed {
        line("seed", seed.to_string());
    }
    line("took", format!("{} ms", cell.duration_ms));
    line("reproducer", cell.reproducer.clone());
    if !cell.checks.is_empty() {
        out.push_str("\nChecks\n");
    }
    for check in &cell.checks {
        let mut line = |text: String| {
            let _ = writeln!(out, "{}", text.replace('\n', "\n                  "));
        };
        line(format!("  {} {}", if check.holds { "ok   " } else { "WRONG" }, check.what));
        line(format!("        expected: {}", check.expected.join(" | ")));
        line(format!("        observed: {}", check.observed));
        line(format!("        source:   {}", check.source));
        if let Some(known) = check.known() {
            line(format!("        known:    {known}"));
        }
        if let Some(why) = &check.varies {
            line(format!("        varies:   {why}"));
        }
    }
    if !cell.counters.is_empty() {
        out.push_str("\nCounters\n");
    }
    let width = cell.counters.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in &cell.counters {
        let _ = writeln!(out, "  {name:width$}  {value}");
    }
    section(&mut out, "Notes", &cell.notes.join("\n"));
    section(&mut out, "Standard error (its end)", &cell.stderr);
    out
}

fn section(out: &mut String, heading: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "\n{heading}");
    }
    for line in text.lines() {
        let _ = writeln!(out, "  {line}");
    }
}
