//! `pollmatrix adapter-check`: checks that an adapter speaks the protocol and keeps the guarantees of
//! scenarios.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use adapters::{Check, Outcome};
use matrix::cell::{SHORTER, long_temporary_folder};
use matrix::output;
use serde_json::json;

use crate::args::{AdapterCheckArgs, Format};
use crate::error::Error;
use crate::exit;

/// Runs the checks, and prints their outcomes.
pub fn run(args: &AdapterCheckArgs) -> Result<ExitCode, Error> {
    // Otherwise an adapter that makes sockets itself would fail the checks.
    if let Some(why) = long_temporary_folder() {
        return Err(Error::Unfit { path: std::env::temp_dir(), why, help: SHORTER });
    }
    let patience = Duration::from_secs(args.patience.get().into());
    let wanted =
        |name: &str| args.only.is_empty() || args.only.iter().any(|only| name.contains(only.as_str()));
    let library = args.command.first().and_then(|name| adapters::find(name));
    let checks = match library {
        Some(adapter) => adapters::check(adapter.make, patience, &wanted),
        None => adapters::check_process(&args.command, patience, &wanted),
    };
    output::print(&match args.format {
        Format::Json => metadata::json(&json!(checks.iter().map(describe).collect::<Vec<_>>())),
        Format::Text => text(&checks),
    })?;
    let count = |is: fn(&Outcome) -> bool| checks.iter().filter(|check| is(&check.outcome)).count();
    Ok(match (count(is_failed), count(is_passed)) {
        (1.., _) => ExitCode::from(exit::FAILED),
        (0, 0) => ExitCode::from(exit::CELL_UNSUPPORTED),
        (0, _) => ExitCode::SUCCESS,
    })
}

fn is_failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(_))
}

fn is_passed(outcome: &Outcome) -> bool {
    *outcome == Outcome::Passed
}

fn describe(check: &Check) -> serde_json::Value {
    let (status, reason) = match &check.outcome {
        Outcome::Passed => ("pass", None),
        Outcome::Unsupported(reason) => ("unsupported", Some(reason)),
        Outcome::Failed(seen) => ("fail", Some(seen)),
    };
    json!({ "check": check.name, "claim": check.claim, "status": status, "reason": reason })
}

fn text(checks: &[Check]) -> String {
    let mut out: String = checks.iter().map(|check| format!("{check}\n")).collect();
    let passed = checks.iter().filter(|check| is_passed(&check.outcome)).count();
    let failed = checks.iter().filter(|check| is_failed(&check.outcome)).count();
    let unsupported = checks.len() - passed - failed;
    let _ = writeln!(
        out,
        "\n{} checks: {passed} passed, {unsupported} unsupported, {failed} failed",
        checks.len()
    );
    out
}
