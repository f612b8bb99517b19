//! `pollmatrix faults`: the mistakes that can be switched on, and the proof that scenarios catch them.

mod campaign;
mod cells;
mod kills;
mod list;
mod record;
mod seeds;
mod show;
mod tries;

use std::num::NonZeroU32;
use std::path::Path;
use std::process::ExitCode;

use fd_core::fault::Fault;
use matrix::did_you_mean;
use report::Seed;

use crate::args::{FaultsArgs, RunFormat};
use crate::error::{self, Error};
use crate::journal::Lock;
use crate::plan::Source;
use crate::signals::Stop;
use crate::{exit, generate, output, provenance, rows, run};

use campaign::Campaign;
use kills::Kills;
use tries::Tries;

/// The matrix in the report directory, for programs.
const JSON: &str = "kill-matrix.json";
/// And for people.
const MARKDOWN: &str = "kill-matrix.md";

/// Lists the faults, or runs them.
pub fn run(matrix: Option<&Path>, args: &FaultsArgs) -> Result<ExitCode, Error> {
    if args.list {
        output::print(&list::text(args.format))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !cfg!(feature = "faults") {
        return Err(Error::NoFaults);
    }
    let source = Source::load(matrix)?;
    if args.seeds {
        let stop = Stop::install().map_err(run::cannot_start)?;
        return match seeds::run(&source, args, &stop)? {
            Some((text, held)) => {
                output::print(&text)?;
                Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
            }
            None => Ok(ExitCode::from(stop.signal().unwrap_or(exit::FAILED))),
        };
    }
    let mut faults = args.faults.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    faults.dedup();
    let judged = kills::Judged {
        faults: !faults.is_empty() || args.selection.is_all(),
        scenarios: !args.selection.is_all() || faults.is_empty(),
    };
    if faults.is_empty() {
        faults = Fault::ALL.to_vec();
    }
    let root = match (args.record, &args.root) {
        (true, None) => Some(generate::find_root()?),
        (_, root) => root.clone(),
    };
    let stop = Stop::install().map_err(run::cannot_start)?;
    let mut planned = source.plan(source.target()?, &args.selection.selection())?;
    // The raw pollers are not the core: no fault is in them.
    planned.retain(|cell| rows::find(&cell.subject.scenario).is_none());
    if planned.is_empty() {
        return Err(Error::NothingToFault(args.selection.selection().describe()));
    }
    let mut kills = Kills::new(&faults, planned, judged, Seed(0));
    // Before anything is touched: it may be wrong.
    let rows = if args.quick { Some(record::read(args.recorded.as_deref(), &kills)?) } else { None };
    let dir = args.report_dir.path.as_path();
    let _lock = Lock::take(dir)?;
    let tries = Tries::begin(&source, args)?;
    let campaign = Campaign::new(&source, &tries, &stop, args);
    kills.seed = tries.seed();
    let unrecorded = match &rows {
        Some(rows) => campaign.quick(rows, &mut kills)?,
        None => {
            campaign.run(&mut kills, args.cells.get())?;
            Vec::new()
        }
    };
    kills.finished = provenance::now();
    output::write_file(&dir.join(JSON), &show::json(&kills))?;
    output::write_file(&dir.join(MARKDOWN), &show::markdown(&kills))?;
    output::print(&match args.format {
        RunFormat::Json => show::json(&kills),
        RunFormat::Markdown => show::markdown(&kills),
        RunFormat::Text => show::text(&kills, args.quick),
    })?;
    if let Some(signal) = stop.signal() {
        error::note("interrupted: the same command with --resume continues");
        return Ok(ExitCode::from(signal));
    }
    for problem in &unrecorded {
        error::warning(problem);
    }
    if !unrecorded.is_empty() {
        error::note("`pollmatrix faults --record` runs everything and writes the record again");
    }
    let held = unrecorded.is_empty() && kills.verdict().holds();
    if let Some(root) = root {
        // What is not proven is missing in it, and --quick says so.
        error::note(&record::write(&root, &kills)?);
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// The fault of this name, if this program can switch it on.
pub fn find(name: &str) -> Result<Fault, Error> {
    let found = by_name(name);
    let fault =
        found.ok_or_else(|| Error::UnknownFault { name: name.to_owned(), help: did_you_mean_fault(name) })?;
    if cfg!(feature = "faults") { Ok(fault) } else { Err(Error::NoFaults) }
}

/// The rate, if this program can inject errors.
pub fn injectable(one_in: NonZeroU32) -> Result<NonZeroU32, Error> {
    if cfg!(feature = "faults") { Ok(one_in) } else { Err(Error::NoFaults) }
}

/// Makes system calls below the core fail for the rest of this process.
pub fn inject(seed: Seed, cell: &str, one_in: NonZeroU32) {
    #[cfg(feature = "faults")]
    fd_core::inject::enable(seed.0, cell, one_in);
    #[cfg(not(feature = "faults"))]
    let _ = (seed, cell, one_in);
}

fn by_name(name: &str) -> Option<Fault> {
    Fault::ALL.iter().find(|fault| fault.name() == name).copied()
}

fn did_you_mean_fault(name: &str) -> String {
    match matrix::nearest(name, Fault::ALL.iter().map(|fault| fault.name())) {
        Some(_) => did_you_mean(name, Fault::ALL.iter().map(|fault| fault.name())),
        None => "`pollmatrix faults --list` shows them".into(),
    }
}

/// Switches the fault on for the rest of this process.
pub fn enable(fault: Fault) {
    #[cfg(feature = "faults")]
    fd_core::fault::enable(fault);
    #[cfg(not(feature = "faults"))]
    let _ = fault;
}
