//! The `pollmatrix` command: its arguments, its subcommands, and their output.

mod adapter_check;
mod all_targets;
mod args;
mod below;
mod cost;
mod diff;
mod error;
mod exec;
mod exit;
mod expectations;
mod explore;
mod faults;
mod generate;
mod history;
mod input;
mod judge;
mod kernel_answers;
mod kernels;
pub mod lab;
mod list;
mod merge;
mod probe;
mod record;
mod run;
mod run_cell;
mod show;
mod shown;
mod site;
mod site_check;
mod soak;
mod targets;
mod triage;
mod vm;

use std::process::ExitCode;

use args::{Args, Command, WorkerMode};
use error::Error;
use matrix::{Environment, descriptor_limits, diagnostics};

/// Runs the subcommand that the process's arguments select.
pub fn main() -> ExitCode {
    descriptor_limits::raise();
    match args::parse() {
        Ok(args) => run(&args).unwrap_or_else(|error| error.exit()),
        Err(code) => code,
    }
}

fn run(args: &Args) -> Result<ExitCode, Error> {
    let (matrix, expectations) = (args.matrix.as_deref(), args.expectations.as_deref());
    // The standard error of a cell belongs to its result, so it does not contain messages of adapters.
    if !matches!(args.command, Command::Worker { mode: WorkerMode::Cell(_) | WorkerMode::Lines(_) }) {
        adapters::show_messages(diagnostics::message);
    }
    let environment = || environment(args, false);
    match &args.command {
        Command::Run(args) => run::run(&environment()?, matrix, args),
        Command::List(args) => list::run(&environment()?, matrix, args),
        Command::Targets(args) => targets::run(&environment()?, matrix, args),
        Command::Show(args) => show::run(&environment()?, matrix, args),
        Command::Merge(args) => merge::run(&environment()?, matrix, args),
        Command::Diff(args) => diff::run(args),
        Command::Faults(args) => faults::run(&environment()?, matrix, args),
        Command::Soak(args) => soak::run(args),
        Command::Expectations(given) => expectations::run(&environment()?, matrix, expectations, given),
        Command::Probe(args) => probe::run(&environment()?, args),
        // It knows its pollers without the options of a run.
        Command::Explore(given) => explore::run(given, expectations),
        Command::Record(given) => record::run(expectations, given),
        Command::Judge(given) => judge::run(expectations, given),
        Command::Site(args) => site::run(expectations, args),
        Command::Cost(args) => cost::run(&environment()?, matrix, args),
        Command::AdapterCheck(args) => adapter_check::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Vm(args) => vm::run(args),
        Command::Worker { mode } => worker(mode, args),
    }
}

/// Is a process that this program has started from its own file.
fn worker(mode: &WorkerMode, args: &Args) -> Result<ExitCode, Error> {
    let matrix = args.matrix.as_deref();
    match mode {
        WorkerMode::Exec(given) => exec::run(&environment(args, false)?, matrix, given),
        WorkerMode::Cell(given) => run_cell::run(&environment(args, true)?, matrix, given),
        WorkerMode::Script(given) => probe::perform(&environment(args, false)?, given),
        // A guest has neither time for the expectations nor, as the first process, /proc.
        WorkerMode::Guest(given) => vm::guest(given),
        WorkerMode::Guard { spec, arguments } => vm::guard(spec, arguments),
        WorkerMode::Lines(given) => explore::perform(given),
        WorkerMode::Operation(given) => cost::perform_operation(given),
    }
}

/// Loads what the options of all commands name. `keep` the adapters that were started, if this process tests
/// them.
fn environment(args: &Args, keep: bool) -> Result<Environment, Error> {
    let expectations = args.expectations.as_deref();
    let loaded =
        Environment::load(lab::boxed(), expectations, &args.adapters, keep, args.command.slowness())?;
    Ok(loaded.with_behaviours(args.behaviours.as_deref())?)
}
