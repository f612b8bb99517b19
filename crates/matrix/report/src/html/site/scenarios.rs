//! The pages of contract scenarios: what each states, the faults that it kills, and its cells.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{CellResult, Run};
use serde::Serialize;

use super::super::{Failed, Part, fragment};
use super::{Page, Site, poller_path, slug};
use crate::grid::Tally;
use crate::timeline;

/// A contract scenario.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Contract {
    /// `migration/idle-takeover`.
    pub id: String,
    /// The property, as a sentence.
    pub title: String,
    /// What it checks: `S3`, `bug 66`.
    pub clauses: Vec<String>,
    /// The path of its source in the tree. Empty if this program does not have it.
    pub source: String,
    /// The faults that it is recorded to kill.
    pub kills: Vec<Killed>,
    /// Why it is recorded to kill none.
    pub excuse: Option<String>,
}

/// A fault that a scenario kills.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Killed {
    /// `double-close`.
    pub fault: String,
    /// What the fault breaks.
    pub summary: String,
    /// The cells and systems on which the kill is recorded.
    pub recorded: Vec<String>,
}

/// The cells of a scenario: one line per variant, one column per target and poller.
#[derive(Serialize)]
struct Cells<'a> {
    targets: Vec<(&'a str, usize)>,
    /// The name of the poller, and the path of its page if it has one.
    pollers: Vec<(&'a str, Option<String>)>,
    lines: Vec<(&'a str, Vec<Option<Field>>)>,
}

/// One cell.
#[derive(Serialize)]
struct Field {
    part: Part,
    /// Its address in the report.
    link: String,
}

/// What each thread did in one cell.
#[derive(Serialize)]
struct Drawn<'a> {
    id: &'a str,
    target: &'a str,
    status: &'static str,
    link: String,
    svg: String,
}

impl<'a> Drawn<'a> {
    /// Draws the first of these cells that has a timeline, of those that failed before the others.
    fn of(cells: &[&'a CellResult]) -> Option<Self> {
        let drawn = cells.iter().filter(|cell| cell.timeline.is_some());
        let cell = drawn.min_by_key(|cell| !cell.status.is_failure())?;
        let (link, svg) = (in_report(cell), timeline::svg(cell));
        let drawn = Self { id: &cell.id, target: &cell.target, status: cell.status.label(), link, svg };
        Some(drawn).filter(|drawn| !drawn.svg.is_empty())
    }
}

/// The scenarios that have a page: those of the catalogue, and those of the results.
pub(super) fn all(site: &Site<'_>) -> Vec<Contract> {
    let mut all: BTreeMap<&str, Contract> =
        site.contract.iter().map(|contract| (contract.id.as_str(), contract.clone())).collect();
    for cell in site.results.contract() {
        let described = site.results.scenarios.get(&cell.scenario);
        all.entry(&cell.scenario).or_insert_with(|| Contract {
            id: cell.scenario.clone(),
            title: described.map_or_else(|| cell.scenario.clone(), |scenario| scenario.title.clone()),
            clauses: described.map(|scenario| scenario.clauses.clone()).unwrap_or_default(),
            ..Contract::default()
        });
    }
    all.into_values().collect()
}

/// The address of a scenario's page: `scenarios/migration/idle-takeover.html`.
pub(super) fn path(id: &str) -> String {
    let (family, name) = id.split_once('/').unwrap_or(("", id));
    let part =
        |text: &str| Some(slug(text)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "unnamed".into());
    format!("scenarios/{}/{}.html", part(family), part(name))
}

/// A scenario on the front page.
#[derive(Serialize)]
pub(super) struct Entry<'a> {
    id: &'a str,
    title: &'a str,
    pub(super) path: String,
}

/// Returns the scenarios of each family, for the front page.
pub(super) fn families(contract: &[Contract]) -> BTreeMap<&str, Vec<Entry<'_>>> {
    let mut families: BTreeMap<&str, Vec<Entry<'_>>> = BTreeMap::new();
    for Contract { id, title, .. } in contract {
        let family = id.split('/').next().unwrap_or_default();
        families.entry(family).or_default().push(Entry { id, title, path: path(id) });
    }
    families
}

/// A scenario with its results on one system.
#[derive(Serialize)]
pub(super) struct OnSystem<'a> {
    id: &'a str,
    path: String,
    parts: Vec<Part>,
}

/// Returns the scenarios with a cell on one system.
pub(super) fn on_system<'a>(site: &Site<'a>, system: &str) -> Vec<OnSystem<'a>> {
    let of_system = |run: &&Run| run.os == system;
    let targets: BTreeSet<_> =
        site.results.runs.iter().filter(of_system).map(|run| run.target.as_str()).collect();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for cell in site.results.contract().filter(|cell| targets.contains(cell.target.as_str())) {
        tallies.entry(&cell.scenario).or_default().count(cell.status);
    }
    let entry = |(id, tally): (&'a str, Tally)| OnSystem { id, path: path(id), parts: Part::all_of(&tally) };
    tallies.into_iter().map(entry).collect()
}

/// Returns the page of each scenario. `pollers` have pages.
pub(super) fn pages(site: &Site<'_>, contract: &[Contract], pollers: &BTreeSet<&str>) -> Vec<Page> {
    #[derive(Serialize)]
    struct Content<'a> {
        scenario: &'a Contract,
        cells: Option<Cells<'a>>,
        failed: Vec<Failed<'a>>,
        timeline: Option<Drawn<'a>>,
        previous: Option<Entry<'a>>,
        next: Option<Entry<'a>>,
    }
    let mut cells: BTreeMap<&str, Vec<&CellResult>> = BTreeMap::new();
    for cell in site.results.contract() {
        cells.entry(&cell.scenario).or_default().push(cell);
    }
    let step = |index: Option<usize>| {
        let Contract { id, title, .. } = contract.get(index?)?;
        Some(Entry { id, title, path: path(id) })
    };
    let page = |(index, scenario): (usize, &Contract)| {
        let of_scenario = cells.get(scenario.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let failed = of_scenario.iter().filter(|cell| cell.status.is_failure());
        let content = Content {
            scenario,
            cells: (!of_scenario.is_empty()).then(|| Cells::of(of_scenario, pollers)),
            failed: failed.map(|cell| Failed::of(cell)).collect(),
            timeline: Drawn::of(of_scenario),
            previous: step(index.checked_sub(1)),
            next: step(Some(index + 1)),
        };
        let title = format!("{}: {}", scenario.id, scenario.title);
        let description = format!("A contract scenario of pollmatrix: {}", scenario.title);
        site.page(&super::SCENARIO, path(&scenario.id), ("scenarios", title, description), &content)
    };
    contract.iter().enumerate().map(page).collect()
}

impl<'a> Cells<'a> {
    fn of(cells: &[&'a CellResult], pollers: &BTreeSet<&str>) -> Self {
        let columns: BTreeSet<_> = cells.iter().map(|cell| column(cell)).collect();
        let mut targets: Vec<(&str, usize)> = Vec::new();
        for (target, _) in &columns {
            match targets.last_mut() {
                Some((last, width)) if last == target => *width += 1,
                _ => targets.push((target, 1)),
            }
        }
        let mut lines: BTreeMap<&str, Vec<Option<Field>>> = BTreeMap::new();
        for cell in cells {
            let line = lines
                .entry(cell.variant().unwrap_or_default())
                .or_insert_with(|| columns.iter().map(|_| None).collect());
            let mut tally = Tally::default();
            tally.count(cell.status);
            if let (Some(place), Some(part)) =
                (columns.iter().position(|known| *known == column(cell)), Part::all_of(&tally).pop())
            {
                line[place] = Some(Field { part, link: in_report(cell) });
            }
        }
        let poller =
            |(_, name): &(&'a str, &'a str)| (*name, pollers.contains(name).then(|| poller_path(name)));
        Self { targets, pollers: columns.iter().map(poller).collect(), lines: lines.into_iter().collect() }
    }
}

fn column(cell: &CellResult) -> (&str, &str) {
    (&cell.target, &cell.backend)
}

/// Returns the address of a cell in the report, for a page of the site.
fn in_report(cell: &CellResult) -> String {
    format!("report.html#{}", fragment(cell))
}
