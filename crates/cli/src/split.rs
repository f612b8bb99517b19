//! `pollmatrix plan`: splits the cells over several machines, for a CI or a cluster.

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

/// The file of recorded durations, relative to the root of the source tree.
const DURATIONS: &str = "crates/matrix/durations.json";

/// Prints the split, or records durations for later splits.
pub fn run(
    environment: &Environment,
    matrix: Option<&Path>,
    expectations: Option<&Path>,
    adapters: &[String],
    args: &PlanArgs,
) -> Result<ExitCode, Error> {
    let Some(of) = args.shards else { return record(args) };
    let source = Source::load(matrix, environment)?;
    let target = source.target_or_own(args.target.as_deref())?;
    let selection = args.selection.selection(environment);
    if args.format == PlanFormat::K8sJob {
        check(&source, &selection, of, adapters)?;
        let order = Order { source: &source, selection: &selection, of, target, expectations, adapters };
        // Unchanged: the output is for `kubectl`, and the manifest contains no invisible characters.
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

/// Checks that the selection contains cells. With adapters, checks prefixes only: the names and the cells of
/// the adapters are known in the image only.
fn check(source: &Source<'_>, selection: &Selection, of: usize, adapters: &[String]) -> Result<(), Error> {
    if adapters.is_empty() {
        return selection.split(&source.matrix, of).map(drop).map_err(Error::from);
    }
    let prefixes = Selection { prefixes: selection.prefixes.clone(), ..Selection::default() };
    prefixes.apply(&source.matrix).map(drop).map_err(Error::from)
}

/// Returns how long the cells take in sequence, in seconds. Cells of backends that the target lacks take no
/// time.
fn seconds(cells: &[Cell], matrix: &Matrix, target: &Target) -> f64 {
    let durations = Durations::built_in();
    let runs = |cell: &&Cell| {
        matrix.backend(&cell.id.backend).is_some_and(|backend| backend.exists_on(target.os.name()))
    };
    let milliseconds: u64 = cells.iter().filter(runs).map(|cell| durations.of(&cell.id.scenario)).sum();
    milliseconds as f64 / 1000.0
}

/// Records how long the cells of each scenario took, from the results of one or several runs.
fn record(args: &PlanArgs) -> Result<ExitCode, Error> {
    let root = match &args.root {
        Some(root) => root.clone(),
        None => generate::find_root()?,
    };
    let (matrix, _) = plan::read(&root.join("matrix.yml"))?;
    let mut cells = Vec::new();
    for path in &args.record {
        cells.extend(passed(path)?);
    }
    let newer = Durations::measured(cells.iter().map(|(scenario, time)| (scenario.as_str(), *time)));
    let path = root.join(DURATIONS);
    // A file that cannot be read is replaced.
    let older = std::fs::read_to_string(&path).ok();
    let older = older.and_then(|text| Durations::from_json(&text).ok()).unwrap_or_default();
    let updated = older.update(newer, matrix.scenarios.iter().map(|scenario| scenario.id.as_str()));
    output::write_file(&path, &updated.to_json())?;
    output::print(&format!(
        "wrote: {DURATIONS}, from {} cells; it takes effect with the next build\n",
        cells.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the scenario of each cell that passed, and the milliseconds of one attempt. The duration of a
/// failed cell is not representative.
fn passed(path: &Path) -> Result<Vec<(String, u64)>, Error> {
    let results = input::read(path)?;
    let cells =
        results.cells.into_iter().filter(|cell| cell.status == Status::Pass && cell.attempts.total > 0);
    let passed: Vec<_> =
        cells.map(|cell| (cell.scenario, cell.duration_ms / u64::from(cell.attempts.total))).collect();
    if passed.is_empty() { Err(Error::NothingToRecord(path.to_path_buf())) } else { Ok(passed) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metadata::Layer;

    use super::*;

    /// The test is here because the matrix crate does not know the scenarios.
    #[test]
    fn the_committed_durations_are_of_existing_scenarios() {
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
            assert!(2 * known > of_layer.len(), "most scenarios of the {layer} layer have no measurement");
        }
    }
}
