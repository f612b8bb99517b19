//! `pollmatrix list --history`: the bugs in the history of the protocol.

use std::fmt::Write;
use std::process::ExitCode;

use matrix::output;
use scenarios::history::{Coverage, Defect, FILE, history};
use serde_json::json;

use crate::args::Format;
use crate::error::Error;

/// Prints every defect of the history, and the scenarios that look for it, or why there are none.
pub fn run(format: Format) -> Result<ExitCode, Error> {
    let history = history().map_err(|error| Error::Record {
        path: FILE.into(),
        line: error.line,
        message: error.message.into(),
        help: error.help.into(),
    })?;
    let text = match format {
        Format::Text => history.iter().fold(String::new(), |mut text, defect| {
            let _ = writeln!(text, "{:<10}  {}\n{:12}{}", defect.name, defect.description, "", seen(defect));
            text
        }),
        Format::Json => metadata::json(&json!(history.iter().map(describe).collect::<Vec<_>>())),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns `-> scenario, scenario`, or the model or test that there is instead, with the reason.
fn seen(defect: &Defect) -> String {
    let (names, why) = (defect.names.join(", "), defect.reason);
    match defect.coverage {
        Coverage::Scenario => format!("-> {names}"),
        Coverage::Model => format!("no scenario: {why} (model {names})"),
        Coverage::UnitTest => format!("no scenario: {why} (test {names})"),
        Coverage::NotOurs => format!("no scenario: {why}"),
    }
}

fn describe(defect: &Defect) -> serde_json::Value {
    json!({
        "defect": defect.name,
        "commits": defect.commits,
        "wrong": defect.description,
        "seen_by": defect.coverage.word(),
        "names": defect.names,
        "reason": Some(defect.reason).filter(|reason| !reason.is_empty()),
    })
}
