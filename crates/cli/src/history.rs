//! `pollmatrix list --history`: the bugs in the history of the protocol.

use std::fmt::Write;
use std::process::ExitCode;

use runner::output;
use scenarios::history::{Coverage, Defect, history};
use serde_json::json;

use crate::args::Format;
use crate::error::Error;

/// Prints every row of the history, and the scenarios that look for it, or why there are none.
pub fn run(format: Format) -> Result<ExitCode, Error> {
    let text = match format {
        Format::Text => history().iter().fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "{:<10}  {}\n{:12}{}", row.name(), row.description, "", seen(row));
            text
        }),
        Format::Json => {
            let rows: Vec<_> = history().iter().map(describe).collect();
            metadata::json(&json!(rows))
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns `-> scenario, scenario`, or the model or test that there is instead, with the reason.
fn seen(row: &Defect) -> String {
    let names = row.coverage.names().join(", ");
    match row.coverage {
        Coverage::Scenario(_) => format!("-> {names}"),
        Coverage::Model(_, why) => format!("no scenario: {why} (model {names})"),
        Coverage::UnitTest(_, why) => format!("no scenario: {why} (test {names})"),
        Coverage::NotApplicable(why) => format!("no scenario: {why}"),
    }
}

fn describe(row: &Defect) -> serde_json::Value {
    json!({
        "row": row.name(),
        "commits": row.commits,
        "wrong": row.description,
        "seen_by": row.coverage.kind(),
        "names": row.coverage.names(),
        "reason": row.coverage.reason(),
    })
}
