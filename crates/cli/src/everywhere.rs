//! `pollmatrix run --target all`: every target that can be run from here, one after the other, and one report of all.

use std::process::ExitCode;

use matrix::{Target, Way};
use metadata::{NotRun, Results};
use report::{Input, Rules};
use runner::journal::{self, Lock};
use runner::plan::Source;
use runner::progress::Progress;
use runner::session::{self, Request};
use runner::signals::{self, Stop};
use runner::ways::{self, Chosen};
use runner::{folder, notes};

use crate::args::RunArgs;
use crate::error::Error;
use crate::{exit, merge, targets};

/// What stands for every target.
pub const ALL: &str = "all";

/// Runs them, and writes the report of all. Each has a report of its own in the folder `targets`, from which an
/// interrupted run goes on.
pub fn run(source: &Source<'_>, args: &RunArgs, request: &Request) -> Result<ExitCode, Error> {
    // A typing mistake must not cost the first target's time.
    let selection = &request.selection;
    selection.apply(&source.matrix)?;
    let (chosen, mut not_run) = sort(source, args, request)?;
    let mut cells = 0;
    for one in &chosen {
        notes::note(&format!("{} via {}", one.target.id, ways::label(&one.way)));
        cells += source.plan(one.target, selection)?.len();
    }
    for one in &not_run {
        notes::note(&format!("not run: {}: {}", one.target, one.reason));
    }

    let dir = request.dir.as_path();
    let _lock = Lock::take(dir)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let mut progress = Progress::overall(cells);
    let mut inputs = Vec::new();
    let (mut ended, mut failed) = (None, false);
    for one in &chosen {
        if stop.asked() {
            not_run.push(entry(one.target, "interrupted".to_owned()));
            continue;
        }
        let mut own = request.clone();
        own.dir = dir.join("targets").join(&one.target.id);
        own.resume &= journal::exists(&own.dir);
        own.elsewhere.target = Some(one.target.id.clone());
        own.elsewhere.via = Some(ways::label(&one.way));
        match session::run(source, one, &own, &stop, Some(&mut progress)) {
            Ok((results, code)) => {
                inputs.push(Input { name: one.target.id.clone(), results });
                ended = code;
            }
            // One machine that is not as it should be says nothing about the others.
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
    // Each target has one executable and one run: there is nothing to disagree on.
    let merged = report::merge(inputs, Rules::default())?;
    folder::write(dir, &merged.results)?;
    merge::print(&merged.results, dir, args.format)?;
    Ok(match ended {
        Some(code) => ExitCode::from(code),
        None if failed || merged.results.has_failures() => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// The targets that can be run from here, each in the first of its ways that is possible, and the others.
fn sort<'a>(
    source: &'a Source<'a>,
    args: &RunArgs,
    request: &Request,
) -> Result<(Vec<Chosen<'a>>, Vec<NotRun>), Error> {
    let mut chosen = Vec::new();
    let mut not_run = merge::named_as_not_run(&source.matrix.targets, &args.not_run)?;
    let named: Vec<_> = not_run.iter().map(|named| named.target.clone()).collect();
    for target in source.matrix.targets.iter().filter(|target| !named.contains(&target.id)) {
        let here = |way: &&Way| ways::missing(target, way, &request.elsewhere).is_none();
        // One host, one file: they are of one target, which must be named.
        let ways = target.ways.iter().filter(|way| !matches!(way, Way::Ssh | Way::Import));
        match ways.clone().find(here) {
            Some(way) => chosen.push(ways::with(target, way.clone(), &request.elsewhere)?),
            None => not_run.push(entry(target, targets::not_run(target, &request.elsewhere))),
        }
    }
    Ok((chosen, not_run))
}

fn entry(target: &Target, reason: String) -> NotRun {
    NotRun { target: target.id.clone(), os: target.os.name().to_owned(), reason }
}
