//! The matrix: behaviours × systems, and contract scenarios × targets and pollers.

use std::collections::BTreeSet;

use metadata::Status;
use report::Grid;
use serde::Serialize;

use super::front::is_measured;
use super::{Builder, File, Kind, Link, Part, family_id, parts};
use crate::model::{Place, Row};
use crate::paths;

#[derive(Serialize)]
struct Content<'a> {
    places: Vec<Link>,
    families: Vec<Family<'a>>,
    targets: Vec<Target<'a>>,
    columns: Vec<Link>,
    scenarios: Vec<Scenario<'a>>,
    legend: String,
}

#[derive(Serialize)]
struct Family<'a> {
    id: String,
    title: &'a str,
    rows: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    path: String,
    title: &'a str,
    differs: bool,
    fields: Vec<Option<Field>>,
}

#[derive(Serialize)]
struct Field {
    class: &'static str,
    text: &'static str,
}

/// A target, and the number of its columns.
#[derive(Serialize)]
pub(super) struct Target<'a> {
    name: &'a str,
    columns: usize,
}

#[derive(Serialize)]
struct Scenario<'a> {
    id: &'a str,
    path: String,
    title: &'a str,
    fields: Vec<Vec<Part>>,
}

pub(super) fn page(builder: &Builder<'_>) -> File {
    let model = builder.model;
    let used: BTreeSet<&Place> = model.rows.iter().flat_map(Row::places).collect();
    let places: Vec<_> = used.into_iter().filter(|place| matches!(place, Place::System(_))).collect();
    let line = |row: &Row<'_>| -> Vec<Option<Field>> {
        let own = row.places();
        let field = |place: &&&Place| {
            own.contains(**place).then(|| match () {
                () if row.of_kernels().any(|question| question.differs_at(place)) => {
                    Field { class: "documented", text: "differs" }
                }
                () if is_measured(row, place) => Field { class: "good", text: "same" },
                () => Field { class: "unsure", text: "not measured" },
            })
        };
        places.iter().map(|place| field(&place)).collect()
    };
    let families = builder.input.catalogue.families.iter().map(|family| {
        let rows = model.rows.iter().filter(|row| row.family == family.title);
        let rows = rows.map(|row| Line {
            id: &row.about.id,
            path: paths::row(&row.about.id),
            title: &row.about.title,
            differs: row.differs(),
            fields: line(row),
        });
        Family { id: family_id(&family.title), title: &family.title, rows: rows.collect() }
    });
    let grid = Grid::new(builder.input.results.contract(), |cell| &cell.scenario);
    let present = present(&grid);
    let scenarios = builder.contract.iter().map(|(id, (title, _))| {
        let tallies = grid.rows.iter().find(|(name, _)| name == id).map(|(_, tallies)| tallies);
        let fields = present.iter().map(|column| tallies.map(|all| parts(&all[*column])).unwrap_or_default());
        Scenario { id, path: paths::scenario(id), title, fields: fields.collect() }
    });
    let content = Content {
        places: places
            .iter()
            .map(|place| Link { path: Some(model.path_of(place)), name: model.name_of(place) })
            .collect(),
        families: families.collect(),
        targets: targets(&grid, &present),
        columns: columns(&grid, &present),
        scenarios: scenarios.collect(),
        legend: grid.legend(),
    };
    let kind = Kind {
        template: include_str!("../templates/matrix.html"),
        scripts: &[include_str!("../templates/matrix.js")],
        style: "",
    };
    let description = "Every behaviour of epoll, kqueue, poll and select with a column per system, and every contract scenario.";
    builder.page(&kind, "matrix.html".into(), "The matrix", description, content)
}

/// Returns the columns in which some cell is supported.
pub(super) fn present(grid: &Grid) -> Vec<usize> {
    let is_present = |column: &usize| {
        let tallies = grid.rows.iter().map(|(_, tallies)| &tallies[*column]);
        tallies.flat_map(|tally| tally.statuses()).any(|status| status != Status::Unsupported)
    };
    (0..grid.columns.len()).filter(is_present).collect()
}

/// Returns the targets of these columns.
pub(super) fn targets<'a>(grid: &'a Grid, columns: &[usize]) -> Vec<Target<'a>> {
    let all = grid.targets().into_iter();
    let count =
        |range: &std::ops::Range<usize>| columns.iter().filter(|column| range.contains(column)).count();
    let targets = all.map(|(name, range)| Target { name, columns: count(&range) });
    targets.filter(|target| target.columns > 0).collect()
}

/// Returns the pollers of these columns, with their pages.
pub(super) fn columns(grid: &Grid, columns: &[usize]) -> Vec<Link> {
    let name = |column: &usize| grid.columns[*column].backend.clone().unwrap_or_default();
    let link = |name: String| Link { path: Some(paths::poller(&name)), name };
    columns.iter().map(|column| link(name(column))).collect()
}
