//! `pollmatrix show`: the newest result of one cell in full.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use report::{CellResult, Results};
use serde_json::json;

use crate::args::{Format, ShowArgs};
use crate::error::{Error, REPORT_DIR_HELP};
use crate::plan::Source;
use crate::run_cell::unknown_cell;
use crate::{journal, output};

/// A result, and what is known of its run.
struct Found {
    cell: CellResult,
    from: String,
}

/// Prints the result of the cell.
pub fn run(matrix: Option<&Path>, args: &ShowArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix)?;
    let id = full_id(&source, &args.id)?;
    let dir = args.report_dir.path.as_path();
    let found =
        newest(dir, &id)?.ok_or_else(|| Error::NoResult { id: id.clone(), path: dir.to_path_buf() })?;
    let scenario = source.matrix.scenario(&found.cell.scenario);
    let title = scenario.map_or("", |scenario| scenario.title.as_str());
    output::print(&match args.format {
        Format::Json => format!("{:#}\n", json!(found.cell)),
        Format::Text => describe(&found, title),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The one cell that is meant.
fn full_id(source: &Source, typed: &str) -> Result<String, Error> {
    let cells = source.matrix.cells();
    let ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
    if ids.iter().any(|id| id == typed) {
        return Ok(typed.to_owned());
    }
    let meant: Vec<_> = ids.iter().filter(|id| id.starts_with(typed)).collect();
    match meant.as_slice() {
        [] => Err(unknown_cell(typed, &cells)),
        [id] => Ok((*id).clone()),
        several => Err(Error::AmbiguousCell { id: typed.to_owned(), count: several.len() }),
    }
}

/// The result in the journal, which is never older than the report; else the one in the report, which also
/// has the cells that were not started.
fn newest(dir: &Path, id: &str) -> Result<Option<Found>, Error> {
    if let Some(contents) = journal::read(dir)?
        && let Some(cell) = contents.rows.iter().find(|row| row.id == id)
    {
        return Ok(Some(Found {
            cell: cell.clone(),
            from: from(&contents.started, contents.identity.fault),
        }));
    }
    let path = dir.join("results.json");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { action: "read", path, source, help: REPORT_DIR_HELP }),
    };
    let results: Results = serde_json::from_str(&text)
        .map_err(|error| Error::NotAReport { path: path.clone(), reason: error.to_string() })?;
    if results.schema != report::SCHEMA_VERSION {
        let reason = format!("it has version {} of the format", results.schema);
        return Err(Error::NotAReport { path, reason });
    }
    let run = from(&results.run.started, results.run.fault);
    Ok(results.cells.into_iter().find(|cell| cell.id == id).map(|cell| Found { cell, from: run }))
}

fn from(started: &str, fault: Option<String>) -> String {
    let fault = fault.map(|fault| format!(", with the fault {fault} switched on")).unwrap_or_default();
    format!("the run of {started}{fault}")
}

fn describe(found: &Found, title: &str) -> String {
    let cell = &found.cell;
    let mut out = String::new();
    let _ = writeln!(out, "{}\n{title}\n", cell.id);
    let reason = cell.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<11} {value}");
    };
    line("status", format!("{}{reason}", cell.status));
    line("layer", cell.layer.clone());
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
        let _ = writeln!(out, "  {} {}", if check.holds { "ok   " } else { "WRONG" }, check.what);
        let _ = writeln!(out, "        expected: {}", check.expected.join(" | "));
        let _ = writeln!(out, "        observed: {}", check.observed);
        let _ = writeln!(out, "        source:   {}", check.source);
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
