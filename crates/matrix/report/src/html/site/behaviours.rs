//! The pages of behaviours: the verdict, the scripts, the answers of systems, and what pollers make of them.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{Evidence, is_silence};
use serde::Serialize;

use super::pollers::{Comparison, Folded, PollerAnswer, folded, parts};
use super::{BEHAVIOUR, Behaviour, Named, Page, Site, behaviour_path, plain, slug};
use crate::html::catalogue::{Answer, AnswerRow, Column, State, Topic};

/// A poller's answers about a behaviour on one system.
#[derive(Serialize)]
struct Shown<'a> {
    poller: Named<'a>,
    system: &'a str,
    /// The system, as a part of addresses.
    slug: &'a str,
    below: Option<&'a str>,
    /// The answers that differ from those of the interface below.
    answers: Vec<Folded<'a>>,
    /// Their number.
    differ: usize,
    /// The number of all answers.
    all: usize,
    #[serde(skip)]
    every: Vec<&'a PollerAnswer>,
}

#[derive(Serialize)]
struct Content<'a> {
    behaviour: &'a Behaviour,
    family: &'a str,
    topic: Option<&'a Topic>,
    previous: Option<&'a Behaviour>,
    next: Option<&'a Behaviour>,
    /// What systems make of it, in one sentence.
    systems: Option<String>,
    table: Table<'a>,
    /// What pollers make of it: `hides hang-up`, and which ones.
    verdicts: Vec<(String, Vec<Named<'a>>)>,
    shown_by: Vec<Shown<'a>>,
    hidden_by: Vec<Named<'a>>,
    legend: Vec<(&'static str, &'static str)>,
    /// The address of the source, for those who correct a page.
    repository: &'static str,
}

/// Returns the page of each behaviour.
pub(super) fn pages<'s>(site: &'s Site<'_>) -> impl Iterator<Item = Page> + 's {
    let all: Vec<_> = site.behaviours().collect();
    let families =
        site.catalogue.families.iter().flat_map(|family| family.behaviours.iter().map(|_| &family.title));
    let families: Vec<_> = families.collect();
    let page = move |index: usize| {
        let behaviour = all[index];
        let (shown_by, hidden_by) = answers(site, behaviour);
        let systems = systems(behaviour);
        let question = behaviour.scenarios.first().map(|scenario| scenario.question.as_str());
        let title = format!("{}: {}", behaviour.id, behaviour.title);
        let description = systems.clone().or_else(|| question.map(str::to_owned));
        let content = Content {
            behaviour,
            family: families[index],
            topic: site.catalogue.topic_of(behaviour),
            previous: index.checked_sub(1).map(|before| all[before]),
            next: all.get(index + 1).copied(),
            systems,
            table: Table::of(behaviour),
            verdicts: verdicts(site, &shown_by),
            shown_by,
            hidden_by,
            legend: Evidence::ALL.map(|evidence| (evidence.letter(), evidence.meaning())).into(),
            repository: env!("CARGO_PKG_REPOSITORY"),
        };
        let description = description.unwrap_or_else(|| behaviour.title.clone());
        site.page(&BEHAVIOUR, behaviour_path(&behaviour.id), ("behaviours", title, description), &content)
    };
    (0..site.behaviours().count()).map(page)
}

/// Returns the pollers with answers about a behaviour, and the others.
fn answers<'s>(site: &Site<'s>, behaviour: &Behaviour) -> (Vec<Shown<'s>>, Vec<Named<'s>>) {
    let (mut shown_by, mut hidden_by) = (Vec::new(), Vec::new());
    for poller in site.pollers.iter().filter(|poller| poller.answers() > 0) {
        let before = shown_by.len();
        for on in &poller.systems {
            let every: Vec<_> = on.answers.iter().filter(|answer| answer.behaviour == behaviour.id).collect();
            if !every.is_empty() {
                let differing: Vec<_> = every.iter().copied().filter(|answer| answer.differs()).collect();
                shown_by.push(Shown {
                    poller: Named::of(poller),
                    system: &on.name,
                    slug: &on.system,
                    below: on.below.as_deref(),
                    answers: folded(&differing),
                    differ: differing.len(),
                    all: every.len(),
                    every,
                });
            }
        }
        if shown_by.len() == before {
            hidden_by.push(Named::of(poller));
        }
    }
    (shown_by, hidden_by)
}

/// Returns what pollers make of a behaviour, and which ones. A poller can be in several lines.
fn verdicts<'s>(site: &Site<'s>, shown_by: &[Shown<'s>]) -> Vec<(String, Vec<Named<'s>>)> {
    let mut differing: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let (mut same, mut unclear) = (BTreeSet::new(), BTreeSet::new());
    for shown in shown_by {
        let name = shown.poller.name;
        let before: usize = differing.values().map(BTreeSet::len).sum();
        for answer in &shown.every {
            let words = |verb: &str, meanings: &[String]| {
                meanings.iter().map(|meaning| format!("{verb} {meaning}")).collect::<Vec<_>>()
            };
            let lines = match (answer.wrong, &answer.beside) {
                (Some(wrong), _) => vec![wrong.text().to_owned()],
                (None, Some(beside)) if beside.verdict == Comparison::Differs => {
                    let meanings = [words("hides", &beside.hides), words("adds", &beside.adds)].concat();
                    if meanings.is_empty() { vec!["returns another result".to_owned()] } else { meanings }
                }
                _ => continue,
            };
            for line in lines {
                differing.entry(line).or_default().insert(name);
            }
        }
        if differing.values().map(BTreeSet::len).sum::<usize>() > before {
            continue;
        }
        let is_same = |answer: &&PollerAnswer| {
            answer.beside.as_ref().is_some_and(|beside| beside.verdict == Comparison::Shows)
        };
        if shown.every.iter().any(is_same) {
            same.insert(name)
        } else {
            unclear.insert(name)
        };
    }
    let named = |names: BTreeSet<&str>| {
        site.pollers.iter().filter(|poller| names.contains(poller.name.as_str())).map(Named::of).collect()
    };
    let last = [("say the same as the interface below", same), ("cannot be compared", unclear)];
    let last = last.map(|(line, names)| (line.to_owned(), names));
    let all = differing.into_iter().chain(last).filter(|(_, names)| !names.is_empty());
    all.map(|(line, names)| (line, named(names))).collect()
}

/// Returns in how many questions each system answers otherwise than the first one, in one sentence.
fn systems(behaviour: &Behaviour) -> Option<String> {
    let rows = || behaviour.states.iter().flat_map(|state| &state.rows);
    // The systems, without the kernels that were measured beside them and without the past.
    let is_system = |column: &&Column| !column.past && !column.name.bytes().any(|byte| byte.is_ascii_digit());
    let columns: Vec<_> = behaviour.columns.iter().enumerate().filter(|(_, of)| is_system(of)).collect();
    let (first, reference) = *columns.first()?;
    let (mut same, mut differing) = (Vec::new(), Vec::new());
    for (index, column) in &columns[1..] {
        let common: Vec<_> = rows()
            .filter_map(|row| Some((row.answers.get(first)?, row.answers.get(*index)?)))
            .filter(|(one, other)| !one.is_empty() && !other.is_empty())
            .collect();
        let differ = common.iter().filter(|(one, other)| !agree(one, other)).count();
        let name =
            if column.unmeasured { format!("{} (not measured)", column.name) } else { column.name.clone() };
        match (differ, common.len()) {
            (_, 0) => {}
            (0, _) => same.push(name),
            (differ, all) => differing.push(format!("{name} in {differ} of {all}")),
        }
    }
    let mut sentences = Vec::new();
    if !differing.is_empty() {
        sentences.push(format!("Otherwise than {} answer: {}.", reference.name, differing.join(", ")));
    }
    if !same.is_empty() {
        let verb = if same.len() == 1 { "answers" } else { "answer" };
        sentences.push(format!("{} {verb} as {}.", super::verdicts::listed(&same), reference.name));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns whether two systems can give the same answer: the same meaning, or the same notation. Answers that
/// vary have a `*`, and agree with all.
fn agree(one: &[Answer], other: &[Answer]) -> bool {
    let texts = |answers: &'_ [Answer]| -> Vec<(String, String)> {
        let pairs = answers.iter().flat_map(|answer| answer.allowed.iter().zip(&answer.means));
        pairs.map(|(text, means)| (text.clone(), means.clone())).collect()
    };
    let (one, other) = (texts(one), texts(other));
    let same = |(a, a_means): &(String, String), (b, b_means): &(String, String)| {
        a == b
            || a.contains('*')
            || b.contains('*')
            || !a_means.is_empty() && a_means == b_means
            || is_silence(a) && is_silence(b)
    };
    one.iter().any(|a| other.iter().any(|b| same(a, b)))
}

/// The answers of the systems. Systems that answer everything alike share a column.
#[derive(Serialize)]
struct Table<'a> {
    columns: Vec<Head<'a>>,
    states: Vec<Rows<'a>>,
}

#[derive(Serialize)]
struct Head<'a> {
    names: Vec<&'a str>,
    past: bool,
    unmeasured: bool,
    #[serde(skip)]
    members: Vec<usize>,
}

/// The questions about a state of one or several kinds of descriptors, which have the same answers.
#[derive(Serialize)]
struct Rows<'a> {
    /// The name of each, and its place on the page.
    names: Vec<(&'a str, String)>,
    plain: String,
    rows: Vec<Row<'a>>,
}

/// Questions with the same answers.
#[derive(PartialEq, Serialize)]
struct Row<'a> {
    asked: Vec<&'a str>,
    plain: Vec<String>,
    differs: bool,
    cells: Vec<Vec<Shared<'a>>>,
}

/// An answer of the systems of a column.
#[derive(PartialEq, Serialize)]
pub(super) struct Shared<'a> {
    /// In plain words, if it has some, and in the notation.
    texts: Vec<(Option<String>, &'a str)>,
    sources: Vec<&'a str>,
    remarks: &'a [String],
}

impl<'a> Table<'a> {
    fn of(behaviour: &'a Behaviour) -> Self {
        let rows: Vec<_> = behaviour.states.iter().flat_map(|state| &state.rows).collect();
        let mut columns: Vec<Head<'a>> = Vec::new();
        for (index, column) in behaviour.columns.iter().enumerate() {
            // Nothing is in the column.
            if rows.iter().all(|row| row.answers.get(index).is_none_or(Vec::is_empty)) {
                continue;
            }
            let joins = |head: &&mut Head<'a>| {
                let first = &behaviour.columns[head.members[0]];
                let same_kind = (first.past, first.unmeasured) == (column.past, column.unmeasured);
                same_kind && all_alike(&rows, head.members[0], index, first.system == column.system)
            };
            match columns.iter_mut().find(joins) {
                Some(head) => {
                    head.names.push(&column.name);
                    head.members.push(index);
                }
                None => columns.push(Head {
                    names: vec![&column.name],
                    past: column.past,
                    unmeasured: column.unmeasured,
                    members: vec![index],
                }),
            }
        }
        let mut states: Vec<Rows<'a>> = Vec::new();
        for State { name, rows } in &behaviour.states {
            let rows = folded_rows(rows, &columns);
            let (kind, of) = parts(name);
            let is_equal = |known: &&mut Rows<'a>| {
                let (known_kind, known_of) = parts(known.names[0].0);
                known_of == of && known.rows == rows && kind != NO_KIND && known_kind != NO_KIND
            };
            match states.iter_mut().find(is_equal) {
                Some(known) => known.names.push((name, place(name))),
                None => states.push(Rows { names: vec![(name, place(name))], plain: String::new(), rows }),
            }
        }
        for state in &mut states {
            let kinds: Vec<_> = state.names.iter().map(|(name, _)| parts(name).0).collect();
            let (_, of) = parts(state.names[0].0);
            state.plain = plain::state(&if of.is_empty() {
                kinds.join(", ")
            } else {
                format!("{}:{of}", kinds.join(", "))
            });
        }
        Self { states, columns }
    }
}

/// Returns the questions about a state. Those with the same answers are one row.
fn folded_rows<'a>(rows: &'a [AnswerRow], columns: &[Head<'_>]) -> Vec<Row<'a>> {
    let mut folded: Vec<Row<'a>> = Vec::new();
    for row in rows {
        let cells: Vec<_> = columns.iter().map(|head| shared(row, &head.members)).collect();
        let is_equal = |known: &&mut Row<'a>| known.differs == row.differs && known.cells == cells;
        let plain = plain::question(&row.asked);
        match folded.iter_mut().find(is_equal) {
            Some(known) => {
                known.asked.push(&row.asked);
                known.plain.push(plain);
            }
            None => {
                folded.push(Row { asked: vec![&row.asked], plain: vec![plain], differs: row.differs, cells })
            }
        }
    }
    folded
}

/// The state of scripts that use no kind of descriptor.
const NO_KIND: &str = "-";

/// Returns the place of a state on the page of its behaviour.
pub(super) fn place(state: &str) -> String {
    slug(&state.replace(':', "-"))
}

/// Returns whether two columns have the same answers. A kernel of the results has only some of the questions
/// of its system.
fn all_alike(rows: &[&AnswerRow], one: usize, other: usize, is_one_system: bool) -> bool {
    let texts = |row: &AnswerRow, column: usize| -> BTreeSet<String> {
        row.answers.get(column).into_iter().flatten().flat_map(|answer| &answer.allowed).cloned().collect()
    };
    rows.iter().all(|row| {
        let (one, other) = (texts(row, one), texts(row, other));
        if is_one_system { other.is_subset(&one) } else { one == other }
    })
}

/// Returns the answers of the systems of a column. Equal ones are one, with the sources of both.
pub(super) fn shared<'a>(row: &'a AnswerRow, members: &[usize]) -> Vec<Shared<'a>> {
    let mut all: Vec<(&'a Answer, Shared<'a>)> = Vec::new();
    for answer in members.iter().filter_map(|&member| row.answers.get(member)).flatten() {
        let covers = |(first, _): &&mut (&'a Answer, Shared<'a>)| {
            answer.allowed.iter().all(|text| first.allowed.contains(text))
                && (answer.remarks.is_empty() || answer.remarks == first.remarks)
        };
        match all.iter_mut().find(covers) {
            Some((_, shared)) => shared.sources.push(&answer.source),
            None => {
                let text = |(text, means): (&'a String, &String)| {
                    (plain::answer(&row.asked, text, Some(means)), text.as_str())
                };
                let texts = answer.allowed.iter().zip(&answer.means).map(text).collect();
                all.push((answer, Shared { texts, sources: vec![&answer.source], remarks: &answer.remarks }));
            }
        }
    }
    all.into_iter().map(|(_, shared)| shared).collect()
}
