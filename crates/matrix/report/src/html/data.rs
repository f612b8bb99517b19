//! The data for the page's script: compact JSON, in which each text, check and list of checks occurs once,
//! deflated. [`packed`] says how a page has it.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use metadata::{CellResult, Check, Results, Scenario, Status, Variant, visible};
use serde::Serialize;
use serde::ser::Error;

use super::{headline, style_of};
use crate::grid::{Absent, Column, Grid};

/// The index of a text in [`Data::strings`]. 0 is the empty text and means none.
type Text = usize;

/// The data of the page. `model.js` unpacks it.
#[derive(Serialize)]
pub(super) struct Data {
    strings: Vec<String>,
    /// Letter, name, style, label.
    statuses: Vec<(char, &'static str, &'static str, &'static str)>,
    /// Target, OS, backend, the reason why the column is empty, kind.
    columns: Vec<(Text, Text, Text, Text, Kind)>,
    scenarios: Vec<About>,
    /// Scenario, variant, transport, trigger, threads, groups.
    rows: Vec<(usize, Text, Text, Text, Big, Big)>,
    /// By field: equal numbers in a row deflate well.
    #[serde(serialize_with = "checks_by_field")]
    checks: Vec<PackedCheck>,
    #[serde(serialize_with = "in_steps")]
    lists: Vec<Vec<usize>>,
    #[serde(serialize_with = "cells_by_field")]
    cells: Vec<PackedCell>,
    /// Target, summary of its run.
    runs: Vec<(Text, Text)>,
    /// The index of a cell, its timeline as SVG.
    timelines: Vec<(usize, String)>,
}

/// The most checks that the page has of a contract cell that passes. They hold, and some scenarios make a
/// thousand, which would be most of the page.
const MOST_CHECKS: usize = 10;

/// The kind of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    HasCells,
    /// Every cell is unsupported for the same reason, and there are columns of other targets.
    Absent,
    NotRun,
}

impl Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

#[derive(Serialize)]
struct About {
    id: Text,
    title: Text,
    clauses: Vec<Text>,
    question: Text,
    verbs: Text,
    links: Vec<(Text, Text)>,
}

/// Who answers (`epoll@level`, or none), what is compared, expected (none if it is what was observed),
/// observed, source, whether it holds; since, until, URL, evidence.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
struct PackedCheck(Text, Text, Option<Vec<Text>>, Text, Text, u8, Text, Text, Text, Text);

/// Row, column, status, layer, reason, passed attempts, attempts, seed, milliseconds, reproducer (text before
/// the id, text after it, 1 if the id is between them), list of checks, counters, notes, standard error; the
/// number of checks and of notes that only results.json has.
#[derive(Serialize)]
struct PackedCell(
    usize,
    usize,
    usize,
    Text,
    Text,
    u32,
    u32,
    Text,
    Big,
    Text,
    Text,
    u8,
    usize,
    Vec<(Text, Big)>,
    Vec<Text>,
    Text,
    usize,
    usize,
);

fn checks_by_field<S: serde::Serializer>(checks: &[PackedCheck], serializer: S) -> Result<S::Ok, S::Error> {
    by_field(checks, 1, serializer)
}

fn cells_by_field<S: serde::Serializer>(cells: &[PackedCell], serializer: S) -> Result<S::Ok, S::Error> {
    by_field(cells, 0, serializer)
}

/// Serializes one list for each field. That of the field `rising` is in steps.
fn by_field<T: Serialize, S: serde::Serializer>(
    values: &[T],
    rising: usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut fields: Vec<Vec<serde_json::Value>> = Vec::new();
    let mut last = 0;
    for value in values {
        let serde_json::Value::Array(mut parts) = serde_json::to_value(value).map_err(S::Error::custom)?
        else {
            return Err(S::Error::custom("a value is a list"));
        };
        let index = parts[rising].as_i64().ok_or_else(|| S::Error::custom("an index is an integer"))?;
        parts[rising] = (index - std::mem::replace(&mut last, index)).into();
        fields.resize(parts.len(), Vec::new());
        fields.iter_mut().zip(parts).for_each(|(field, part)| field.push(part));
    }
    fields.serialize(serializer)
}

/// Serializes each index as its difference from the one before it, in the same list or the last: most are 1.
fn in_steps<S: serde::Serializer>(lists: &[Vec<usize>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut last = 0;
    let mut step = |index: &usize| index.wrapping_sub(std::mem::replace(&mut last, *index)).cast_signed();
    let lists: Vec<Vec<_>> = lists.iter().map(|list| list.iter().map(&mut step).collect()).collect();
    lists.serialize(serializer)
}

/// A number, serialized as text if a JSON reader might round it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Big(u64);

impl Serialize for Big {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const LARGEST_EXACT: u64 = (1 << 53) - 1;
        if self.0 <= LARGEST_EXACT {
            serializer.serialize_u64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

/// A table that stores each value once.
struct Table<T> {
    values: Vec<T>,
    indices: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Self {
        Self { values: Vec::new(), indices: HashMap::new() }
    }

    /// Returns the index of a value, and adds the value if it is new.
    fn index(&mut self, value: T) -> usize {
        *self.indices.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() - 1
        })
    }
}

impl Table<String> {
    /// Returns the index of a text, whose invisible characters are escaped.
    fn text(&mut self, text: &str) -> Text {
        let text = visible(text);
        // Nearly every text is known already: no copy of those.
        self.indices.get(text.as_ref()).copied().unwrap_or_else(|| self.index(text.into_owned()))
    }

    fn optional(&mut self, text: Option<&str>) -> Text {
        self.text(text.unwrap_or_default())
    }

    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) -> Vec<Text> {
        texts.into_iter().map(|text| self.text(text)).collect()
    }
}

/// The key of a row: its cells have the same scenario and the same parameters.
type RowKey<'a> = (&'a str, &'a str, Variant);

fn row_key(cell: &CellResult) -> RowKey<'_> {
    (&cell.scenario, cell.variant().unwrap_or(&cell.id), cell.params)
}

impl Data {
    /// Packs the results, with the columns and the scenarios of `grid`, and the drawn timelines.
    pub(super) fn of(results: &Results, grid: &Grid, timelines: Vec<(usize, String)>) -> Self {
        let mut strings = Table::new();
        strings.text("");
        let mut checks = Table::new();
        let mut lists = Table::new();

        let scenarios: BTreeMap<&str, usize> =
            grid.rows.iter().enumerate().map(|(index, (id, _))| (id.as_str(), index)).collect();
        let columns: HashMap<(&str, &str), usize> = grid
            .columns
            .iter()
            .enumerate()
            .filter_map(|(index, column)| Some(((column.target.as_str(), column.backend.as_deref()?), index)))
            .collect();
        let mut rows: BTreeMap<RowKey<'_>, usize> =
            results.cells.iter().map(|cell| (row_key(cell), 0)).collect();
        rows.values_mut().enumerate().for_each(|(index, row)| *row = index);

        let cells = results.cells.iter().map(|cell| {
            let position = (rows[&row_key(cell)], columns[&(cell.target.as_str(), cell.backend.as_str())]);
            let list: Vec<_> = shown_checks(cell)
                .iter()
                .map(|check| checks.index(packed_check(check, &mut strings)))
                .collect();
            packed_cell(cell, position, lists.index(list), &mut strings)
        });
        let cells = cells.collect();
        Self {
            statuses: Status::ALL
                .map(|status| (status.letter(), status.name(), style_of(status), status.label()))
                .to_vec(),
            columns: packed_columns(results, grid, &mut strings),
            scenarios: scenarios
                .keys()
                .map(|id| about(id, results.scenarios.get(*id), &mut strings))
                .collect(),
            rows: rows
                .keys()
                .map(|(scenario, variant, params)| {
                    let names = [variant, params.transport.name(), params.trigger.name()];
                    let [variant, transport, trigger] = names.map(|text| strings.text(text));
                    let [threads, groups] = [params.threads, params.groups].map(|count| Big(count as u64));
                    (scenarios[scenario], variant, transport, trigger, threads, groups)
                })
                .collect(),
            cells,
            timelines,
            runs: results
                .runs
                .iter()
                .map(|run| {
                    let summary = format!("{}; pollmatrix {}", headline(run), run.build());
                    (strings.text(&run.target), strings.text(&summary))
                })
                .collect(),
            checks: checks.values,
            lists: lists.values,
            strings: strings.values,
        }
    }
}

/// The greatest effort: a page is written once, and loaded often.
const EFFORT: u8 = 9;

/// Returns a value as the text of a script element with the id `data`: JSON, deflated with zlib's header, in
/// base64. `unpacked` of dom.js reads it.
pub(super) fn packed(value: &(impl Serialize + ?Sized)) -> String {
    let plain = serde_json::to_vec(value).expect("the types have string keys and no fallible parts");
    BASE64_STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(&plain, EFFORT))
}

/// Returns the value that [`packed`] has packed.
#[cfg(test)]
pub(super) fn unpacked(text: &str) -> serde_json::Value {
    let deflated = BASE64_STANDARD.decode(text).expect("the data is base64");
    let plain = miniz_oxide::inflate::decompress_to_vec_zlib(&deflated).expect("the data is deflated");
    serde_json::from_slice(&plain).expect("the data is JSON")
}

/// Returns the checks of a cell that the page has.
fn shown_checks(cell: &CellResult) -> &[Check] {
    let most = if cell.is_contract() && cell.status == Status::Pass { MOST_CHECKS } else { usize::MAX };
    &cell.checks[..cell.checks.len().min(most)]
}

/// Returns the notes of a cell that the page has: how a cell came to pass is in results.json.
fn shown_notes(cell: &CellResult) -> &[String] {
    if cell.status == Status::Pass { &[] } else { &cell.notes }
}

fn packed_columns(
    results: &Results,
    grid: &Grid,
    strings: &mut Table<String>,
) -> Vec<(Text, Text, Text, Text, Kind)> {
    let absent = Absent::of(&results.cells);
    let pack = |column: &Column| {
        let run = results.runs.iter().find(|run| run.target == column.target);
        let not_run = results.not_run.iter().find(|not_run| not_run.target == column.target);
        let os = run.map(|run| run.os.as_str()).or(not_run.map(|not_run| not_run.os.as_str()));
        let backend = column.backend.as_deref().unwrap_or_default();
        let (note, kind) = match (&column.backend, absent.reason(&column.target, backend)) {
            (None, _) => (not_run.map(|not_run| not_run.reason.as_str()), Kind::NotRun),
            // In a report of one target, the absent backend is shown like any other.
            (Some(_), Some(reason)) if results.has_several_targets() => (Some(reason), Kind::Absent),
            (Some(_), _) => (None, Kind::HasCells),
        };
        let [target, backend] = [&column.target, backend].map(|text| strings.text(text));
        let [os, note] = [os, note].map(|text| strings.optional(text));
        (target, os, backend, note, kind)
    };
    grid.columns.iter().map(pack).collect()
}

fn about(id: &str, described: Option<&Scenario>, strings: &mut Table<String>) -> About {
    let text =
        |text: Option<&String>, strings: &mut Table<String>| strings.optional(text.map(String::as_str));
    About {
        id: strings.text(id),
        title: text(described.map(|scenario| &scenario.title), strings),
        clauses: described.map(|scenario| strings.texts(&scenario.clauses)).unwrap_or_default(),
        question: text(described.and_then(|scenario| scenario.question.as_ref()), strings),
        verbs: text(described.and_then(|scenario| scenario.verbs.as_ref()), strings),
        links: described
            .map(|scenario| {
                let pack = |link: &metadata::Link| (strings.text(&link.text), strings.text(&link.url));
                scenario.links.iter().map(pack).collect()
            })
            .unwrap_or_default(),
    }
}

fn packed_check(check: &Check, strings: &mut Table<String>) -> PackedCheck {
    let evidence = check.evidence.map(|evidence| evidence.letter());
    let more = [check.since.as_deref(), check.until.as_deref(), check.url.as_deref(), evidence];
    let [since, until, url, evidence] = more.map(|text| strings.optional(text));
    // Each poller is asked for the same states: names of both would be as many texts as there are pairs.
    let (poller, what) = match check.what.split_once(' ') {
        Some((poller, what)) if poller.contains('@') => (poller, what),
        _ => ("", check.what.as_str()),
    };
    PackedCheck(
        strings.text(poller),
        strings.text(what),
        (check.expected != [check.observed.as_str()]).then(|| strings.texts(&check.expected)),
        strings.text(&check.observed),
        strings.text(&check.source),
        check.holds.into(),
        since,
        until,
        url,
        evidence,
    )
}

fn packed_cell(
    cell: &CellResult,
    (row, column): (usize, usize),
    checks: usize,
    strings: &mut Table<String>,
) -> PackedCell {
    let (before, after, repeated) = match cell.reproducer.split_once(cell.id.as_str()) {
        Some((before, after)) => (before, after, 1),
        None => (cell.reproducer.as_str(), "", 0),
    };
    PackedCell(
        row,
        column,
        Status::ALL.iter().position(|status| *status == cell.status).expect("every status is in the list"),
        strings.text(cell.layer.name()),
        strings.optional(cell.reason.as_deref()),
        cell.attempts.passed,
        cell.attempts.total,
        strings.text(&cell.seed.map(|seed| seed.to_string()).unwrap_or_default()),
        Big(cell.duration_ms),
        strings.text(before),
        strings.text(after),
        repeated,
        checks,
        cell.counters.iter().map(|(name, value)| (strings.text(name), Big(*value))).collect(),
        strings.texts(shown_notes(cell)),
        strings.text(&cell.stderr),
        cell.checks.len() - shown_checks(cell).len(),
        cell.notes.len() - shown_notes(cell).len(),
    )
}
