//! The pages of systems: one per version, and one with all versions of a system.

use std::collections::BTreeSet;

use metadata::{Os, Results, Run};
use report::Grid;
use report::html::provenance;
use serde::Serialize;

use super::{Builder, File, Kind, Part, parts};
use crate::model::{Place, Row, System, proper_name};
use crate::paths;

#[derive(Serialize)]
struct Content<'a> {
    name: &'a str,
    os: OsLink,
    measured: usize,
    with_answers: usize,
    differing: usize,
    runs: Vec<RunPart<'a>>,
    rows: Vec<Line<'a>>,
    divergences: Vec<&'a report::html::catalogue::Divergence>,
}

#[derive(Serialize)]
struct OsLink {
    file: String,
    name: &'static str,
}

#[derive(Serialize)]
struct RunPart<'a> {
    target: &'a str,
    headline: String,
    entries: Vec<(&'static str, String)>,
    pollers: Vec<PollerPart>,
}

#[derive(Serialize)]
struct PollerPart {
    name: String,
    path: String,
    tally: Vec<Part>,
    /// The page with the answers as Markdown.
    answers: Option<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    path: String,
    title: &'a str,
    measured: usize,
    hypotheses: usize,
    differing: usize,
}

pub(super) fn pages(builder: &Builder<'_>) -> Vec<File> {
    let texts = report::pages(builder.input.of_kernels);
    let answers: BTreeSet<_> = texts.iter().map(|page| page.path.clone()).collect();
    let one = |(index, system): (usize, &System<'_>)| version(builder, index, system, &answers);
    let mut files: Vec<_> = builder.model.systems.iter().enumerate().map(one).collect();
    let mut all: BTreeSet<Os> = builder.model.systems.iter().map(|system| system.os).collect();
    all.extend(builder.model.rows.iter().flat_map(Row::places).filter_map(|place| match place {
        Place::Unmeasured(os, _) => Some(*os),
        Place::System(_) => None,
    }));
    files.extend(all.into_iter().map(|os| all_versions(builder, os)));
    files.extend(texts.into_iter().map(|page| File { path: paths::answers(&page.path), text: page.text }));
    files
}

fn version(builder: &Builder<'_>, index: usize, system: &System<'_>, answers: &BTreeSet<String>) -> File {
    let place = Place::System(index);
    let line = |row: &Row<'_>| {
        let here = |measured: bool| {
            let all = row.of_kernels().flat_map(|question| &question.answers);
            all.filter(|answer| answer.place == place && answer.measured == measured).count()
        };
        let differing = row.of_kernels().filter(|question| question.differs_at(&place)).count();
        (here(true), here(false), differing)
    };
    let rows = builder.model.rows.iter().filter_map(|row| {
        let (measured, hypotheses, differing) = line(row);
        let about = row.about;
        (measured + hypotheses > 0).then(|| Line {
            id: &about.id,
            path: paths::row(&about.id),
            title: &about.title,
            measured,
            hypotheses,
            differing,
        })
    });
    let rows: Vec<_> = rows.collect();
    let known = builder.input.divergences.iter().zip(&builder.input.catalogue.divergences);
    let here =
        known.filter(|(known, _)| known.os == system.os && known.range.contains(Some(&system.version)));
    let content = Content {
        name: &system.name,
        os: OsLink { file: format!("{}.html", system.os), name: proper_name(system.os) },
        measured: rows.iter().map(|row| row.measured).sum(),
        with_answers: rows.len(),
        differing: rows.iter().filter(|row| row.differing > 0).count(),
        runs: system.runs.iter().map(|run| about_run(builder.input.results, run, answers)).collect(),
        divergences: here.map(|(_, shown)| shown).collect(),
        rows,
    };
    let description = format!(
        "What the pollers of {} answer: {} measured answers about {} behaviours.",
        system.name, content.measured, content.with_answers
    );
    let kind = Kind::plain(include_str!("../templates/system.html"));
    builder.page(&kind, system.path.clone(), &system.name, &description, content)
}

fn about_run<'a>(results: &Results, run: &'a Run, answers: &BTreeSet<String>) -> RunPart<'a> {
    let cells = results.cells.iter().filter(|cell| cell.target == run.target);
    let grid = Grid::new(cells.collect::<Vec<_>>().into_iter(), |_| "");
    let tallies = grid.rows.first().map(|(_, tallies)| tallies.as_slice()).unwrap_or_default();
    let poller = |(column, tally): (&report::Column, &report::Tally)| {
        let name = column.backend.clone().unwrap_or_default();
        let page = format!("{}/{name}.md", run.target);
        PollerPart {
            path: paths::poller(&name),
            tally: parts(tally),
            answers: answers.contains(&page).then(|| paths::answers(&page)),
            name,
        }
    };
    RunPart {
        target: &run.target,
        headline: report::html::headline(run),
        entries: provenance(run),
        pollers: grid.columns.iter().zip(tallies).map(poller).collect(),
    }
}

#[derive(Serialize)]
struct Versions<'a> {
    name: &'static str,
    versions: Vec<VersionLink<'a>>,
    rows: Vec<RowLink<'a>>,
}

#[derive(Serialize)]
struct VersionLink<'a> {
    name: &'a str,
    path: &'a str,
}

#[derive(Serialize)]
struct RowLink<'a> {
    id: &'a str,
    path: String,
    title: &'a str,
}

fn all_versions(builder: &Builder<'_>, os: Os) -> File {
    let systems = builder.model.systems.iter().filter(|system| system.os == os);
    let versions: Vec<_> =
        systems.map(|system| VersionLink { name: &system.name, path: &system.path }).collect();
    let is_here = |row: &&Row<'_>| {
        row.places().iter().any(|place| matches!(place, Place::Unmeasured(of, _) if *of == os))
    };
    let rows = builder.model.rows.iter().filter(is_here).map(|row| RowLink {
        id: &row.about.id,
        path: paths::row(&row.about.id),
        title: &row.about.title,
    });
    let name = proper_name(os);
    let description = format!("What the pollers of {name} answer: the versions with measured answers.");
    let content = Versions { name, versions, rows: rows.collect() };
    let kind = Kind::plain(include_str!("../templates/os.html"));
    builder.page(&kind, paths::all_versions(os), name, &description, content)
}
