//! The differences between two reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use metadata::{Answer, Calls, CellResult, Column, Cost, CostOutcome, Difference, Results, Status, one_line};
use serde::Serialize;

use crate::grid::Tally;
use crate::text::{code_span, first_line, markdown};

/// The direction of a change. The most severe one sorts first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The cell passed, and no longer does: it fails, is only permitted, fails as expected, or is
    /// unsupported.
    Regression,
    /// The new status is worse, but the cell did not pass before or still passes.
    Worse,
    /// The new status is better.
    Better,
}

impl Direction {
    fn of(old: Status, new: Status) -> Self {
        match () {
            () if old.is_pass() && !new.is_pass() => Self::Regression,
            // The answer has changed. That it may have another cause is no reason to overlook it.
            () if old == Status::Pass && new != Status::Pass => Self::Regression,
            () if new.severity() > old.severity() => Self::Worse,
            () => Self::Better,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Worse => "worse",
            Self::Better => "better",
        }
    }
}

/// A cost that grew.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Grown {
    /// What it is the cost of: `wait-one, level, epoll, 1000 descriptors`.
    pub what: String,
    /// The target.
    pub target: String,
    /// What grew.
    pub unit: CostUnit,
    /// The old ratio to the floor, or the old number of system calls.
    pub old: f64,
    /// The new one.
    pub new: f64,
    /// How many times the old cost the new one is. `null` in JSON if the old one is 0.
    pub factor: f64,
    /// The system calls of which there are more: `epoll_ctl 1 → 2`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

/// What is compared of a cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostUnit {
    /// The ratio to the floor.
    Ratio,
    /// The number of system calls.
    SystemCalls,
}

impl Grown {
    /// Returns the costs that are more than `factor` times as great, the greatest growth first. Each must
    /// still be, if the old cost is the upper end of its interval and the new cost the lower end: the
    /// difference is no chance. Noise and what was not measured are not compared.
    ///
    /// System calls do not depend on the machine, so every one more is growth, whatever the factor. Those of
    /// the allocator do depend on it, and are not compared.
    pub fn all(old: &Results, new: &Results, factor: f64) -> Vec<Self> {
        let before: BTreeMap<_, _> = old.costs.iter().map(|cost| (cost.key(), cost)).collect();
        let grown = |cost: &Cost| {
            let old = before.get(&cost.key())?;
            Some([Self::ratio(old, cost, factor), Self::calls(old, cost)])
        };
        let mut all: Vec<_> = new.costs.iter().filter_map(grown).flatten().flatten().collect();
        all.sort_by(|one, other| other.factor.total_cmp(&one.factor));
        all
    }

    fn ratio(old: &Cost, cost: &Cost, factor: f64) -> Option<Self> {
        let CostOutcome::Measured { ratio: new, low, .. } = cost.outcome else { return None };
        let CostOutcome::Measured { ratio: old, high, .. } = old.outcome else { return None };
        let is_grown = new > old * factor && low > high;
        is_grown.then(|| Self::of(cost, CostUnit::Ratio, [old, new], Vec::new()))
    }

    fn calls(old: &Cost, cost: &Cost) -> Option<Self> {
        /// The numbers are rounded to four digits.
        const ROUNDED: f64 = 1.001;
        let [Some(before), Some(now)] = [old, cost].map(compared_calls) else { return None };
        let [old, new] = [&before, &now].map(|calls| calls.values().fold(0.0, |sum, calls| sum + calls));
        let of_before = |name: &str| before.get(name).copied().unwrap_or_default();
        let more = now.iter().filter(|(name, number)| **number > of_before(name) * ROUNDED);
        let calls = more.map(|(name, number)| format!("{name} {} → {number}", of_before(name))).collect();
        (new > old * ROUNDED).then(|| Self::of(cost, CostUnit::SystemCalls, [old, new], calls))
    }

    fn of(cost: &Cost, unit: CostUnit, [old, new]: [f64; 2], calls: Vec<String>) -> Self {
        let Cost { operation, mode, poller, descriptors, .. } = cost;
        let threads = if cost.threads == 1 { String::new() } else { format!(", {} threads", cost.threads) };
        Self {
            what: format!("{operation}, {mode}, {poller}, {descriptors} descriptors{threads}"),
            target: cost.target.clone(),
            unit,
            old,
            new,
            factor: new / old,
            calls,
        }
    }
}

/// Returns the system calls that are compared, if they were counted.
fn compared_calls(cost: &Cost) -> Option<BTreeMap<&str, f64>> {
    /// When memory is returned to the system depends on the layout of the address space.
    const ALLOCATOR: [&str; 6] = ["brk", "madvise", "mmap", "mprotect", "mremap", "munmap"];
    let Some(Calls::Counted { by_name, .. }) = &cost.calls else { return None };
    let all = by_name.iter().map(|(name, number)| (name.as_str(), *number));
    Some(all.filter(|(name, _)| !ALLOCATOR.contains(name)).collect())
}

/// One line: the cost, its target, and both ratios and the factor, or both numbers of system calls.
impl fmt::Display for Grown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, target, unit, old, new, factor, calls } = self;
        let text = match unit {
            CostUnit::Ratio => format!("{what} ({target}): {old:.2} → {new:.2}, {factor:.2} times"),
            CostUnit::SystemCalls => {
                format!("{what} ({target}): {old} → {new} system calls ({})", calls.join(", "))
            }
        };
        f.write_str(&one_line(&text))
    }
}

/// A cell whose status differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Changed {
    /// The target.
    pub target: String,
    /// The cell's id.
    pub id: String,
    /// The status in the old report.
    pub old: Status,
    /// The status in the new report.
    pub new: Status,
    /// Whether the change is a regression, another worsening or an improvement.
    pub direction: Direction,
    /// The first line of the reason in the new report.
    pub reason: String,
    /// The first line of the reason in the old report.
    pub old_reason: String,
}

/// A different answer to the same question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChangedAnswer {
    /// The target.
    pub target: String,
    /// The cell's id.
    pub id: String,
    /// The question.
    pub question: String,
    /// The answer in the old report.
    pub old: String,
    /// The answer in the new report.
    pub new: String,
    /// What the new answer no longer says, and what it adds: `hides hang-up; adds end`. Empty if both mean
    /// the same, in other words; absent if their meanings cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<String>,
}

/// A cell that only one of the two reports has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnmatchedCell {
    /// The target.
    pub target: String,
    /// The cell's id.
    pub id: String,
    /// The status in that report.
    pub status: Status,
    /// The first line of the reason.
    pub reason: String,
}

/// A target with cells in only one of the two reports.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnmatchedTarget {
    /// The target.
    pub target: String,
    /// The number of its cells.
    pub cells: usize,
    /// The reason why it was not run, if the other report has one.
    pub not_run: Option<String>,
}

/// The differences between two reports, by target and id.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Diff {
    /// The number of cells that passed in the old report, and do not pass, are only permitted, fail as
    /// expected or do not exist in the new one.
    pub regressions: usize,
    /// Cells with another status, sorted by direction: regressions, worse, better.
    pub changed: Vec<Changed>,
    /// Cells that only the new report has.
    pub added: Vec<UnmatchedCell>,
    /// Cells that only the old report has.
    pub deleted: Vec<UnmatchedCell>,
    /// The number of cells with the same status in both reports.
    pub unchanged: usize,
    /// Answers that differ, if they were compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<ChangedAnswer>,
    /// Targets with cells in the new report only. Their cells are `added`.
    pub added_targets: Vec<UnmatchedTarget>,
    /// Targets with cells in the old report only. Their cells are `deleted`.
    pub deleted_targets: Vec<UnmatchedTarget>,
}

impl Diff {
    /// GitHub limits a comment on a pull request to 65,536 characters. This leaves room for other text in it.
    pub const MAX_BYTES: usize = 60 * 1024;

    /// Compares `old` with `new`.
    pub fn new(old: &Results, new: &Results) -> Self {
        let (before, after) = (by_key(old), by_key(new));
        let (mut changed, mut unchanged) = (Vec::new(), 0);
        for (key, new) in &after {
            match before.get(key) {
                Some(old) if old.status == new.status => unchanged += 1,
                Some(old) => changed.push(change(old, new)),
                None => {}
            }
        }
        // The sort is stable: within a direction, the cells stay sorted by target and id.
        changed.sort_by_key(|change| change.direction);
        let added = unmatched_cells(&after, &before);
        let deleted = unmatched_cells(&before, &after);
        let regressed = changed.iter().filter(|change| change.direction == Direction::Regression).count();
        let lost = deleted.iter().filter(|cell| cell.status.is_pass()).count();
        Self {
            regressions: regressed + lost,
            added_targets: unmatched_targets(&added, old),
            deleted_targets: unmatched_targets(&deleted, new),
            changed,
            added,
            deleted,
            unchanged,
            answers: Vec::new(),
        }
    }

    /// Compares `old` with `new`, and the answers of the cells that both have.
    pub fn with_answers(old: &Results, new: &Results) -> Self {
        let before = by_key(old);
        let both = new.cells.iter().filter_map(|new| {
            let old = before.get(&(new.target.as_str(), new.id.as_str()))?;
            Some((*old, new))
        });
        let column = |results: &Results, cell: &CellResult| {
            let run = results.runs.iter().find(|run| run.target == cell.target);
            run.map(|run| run.column(&cell.backend)).unwrap_or_default()
        };
        let answers = both
            .flat_map(|(one, other)| changed_answers((one, &column(old, one)), (other, &column(new, other))));
        let answers = answers.collect();
        Self { answers, ..Self::new(old, new) }
    }

    /// Returns whether both reports have the same cells with the same statuses.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.deleted.is_empty() && self.answers.is_empty()
    }

    /// Renders the differences for a terminal. A target in only one of the reports takes one line.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (heading, lines) in
            self.sections(UnmatchedCell::line, Changed::line, ChangedAnswer::line, UnmatchedTarget::line)
        {
            let _ = writeln!(out, "{heading}");
            for line in lines {
                let _ = writeln!(out, "  {}", one_line(&line));
            }
            out.push('\n');
        }
        let _ = writeln!(out, "{}", self.totals_line());
        out
    }

    /// Renders the differences for a comment on a pull request, in at most [`Self::MAX_BYTES`] bytes.
    pub fn markdown(&self) -> String {
        let mut out = format!("### pollmatrix: {}\n", self.totals_line());
        let mut left = 0;
        for (heading, lines) in
            self.sections(UnmatchedCell::item, Changed::item, ChangedAnswer::item, UnmatchedTarget::item)
        {
            let mut begun = false;
            for line in lines {
                let heading = if begun { String::new() } else { format!("\n**{heading}**\n\n") };
                // 100 bytes are reserved for the closing sentence. After the first line that does not fit, no
                // other line is written, even if it is shorter.
                if left > 0 || out.len() + heading.len() + line.len() + 100 > Self::MAX_BYTES {
                    left += 1;
                    continue;
                }
                begun = true;
                let _ = writeln!(out, "{heading}- {line}");
            }
        }
        if left > 0 {
            let _ =
                writeln!(out, "\n{left} more lines are omitted here: `pollmatrix diff` prints all of them.");
        }
        out
    }

    /// Returns the totals: `1 regressions; 3 changed, 2 added, 0 deleted, 1934 unchanged`.
    pub fn totals_line(&self) -> String {
        format!(
            "{} regressions; {} changed, {} added, {} deleted, {} unchanged",
            self.regressions,
            self.changed.len(),
            self.added.len(),
            self.deleted.len(),
            self.unchanged
        )
    }

    /// Returns a heading and lines for each kind of difference that occurs.
    fn sections(
        &self,
        lone: impl Fn(&UnmatchedCell) -> String,
        changed: impl Fn(&Changed) -> String,
        answer: impl Fn(&ChangedAnswer) -> String,
        target: impl Fn(&UnmatchedTarget, &Tally) -> String,
    ) -> Vec<(String, Vec<String>)> {
        let alone = |cells: &[UnmatchedCell], targets: &[UnmatchedTarget]| {
            let whole: BTreeSet<_> = targets.iter().map(|lost| lost.target.as_str()).collect();
            let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
            for cell in cells.iter().filter(|cell| whole.contains(cell.target.as_str())) {
                tallies.entry(&cell.target).or_default().count(cell.status);
            }
            let targets = targets.iter().map(|lost| target(lost, &tallies[lost.target.as_str()]));
            let cells = cells.iter().filter(|cell| !whole.contains(cell.target.as_str()));
            targets.chain(cells.map(&lone)).collect::<Vec<_>>()
        };
        let sections = [
            (format!("Changed: {}", self.changed.len()), self.changed.iter().map(changed).collect()),
            (format!("Other answers: {}", self.answers.len()), self.answers.iter().map(&answer).collect()),
            (format!("Deleted: {}", self.deleted.len()), alone(&self.deleted, &self.deleted_targets)),
            (format!("Added: {}", self.added.len()), alone(&self.added, &self.added_targets)),
        ];
        sections.into_iter().filter(|(_, lines): &(_, Vec<_>)| !lines.is_empty()).collect()
    }
}

impl Changed {
    fn line(&self) -> String {
        let (direction, old, new) = (self.direction.name(), self.old, self.new);
        format!("{direction:<10}  {old} → {new}  {} on {}{}", self.id, self.target, self.why(str::to_owned))
    }

    fn item(&self) -> String {
        let bold = if self.direction == Direction::Regression { "**" } else { "" };
        let why = self.why(code_span);
        let (id, target) = (code_span(&self.id), markdown(&self.target));
        format!("{bold}{} → {}{bold} {id} on {target}{why}", self.old, self.new)
    }

    /// Returns the new reason, or the old one if there is no new reason.
    fn why(&self, shown: impl Fn(&str) -> String) -> String {
        match (self.reason.as_str(), self.old_reason.as_str()) {
            ("", "") => String::new(),
            ("", old) => format!(" (was: {})", shown(old)),
            (new, _) => format!(": {}", shown(new)),
        }
    }
}

/// Returns the questions that both results have with different answers. Equal questions of one cell are
/// matched in their order.
fn changed_answers(
    (old, old_column): (&CellResult, &Column),
    (new, new_column): (&CellResult, &Column),
) -> Vec<ChangedAnswer> {
    let mut left: Vec<_> = old.checks.iter().collect();
    let mut changed = Vec::new();
    for check in &new.checks {
        let Some(at) = left.iter().position(|other| other.what == check.what) else { continue };
        let other = left.remove(at);
        if other.observed != check.observed {
            let trigger = check.asked.as_ref().and_then(|asked| asked.trigger.as_deref());
            let of = |text: &str, column: &Column| Answer::of(text, trigger, column);
            let (one, another) = (of(&other.observed, old_column), of(&check.observed, new_column));
            let means = match Difference::between((old_column, &one), (new_column, &another)) {
                Difference::Result | Difference::Unknown => None,
                difference => Some(difference.to_string()),
            };
            changed.push(ChangedAnswer {
                means,
                target: new.target.clone(),
                id: new.id.clone(),
                question: check.what.clone(),
                old: other.observed.clone(),
                new: check.observed.clone(),
            });
        }
    }
    changed
}

impl ChangedAnswer {
    fn line(&self) -> String {
        let means = self.meaning();
        format!("{} → {}{means}  {}: {} on {}", self.old, self.new, self.id, self.question, self.target)
    }

    fn meaning(&self) -> String {
        match self.means.as_deref() {
            None => String::new(),
            Some("") => " (means the same)".into(),
            Some(means) => format!(" ({means})"),
        }
    }

    fn item(&self) -> String {
        let (old, new, id) = (code_span(&self.old), code_span(&self.new), code_span(&self.id));
        let means = self.meaning();
        format!("{old} → {new}{means} {id}: {} on {}", markdown(&self.question), markdown(&self.target))
    }
}

impl UnmatchedCell {
    fn line(&self) -> String {
        format!("{}  {} on {}{}", self.status, self.id, self.target, after(": ", &self.reason))
    }

    fn item(&self) -> String {
        let bold = if self.status.is_pass() { "" } else { "**" };
        format!("{bold}{}{bold} {} on {}", self.status, code_span(&self.id), markdown(&self.target))
    }
}

impl UnmatchedTarget {
    fn line(&self, tally: &Tally) -> String {
        let why = self.not_run.as_deref().unwrap_or_default();
        format!("all of {}: {tally}{}", self.target, after("; not run: ", why))
    }

    fn item(&self, tally: &Tally) -> String {
        markdown(&self.line(tally))
    }
}

/// Returns `text` after `before`, or nothing if `text` is empty.
fn after(before: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}") }
}

type ByKey<'a> = BTreeMap<(&'a str, &'a str), &'a CellResult>;

fn by_key(results: &Results) -> ByKey<'_> {
    results.cells.iter().map(|cell| ((cell.target.as_str(), cell.id.as_str()), cell)).collect()
}

fn change(old: &CellResult, new: &CellResult) -> Changed {
    let reason = |cell: &CellResult| first_line(cell.reason.as_deref().unwrap_or_default());
    Changed {
        target: new.target.clone(),
        id: new.id.clone(),
        old: old.status,
        new: new.status,
        direction: Direction::of(old.status, new.status),
        reason: reason(new),
        old_reason: reason(old),
    }
}

/// Returns the cells that only the first report has.
fn unmatched_cells(here: &ByKey<'_>, there: &ByKey<'_>) -> Vec<UnmatchedCell> {
    let alone = here.iter().filter(|(key, _)| !there.contains_key(*key));
    alone
        .map(|(_, cell)| UnmatchedCell {
            target: cell.target.clone(),
            id: cell.id.clone(),
            status: cell.status,
            reason: first_line(cell.reason.as_deref().unwrap_or_default()),
        })
        .collect()
}

/// Returns the targets of `cells` that have no cell in `other`.
fn unmatched_targets(cells: &[UnmatchedCell], other: &Results) -> Vec<UnmatchedTarget> {
    let others: BTreeSet<_> = other.cells.iter().map(|cell| cell.target.as_str()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| !others.contains(cell.target.as_str())) {
        *counts.entry(&cell.target).or_default() += 1;
    }
    let why = |target: &str| other.not_run.iter().find(|not_run| not_run.target == target);
    counts
        .into_iter()
        .map(|(target, cells)| UnmatchedTarget {
            target: target.to_owned(),
            cells,
            not_run: why(target).map(|not_run| not_run.reason.clone()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use Status::{Crash, Fail, KnownFail, Pass, Permitted, Unsupported};

    use metadata::{Asked, Check};

    use super::*;
    use crate::samples;

    #[test]
    fn every_cell_is_in_one_section_and_regressions_are_first() {
        let old = samples::results(
            "here",
            &[
                ("better", "poll", Fail),
                ("gone", "poll", Pass),
                ("gone-bad", "poll", Fail),
                ("known", "poll", Pass),
                ("less", "poll", Pass),
                ("lost", "poll", Pass),
                ("same", "poll", Fail),
                ("worse", "poll", Fail),
                ("zap", "poll", Pass),
            ],
        );
        let new = samples::results(
            "here",
            &[
                ("better", "poll", Pass),
                ("known", "poll", KnownFail),
                ("less", "poll", Permitted),
                ("lost", "poll", Unsupported),
                ("new", "poll", Fail),
                ("same", "poll", Fail),
                ("worse", "poll", Crash),
                ("zap", "poll", Fail),
            ],
        );
        let diff = Diff::new(&old, &new);
        assert_eq!(diff.totals_line(), "5 regressions; 6 changed, 1 added, 2 deleted, 1 unchanged");
        let text = diff.text();
        let expected = "Changed: 6\n\
            \x20 regression  pass → known-fail  group/name/known@poll on here: why known-fail\n\
            \x20 regression  pass → permitted  group/name/less@poll on here: why permitted\n\
            \x20 regression  pass → unsupported  group/name/lost@poll on here: why unsupported\n\
            \x20 regression  pass → fail  group/name/zap@poll on here: why fail\n\
            \x20 worse       fail → crash  group/name/worse@poll on here: why crash\n\
            \x20 better      fail → pass  group/name/better@poll on here (was: why fail)\n\
            \n\
            Deleted: 2\n\
            \x20 fail  group/name/gone-bad@poll on here: why fail\n\
            \x20 pass  group/name/gone@poll on here\n\
            \n\
            Added: 1\n\
            \x20 fail  group/name/new@poll on here: why fail\n\
            \n\
            5 regressions; 6 changed, 1 added, 2 deleted, 1 unchanged\n";
        assert_eq!(text, expected);
        let markdown = diff.markdown();
        assert!(
            markdown.contains("- **pass → fail** `group/name/zap@poll` on here: `why fail`\n"),
            "{markdown}"
        );
    }

    #[test]
    fn a_changed_answer_says_what_it_means() {
        let results = |words: &[(&str, &str)], observed: &str| {
            let mut results = samples::results("here", &[("a", "mine", Pass)]);
            let (behaviour, variant, api) = ("V06".into(), "tcp".into(), "mine".into());
            let asked = Asked { behaviour, variant, api, trigger: Some("level".into()) };
            let check = Check { observed: observed.into(), asked: Some(asked), ..Check::default() };
            results.cells[0].checks = vec![check];
            results.runs[0].columns.insert("mine".into(), Column::new(None, words));
            results
        };
        let renamed = [("READ", "readable"), ("WRITE", "writable")];
        let old = || results(&[("r", "readable"), ("w", "writable")], "r");
        let means = |new: &Results| {
            let diff = Diff::with_answers(&old(), new);
            diff.answers.into_iter().map(|answer| answer.line()).collect::<String>()
        };
        let same = means(&results(&renamed, "READ"));
        assert!(same.starts_with("r → READ (means the same)  group/name/a@mine"), "{same}");
        let other = means(&results(&renamed, "WRITE"));
        assert!(other.starts_with("r → WRITE (hides readable; adds writable)"), "{other}");
        let unknown = means(&results(&[("READ", "readable")], "READY"));
        assert!(unknown.starts_with("r → READY  group"), "{unknown}");
    }

    #[test]
    fn a_missing_target_takes_one_line_with_the_reason() {
        let old = samples::results("here", &[("a", "poll", Pass), ("b", "poll", Fail)]);
        let mut new = samples::results("there", &[("a", "poll", Pass)]);
        new.not_run.push(samples::not_run("here"));
        let diff = Diff::new(&old, &new);
        assert_eq!(diff.regressions, 1);
        let text = diff.text();
        assert!(text.contains("Deleted: 2\n  all of here: P1 F1; not run: no machine\n\n"), "{text}");
        assert!(text.contains("Added: 1\n  all of there: P1\n\n"), "{text}");
    }

    #[test]
    fn markdown_fits_into_a_comment_and_counts_the_omitted_lines() {
        let names: Vec<_> = (0..3000).map(|number| format!("variant-{number}")).collect();
        let rows = |status| names.iter().map(|name| (name.as_str(), "poll", status)).collect::<Vec<_>>();
        let mut new = samples::results("here", &rows(Fail));
        for cell in &mut new.cells {
            cell.reason = Some("`@username` <b>".repeat(100));
        }
        let diff = Diff::new(&samples::results("here", &rows(Pass)), &new);
        let text = diff.markdown();
        assert!(text.len() <= Diff::MAX_BYTES, "{} bytes", text.len());
        let shown = text.lines().filter(|line| line.starts_with("- ")).count();
        assert!(shown > 100, "{shown}");
        assert!(text.contains(&format!("\n{} more lines are omitted here", 3000 - shown)), "{text}");
    }

    #[test]
    fn a_cost_has_grown_if_it_is_greater_by_the_factor_and_not_by_chance() {
        let with = |costs: &[(&str, [f64; 3])]| {
            let cost = |(poller, [low, ratio, high]): &(&str, [f64; 3])| Cost {
                threads: 2,
                ..samples::cost(poller, 30, samples::measured(*low, *ratio, *high))
            };
            samples::with_costs(costs.iter().map(cost).collect())
        };
        let mut old =
            with(&[("a", [1.0, 1.0, 1.0]), ("b", [1.0, 1.0, 1.3]), ("c", [1.0, 1.0, 1.0]), ("d", [2.0; 3])]);
        let new = with(&[
            ("a", [1.2, 1.25, 1.3]),
            ("b", [1.2, 1.5, 1.6]),
            ("c", [1.1; 3]),
            ("d", [3.0; 3]),
            ("e", [9.0; 3]),
        ]);
        let grown = Grown::all(&old, &new, 1.2);
        let lines: Vec<_> = grown.iter().map(ToString::to_string).collect();
        // b may be chance, c is below the factor, e is new.
        assert_eq!(
            lines,
            [
                "wait-one, level, d, 30 descriptors, 2 threads (x86_64-linux-gnu): 2.00 → 3.00, 1.50 times",
                "wait-one, level, a, 30 descriptors, 2 threads (x86_64-linux-gnu): 1.00 → 1.25, 1.25 times",
            ]
        );
        assert_eq!(Grown::all(&new, &old, 1.0), [], "smaller costs are no growth");
        old.costs[3].outcome = CostOutcome::Noise { low: 1.0, high: 2.0, pairs: 5 };
        assert_eq!(Grown::all(&old, &new, 1.2).len(), 1, "noise is not compared");
    }

    #[test]
    fn one_more_system_call_is_growth_whatever_the_factor() {
        let with = |calls: &[&[(&str, f64)]]| {
            // Noise has no part in it.
            let noise = CostOutcome::Noise { low: 1.0, high: 9.0, pairs: 5 };
            let cost = |(descriptors, calls): (u64, &&[(&str, f64)])| Cost {
                calls: samples::counted(calls),
                ..samples::cost("a", descriptors, noise.clone())
            };
            samples::with_costs((10..).zip(calls).map(cost).collect())
        };
        let old = with(&[
            &[("close", 1.0), ("epoll_ctl", 1.0)],
            &[],
            &[("read", 0.01), ("brk", 0.1)],
            &[("a", 2.0)],
        ]);
        let mut new = with(&[
            &[("close", 1.0), ("epoll_ctl", 2.0), ("brk", 1.0)],
            &[("poll", 1.0)],
            &[("read", 0.01), ("brk", 9.0)],
            &[("b", 1.0)],
        ]);
        let lines = |old: &Results, new: &Results| {
            Grown::all(old, new, 100.0).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            lines(&old, &new),
            [
                "wait-one, level, a, 11 descriptors (x86_64-linux-gnu): 0 → 1 system calls (poll 0 → 1)",
                "wait-one, level, a, 10 descriptors (x86_64-linux-gnu): 2 → 3 system calls (epoll_ctl 1 → 2)",
            ]
        );
        assert_eq!(lines(&new, &new), [""; 0]);
        new.costs[0].calls = Some(Calls::NotCounted { reason: "EPERM".into() });
        assert_eq!(lines(&old, &new).len(), 1, "what was not counted is not compared");
    }
}
