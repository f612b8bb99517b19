//! `pollmatrix faults`: the faults that can be switched on, and the proof that scenarios catch them.

mod args;
mod attempts;
mod campaign;
mod cells;
mod kills;
mod list;
mod record;
mod show;

pub use args::FaultsArgs;
pub use record::built_in as recorded;

use std::path::Path;
use std::process::ExitCode;

use fd_core::hooks::fault::Fault;
use matrix::Selection;
use matrix::executable::{self, Executable};
use matrix::journal::Lock;
use matrix::plan::{Planned, Source};
use matrix::signals::{self, Stop};
use matrix::system;
use matrix::{Environment, diagnostics, faults as switches, output, provenance};

use crate::args::RunFormat;
use crate::error::Error;
use crate::{exit, generate};
use attempts::AttemptLog;
use campaign::{Breadth, Campaign};
use kills::{CONTROL, Kills};

/// The file name of the kill matrix as JSON.
const JSON: &str = "kill-matrix.json";
/// The file name of the kill matrix as Markdown.
const MARKDOWN: &str = "kill-matrix.md";

/// The note after an interruption.
const INTERRUPTED: &str = "interrupted: the same command with --resume continues";

/// Lists the faults, or tries them.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &FaultsArgs) -> Result<ExitCode, Error> {
    if args.list {
        output::print(&list::text(args.format))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !cfg!(feature = "faults") {
        return Err(matrix::Error::NoFaults.into());
    }
    let source = Source::load(matrix, environment)?;
    let mut faults = switches::select(&args.faults)?;
    let judged = kills::Judged {
        faults: !faults.is_empty() || args.selection.is_all(environment),
        scenarios: !args.selection.is_all(environment) || faults.is_empty(),
    };
    if faults.is_empty() {
        faults = Fault::SCENARIOS.to_vec();
    }
    let file = match &args.recorded {
        None if args.record => Some(generate::find_root()?.join(record::FILE)),
        given => given.clone(),
    };
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let known = contract_cells(&source, &Selection::default())?;
    let planned = contract_cells(&source, &args.selection.selection(environment))?;
    if planned.is_empty() {
        return Err(Error::NothingToFault(args.selection.selection(environment).describe()));
    }
    let controls = known.iter().filter(|cell| cell.spec.scenario == CONTROL).cloned().collect();
    let mut kills = Kills::new(&faults, planned, controls, judged);
    if let Some(cell) = kills.uncontrolled() {
        return Err(Error::NoControl(cell.to_owned()));
    }
    // Read first, because the record can be malformed.
    let all = match &file {
        Some(file) if args.record => record::to_write(file, &known),
        None if !args.quick => record::built_in(&known),
        file => record::read(file.as_deref(), &known)?,
    };
    kills.killed_elsewhere(&all, system::name());
    let record = if args.record { all.of(system::name()) } else { all };
    match args.record {
        true => kills.follow(&record),
        false => kills.excuse(&record),
    }
    if args.record && args.selection.has_prefixes() && !args.faults.is_empty() {
        kills.want_all();
    }
    let dir = args.report_dir.path.as_path();
    let _lock = Lock::take(dir)?;
    let executable = Executable::hold(&executable::own()?, dir, true)?;
    let log = AttemptLog::begin(&source, &executable, args)?;
    let machine = provenance::run_here(source.target()?.id.clone(), provenance::now());
    log.machine(&machine)?;
    kills.seed = log.seed();
    kills.machine = Some(machine);
    let campaign = Campaign::new(&source, &executable, &log, &stop, args);
    let unrecorded = match args.quick {
        true => campaign.quick(&record.kills, &mut kills)?,
        false => campaign.run(&mut kills, breadth(args)).map(|()| Vec::new())?,
    };
    // With --record, excuses are only applied now, so that the run has tested whether they are still needed.
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
        diagnostics::note(INTERRUPTED);
        return Ok(ExitCode::from(signal));
    }
    for problem in &unrecorded {
        diagnostics::warning(problem);
    }
    if !unrecorded.is_empty() {
        diagnostics::note("`pollmatrix faults --record` runs all cells and writes the record again");
    }
    let mut held = unrecorded.is_empty() && kills.verdict().holds();
    if let Some(file) = file.filter(|_| args.record) {
        // The record lacks faults and scenarios without a proof, which --quick reports.
        diagnostics::note(&record::write(&file, &kills, &known)?);
        for fault in kills.unrecorded() {
            held = false;
            diagnostics::warning(&format!("{fault} has no line in the record: the harness catches it"));
            diagnostics::note(&format!(
                "`pollmatrix faults {CONTROL} --record --fault {fault}` records this"
            ));
        }
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Returns the selected contract cells. Characterisations test raw pollers, which have no faults.
fn contract_cells(source: &Source<'_>, selection: &Selection) -> Result<Vec<Planned>, Error> {
    let mut planned = source.plan(source.target()?, selection)?;
    planned.retain(|cell| cell.spec.layer == metadata::Layer::Contract);
    Ok(planned)
}

/// Returns how many cells of each pair to try: all of them for scenarios that the user selects, unless they
/// are recorded, because a record needs one kill per pair.
fn breadth(args: &FaultsArgs) -> Breadth {
    match args.cells {
        Some(cells) => Breadth::Until(cells.get()),
        None if args.selection.has_prefixes() && !args.record => Breadth::All,
        None => Breadth::Until(1),
    }
}
