//! What `pollmatrix ci` finds: each change in one sentence of meanings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use matrix::backends;
use matrix::command::word;
use matrix::provenance;
use metadata::{CellResult, Check, Column, Results, Status, is_api_of, one_line};
use raw::expectations::{NOT_KNOWN, matches_pattern};
use report::{counted, first_line, markdown};

use crate::args::NAMED;
use crate::config::Accepted;
use crate::triage::{in_words, wrapped};

/// GitHub shows so many errors of a step.
const ANNOTATIONS: usize = 10;

/// The form of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Terminal,
    Markdown,
}

/// What is found. Empty if nothing has changed.
#[derive(Default)]
pub struct Findings {
    problems: Vec<Problem>,
    accepted: Vec<String>,
    notes: Vec<String>,
    /// The number of answers that are as recorded.
    same: usize,
}

/// A reason to fail.
struct Problem {
    text: String,
    /// A cell that shows it.
    cell: Option<String>,
}

/// The answers or cells that one sentence describes.
struct Change {
    cell: String,
    count: usize,
}

impl Findings {
    /// Adds a reason to fail.
    pub fn problem(&mut self, text: String) {
        self.problems.push(Problem { text, cell: None });
    }

    /// Adds texts for the reader, one per line. A line that is indented continues the one before.
    pub fn note(&mut self, text: &str) {
        self.notes.extend(text.replace("\n  ", " ").lines().map(str::to_owned));
    }

    /// Returns whether there is a reason to fail.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Adds the changes of the adapters in the results, and gives each cell the verdict that follows from
    /// what is accepted. A recorded answer of another version of the library counts: that is the one that was
    /// recorded here.
    pub fn judge(&mut self, results: &mut Results, accepted: &[Accepted]) {
        let today = provenance::now();
        let today = today.split('T').next().unwrap_or_default();
        let columns = columns(results);
        let (mut changes, mut seen) = (BTreeMap::<String, Change>::new(), BTreeSet::new());
        let mut new = BTreeMap::<String, (usize, usize)>::new();
        for cell in results.cells.iter_mut().filter(|cell| is_of_adapter(cell)) {
            let column = column(&columns, cell);
            let sentences = sentences(cell, &column);
            let (unknown, known) = new.entry(cell.backend.clone()).or_default();
            let own = |check: &&Check| {
                check.asked.as_ref().is_some_and(|asked| is_api_of(&asked.api, &cell.backend))
            };
            let is_new = |check: &&Check| check.expected == [NOT_KNOWN];
            let own_new = cell.checks.iter().filter(own).filter(is_new).count();
            *unknown += own_new;
            *known += cell.checks.iter().filter(own).count() - own_new;
            self.same += cell.checks.iter().filter(|check| check.holds && !is_new(check)).count();
            let accepts = |sentence: &String| {
                let is_it = |(_, one): &(usize, &Accepted)| matches_pattern(&one.difference, sentence);
                accepted.iter().enumerate().find(is_it)
            };
            let mut why = None;
            for sentence in &sentences {
                let found = accepts(sentence);
                seen.extend(found.map(|(index, _)| index));
                if !found.is_some_and(|(_, one)| one.holds_on(today)) {
                    why = Some(sentence.clone());
                }
            }
            if let Some(first) = sentences.first() {
                let reason = accepts(first).map(|(_, one)| format!("{first}; accepted: {}", one.reason));
                let (status, reason) = match why {
                    Some(why) if cell.status.is_failure() => (cell.status, cell.reason.take().unwrap_or(why)),
                    Some(why) => (Status::Fail, why),
                    None => (Status::Permitted, reason.unwrap_or_default()),
                };
                (cell.status, cell.reason) = (status, Some(reason));
                cell.attempts.passed = if status.is_failure() { 0 } else { cell.attempts.total };
            }
            for sentence in sentences {
                let new = || Change { cell: cell.id.clone(), count: 0 };
                changes.entry(sentence).or_insert_with(new).count += 1;
            }
        }
        for (sentence, change) in changes {
            let found = accepted.iter().find(|one| matches_pattern(&one.difference, &sentence));
            self.add(&sentence, &change, found, today);
        }
        for (_, one) in accepted.iter().enumerate().filter(|(index, _)| !seen.contains(index)) {
            self.notes.push(format!("accepted, and no longer seen: {}: remove it", one.difference));
        }
        for (adapter, (unknown, known)) in new {
            match (unknown, known) {
                (0, 0) => self.problem(format!("{adapter} answered nothing")),
                (1.., 0) => self.problem(format!(
                    "no answer of {adapter} is recorded on this system: `pollmatrix expectations record` writes them"
                )),
                (1.., _) => self.notes.push(format!("{unknown} answers of {adapter} are not recorded")),
                (0, _) => {}
            }
        }
    }

    fn add(&mut self, sentence: &str, change: &Change, accepted: Option<&Accepted>, today: &str) {
        let times = if change.count > 1 { format!(" ({} answers)", change.count) } else { String::new() };
        let text = format!("{sentence}{times}");
        match accepted {
            Some(one) if one.holds_on(today) => {
                let until = one.expires.as_ref().map(|day| format!(", until {day}")).unwrap_or_default();
                self.accepted.push(format!("{text}; accepted{until}: {}", one.reason));
            }
            Some(one) => {
                let day = one.expires.as_deref().unwrap_or_default();
                let text = format!("{text}; it was accepted until {day}: {}", one.reason);
                self.problems.push(Problem { text, cell: Some(change.cell.clone()) });
            }
            None => self.problems.push(Problem { text, cell: Some(change.cell.clone()) }),
        }
    }

    fn verdict(&self) -> String {
        let problems = match self.problems.len() {
            0 => "no change".to_owned(),
            some => counted(some, "problem"),
        };
        let accepted = match self.accepted.len() {
            0 => String::new(),
            some => format!(", {some} accepted"),
        };
        format!("pollmatrix ci: {problems}{accepted}; {} answers as recorded", self.same)
    }

    /// Returns the text for a terminal, at most 80 columns wide, or for a job's summary.
    pub fn text(&self, form: Form, report: &Path) -> String {
        let mut out = String::new();
        let report = report.display().to_string();
        match form {
            Form::Terminal => {
                for problem in self.problems.iter().take(NAMED) {
                    let kind = if problem.cell.is_some() { "changed" } else { "problem" };
                    out += &wrapped(&format!("{kind}: {}", one_line(&problem.text)));
                    if let Some(cell) = &problem.cell {
                        let _ = writeln!(out, "  pollmatrix show {}", one_line(&word(cell)));
                    }
                }
                if self.problems.len() > NAMED {
                    let _ = writeln!(out, "and {} more", self.problems.len() - NAMED);
                }
                self.accepted
                    .iter()
                    .chain(&self.notes)
                    .for_each(|text| out += &wrapped(&one_line(text.trim())));
                let _ = writeln!(out, "Report: {}\n{}", one_line(&report), self.verdict());
            }
            Form::Markdown => {
                let _ = writeln!(out, "## {}\n", markdown::text(&self.verdict()));
                let mut list = |mark: &str, texts: &mut dyn Iterator<Item = &String>| {
                    for text in texts {
                        let text = markdown::text(&one_line(text.trim()));
                        // The limit of a summary is 1 MiB, for all steps.
                        if out.len() < markdown::MAX_BYTES / 2 {
                            let _ = writeln!(out, "- {mark}{text}");
                        }
                    }
                };
                list("❌ ", &mut self.problems.iter().map(|problem| &problem.text));
                list("", &mut self.accepted.iter().chain(&self.notes));
            }
        }
        out
    }

    /// Returns the lines by which GitHub shows each problem.
    pub fn annotations(&self) -> Vec<String> {
        let most = if self.problems.len() > ANNOTATIONS { ANNOTATIONS - 1 } else { ANNOTATIONS };
        let error = |text: &str| format!("::error title=pollmatrix::{}", escaped(text));
        let mut lines: Vec<_> =
            self.problems.iter().take(most).map(|problem| error(&one_line(&problem.text))).collect();
        if self.problems.len() > most {
            lines.push(error(&format!("and {} more: see the summary", self.problems.len() - most)));
        }
        lines
    }
}

/// Returns a text as the data of a workflow command of GitHub.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

impl Accepted {
    fn holds_on(&self, today: &str) -> bool {
        // Both are written as 2027-01-31.
        self.expires.as_deref().is_none_or(|last| today <= last)
    }
}

fn is_of_adapter(cell: &CellResult) -> bool {
    !cell.is_contract() && !backends::is_own(&cell.backend)
}

/// Returns the ids of the cells with a change.
pub fn changed(results: &Results) -> Vec<String> {
    let columns = columns(results);
    let cells = results.cells.iter().filter(|cell| is_of_adapter(cell));
    let has_change = |cell: &&CellResult| !sentences(cell, &column(&columns, cell)).is_empty();
    cells.filter(has_change).map(|cell| cell.id.clone()).collect()
}

/// Replaces each cell that was run again, and then did not show all of its changes. Returns the changes of
/// those without any now.
pub fn keep_steady(results: &mut Results, again: Results) -> BTreeSet<String> {
    let columns = columns(results);
    let mut again: BTreeMap<_, _> = again.cells.into_iter().map(|cell| (cell.id.clone(), cell)).collect();
    let mut unsteady = BTreeSet::new();
    for cell in &mut results.cells {
        let Some(other) = again.remove(&cell.id) else { continue };
        let column = column(&columns, cell);
        let (before, now) = (sentences(cell, &column), sentences(&other, &column));
        if !before.iter().all(|sentence| now.contains(sentence)) {
            *cell = other;
        }
        if now.is_empty() {
            unsteady.extend(before);
        }
    }
    unsteady
}

fn columns(results: &Results) -> BTreeMap<String, Column> {
    results.runs.iter().flat_map(|run| run.columns.clone()).collect()
}

fn column(columns: &BTreeMap<String, Column>, cell: &CellResult) -> Column {
    columns.get(&cell.backend).cloned().unwrap_or_default()
}

/// Returns a sentence for each answer of a cell that is not the expected one, or for a cell without answers.
fn sentences(cell: &CellResult, column: &Column) -> Vec<String> {
    let place = format!("{}, {}", cell.scenario, cell.params.trigger);
    let wrong = cell.checks.iter().filter(|check| !check.holds);
    let sentences: Vec<_> = wrong.map(|check| format!("{place}: {}", change(check, column))).collect();
    if sentences.is_empty() && cell.status.is_failure() {
        let reason = cell.reason.as_deref().map(first_line).unwrap_or_default();
        return vec![format!("{place}: {}: {reason}", cell.status)];
    }
    sentences
}

/// `was hang-up, is readable`; with the words of the poller, if the meanings are equal.
fn change(check: &Check, column: &Column) -> String {
    let trigger = check.asked.as_ref().and_then(|asked| asked.trigger.as_deref());
    let [was, is] = in_words((column, &check.expected), (column, &check.observed), trigger);
    let defect = check.defect.map(|defect| format!(" ({})", defect.meaning())).unwrap_or_default();
    format!("was {was}, is {is}{defect}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_one_line_whatever_its_text_has() {
        let mut findings = Findings::default();
        findings.problem("100% of\r\n::error::x".to_owned());
        let [line] = &findings.annotations()[..] else { panic!("one problem") };
        assert!(line.starts_with("::error title=pollmatrix::100%25 of") && !line.contains('\n'), "{line}");
        assert_eq!(escaped("a%\r\nb"), "a%25%0D%0Ab");
    }

    #[test]
    fn a_wrapped_note_is_wrapped_once() {
        let mut findings = Findings::default();
        findings.note(&format!("{}\n  {}\nb\n", "a ".repeat(35).trim(), "a ".repeat(10).trim()));
        let text = findings.text(Form::Terminal, Path::new("r"));
        let expected = format!("{}\n  a a a a a\nb\nReport: r\n", "a ".repeat(40).trim());
        assert!(text.starts_with(&expected), "{text}");
    }

    #[test]
    fn github_shows_ten_errors_and_the_last_one_counts_the_others() {
        let mut findings = Findings::default();
        (0..12).for_each(|number| findings.problem(format!("problem {number}")));
        let lines = findings.annotations();
        assert_eq!(
            (lines.len(), lines[9].as_str()),
            (10, "::error title=pollmatrix::and 3 more: see the summary")
        );
    }

    #[test]
    fn an_acceptance_ends_after_its_last_day() {
        let until = |day: Option<&str>| Accepted {
            difference: "x".into(),
            reason: "y".into(),
            expires: day.map(str::to_owned),
        };
        assert!(until(None).holds_on("2027-01-31"));
        assert!(until(Some("2027-01-31")).holds_on("2027-01-31"));
        assert!(!until(Some("2027-01-31")).holds_on("2027-02-01"));
    }

    #[test]
    fn a_change_is_named_by_its_meaning_and_by_its_words_if_that_is_the_same() {
        let column = Column::new(None, &[("IN", "readable"), ("HUP", "hang-up"), ("RD", "readable")]);
        let change = |expected: &[&str], observed: &str| {
            let asked = metadata::Asked {
                behaviour: "V26".into(),
                variant: "pipe:x".into(),
                api: "mine".into(),
                trigger: Some("level".into()),
            };
            let expected = expected.iter().map(|text| (*text).to_owned()).collect();
            let check = Check { asked: Some(asked), expected, observed: observed.into(), ..Check::default() };
            super::change(&check, &column)
        };
        assert_eq!(change(&["HUP"], "IN"), "was hang-up, is readable");
        assert_eq!(change(&["HUP", "IN"], "silent"), "was hang-up or readable, is silent");
        assert_eq!(change(&["IN"], "RD"), "was IN, is RD");
        assert_eq!(change(&["0"], "EPERM"), "was 0, is EPERM");
    }
}
