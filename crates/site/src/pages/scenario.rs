//! The page of a contract scenario.

use std::collections::BTreeMap;

use metadata::{CellResult, Check};
use report::html::style_of;
use report::{Grid, first_line};
use serde::Serialize;

use super::matrix::{Target, columns, present, targets};
use super::{Builder, File, Kind, Link};
use crate::paths;

/// The largest number of failed cells on a page. The report has all.
pub(super) const FAILED: usize = 50;

#[derive(Serialize)]
struct Content<'a> {
    id: &'a str,
    name: &'a str,
    clauses: &'a [&'a str],
    targets: Vec<Target<'a>>,
    columns: Vec<Link>,
    rows: Vec<Line<'a>>,
    failed: Vec<Failed<'a>>,
    more: usize,
}

#[derive(Serialize)]
struct Line<'a> {
    variant: &'a str,
    fields: Vec<Option<Field>>,
}

#[derive(Serialize)]
struct Field {
    class: &'static str,
    status: &'static str,
}

#[derive(Serialize)]
struct Failed<'a> {
    id: &'a str,
    target: &'a str,
    status: &'static str,
    reason: String,
    checks: Vec<&'a Check>,
    reproducer: &'a str,
}

pub(super) fn pages(builder: &Builder<'_>) -> Vec<File> {
    let mut cells: BTreeMap<&str, Vec<&CellResult>> = BTreeMap::new();
    for cell in builder.input.results.contract() {
        cells.entry(&cell.scenario).or_default().push(cell);
    }
    let page = |(id, (title, clauses)): (&&str, &(&str, Vec<&str>))| {
        page(builder, id, title, clauses, cells.get(id).map(Vec::as_slice).unwrap_or_default())
    };
    builder.contract.iter().map(page).collect()
}

fn page(builder: &Builder<'_>, id: &str, title: &str, clauses: &[&str], cells: &[&CellResult]) -> File {
    let grid = Grid::new(cells.iter().copied(), |cell| cell.variant().unwrap_or_default());
    let present = present(&grid);
    let mut fields: BTreeMap<(&str, usize), Field> = BTreeMap::new();
    let places: BTreeMap<_, _> = grid
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            ((column.target.as_str(), column.backend.as_deref().unwrap_or_default()), index)
        })
        .collect();
    for cell in cells {
        let column = places[&(cell.target.as_str(), cell.backend.as_str())];
        let field = Field { class: style_of(cell.status), status: cell.status.label() };
        fields.insert((cell.variant().unwrap_or_default(), column), field);
    }
    let rows = grid.rows.iter().map(|(variant, _)| Line {
        variant,
        fields: present.iter().map(|column| fields.remove(&(variant.as_str(), *column))).collect(),
    });
    let rows = rows.collect();
    let failures: Vec<_> = cells.iter().filter(|cell| cell.status.is_failure()).collect();
    let failed = failures.iter().take(FAILED).map(|cell| Failed {
        id: &cell.id,
        target: &cell.target,
        status: cell.status.label(),
        reason: first_line(cell.reason.as_deref().unwrap_or_default()),
        checks: cell.checks.iter().filter(|check| !check.holds).collect(),
        reproducer: &cell.reproducer,
    });
    let content = Content {
        id,
        name: if title.is_empty() { id } else { title },
        clauses,
        targets: targets(&grid, &present),
        columns: columns(&grid, &present),
        rows,
        failed: failed.collect(),
        more: failures.len().saturating_sub(FAILED),
    };
    let kind = Kind::plain(include_str!("../templates/scenario.html"));
    builder.page(&kind, paths::scenario(id), id, title, content)
}
