//! What a poller makes of the interface below it: one sentence, and a cell for each topic.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::pollers::{Comparison, Folded, PollerAnswer, PollerOnSystem, Wrong, folded};
use super::{Poller, poller_path};
use crate::html::catalogue::Topic;
use crate::text::counted;

/// A state of a behaviour. An answer in two modes is about one state.
type States<'a> = BTreeSet<(&'a str, &'a str)>;

/// The answers of a poller that can be compared with the interface below it, counted in states.
#[derive(Default)]
struct Tally<'a> {
    same: States<'a>,
    hides: BTreeMap<&'a str, States<'a>>,
    adds: BTreeMap<&'a str, States<'a>>,
    /// A call has another result.
    results: States<'a>,
    wrong: BTreeMap<Wrong, States<'a>>,
    unclear: States<'a>,
}

impl<'a> Tally<'a> {
    fn of(answers: impl IntoIterator<Item = &'a PollerAnswer>) -> Self {
        let mut tally = Self::default();
        for answer in answers {
            let state = (answer.behaviour.as_str(), answer.state.as_str());
            if let Some(wrong) = answer.wrong {
                tally.wrong.entry(wrong).or_default().insert(state);
                continue;
            }
            let Some(beside) = &answer.beside else {
                tally.unclear.insert(state);
                continue;
            };
            match beside.verdict {
                Comparison::Shows => tally.same.insert(state),
                Comparison::CannotCompare => tally.unclear.insert(state),
                Comparison::Differs if beside.hides.is_empty() && beside.adds.is_empty() => {
                    tally.results.insert(state)
                }
                Comparison::Differs => {
                    for (meanings, of) in [(&beside.hides, &mut tally.hides), (&beside.adds, &mut tally.adds)]
                    {
                        for meaning in meanings {
                            of.entry(meaning).or_default().insert(state);
                        }
                    }
                    true
                }
            };
        }
        tally
    }

    fn differing(&self) -> States<'a> {
        let of_kinds = self.hides.values().chain(self.adds.values()).chain(self.wrong.values());
        of_kinds.flatten().chain(&self.results).copied().collect()
    }

    /// `hides hang-up in 9 states and error in 2, adds writable in 3; aborts or hangs in 1 state`.
    fn sentence(&self) -> String {
        let meanings = |verb: &str, of: &BTreeMap<&str, States<'_>>| {
            let mut sorted: Vec<_> = of.iter().map(|(name, states)| (states.len(), *name)).collect();
            sorted.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
            let parts = sorted.iter().enumerate().map(|(index, (count, name))| match index {
                0 => format!("{name} in {}", counted(*count, "state")),
                _ => format!("{name} in {count}"),
            });
            let parts: Vec<_> = parts.collect();
            (!parts.is_empty()).then(|| format!("{verb} {}", listed(&parts)))
        };
        let states = |verb: &str, of: &States<'_>| {
            (!of.is_empty()).then(|| format!("{verb} in {}", counted(of.len(), "state")))
        };
        let parts: Vec<_> = [
            meanings("hides", &self.hides),
            meanings("adds", &self.adds),
            states("returns another result", &self.results),
        ]
        .into_iter()
        .chain(self.wrong.iter().map(|(wrong, of)| states(wrong.text(), of)))
        .flatten()
        .collect();
        parts.join("; ")
    }
}

/// Joins parts as a sentence does: `a, b and c`.
pub(super) fn listed(parts: &[String]) -> String {
    match parts {
        [all @ .., one, last] => {
            let before: String = all.iter().map(|part| format!("{part}, ")).collect();
            format!("{before}{one} and {last}")
        }
        _ => parts.concat(),
    }
}

/// Returns one sentence about a poller on a system, without its name at the beginning.
pub(super) fn sentence(on: &PollerOnSystem) -> String {
    let tally = Tally::of(&on.answers);
    let Some(below) = &on.below else {
        return format!(
            "{} recorded; nothing is below it to compare with",
            counted(on.answers.len(), "answer")
        );
    };
    let differing = tally.differing();
    let compared = tally.same.union(&differing).count();
    match tally.sentence() {
        text if text.is_empty() => {
            format!("says the same as {below} in all {} that can be compared", counted(compared, "state"))
        }
        text => {
            // It hides nothing of an interface that it does not use.
            let beside =
                if on.is_over { String::new() } else { format!("is not built over {below}; beside it, it ") };
            format!("{beside}{text}; the same as {below} in {} of {compared}", compared - differing.len())
        }
    }
}

/// What a poller makes of one topic.
#[derive(Serialize)]
pub(super) struct Cell {
    /// The topic: a part of the address of the poller's page.
    topic: String,
    title: String,
    /// A class of the style.
    class: &'static str,
    /// `=`, `−9`, `+3`, `±12`, `≠4`, `!2`, `?`, or empty.
    mark: String,
    /// The same in words.
    text: String,
}

impl Cell {
    fn of<'a>(topic: &Topic, answers: impl Iterator<Item = &'a PollerAnswer>) -> Self {
        let tally = Tally::of(answers);
        let states = tally.differing().len();
        let (class, mark) = match (tally.hides.is_empty(), tally.adds.is_empty()) {
            _ if tally.wrong.contains_key(&Wrong::Ends) => ("bad", format!("!{states}")),
            (false, false) => ("documented", format!("±{states}")),
            (false, true) => ("documented", format!("−{states}")),
            (true, false) => ("documented", format!("+{states}")),
            _ if !tally.results.is_empty() || !tally.wrong.is_empty() => ("documented", format!("≠{states}")),
            _ if !tally.same.is_empty() => ("good", "=".to_owned()),
            _ if !tally.unclear.is_empty() => ("absent", "?".to_owned()),
            _ => ("none", String::new()),
        };
        let text = match (class, tally.sentence()) {
            ("good", _) => "the same".to_owned(),
            ("absent", _) => "cannot be compared".to_owned(),
            ("none", _) => "not asked".to_owned(),
            (_, text) => text,
        };
        Self { topic: topic.id.clone(), title: topic.title.clone(), class, mark, text }
    }
}

/// A row of the picture of the pollers: one poller on one system.
#[derive(Serialize)]
pub(super) struct Heat<'a> {
    name: &'a str,
    path: String,
    /// The system, as a part of addresses.
    slug: &'a str,
    sentence: String,
    cells: Vec<Cell>,
}

/// Returns the picture of all pollers with answers.
pub(super) fn heat<'a>(pollers: &'a [Poller], topics: &[Topic]) -> Vec<Heat<'a>> {
    let row = |(poller, on): (&'a Poller, &'a PollerOnSystem)| Heat {
        name: &poller.name,
        path: poller_path(&poller.name),
        slug: &on.system,
        sentence: sentence(on),
        cells: topics.iter().map(|topic| Cell::of(topic, about(on, topic))).collect(),
    };
    let systems = pollers.iter().flat_map(|poller| poller.systems.iter().map(move |on| (poller, on)));
    systems.filter(|(_, on)| !on.answers.is_empty()).map(row).collect()
}

fn about<'a>(on: &'a PollerOnSystem, topic: &Topic) -> impl Iterator<Item = &'a PollerAnswer> {
    on.answers.iter().filter(|answer| topic.behaviours.contains(&answer.behaviour))
}

/// The answers of a poller about one topic: the differences first.
#[derive(Serialize)]
pub(super) struct Section<'a> {
    cell: Cell,
    groups: Vec<Group<'a>>,
}

/// Answers with one relation to those below.
#[derive(Serialize)]
struct Group<'a> {
    /// `differ`, `are the same`, `cannot be compared`.
    relation: &'static str,
    /// Whether the group is open at first.
    open: bool,
    /// The number of answers.
    count: usize,
    answers: Vec<Folded<'a>>,
}

/// Returns the answers of a poller on a system by topic. A topic without an answer is left out.
pub(super) fn sections<'a>(on: &'a PollerOnSystem, topics: &[Topic]) -> Vec<Section<'a>> {
    let section = |topic: &Topic| {
        let cell = Cell::of(topic, about(on, topic));
        let relation = |answer: &PollerAnswer| match answer.beside.as_ref().map(|beside| beside.verdict) {
            _ if answer.differs() => "differ",
            Some(Comparison::Shows) => "are the same",
            _ => "cannot be compared",
        };
        let group = |wanted: &'static str| {
            let answers: Vec<_> = about(on, topic).filter(|answer| relation(answer) == wanted).collect();
            Group {
                relation: wanted,
                open: wanted == "differ",
                count: answers.len(),
                answers: folded(&answers),
            }
        };
        let groups = ["differ", "are the same", "cannot be compared"].map(group);
        Section { cell, groups: groups.into_iter().filter(|group| !group.answers.is_empty()).collect() }
    };
    topics.iter().map(section).filter(|section| !section.groups.is_empty()).collect()
}
