//! `pollmatrix expectations judge`: judges the answers in results by today's expectations, without a new run.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::{backends, output};
use metadata::{Asked, CellResult, Os, Results, Run, Status, Variant};
use raw::Promises;
use raw::expectations::{Compared, Expectations, NO_ANSWER, Versions};

use crate::error::Error;
use crate::{exit, input};

#[derive(clap::Args)]
pub struct JudgeArgs {
    /// Results to judge: results.json files, or report directories
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Write the results with their new verdicts to this file, for `merge`, `diff` and `site`. Only for one
    /// input
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

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
    /// Answers that are wrong in every reading.
    defects: usize,
    /// Those of them that are recorded.
    known_defects: usize,
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
            let promises: Vec<_> = results.cells.iter().map(|cell| promises(&results, cell)).collect();
            let cells = results.cells.iter_mut().zip(&promises).filter(|(cell, _)| cell.target == run.target);
            for (cell, promises) in cells.filter(|(cell, _)| !cell.is_contract()) {
                let poller = run.version_of(&cell.backend);
                let versions = Versions { kernel: Some(&version), poller };
                judge((cell, promises), &answers, (os, versions), &mut counts, &mut text);
            }
            let _ = writeln!(text, "{}: {}", path.display(), summary(&counts, &run));
            failed |= counts.wrong > 0 || counts.defects > 0 || counts.ended > 0;
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

/// Loads the expectations for a system, with those for the adapters in the results, and for a library that
/// provides kqueue(2).
pub fn load(folder: Option<&Path>, os: Os, results: &Results) -> Result<Expectations, Error> {
    let mut adapters: Vec<_> = results.cells.iter().map(|cell| cell.backend.as_str()).collect();
    adapters.sort_unstable();
    adapters.dedup();
    adapters.retain(|name| !backends::is_own(name));
    adapters.extend(results.runs.iter().filter_map(Run::kqueue_library).collect::<BTreeSet<_>>());
    Ok(match folder {
        Some(folder) => Expectations::load_of(folder, os, &adapters)?,
        None => Expectations::built_in_of(os, &adapters)?,
    })
}

/// Returns whether a characterisation with this status has answers that can be judged.
pub fn has_verdict(status: Status) -> bool {
    use Status::{Fail, KnownFail, Pass, Permitted, UnexpectedPass, Unsupported};
    matches!(status, Pass | Permitted | KnownFail | UnexpectedPass | Fail | Unsupported)
}

/// Returns what the waits of a cell must answer.
pub fn promises(results: &Results, cell: &CellResult) -> Promises {
    let script = results.scenarios.get(&cell.scenario).and_then(|scenario| scenario.verbs.as_deref());
    let script = script.and_then(|script| script.parse().ok());
    let Variant { transport, trigger, .. } = cell.params;
    let run = results.runs.iter().find(|run| run.target == cell.target);
    let column = run.map(|run| run.column(&cell.backend)).unwrap_or_default();
    script.map(|script| Promises::of(&script, transport, trigger, &cell.backend, column)).unwrap_or_default()
}

/// Replaces the verdict of a cell, and adds what is wrong to the text.
fn judge(
    (cell, promises): (&mut CellResult, &Promises),
    answers: &Expectations,
    (os, versions): (Os, Versions<'_>),
    counts: &mut Counts,
    text: &mut String,
) {
    if !has_verdict(cell.status) {
        if cell.status.is_failure() {
            counts.ended += 1;
            let reason = cell.reason.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{} {}: {reason}", cell.status, cell.id);
        }
        return;
    }
    let given: Vec<(Asked, String)> =
        cell.checks.iter().filter_map(|check| Some((check.asked.clone()?, check.observed.clone()))).collect();
    let is_adapter = !backends::is_own(&cell.backend);
    let answered = given.iter().filter(|(_, answer)| answer != NO_ANSWER).cloned();
    let answered = answered.map(|(asked, answer)| match is_adapter {
        true => (answers.attributed(os, versions.kernel, &cell.backend, asked, &answer), answer),
        false => (asked, answer),
    });
    let defects = |asked: &Asked, answer: &str| raw::cell::defect(promises, asked, answer);
    let mut observed = answers.observed(os, versions, &defects, answered);
    for (asked, _) in given.iter().filter(|(_, answer)| answer == NO_ANSWER) {
        observed.miss(asked.clone(), answers.expected(os, versions.kernel, asked));
    }
    for check in &observed.checks {
        let Some(asked) = &check.asked else { continue };
        counts.answers += 1;
        if let Some(defect) = check.defect {
            let is_recorded = check.holds;
            let word = if is_recorded { "known" } else { "WRONG" };
            *if is_recorded { &mut counts.known_defects } else { &mut counts.defects } += 1;
            let meaning = defect.meaning();
            let _ = writeln!(
                text,
                "{word} {}: {asked}: {}: {meaning}, which is wrong in every reading",
                cell.id, check.observed
            );
            continue;
        }
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
    let has_passed = !cell.status.is_failure();
    cell.attempts.passed = if has_passed { cell.attempts.total } else { 0 };
    cell.counters.remove("unknown");
    if observed.unknown > 0 {
        cell.counters.insert("unknown".into(), observed.unknown);
    }
    cell.checks = observed.checks;
}

fn summary(counts: &Counts, run: &Run) -> String {
    let Counts { answers, expected, vary, unknown, contradict, wrong, defects, known_defects, ended } =
        counts;
    let mut text = format!("{} {}: {answers} answers, {expected} as expected", run.os, run.kernel);
    for (count, what) in [
        (vary, "vary"),
        (unknown, "not known"),
        (contradict, "contradict a hypothesis"),
        (wrong, "contradict a measurement"),
        (known_defects, "are wrong in every reading, and recorded"),
        (defects, "are wrong in every reading"),
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
