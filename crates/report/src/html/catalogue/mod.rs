//! The catalogue to look around in: every row, who asks it, and what each system is expected to answer.
//!
//! All of it is HTML. The page's script only searches, folds, and copies.

use metadata::{Evidence, Link};
use serde::Serialize;

use super::shell::Shell;

const SHELL: Shell<'_> = Shell {
    template: include_str!("template.html"),
    style: include_str!("catalogue.css"),
    scripts: &[include_str!("../dom.js"), include_str!("catalogue.js"), include_str!("../theme-button.js")],
};

/// What the page says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Catalogue {
    /// In the order of the page.
    pub families: Vec<Family>,
    /// What is known of contract checks that do not hold somewhere.
    pub divergences: Vec<Divergence>,
}

/// Rows that are about one subject.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Family {
    /// What their ids begin with: `V`. It is the section's id, too.
    pub prefix: String,
    /// The subject.
    pub title: String,
    /// In the order of the catalogue.
    pub rows: Vec<Row>,
}

/// A row of the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Row {
    /// `V26`. What the address of the row ends in.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The scenarios that ask for it.
    pub scenarios: Vec<Asking>,
    /// What of it no scenario asks for.
    pub excused: Vec<Excused>,
    /// The systems that the answers are of: the columns of the table.
    pub columns: Vec<Column>,
    /// What was asked of which state, with the answers.
    pub states: Vec<State>,
    /// Where these answers come from.
    pub sources: Vec<Source>,
}

/// A scenario that asks for a row.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Asking {
    /// `readiness/pipe-writer-closed`.
    pub id: String,
    /// A sentence with a question mark.
    pub question: String,
    /// What asks it again: a command to copy.
    pub command: String,
    /// Over what, and in which modes: `tcp, unix; level, edge`.
    pub settings: String,
    /// Bugs that knowing the answer would have prevented.
    pub bugs: Vec<Link>,
}

/// Something that no scenario asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Excused {
    /// What: a pattern of answers. Empty for the whole row.
    pub what: String,
    /// Why.
    pub why: String,
    /// Contract scenarios that ask for it instead.
    pub contract: Vec<String>,
}

/// A system that answered.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Column {
    /// `FreeBSD`, `Linux 2.6.10`.
    pub name: String,
    /// It is a version of long ago: nothing is compared with it.
    pub past: bool,
}

/// A state of the descriptors.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct State {
    /// `pipe:read-end-drained`.
    pub name: String,
    /// What was asked about it.
    pub lines: Vec<Line>,
}

/// One question, and what each system says to it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Line {
    /// `poll@level`.
    pub asked: String,
    /// Whether today's systems answer differently.
    pub differs: bool,
    /// The answers, for each of the row's columns. None: nobody states any.
    pub places: Vec<Vec<Answer>>,
}

/// An expected answer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Answer {
    /// The allowed answers.
    pub allowed: Vec<String>,
    /// The label of the source: `M1`.
    pub source: String,
    /// Versions, what varies, notes.
    pub remarks: Vec<String>,
}

/// Where answers come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Source {
    /// The letter of the evidence and a number, the same one on the whole page: `M1`.
    pub label: String,
    /// How well it is known.
    #[serde(serialize_with = "meaning")]
    pub evidence: Evidence,
    /// In words.
    pub text: String,
    /// Where to read more.
    pub url: Option<String>,
}

/// A contract check that is known not to hold somewhere.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Divergence {
    /// The cells, as a pattern.
    pub cells: String,
    /// The system, and its versions.
    pub system: String,
    /// The check that does not hold.
    pub check: String,
    /// What is observed instead.
    pub observed: Vec<String>,
    /// Whether it is permitted or a known bug, and where that is documented.
    pub documented: String,
}

fn meaning<S: serde::Serializer>(evidence: &Evidence, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(evidence.meaning())
}

/// What the template is filled in with.
#[derive(Serialize)]
struct Page<'a> {
    catalogue: &'a Catalogue,
    rows: usize,
    scenarios: usize,
    lines: usize,
    differing: usize,
    legend: Vec<(&'static str, &'static str)>,
}

/// The text of catalogue.html. The same catalogue gives the same text.
pub fn page(catalogue: &Catalogue) -> String {
    let rows = || catalogue.families.iter().flat_map(|family| &family.rows);
    let lines = || rows().flat_map(|row| &row.states).flat_map(|state| &state.lines);
    SHELL.page(Page {
        catalogue,
        rows: rows().count(),
        scenarios: rows().map(|row| row.scenarios.len()).sum(),
        lines: lines().count(),
        differing: lines().filter(|line| line.differs).count(),
        legend: Evidence::ALL.map(|evidence| (evidence.letter(), evidence.meaning())).into(),
    })
}

#[cfg(test)]
mod tests;
