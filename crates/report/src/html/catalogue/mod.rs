//! The catalogue page: every behaviour, its scenarios, and the expected answers of each system.
//!
//! All content is HTML. The page's script only searches, folds and copies.

use metadata::{Evidence, Link};
use serde::Serialize;

use super::shell::{DOM, Shell, THEME_BUTTON};

const SHELL: Shell<'_> = Shell {
    template: include_str!("template.html"),
    layouts: &[],
    style: include_str!("catalogue.css"),
    scripts: &[DOM, include_str!("catalogue.js"), THEME_BUTTON],
};

/// The content of the page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Catalogue {
    /// The families of behaviours, in the order of the page.
    pub families: Vec<Family>,
    /// The contract checks that are known not to hold on some system.
    pub divergences: Vec<Divergence>,
}

/// Behaviours with a common topic.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Family {
    /// The common beginning of their ids: `V`. It is also part of the section's id.
    pub prefix: String,
    /// The topic.
    pub title: String,
    /// The behaviours, in the order of the catalogue.
    pub behaviours: Vec<Behaviour>,
}

/// An entry of the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Behaviour {
    /// `V26`. The fragment of its address.
    pub id: String,
    /// A title.
    pub title: String,
    /// The scenarios that observe it.
    pub scenarios: Vec<ScenarioEntry>,
    /// The answers that no scenario observes.
    pub unasked: Vec<Unasked>,
    /// The systems that have answers: the columns of the table.
    pub columns: Vec<Column>,
    /// The questions about each state, with the answers.
    pub states: Vec<State>,
    /// The sources of these answers.
    pub sources: Vec<Source>,
}

/// A scenario that observes a behaviour.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ScenarioEntry {
    /// `readiness/pipe-writer-closed`.
    pub id: String,
    /// A sentence with a question mark.
    pub question: String,
    /// The line of verbs.
    pub script: String,
    /// The command that runs its script, to copy.
    pub command: String,
    /// The transports and triggers: `tcp, unix; level, edge`.
    pub settings: String,
    /// Bugs in which a program assumed another answer.
    pub bugs: Vec<Link>,
}

/// Recorded answers that no scenario observes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Unasked {
    /// A pattern of answers. Empty for the whole behaviour.
    pub what: String,
    /// The reason.
    pub why: String,
    /// Contract scenarios that check it instead.
    pub contract: Vec<String>,
}

/// A system with answers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Column {
    /// `FreeBSD`, `Linux 2.6.10`.
    pub name: String,
    /// Whether it is a past version, which no result is compared with.
    pub past: bool,
}

/// A state of the descriptors.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct State {
    /// `pipe:read-end-drained`.
    pub name: String,
    /// The questions about it, with the answers.
    pub rows: Vec<AnswerRow>,
}

/// One question, with the answers of each system.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct AnswerRow {
    /// `poll@level`.
    pub asked: String,
    /// Whether the answers of current systems differ.
    pub differs: bool,
    /// The answers per column. Empty if no source states one.
    pub answers: Vec<Vec<Answer>>,
}

/// An expected answer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Answer {
    /// The allowed answers.
    pub allowed: Vec<String>,
    /// The label of the source: `M1`.
    pub source: String,
    /// Versions, reasons for variation, notes.
    pub remarks: Vec<String>,
}

/// A source of answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Source {
    /// The letter of the evidence and a number, unique on the page: `M1`.
    pub label: String,
    /// How well the answers are known.
    #[serde(serialize_with = "meaning")]
    pub evidence: Evidence,
    /// A description.
    pub text: String,
    /// A web address with more information.
    pub url: Option<String>,
}

/// A contract check that is known not to hold somewhere.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Divergence {
    /// A pattern of cell ids.
    pub cells: String,
    /// The system and its versions.
    pub system: String,
    /// The check that does not hold.
    pub check: String,
    /// The answers that are observed instead.
    pub observed: Vec<String>,
    /// Whether it is permitted or an expected failure, and where that is documented.
    pub documented: String,
}

fn meaning<S: serde::Serializer>(evidence: &Evidence, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(evidence.meaning())
}

/// The values for the template.
#[derive(Serialize)]
struct Page<'a> {
    catalogue: &'a Catalogue,
    behaviours: usize,
    scenarios: usize,
    questions: usize,
    differing: usize,
    legend: Vec<(&'static str, &'static str)>,
}

/// Renders catalogue.html. Equal catalogues give equal text.
pub fn page(catalogue: &Catalogue) -> String {
    let behaviours = || catalogue.families.iter().flat_map(|family| &family.behaviours);
    let questions = || behaviours().flat_map(|behaviour| &behaviour.states).flat_map(|state| &state.rows);
    SHELL.page(Page {
        catalogue,
        behaviours: behaviours().count(),
        scenarios: behaviours().map(|behaviour| behaviour.scenarios.len()).sum(),
        questions: questions().count(),
        differing: questions().filter(|question| question.differs).count(),
        legend: Evidence::ALL.map(|evidence| (evidence.letter(), evidence.meaning())).into(),
    })
}

#[cfg(test)]
mod tests;
