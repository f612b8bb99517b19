//! `pollmatrix worker`: the processes that this program starts from its own file.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cost::OperationArgs;
use crate::error::Error;
use crate::exec::ExecArgs;
use crate::explore::LinesArgs;
use crate::probe::ScriptArgs;
use crate::run_cell::CellArgs;
use crate::vm::GuestArgs;
use crate::{Common, cost, documents, exec, exit, explore, probe, run_cell, vm};

/// What a worker does.
#[derive(clap::Subcommand)]
pub enum WorkerMode {
    /// Run cells natively on this machine, and print the results as JSON lines; write no file by default
    ///
    /// `pollmatrix run --runner` starts this command on the other side. It also runs by hand on a machine
    /// that has nothing but this program and a serial console. Each line is one JSON object: first
    /// {"line":"begin"} with the provenance, then one {"line":"cell"} per result, and {"line":"end"} if the
    /// results are complete. `pollmatrix run --runner import` reads these lines, even with the messages of a
    /// console between them.
    #[command(after_help = exit::EXEC_HELP)]
    Exec(Box<ExecArgs>),
    /// Run one attempt of one cell in this process, and print its result as one JSON line
    ///
    /// `pollmatrix run` starts one such process per attempt. It has no time limit, and it can leave signals,
    /// limits and descriptors changed until it exits. Use it under a debugger or a tracer.
    #[command(after_help = exit::CELL_HELP)]
    Cell(CellArgs),
    /// Run one script on one poller, and print its answers as one JSON line
    Script(ScriptArgs),
    /// Perform the lines of an exploration
    Lines(LinesArgs),
    /// Perform an operation of a poller, whose system calls the parent process counts
    Operation(OperationArgs),
    /// Be the part of the runner `vm` in the virtual machine
    Guest(GuestArgs),
    /// Run the virtual machine of a specification until standard input ends
    Guard {
        /// The specification
        spec: PathBuf,
        /// The arguments of the executor
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Write the shell completions and the manual pages of a release
    Documents {
        /// The folder that gets the folders completions and man
        folder: PathBuf,
    },
}

/// Is one of these processes.
pub fn run(common: &Common, mode: &WorkerMode, slowness: NonZeroU32) -> Result<ExitCode, Error> {
    let matrix = common.matrix.as_deref();
    let environment = |keep| common.environment(keep, slowness);
    match mode {
        WorkerMode::Exec(args) => exec::run(&environment(false)?, matrix, args),
        WorkerMode::Cell(args) => run_cell::run(&environment(true)?, matrix, args),
        WorkerMode::Script(args) => probe::perform(&environment(false)?, args),
        // A guest has neither time for the expectations nor, as the first process, /proc.
        WorkerMode::Guest(args) => vm::guest(args),
        WorkerMode::Guard { spec, arguments } => vm::guard(spec, arguments),
        WorkerMode::Documents { folder } => documents::write(folder),
        WorkerMode::Lines(args) => explore::perform(args),
        WorkerMode::Operation(args) => cost::perform_operation(args),
    }
}
