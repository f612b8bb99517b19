//! `pollmatrix list --targets`: the runners of each target, and what this machine lacks for them.

use std::path::PathBuf;

use matrix::plan::Source;
use matrix::runners::{self, RunnerOptions};
use matrix::vm::description::Machine;
use matrix::{Build, Runner, Target};
use report::table::Table;
use serde_json::json;

use crate::args::Format;
use crate::error::Error;
use crate::vm;

/// Formats the runners of each target that work on this machine, and what the others lack.
pub fn list(source: &Source<'_>, executables: Option<PathBuf>, format: Format) -> Result<String, Error> {
    let given = RunnerOptions { executables, ..RunnerOptions::default() };
    match format {
        Format::Json => {
            let targets: Vec<_> =
                source.matrix.targets.iter().map(|target| describe(target, &given)).collect();
            Ok(metadata::json(&json!(targets)))
        }
        Format::Text => Ok(table(source, &given) + &vm::up()?),
    }
}

fn describe(target: &Target, given: &RunnerOptions) -> serde_json::Value {
    let runners = target.runners.iter().map(|runner| {
        let missing = runners::missing(target, runner, given);
        json!({
            "runner": runner.label(),
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
    let mut table = Table::default();
    table.add(["target", "runner", "this machine"]);
    for target in &source.matrix.targets {
        let mut name = target.id.as_str();
        for runner in &target.runners {
            let state = match runners::missing(target, runner, given) {
                None => format!("can run{}", about(runner)),
                Some(why) => format!("missing: {why}"),
            };
            table.add([name, &runner.label(), &state]);
            name = "";
        }
    }
    let table = table.text(false);
    format!("{table}\nRun one: pollmatrix run --target TARGET [--runner RUNNER]\n")
}

/// Returns the system of a virtual machine, and the version of its kernel in the cache.
fn about(runner: &Runner) -> String {
    let Runner::Vm(name) = runner else { return String::new() };
    let Ok(machine) = Machine::load(name) else { return String::new() };
    let version = matrix::vm::version(&machine).map(|version| format!("; {version}")).unwrap_or_default();
    format!(" ({}{version})", machine.about)
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
        .filter_map(|runner| Some(format!("{}: {}", runner.label(), runners::missing(target, runner, args)?)))
        .collect();
    format!("{built} ({})", needs.join("; "))
}
