//! `pollmatrix diff`: compares two reports, or a report with the recorded answers of a kernel.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::{diagnostics, output};
use metadata::Results;
use report::{Diff, Grown};

use crate::against::Against;
use crate::error::Error;
use crate::expectations::oracle;
use crate::{exit, input, kernels};

#[derive(clap::Args)]
pub struct DiffArgs {
    /// The old results: a results.json file, or a report directory
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The new results: a results.json file, or a report directory
    #[arg(value_name = "NEW", required_unless_present = "against")]
    pub new: Option<PathBuf>,
    /// Compare OLD with the recorded answers of a kernel: linux-6.18, or a file that `pollmatrix expectations
    /// oracle` wrote. For an emulation layer; docs/emulation.md explains the output
    #[arg(long, value_name = "KERNEL|FILE", conflicts_with_all = ["new", "by_kernel"])]
    pub against: Option<String>,
    /// Compare kernels: the targets whose kernel changed, or, if each report has one target, these two. Also
    /// compares the answers of each cell
    #[arg(long)]
    pub by_kernel: bool,
    /// The differences for which the exit code is 1
    ///
    /// - any: a cell has another status or (with --by-kernel) answer, or is in one report only; with
    ///   --against, an answer differs or is missing
    /// - regression: a cell passed, and now fails, is only permitted, is unsupported or is missing; with
    ///   --against, an answer means something else, or a cell crashed or hung
    /// - cost:FACTOR: the cost of an operation is more than FACTOR times as great, and that is no chance;
    ///   cost:1.2 for two reports of one job
    #[arg(long, value_name = "WHAT", default_value = "any", verbatim_doc_comment)]
    pub fail_on: FailOn,
    /// The output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
}

/// The differences that make a comparison fail.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FailOn {
    /// A cell has another status or (with --by-kernel) answer, or is in one report only.
    Any,
    /// A cell passed, and now fails, is unsupported or is missing.
    Regression,
    /// A cost is more than this many times as great.
    Cost(f64),
}

impl std::str::FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => return Ok(Self::Any),
            "regression" => return Ok(Self::Regression),
            _ => {}
        }
        let factor = text.strip_prefix("cost:").map(str::parse::<f64>);
        match factor {
            Some(Ok(factor)) if factor >= 1.0 && factor.is_finite() => Ok(Self::Cost(factor)),
            Some(_) => Err("a factor of at least 1 is needed: cost:1.2".to_owned()),
            None => Err(metadata::did_you_mean(text, ["any", "regression", "cost:1.2"])),
        }
    }
}

/// The output formats of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DiffFormat {
    /// Text for reading
    Text,
    /// Markdown for a comment on a pull request
    Markdown,
    /// JSON for programs
    Json,
}

/// Prints the differences.
pub fn run(args: &DiffArgs, expectations: Option<&Path>) -> Result<ExitCode, Error> {
    if let Some(name) = &args.against {
        return against(args, name, expectations);
    }
    // The parser requires it without --against.
    let new_path = args.new.as_deref().unwrap_or(&args.old);
    let (old, new) = (input::read(&args.old)?, input::read(new_path)?);
    warn_about_faults(&old, &new);
    if let FailOn::Cost(factor) = args.fail_on {
        return costs(args, (&args.old, &old), (new_path, &new), factor);
    }
    let diff = if args.by_kernel {
        let (old, new) = kernels::changes((&args.old, old), (new_path, new))?;
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

/// Prints how the answers differ from the recorded ones of a kernel.
fn against(args: &DiffArgs, name: &str, expectations: Option<&Path>) -> Result<ExitCode, Error> {
    if let FailOn::Cost(_) = args.fail_on {
        let why = "a kernel has no recorded costs to compare it with by --fail-on cost".to_owned();
        return Err(Error::Unfit { path: args.old.clone(), why, help: "compare the costs of two reports" });
    }
    let known = oracle::known(expectations, name)?;
    let all = Against::all(&args.old, &input::read_undisturbed(&args.old)?, &known)?;
    let joined = |text: &dyn Fn(&Against) -> String| all.iter().map(text).collect::<Vec<_>>().join("\n");
    output::print(&match args.format {
        DiffFormat::Text => joined(&Against::text),
        DiffFormat::Markdown => joined(&Against::markdown),
        DiffFormat::Json => metadata::json(&all),
    })?;
    let failed = match args.fail_on {
        FailOn::Regression => all.iter().any(Against::has_regression),
        FailOn::Any | FailOn::Cost(_) => all.iter().any(Against::has_difference),
    };
    Ok(if failed { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

/// Prints the costs that grew.
fn costs(
    args: &DiffArgs,
    (old_path, old): (&Path, &Results),
    (new_path, new): (&Path, &Results),
    factor: f64,
) -> Result<ExitCode, Error> {
    for (path, results) in [(old_path, old), (new_path, new)] {
        if results.costs.is_empty() {
            let why = "it has no costs".to_owned();
            return Err(Error::Unfit {
                path: path.to_path_buf(),
                why,
                help: "`pollmatrix cost` measures them",
            });
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
