//! `pollmatrix targets`: the runners of each target, and what this machine lacks for them.

use std::path::Path;
use std::process::ExitCode;

use comfy_table::{ContentArrangement, Table, presets};
use matrix::plan::Source;
use matrix::runners::{self, RunnerOptions};
use matrix::{Build, Runner, Target};
use matrix::{Environment, output};
use serde_json::json;

use crate::args::{Format, TargetsArgs};
use crate::error::Error;

/// Prints the runners of each target that work on this machine, and what the others lack.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &TargetsArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix, environment)?;
    let given = RunnerOptions { executables: args.executables.clone(), ..RunnerOptions::default() };
    let text = match args.format {
        Format::Json => {
            let targets: Vec<_> =
                source.matrix.targets.iter().map(|target| describe(target, &given)).collect();
            metadata::json(&json!(targets))
        }
        Format::Text => table(&source, &given),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(target: &Target, given: &RunnerOptions) -> serde_json::Value {
    let runners = target.runners.iter().map(|runner| {
        let missing = runners::missing(target, runner, given);
        json!({
            "runner": runners::label(runner),
            "possible": missing.is_none(),
            "missing": missing,
        })
    });
    let runners: Vec<_> = runners.collect();
    json!({
        "id": target.id,
        "triple": target.triple,
        "os": target.os.name(),
        "executable": runners::built(target, given.executables.as_deref()),
        "runners": runners,
    })
}

fn table(source: &Source<'_>, given: &RunnerOptions) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(["target", "runner", "this machine"]);
    for target in &source.matrix.targets {
        let mut name = target.id.as_str();
        for runner in &target.runners {
            let state = match runners::missing(target, runner, given) {
                None => "can run".to_owned(),
                Some(why) => format!("missing: {why}"),
            };
            table.add_row([name, &runners::label(runner), &state]);
            name = "";
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let table = lines.join("\n");
    format!("{table}\n\nRun one: pollmatrix run --target TARGET [--runner RUNNER]\n")
}

/// Returns why no cell of the target was run, for the report.
pub fn not_run(target: &Target, args: &RunnerOptions) -> String {
    let built = match (runners::built(target, args.executables.as_deref()), target.build) {
        (Some(_), _) => "built, not run",
        (None, Build::Check) => "type-checked only, not built",
        (None, _) => "not built",
    };
    let runners = target.runners.iter().filter(|runner| **runner != Runner::Import);
    let needs: Vec<_> = runners
        .filter_map(|runner| {
            Some(format!("{}: {}", runners::label(runner), runners::missing(target, runner, args)?))
        })
        .collect();
    format!("{built} ({})", needs.join("; "))
}
