//! `pollmatrix list`: the selected cells, or the targets.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::plan::{Planned, Source};
use matrix::{Environment, output};
use serde_json::json;

use crate::args::{Format, SelectionArgs};
use crate::error::Error;
use crate::{history, targets};

#[derive(clap::Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// List the bugs in the history of the protocol instead, and the scenarios or models that look for them
    #[arg(long, conflicts_with_all = ["prefixes", "backends", "filters", "layer", "shard"])]
    pub history: bool,
    /// List the targets instead, with their runners and what this machine lacks for them, and the virtual
    /// machines that `run --keep` left up
    #[arg(
        long,
        conflicts_with_all = ["prefixes", "backends", "filters", "layer", "shard", "history"]
    )]
    pub targets: bool,
    /// With --targets: the folder with executables [default: the folder that ci/executable.sh writes to]
    #[arg(long, value_name = "DIR", requires = "targets")]
    pub executables: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Prints the selected cells, or the targets.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &ListArgs) -> Result<ExitCode, Error> {
    if args.history {
        return history::run(args.format);
    }
    let source = Source::load(matrix, environment)?;
    if args.targets {
        output::print(&targets::list(&source, args.executables.clone(), args.format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
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
