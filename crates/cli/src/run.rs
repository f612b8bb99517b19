//! `pollmatrix run`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::Way;
use metadata::{Results, Status, one_line};
use report::{first_line, markdown, terminal};
use runner::command::word;
use runner::plan::{self, Source};
use runner::session::{self, Request};
use runner::signals::{self, Stop};
use runner::{Environment, faults, folder, output, ways};

use crate::args::{self, DEFAULT_REPORT_DIR, RunArgs, RunFormat};
use crate::error::Error;
use crate::{everywhere, exit};

/// Runs the selected cells, writes the report, prints a summary.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &RunArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix, environment)?;
    if let Some(fault) = &args.attempts.fault.name {
        faults::find(fault)?;
    }
    if args.elsewhere.target.as_deref() == Some(everywhere::ALL) {
        environment.expect_no_subject_elsewhere(false)?;
        return everywhere::run(&source, args, &args.request(environment));
    }
    if let Some(typed) = args.not_run.first() {
        let help = "give --target all, or leave it out".to_owned();
        return Err(Error::NotRunArg { typed: typed.clone(), why: "one target is run", help });
    }
    let request = args.request(environment);
    let chosen = ways::choose(&source, &request.elsewhere)?;
    environment.expect_no_subject_elsewhere(matches!(chosen.way, Way::Native))?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let (results, ended) = session::run(&source, &chosen, &request, &stop, None)?;
    match args.format {
        RunFormat::Json => output::print(&results.to_json())?,
        RunFormat::Markdown => output::print(&markdown::report(&results))?,
        RunFormat::Text => output::print_styled(&summary(&results, &Again::new(&source, &request)))?,
    }
    Ok(match ended {
        Some(code) => ExitCode::from(code),
        None if results.has_failures() => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// The options that another command needs to mean the same run.
struct Again {
    dir: PathBuf,
    /// For `show`.
    place: String,
    /// For `run --resume`.
    run: String,
}

impl Again {
    fn new(source: &Source<'_>, request: &Request) -> Self {
        let dir = request.dir.clone();
        let mut place = String::new();
        if let Some(matrix) = &source.path {
            let _ = write!(place, " --matrix '{}'", matrix.display());
        }
        if dir != Path::new(DEFAULT_REPORT_DIR) {
            let _ = write!(place, " --report-dir '{}'", dir.display());
        }
        let expectations = source.environment.expectations_option();
        let mut run = format!("{place}{expectations}{}", request.elsewhere.typed());
        run.push_str(&plan::disturbed(&request.attempts));
        if request.attempts.repeat.get() > 1 {
            let _ = write!(run, " --repeat {}", request.attempts.repeat);
        }
        Self { dir, place, run }
    }
}

/// The table, what did not pass, the totals, and where the rest is.
fn summary(results: &Results, again: &Again) -> String {
    let mut out = terminal::matrix(results, output::colour());
    let failed: Vec<_> = results.cells.iter().filter(|cell| cell.status.is_failure()).collect();
    // What was not run because of an interruption is counted, not named.
    let named: Vec<_> =
        failed.iter().filter(|cell| !(results.interrupted() && cell.status == Status::NotRun)).collect();
    if !named.is_empty() {
        out.push('\n');
    }
    for cell in named.iter().take(args::NAMED) {
        let reason = cell.reason.as_deref().map(first_line).unwrap_or_default();
        let line = format!("{} {}: {reason}", cell.status, cell.id);
        let _ = writeln!(out, "{}", one_line(&line));
    }
    if named.len() > args::NAMED {
        let _ = writeln!(out, "and {} more", named.len() - args::NAMED);
    }
    if let Some(first) = named.first() {
        let _ = writeln!(
            out,
            "\nIn full: {}",
            one_line(&format!("pollmatrix show {}{}", word(&first.id), again.place))
        );
        let _ = writeln!(out, "Again:   {}", one_line(&first.reproducer));
    }
    let mut fault = results.fault().map(|fault| format!(", fault {}", one_line(fault))).unwrap_or_default();
    if let Some(one_in) = results.inject_errors() {
        let _ = write!(fault, ", errors in one of {one_in} system calls");
    }
    let seeds: Vec<_> = results.runs.iter().map(|run| run.seed.to_string()).collect();
    let seed = format!(" (seed {}{fault})", seeds.join(", "));
    for (index, line) in results.totals_lines().into_iter().enumerate() {
        let _ = match index {
            0 => writeln!(out, "\n{line}{seed}"),
            _ => writeln!(out, "{line}"),
        };
    }
    if results.interrupted() {
        let _ = writeln!(out, "Interrupted: `pollmatrix run --resume{}` continues.", one_line(&again.run));
    }
    let _ = writeln!(out, "Report: {}", one_line(&again.dir.join(folder::REPORT).display().to_string()));
    out
}
