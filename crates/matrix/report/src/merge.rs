//! Merges the results of several runs.
//!
//! Every run is kept unchanged, with its provenance. A run that occurs in several inputs is kept once. Cells
//! are matched by target and id. The merged results do not depend on the order of the inputs, except with
//! [`Prefer::First`] and [`Prefer::Last`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metadata::{Calls, CellResult, Cost, CostOutcome, Results, Run, Scenario, Status};

/// Results to merge.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name for errors: the file.
    pub name: String,
    /// The results.
    pub results: Results,
}

/// Which of several different statuses of one cell is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefer {
    /// The status in the first input that has the cell.
    First,
    /// The status in the last input that has the cell.
    Last,
    /// The worst status.
    Worst,
}

/// Options of [`merge()`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Which status is kept if the inputs have different ones for a cell. `None` refuses them.
    pub prefer: Option<Prefer>,
    /// Accepts results of different matrix files, and of different executables for one target.
    pub mixed: bool,
}

/// Merged results.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The results.
    pub results: Results,
    /// Notes for the user: which cells occurred in several inputs, and what was kept.
    pub notes: Vec<String>,
}

/// A cell with different statuses in several inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The target.
    pub target: String,
    /// The cell's id.
    pub id: String,
    /// The names of the inputs, each with its status.
    pub statuses: Vec<(String, Status)>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses: Vec<_> =
            self.statuses.iter().map(|(name, status)| format!("{status} in {name}")).collect();
        write!(f, "{} on {}: {}", self.id, self.target, statuses.join(", "))
    }
}

/// The reasons why results cannot be merged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// Two inputs were run with different faults or injected errors, or only one of them was.
    #[error("{0}, and {1}")]
    Faults(Disturbed, Disturbed),
    /// Two inputs were run with different matrix files.
    #[error("{0} and {1} were run with different matrix files: their cells may mean different things")]
    Matrices(String, String),
    /// One target was run with different executables.
    #[error("{first} and {second} have runs of {target} with different executables")]
    Executables {
        /// The target.
        target: String,
        /// The name of an input.
        first: String,
        /// The name of another input.
        second: String,
    },
    /// The inputs have different statuses for some cells.
    #[error("{} cells have different results in several inputs:\n{}", .0.len(), first_few(.0))]
    Conflicts(Vec<Conflict>),
}

/// An input, with the fault and the injected errors that it was run with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disturbed {
    name: String,
    disturbance: Option<String>,
}

impl fmt::Display for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.disturbance {
            Some(disturbance) => write!(f, "{} was run with {disturbance}", self.name),
            None => write!(f, "{} was run without a fault", self.name),
        }
    }
}

fn first_few(conflicts: &[Conflict]) -> String {
    /// A longer list would hide the error message.
    const NAMED: usize = 5;
    let mut lines: Vec<_> = conflicts.iter().take(NAMED).map(|conflict| format!("  {conflict}")).collect();
    if conflicts.len() > NAMED {
        lines.push(format!("  and {} more", conflicts.len() - NAMED));
    }
    lines.join("\n")
}

/// Merges results.
///
/// A cell with the status `not-run` is replaced by any other result of the cell. Of results with equal
/// status, the one with the most attempts is kept. Of several measurements of one cost, the best is kept.
///
/// # Errors
/// The inputs were run with different faults, matrix files or executables, or have different statuses for a
/// cell. See [`Rules`].
pub fn merge(inputs: Vec<Input>, rules: Rules) -> Result<Merged, MergeError> {
    check_faults(&inputs)?;
    if !rules.mixed {
        check_matrices(&inputs)?;
        check_executables(&inputs)?;
    }
    let mut notes = Vec::new();
    let (mut runs, mut not_run, mut by_cell) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    let mut descriptions: BTreeMap<String, Vec<Scenario>> = BTreeMap::new();
    let mut costs = Vec::new();
    for Input { name, results } in inputs {
        runs.extend(results.runs);
        costs.extend(results.costs);
        not_run.extend(results.not_run);
        for (id, scenario) in results.scenarios {
            descriptions.entry(id).or_default().push(scenario);
        }
        for cell in results.cells {
            let candidates: &mut Vec<_> = by_cell.entry((cell.id.clone(), cell.target.clone())).or_default();
            candidates.push((name.clone(), cell));
        }
    }
    runs.sort_by_cached_key(|run| {
        (run.target.clone(), run.runner.clone(), run.emulator.clone(), text_of(run))
    });
    runs.dedup();
    not_run.retain(|not_run| !runs.iter().any(|run| run.target == not_run.target));
    notes.extend(several_commits(&runs));

    let mut selection = Selection::default();
    let cells =
        by_cell.into_values().filter_map(|candidates| selection.select(candidates, rules.prefer)).collect();
    if !selection.conflicts.is_empty() {
        return Err(MergeError::Conflicts(selection.conflicts));
    }
    notes.extend(selection.notes());
    notes.extend(several_descriptions(&descriptions));
    let scenarios =
        descriptions.into_iter().filter_map(|(id, scenarios)| Some((id, newest(scenarios)?))).collect();
    let without_runs = Results::of_no_run(not_run.into_iter().collect());
    let costs = merged_costs(costs);
    Ok(Merged { results: Results { runs, scenarios, cells, costs, ..without_runs }, notes })
}

/// Sorts costs. Of several measurements of one cost, a figure is kept rather than noise, and noise rather
/// than a reason; of several figures, the one with the narrowest interval. Its system calls are those of
/// another measurement if it has none, because they do not depend on noise.
fn merged_costs(mut costs: Vec<Cost>) -> Vec<Cost> {
    let doubt = |cost: &Cost| match &cost.outcome {
        CostOutcome::Measured { ratio, low, high, .. } => (0, (high - low) / ratio),
        CostOutcome::Noise { low, high, .. } => (1, (high - low) / low),
        CostOutcome::NotMeasured { .. } => (2, 0.0),
    };
    costs.sort_by(|one, other| {
        let ((kind, width), (other_kind, other_width)) = (doubt(one), doubt(other));
        one.key().cmp(&other.key()).then(kind.cmp(&other_kind)).then(width.total_cmp(&other_width))
    });
    let is_counted = |cost: &Cost| matches!(cost.calls, Some(Calls::Counted { .. }));
    costs.dedup_by(|later, first| {
        let is_same = later.key() == first.key();
        if is_same && is_counted(later) && !is_counted(first) {
            first.calls = later.calls.take();
        }
        is_same
    });
    costs
}

fn check_faults(inputs: &[Input]) -> Result<(), MergeError> {
    let disturbed =
        |input: &Input| Disturbed { name: input.name.clone(), disturbance: input.results.disturbance() };
    // An input without a run, of targets that were not run, fits every other one.
    let mut with_runs = inputs.iter().filter(|input| !input.results.runs.is_empty());
    let Some(first) = with_runs.next() else { return Ok(()) };
    match with_runs.find(|input| input.results.disturbance() != first.results.disturbance()) {
        Some(other) => Err(MergeError::Faults(disturbed(first), disturbed(other))),
        None => Ok(()),
    }
}

fn check_matrices(inputs: &[Input]) -> Result<(), MergeError> {
    let mut known: Option<(&str, &Run)> = None;
    for (name, run) in runs(inputs) {
        let (first, other) = known.get_or_insert((name, run));
        // Runs in the same input may differ: it was merged with `mixed`.
        if other.matrix != run.matrix && *first != name {
            return Err(MergeError::Matrices((*first).to_owned(), name.to_owned()));
        }
    }
    Ok(())
}

fn check_executables(inputs: &[Input]) -> Result<(), MergeError> {
    let mut known: BTreeMap<&str, (&str, &Run)> = BTreeMap::new();
    for (name, run) in runs(inputs) {
        let (first, other) = known.entry(&run.target).or_insert((name, run));
        if other.executable != run.executable && *first != name {
            let (target, first, second) = (run.target.clone(), (*first).to_owned(), name.to_owned());
            return Err(MergeError::Executables { target, first, second });
        }
    }
    Ok(())
}

/// Returns every run, with the name of its input.
fn runs(inputs: &[Input]) -> impl Iterator<Item = (&str, &Run)> {
    inputs.iter().flat_map(|input| input.results.runs.iter().map(|run| (input.name.as_str(), run)))
}

fn several_commits(runs: &[Run]) -> Option<String> {
    let builds: BTreeSet<_> = runs.iter().map(Run::build).collect();
    let named: Vec<_> = builds.iter().map(String::as_str).collect();
    (builds.len() > 1)
        .then(|| format!("the runs are of different versions of pollmatrix: {}", named.join(", ")))
}

fn several_descriptions(descriptions: &BTreeMap<String, Vec<Scenario>>) -> Option<String> {
    let differ =
        |scenarios: &&Vec<Scenario>| scenarios.windows(2).any(|pair| !pair[0].is_same_description(&pair[1]));
    let count = descriptions.values().filter(differ).count();
    (count > 0).then(|| {
        format!(
            "{count} scenarios have different descriptions: the one of the newest pollmatrix is kept for each"
        )
    })
}

/// Returns the description that the newest pollmatrix wrote.
///
/// Each description carries its own version, so a report that was merged before counts no more than its
/// parts. Between equal versions the text decides, so that the order of the inputs does not matter.
fn newest(descriptions: Vec<Scenario>) -> Option<Scenario> {
    descriptions.into_iter().max_by_key(|scenario| (scenario.described_by(), text_of(scenario)))
}

/// Selects one result per cell, and counts the cells that several inputs have.
#[derive(Default)]
struct Selection {
    conflicts: Vec<Conflict>,
    equal: usize,
    preferred: usize,
    replaced: usize,
}

impl Selection {
    /// Returns the result to keep of all results of one cell. `None` records a conflict.
    fn select(
        &mut self,
        mut candidates: Vec<(String, CellResult)>,
        prefer: Option<Prefer>,
    ) -> Option<CellResult> {
        let was_run = |(_, cell): &(String, CellResult)| cell.status != Status::NotRun;
        if candidates.iter().any(was_run) && !candidates.iter().all(was_run) {
            candidates.retain(was_run);
            self.replaced += 1;
        }
        if candidates.len() == 1 {
            return candidates.pop().map(|(_, cell)| cell);
        }
        let first = candidates.first()?.1.status;
        let status = if candidates.iter().all(|(_, cell)| cell.status == first) {
            self.equal += 1;
            first
        } else {
            let mut statuses = candidates.iter().map(|(_, cell)| cell.status);
            let status = match prefer {
                Some(Prefer::First) => statuses.next(),
                Some(Prefer::Last) => statuses.next_back(),
                Some(Prefer::Worst) => statuses.max_by_key(|status| status.severity()),
                None => None,
            };
            match status {
                Some(_) => self.preferred += 1,
                None => self.conflicts.push(conflict(&candidates)),
            }
            status?
        };
        candidates
            .into_iter()
            .map(|(_, cell)| cell)
            .filter(|cell| cell.status == status)
            // Between equal numbers of attempts a timeline decides, then the text, so that the order of the
            // inputs does not matter.
            .min_by_key(|cell| {
                (std::cmp::Reverse(cell.attempts.total), cell.timeline.is_none(), text_of(cell))
            })
    }

    fn notes(&self) -> Vec<String> {
        let parts = [
            (self.equal, "are in several inputs with the same status: one result is kept"),
            (self.preferred, "are in several inputs with different statuses: --prefer decided"),
            (self.replaced, "were not run in one input and have a result in another"),
        ];
        parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, text)| format!("{count} cells {text}"))
            .collect()
    }
}

fn conflict(candidates: &[(String, CellResult)]) -> Conflict {
    let first = candidates.first().map(|(_, cell)| (cell.target.clone(), cell.id.clone()));
    let (target, id) = first.unwrap_or_default();
    let statuses = candidates.iter().map(|(name, cell)| (name.clone(), cell.status)).collect();
    Conflict { target, id, statuses }
}

fn text_of<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the types have string keys and no fallible parts")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use Status::{Crash, Fail, NotRun, Pass};

    use super::*;
    use crate::samples;

    fn input(name: &str, results: Results) -> Input {
        Input { name: name.into(), results }
    }

    fn shard(name: &str, target: &str, rows: &[(&str, &str, Status)]) -> Input {
        let mut results = samples::results(target, rows);
        // Each shard has its own run.
        results.runs[0].started = name.to_owned();
        input(name, results)
    }

    fn not_run(name: &str, target: &str) -> Input {
        input(name, Results::of_no_run(vec![samples::not_run(target)]))
    }

    fn statuses(merged: &Results) -> Vec<(String, Status)> {
        merged.cells.iter().map(|cell| (format!("{} {}", cell.id, cell.target), cell.status)).collect()
    }

    fn worst() -> Rules {
        Rules { prefer: Some(Prefer::Worst), ..Rules::default() }
    }

    #[test]
    fn of_equal_results_the_one_with_a_timeline_is_kept() {
        let mut without = samples::results("here", &[("a", "poll", Pass)]);
        without.cells[0].duration_ms = 1;
        let mut with = without.clone();
        with.cells[0].timeline = Some(samples::timeline());
        // The texts alone would decide for the other.
        with.cells[0].duration_ms = 2;
        for inputs in [[&with, &without], [&without, &with]] {
            let inputs = inputs.map(|results| Input { name: "one".into(), results: results.clone() });
            let merged = merge(inputs.into(), Rules::default()).unwrap();
            assert!(merged.results.cells[0].timeline.is_some());
        }
    }

    #[test]
    fn the_order_of_the_inputs_does_not_matter() {
        let mut twice = shard("b", "one", &[("y", "poll", Pass), ("z", "poll", Fail)]);
        // The status is equal, the text is not.
        twice.results.cells[0].duration_ms = 77;
        let inputs = [
            shard("a", "one", &[("x", "epoll", Pass), ("y", "poll", Pass), ("z", "poll", Crash)]),
            twice,
            shard("c", "two", &[("x", "epoll", Fail), ("y", "poll", NotRun)]),
            shard("d", "two", &[("y", "poll", Pass)]),
            not_run("e", "three"),
            not_run("f", "two"),
        ];
        let expected = merge(inputs.to_vec(), worst()).unwrap().results;
        let rows = [
            ("group/name/x@epoll one", Pass),
            ("group/name/x@epoll two", Fail),
            ("group/name/y@poll one", Pass),
            ("group/name/y@poll two", Pass),
            ("group/name/z@poll one", Crash),
        ];
        assert_eq!(statuses(&expected), rows.map(|(row, status)| (row.to_owned(), status)));
        let targets: Vec<_> = expected.not_run.iter().map(|not_run| not_run.target.as_str()).collect();
        assert_eq!(targets, ["three"]);

        let mut order: Vec<_> = (0..inputs.len()).collect();
        for swap in [(0, 5), (1, 3), (2, 4), (0, 1), (3, 5), (0, 2)] {
            order.swap(swap.0, swap.1);
            let inputs = order.iter().map(|index| inputs[*index].clone()).collect();
            assert_eq!(merge(inputs, worst()).unwrap().results.to_json(), expected.to_json(), "{order:?}");
        }
    }

    #[test]
    fn merging_in_steps_equals_merging_at_once() {
        let inputs = [
            shard("a", "one", &[("x", "epoll", Pass)]),
            shard("b", "one", &[("x", "epoll", Pass), ("y", "poll", NotRun)]),
            shard("c", "one", &[("y", "poll", Pass)]),
        ];
        let at_once = merge(inputs.to_vec(), Rules::default()).unwrap().results;
        let first = merge(inputs[..2].to_vec(), Rules::default()).unwrap().results;
        let steps = vec![input("ab", first), inputs[2].clone(), inputs[0].clone()];
        assert_eq!(merge(steps, Rules::default()).unwrap().results.to_json(), at_once.to_json());
        assert_eq!(at_once.runs.len(), 3);
    }

    #[test]
    fn the_newest_of_several_descriptions_is_kept_in_steps_or_at_once() {
        let described = |name: &str, id: &str, version: &str, title: &str| {
            let mut shard = shard(name, name, &[("x", "epoll", Pass)]);
            let scenario =
                Scenario { title: title.into(), pollmatrix: version.into(), ..samples::scenario() };
            shard.results.scenarios.insert(id.into(), scenario);
            shard
        };
        let of = |inputs: &[Input]| merge(inputs.to_vec(), Rules::default()).unwrap();
        let nine = described("a", "group/name", "0.9.0", "Nine");
        let ten = described("b", "group/name", "0.10.0", "Ten");
        let two = described("c", "group/name", "0.2.0", "Two");
        let merged = of(&[nine, ten.clone(), two]);
        assert_eq!(merged.results.scenarios["group/name"].title, "Ten");
        assert!(
            merged.notes.iter().any(|note| note.starts_with("1 scenarios have different descriptions")),
            "{merged:?}"
        );

        // Merging an old description with a newer one of another scenario does not make it newer.
        let old = described("d", "group/gone", "0.1.0", "One");
        let newer = described("e", "group/gone", "0.2.0", "Two");
        let first = input("de", of(&[old, ten]).results);
        assert_eq!(of(&[first, newer]).results.scenarios["group/gone"].title, "Two");
    }

    #[test]
    fn only_a_few_of_many_different_statuses_are_listed() {
        let names: Vec<_> = (0..9).map(|number| number.to_string()).collect();
        let rows = |status| names.iter().map(|name| (name.as_str(), "poll", status)).collect::<Vec<_>>();
        let inputs = vec![shard("a", "one", &rows(Pass)), shard("b", "one", &rows(Fail))];
        let text = merge(inputs, Rules::default()).unwrap_err().to_string();
        assert_eq!(text.lines().count(), 7, "{text}");
        assert!(text.ends_with("and 4 more"), "{text}");
    }

    #[test]
    fn of_equal_statuses_the_result_with_the_most_attempts_is_kept() {
        let mut inputs: Vec<_> =
            ["a", "b", "c"].iter().map(|name| shard(name, "one", &[("x", "epoll", Pass)])).collect();
        for (input, total) in inputs.iter_mut().zip([3, 20, 1]) {
            input.results.cells[0].attempts.total = total;
        }
        let merged = merge(inputs, Rules::default()).unwrap();
        assert_eq!(merged.results.cells[0].attempts.total, 20);
        assert!(merged.notes.iter().any(|note| note.contains("the same status")), "{:?}", merged.notes);
    }

    #[test]
    fn a_cell_that_was_not_run_is_replaced_by_any_result() {
        let inputs = vec![
            shard("a", "one", &[("x", "epoll", NotRun), ("y", "epoll", NotRun)]),
            shard("b", "one", &[("x", "epoll", Fail), ("y", "epoll", NotRun)]),
        ];
        let merged = merge(inputs, Rules::default()).unwrap();
        assert_eq!(merged.results.cells.iter().map(|cell| cell.status).collect::<Vec<_>>(), [Fail, NotRun]);
    }

    #[test]
    fn results_with_different_faults_are_never_merged() {
        let mut inputs =
            vec![shard("a", "one", &[("x", "epoll", Pass)]), shard("b", "two", &[("x", "epoll", Pass)])];
        inputs[1].results.runs[0].fault = Some("double-close".into());
        let rules = Rules { prefer: Some(Prefer::First), mixed: true };
        let text = merge(inputs.clone(), rules).unwrap_err().to_string();
        assert_eq!(text, "a was run without a fault, and b was run with the fault double-close switched on");
        inputs[0].results.runs[0].fault = Some("another".into());
        assert!(merge(inputs.clone(), rules).is_err());
        inputs[0].results.runs[0].fault = Some("double-close".into());
        inputs[0].results.runs[0].inject_errors = NonZeroU32::new(20);
        let text = merge(inputs.to_vec(), Rules::default()).unwrap_err().to_string();
        assert!(text.contains("with the fault double-close switched on and errors in one of 20"), "{text}");
        inputs[0].results.runs[0].inject_errors = None;
        inputs.push(not_run("c", "three"));
        assert!(merge(inputs, rules).is_ok());
    }

    #[test]
    fn of_several_measurements_of_a_cost_the_best_is_kept() {
        let cost = |descriptors, outcome| samples::cost("poll", descriptors, outcome);
        let figure = |ratio: f64, width: f64| samples::measured(ratio - width, ratio, ratio + width);
        let noise = CostOutcome::Noise { low: 1.0, high: 2.0, pairs: 5 };
        let reason = CostOutcome::NotMeasured { reason: "no room".into() };
        let inputs = [
            vec![cost(100, reason.clone()), cost(10, figure(1.5, 0.2)), cost(20, noise.clone())],
            vec![cost(10, figure(1.4, 0.1)), cost(20, reason), cost(100, noise.clone())],
            vec![cost(10, noise.clone())],
        ];
        let mut inputs = inputs.map(|costs| input("some", samples::with_costs(costs)));
        for _ in ["in this order", "in the other one"] {
            let merged = merge(inputs.to_vec(), Rules::default()).unwrap();
            let best = [cost(10, figure(1.4, 0.1)), cost(20, noise.clone()), cost(100, noise.clone())];
            assert_eq!(merged.results.costs, best);
            inputs.reverse();
        }
    }

    #[test]
    fn a_merged_cost_keeps_the_system_calls_of_the_measurement_that_counted_them() {
        let cost = |ratio: f64, calls| Cost {
            calls,
            ..samples::cost("epoll", 10, samples::measured(ratio - 0.1, ratio, ratio + 0.1))
        };
        let counted = samples::counted(&[("epoll_ctl", 1.0)]);
        let refused = Some(Calls::NotCounted { reason: "EPERM".into() });
        for (best, worse, kept) in [
            (refused.clone(), counted.clone(), counted.clone()),
            (counted.clone(), refused.clone(), counted.clone()),
            (refused.clone(), refused.clone(), refused),
        ] {
            // The width is the same, so the greater ratio has the smaller doubt.
            let inputs = [cost(2.0, best), cost(1.0, worse)];
            let inputs = inputs.map(|cost| input("some", samples::with_costs(vec![cost])));
            let merged = merge(inputs.into(), Rules::default()).unwrap();
            assert_eq!(merged.results.costs, [cost(2.0, kept)]);
        }
    }
}
