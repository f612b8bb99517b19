//! The data of the page that compares two systems or two pollers.

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

/// A question, with the answers of the sides that have one. `compare.js` reads it.
#[derive(Serialize)]
struct Asked {
    /// The index of the behaviour.
    row: usize,
    state: String,
    asked: String,
    /// The allowed answers by the number of the side: the systems first, then the pollers.
    answers: BTreeMap<usize, Vec<String>>,
}

#[derive(Serialize)]
struct Row {
    path: String,
    title: String,
}

#[derive(Serialize)]
struct Data {
    rows: Vec<Row>,
    asked: Vec<Asked>,
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
        let data = Data { rows: rows(site), asked: asked(site, &systems) };
        Self { data: data::inline(&data), systems, pollers }
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

fn asked(site: &Site<'_>, systems: &[Side]) -> Vec<Asked> {
    let mut all: BTreeMap<(usize, &str, String), BTreeMap<usize, Vec<String>>> = BTreeMap::new();
    for (row, behaviour) in site.behaviours().enumerate() {
        let side = |column: &super::super::catalogue::Column| {
            systems.iter().position(|side| side.name == column.name)
        };
        let sides: Vec<_> = behaviour.columns.iter().map(side).collect();
        for state in &behaviour.states {
            for question in &state.rows {
                let answers = all.entry((row, &state.name, question.asked.clone())).or_default();
                for (side, given) in sides.iter().zip(&question.answers) {
                    let Some(side) = side.filter(|_| !given.is_empty()) else { continue };
                    let texts = given.iter().flat_map(|answer| &answer.allowed);
                    answers.entry(side).or_default().extend(texts.map(|text| visible(text).into_owned()));
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
                let texts = answer.allowed.iter().map(|text| visible(text).into_owned());
                answers.entry(side).or_default().extend(texts);
            }
            side += 1;
        }
    }
    let of = |((row, state, asked), answers): ((usize, &str, String), _)| Asked {
        row,
        state: visible(state).into_owned(),
        asked: visible(&asked).into_owned(),
        answers,
    };
    all.into_iter().filter(|(_, answers)| answers.len() > 1).map(of).collect()
}
