//! `pollmatrix cost`: measures what the operations of pollers cost.
//!
//! Each cost is measured in a process of its own, [`cell`], which nothing before it has touched.

mod cell;
mod journal;

use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::ExitCode;

use cost::{Job, Plan, STEPS, calls, thread_steps};
use metadata::{Cost, CostOutcome, Mode, Operation, Results, Run};
use report::{curves, markdown, terminal};
use runner::command::{quoted, word};
use runner::journal::Lock;
use runner::plan::Source;
use runner::runners::{self, RunnerOptions};
use runner::signals::{self, Stop};
use runner::{Environment, backends, diagnostics, environment, executable, output, provenance, report_dir};

use crate::args::{CostArgs, RunFormat};
use crate::error::Error;
use crate::exit;
use crate::shown::Shown;
pub use cell::run as measure;
use journal::{Identity, Journal};

/// Above this number of descriptors, system calls are not counted: to trace their registrations takes longer
/// than the measurement.
const COUNTED: u32 = 1_000;
/// The folder of the charts in the report directory.
const CHARTS: &str = "charts";

/// Measures the costs, writes the report, and prints the tables.
pub fn run(matrix: Option<&Path>, subjects: &[String], args: &CostArgs) -> Result<ExitCode, Error> {
    let environment = Environment::default();
    let source = Source::load(matrix, &environment)?;
    let target = runners::choose(&source, &RunnerOptions::default())?.target.id.clone();
    let pollers = pollers(&args.backends, subjects)?;
    let jobs = jobs(args, &pollers)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let dir = args.out.as_path();
    let _lock = Lock::take(dir)?;
    let file = executable::own()?;
    let executable = executable::Executable::hold(&file, dir, true)?;
    let identity = Identity {
        executable: executable.hash().unwrap_or_default().to_owned(),
        target: target.clone(),
        pairs: args.pairs,
        noise: args.noise.to_string(),
    };
    let started = provenance::now();
    let mut journal = Journal::open(dir, &identity, &started, args.resume)?;
    let measured = measure_all(&jobs, &target, args, executable.path(), &mut journal, &stop)?;

    let is_interrupted = stop.signal().is_some();
    let run = Run {
        executable: identity.executable,
        matrix: source.hash.clone(),
        selection: selection(args, subjects),
        resumed: journal.resumed,
        interrupted: is_interrupted,
        ..provenance::run_here(target, journal.started.clone())
    };
    let mut results = Results::new(run, Vec::new(), Vec::new());
    results.costs = measured;
    results.costs.sort_by(Cost::compare);
    report_dir::write(dir, &results)?;
    write_charts(dir, &results)?;
    if !is_interrupted {
        journal.complete()?;
    }
    match args.format {
        RunFormat::Json => output::print(&results.to_json())?,
        RunFormat::Markdown => output::print(&markdown::report(&results))?,
        RunFormat::Text => output::print_styled(&summary(&results, args))?,
    }
    Ok(code(&results, &stop))
}

fn code(results: &Results, stop: &Stop) -> ExitCode {
    let is_lacking = |cost: &Cost| {
        matches!(
            cost.outcome,
            CostOutcome::Noise { .. } | CostOutcome::Failed { .. } | CostOutcome::NotRun { .. }
        )
    };
    match stop.signal() {
        Some(signal) => ExitCode::from(signal),
        None if results.costs.iter().any(is_lacking) => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    }
}

/// A poller to measure.
struct Column {
    name: String,
    /// The modes, or why it cannot be measured.
    modes: Result<Vec<Mode>, String>,
}

/// Returns the pollers to measure: the named ones, or every backend and built-in library.
fn pollers(named: &[String], subjects: &[String]) -> Result<Vec<Column>, Error> {
    let all = || {
        let backends = backends::here().map(|backend| backend.name);
        backends.chain(subjects::LIBRARIES.iter().map(|library| library.name)).map(str::to_owned).collect()
    };
    let typed: Vec<String> = match (named, subjects) {
        ([], []) => all(),
        _ => named.iter().chain(subjects).cloned().collect(),
    };
    let mut columns: Vec<Column> = Vec::new();
    for typed in typed {
        let column = column(&typed)?;
        if columns.iter().all(|known| known.name != column.name) {
            columns.push(column);
        }
    }
    Ok(columns)
}

fn column(typed: &str) -> Result<Column, Error> {
    // A built-in library that this system lacks has its reason in each cell.
    let library = subjects::find(typed);
    let (name, make) = match library {
        Some(library) => (library.name, library.make),
        None => {
            let poller = environment::poller_of(typed, false, NonZeroU32::MIN)?;
            (poller.name, poller.make)
        }
    };
    let modes = match make() {
        Err(error) => Err(error.to_string()),
        Ok(selector) => {
            let modes = selector.capabilities().modes;
            cost::Library::new(selector).map(|_| modes).map_err(|failure| failure.to_string())
        }
    };
    Ok(Column { name: name.to_owned(), modes })
}

fn jobs(args: &CostArgs, pollers: &[Column]) -> Result<Vec<Job>, Error> {
    let or = |given: &[u32], default: Vec<u32>| match given {
        [] => default,
        given => given.to_vec(),
    };
    let processors = u32::try_from(provenance::cpus()).unwrap_or(1);
    let (all, level_and_edge) = (Operation::ALL.to_vec(), vec![Mode::Level, Mode::Edge]);
    let plan = Plan {
        operations: if args.operations.is_empty() { all } else { args.operations.clone() },
        triggers: if args.triggers.is_empty() { level_and_edge } else { args.triggers.clone() },
        descriptors: or(&args.descriptors, STEPS.to_vec()),
        threads: or(&args.threads, thread_steps(processors)),
        pollers: pollers
            .iter()
            .map(|poller| (poller.name.clone(), poller.modes.clone().unwrap_or_default()))
            .collect(),
        limit: cost::raise_descriptors(),
    };
    let mut jobs = plan.jobs();
    for job in &mut jobs {
        let poller = pollers.iter().find(|poller| poller.name == job.poller);
        if let Some(Err(reason)) = poller.map(|poller| &poller.modes) {
            job.refusal = Some(reason.clone());
        }
    }
    Ok(jobs)
}

/// Measures what the journal does not have yet. Returns all of the costs.
fn measure_all(
    jobs: &[Job],
    target: &str,
    args: &CostArgs,
    executable: &Path,
    journal: &mut Journal,
    stop: &Stop,
) -> Result<Vec<Cost>, Error> {
    let mut shown = Shown::new(jobs.len() as u64);
    let mut costs = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let id = job.id();
        shown.update(index as u64, || format!("{index} of {}: {id}", jobs.len()));
        if let Some(known) = journal.take(&id) {
            costs.push(known);
            continue;
        }
        let outcome = match &job.refusal {
            Some(reason) => CostOutcome::Unsupported { reason: reason.clone() },
            None if stop.requested() => CostOutcome::NotRun { reason: "interrupted".into() },
            None => measured(job, args, executable),
        };
        // The signal of a terminal ends the cell's process, too.
        let outcome = match outcome {
            CostOutcome::Failed { .. } if stop.requested() => {
                CostOutcome::NotRun { reason: "interrupted".into() }
            }
            other => other,
        };
        let cost = Cost {
            operation: job.operation,
            poller: job.poller.clone(),
            target: target.to_owned(),
            trigger: job.trigger,
            descriptors: job.descriptors,
            threads: job.threads,
            floor: job.operation.floor().to_owned(),
            reproducer: reproducer(job),
            id,
            outcome,
        };
        if !matches!(cost.outcome, CostOutcome::NotRun { .. }) {
            journal.append(&cost)?;
        }
        costs.push(cost);
    }
    shown.end();
    Ok(costs)
}

fn measured(job: &Job, args: &CostArgs, executable: &Path) -> CostOutcome {
    let mut outcome = cell::outcome_of(cell::command(executable, job, args).output());
    if let CostOutcome::Measured(figure) = &mut outcome
        && job.descriptors <= COUNTED
    {
        let mut command = cell::command(executable, job, args);
        command.arg("--count");
        // Where they cannot be counted, a sandbox can be the reason: the figure stands without them.
        figure.system_calls = calls::traced(command).ok().and_then(cell::calls_of);
    }
    outcome
}

fn reproducer(job: &Job) -> String {
    let option = match backends::find(&job.poller) {
        Some(_) => "--backend",
        None => "--subject",
    };
    format!(
        "pollmatrix cost {option} {} --operation {} --trigger {} --descriptors {} --threads {}",
        word(&job.poller),
        job.operation,
        job.trigger,
        job.descriptors,
        job.threads
    )
}

/// Returns the options that select what is measured.
fn selection(args: &CostArgs, subjects: &[String]) -> String {
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let repeated = |option: &str, values: Vec<String>| {
        values.into_iter().flat_map(|value| [format!("--{option}"), value]).collect::<Vec<_>>()
    };
    let one = |option: &str, value: String| {
        if value.is_empty() { Vec::new() } else { repeated(option, vec![value]) }
    };
    let words = [
        vec!["cost".to_owned()],
        repeated("backend", args.backends.clone()),
        repeated("subject", subjects.to_vec()),
        repeated("operation", args.operations.iter().map(Operation::to_string).collect()),
        repeated("trigger", args.triggers.iter().map(Mode::to_string).collect()),
        one("descriptors", numbers(&args.descriptors)),
        one("threads", numbers(&args.threads)),
    ];
    quoted(&words.concat())
}

/// Writes each chart as a file of its own.
fn write_charts(dir: &Path, results: &Results) -> Result<(), Error> {
    let folder = dir.join(CHARTS);
    let failed = |source: io::Error| runner::Error::Io {
        action: "write",
        path: folder.clone(),
        source,
        help: runner::REPORT_DIR_HELP,
    };
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error).into()),
        _ => {}
    }
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for chart in curves::charts(&results.costs) {
        output::write_file(&folder.join(format!("{}.svg", chart.name())), &curves::standalone(&chart))?;
    }
    Ok(())
}

/// Returns the tables, the totals, and the path of the report.
fn summary(results: &Results, args: &CostArgs) -> String {
    let mut out = terminal::matrix(results, output::colour());
    let mut line = |text: &str| {
        out.push_str(&metadata::one_line(text));
        out.push('\n');
    };
    if let Some(totals) = results.costs_line() {
        line(&totals);
    }
    let is = |status: &str| results.costs.iter().any(|cost| cost.outcome.status() == status);
    if is("noise") {
        line(
            "Some ratios are noise: repeat on a quiet machine, with more --pairs, or with a higher --noise.",
        );
    }
    if results.interrupted() {
        line("Interrupted: `pollmatrix cost --resume` with the same options continues.");
    }
    let report = args.out.join(report_dir::REPORT);
    line(&format!(
        "Report: {} (each chart as a file: {})",
        report.display(),
        args.out.join(CHARTS).display()
    ));
    if is("failed") {
        diagnostics::note("some measurements failed: the tables name the reasons");
    }
    out
}
