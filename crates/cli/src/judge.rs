//! `pollmatrix judge`: judges the answers in results by today's expectations, without a new run.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use expectations::{Compared, Expectations, NO_ANSWER, Versions};
use metadata::{Asked, CellResult, Os, Results, Run, Status};
use runner::{backends, output};

use crate::args::JudgeArgs;
use crate::error::Error;
use crate::{exit, input};

/// How many answers are what.
#[derive(Default)]
struct Counts {
    answers: usize,
    expected: usize,
    /// Answers whose expectation is unstable, and which are not in its list.
    vary: usize,
    unknown: usize,
    /// Answers that contradict a hypothesis.
    contradict: usize,
    wrong: usize,
    /// Cells that ended without a verdict.
    ended: usize,
}

/// Judges the results, and prints every answer that is not expected.
pub fn run(expectations: Option<&Path>, args: &JudgeArgs) -> Result<ExitCode, Error> {
    if args.output.is_some() && args.inputs.len() > 1 {
        let why = format!("--output is for one file of results, and there are {}", args.inputs.len());
        let help = "merge them first: `pollmatrix merge`";
        return Err(Error::Unfit { path: args.inputs[1].clone(), why, help });
    }
    let mut failed = false;
    for path in &args.inputs {
        let mut results = input::read_undisturbed(path)?;
        let mut answered = 0;
        let mut text = String::new();
        for run in results.runs.clone() {
            let mut counts = Counts::default();
            let (os, version) = input::system(path, &run)?;
            let answers = load(expectations, os, &results)?;
            let cells = results.cells.iter_mut().filter(|cell| cell.target == run.target);
            for cell in cells.filter(|cell| !cell.is_contract()) {
                let poller = run.subjects.get(&cell.backend).map(String::as_str);
                let versions = Versions { kernel: Some(&version), poller };
                judge(cell, &answers, (os, versions), &mut counts, &mut text);
            }
            let _ = writeln!(text, "{}: {}", path.display(), summary(&counts, &run));
            failed |= counts.wrong > 0 || counts.ended > 0;
            answered += counts.answers;
        }
        output::print(&text)?;
        if answered == 0 {
            return Err(input::without_answers(path));
        }
        if let Some(file) = &args.output {
            output::write_file(file, &metadata::json(&results))?;
        }
    }
    Ok(if failed { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

/// Loads the expectations for a system, with those for the adapters in the results.
fn load(folder: Option<&Path>, os: Os, results: &Results) -> Result<Expectations, Error> {
    let is_kernel = |name: &str| backends::BACKENDS.iter().any(|(backend, _)| *backend == name);
    let mut adapters: Vec<_> = results.cells.iter().map(|cell| cell.backend.as_str()).collect();
    adapters.sort_unstable();
    adapters.dedup();
    adapters.retain(|name| !is_kernel(name));
    Ok(match folder {
        Some(folder) => Expectations::load_of(folder, os, &adapters)?,
        None => Expectations::built_in_of(os, &adapters)?,
    })
}

/// Replaces the verdict of a cell, and adds what is wrong to the text.
fn judge(
    cell: &mut CellResult,
    answers: &Expectations,
    (os, versions): (Os, Versions<'_>),
    counts: &mut Counts,
    text: &mut String,
) {
    let has_verdict =
        matches!(cell.status, Status::Pass | Status::Permitted | Status::Fail | Status::Unsupported);
    if !has_verdict {
        if cell.status.is_failure() {
            counts.ended += 1;
            let reason = cell.reason.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{} {}: {reason}", cell.status, cell.id);
        }
        return;
    }
    let given: Vec<(Asked, String)> =
        cell.checks.iter().filter_map(|check| Some((check.asked.clone()?, check.observed.clone()))).collect();
    let is_subject = backends::BACKENDS.iter().all(|(backend, _)| *backend != cell.backend);
    let answered = given.iter().filter(|(_, answer)| answer != NO_ANSWER).cloned();
    let answered = answered.map(|(asked, answer)| match is_subject {
        true => (answers.attributed(os, versions.kernel, &cell.backend, asked, &answer), answer),
        false => (asked, answer),
    });
    let mut observed = answers.observed(os, versions, answered);
    for (asked, _) in given.iter().filter(|(_, answer)| answer == NO_ANSWER) {
        observed.miss(asked.clone(), answers.expected(os, versions.kernel, asked));
    }
    for check in &observed.checks {
        let Some(asked) = &check.asked else { continue };
        counts.answers += 1;
        let Some(expected) = answers.expected(os, versions.kernel, asked) else {
            counts.unknown += 1;
            continue;
        };
        match expected.compare(&check.observed) {
            Compared::Same => counts.expected += 1,
            Compared::Unclear => counts.vary += 1,
            Compared::Different => {
                let is_wrong = expected.is_measured_on(versions);
                let word = if is_wrong { "WRONG" } else { "differs" };
                *if is_wrong { &mut counts.wrong } else { &mut counts.contradict } += 1;
                let allowed = expected.allowed.join(" or ");
                let _ = writeln!(
                    text,
                    "{word} {}: {asked}: expected {allowed}, observed {}",
                    cell.id, check.observed
                );
            }
        }
    }
    let is_unsupported = cell.status == Status::Unsupported;
    let (status, reason) = observed.status();
    if !is_unsupported || status == Status::Fail {
        (cell.status, cell.reason) = (status, reason);
    }
    cell.attempts.passed = if matches!(cell.status, Status::Fail) { 0 } else { cell.attempts.total };
    cell.counters.remove("unknown");
    if observed.unknown > 0 {
        cell.counters.insert("unknown".into(), observed.unknown);
    }
    cell.checks = observed.checks;
}

fn summary(counts: &Counts, run: &Run) -> String {
    let Counts { answers, expected, vary, unknown, contradict, wrong, ended } = counts;
    let mut text = format!("{} {}: {answers} answers, {expected} as expected", run.os, run.kernel);
    for (count, what) in [
        (vary, "vary"),
        (unknown, "not known"),
        (contradict, "contradict a hypothesis"),
        (wrong, "contradict a measurement"),
    ] {
        if *count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if *ended > 0 {
        let _ = write!(text, "; {ended} cells ended without a verdict");
    }
    text
}
