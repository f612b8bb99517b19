//! `pollmatrix plan`: the cells split over several machines, for engines that start machines.

use std::path::Path;
use std::process::ExitCode;

use matrix::{Cell, Durations, Matrix, Selection, Target};
use metadata::Status;
use runner::plan::{self, Source};
use runner::{Environment, output};
use serde_json::json;

use crate::args::{PlanArgs, PlanFormat};
use crate::error::Error;
use crate::kubernetes::{self, Order};
use crate::{generate, input};

/// Where durations are recorded, from the top of the source tree.
const DURATIONS: &str = "crates/matrix/durations.json";

/// Prints the split, or records durations for the splits to come.
pub fn run(
    environment: &Environment,
    matrix: Option<&Path>,
    expectations: Option<&Path>,
    subjects: &[String],
    args: &PlanArgs,
) -> Result<ExitCode, Error> {
    let Some(of) = args.shards else { return record(args) };
    let source = Source::load(matrix, environment)?;
    let target = source.target_or_own(args.target.as_deref())?;
    let selection = args.selection.selection(environment);
    if args.format == PlanFormat::K8sJob {
        check(&source, &selection, of, subjects)?;
        let order = Order { source: &source, selection: &selection, of, target, expectations, subjects };
        // Not for people alone: what is written to a file is as it is.
        output::print_styled(&kubernetes::manifest(&order, args)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let parts = selection.split(&source.matrix, of)?;
    let parts = parts.iter().zip(1..).map(|(cells, number)| {
        json!({
            "shard": number,
            "of": of,
            "cells": cells.len(),
            "seconds": seconds(cells, &source.matrix, target),
        })
    });
    let shards: Vec<_> = parts.collect();
    output::print(&match args.format {
        PlanFormat::Github => format!("matrix={}\n", json!({ "include": shards })),
        PlanFormat::Json | PlanFormat::K8sJob => metadata::json(&shards),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// That there is something to run. Subjects are in the image: what they are called, and which cells they have, is known there.
fn check(source: &Source<'_>, selection: &Selection, of: usize, subjects: &[String]) -> Result<(), Error> {
    if subjects.is_empty() {
        return selection.split(&source.matrix, of).map(drop).map_err(Error::from);
    }
    let prefixes = Selection { prefixes: selection.prefixes.clone(), ..Selection::default() };
    prefixes.apply(&source.matrix).map(drop).map_err(Error::from)
}

/// How long the cells take, one by one. Those of backends that the target does not have take no time.
fn seconds(cells: &[Cell], matrix: &Matrix, target: &Target) -> f64 {
    let durations = Durations::built_in();
    let runs = |cell: &&Cell| {
        matrix.backend(&cell.id.backend).is_some_and(|backend| backend.exists_on(target.os.name()))
    };
    let milliseconds: u64 = cells.iter().filter(runs).map(|cell| durations.of(&cell.id.scenario)).sum();
    milliseconds as f64 / 1000.0
}

/// Records how long the cells of each scenario took, from results of one or several runs.
fn record(args: &PlanArgs) -> Result<ExitCode, Error> {
    let root = match &args.root {
        Some(root) => root.clone(),
        None => generate::find_root()?,
    };
    let (matrix, _) = plan::read(&root.join("matrix.yml"))?;
    let mut rows = Vec::new();
    for path in &args.record {
        rows.extend(passed(path)?);
    }
    let newer = Durations::measured(rows.iter().map(|(scenario, time)| (scenario.as_str(), *time)));
    let path = root.join(DURATIONS);
    // What cannot be read is written anew.
    let older = std::fs::read_to_string(&path).ok();
    let older = older.and_then(|text| Durations::from_json(&text).ok()).unwrap_or_default();
    let updated = older.update(newer, matrix.scenarios.iter().map(|scenario| scenario.id.as_str()));
    output::write_file(&path, &updated.to_json())?;
    output::print(&format!(
        "wrote: {DURATIONS}, from {} cells; they count from the next build on\n",
        rows.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The scenario of each cell that passed, and the milliseconds of one attempt. What failed may have taken any time.
fn passed(path: &Path) -> Result<Vec<(String, u64)>, Error> {
    let results = input::read(path)?;
    let cells =
        results.cells.into_iter().filter(|cell| cell.status == Status::Pass && cell.attempts.total > 0);
    let rows: Vec<_> =
        cells.map(|cell| (cell.scenario, cell.duration_ms / u64::from(cell.attempts.total))).collect();
    if rows.is_empty() { Err(Error::NothingToRecord(path.to_path_buf())) } else { Ok(rows) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metadata::Layer;

    use super::*;

    /// Contract scenarios and rows: the matrix crate knows no rows, but what is recorded has both.
    #[test]
    fn the_committed_durations_are_of_scenarios_that_exist() {
        let environment = Environment::default();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        let scenarios: BTreeSet<_> = matrix.scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
        let durations = Durations::built_in();
        let measured: BTreeSet<_> = durations.scenarios().collect();
        let unknown: Vec<_> = measured.difference(&scenarios).collect();
        assert!(unknown.is_empty(), "record again: {unknown:?}");
        for layer in [Layer::Contract, Layer::Characterisation] {
            let of_layer: Vec<_> =
                matrix.scenarios.iter().filter(|scenario| scenario.layer == layer).collect();
            let known = of_layer.iter().filter(|scenario| measured.contains(scenario.id.as_str())).count();
            assert!(2 * known > of_layer.len(), "most scenarios of the {layer} layer were never measured");
        }
    }
}
