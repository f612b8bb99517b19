//! The `pollmatrix` command: its arguments, its subcommands, and their output.

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
mod kubernetes;
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
mod split;
mod subject_check;
mod targets;
mod triage;
mod vm;

use std::process::ExitCode;

use args::{Args, Command};
use error::Error;
use runner::{Environment, descriptor_limits, diagnostics};

/// Runs the subcommand that the process's arguments select.
pub fn main() -> ExitCode {
    descriptor_limits::raise();
    match args::parse() {
        Ok(args) => run(&args).unwrap_or_else(|error| error.exit()),
        Err(code) => code,
    }
}

fn run(args: &Args) -> Result<ExitCode, Error> {
    // A guest has neither time for the expectations nor, as the first process, /proc.
    match &args.command {
        Command::Guest(args) => return vm::guest(args),
        Command::Vm(args) => return vm::run(args),
        // It knows its pollers without the options of a run.
        Command::Explore(given) => {
            subjects::show_messages(diagnostics::message);
            return explore::run(given, args.expectations.as_deref());
        }
        Command::Perform(args) => return explore::perform(args),
        Command::PerformOperation(args) => return cost::perform_operation(args),
        _ => {}
    }
    let matrix = args.matrix.as_deref();
    let expectations = args.expectations.as_deref();
    let here = matches!(&args.command, Command::RunCell(_));
    if !here {
        // The standard error of a cell belongs to its result, so it does not contain messages of adapters.
        subjects::show_messages(diagnostics::message);
    }
    // The adapters of a cluster are in the image, not on this machine.
    let adapters = if args.command.is_for_a_cluster() { &[][..] } else { &args.adapters };
    let environment = &Environment::load(expectations, adapters, here, args.command.slowness())?
        .with_rows(args.rows.as_deref())?;
    match &args.command {
        Command::Run(args) => run::run(environment, matrix, args),
        Command::List(args) => list::run(environment, matrix, args),
        Command::Targets(args) => targets::run(environment, matrix, args),
        Command::Show(args) => show::run(environment, matrix, args),
        Command::Merge(args) => merge::run(environment, matrix, args),
        Command::Diff(args) => diff::run(args),
        Command::Faults(args) => faults::run(environment, matrix, args),
        Command::Soak(args) => soak::run(args),
        Command::Expectations(given) => expectations::run(environment, matrix, expectations, given),
        Command::Probe(args) => probe::run(environment, args),
        Command::Record(given) => record::run(expectations, given),
        Command::Judge(given) => judge::run(expectations, given),
        Command::Site(args) => site::run(expectations, args),
        Command::Cost(args) => cost::run(environment, matrix, args),
        Command::SubjectCheck(args) => subject_check::run(args),
        Command::Plan(given) => split::run(environment, matrix, expectations, &args.adapters, given),
        Command::Generate(args) => generate::run(args),
        Command::Exec(args) => exec::run(environment, matrix, args),
        Command::Guest(args) => vm::guest(args),
        Command::Vm(args) => vm::run(args),
        Command::RunCell(args) => run_cell::run(environment, matrix, args),
        Command::Explore(given) => explore::run(given, expectations),
        Command::Perform(args) => explore::perform(args),
        Command::PerformOperation(args) => cost::perform_operation(args),
    }
}
