//! The `pollmatrix` command: joins the matrix, the scenarios, the backends and the reports.
//!
//! It is a library so that the generated tests start cells in the same way as `pollmatrix run` does
//! ([`testing`]).

mod args;
mod backends;
mod catalogue;
mod error;
mod exit;
mod faults;
mod generate;
mod journal;
mod list;
mod output;
mod plan;
mod progress;
mod provenance;
mod run;
mod run_cell;
mod schedule;
mod selftest;
mod show;
mod signals;
mod split;
mod supervise;
pub mod testing;

use std::process::ExitCode;

use args::Command;

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    let args = args::parse();
    let matrix = args.matrix.as_deref();
    let ended = match args.command {
        Command::Run(args) => run::run(matrix, &args),
        Command::List(args) => list::run(matrix, &args),
        Command::Show(args) => show::run(matrix, &args),
        Command::Faults(args) => faults::run(&args),
        Command::Plan(args) => split::run(matrix, &args),
        Command::Generate(args) => generate::run(&args),
        Command::RunCell(args) => run_cell::run(matrix, &args),
    };
    ended.unwrap_or_else(|error| {
        error.print();
        ExitCode::from(exit::ERROR)
    })
}
