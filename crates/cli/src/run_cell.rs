//! `pollmatrix run-cell`: one attempt at one cell, in this very process.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use matrix::Cell;
use metadata::Attempt;
use runner::plan::{self, Source};
use runner::ran::Ran;
use runner::{Environment, cell, exit, faults, lifeline, output};

use crate::args::RunCellArgs;
use crate::error::Error;

/// Runs the cell, prints its result as one line, and leaves the process.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &RunCellArgs) -> Result<ExitCode, Error> {
    if args.lifeline {
        lifeline::watch();
    }
    let cell = known_cell(&Source::load(matrix, environment)?, &args.id)?;
    let fault = args.fault.name.as_deref().map(faults::find).transpose()?;
    if let Some(fault) = fault {
        // SAFETY: this process runs one cell with the fault, and no code that relies on the core.
        unsafe { faults::enable(fault) };
    }
    if let Some(one_in) = args.inject.one_in.map(faults::injectable).transpose()? {
        if characterisation::find(&cell.id.scenario).is_some() {
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
    let mut ran = cell::run(&cell, environment, args.seed.0, patience)?;
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
        Ok(()) => exit::of_cell(attempt.status),
        Err(lost) => {
            Error::from(lost).print();
            exit::ERROR
        }
    };
    // Not a return: a scenario that failed may have left threads that nothing will ever end.
    std::process::exit(i32::from(code))
}

/// Adds which errors were injected.
fn say_injected(ran: &mut Ran) {
    let counts = fd_core::hooks::inject::counts();
    ran.counters.insert("errors_injected".into(), counts.iter().map(|(_, _, count)| count).sum());
    let lines =
        counts.iter().map(|(call, errno, count)| format!("{}: {errno:?}, {count} times", call.name()));
    ran.notes.push(format!("errors injected\n{}", lines.collect::<Vec<_>>().join("\n")));
}

/// The cell of this id, if the matrix has it.
fn known_cell(source: &Source<'_>, id: &str) -> Result<Cell, Error> {
    let cells = source.matrix.cells();
    if let Some(cell) = cells.iter().find(|cell| cell.id.to_string() == id) {
        return Ok(cell.clone());
    }
    Err(plan::unknown_cell(id, &cells).into())
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
