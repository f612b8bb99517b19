//! `pollmatrix targets`.

use std::path::Path;
use std::process::ExitCode;

use comfy_table::{ContentArrangement, Table, presets};
use matrix::{Build, Target, Way};
use runner::plan::Source;
use runner::ways::{self, Elsewhere};
use runner::{Environment, output};
use serde_json::json;

use crate::args::{Format, TargetsArgs};
use crate::error::Error;

/// Prints, for each target, what this machine can do and what is missing for the rest.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &TargetsArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix, environment)?;
    let given = Elsewhere { executables: args.executables.clone(), ..Elsewhere::default() };
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

fn describe(target: &Target, given: &Elsewhere) -> serde_json::Value {
    let ways = target.ways.iter().map(|way| {
        let missing = ways::missing(target, way, given);
        json!({ "way": ways::label(way), "possible": missing.is_none(), "missing": missing })
    });
    let ways: Vec<_> = ways.collect();
    json!({
        "id": target.id,
        "triple": target.triple,
        "os": target.os.name(),
        "executable": ways::built(target, given.executables.as_deref()),
        "ways": ways,
    })
}

fn table(source: &Source<'_>, given: &Elsewhere) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(["target", "way", "here"]);
    for target in &source.matrix.targets {
        let mut name = target.id.as_str();
        for way in &target.ways {
            let here = match ways::missing(target, way, given) {
                None => "can run".to_owned(),
                Some(why) => format!("missing: {why}"),
            };
            table.add_row([name, &ways::label(way), &here]);
            name = "";
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let table = lines.join("\n");
    format!("{table}\n\nRun one: pollmatrix run --target TARGET [--via WAY]\n")
}

/// Why no cell of the target was run, for the report.
pub fn not_run(target: &Target, args: &Elsewhere) -> String {
    let built = match (ways::built(target, args.executables.as_deref()), target.build) {
        (Some(_), _) => "built, not run",
        (None, Build::Check) => "type-checked only, not built",
        (None, _) => "not built",
    };
    let needs: Vec<_> = target
        .ways
        .iter()
        .filter_map(|way| match way {
            Way::Import => None,
            way => Some(format!("{}: {}", ways::label(way), ways::missing(target, way, args)?)),
        })
        .collect();
    format!("{built} ({})", needs.join("; "))
}
