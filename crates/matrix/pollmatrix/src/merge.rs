//! `pollmatrix merge`: merges the results of several runs into one report.

use std::fmt::Write;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::{self, Builder};

use matrix::Target;
use matrix::command::word;
use matrix::journal::{self, Lock};
use matrix::plan::Source;
use matrix::{Environment, diagnostics, output, report_dir};
use metadata::{NotRun, Results, Status, did_you_mean, one_line};
use report::{Input, Rules, first_line, markdown, terminal};

use crate::args::{DEFAULT_REPORT_DIR, NAMED, ReportDirArg, RunFormat};
use crate::error::Error;
use crate::{exit, input, kernels};

#[derive(clap::Args)]
pub struct MergeArgs {
    /// Results to merge: results.json files, or report directories
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Which result to use if inputs have different results of the same cell on the same target [default: an
    /// error]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub prefer: Option<Prefer>,
    /// Merge results of different matrix files, or of different executables of one target
    #[arg(long)]
    pub allow_mixed: bool,
    /// Make one column per kernel and processor, such as linux-6.1.192-x86_64, instead of one per target
    #[arg(long)]
    pub by_kernel: bool,
    /// List a target that was not run, with a reason: x86_64-freebsd='built, not run: no such machine';
    /// repeatable
    #[arg(long = "not-run", value_name = "TARGET=REASON")]
    pub not_run: Vec<String>,
    /// Overwrite an input that is in the report directory
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// The format to print at the end; the report directory always gets every format
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

/// The choices between several results.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Prefer {
    /// The result of the first input that has one
    First,
    /// The result of the last input that has one
    Last,
    /// The worst result
    Worst,
}

/// Merges the inputs, writes the report, and prints a summary.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &MergeArgs) -> Result<ExitCode, Error> {
    let mut inputs = in_parallel(&args.inputs, |path| {
        let file = input::file(path);
        let read = input::read(&file)?;
        let results = if args.by_kernel { kernels::by_kernel(&file, read)? } else { read };
        Ok(Input { results, name: file.display().to_string() })
    })?;
    inputs.extend(not_run(environment, matrix, &args.not_run)?);
    let dir = args.report_dir.path.as_path();
    if !args.force {
        keep_inputs(dir, &args.inputs)?;
    }
    let rules = Rules { prefer: args.prefer.map(Into::into), mixed: args.allow_mixed };
    let merged = report::merge(inputs, rules)?;
    for note in &merged.notes {
        diagnostics::note(note);
    }

    let _lock = Lock::take(dir)?;
    // A journal in this directory is older than the report, but `pollmatrix show` would take it for newer.
    if let Some(aside) = journal::move_aside(dir)? {
        diagnostics::note(&format!("the interrupted run in this directory is kept as {}", aside.display()));
    }
    let results = merged.results;
    report_dir::write(dir, &results)?;
    print(&results, dir, args.format)?;
    let code = if results.has_failures() { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS };
    // The program ends, and to free what a large report has takes a tenth of a second.
    std::mem::forget(results);
    Ok(code)
}

/// Reads the inputs, on every processor: a file can have tens of megabytes. Returns them in order, or the
/// first error.
fn in_parallel<T: Send>(
    paths: &[PathBuf],
    read: impl Fn(&Path) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let read_all = &|paths: &[PathBuf]| paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>();
    thread::scope(|scope| {
        let parts = paths.chunks(paths.len().div_ceil(processors).max(1));
        let begin = |part| (part, Builder::new().spawn_scoped(scope, move || read_all(part)));
        let threads: Vec<_> = parts.map(begin).collect();
        let read = threads.into_iter().map(|(part, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // There are no more threads.
            Err(_) => read_all(part),
        });
        Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
}

/// Prints the report of several targets.
pub fn print(results: &Results, dir: &Path, format: RunFormat) -> Result<(), Error> {
    match format {
        RunFormat::Json => output::print(&results.to_json())?,
        RunFormat::Markdown => output::print(&markdown::report(results))?,
        RunFormat::Text => output::print_styled(&summary(results, dir))?,
    }
    Ok(())
}

impl From<Prefer> for report::Prefer {
    fn from(prefer: Prefer) -> Self {
        match prefer {
            Prefer::First => Self::First,
            Prefer::Last => Self::Last,
            Prefer::Worst => Self::Worst,
        }
    }
}

/// Returns the targets of `--not-run` as one more input.
fn not_run(
    environment: &Environment,
    matrix: Option<&Path>,
    typed: &[String],
) -> Result<Option<Input>, Error> {
    if typed.is_empty() {
        return Ok(None);
    }
    let not_run = named_as_not_run(&Source::load(matrix, environment)?.matrix.targets, typed)?;
    Ok(Some(Input { name: "--not-run".to_owned(), results: Results::of_no_run(not_run) }))
}

/// Parses the values of `--not-run`, each `TARGET=REASON`.
pub fn named_as_not_run(targets: &[Target], typed: &[String]) -> Result<Vec<NotRun>, Error> {
    let entry = |typed: &String| {
        let wrong = |why, help| Error::NotRunArg { typed: typed.clone(), why, help };
        let Some((id, reason)) = typed.split_once('=').filter(|(_, reason)| !reason.trim().is_empty()) else {
            return Err(wrong("there is no reason", "write TARGET='the reason'".to_owned()));
        };
        let target = targets.iter().find(|target| target.id == id).ok_or_else(|| {
            wrong(
                "there is no such target",
                did_you_mean(id, targets.iter().map(|target| target.id.as_str())),
            )
        })?;
        Ok(NotRun {
            target: id.to_owned(),
            os: target.os.name().to_owned(),
            reason: reason.trim().to_owned(),
        })
    };
    typed.iter().map(entry).collect()
}

/// Returns an error if the report would overwrite one of the inputs.
fn keep_inputs(dir: &Path, inputs: &[PathBuf]) -> Result<(), Error> {
    // If the directory has no results, the report overwrites none.
    let Ok(output) = dir.join(input::NAME).canonicalize() else { return Ok(()) };
    let same = |path: &&PathBuf| input::file(path).canonicalize().is_ok_and(|path| path == output);
    match inputs.iter().find(same) {
        Some(path) => Err(Error::InputIsOutput(input::file(path))),
        None => Ok(()),
    }
}

/// Returns the tables, the failed cells, the totals, and the path of the report.
fn summary(results: &Results, dir: &Path) -> String {
    let mut out = terminal::matrix(results, output::colour());
    let failed = results.cells.iter().filter(|cell| cell.status.is_failure());
    // Cells that an interrupted run did not reach are only counted.
    let (missing, named): (Vec<_>, Vec<_>) = failed.partition(|cell| cell.status == Status::NotRun);
    if !named.is_empty() {
        out.push('\n');
    }
    for cell in named.iter().take(NAMED) {
        let reason = cell.reason.as_deref().map(first_line).unwrap_or_default();
        let line = format!("{} {} on {}: {reason}", cell.status, cell.id, cell.target);
        let _ = writeln!(out, "{}", one_line(&line));
    }
    if named.len() > NAMED {
        let _ = writeln!(out, "and {} more", named.len() - NAMED);
    }
    if let Some(first) = named.iter().chain(&missing).next() {
        let place = match dir == Path::new(DEFAULT_REPORT_DIR) {
            true => String::new(),
            false => format!(" --report-dir '{}'", dir.display()),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let target = match first.target.chars().all(is_plain) {
            true => first.target.clone(),
            false => word(&first.target),
        };
        let line = format!("pollmatrix show {} --target {target}{place}", word(&first.id));
        let _ = writeln!(out, "\nDetails: {}", one_line(&line));
    }
    let with = |disturbance: String| format!(" (with {})", one_line(&disturbance));
    let fault = results.disturbance().map(with).unwrap_or_default();
    let runs = format!("{} runs of {} targets", results.runs.len(), results.targets().len());
    for (index, line) in results.totals_lines().into_iter().enumerate() {
        let _ = match index {
            0 => writeln!(out, "\n{runs}: {line}{fault}"),
            _ => writeln!(out, "{line}"),
        };
    }
    let _ = writeln!(out, "Report: {}", one_line(&dir.join(report_dir::REPORT).display().to_string()));
    out
}
