//! The data of the page that compares any two systems or pollers.

use std::collections::BTreeMap;

use metadata::visible;
use serde::Serialize;

use super::{Site, System, behaviour_path};
use crate::html::data;

/// The values for the template.
#[derive(Serialize)]
pub(super) struct Content {
    systems: Vec<Side>,
    pollers: Vec<Side>,
    data: String,
}

/// A system or a poller that can be compared.
#[derive(Serialize)]
struct Side {
    /// Its name in the fragment of the address: `linux`, `linux-6.1.192-x86_64`, `mio-linux`.
    id: String,
    name: String,
    unmeasured: bool,
}

/// A question, with the answers of the sides that have one. `compare.js` reads it: the index of the
/// behaviour, those of the state and of the question among the names, and the allowed answers by the number
/// of the side, the systems first, then the pollers. Each answer is an index of the texts: `0:12,14 3:9` are
/// answers of two sides.
type Asked = (usize, usize, usize, String);

#[derive(Serialize)]
struct Row {
    path: String,
    title: String,
}

#[derive(Serialize)]
struct Data {
    /// The number of systems among the sides.
    systems: usize,
    rows: Vec<Row>,
    /// Each answer once: its notation, and what it means in common words.
    texts: Vec<(String, String)>,
    /// Each state and each question once.
    names: Vec<String>,
    asked: Vec<Asked>,
}

/// Texts with a number for each.
struct Numbered<T>(BTreeMap<T, usize>);

impl<T: Ord> Numbered<T> {
    fn number(&mut self, text: T) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }

    /// Returns the texts in the order of their numbers.
    fn texts(self) -> Vec<T> {
        let mut texts: Vec<_> = self.0.into_iter().collect();
        texts.sort_by_key(|(_, number)| *number);
        texts.into_iter().map(|(text, _)| text).collect()
    }
}

impl Content {
    pub(super) fn of(site: &Site<'_>, systems: &[System<'_>]) -> Self {
        let of_system = |system: &System<'_>| {
            let side = |id, name: &str, unmeasured| Side { id, name: name.to_owned(), unmeasured };
            let whole = side(system.slug.to_owned(), system.name, system.unmeasured);
            let kernel = |name: &&str| side(id(name), name, false);
            std::iter::once(whole).chain(system.kernels.iter().map(kernel)).collect::<Vec<_>>()
        };
        let systems: Vec<_> = systems.iter().flat_map(of_system).collect();
        let mut pollers = Vec::new();
        for poller in site.pollers {
            pollers.extend(poller.systems.iter().map(|on| {
                let name = format!("{} on {}", poller.name, on.name);
                Side { id: id(&format!("{} {}", poller.name, on.system)), name, unmeasured: false }
            }));
        }
        let data = data(site, &systems);
        Self { data: data::packed(&data), systems, pollers }
    }
}

/// Returns a name as a part of an address.
fn id(name: &str) -> String {
    super::slug(&name.to_lowercase().replace([' ', ','], "-").replace("--", "-"))
}

fn rows(site: &Site<'_>) -> Vec<Row> {
    let row = |behaviour: &super::Behaviour| Row {
        path: behaviour_path(&behaviour.id),
        title: visible(&format!("{}: {}", behaviour.id, behaviour.title)).into_owned(),
    };
    site.behaviours().map(row).collect()
}

/// The page has tens of thousands of answers.
fn compact(answers: BTreeMap<usize, Vec<usize>>) -> String {
    let side = |(side, numbers): (usize, Vec<usize>)| {
        let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
        format!("{side}:{}", numbers.join(","))
    };
    answers.into_iter().map(side).collect::<Vec<_>>().join(" ")
}

/// The question to a poller that corresponds to one to a system's own queue: `poller@edge` to
/// `queue-add-before@edge`. A library looks through a registration that it made before the state began.
fn of_poller(asked: &str) -> Option<String> {
    let rest = asked.strip_prefix("queue")?;
    let rest = rest.strip_prefix("-add-before").unwrap_or(rest);
    (!rest.starts_with("-add-after")).then(|| format!("poller{rest}"))
}

fn data(site: &Site<'_>, systems: &[Side]) -> Data {
    let (mut texts, mut names) = (Numbered(BTreeMap::new()), Numbered(BTreeMap::new()));
    let mut number =
        |text: &str, means: &str| texts.number((visible(text).into_owned(), visible(means).into_owned()));
    let mut all: BTreeMap<(usize, &str, String), BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (row, behaviour) in site.behaviours().enumerate() {
        let side = |column: &super::super::catalogue::Column| {
            systems.iter().position(|side| side.name == column.name)
        };
        let sides: Vec<_> = behaviour.columns.iter().map(side).collect();
        for state in &behaviour.states {
            for question in &state.rows {
                for (side, given) in sides.iter().zip(&question.answers) {
                    let Some(side) = side.filter(|_| !given.is_empty()) else { continue };
                    let texts = given.iter().flat_map(|answer| answer.allowed.iter().zip(&answer.means));
                    let numbers: Vec<_> = texts.map(|(text, means)| number(text, means)).collect();
                    for asked in std::iter::once(question.asked.clone()).chain(of_poller(&question.asked)) {
                        let answers = all.entry((row, &state.name, asked)).or_default();
                        answers.entry(side).or_default().extend(&numbers);
                    }
                }
            }
        }
    }
    let numbers: BTreeMap<_, _> =
        site.behaviours().enumerate().map(|(row, behaviour)| (behaviour.id.as_str(), row)).collect();
    let mut side = systems.len();
    for poller in site.pollers {
        for on in &poller.systems {
            for answer in &on.answers {
                let Some(&row) = numbers.get(answer.behaviour.as_str()) else { continue };
                // Without its name, so that the questions to two pollers are the same.
                let asked = match answer.asked.strip_prefix(poller.name.as_str()) {
                    Some(rest) => format!("poller{rest}"),
                    None => answer.asked.clone(),
                };
                let answers = all.entry((row, &answer.state, asked)).or_default();
                let texts = answer.allowed.iter().zip(&answer.means);
                let texts = texts.map(|(text, means)| number(text, means));
                answers.entry(side).or_default().extend(texts);
            }
            side += 1;
        }
    }
    // A question to a poller that only systems answer is theirs under another name.
    let is_wanted = |((_, _, asked), answers): &((usize, &str, String), BTreeMap<usize, Vec<usize>>)| {
        let is_of_systems = answers.keys().all(|side| *side < systems.len());
        answers.len() > 1 && !(is_of_systems && asked.starts_with("poller"))
    };
    let mut of = |((row, state, asked), answers): ((usize, &str, String), _)| {
        (
            row,
            names.number(visible(state).into_owned()),
            names.number(visible(&asked).into_owned()),
            compact(answers),
        )
    };
    let asked = all.into_iter().filter(is_wanted).map(&mut of).collect();
    Data { systems: systems.len(), rows: rows(site), texts: texts.texts(), names: names.texts(), asked }
}
