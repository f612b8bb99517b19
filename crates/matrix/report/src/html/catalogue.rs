//! The catalogue: every behaviour, its scenarios, and the expected answers of each system.

use metadata::{Evidence, Link};
use serde::{Serialize, Serializer};

use crate::sequence::Sequence;

/// The behaviours, and what is known not to hold.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Catalogue {
    /// The families of behaviours, in the order of the pages.
    pub families: Vec<Family>,
    /// What the behaviours are about. Every behaviour has one topic.
    pub topics: Vec<Topic>,
    /// The contract checks that are known not to hold on some system.
    pub divergences: Vec<Divergence>,
    /// Assumptions that hold on epoll and not on kqueue.
    pub assumptions: Vec<Assumption>,
}

/// An assumption that holds on epoll and not on kqueue.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Assumption {
    /// `Adding a descriptor twice fails`.
    pub text: String,
    /// What to do.
    pub remedy: String,
    /// The behaviour whose answers show it: `A01`.
    pub behaviour: String,
    /// The state: `tcp:twice`.
    pub state: String,
    /// The question: `queue-add`.
    pub asked: String,
}

impl Catalogue {
    /// Returns what a behaviour is about.
    pub(super) fn topic_of(&self, behaviour: &Behaviour) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.behaviours.contains(&behaviour.id))
    }
}

/// Behaviours whose ids have a common beginning.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Family {
    /// The common beginning of their ids: `V`.
    pub prefix: String,
    /// The topic.
    pub title: String,
    /// The behaviours, in the order of the catalogue.
    pub behaviours: Vec<Behaviour>,
}

/// What several behaviours are about.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Topic {
    /// `half-close`. A part of addresses.
    pub id: String,
    /// `pipes and FIFOs`.
    pub title: String,
    /// Words by which the search finds its behaviours.
    pub words: String,
    /// The ids of its behaviours.
    pub behaviours: Vec<String>,
}

/// An entry of the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Behaviour {
    /// `V26`. A part of its address.
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
    /// The command that runs its script, to copy.
    pub command: String,
    /// The transports and triggers: `tcp, unix; level, edge`.
    pub settings: String,
    /// Its script, as a picture.
    #[serde(serialize_with = "svg")]
    pub sequence: Sequence,
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
    /// The operating system: `freebsd`.
    pub system: String,
    /// `FreeBSD`, `Linux 2.6.10`.
    pub name: String,
    /// Whether it is a past version, which no result is compared with.
    pub past: bool,
    /// Whether nothing of this system was ever measured: all its answers are hypotheses.
    pub unmeasured: bool,
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
    /// What each of them means: `readable, hang-up`. Empty if it has no meaning that can be compared.
    pub means: Vec<String>,
    /// The label of the source: `M1`.
    pub source: String,
    /// Versions, reasons for variation, notes.
    pub remarks: Vec<String>,
}

/// A source of answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Source {
    /// The letter of the evidence and a number, unique in the catalogue: `M1`.
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
    /// Whether it is permitted or a known failure, and where that is documented.
    pub documented: String,
}

fn svg<S: Serializer>(sequence: &Sequence, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&sequence.svg())
}

fn meaning<S: Serializer>(evidence: &Evidence, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(evidence.meaning())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Text that would end a tag or an attribute, run a script, or reorder other text.
    pub(in crate::html) const HOSTILE: &str =
        "</script><img src=x onerror=alert(1)>\u{202e}\"'&<!--{{ 7 * 7 }}";

    /// Returns a small catalogue. Every text but the ids and the addresses ends with `more`.
    pub(in crate::html) fn sample(more: &str) -> Catalogue {
        let text = |text: &str| format!("{text}{more}");
        let answer = Answer {
            allowed: vec![text("IN|HUP"), text("HUP")],
            means: vec![text("readable, hang-up"), String::new()],
            source: text("M1"),
            remarks: vec![text("until 3")],
        };
        let rows = vec![
            AnswerRow {
                asked: text("poll@level"),
                differs: true,
                answers: vec![vec![answer.clone()], vec![]],
            },
            AnswerRow { asked: text("read"), differs: false, answers: vec![vec![], vec![answer]] },
        ];
        let observed = Behaviour {
            id: "V26".into(),
            title: text("a behaviour"),
            scenarios: vec![ScenarioEntry {
                id: text("readiness/some"),
                question: text("What?"),
                command: text("pollmatrix probe 'own is fresh'"),
                settings: text("tcp; level"),
                sequence: crate::sequence::tests::sequence(&text("peer")),
                bugs: vec![Link { text: text("mio#1"), url: "https://example.org/1".into() }],
            }],
            unasked: vec![Unasked {
                what: text("* read"),
                why: text("no room"),
                contract: vec![text("deletion/life"), text("migration/other")],
            }],
            columns: vec![
                Column { system: "linux".into(), name: text("Linux"), past: false, unmeasured: false },
                Column { system: "freebsd".into(), name: text("FreeBSD 4"), past: true, unmeasured: false },
            ],
            states: vec![State { name: text("pipe:drained"), rows }],
            sources: vec![Source {
                label: text("M1"),
                evidence: Evidence::Measured,
                text: text("on a machine"),
                url: Some("https://example.org/2".into()),
            }],
        };
        let not_observed = Behaviour {
            id: "V27".into(),
            title: text("another"),
            unasked: vec![Unasked { what: String::new(), why: text("no device"), contract: Vec::new() }],
            ..Behaviour::default()
        };
        let divergence = Divergence {
            cells: text("group/name/*@poll"),
            system: text("macos until 3"),
            check: text("a check"),
            observed: vec![text("41")],
            documented: text("permitted: a manual"),
        };
        let behaviours = vec![observed, not_observed];
        let families = vec![Family { prefix: "V".into(), title: text("readiness"), behaviours }];
        let topic = Topic {
            id: "half-close".into(),
            title: text("half-close"),
            words: text("RDHUP"),
            behaviours: vec!["V26".into(), "V27".into()],
        };
        let assumption = Assumption {
            text: text("HUP is reported"),
            remedy: text("test EOF"),
            behaviour: "V26".into(),
            state: text("pipe:drained"),
            asked: text("poll@level"),
        };
        Catalogue {
            families,
            topics: vec![topic],
            divergences: vec![divergence],
            assumptions: vec![assumption],
        }
    }
}
