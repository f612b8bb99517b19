//! `pollmatrix list --history`.

use std::fmt::Write;
use std::process::ExitCode;

use runner::output;
use scenarios::history::{Row, Seen, history};
use serde_json::json;

use crate::args::Format;
use crate::error::Error;

/// Prints every row of the history, and the scenarios that look for it, or why there are none.
pub fn run(format: Format) -> Result<ExitCode, Error> {
    let text = match format {
        Format::Text => history().iter().fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "{:<10}  {}\n{:12}{}", row.name(), row.wrong, "", seen(row));
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

/// `-> scenario, scenario`, or what there is instead, and why.
fn seen(row: &Row) -> String {
    let names = row.seen.names().join(", ");
    match row.seen {
        Seen::Scenario(_) => format!("-> {names}"),
        Seen::Model(_, why) => format!("no scenario: {why} (model {names})"),
        Seen::UnitTest(_, why) => format!("no scenario: {why} (test {names})"),
        Seen::NotOurs(why) => format!("no scenario: {why}"),
    }
}

fn describe(row: &Row) -> serde_json::Value {
    json!({
        "row": row.name(),
        "commits": row.commits,
        "wrong": row.wrong,
        "seen_by": row.seen.kind(),
        "names": row.seen.names(),
        "reason": row.seen.reason(),
    })
}
