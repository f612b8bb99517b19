//! `pollmatrix cost`: what the operations of a poller cost.

mod journal;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cost::{Measurement, Operation, Plan, calls, has_threads, measure};
use matrix::backends::{self, Poller};
use matrix::command::word;
use matrix::executable::{self, Executable};
use matrix::journal::Lock;
use matrix::plan::Source;
use matrix::signals::{self, Stop};
use matrix::{
    Environment, descriptor_limits, diagnostics, environment, output, provenance, report_dir, system,
};
use metadata::{Calls, Cost, CostOutcome, Mode, Results, did_you_mean};

use self::journal::{Identity, Journal};
use crate::args::RunFormat;
use crate::error::Error;
use crate::shown::Shown;
use crate::{exit, lab};

#[derive(clap::Args)]
pub struct CostArgs {
    /// Only operations with this name: register, modify, remove, close, wait-one, wait-all, wake, hand-over
    #[arg(value_name = "OPERATION")]
    pub operations: Vec<String>,
    /// Only this poller; repeatable [default: the backends of this system, and the `--adapter`s]
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<String>,
    /// Only this mode: level, edge; repeatable
    #[arg(long = "mode", value_name = "MODE")]
    pub modes: Vec<String>,
    /// The numbers of registered descriptors
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "10,30,100,300,1000,3000,10000,30000,100000",
        value_parser = clap::value_parser!(u64).range(2..=10_000_000)
    )]
    pub descriptors: Vec<u64>,
    /// The numbers of threads that do it at once, each with a poller of its own [default: 1 and the number of
    /// processors]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Vec<u32>,
    /// The number of pairs of samples of each cost
    #[arg(long, value_name = "N", default_value = "21", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub pairs: u32,
    /// Refuse a figure whose 95 % interval is wider than this many percent of it
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = noise)]
    pub noise: f64,
    /// Continue the interrupted run in the report directory, with the same options. Noise is measured again
    #[arg(long)]
    pub resume: bool,
    /// The report directory
    #[arg(long = "report-dir", value_name = "DIR", default_value = "pollmatrix-costs")]
    pub report_dir: PathBuf,
    /// The format to print; the report directory always gets every format
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

/// Reads a percentage.
fn noise(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent > 0.0 => Ok(percent),
        _ => Err("a number above 0 is needed".to_owned()),
    }
}

#[derive(clap::Args)]
pub struct OperationArgs {
    /// The poller
    #[arg(value_name = "POLLER")]
    pub poller: String,
    /// The operation
    #[arg(value_name = "OPERATION")]
    pub operation: String,
    /// The mode
    #[arg(value_name = "MODE")]
    pub mode: String,
    /// The number of registered descriptors
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub descriptors: u64,
}

/// The modes that are measured.
const MODES: [Mode; 2] = [Mode::Level, Mode::Edge];

/// The seconds after which a process whose system calls are counted is ended.
const COUNT_LIMIT: u32 = 120;

/// Measures the costs, writes the report, and prints the tables.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &CostArgs) -> Result<ExitCode, Error> {
    let target = Source::load(matrix, environment)?.target()?.id.clone();
    let plans = plans(environment, args)?;
    descriptor_limits::raise_to_hard_limit();
    let _lock = Lock::take(&args.report_dir)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let held = Executable::hold(&executable::own()?, &args.report_dir, true)?;
    let mut run = provenance::run_here(target, provenance::now());
    run.executable = held.hash().unwrap_or_default().to_owned();
    run.adapters = environment.versions();
    run.selection = selection(environment, args);
    let identity = Identity {
        machine: machine(),
        target: run.target.clone(),
        executable: run.executable.clone(),
        commit: run.commit.clone(),
        options: format!("{} --pairs {} --noise {}", run.selection, args.pairs, args.noise),
    };
    let mut journal = Journal::open(&args.report_dir, &identity, &run.started, args.resume)?;
    (run.started, run.resumed) = (journal.started.clone(), journal.resumed);
    let costs = measure_all(environment, &plans, &run.target, held.path(), &mut journal, &stop)?;

    let is_complete = stop.signal().is_none();
    run.interrupted = !is_complete;
    run.finished = provenance::now();
    let results = Results { runs: vec![run], costs, ..Results::of_no_run(Vec::new()) };
    report_dir::write(&args.report_dir, &results)?;
    // After the report: if it cannot be written, the run can still be resumed.
    if is_complete {
        journal.complete()?;
    }
    print(&results, environment, args)?;
    let is_noise = |cost: &Cost| matches!(cost.outcome, CostOutcome::Noise { .. });
    Ok(match stop.signal() {
        Some(signal) => ExitCode::from(signal),
        None if results.costs.iter().any(is_noise) => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// Measures what the journal does not have yet, until a signal stops it. Returns all costs, sorted.
fn measure_all(
    environment: &Environment,
    plans: &[(Poller, Plan)],
    target: &str,
    executable: &Path,
    journal: &mut Journal,
    stop: &Stop,
) -> Result<Vec<Cost>, Error> {
    let mut costs = std::mem::take(&mut journal.known);
    if journal.resumed > 0 {
        diagnostics::note(&format!("{} of {} costs are already measured", costs.len(), plans.len()));
    }
    let mut counted: BTreeMap<_, Calls> = BTreeMap::new();
    for cost in &costs {
        counted.extend(cost.calls.clone().map(|calls| (count_key(cost), calls)));
    }
    let mut shown = Shown::new(plans.len() as u64);
    for (index, (poller, plan)) in plans.iter().enumerate() {
        let mut cost = Cost {
            target: target.to_owned(),
            poller: poller.name.to_owned(),
            operation: plan.operation.name().to_owned(),
            mode: plan.mode.name().to_owned(),
            threads: plan.threads,
            descriptors: plan.descriptors as u64,
            outcome: CostOutcome::NotMeasured { reason: String::new() },
            calls: None,
            unbound: None,
        };
        if costs.iter().any(|known| known.key() == cost.key()) {
            continue;
        }
        if stop.requested() {
            break;
        }
        shown.update(index as u64, || {
            let Plan { operation, mode, threads, descriptors, .. } = plan;
            let name = poller.name;
            let of = format!("{index}/{}", plans.len());
            format!("{of} {operation} {} {name}, {descriptors} descriptors, {threads} threads", mode.name())
        });
        Measurement { outcome: cost.outcome, unbound: cost.unbound } = measure(poller.make, plan);
        if !matches!(cost.outcome, CostOutcome::NotMeasured { .. }) {
            let count = || count(environment, executable, poller, plan);
            cost.calls = Some(counted.entry(count_key(&cost)).or_insert_with(count).clone());
        }
        // The signal of a terminal ends other processes, too, which is no reason that a report should name.
        let is_whole = !matches!(cost.outcome, CostOutcome::NotMeasured { .. })
            && matches!(cost.calls, Some(Calls::Counted { .. }));
        if stop.requested() && !is_whole {
            break;
        }
        journal.append(&cost)?;
        costs.push(cost);
    }
    shown.end();
    costs.sort_by(|one, other| one.key().cmp(&other.key()));
    Ok(costs)
}

/// What system calls depend on. Each thread has a poller of its own, so the number of threads is no part of
/// it.
fn count_key(cost: &Cost) -> (String, String, String, u64) {
    (cost.operation.clone(), cost.mode.clone(), cost.poller.clone(), cost.descriptors)
}

/// Counts the system calls of an operation, in a process of its own.
fn count(environment: &Environment, executable: &Path, poller: &Poller, plan: &Plan) -> Calls {
    let typed = environment.adapter_argument(poller.name).unwrap_or(poller.name);
    if backends::find(typed).is_none() && adapters::find(typed).is_none() {
        return Calls::NotCounted { reason: "it is a program, which is not traced".to_owned() };
    }
    let mut command = Command::new(executable);
    command.args(["worker", "operation", typed, plan.operation.name(), plan.mode.name()]);
    command.arg(plan.descriptors.to_string());
    calls::count(command)
}

/// Performs an operation for the tracer, and ends without another system call of the poller.
pub fn perform_operation(args: &OperationArgs) -> Result<ExitCode, Error> {
    // A poller that hangs, or one without its tracer.
    nix::unistd::alarm::set(COUNT_LIMIT);
    descriptor_limits::raise_to_hard_limit();
    let poller = environment::poller_of(&*lab::boxed(), &args.poller, true, NonZeroU32::MIN)?;
    let plan = Plan {
        operation: one(&args.operation, Operation::ALL, "operation", |operation| operation.name())?,
        mode: one(&args.mode, &MODES, "mode", |mode| mode.name())?,
        threads: 1,
        descriptors: usize::try_from(args.descriptors).unwrap_or(usize::MAX),
        pairs: 1,
        noise: f64::INFINITY,
    };
    let performed = cost::perform(poller.make, &plan);
    output::print_line(metadata::json_line(&performed).trim_end())?;
    std::process::exit(0)
}

/// Describes what costs depend on: the kernel, and the processors.
fn machine() -> String {
    let (kernel, machine) = provenance::kernel();
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map(|(_, name)| format!(" {name}")).unwrap_or_default();
    format!("{} {kernel}, {} x {machine}{model}", system::name(), provenance::cpus())
}

/// Returns every measurement, in an order in which the pollers of one figure follow each other: a drift of
/// the machine concerns all of them.
fn plans(environment: &Environment, args: &CostArgs) -> Result<Vec<(Poller, Plan)>, Error> {
    let operations = chosen(&args.operations, Operation::ALL, "operation", |operation| operation.name())?;
    let modes = chosen(&args.modes, &MODES, "mode", |mode| mode.name())?;
    let pollers: Vec<_> = match args.backends.as_slice() {
        [] => environment.pollers().collect(),
        names => names.iter().map(|name| environment.poller(name)).collect::<Result<_, _>>()?,
    };
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = vec![1, u32::try_from(provenance::cpus()).unwrap_or(1)];
    }
    let mut descriptors = args.descriptors.clone();
    threads.sort_unstable();
    threads.dedup();
    descriptors.sort_unstable();
    descriptors.dedup();
    let mut plans = Vec::new();
    for &operation in &operations {
        for &mode in &modes {
            for &threads in threads.iter().filter(|threads| **threads == 1 || has_threads(operation)) {
                for &number in &descriptors {
                    let plan = Plan {
                        operation,
                        mode,
                        threads,
                        descriptors: usize::try_from(number).unwrap_or(usize::MAX),
                        pairs: args.pairs,
                        noise: args.noise,
                    };
                    // A poller without edges is no gap of the edge-triggered figures.
                    let has_mode = |poller: &&Poller| mode == Mode::Level || has_edges(poller);
                    plans.extend(pollers.iter().filter(has_mode).map(|poller| (*poller, plan)));
                }
            }
        }
    }
    Ok(plans)
}

/// Whether a poller has edge-triggered registrations.
fn has_edges(poller: &Poller) -> bool {
    (poller.make)().is_ok_and(|selector| selector.capabilities().modes.contains(&Mode::Edge))
}

/// Returns the values with these names, or all.
fn chosen<T: Copy>(
    names: &[String],
    all: &[T],
    what: &'static str,
    name_of: impl Fn(&T) -> &'static str,
) -> Result<Vec<T>, Error> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    names.iter().map(|name| one(name, all, what, &name_of)).collect()
}

/// Returns the value with this name.
fn one<T: Copy>(
    name: &str,
    all: &[T],
    what: &'static str,
    name_of: impl Fn(&T) -> &'static str,
) -> Result<T, Error> {
    all.iter().find(|value| name_of(value) == name).copied().ok_or_else(|| Error::NoSuch {
        what,
        name: name.to_owned(),
        help: did_you_mean(name, all.iter().map(&name_of)),
    })
}

/// Returns the options that chose the costs, for the report.
fn selection(environment: &Environment, args: &CostArgs) -> String {
    let mut words = vec!["cost".to_owned()];
    words.extend(args.operations.iter().cloned());
    let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), value.to_owned()]);
    for typed in environment.adapters().filter_map(|name| environment.adapter_argument(name)) {
        option("adapter", &if typed.contains(' ') { word(typed) } else { typed.to_owned() });
    }
    args.backends.iter().for_each(|backend| option("backend", backend));
    args.modes.iter().for_each(|mode| option("mode", mode));
    for (name, numbers) in [("descriptors", listed(&args.descriptors)), ("threads", listed(&args.threads))] {
        if !numbers.is_empty() {
            option(name, &numbers);
        }
    }
    words.join(" ")
}

/// Returns numbers as an option takes them: `10,100`.
fn listed(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn print(results: &Results, environment: &Environment, args: &CostArgs) -> Result<(), Error> {
    output::print(&match args.format {
        RunFormat::Json => results.to_json(),
        RunFormat::Markdown => report::markdown::report(results),
        RunFormat::Text => {
            let mut text = report::costs::terminal(results);
            if results.interrupted() {
                let dir = word(&args.report_dir.display().to_string());
                text.push_str(&format!(
                    "Interrupted: `pollmatrix {} --pairs {} --noise {} --report-dir {dir} --resume` continues.\n",
                    selection(environment, args),
                    args.pairs,
                    args.noise,
                ));
            }
            let report = args.report_dir.join("report.html");
            format!("{text}Report: {}\n", report.display())
        }
    })?;
    Ok(())
}
