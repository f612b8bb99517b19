//! The `pollmatrix` command: joins the matrix, the scenarios, the backends and the reports.
//!
//! It is a library so that the generated tests start cells in the same way as `pollmatrix run` does
//! ([`testing`]).

mod args;
mod backends;
mod catalogue;
mod catalogue_page;
mod command;
mod diff;
mod error;
mod everywhere;
mod exec;
mod executable;
mod exit;
mod expectations;
mod expected;
mod faults;
mod generate;
mod history;
mod input;
mod journal;
mod kubernetes;
mod limits;
mod lines;
mod list;
mod merge;
mod output;
mod pipes;
mod plan;
mod probe;
mod progress;
mod provenance;
mod publish;
mod record;
mod remote;
mod rows;
mod run;
mod run_cell;
mod schedule;
mod self_start;
mod selftest;
mod show;
mod signals;
mod soak;
mod split;
mod stream;
mod subject;
mod subject_check;
mod supervise;
mod targets;
pub mod testing;
mod ways;

use std::process::ExitCode;

use args::Command;

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    limits::raise();
    let args = match args::parse() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let matrix = args.matrix.as_deref();
    let here = matches!(&args.command, Command::RunCell(_));
    if !here {
        // A cell's standard error is read by the process that started it.
        subjects::show_messages(error::message);
    }
    // What a cluster is to ask is in the image.
    let asked = if args.command.is_for_a_cluster() { &[][..] } else { &args.subjects };
    let loaded = subject::load(asked, here, args.command.slowness())
        .and_then(|()| expected::load(args.expectations.as_deref()));
    let ended = loaded.and_then(|()| match args.command {
        Command::Run(args) => run::run(matrix, &args),
        Command::List(args) => list::run(matrix, &args),
        Command::Targets(args) => targets::run(matrix, &args),
        Command::Show(args) => show::run(matrix, &args),
        Command::Merge(args) => merge::run(matrix, &args),
        Command::Diff(args) => diff::run(&args),
        Command::Faults(args) => faults::run(matrix, &args),
        Command::Soak(args) => soak::run(&args),
        Command::Expectations(given) => expectations::run(matrix, args.expectations.as_deref(), &given),
        Command::Probe(args) => probe::run(&args),
        Command::Record(given) => record::run(args.expectations.as_deref(), &given),
        Command::Publish(args) => publish::run(&args),
        Command::SubjectCheck(args) => subject_check::run(&args),
        Command::Plan(given) => split::run(matrix, args.expectations.as_deref(), &args.subjects, &given),
        Command::Generate(args) => generate::run(&args),
        Command::Exec(args) => exec::run(matrix, &args),
        Command::RunCell(args) => run_cell::run(matrix, &args),
    });
    ended.unwrap_or_else(|error| error.exit())
}
