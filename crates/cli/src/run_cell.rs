//! `pollmatrix run-cell`: one attempt at one cell, in this very process.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use matrix::Cell;
use metadata::{Attempt, Status};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, pthread_sigmask};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::getpgrp;

use crate::args::RunCellArgs;
use crate::error::Error;
use crate::plan::Source;
use crate::{catalogue, exit, faults, output, rows};

/// Runs the cell, prints its result as one line, and leaves the process.
pub fn run(matrix: Option<&Path>, args: &RunCellArgs) -> Result<ExitCode, Error> {
    if args.lifeline {
        watch_lifeline();
    }
    let cell = known_cell(matrix, &args.id)?;
    let fault = args.fault.name.as_deref().map(faults::find).transpose()?;
    if let Some(fault) = fault {
        faults::enable(fault);
    }
    if let Some(one_in) = args.inject.one_in.map(faults::injectable).transpose()? {
        if rows::find(&cell.id.scenario).is_some() {
            return Err(Error::NothingToFault(cell.id.to_string()));
        }
        faults::inject(args.seed, &args.id, one_in);
    }
    let slow = args.slow.factor().get();
    let patience = args.patience_ms.map(Duration::from_millis);
    scenarios::set_slowness(slow);
    if let Some(patience) = patience {
        scenarios::set_patience(patience);
    }
    let patience = patience.unwrap_or(characterisation::PATIENCE).saturating_mul(slow);
    abort_on_panic();

    let began = Instant::now();
    let mut ran = catalogue::run(&cell, args.seed.0, patience)?;
    if args.inject.one_in.is_some() {
        say_injected(&mut ran);
    }
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let attempt = Attempt {
        cell: args.id.clone(),
        status: ran.status,
        reason: ran.reason,
        seed: args.seed,
        fault: fault.map(|fault| fault.name().to_owned()),
        inject_errors: args.inject.one_in,
        duration_ms,
        checks: ran.checks,
        counters: ran.counters,
        notes: ran.notes,
        stderr: String::new(),
    };
    let code = match output::print_line(metadata::json_line(&attempt).trim_end()) {
        Ok(()) => code(attempt.status),
        Err(lost) => {
            lost.print();
            exit::ERROR
        }
    };
    // Not a return: a scenario that failed may have left threads that nothing will ever end.
    std::process::exit(i32::from(code))
}

/// Adds which errors were injected.
fn say_injected(ran: &mut catalogue::Ran) {
    let counts = fd_core::inject::counts();
    ran.counters.insert("errors_injected".into(), counts.iter().map(|(_, _, count)| count).sum());
    let lines =
        counts.iter().map(|(call, errno, count)| format!("{}: {errno:?}, {count} times", call.name()));
    ran.notes.push(format!("errors injected\n{}", lines.collect::<Vec<_>>().join("\n")));
}

/// The exit code of a cell that ended so.
pub fn code(status: Status) -> u8 {
    match status {
        Status::Pass | Status::Permitted => 0,
        Status::Unsupported => exit::CELL_UNSUPPORTED,
        Status::Broken => exit::CELL_BROKEN,
        _ => exit::FAILED,
    }
}

/// The cell of this id, if the matrix has it.
fn known_cell(matrix: Option<&Path>, id: &str) -> Result<Cell, Error> {
    let source = Source::load(matrix)?;
    let cells = source.matrix.cells();
    if let Some(cell) = cells.iter().find(|cell| cell.id.to_string() == id) {
        return Ok(cell.clone());
    }
    Err(unknown_cell(id, &cells))
}

/// The error for an id that the matrix does not have.
pub fn unknown_cell(id: &str, cells: &[matrix::Cell]) -> Error {
    let ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
    unknown(id, ids.iter().map(String::as_str))
}

/// The same, with the ids that there are.
pub fn unknown<'a>(id: &str, ids: impl IntoIterator<Item = &'a str>) -> Error {
    let help = match metadata::nearest(id, ids) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "`pollmatrix list` shows every id".to_owned(),
    };
    Error::UnknownCell { id: id.to_owned(), help }
}

/// Kills the process group when standard input ends. Whoever started the cell holds the other end and never
/// writes, so that no cell outlives a runner that was killed. Does nothing if standard input has no other end: a command
/// in front of this program may have put something else there.
pub fn watch_lifeline() {
    let kind = fstat(std::io::stdin()).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    if !matches!(kind, Ok(SFlag::S_IFIFO | SFlag::S_IFSOCK)) {
        return;
    }
    // Signals are the scenario's: this thread, which it does not know of, must not catch any. The mask is
    // inherited, so it is changed around the start of the thread.
    let mut before = SigSet::empty();
    let all = SigSet::all();
    let blocked = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&all), Some(&mut before)).is_ok();
    let watcher = std::thread::Builder::new().name("lifeline".into()).spawn(|| {
        let mut byte = [0];
        while !matches!(std::io::stdin().read(&mut byte), Ok(0)) {}
        let _ = killpg(getpgrp(), Signal::SIGKILL);
        // Still here: the first process of a container, which no signal from inside kills.
        std::process::exit(exit::SIGNAL.into());
    });
    if blocked {
        let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    }
    if let Err(error) = watcher {
        crate::error::warning(&format!("this cell will outlive a runner that is killed: {error}"));
    }
}

/// Makes a panic of any thread end the process after its message. Otherwise the scenario would wait for a
/// thread that no longer exists, and the answer would be a timeout in place of the broken invariant.
fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::abort();
    }));
}
