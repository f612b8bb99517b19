//! What operations cost, as tables and as curves over the number of descriptors.

mod curve;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use metadata::{Cost, CostOutcome, Results, one_line};
use serde::Serialize;

use crate::text::{markdown, table_code};

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
    /// A line for each poller that has a figure.
    pub lines: Vec<Line>,
    /// What was not measured: the reason, and the pollers with their numbers of descriptors.
    pub missing: Vec<Missing>,
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
        let mut by_poller: BTreeMap<&str, BTreeMap<u64, &CostOutcome>> = BTreeMap::new();
        for cost in costs {
            by_poller.entry(&cost.poller).or_default().insert(cost.descriptors, &cost.outcome);
        }
        let mut missing: BTreeMap<&str, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
        let mut lines = Vec::new();
        for (poller, outcomes) in &by_poller {
            for (number, outcome) in outcomes {
                if let CostOutcome::NotMeasured { reason } = outcome {
                    missing.entry(reason).or_default().entry(poller).or_default().push(number.to_string());
                }
            }
            if outcomes.values().all(|outcome| matches!(outcome, CostOutcome::NotMeasured { .. })) {
                continue;
            }
            let outcomes: Vec<_> =
                descriptors.iter().map(|number| outcomes.get(number).map(|of| (*of).clone())).collect();
            let texts = outcomes.iter().map(|outcome| outcome.as_ref().map_or(String::new(), text)).collect();
            lines.push(Line { poller: (*poller).to_owned(), outcomes, texts });
        }
        let missing = missing.into_iter().map(|(reason, pollers)| Missing {
            reason: reason.to_owned(),
            what: pollers
                .into_iter()
                .map(|(name, numbers)| format!("{name}: {}", numbers.join(", ")))
                .collect(),
        });
        Self {
            target: first.target.clone(),
            operation: first.operation.clone(),
            mode: first.mode.clone(),
            threads: first.threads,
            descriptors,
            lines,
            missing: missing.collect(),
        }
    }

    /// Returns a title: `wait-one, level`.
    pub fn title(&self, with_target: bool) -> String {
        let threads = if self.threads == 1 { String::new() } else { format!(", {} threads", self.threads) };
        let target = if with_target { format!(" on {}", self.target) } else { String::new() };
        format!("{}, {}{threads}{target}", self.operation, self.mode)
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

/// Renders the costs for a terminal: a table for each operation. Empty if there are none.
pub fn terminal(results: &Results) -> String {
    let mut out = String::new();
    for figure in Figure::all(results) {
        let _ = writeln!(out, "{}", one_line(&figure.title(results.has_several_targets())));
        if !figure.lines.is_empty() {
            let mut table = Table::new();
            table
                .load_style(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Disabled)
                .force_no_tty();
            let numbers = figure.descriptors.iter().map(ToString::to_string);
            table.set_header(std::iter::once("descriptors".to_owned()).chain(numbers));
            for line in &figure.lines {
                let texts = line.texts.iter().map(|text| if text.is_empty() { "-" } else { text });
                table.add_row(std::iter::once(one_line(&line.poller).as_ref()).chain(texts));
            }
            for column in table.column_iter_mut().skip(1) {
                column.set_cell_alignment(CellAlignment::Right);
            }
            for line in table.lines() {
                let _ = writeln!(out, "{}", line.trim_end());
            }
        }
        for missing in &figure.missing {
            let what = one_line(&missing.what.join("; ")).into_owned();
            let _ = writeln!(out, "not measured: {} ({what})", one_line(&missing.reason));
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
            let _ = writeln!(out, "| descriptors | {} |", numbers.join(" | "));
            let _ = writeln!(out, "|---|{}", "---:|".repeat(numbers.len()));
            for line in &figure.lines {
                let _ = writeln!(out, "| {} | {} |", table_code(&line.poller), line.texts.join(" | "));
            }
        }
        for missing in &figure.missing {
            let what = markdown(&missing.what.join("; "));
            let _ = writeln!(out, "\nNot measured: {} ({what})", markdown(&missing.reason));
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests;
