//! The page of a behaviour.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{Evidence, Link as Bug};
use serde::Serialize;

use super::poller::judged;
use super::{Builder, File, Kind, Link, anchor, family_id, sentence};
use crate::model::{Answer, INTERFACES, Place, Row, proper_name};
use crate::paths;

#[derive(Serialize)]
struct Content<'a> {
    id: &'a str,
    name: &'a str,
    family: &'a str,
    family_id: String,
    differs: bool,
    scenarios: Vec<Scenario<'a>>,
    unasked: Vec<Unasked<'a>>,
    columns: Vec<Column>,
    states: Vec<State>,
    pollers: Vec<Poller>,
    others: Vec<OtherState>,
    sources: Vec<Source>,
}

#[derive(Serialize)]
struct Scenario<'a> {
    anchor: String,
    id: &'a str,
    question: &'a str,
    settings: &'a str,
    script: &'a str,
    command: &'a str,
    bugs: &'a [Bug],
}

#[derive(Serialize)]
struct Unasked<'a> {
    what: &'a str,
    why: &'a str,
    contract: Vec<ContractLink<'a>>,
}

#[derive(Serialize)]
struct ContractLink<'a> {
    id: &'a str,
    path: String,
}

/// A column: systems with the same answers.
#[derive(Serialize)]
struct Column {
    systems: Vec<Link>,
    past: bool,
    #[serde(skip)]
    place: Option<Place>,
}

#[derive(Serialize)]
struct State {
    name: String,
    anchor: String,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    asked: String,
    differs: bool,
    fields: Vec<Vec<Field>>,
}

#[derive(Serialize)]
struct Field {
    allowed: Vec<String>,
    label: String,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct Poller {
    name: String,
    path: String,
    class: &'static str,
    verdict: String,
    hidden: Vec<Hidden>,
}

#[derive(Serialize)]
struct Hidden {
    word: &'static str,
    states: BTreeSet<String>,
}

#[derive(Serialize)]
struct OtherState {
    name: String,
    rows: Vec<OtherLine>,
}

#[derive(Serialize)]
struct OtherLine {
    asked: String,
    system: Link,
    answer: Field,
}

#[derive(Serialize)]
struct Source {
    label: String,
    evidence: &'static str,
    text: String,
    url: Option<String>,
}

/// The sources of a page, each with a label: the letter of its evidence, and a number.
#[derive(Default)]
struct Sources(BTreeMap<(usize, usize), Source>, BTreeMap<(usize, String, Option<String>), usize>);

impl Sources {
    fn label(&mut self, evidence: Evidence, text: &str, url: Option<&str>) -> String {
        let kind = Evidence::ALL.iter().position(|known| *known == evidence).unwrap_or_default();
        let next = self.1.keys().filter(|(of, ..)| *of == kind).count() + 1;
        let number = *self.1.entry((kind, text.to_owned(), url.map(str::to_owned))).or_insert(next);
        let label = format!("{}{number}", evidence.letter());
        self.0.entry((kind, number)).or_insert_with(|| Source {
            label: label.clone(),
            evidence: evidence.meaning(),
            text: text.to_owned(),
            url: url.map(str::to_owned),
        });
        label
    }

    fn field(&mut self, answer: &Answer) -> Field {
        let mut remarks = answer.remarks.clone();
        if !answer.measured && answer.evidence == Evidence::Measured {
            remarks.push("not measured on this version".to_owned());
        }
        let label = self.label(answer.evidence, &answer.source, answer.url.as_deref());
        Field { allowed: answer.allowed.clone(), label, remarks }
    }
}

pub(super) fn page(builder: &Builder<'_>, row: &Row<'_>) -> File {
    let about = row.about;
    let mut sources = Sources::default();
    let mut columns = columns(builder, row);
    let current = columns.len();
    let history = builder.input.history;
    let past = || history.answers().iter().filter(|answers| answers.behaviour == about.id);
    let then: BTreeSet<_> = past().flat_map(|past| past.answers.iter().map(|(system, _)| *system)).collect();
    columns.extend(then.iter().map(|system| {
        let system = &history.systems()[*system];
        let name = format!("{} {}", proper_name(system.os), system.version);
        Column { systems: vec![Link { path: None, name }], past: true, place: None }
    }));

    let mut lines: BTreeMap<(String, String), Line> = BTreeMap::new();
    for question in row.of_kernels() {
        let field = |column: &Column| -> Vec<Field> {
            let here = question.answers.iter().filter(|answer| Some(&answer.place) == column.place.as_ref());
            here.map(|answer| sources.field(answer)).collect()
        };
        let fields = columns.iter().map(field).collect();
        let line = Line { asked: question.asked.clone(), differs: question.differs(), fields };
        lines.insert((question.state.clone(), question.asked.clone()), line);
    }
    for known in past() {
        let line = lines.entry((known.variant.clone(), known.asked.clone())).or_insert_with(|| Line {
            asked: known.asked.clone(),
            differs: false,
            fields: columns.iter().map(|_| Vec::new()).collect(),
        });
        for (system, answer) in &known.answers {
            let about = &history.systems()[*system];
            let label = sources.label(about.evidence, &about.text, Some(&about.url));
            let place = then.iter().position(|of| of == system).unwrap_or_default();
            line.fields[current + place].push(Field {
                allowed: vec![answer.clone()],
                label,
                remarks: Vec::new(),
            });
        }
    }
    let mut states: Vec<State> = Vec::new();
    for ((state, _), line) in lines {
        match states.last_mut().filter(|last| last.name == state) {
            Some(last) => last.rows.push(line),
            None => states.push(State { anchor: anchor("state", &state), name: state, rows: vec![line] }),
        }
    }
    let others = others(builder, row, &mut sources);
    let content = Content {
        id: &about.id,
        name: &about.title,
        family: row.family,
        family_id: family_id(row.family),
        differs: row.differs(),
        scenarios: about
            .scenarios
            .iter()
            .map(|scenario| Scenario {
                anchor: anchor("scenario", &scenario.id),
                id: &scenario.id,
                question: &scenario.question,
                settings: &scenario.settings,
                script: &scenario.script,
                command: &scenario.command,
                bugs: &scenario.bugs,
            })
            .collect(),
        unasked: about.unasked.iter().map(|entry| unasked(builder, entry)).collect(),
        columns,
        states,
        pollers: pollers(builder, row),
        others,
        sources: sources.0.into_values().collect(),
    };
    let title = format!("{}: {}", about.id, about.title);
    let question =
        about.scenarios.first().map_or_else(|| sentence(&about.title), |scenario| scenario.question.clone());
    let systems = row.places().len();
    let description =
        format!("{question} The answers of epoll, kqueue, poll and select on {systems} systems.");
    let kind = Kind::plain(include_str!("../templates/row.html"));
    builder.page(&kind, paths::row(&about.id), &title, &description, content)
}

fn unasked<'a>(builder: &Builder<'_>, entry: &'a report::html::catalogue::Unasked) -> Unasked<'a> {
    let link = |id: &'a String| ContractLink {
        id,
        // A scenario that is not known has no page of its own.
        path: builder.scenario_path(id).unwrap_or_else(|| "matrix.html".to_owned()),
    };
    Unasked { what: &entry.what, why: &entry.why, contract: entry.contract.iter().map(link).collect() }
}

/// Returns the columns of current systems. Neighbouring versions with the same answers share one.
fn columns(builder: &Builder<'_>, row: &Row<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for place in row.places() {
        let link = Link { path: Some(builder.model.path_of(place)), name: builder.model.name_of(place) };
        let shares = |column: &&mut Column| {
            column.place.as_ref().is_some_and(|other| {
                os_of(builder, other) == os_of(builder, place) && same_answers(row, other, place)
            })
        };
        match columns.last_mut().filter(shares) {
            Some(column) => column.systems.push(link),
            None => columns.push(Column { systems: vec![link], past: false, place: Some(place.clone()) }),
        }
    }
    columns
}

fn os_of(builder: &Builder<'_>, place: &Place) -> metadata::Os {
    match place {
        Place::System(index) => builder.model.systems[*index].os,
        Place::Unmeasured(os, _) => *os,
    }
}

/// Returns whether the answers of two places are the same, with the same evidence.
fn same_answers(row: &Row<'_>, one: &Place, two: &Place) -> bool {
    row.of_kernels().all(|question| {
        let at = |place: &Place| {
            let here = question.answers.iter().filter(|answer| answer.place == *place);
            here.map(|answer| Answer { place: one.clone(), ..answer.clone() }).collect::<Vec<_>>()
        };
        at(one) == at(two)
    })
}

/// Returns what each adapter shows and hides.
fn pollers(builder: &Builder<'_>, row: &Row<'_>) -> Vec<Poller> {
    let above = builder.model.pollers.iter().filter(|name| !INTERFACES.contains(&name.as_str()));
    let poller = |name: &String| {
        let shown = row.shown_by(name)?;
        let (class, verdict) = judged(&shown);
        let hidden = shown.hidden.into_iter().map(|(word, states)| Hidden { word, states });
        Some(Poller {
            path: paths::poller(name),
            name: name.clone(),
            class,
            verdict,
            hidden: hidden.collect(),
        })
    };
    above.filter_map(poller).collect()
}

/// Returns the answers of adapters, by state.
fn others(builder: &Builder<'_>, row: &Row<'_>, sources: &mut Sources) -> Vec<OtherState> {
    let mut states: Vec<OtherState> = Vec::new();
    for question in row.of_adapters() {
        let lines = question.answers.iter().map(|answer| OtherLine {
            asked: question.asked.clone(),
            system: Link {
                path: Some(builder.model.path_of(&answer.place)),
                name: builder.model.name_of(&answer.place),
            },
            answer: sources.field(answer),
        });
        let lines: Vec<_> = lines.collect();
        match states.last_mut().filter(|last| last.name == question.state) {
            Some(last) => last.rows.extend(lines),
            None => states.push(OtherState { name: question.state.clone(), rows: lines }),
        }
    }
    states
}
