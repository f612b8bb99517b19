//! `pollmatrix adapter`: checks that an adapter speaks the protocol and keeps the guarantees of scenarios.

use std::fmt::Write;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Duration;

use adapters::{Check, Outcome};
use matrix::cell::{SHORTER, long_temporary_folder};
use matrix::output;
use serde_json::json;

use crate::args::Format;
use crate::error::Error;
use crate::exit;

/// The default time limit for an answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

#[derive(clap::Subcommand)]
pub enum AdapterCommand {
    /// Check that an adapter speaks the protocol and keeps the guarantees that scenarios rely on
    ///
    /// Each check tests one property with a new adapter process, and prints what it observed if the property
    /// does not hold. A feature that the adapter declares as missing is unsupported, which is not a failure.
    /// docs/adapters.md documents the protocol.
    #[command(after_help = exit::ADAPTER_CHECK_HELP)]
    Check(CheckArgs),
}

#[derive(clap::Args)]
pub struct CheckArgs {
    /// The adapter and its arguments (./my-adapter epoll), or a built-in library (mio)
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
    /// Only the greeting, and checks whose name contains TEXT; repeatable
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// The time limit for an answer, and for an event of a ready descriptor, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub patience: NonZeroU32,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Carries out the command.
pub fn run(command: &AdapterCommand) -> Result<ExitCode, Error> {
    match command {
        AdapterCommand::Check(args) => check(args),
    }
}

/// Runs the checks, and prints their outcomes.
fn check(args: &CheckArgs) -> Result<ExitCode, Error> {
    let patience = Duration::from_secs(args.patience.get().into());
    let wanted =
        |name: &str| args.only.is_empty() || args.only.iter().any(|only| name.contains(only.as_str()));
    let checks = checks(&args.command, patience, &wanted)?;
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

/// Runs the wanted checks of an adapter, or of a built-in library.
pub fn checks(
    command: &[String],
    patience: Duration,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Check>, Error> {
    // Otherwise an adapter that makes sockets itself would fail the checks.
    if let Some(why) = long_temporary_folder() {
        return Err(Error::Unfit { path: std::env::temp_dir(), why, help: SHORTER });
    }
    Ok(match command.first().and_then(|name| adapters::find(name)) {
        Some(adapter) => adapters::check(adapter.make, patience, wanted),
        None => adapters::check_process(command, patience, wanted),
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
