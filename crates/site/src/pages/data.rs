//! The pages with data for scripts: the search, and the comparison of two.

use std::collections::{BTreeMap, BTreeSet};

use metadata::one_line;
use report::html::shell::embedded_json;
use serde::Serialize;

use super::{Builder, File, Kind};
use crate::model::{Answer, Place, Question, Row};
use crate::paths;

#[derive(Serialize)]
struct Content {
    data: String,
}

pub(super) fn pages(builder: &Builder<'_>) -> [File; 2] {
    let search = Kind {
        template: include_str!("../templates/search.html"),
        scripts: &[include_str!("../templates/search.js")],
        style: "",
    };
    let compare = Kind {
        template: include_str!("../templates/compare.html"),
        scripts: &[include_str!("../templates/compare.js")],
        style: "",
    };
    let entries = entries(builder);
    let sides = Sides::of(builder);
    [
        builder.page(
            &search,
            "search.html".into(),
            "Search",
            "Search all behaviours, scenarios, systems, pollers and findings.",
            Content { data: embedded_json(&entries) },
        ),
        builder.page(
            &compare,
            "compare.html".into(),
            "Compare two",
            "Compare the answers of two systems or pollers, question by question.",
            Content { data: embedded_json(&sides) },
        ),
    ]
}

/// A page or section in the search: kind, title, address, further text.
type Found = (&'static str, String, String, String);

fn entries(builder: &Builder<'_>) -> Vec<Found> {
    let model = builder.model;
    let mut all: Vec<Found> = Vec::new();
    for row in &model.rows {
        let about = row.about;
        let title = format!("{} {}", about.id, about.title);
        all.push(("behaviour", title, paths::row(&about.id), text_of(row)));
    }
    for (id, (title, clauses)) in &builder.contract {
        all.push((
            "contract scenario",
            (*id).to_owned(),
            paths::scenario(id),
            format!("{title} {}", clauses.join(" ")),
        ));
    }
    for system in &model.systems {
        let runs: Vec<_> = system.runs.iter().map(|run| format!("{} {}", run.target, run.machine)).collect();
        all.push(("system", system.name.clone(), system.path.clone(), runs.join(" ")));
    }
    for name in &model.pollers {
        all.push(("poller", name.clone(), paths::poller(name), String::new()));
    }
    for finding in &builder.findings.newest {
        let path = format!("findings.html#{}", finding.id);
        all.push(("finding", finding.title.clone(), path, finding.found.clone()));
    }
    for (_, title, _, text) in &mut all {
        (*title, *text) = (shown(title), shown(text));
    }
    all
}

/// Returns a text whose invisible characters are visible: the scripts show it as it is.
fn shown(text: &str) -> String {
    one_line(text).into_owned()
}

/// Returns the searched text of a behaviour: questions, scripts, bugs, states and answers, each word once.
fn text_of(row: &Row<'_>) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for scenario in &row.about.scenarios {
        parts.extend([scenario.id.as_str(), &scenario.question, &scenario.script]);
        parts.extend(scenario.bugs.iter().map(|bug| bug.text.as_str()));
    }
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for question in &row.questions {
        words.extend([question.state.as_str(), question.asked.as_str()]);
        for answer in &question.answers {
            words.insert(&answer.api);
            words.extend(answer.allowed.iter().map(String::as_str));
        }
    }
    parts.extend(words);
    parts.join(" ")
}

/// The data of the comparison. Each text occurs once.
#[derive(Serialize, Default)]
struct Sides {
    /// The id and the page of each behaviour.
    rows: Vec<(String, String)>,
    /// The index of the behaviour, the state, and what is asked, without the poller's name.
    questions: Vec<(usize, String, String)>,
    texts: Vec<String>,
    sides: Vec<Side>,
}

/// A poller on a system.
#[derive(Serialize)]
struct Side {
    /// `linux-6.18.44/epoll`
    id: String,
    name: String,
    /// The number of a question, and the number of the text of its answer, in turn.
    answers: Vec<usize>,
}

impl Sides {
    fn of(builder: &Builder<'_>) -> Self {
        let model = builder.model;
        let mut data = Self::default();
        let mut questions: BTreeMap<(usize, String, String), usize> = BTreeMap::new();
        let mut texts: BTreeMap<String, usize> = BTreeMap::new();
        let mut sides: BTreeMap<(usize, Option<&str>), BTreeMap<usize, usize>> = BTreeMap::new();
        for (index, row) in model.rows.iter().enumerate() {
            data.rows.push((row.about.id.clone(), paths::row(&row.about.id)));
            for question in &row.questions {
                for answer in &question.answers {
                    let Place::System(system) = answer.place else { continue };
                    let key = (index, shown(&question.state), shown(&asked(question, answer)));
                    let next = questions.len();
                    let number = *questions.entry(key).or_insert(next);
                    let next = texts.len();
                    let text = *texts.entry(shown(&answer.allowed.join(" or "))).or_insert(next);
                    // The first answer is the recorded one.
                    sides
                        .entry((system, answer.poller.as_deref()))
                        .or_default()
                        .entry(number)
                        .or_insert(text);
                }
            }
        }
        data.questions = in_order(questions);
        data.texts = in_order(texts);
        data.sides = sides
            .into_iter()
            .map(|((system, poller), answers)| {
                let system = &model.systems[system];
                let id = paths::system_id(system.os, &system.version);
                Side {
                    id: format!("{id}/{}", poller.map_or_else(|| "calls".to_owned(), paths::part)),
                    name: shown(&format!("{}: {}", system.name, poller.unwrap_or("other system calls"))),
                    answers: answers.into_iter().flat_map(|(question, text)| [question, text]).collect(),
                }
            })
            .collect();
        data
    }
}

/// Returns the keys in the order of their numbers.
fn in_order<K>(numbered: BTreeMap<K, usize>) -> Vec<K> {
    let mut all: Vec<_> = numbered.into_iter().collect();
    all.sort_by_key(|(_, number)| *number);
    all.into_iter().map(|(key, _)| key).collect()
}

/// Returns what is asked, without the poller's name, so that pollers can be compared: `-add-before@level`.
fn asked(question: &Question, answer: &Answer) -> String {
    let Some(poller) = answer.poller.as_deref() else { return question.asked.clone() };
    let own = answer.api.strip_prefix(poller).or_else(|| answer.api.strip_prefix("kqueue"));
    metadata::api_and_trigger(own.unwrap_or(&answer.api), answer.trigger.as_deref())
}
