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
use matrix::Selection;
use metadata::{Seed, did_you_mean};

use crate::args::{FaultsArgs, RunFormat};
use crate::error::{self, Error};
use crate::executable::{self, Executable};
use crate::journal::Lock;
use crate::plan::{Planned, Source};
use crate::signals::Stop;
use crate::{exit, generate, output, provenance, rows, run};

use campaign::{Breadth, Campaign};
use kills::{CONTROL, Kills};
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
    let known = contract_cells(&source, &Selection::default())?;
    let planned = contract_cells(&source, &args.selection.selection())?;
    if planned.is_empty() {
        return Err(Error::NothingToFault(args.selection.selection().describe()));
    }
    let controls = known.iter().filter(|cell| cell.subject.scenario == CONTROL).cloned().collect();
    let mut kills = Kills::new(&faults, planned, controls, judged);
    if let Some(cell) = kills.uncontrolled() {
        return Err(Error::NoControl(cell.to_owned()));
    }
    // Before anything is touched: it may be wrong.
    let record = match &root {
        Some(root) => record::of_this_system(root, &known),
        None if args.quick => record::read(args.recorded.as_deref(), &known)?,
        None => record::built_in(&known),
    };
    match &root {
        Some(_) => kills.follow(&record),
        None => kills.excuse(&record),
    }
    if args.record && args.selection.has_prefixes() && !args.faults.is_empty() {
        kills.want_all();
    }
    let dir = args.report_dir.path.as_path();
    let _lock = Lock::take(dir)?;
    let executable = Executable::hold(&executable::own()?, dir, true)?;
    let tries = Tries::begin(&source, &executable, args)?;
    let campaign = Campaign::new(&source, &executable, &tries, &stop, args);
    kills.seed = tries.seed();
    let unrecorded = match args.quick {
        true => campaign.quick(&record.rows, &mut kills)?,
        false => {
            campaign.run(&mut kills, breadth(args))?;
            Vec::new()
        }
    };
    // While a record is written it is tried whether the reasons still hold.
    kills.excuse(&record);
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
    let mut held = unrecorded.is_empty() && kills.verdict().holds();
    if let Some(root) = root {
        // What is not proven is missing in it, and --quick says so.
        error::note(&record::write(&root, &kills, &known)?);
        for fault in kills.unrecorded() {
            held = false;
            error::warning(&format!("{fault} has no line any more: the harness catches it"));
            error::note(&format!("`pollmatrix faults {CONTROL} --record --fault {fault}` records that"));
        }
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// The selected cells of the core. The raw pollers are not the core: no fault is in them.
fn contract_cells(source: &Source, selection: &Selection) -> Result<Vec<Planned>, Error> {
    let mut planned = source.plan(source.target()?, selection)?;
    planned.retain(|cell| rows::find(&cell.subject.scenario).is_none());
    Ok(planned)
}

/// Of scenarios that are named, all cells are tried. A record needs one that kills.
fn breadth(args: &FaultsArgs) -> Breadth {
    match args.cells {
        Some(cells) => Breadth::Until(cells.get()),
        None if args.selection.has_prefixes() && !args.record => Breadth::All,
        None => Breadth::Until(1),
    }
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
    match metadata::nearest(name, Fault::ALL.iter().map(|fault| fault.name())) {
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
