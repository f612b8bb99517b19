//! The page and the badge of a poller.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{CellResult, Status};
use report::html::style_of;
use report::{Conformance, Grid, Verdict, first_line};
use serde::Serialize;

use super::badge::{self, Colour};
use super::scenario::FAILED;
use super::{Builder, File, Kind, Link, Part, parts};
use crate::model::{INTERFACES, Place, Question, Row, Shown};
use crate::paths;

/// A poller in one line.
#[derive(Serialize)]
pub(super) struct Summary {
    pub(super) name: String,
    path: String,
    class: &'static str,
    verdict: String,
    contract: Vec<Part>,
    characterisation: Vec<Part>,
    answers: usize,
    #[serde(skip)]
    colour: Colour,
}

/// Returns the summaries of all pollers, in their order.
pub(super) fn summaries(builder: &Builder<'_>) -> Vec<Summary> {
    let all = Conformance::of(builder.input.results);
    let summary = |name: &String| {
        let known = all.get(name.as_str()).cloned().unwrap_or_default();
        let answers = builder.model.rows.iter().map(|row| answers_in(row, name)).sum();
        let (class, colour, verdict) = verdict(&known, answers);
        Summary {
            path: paths::poller(name),
            name: name.clone(),
            class,
            verdict,
            contract: parts(&known.contract),
            characterisation: parts(&known.characterisation),
            answers,
            colour,
        }
    };
    builder.model.pollers.iter().map(summary).collect()
}

fn verdict(known: &Conformance, answers: usize) -> (&'static str, Colour, String) {
    let verdict = known.verdict();
    match verdict {
        Verdict::Holds { .. } => ("good", Colour::Green, verdict.to_string()),
        Verdict::Incomplete { .. } => ("unsure", Colour::Orange, verdict.to_string()),
        Verdict::Fails { .. } => ("bad", Colour::Red, verdict.to_string()),
        Verdict::NoAnswer => {
            let counts = known.characterisation.counts().filter(|(status, _)| *status != Status::Unsupported);
            let (other, asked) = counts.fold((0, 0), |(other, asked), (status, count)| {
                (other + if status.is_pass() { 0 } else { count }, asked + count)
            });
            match (asked, other) {
                (0, _) if answers > 0 => ("absent", Colour::Blue, format!("{answers} questions answered")),
                (0, _) => ("absent", Colour::Grey, "no answers".to_owned()),
                (asked, 0) => ("good", Colour::Green, format!("all {asked} cells answer as expected")),
                (asked, other) => {
                    ("unsure", Colour::Orange, format!("{other} of {asked} cells answer otherwise"))
                }
            }
        }
    }
}

/// Returns the number of questions about a behaviour that a poller answers on some system.
fn answers_in(row: &Row<'_>, poller: &str) -> usize {
    let is_answered =
        |question: &&Question| question.answers.iter().any(|answer| answer.poller.as_deref() == Some(poller));
    row.questions.iter().filter(is_answered).count()
}

#[derive(Serialize)]
struct Content<'a> {
    name: &'a str,
    class: &'static str,
    verdict: &'a str,
    answers: usize,
    places: Vec<Link>,
    versions: BTreeSet<String>,
    targets: Vec<Target<'a>>,
    failed: Vec<Failed<'a>>,
    more: usize,
    above: bool,
    rows: Vec<Line<'a>>,
    badge: String,
    badge_svg: String,
    badge_json: String,
    badge_url: String,
}

#[derive(Serialize)]
struct Target<'a> {
    name: &'a str,
    /// The page with the answers as Markdown.
    answers: Option<String>,
    contract: Vec<Part>,
    characterisation: Vec<Part>,
}

#[derive(Serialize)]
struct Failed<'a> {
    id: &'a str,
    path: String,
    target: &'a str,
    class: &'static str,
    status: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    path: String,
    title: &'a str,
    answers: usize,
    class: &'static str,
    verdict: String,
}

/// Returns the pages and badges of all pollers.
pub(super) fn pages(builder: &Builder<'_>) -> Vec<File> {
    let mut cells: BTreeMap<&str, Vec<&CellResult>> = BTreeMap::new();
    for cell in &builder.input.results.cells {
        cells.entry(&cell.backend).or_default().push(cell);
    }
    let texts = report::pages(builder.input.of_kernels).into_iter().map(|page| page.path).collect();
    let mut files = Vec::new();
    for summary in &summaries(builder) {
        let cells = cells.get(summary.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        files.push(page(builder, summary, cells, &texts));
        files.extend(badge::files(&summary.name, &summary.verdict, summary.colour));
    }
    files
}

fn page(builder: &Builder<'_>, summary: &Summary, cells: &[&CellResult], texts: &BTreeSet<String>) -> File {
    let name = summary.name.as_str();
    let model = builder.model;
    let is_own = |answer: &&crate::Answer| answer.poller.as_deref() == Some(name);
    let questions = model.rows.iter().flat_map(|row| &row.questions);
    let places: BTreeSet<_> =
        questions.flat_map(|question| &question.answers).filter(is_own).map(|answer| &answer.place).collect();
    let places = places.into_iter().filter(|place| matches!(place, Place::System(_)));
    let link = |place: &Place| Link { path: Some(model.path_of(place)), name: model.name_of(place) };
    let versions = builder.input.results.runs.iter().filter_map(|run| run.subjects.get(name).cloned());
    let failures: Vec<_> =
        cells.iter().filter(|cell| cell.is_contract() && cell.status.is_failure()).collect();
    let failed = failures.iter().take(FAILED).map(|cell| Failed {
        id: &cell.id,
        path: paths::scenario(&cell.scenario),
        target: &cell.target,
        class: style_of(cell.status),
        status: cell.status.label(),
        reason: first_line(cell.reason.as_deref().unwrap_or_default()),
    });
    let rows = model.rows.iter().filter_map(|row| {
        let answers = answers_in(row, name);
        let (class, verdict) = row.shown_by(name).map(|shown| judged(&shown)).unwrap_or_default();
        let (id, title) = (&row.about.id, &row.about.title);
        (answers > 0).then(|| Line { id, path: paths::row(id), title, answers, class, verdict })
    });
    let content = Content {
        name,
        class: summary.class,
        verdict: &summary.verdict,
        answers: summary.answers,
        places: places.map(link).collect(),
        versions: versions.collect(),
        targets: by_target(cells, name, texts),
        failed: failed.collect(),
        more: failures.len().saturating_sub(FAILED),
        above: !INTERFACES.contains(&name),
        rows: rows.collect(),
        badge: badge::svg(&summary.verdict, summary.colour),
        badge_svg: paths::badge(name, "svg"),
        badge_json: paths::badge(name, "json"),
        badge_url: builder.url_of(&paths::badge(name, "svg")),
    };
    let description =
        format!("{name}: {}. Its answers to {} behaviours.", summary.verdict, content.rows.len());
    let kind = Kind::plain(include_str!("../templates/poller.html"));
    builder.page(&kind, paths::poller(name), name, &description, content)
}

fn by_target<'a>(cells: &[&'a CellResult], poller: &str, texts: &BTreeSet<String>) -> Vec<Target<'a>> {
    let targets: BTreeSet<_> = cells.iter().map(|cell| cell.target.as_str()).collect();
    let tally = |target: &str, contract: bool| {
        let own =
            cells.iter().copied().filter(|cell| cell.target == target && cell.is_contract() == contract);
        let grid = Grid::new(own.collect::<Vec<_>>().into_iter(), |_| "");
        grid.rows.first().and_then(|(_, tallies)| tallies.first()).map(parts).unwrap_or_default()
    };
    let line = |name| {
        let page = format!("{name}/{poller}.md");
        let answers = texts.contains(&page).then(|| paths::answers(&page));
        Target { name, answers, contract: tally(name, true), characterisation: tally(name, false) }
    };
    targets.into_iter().map(line).collect()
}

/// Returns the class and the text of what a poller shows.
pub(super) fn judged(shown: &Shown) -> (&'static str, String) {
    let states: BTreeSet<_> = shown.hidden.values().flatten().collect();
    match (shown.compared, states.len()) {
        (0, _) => ("absent", "cannot be compared".to_owned()),
        (compared, 0) => ("good", format!("hides nothing in {compared}")),
        (compared, states) => {
            let words: Vec<_> = shown.hidden.keys().copied().collect();
            ("documented", format!("hides {} in {states} of {compared}", words.join(", ")))
        }
    }
}
