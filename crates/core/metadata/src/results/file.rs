//! The contents of `results.json`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroU32;

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::{CellResult, PlannedCell};
use super::cost::Cost;
use super::scenario::Scenario;
use super::seed::Seed;
use super::status::Status;
use super::visible::{json, json_line};
use crate::axes::Os;
use crate::column::Column;

/// The version of the format. It increases when a reader of the previous version would misread the new one.
pub const SCHEMA_VERSION: u32 = 2;

/// The results of one run, or of several merged runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
#[cfg_attr(any(test, feature = "schema"), schemars(title = "pollmatrix results"))]
pub struct Results {
    /// The version of this format.
    pub schema: u32,
    /// The runs, sorted by target. One entry, unless reports were merged.
    pub runs: Vec<Run>,
    /// The targets that belong to this report and were not run, sorted.
    #[serde(default)]
    pub not_run: Vec<NotRun>,
    /// The descriptions of the scenarios, by id. Empty in files of earlier versions of pollmatrix.
    #[serde(default)]
    pub scenarios: BTreeMap<String, Scenario>,
    /// One entry per planned cell and target, sorted by id, then by target. Only the durations in an entry
    /// depend on time.
    pub cells: Vec<CellResult>,
    /// What operations cost, sorted by target, operation, mode, poller, threads and descriptors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
}

/// A target without a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct NotRun {
    /// The target in matrix.yml.
    pub target: String,
    /// Its operating system.
    pub os: String,
    /// Why the target was not run, and which checks were made instead.
    pub reason: String,
}

/// One run: its software, its machine and its options.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Run {
    /// The version of pollmatrix.
    pub pollmatrix: String,
    /// The git commit that the executable was built from, with `-dirty` if there were uncommitted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// SHA-256 of the executable.
    pub executable: String,
    /// SHA-256 of the matrix file.
    pub matrix: String,
    /// The selected part of the matrix, as command-line arguments.
    pub selection: String,
    /// The target in matrix.yml.
    pub target: String,
    /// The runner of its cells: `native`, `prefix`, `container`, `ssh`, `import`.
    #[serde(default = "native")]
    pub runner: String,
    /// The command or the image that the cells were run in, for display only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
    /// The target triple of rustc.
    pub triple: String,
    /// The operating system of the kernel: `linux`, or `gvisor`, which says that it is Linux.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// The machine, as the kernel describes it.
    pub machine: String,
    /// The processor that the executable is built for.
    pub arch: String,
    /// How many threads the machine runs at once.
    pub cpus: usize,
    /// The C library and its version, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libc: Option<String>,
    /// The library that provides kqueue(2), with its version if known. The results of the backend `kqueue`
    /// are then its own. Absent if the kernel has kqueue, or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kqueue: Option<String>,
    /// The tested adapters: the version of each library or program, by its name, which is that of its column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adapters: BTreeMap<String, String>,
    /// The words of the tested adapters, and what each is built over, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Column>,
    /// The seed of the first attempt at each cell. Each further attempt adds one.
    pub seed: Seed,
    /// How many attempts were made at each cell.
    pub repeat: u32,
    /// The fault that was switched on in every cell. The results then say nothing about the unmodified
    /// software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// One in this many system calls below the core's pollers was made to fail, in every cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject_errors: Option<NonZeroU32>,
    /// The scenarios' data arrived up to this many milliseconds late, in every cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_data: Option<NonZeroU32>,
    /// When the run started, RFC 3339.
    pub started: String,
    /// When this report was written, RFC 3339.
    pub finished: String,
    /// How often the run was interrupted and resumed.
    pub resumed: u32,
    /// Whether the run was interrupted and is incomplete.
    pub interrupted: bool,
}

/// Describes a fault, injected errors and late data: `the fault double-close switched on`, `errors in one of
/// 20 system calls`, `data up to 20 ms late`. `None` if there is none of these.
pub fn disturbance(
    fault: Option<&str>,
    inject_errors: Option<NonZeroU32>,
    late_data: Option<NonZeroU32>,
) -> Option<String> {
    let fault = fault.map(|fault| format!("the fault {fault} switched on"));
    let errors = inject_errors.map(|one_in| format!("errors in one of {one_in} system calls"));
    let late = late_data.map(|milliseconds| format!("data up to {milliseconds} ms late"));
    let all: Vec<_> = fault.into_iter().chain(errors).chain(late).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

/// The only runner in version 1 of the format.
fn native() -> String {
    "native".to_owned()
}

/// Returns whether a command in front of the cells is gVisor's program, `runsc`.
pub fn names_gvisor(command: &str) -> bool {
    command.split_whitespace().any(|word| is_gvisor(word.trim_matches(['\'', '"'])))
}

/// Returns whether a program is gVisor's: `runsc`.
pub fn is_gvisor(program: &str) -> bool {
    program.rsplit('/').next() == Some("runsc")
}

impl Run {
    /// Returns the operating system of the kernel that ran the cells. Results that say `linux` behind `runsc`
    /// are gVisor's: an executor can fail to recognise it.
    pub fn system(&self) -> Option<Os> {
        match self.os.parse().ok()? {
            Os::Linux if self.emulator.as_deref().is_some_and(names_gvisor) => Some(Os::Gvisor),
            os => Some(os),
        }
    }

    /// Returns the C library and the library that provides kqueue(2), if known: `glibc 2.36`, `kqueue of
    /// libkqueue 2.7.0`.
    pub fn libraries(&self) -> String {
        let kqueue = self.kqueue.as_ref().map(|library| format!("kqueue of {library}"));
        self.libc.iter().cloned().chain(kqueue).collect::<Vec<_>>().join(", ")
    }

    /// Returns the name of the library that provides kqueue(2), without its version, if one does. Its answers
    /// have a file of this name.
    pub fn kqueue_library(&self) -> Option<&str> {
        self.kqueue.as_deref()?.split(' ').next()
    }

    /// Returns the version of a poller that is not the system's own, if it is known: an adapter, or the
    /// library that provides kqueue(2), by its name or as the backend `kqueue`.
    pub fn version_of(&self, poller: &str) -> Option<&str> {
        match self.kqueue.as_deref().and_then(|library| library.split_once(' ')) {
            Some((library, version)) if poller == library || poller == "kqueue" => Some(version),
            _ => self.adapters.get(poller).map(String::as_str),
        }
    }

    /// Returns the adapters with their versions: `mio 1.2.4, python-poll 3.11.2`.
    pub fn adapters(&self) -> String {
        let each = self.adapters.iter().map(|(name, version)| format!("{name} {version}"));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Returns the words of a poller, and what it is built over. Those of an unknown poller are none.
    pub fn column(&self, poller: &str) -> Column {
        let of_interface = || poller.parse().map(Column::of).unwrap_or_default();
        self.columns.get(poller).cloned().unwrap_or_else(of_interface)
    }

    /// Returns the runner with its command or image: `native`, `prefix (qemu-s390x-static)`.
    pub fn runner_in_full(&self) -> String {
        match &self.emulator {
            Some(emulator) => format!("{} ({emulator})", self.runner),
            None => self.runner.clone(),
        }
    }

    /// Describes the fault, the injected errors and the late data of the run, as [`disturbance`] does.
    pub fn disturbance(&self) -> Option<String> {
        disturbance(self.fault.as_deref(), self.inject_errors, self.late_data)
    }

    /// Returns the version of pollmatrix, with the commit if known.
    pub fn build(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} ({commit})", self.pollmatrix),
            None => self.pollmatrix.clone(),
        }
    }
}

impl Results {
    /// Creates the results of a run: one entry per planned cell, sorted by id. A planned cell without a
    /// result gets the status [`Status::NotRun`].
    pub fn new(run: Run, planned: Vec<PlannedCell>, results: Vec<CellResult>) -> Self {
        let present: HashSet<_> = results.iter().map(|cell| cell.id.clone()).collect();
        let why = if run.interrupted {
            "interrupted"
        } else {
            "missing: the run ended without a result for this cell"
        };
        let missing = planned.into_iter().filter(|cell| !present.contains(&cell.id));
        let missing: Vec<_> =
            missing.map(|cell| CellResult::without_attempt(cell, Status::NotRun, why)).collect();
        let mut cells: Vec<_> = results.into_iter().chain(missing).collect();
        cells.sort_by(|a, b| a.id.cmp(&b.id));
        Self { schema: SCHEMA_VERSION, runs: vec![run], cells, ..Self::of_no_run(Vec::new()) }
    }

    /// Creates results without a run: only targets that were not run.
    pub fn of_no_run(not_run: Vec<NotRun>) -> Self {
        let (runs, cells) = (Vec::new(), Vec::new());
        Self { schema: SCHEMA_VERSION, runs, not_run, scenarios: BTreeMap::new(), cells, costs: Vec::new() }
    }

    /// Returns the targets that have a run, sorted.
    pub fn targets(&self) -> BTreeSet<&str> {
        self.runs.iter().map(|run| run.target.as_str()).collect()
    }

    /// Returns whether the report covers more than one target.
    pub fn has_several_targets(&self) -> bool {
        self.targets().len() + self.not_run.len() > 1
    }

    /// Returns the fault that was switched on. All runs of a report have the same one.
    pub fn fault(&self) -> Option<&str> {
        self.runs.iter().find_map(|run| run.fault.as_deref())
    }

    /// Describes the fault, the injected errors and the late data, as [`disturbance`] does. They are the same
    /// in all runs of a report.
    pub fn disturbance(&self) -> Option<String> {
        self.runs.iter().find_map(Run::disturbance)
    }

    /// Returns N if one in N system calls below the core's pollers was made to fail.
    pub fn inject_errors(&self) -> Option<NonZeroU32> {
        self.runs.iter().find_map(|run| run.inject_errors)
    }

    /// Returns N if the scenarios' data arrived up to N milliseconds late.
    pub fn late_data(&self) -> Option<NonZeroU32> {
        self.runs.iter().find_map(|run| run.late_data)
    }

    /// Returns whether any run was interrupted and is incomplete.
    pub fn interrupted(&self) -> bool {
        self.runs.iter().any(|run| run.interrupted)
    }

    /// Returns the contract cells, which must hold on every system. Totals per backend count only these.
    pub fn contract(&self) -> impl Iterator<Item = &CellResult> + Clone {
        self.cells.iter().filter(|cell| cell.is_contract())
    }

    /// Returns the characterisation cells, which record the answers of each backend.
    pub fn characterisation(&self) -> impl Iterator<Item = &CellResult> + Clone {
        self.cells.iter().filter(|cell| !cell.is_contract())
    }

    /// Returns the totals of the contract cells: `559 cells: 550 pass, 1 fail, 8 unsupported`. `None` if the
    /// report has characterisation cells only.
    pub fn totals_line(&self) -> Option<String> {
        let others_only = self.contract().next().is_none() && !self.cells.is_empty();
        (!others_only).then(|| counted(self.contract(), |cell| cell.status.name()))
    }

    /// Returns the totals of the characterisation cells, `None` if there are none: `characterisation: 80
    /// cells: 62 as expected, 8 new, 3 permitted, 7 unsupported, 12 answers not known before`. A new cell has
    /// an answer without an expectation.
    pub fn characterisation_line(&self) -> Option<String> {
        self.characterisation().next()?;
        let name = |cell: &CellResult| match cell.status {
            Status::Pass if cell.unknown_answers() > 0 => "new",
            Status::Pass => "as expected",
            status => status.name(),
        };
        let mut line = format!("characterisation: {}", counted(self.characterisation(), name));
        match self.characterisation().map(CellResult::unknown_answers).sum() {
            0 => {}
            1 => line.push_str(", 1 answer not known before"),
            unknown => line.push_str(&format!(", {unknown} answers not known before")),
        }
        Some(line)
    }

    /// Returns one line of totals per layer in the report.
    pub fn totals_lines(&self) -> Vec<String> {
        self.totals_line().into_iter().chain(self.characterisation_line()).collect()
    }

    /// Returns whether any cell makes the run fail.
    pub fn has_failures(&self) -> bool {
        self.cells.iter().any(|cell| cell.status.is_failure())
    }

    /// Returns the text of results.json: indented, and each cell on a line of its own. So it can be read, and
    /// searched and compared line by line, and has a third of the size.
    pub fn to_json(&self) -> String {
        /// Everything before the cells.
        #[derive(Serialize)]
        struct Head<'a> {
            schema: u32,
            runs: &'a [Run],
            not_run: &'a [NotRun],
            scenarios: &'a BTreeMap<String, Scenario>,
        }
        let Self { schema, runs, not_run, scenarios, cells, costs } = self;
        let mut text = json(&Head { schema: *schema, runs, not_run, scenarios });
        text.truncate(text.len() - "\n}\n".len());
        push_lines(&mut text, "cells", cells);
        if !costs.is_empty() {
            push_lines(&mut text, "costs", costs);
        }
        text.push_str("\n}\n");
        text
    }
}

/// Adds a list to the text of an object, with each element on a line of its own.
fn push_lines(text: &mut String, name: &str, elements: &[impl Serialize]) {
    text.push_str(",\n  \"");
    text.push_str(name);
    text.push_str("\": [");
    for (index, element) in elements.iter().enumerate() {
        text.push_str(if index == 0 { "\n    " } else { ",\n    " });
        text.push_str(json_line(element).trim_end());
    }
    text.push_str(if elements.is_empty() { "]" } else { "\n  ]" });
}

/// Returns the counts per status and name: `3 cells: 2 pass, 1 fail`.
fn counted<'a>(
    cells: impl Iterator<Item = &'a CellResult> + Clone,
    name: fn(&CellResult) -> &'static str,
) -> String {
    let mut totals: BTreeMap<(Status, &str), usize> = BTreeMap::new();
    for cell in cells.clone() {
        *totals.entry((cell.status, name(cell))).or_default() += 1;
    }
    let parts: Vec<_> = totals.iter().map(|((_, name), count)| format!("{count} {name}")).collect();
    format!("{} cells: {}", cells.count(), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::Layer;
    use crate::results::cost::{Calls, CostOutcome};
    use crate::samples;

    fn planned(number: usize) -> PlannedCell {
        samples::planned("here", &format!("tcp-level-{number}t1g"), "epoll")
    }

    fn run(interrupted: bool) -> Run {
        Run { interrupted, ..samples::run("here") }
    }

    #[test]
    fn linux_behind_runsc_is_gvisor() {
        for (os, emulator, expected) in [
            ("linux", None, Some(Os::Linux)),
            ("linux", Some("qemu-s390x-static -L /usr/s390x-linux-gnu"), Some(Os::Linux)),
            ("linux", Some("runsc --platform=ptrace do"), Some(Os::Gvisor)),
            ("linux", Some("sudo '/opt/bin/runsc' do"), Some(Os::Gvisor)),
            ("linux", Some("./not-runsc do"), Some(Os::Linux)),
            ("freebsd", Some("runsc do"), Some(Os::FreeBsd)),
            ("gvisor", None, Some(Os::Gvisor)),
            ("wsl1", None, None),
        ] {
            let run = Run { os: os.into(), emulator: emulator.map(str::to_owned), ..samples::run("here") };
            assert_eq!(run.system(), expected, "{os} {emulator:?}");
        }
    }

    #[test]
    fn a_planned_cell_without_a_result_is_a_failure() {
        let cell = CellResult::without_attempt(planned(1), Status::Unsupported, "not here");
        let results = Results::new(run(false), vec![planned(2), planned(1)], vec![cell.clone()]);
        assert_eq!(results.cells[0], cell);
        assert_eq!(results.cells[1].status, Status::NotRun);
        assert!(results.cells[1].reason.as_deref().is_some_and(|reason| reason.starts_with("missing")));
        assert!(results.has_failures());
    }

    #[test]
    fn the_text_has_every_field_and_a_line_for_each_cell() {
        for cells in [
            &[][..],
            &[("a", "poll", Status::Pass)],
            &[("a", "poll", Status::Pass), ("b", "poll", Status::Fail)],
        ] {
            let results = samples::results("here", cells);
            let text = results.to_json();
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value, serde_json::to_value(&results).unwrap());
            assert_eq!(
                text.lines().filter(|line| line.starts_with("    {\"id\"")).count(),
                cells.len(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_cell_that_an_interrupted_run_did_not_reach_is_marked_interrupted() {
        let results = Results::new(run(true), vec![planned(1)], Vec::new());
        assert_eq!(results.cells[0].reason.as_deref(), Some("interrupted"));
    }

    #[test]
    fn the_committed_schema_is_the_generated_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/results.schema.json");
        crate::schema::assert_current::<Results>(path);
    }

    #[test]
    fn totals_are_counted_per_layer() {
        let mut results =
            samples::results("here", &[("a", "poll", Status::Pass), ("b", "poll", Status::Fail)]);
        assert_eq!(results.totals_lines(), ["2 cells: 1 pass, 1 fail"]);
        results.cells[0].layer = Layer::Characterisation;
        results.cells[0].counters.insert("unknown".into(), 12);
        assert_eq!(
            results.totals_lines(),
            ["1 cells: 1 fail", "characterisation: 1 cells: 1 new, 12 answers not known before"]
        );
        results.cells[1].layer = Layer::Characterisation;
        results.cells[1].counters.insert("unknown".into(), 1);
        results.cells[0].counters.clear();
        assert_eq!(
            results.totals_lines(),
            ["characterisation: 2 cells: 1 as expected, 1 fail, 1 answer not known before"]
        );
        assert!(results.has_failures(), "a changed answer is a failure");
    }

    #[test]
    fn written_results_are_read_unchanged() {
        let results = Results::new(run(false), vec![planned(1)], Vec::new());
        assert_eq!(Results::read(results.to_json().as_bytes()).unwrap(), results);
    }

    #[test]
    fn costs_are_lines_of_their_own_and_are_read_again() {
        let cost = |outcome| Cost {
            target: "here".into(),
            poller: "poll".into(),
            operation: "wake".into(),
            mode: "level".into(),
            threads: 1,
            descriptors: 10,
            outcome,
            calls: None,
            unbound: None,
        };
        let figure = CostOutcome::Measured {
            ratio: 1.25,
            low: 1.2,
            high: 1.3,
            nanoseconds: 250.5,
            floor: 200.0,
            pairs: 21,
        };
        let noise = CostOutcome::Noise { low: 1.0, high: 2.0, pairs: 21 };
        let reason = CostOutcome::NotMeasured { reason: "no room".into() };
        let mut costs = vec![cost(figure), cost(noise), cost(reason)];
        let by_name = [("epoll_ctl".to_owned(), 1.0)].into();
        costs[0].calls = Some(Calls::Counted { total: 1.0, by_name });
        costs[1].calls = Some(Calls::NotCounted { reason: "EPERM".into() });
        costs[1].unbound = Some("EINVAL".into());
        let results = Results { costs, ..samples::results("here", &[]) };
        let text = results.to_json();
        assert!(
            text.contains("\"cells\": [],\n  \"costs\": [\n    {\"target\":\"here\",\"poller\":\"poll\""),
            "{text}"
        );
        assert!(text.contains(",\"outcome\":\"measured\",\"ratio\":1.25,\"low\":1.2,"), "{text}");
        let counted = "\"pairs\":21,\"calls\":{\"counted\":{\"total\":1.0,\"by_name\":{\"epoll_ctl\":1.0}}}}";
        assert!(text.contains(counted), "{text}");
        let not_counted = "\"calls\":{\"not-counted\":{\"reason\":\"EPERM\"}},\"unbound\":\"EINVAL\"}";
        assert!(text.contains(not_counted), "{text}");
        assert!(text.contains(",\"outcome\":\"not-measured\",\"reason\":\"no room\"}\n  ]\n}\n"), "{text}");
        assert_eq!(Results::read(text.as_bytes()).unwrap(), results);
        assert!(!Results::of_no_run(Vec::new()).to_json().contains("costs"), "as in earlier files");
    }
}
