//! `pollmatrix cost`: what the operations of a poller cost.

use std::path::Path;
use std::process::ExitCode;

use cost::{Operation, Plan, has_threads, measure};
use metadata::{Cost, CostOutcome, Mode, Results, did_you_mean};
use runner::backends::Poller;
use runner::journal::Lock;
use runner::plan::Source;
use runner::signals::{self, Stop};
use runner::{Environment, output, provenance, report_dir};

use crate::args::{CostArgs, RunFormat};
use crate::error::Error;
use crate::exit;
use crate::shown::Shown;

/// Measures the costs, writes the report, and prints the tables.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &CostArgs) -> Result<ExitCode, Error> {
    let target = Source::load(matrix, environment)?.target()?.id.clone();
    let plans = plans(environment, args)?;
    runner::descriptor_limits::raise_to_hard_limit();
    let _lock = Lock::take(&args.report_dir)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let mut run = provenance::run_here(target.clone(), provenance::now());
    run.subjects = environment.versions();
    run.selection = selection(args);
    let mut costs = Vec::with_capacity(plans.len());
    let mut shown = Shown::new(plans.len() as u64);
    for (poller, plan) in &plans {
        if stop.requested() {
            break;
        }
        shown.update(costs.len() as u64, || {
            let Plan { operation, mode, threads, descriptors, .. } = plan;
            let name = poller.name;
            let of = format!("{}/{}", costs.len(), plans.len());
            format!("{of} {operation} {} {name}, {descriptors} descriptors, {threads} threads", mode.name())
        });
        costs.push(Cost {
            target: target.clone(),
            poller: poller.name.to_owned(),
            operation: plan.operation.name().to_owned(),
            mode: plan.mode.name().to_owned(),
            threads: plan.threads,
            descriptors: plan.descriptors as u64,
            outcome: measure(poller.make, plan),
        });
    }
    shown.end();
    run.interrupted = stop.signal().is_some();
    run.finished = provenance::now();
    costs.sort_by(|one, other| one.key().cmp(&other.key()));
    let results = Results { runs: vec![run], costs, ..Results::of_no_run(Vec::new()) };
    report_dir::write(&args.report_dir, &results)?;
    print(&results, args)?;
    let is_noise = |cost: &Cost| matches!(cost.outcome, CostOutcome::Noise { .. });
    Ok(match stop.signal() {
        Some(signal) => ExitCode::from(signal),
        None if results.costs.iter().any(is_noise) => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// Returns every measurement, in an order in which the pollers of one figure follow each other: a drift of
/// the machine concerns all of them.
fn plans(environment: &Environment, args: &CostArgs) -> Result<Vec<(Poller, Plan)>, Error> {
    let operations = chosen(&args.operations, &Operation::ALL, "operation", |operation| operation.name())?;
    let modes = chosen(&args.modes, &[Mode::Level, Mode::Edge], "mode", |mode| mode.name())?;
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
    let find = |name: &String| {
        all.iter().find(|value| name_of(value) == name).copied().ok_or_else(|| Error::NoSuch {
            what,
            name: name.clone(),
            help: did_you_mean(name, all.iter().map(&name_of)),
        })
    };
    if names.is_empty() { Ok(all.to_vec()) } else { names.iter().map(find).collect() }
}

/// Returns the options that chose the costs, for the report.
fn selection(args: &CostArgs) -> String {
    let named = |option: &str, values: &[String]| {
        values.iter().map(|value| format!(" --{option} {value}")).collect::<String>()
    };
    let operations = args.operations.join(" ");
    format!("cost {operations}{}{}", named("backend", &args.backends), named("mode", &args.modes))
        .trim_end()
        .to_owned()
}

fn print(results: &Results, args: &CostArgs) -> Result<(), Error> {
    output::print(&match args.format {
        RunFormat::Json => results.to_json(),
        RunFormat::Markdown => report::markdown::report(results),
        RunFormat::Text => {
            let report = args.report_dir.join("report.html");
            format!("{}Report: {}\n", report::costs::terminal(results), report.display())
        }
    })?;
    Ok(())
}
