//! `pollmatrix worker cell`: one attempt at one cell, in this process.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use matrix::Cell;
use matrix::outcome::CellOutcome;
use matrix::plan::{self, Source};
use matrix::{Environment, cell, exit, faults, lifeline, output};
use metadata::{Attempt, CellId, Layer, Seed, start_error};

use crate::args::{FaultArg, InjectArg, LateArg, SlowArg, TimelineArg};
use crate::error::Error;

/// How to mend a thread that cannot be started.
const MORE_THREADS: &str = "raise the limit of threads (ulimit -u)";

#[derive(clap::Args)]
pub struct CellArgs {
    /// The cell's full id
    #[arg(value_name = "ID")]
    pub id: String,
    /// The seed of all random choices
    #[arg(long, value_name = "SEED")]
    pub seed: Seed,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub late: LateArg,
    #[command(flatten)]
    pub timeline: TimelineArg,
    #[command(flatten)]
    pub slow: SlowArg,
    /// How long to wait for an expected event, in milliseconds, for runs in which cells are expected to hang
    #[arg(long, value_name = "MS", hide = true, value_parser = clap::value_parser!(u64).range(..=365 * 24 * 3_600_000))]
    pub patience_ms: Option<u64>,
    /// Kill this process group when standard input ends, which means that the process that started it is gone
    #[arg(long, hide = true)]
    pub lifeline: bool,
}

/// Runs the cell, prints its result as one line, and exits.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &CellArgs) -> Result<ExitCode, Error> {
    if args.lifeline {
        lifeline::watch();
    }
    // A runner has planned its cells from the matrix. To read that again would take a third of a short cell's
    // time.
    let planned = if args.lifeline { planned_cell(environment, &args.id) } else { None };
    let cell = match planned {
        Some(cell) => cell,
        None => known_cell(&Source::load(matrix, environment)?, &args.id)?,
    };
    let fault = args.fault.name.as_deref().map(faults::find).transpose()?;
    if let Some(fault) = fault {
        // SAFETY: this process runs one cell with the fault, and no code that relies on the core.
        unsafe { faults::enable(fault) };
    }
    if let Some(one_in) = args.inject.one_in.map(faults::injectable).transpose()? {
        if cell.layer == Layer::Characterisation {
            return Err(Error::NothingToFault(cell.id.to_string()));
        }
        faults::inject(args.seed, &args.id, one_in);
    }
    if let Some(milliseconds) = args.late.most {
        if cell.layer == Layer::Characterisation {
            return Err(Error::NothingToFault(cell.id.to_string()));
        }
        let most = Duration::from_millis(u64::from(milliseconds.get()));
        let action = "start the thread that delays the data of";
        let failed = matrix::Error::io(action, cell.id.to_string(), MORE_THREADS);
        scenarios::late::delay_data(args.seed.0, most).map_err(failed)?;
    }
    end_a_thread()?;
    let slow = args.slow.factor().get();
    let patience = args.patience_ms.map(Duration::from_millis);
    scenarios::set_slowness(slow);
    if let Some(patience) = patience {
        scenarios::set_patience(patience);
    }
    let patience = patience.unwrap_or(raw::PATIENCE).saturating_mul(slow);
    abort_on_panic();

    let began = Instant::now();
    let mut outcome = cell::run(&cell, environment, args.seed.0, patience)?;
    if args.inject.one_in.is_some() {
        add_injected_errors(&mut outcome);
    }
    if args.late.most.is_some() {
        outcome.counters.insert("writes_delayed".into(), scenarios::late::delayed_writes());
    }
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let attempt = Attempt {
        cell: args.id.clone(),
        status: outcome.status,
        reason: outcome.reason,
        seed: args.seed,
        fault: fault.map(|fault| fault.name().to_owned()),
        inject_errors: args.inject.one_in,
        late_data: args.late.most,
        duration_ms,
        checks: outcome.checks,
        counters: outcome.counters,
        notes: outcome.notes,
        timeline: outcome.timeline.filter(|_| args.timeline.of_all || outcome.status.is_failure()),
        stderr: String::new(),
    };
    let code = match output::print_line(metadata::json_line(&attempt).trim_end()) {
        Ok(()) => exit::of_cell(attempt.status),
        Err(lost) => {
            Error::from(lost).print();
            exit::ERROR
        }
    };
    // Exits instead of returning, because a failed scenario can leave threads behind that never end.
    std::process::exit(i32::from(code))
}

/// Starts a thread and waits for its end. On FreeBSD, the first thread that ends in a process loads a library
/// (libthr needs libgcc_s to unwind), for which it borrows the lowest free descriptor: the number that a
/// scenario is about to use.
fn end_a_thread() -> Result<(), Error> {
    let thread = std::thread::Builder::new().spawn(|| ());
    let ended = thread
        .map_err(start_error)
        .and_then(|thread| thread.join().map_err(|_| std::io::Error::other("it panicked")));
    Ok(ended.map_err(matrix::Error::io("start a thread of", "this process", MORE_THREADS))?)
}

/// Adds the counts of injected errors to the outcome.
fn add_injected_errors(outcome: &mut CellOutcome) {
    let counts = fd_core::hooks::inject::counts();
    outcome.counters.insert("errors_injected".into(), counts.iter().map(|(_, _, count)| count).sum());
    let lines =
        counts.iter().map(|(call, errno, count)| format!("{}: {errno:?}, {count} times", call.name()));
    outcome.notes.push(format!("errors injected\n{}", lines.collect::<Vec<_>>().join("\n")));
}

/// Returns the cell that a runner has planned. The runner keeps its time limit.
fn planned_cell(environment: &Environment, id: &str) -> Option<Cell> {
    let id: CellId = id.parse().ok()?;
    let variant = id.variant.parse().ok()?;
    let is_scripted = environment.scripted(&id.scenario).is_some();
    let layer = if is_scripted { Layer::Characterisation } else { Layer::Contract };
    Some(Cell { id, variant, layer, timeout: Duration::MAX })
}

/// Returns the cell of this id, if the matrix has it.
fn known_cell(source: &Source<'_>, id: &str) -> Result<Cell, Error> {
    // Not from the list of all cells, which takes a third of a short cell's time.
    let known = id.parse().ok().and_then(|id| source.matrix.cell(&id));
    known.ok_or_else(|| plan::unknown_cell(id, &source.matrix.cells()).into())
}

/// Makes a panic of any thread abort the process after its message. Otherwise the scenario would wait for a
/// thread that no longer exists, and the result would be a timeout instead of the violated invariant.
fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::abort();
    }));
}
