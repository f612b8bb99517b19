//! `pollmatrix run --target all`: runs every target that this machine can run, in sequence, and writes one
//! merged report.

use std::process::ExitCode;

use matrix::journal::{self, Lock};
use matrix::plan::Source;
use matrix::progress::Progress;
use matrix::runners::{self, Chosen};
use matrix::session::{self, Request};
use matrix::signals::{self, Stop};
use matrix::{Runner, Target};
use matrix::{diagnostics, report_dir};
use metadata::{NotRun, Results};
use report::{Input, Rules};

use super::RunArgs;
use crate::error::Error;
use crate::{exit, merge, targets};

/// The value of `--target` that selects every target.
pub const ALL: &str = "all";

/// Runs every target, and writes the merged report. Each target also has its own report in the folder
/// `targets`, from which an interrupted run continues.
pub fn run(source: &Source<'_>, args: &RunArgs, request: &Request) -> Result<ExitCode, Error> {
    // Checked first, so that a wrong selection is reported before the first target runs.
    let selection = &request.selection;
    selection.apply(&source.matrix)?;
    let (chosen, mut not_run) = sort(source, args, request)?;
    chosen.iter().try_for_each(|one| source.environment.refuse_behaviours_elsewhere(&one.runner))?;
    let mut cells = 0;
    for one in &chosen {
        diagnostics::note(&format!("{} runner {}", one.target.id, one.runner.label()));
        cells += source.plan(one.target, selection)?.len();
    }
    for one in &not_run {
        diagnostics::note(&format!("not run: {}: {}", one.target, one.reason));
    }

    let dir = request.dir.as_path();
    let _lock = Lock::take(dir)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let mut progress = Progress::overall(cells);
    let mut inputs = Vec::new();
    let (mut ended, mut failed) = (None, false);
    for one in &chosen {
        if stop.requested() {
            not_run.push(entry(one.target, "interrupted".to_owned()));
            continue;
        }
        let mut own = request.clone();
        own.dir = dir.join("targets").join(&one.target.id);
        own.resume &= journal::exists(&own.dir);
        own.runner.target = Some(one.target.id.clone());
        own.runner.name = Some(one.runner.label());
        match session::run(source, one, &own, &stop, Some(&mut progress)) {
            Ok((results, code)) => {
                inputs.push(Input { name: one.target.id.clone(), results });
                ended = code;
            }
            // An error of one target does not affect the others.
            Err(why) if why.is_of_one_target() => {
                not_run.push(entry(one.target, why.to_string()));
                Error::from(why).print();
                failed = true;
            }
            Err(why) => return Err(why.into()),
        }
    }
    progress.end();
    inputs.push(Input { name: "not run".to_owned(), results: Results::of_no_run(not_run) });
    // Each target has one executable and one run, so there are no conflicts.
    let merged = report::merge(inputs, Rules::default())?;
    report_dir::write(dir, &merged.results)?;
    merge::print(&merged.results, dir, args.format)?;
    Ok(match ended {
        Some(code) => ExitCode::from(code),
        None if failed || merged.results.has_failures() => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// Returns the targets that this machine can run, each with its first runner that works, and the others.
fn sort<'a>(
    source: &'a Source<'a>,
    args: &RunArgs,
    request: &Request,
) -> Result<(Vec<Chosen<'a>>, Vec<NotRun>), Error> {
    let mut chosen = Vec::new();
    let mut not_run = merge::named_as_not_run(&source.matrix.targets, &args.not_run)?;
    let named: Vec<_> = not_run.iter().map(|named| named.target.clone()).collect();
    for target in source.matrix.targets.iter().filter(|target| !named.contains(&target.id)) {
        let works = |runner: &&Runner| runners::missing(target, runner, &request.runner).is_none();
        // A host or a file belongs to one target, which the user must name.
        let mut runners =
            target.runners.iter().filter(|runner| !matches!(runner, Runner::Ssh | Runner::Import));
        match runners.find(works) {
            Some(runner) => chosen.push(runners::with(target, runner.clone(), &request.runner)?),
            None => not_run.push(entry(target, targets::not_run(target, &request.runner))),
        }
    }
    Ok((chosen, not_run))
}

fn entry(target: &Target, reason: String) -> NotRun {
    NotRun { target: target.id.clone(), os: target.os.name().to_owned(), reason }
}
