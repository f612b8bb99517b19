//! What operations cost, as tables and as curves over the number of descriptors.

mod curve;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use metadata::{Calls, Cost, CostOutcome, Results, one_line};
use serde::Serialize;

use crate::table::Table;
use crate::text::{markdown, table_code};

/// The title of the column of system calls.
const CALLS: &str = "system calls";

/// The costs of one operation on one target, in one mode and with one number of threads.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// The target.
    pub target: String,
    /// `wait-one`.
    pub operation: String,
    /// `level` or `edge`.
    pub mode: String,
    /// The number of threads.
    pub threads: u32,
    /// The numbers of descriptors, ascending: the columns of the table.
    pub descriptors: Vec<u64>,
    /// The times of the floor: `330 to 345 ns`. Empty without a figure.
    pub floor: String,
    /// A line for each poller that has a figure.
    pub lines: Vec<Line>,
    /// What was not measured: the reason, and the pollers with their numbers of descriptors.
    pub missing: Vec<Missing>,
    /// The system calls that were not counted.
    pub not_counted: Vec<Missing>,
    /// Why the threads were not bound to processors.
    pub unbound: Vec<Missing>,
}

/// The costs of one poller.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// `epoll`.
    pub poller: String,
    /// The outcome for each number of descriptors.
    pub outcomes: Vec<Option<CostOutcome>>,
    /// The same as texts: `1.32`, `noise`, empty.
    pub texts: Vec<String>,
    /// For each number of descriptors: `820 ns, its floor 330 ns; epoll_ctl 1.00`. Empty without a figure.
    pub hints: Vec<String>,
    /// The system calls of an operation for each number of descriptors: `epoll_ctl 1.00`. Empty if they were
    /// not counted.
    pub calls: Vec<String>,
    /// The same for all numbers of descriptors: `epoll_wait 0.01 to 0.10`.
    pub all_calls: String,
}

/// Costs that were not measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Missing {
    /// The reason.
    pub reason: String,
    /// `select: 3000, 10000`.
    pub what: Vec<String>,
}

impl Figure {
    /// Returns the figures of a report, in the order of its costs.
    pub fn all(results: &Results) -> Vec<Self> {
        let mut groups: Vec<Vec<&Cost>> = Vec::new();
        for cost in &results.costs {
            let same = |group: &&mut Vec<&Cost>| group.first().is_some_and(|first| of(first) == of(cost));
            match groups.iter_mut().find(same) {
                Some(group) => group.push(cost),
                None => groups.push(vec![cost]),
            }
        }
        groups.iter().map(|group| Self::of(group)).collect()
    }

    fn of(costs: &[&Cost]) -> Self {
        let first = costs[0];
        let numbers: BTreeSet<_> = costs.iter().map(|cost| cost.descriptors).collect();
        let descriptors: Vec<_> = numbers.into_iter().collect();
        let mut by_poller: BTreeMap<&str, BTreeMap<u64, &Cost>> = BTreeMap::new();
        for cost in costs {
            by_poller.entry(&cost.poller).or_default().insert(cost.descriptors, cost);
        }
        let (mut missing, mut not_counted) = (Reasons::default(), Reasons::default());
        let mut unbound = Reasons::default();
        let mut lines = Vec::new();
        for (poller, costs) in &by_poller {
            for cost in costs.values() {
                if let CostOutcome::NotMeasured { reason } = &cost.outcome {
                    missing.add(reason, cost);
                }
                if let Some(Calls::NotCounted { reason }) = &cost.calls {
                    not_counted.add(reason, cost);
                }
                if let Some(reason) = &cost.unbound {
                    unbound.add(reason, cost);
                }
            }
            if costs.values().all(|cost| matches!(cost.outcome, CostOutcome::NotMeasured { .. })) {
                continue;
            }
            let costs = || descriptors.iter().map(|number| costs.get(number).copied());
            let outcomes: Vec<_> = costs().map(|cost| cost.map(|cost| cost.outcome.clone())).collect();
            let texts = outcomes.iter().map(|outcome| outcome.as_ref().map_or(String::new(), text)).collect();
            let counted: Vec<_> = costs().map(|cost| cost.and_then(counted)).collect();
            let calls: Vec<_> = counted.iter().map(|counted| calls_text(counted.as_slice())).collect();
            let hints =
                outcomes.iter().zip(&calls).map(|(outcome, calls)| hint(outcome.as_ref(), calls)).collect();
            let known: Vec<_> = counted.into_iter().flatten().collect();
            let all_calls = calls_text(&known);
            lines.push(Line { poller: (*poller).to_owned(), outcomes, texts, hints, calls, all_calls });
        }
        Self {
            target: first.target.clone(),
            operation: first.operation.clone(),
            mode: first.mode.clone(),
            threads: first.threads,
            descriptors,
            floor: floor(costs),
            lines,
            missing: missing.listed(),
            not_counted: not_counted.listed(),
            unbound: unbound.listed(),
        }
    }

    /// Returns a title: `wait-one, level`.
    pub fn title(&self, with_target: bool) -> String {
        let threads = if self.threads == 1 { String::new() } else { format!(", {} threads", self.threads) };
        let target = if with_target { format!(" on {}", self.target) } else { String::new() };
        format!("{}, {}{threads}{target}", self.operation, self.mode)
    }

    /// Returns whether system calls of a poller were counted.
    pub fn has_calls(&self) -> bool {
        self.lines.iter().any(|line| !line.all_calls.is_empty())
    }

    /// Returns everything that has a reason, and what it is.
    pub fn all_missing(&self) -> impl Iterator<Item = (&'static str, &Missing)> {
        let all = [
            ("not measured", &self.missing),
            ("system calls not counted", &self.not_counted),
            ("threads not bound to processors", &self.unbound),
        ];
        all.into_iter().flat_map(|(is, missing)| missing.iter().map(move |missing| (is, missing)))
    }

    /// Draws the curves as SVG: the descriptors from left to right and the ratio upwards, both logarithmic,
    /// with a line for each poller. `None` if there are not two points to connect.
    ///
    /// The colours are those of the page that it stands in: `currentColor`, and the variables `--line` and
    /// `--series-1` to `--series-8`.
    pub fn svg(&self) -> Option<String> {
        curve::draw(self)
    }
}

/// Reasons, and what they are the reasons of.
#[derive(Default)]
struct Reasons<'a>(BTreeMap<&'a str, BTreeMap<&'a str, Vec<String>>>);

impl<'a> Reasons<'a> {
    fn add(&mut self, reason: &'a str, cost: &'a Cost) {
        let pollers = self.0.entry(reason).or_default();
        pollers.entry(&cost.poller).or_default().push(cost.descriptors.to_string());
    }

    fn listed(self) -> Vec<Missing> {
        let of_poller = |(name, numbers): (&str, Vec<String>)| format!("{name}: {}", numbers.join(", "));
        let listed = |(reason, pollers): (&str, BTreeMap<_, _>)| Missing {
            reason: reason.to_owned(),
            what: pollers.into_iter().map(of_poller).collect(),
        };
        self.0.into_iter().map(listed).collect()
    }
}

/// The system calls of an operation, if they were counted.
fn counted(cost: &Cost) -> Option<&BTreeMap<String, f64>> {
    match &cost.calls {
        Some(Calls::Counted { by_name, .. }) => Some(by_name),
        _ => None,
    }
}

/// Returns a number of system calls: `1.00`, `0.001`.
fn number(calls: f64) -> String {
    if calls >= 0.1 || calls == 0.0 { format!("{calls:.2}") } else { calls.to_string() }
}

/// Returns the least and the greatest number of each system call: `close 1.00, epoll_ctl 1.00`, or
/// `epoll_wait 0.01 to 0.10`, or `none`. Empty if none were counted.
fn calls_text(counted: &[&BTreeMap<String, f64>]) -> String {
    let names: BTreeSet<_> = counted.iter().flat_map(|calls| calls.keys()).collect();
    let range = |name: &String| {
        let numbers = || counted.iter().map(|calls| calls.get(name).copied().unwrap_or_default());
        let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
        match (number(low), number(high)) {
            (low, high) if low == high => format!("{name} {low}"),
            (low, high) => format!("{name} {low} to {high}"),
        }
    };
    match (counted, names.is_empty()) {
        ([], _) => String::new(),
        (_, true) => "none".to_owned(),
        _ => names.into_iter().map(range).collect::<Vec<_>>().join(", "),
    }
}

fn of(cost: &Cost) -> (&str, &str, &str, u32) {
    (&cost.target, &cost.operation, &cost.mode, cost.threads)
}

/// Returns an outcome as a text of a table.
fn text(outcome: &CostOutcome) -> String {
    match outcome {
        CostOutcome::Measured { ratio, .. } if *ratio >= 100.0 => format!("{ratio:.0}"),
        CostOutcome::Measured { ratio, .. } if *ratio >= 10.0 => format!("{ratio:.1}"),
        CostOutcome::Measured { ratio, .. } => format!("{ratio:.2}"),
        CostOutcome::Noise { .. } => "noise".to_owned(),
        CostOutcome::NotMeasured { .. } => String::new(),
    }
}

/// Returns the least and the greatest time of the floor.
fn floor(costs: &[&Cost]) -> String {
    let floors = || {
        costs.iter().filter_map(|cost| match &cost.outcome {
            CostOutcome::Measured { floor, .. } => Some(floor.round()),
            _ => None,
        })
    };
    match (floors().fold(f64::INFINITY, f64::min), floors().fold(0.0, f64::max)) {
        (low, high) if low == high => format!("{low} ns"),
        (low, high) if low < high => format!("{low} to {high} ns"),
        _ => String::new(),
    }
}

/// Returns what a page shows of an outcome beside its text: the times, and the system calls.
fn hint(outcome: Option<&CostOutcome>, calls: &str) -> String {
    let times = match outcome {
        Some(CostOutcome::Measured { nanoseconds, floor, .. }) => {
            Some(format!("{nanoseconds:.0} ns, its floor {floor:.0} ns"))
        }
        Some(CostOutcome::Noise { low, high, .. }) => Some(format!("between {low:.2} and {high:.2}")),
        _ => None,
    };
    let calls = Some(calls.to_owned()).filter(|calls| !calls.is_empty());
    times.into_iter().chain(calls).collect::<Vec<_>>().join("; ")
}

/// Renders the costs for a terminal: a table for each operation. Empty if there are none.
pub fn terminal(results: &Results) -> String {
    let mut out = String::new();
    for figure in Figure::all(results) {
        let _ = writeln!(out, "{}", one_line(&figure.title(results.has_several_targets())));
        if !figure.lines.is_empty() {
            let mut table = Table::with_right(1..figure.descriptors.len() + 1);
            let numbers = figure.descriptors.iter().map(ToString::to_string);
            let last = figure.has_calls().then(|| CALLS.to_owned());
            table.add(std::iter::once("descriptors".to_owned()).chain(numbers).chain(last));
            for line in &figure.lines {
                let texts = line.texts.iter().map(|text| if text.is_empty() { "-" } else { text });
                let (poller, calls) = (one_line(&line.poller), one_line(&line.all_calls));
                let calls = figure.has_calls().then_some(calls.as_ref());
                table.add(std::iter::once(poller.as_ref()).chain(texts).chain(calls));
            }
            out.push_str(&table.text(false));
        }
        for (is, missing) in figure.all_missing() {
            let what = one_line(&missing.what.join("; ")).into_owned();
            let _ = writeln!(out, "{is}: {} ({what})", one_line(&missing.reason));
        }
        out.push('\n');
    }
    out
}

/// Renders the costs as a section of Markdown. Empty if there are none.
pub fn section(results: &Results) -> String {
    let mut out = String::new();
    for figure in Figure::all(results) {
        if out.is_empty() {
            out.push_str("\n## Costs\n\nRatios to a floor that was measured alternately (docs/cost.md).\n");
        }
        let _ = writeln!(out, "\n### {}\n", markdown(&figure.title(results.has_several_targets())));
        if !figure.lines.is_empty() {
            let numbers: Vec<_> = figure.descriptors.iter().map(ToString::to_string).collect();
            let (title, rule) = if figure.has_calls() { (CALLS, "---|") } else { ("", "") };
            let end = |text: &str| if figure.has_calls() { format!(" {text} |") } else { String::new() };
            let _ = writeln!(out, "| descriptors | {} |{}", numbers.join(" | "), end(title));
            let _ = writeln!(out, "|---|{}{rule}", "---:|".repeat(numbers.len()));
            for line in &figure.lines {
                let (poller, calls) = (table_code(&line.poller), end(&markdown(&line.all_calls)));
                let _ = writeln!(out, "| {poller} | {} |{calls}", line.texts.join(" | "));
            }
        }
        for (is, missing) in figure.all_missing() {
            let what = markdown(&missing.what.join("; "));
            let (first, rest) = is.split_at(1);
            let is = first.to_uppercase() + rest;
            let _ = writeln!(out, "\n{is}: {} ({what})", markdown(&missing.reason));
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests;
