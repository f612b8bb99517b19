//! `pollmatrix faults`: the faults that can be switched on, and the proof that scenarios catch them.

mod attempts;
mod campaign;
mod cells;
mod kills;
mod list;
mod record;
mod show;

pub use record::built_in as recorded;

use std::path::Path;
use std::process::ExitCode;

use fd_core::hooks::fault::Fault;
use matrix::{Runner, Selection, Target};
use runner::executable::Executable;
use runner::journal::Lock;
use runner::plan::{Planned, Source};
use runner::remote_attempts::Connection;
use runner::signals::{self, Stop};
use runner::{
    Environment, diagnostics, faults as switches, output, provenance, remote, remote_attempts, runners,
};

use crate::args::{FaultsArgs, RunFormat};
use crate::error::Error;
use crate::{all_targets, exit, generate};
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
        return Err(runner::Error::NoFaults.into());
    }
    let source = Source::load(matrix, environment)?;
    let options = args.runner.options();
    if options.target.as_deref() == Some(all_targets::ALL) {
        return Err(Error::FaultsElsewhere("tries the faults of one target at a time"));
    }
    let chosen = runners::choose(&source, &options)?;
    if matches!(chosen.runner, Runner::Import) {
        return Err(Error::FaultsElsewhere(
            "decides on each attempt from the previous ones, which an import cannot make",
        ));
    }
    let is_native = matches!(chosen.runner, Runner::Native);
    environment.refuse_adapters_elsewhere(is_native)?;
    let os = chosen.target.os.name();
    let mut faults = switches::select(&args.faults)?;
    let judged = kills::Judged {
        faults: !faults.is_empty() || args.selection.is_all(environment),
        scenarios: !args.selection.is_all(environment) || faults.is_empty(),
    };
    if faults.is_empty() {
        faults = Fault::ALL.to_vec();
    }
    let root = match (args.record, &args.root) {
        (true, None) => Some(generate::find_root()?),
        (_, root) => root.clone(),
    };
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let known = contract_cells(&source, chosen.target, &Selection::default())?;
    let planned = contract_cells(&source, chosen.target, &args.selection.selection(environment))?;
    if planned.is_empty() {
        return Err(Error::NothingToFault(args.selection.selection(environment).describe()));
    }
    let controls = known.iter().filter(|cell| cell.spec.scenario == CONTROL).cloned().collect();
    let mut kills = Kills::new(&faults, planned, controls, judged);
    if let Some(cell) = kills.uncontrolled() {
        return Err(Error::NoControl(cell.to_owned()));
    }
    // Read first, because the record can be malformed.
    let all = match &root {
        Some(root) => record::of_tree(root, &known),
        None if args.quick => record::read(args.recorded.as_deref(), &known)?,
        None => record::built_in(&known),
    };
    kills.killed_elsewhere(&all, os);
    let record = if root.is_some() { all.of(os) } else { all };
    match &root {
        Some(_) => kills.follow(&record),
        None => kills.excuse(&record),
    }
    if args.record && args.selection.has_prefixes() && !args.faults.is_empty() {
        kills.want_all();
    }
    let dir = args.report_dir.path.as_path();
    let _lock = Lock::take(dir)?;
    let executable = Executable::hold(&chosen.executable, dir, is_native)?;
    let place = format!("{} via {}", chosen.target.id, runners::label(&chosen.runner));
    let log = AttemptLog::begin(&source, &executable, &place, args)?;
    kills.seed = log.seed();
    kills.options = options.to_arguments();
    let mut try_all = |elsewhere: Option<&Connection<'_>>| -> Result<Vec<String>, Error> {
        let machine = match elsewhere {
            Some(connection) => connection.machine().clone(),
            None => provenance::run_here(chosen.target.id.clone(), provenance::now()),
        };
        log.machine(&machine)?;
        kills.machine = Some(machine);
        let campaign = Campaign::new(&source, &executable, elsewhere, &log, &stop, args);
        if args.quick {
            return campaign.quick(&record.kills, &mut kills);
        }
        campaign.run(&mut kills, breadth(args))?;
        Ok(Vec::new())
    };
    let unrecorded = match is_native {
        true => Some(try_all(None)?),
        false => {
            let route = runners::prepare(&chosen.runner, &executable, &source, &options)?;
            let all = Selection::default();
            let settings = remote::Settings {
                target: chosen.target,
                executable: executable.hash().unwrap_or_default(),
                matrix: &source.hash,
                selection: &all,
                seed: log.seed(),
                fault: None,
                inject_errors: None,
                late_data: None,
                repeat: 1,
                slow: args.chance.slow.times,
                jobs: args.jobs.map(usize::from),
            };
            let tried =
                remote_attempts::with(&route, &settings, &stop, |connection| try_all(Some(connection)))?;
            tried.transpose()?
        }
    };
    // Interrupted before the other machine answered: there is nothing to report.
    let Some(unrecorded) = unrecorded else {
        diagnostics::note(INTERRUPTED);
        return Ok(ExitCode::from(stop.signal().unwrap_or(exit::FAILED)));
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
    if let Some(root) = root {
        // The record lacks faults and scenarios without a proof, which --quick reports.
        diagnostics::note(&record::write(&root, &kills, &known, os)?);
        for fault in kills.unrecorded() {
            held = false;
            diagnostics::warning(&format!("{fault} has no line in the record: the harness catches it"));
            diagnostics::note(&format!(
                "`pollmatrix faults {CONTROL} --record --fault {fault}{}` records this",
                kills.options
            ));
        }
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Returns the selected contract cells of a target. Characterisations test raw pollers, which have no faults.
fn contract_cells(
    source: &Source<'_>,
    target: &Target,
    selection: &Selection,
) -> Result<Vec<Planned>, Error> {
    let mut planned = source.plan(target, selection)?;
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
