//! `pollmatrix list`: the selected cells.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use matrix::plan::{Planned, Source};
use matrix::{Environment, output};
use serde_json::json;

use crate::args::{Format, ListArgs};
use crate::error::Error;
use crate::history;

/// Prints the selected cells.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &ListArgs) -> Result<ExitCode, Error> {
    if args.history {
        return history::run(args.format);
    }
    let source = Source::load(matrix, environment)?;
    let cells = source.plan(source.target()?, &args.selection.selection(environment))?;
    let text = match args.format {
        Format::Text => cells.iter().fold(String::new(), |mut text, cell| {
            let why = cell.unsupported.as_deref().map(|why| format!("  unsupported: {why}"));
            let _ = writeln!(text, "{}{}", cell.spec.id, why.unwrap_or_default());
            text
        }),
        Format::Json => {
            let cells: Vec<_> = cells.iter().map(|cell| describe(cell, &source)).collect();
            metadata::json(&json!(cells))
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(cell: &Planned, source: &Source<'_>) -> serde_json::Value {
    let spec = &cell.spec;
    json!({
        "id": spec.id,
        "scenario": spec.scenario,
        "title": source.matrix.scenario(&spec.scenario).map(|scenario| &scenario.title),
        "backend": spec.backend,
        "target": spec.target,
        "layer": spec.layer,
        "params": spec.params,
        "timeout_s": cell.timeout.as_secs(),
        "unsupported": cell.unsupported,
    })
}
