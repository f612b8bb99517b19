//! `pollmatrix diff`: compares two reports.

use std::process::ExitCode;

use matrix::{diagnostics, output};
use metadata::Results;
use report::{Diff, Grown};

use crate::args::{DiffArgs, DiffFormat, FailOn};
use crate::error::Error;
use crate::{exit, input, kernels};

/// Prints the differences.
pub fn run(args: &DiffArgs) -> Result<ExitCode, Error> {
    let (old, new) = (input::read(&args.old)?, input::read(&args.new)?);
    warn_about_faults(&old, &new);
    if let FailOn::Cost(factor) = args.fail_on {
        return costs(args, &old, &new, factor);
    }
    let diff = if args.by_kernel {
        let (old, new) = kernels::changes((&args.old, old), (&args.new, new))?;
        Diff::with_answers(&old, &new)
    } else {
        Diff::new(&old, &new)
    };
    output::print(&match args.format {
        DiffFormat::Text => diff.text(),
        DiffFormat::Markdown => diff.markdown(),
        DiffFormat::Json => metadata::json(&diff),
    })?;
    let failed = match args.fail_on {
        FailOn::Any => !diff.is_empty(),
        FailOn::Regression => diff.regressions > 0,
        FailOn::Cost(_) => false,
    };
    Ok(if failed { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

/// Prints the costs that grew.
fn costs(args: &DiffArgs, old: &Results, new: &Results, factor: f64) -> Result<ExitCode, Error> {
    for (path, results) in [(&args.old, old), (&args.new, new)] {
        if results.costs.is_empty() {
            let why = "it has no costs".to_owned();
            return Err(Error::Unfit { path: path.clone(), why, help: "`pollmatrix cost` measures them" });
        }
    }
    let grown = Grown::all(old, new, factor);
    output::print(&match args.format {
        DiffFormat::Json => metadata::json(&grown),
        DiffFormat::Text | DiffFormat::Markdown if grown.is_empty() => {
            format!("no cost is more than {factor} times as great, and none has more system calls\n")
        }
        DiffFormat::Text => grown.iter().map(|grown| format!("{grown}\n")).collect(),
        DiffFormat::Markdown => {
            grown.iter().map(|grown| format!("- {}\n", report::markdown::text(&grown.to_string()))).collect()
        }
    })?;
    Ok(if grown.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Warns if only one of the reports has a fault or injected errors, which can be a mistake.
fn warn_about_faults(old: &Results, new: &Results) {
    for (name, results) in [("old", old), ("new", new)] {
        if let Some(disturbance) = results.disturbance()
            && old.disturbance() != new.disturbance()
        {
            diagnostics::warning(&format!("the {name} report was made with {disturbance}"));
        }
    }
}
