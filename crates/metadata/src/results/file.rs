//! What `results.json` holds.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::{CellResult, Subject};
use super::scenario::Scenario;
use super::seed::Seed;
use super::status::Status;
use super::visible::json;

/// The version of the format. It goes up when a reader of the last one would misread this one.
pub const SCHEMA_VERSION: u32 = 2;

/// The results of one run, or of several runs joined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "pollmatrix results")]
pub struct Results {
    /// The version of this format.
    pub schema: u32,
    /// What was run, where, when and in which way, sorted by target. One entry, unless reports were merged.
    pub runs: Vec<Run>,
    /// The targets that belong to this report and were not run, sorted.
    #[serde(default)]
    pub not_run: Vec<NotRun>,
    /// What the scenarios are about, by id. Empty in files of earlier versions of pollmatrix.
    #[serde(default)]
    pub scenarios: BTreeMap<String, Scenario>,
    /// One row per planned cell and target, sorted by id, then by target. There is nothing time-dependent in a row
    /// but its durations.
    pub cells: Vec<CellResult>,
}

/// A target without a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NotRun {
    /// The target in matrix.yml.
    pub target: String,
    /// Its operating system.
    pub os: String,
    /// Why it was not run, and what was done with it instead.
    pub reason: String,
}

/// What was run, where and when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The version of pollmatrix.
    pub pollmatrix: String,
    /// The git commit it was built from; `-dirty` if there were changes on top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// SHA-256 of the executable.
    pub executable: String,
    /// SHA-256 of the matrix file.
    pub matrix: String,
    /// What of the matrix was selected, as one would type it.
    pub selection: String,
    /// The target in matrix.yml.
    pub target: String,
    /// The way its cells were run: `native`, `prefix`, `container`, `ssh`, `import`.
    #[serde(default = "native")]
    pub via: String,
    /// The command or the image that the cells were run in, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
    /// What rustc calls the target.
    pub triple: String,
    /// The operating system.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// The machine, in the kernel's words.
    pub machine: String,
    /// The processor that the executable is built for.
    pub arch: String,
    /// How many threads the machine runs at once.
    pub cpus: usize,
    /// The C library and its version, where that can be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libc: Option<String>,
    /// The seed of the first attempt at each cell; each further one counts up.
    pub seed: Seed,
    /// How many attempts each cell was given.
    pub repeat: u32,
    /// The fault that was switched on in every cell. The results are then no statement about this software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// One in how many system calls below the core's pollers was made to fail, in every cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject_errors: Option<NonZeroU32>,
    /// When the run started, RFC 3339.
    pub started: String,
    /// When this report was written, RFC 3339.
    pub finished: String,
    /// How often the run was interrupted and resumed.
    pub resumed: u32,
    /// Whether the run was interrupted and is not complete.
    pub interrupted: bool,
}

/// What cells were run with on purpose: `the fault double-close switched on`, `errors in one of 20 system calls`.
pub fn disturbance(fault: Option<&str>, inject_errors: Option<NonZeroU32>) -> Option<String> {
    let fault = fault.map(|fault| format!("the fault {fault} switched on"));
    let errors = inject_errors.map(|one_in| format!("errors in one of {one_in} system calls"));
    let both: Vec<_> = fault.into_iter().chain(errors).collect();
    (!both.is_empty()).then(|| both.join(" and "))
}

/// The only way there was in version 1 of the format.
fn native() -> String {
    "native".to_owned()
}

impl Run {
    /// `native`, or `prefix (qemu-s390x-static)`.
    pub fn way(&self) -> String {
        match &self.emulator {
            Some(emulator) => format!("{} ({emulator})", self.via),
            None => self.via.clone(),
        }
    }

    /// What its cells were run with on purpose, as [`disturbance`] says it.
    pub fn disturbance(&self) -> Option<String> {
        disturbance(self.fault.as_deref(), self.inject_errors)
    }

    /// The version of pollmatrix, and the commit if that is known.
    pub fn build(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} ({commit})", self.pollmatrix),
            None => self.pollmatrix.clone(),
        }
    }
}

impl Results {
    /// The results of a run: one row per planned cell, in the order of ids. A planned cell without a row gets
    /// one that says so.
    pub fn new(run: Run, planned: Vec<Subject>, rows: Vec<CellResult>) -> Self {
        let present: HashSet<_> = rows.iter().map(|row| row.id.clone()).collect();
        let why = if run.interrupted {
            "interrupted"
        } else {
            "missing: the run ended without a result for this cell"
        };
        let missing = planned.into_iter().filter(|subject| !present.contains(&subject.id));
        let missing: Vec<_> =
            missing.map(|subject| CellResult::without_attempt(subject, Status::NotRun, why)).collect();
        let mut cells: Vec<_> = rows.into_iter().chain(missing).collect();
        cells.sort_by(|a, b| a.id.cmp(&b.id));
        Self { schema: SCHEMA_VERSION, runs: vec![run], cells, ..Self::of_no_run(Vec::new()) }
    }

    /// What there is to say of targets that were not run.
    pub fn of_no_run(not_run: Vec<NotRun>) -> Self {
        let (runs, cells) = (Vec::new(), Vec::new());
        Self { schema: SCHEMA_VERSION, runs, not_run, scenarios: BTreeMap::new(), cells }
    }

    /// The targets that have a run, sorted.
    pub fn targets(&self) -> BTreeSet<&str> {
        self.runs.iter().map(|run| run.target.as_str()).collect()
    }

    /// Whether it is about more than one target.
    pub fn has_several_targets(&self) -> bool {
        self.targets().len() + self.not_run.len() > 1
    }

    /// The fault that was switched on. Runs with different ones are never in the same report.
    pub fn fault(&self) -> Option<&str> {
        self.runs.iter().find_map(|run| run.fault.as_deref())
    }

    /// What the cells were run with on purpose, as [`Run::disturbance`] says it. Runs with different ones are never in
    /// the same report.
    pub fn disturbance(&self) -> Option<String> {
        self.runs.iter().find_map(Run::disturbance)
    }

    /// One in how many system calls below the core's pollers was made to fail.
    pub fn inject_errors(&self) -> Option<NonZeroU32> {
        self.runs.iter().find_map(|run| run.inject_errors)
    }

    /// Whether some run was interrupted and is not complete.
    pub fn interrupted(&self) -> bool {
        self.runs.iter().any(|run| run.interrupted)
    }

    /// The cells that must hold everywhere. A headline about a backend is about these alone.
    pub fn contract(&self) -> impl Iterator<Item = &CellResult> + Clone {
        self.cells.iter().filter(|cell| cell.is_contract())
    }

    /// The cells that record what each backend answers.
    pub fn characterisation(&self) -> impl Iterator<Item = &CellResult> + Clone {
        self.cells.iter().filter(|cell| !cell.is_contract())
    }

    /// `559 cells: 550 pass, 1 fail, 8 unsupported`, of the contract; `None` if the report is about other cells only.
    pub fn totals_line(&self) -> Option<String> {
        let others_only = self.contract().next().is_none() && !self.cells.is_empty();
        (!others_only).then(|| counted(self.contract(), Status::name))
    }

    /// `characterisation: 80 cells: 70 as expected, 3 permitted, 7 unsupported, 12 answers not known before`, if there are
    /// such cells.
    pub fn characterisation_line(&self) -> Option<String> {
        self.characterisation().next()?;
        let name = |status: Status| if status == Status::Pass { "as expected" } else { status.name() };
        let mut line = format!("characterisation: {}", counted(self.characterisation(), name));
        match self.characterisation().map(CellResult::unknown_answers).sum() {
            0 => {}
            1 => line.push_str(", 1 answer not known before"),
            unknown => line.push_str(&format!(", {unknown} answers not known before")),
        }
        Some(line)
    }

    /// Both lines: one per layer that the report has cells of.
    pub fn totals_lines(&self) -> Vec<String> {
        self.totals_line().into_iter().chain(self.characterisation_line()).collect()
    }

    /// Whether some cell makes the run fail.
    pub fn has_failures(&self) -> bool {
        self.cells.iter().any(|cell| cell.status.is_failure())
    }

    /// The text of results.json.
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// `3 cells: 2 pass, 1 fail`.
fn counted<'a>(
    cells: impl Iterator<Item = &'a CellResult> + Clone,
    name: fn(Status) -> &'static str,
) -> String {
    let mut totals: BTreeMap<Status, usize> = BTreeMap::new();
    for cell in cells.clone() {
        *totals.entry(cell.status).or_default() += 1;
    }
    let parts: Vec<_> = totals.iter().map(|(status, count)| format!("{count} {}", name(*status))).collect();
    format!("{} cells: {}", cells.count(), parts.join(", "))
}

/// The JSON schema of [`Results`], as text.
pub fn schema() -> String {
    json(&schemars::schema_for!(Results))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::Layer;
    use crate::samples;

    fn subject(number: usize) -> Subject {
        samples::subject("here", &format!("tcp-level-{number}t1g"), "epoll")
    }

    fn run(interrupted: bool) -> Run {
        Run { interrupted, ..samples::run("here") }
    }

    #[test]
    fn a_planned_cell_without_a_row_is_a_failure() {
        let row = CellResult::without_attempt(subject(1), Status::Unsupported, "not here");
        let results = Results::new(run(false), vec![subject(2), subject(1)], vec![row.clone()]);
        assert_eq!(results.cells[0], row);
        assert_eq!(results.cells[1].status, Status::NotRun);
        assert!(results.cells[1].reason.as_deref().is_some_and(|reason| reason.starts_with("missing")));
        assert!(results.has_failures());
    }

    #[test]
    fn a_cell_that_an_interrupted_run_did_not_reach_says_so() {
        let results = Results::new(run(true), vec![subject(1)], Vec::new());
        assert_eq!(results.cells[0].reason.as_deref(), Some("interrupted"));
    }

    #[test]
    fn the_committed_schema_is_the_generated_one() {
        let committed = include_str!("../../schema/results.schema.json");
        assert!(committed == schema(), "write it again with `pollmatrix generate`");
    }

    #[test]
    fn each_layer_is_counted_by_itself() {
        let mut results =
            samples::results("here", &[("a", "poll", Status::Pass), ("b", "poll", Status::Fail)]);
        assert_eq!(results.totals_lines(), ["2 cells: 1 pass, 1 fail"]);
        results.cells[0].layer = Layer::Characterisation;
        results.cells[0].counters.insert("unknown".into(), 12);
        assert_eq!(
            results.totals_lines(),
            ["1 cells: 1 fail", "characterisation: 1 cells: 1 as expected, 12 answers not known before"]
        );
        results.cells[1].layer = Layer::Characterisation;
        results.cells[1].counters.insert("unknown".into(), 1);
        results.cells[0].counters.clear();
        assert_eq!(
            results.totals_lines(),
            ["characterisation: 2 cells: 1 as expected, 1 fail, 1 answer not known before"]
        );
        assert!(results.has_failures(), "an answer that has changed is noticed");
    }

    #[test]
    fn results_read_back() {
        let results = Results::new(run(false), vec![subject(1)], Vec::new());
        assert_eq!(Results::read(results.to_json().as_bytes()).unwrap(), results);
    }
}
