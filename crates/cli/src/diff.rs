//! `pollmatrix diff`: compares two reports.

use std::process::ExitCode;

use metadata::Results;
use report::Diff;
use runner::{diagnostics, output};

use crate::args::{DiffArgs, DiffFormat, FailOn};
use crate::error::Error;
use crate::{exit, input, kernels};

/// Prints the differences.
pub fn run(args: &DiffArgs) -> Result<ExitCode, Error> {
    let (old, new) = (input::read(&args.old)?, input::read(&args.new)?);
    warn_about_faults(&old, &new);
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
        FailOn::Cost(factor) => {
            let is_blind = diff.costs.compared == 0;
            if is_blind {
                diagnostics::note("no operation has a figure in both reports, so no growth can be seen");
            }
            for grown in diff.costs.grown(factor) {
                let least = grown.grew_at_least;
                let text = format!("{} on {} grew at least {least:.2} times", grown.id, grown.target);
                diagnostics::warning(&text);
            }
            is_blind || diff.costs.grown(factor).next().is_some()
        }
    };
    Ok(if failed { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
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
