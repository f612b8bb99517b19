//! From the names in a cell's id to the code that they stand for.

use std::collections::{BTreeMap, BTreeSet};

use matrix::Matrix;
use report::{CellResult, Check, Scenario};
use scenarios::{Outcome, Params, Verdict};

use crate::provenance::VERSION;
use crate::{backends, selftest};

/// Runs the cell of these names once in this process.
pub fn run(scenario: &str, variant: &str, backend: &str, seed: u64) -> (Verdict, Outcome) {
    let broken = |why: String| (Verdict::Broken(why), Outcome::default());
    let params: Params = match variant.parse() {
        Ok(params) => params,
        Err(error) => return broken(format!("{error}")),
    };
    if let Some(selftest) = selftest::find(scenario) {
        return selftest(seed);
    }
    let Some(scenario) = scenarios::find(scenario) else {
        return broken(format!("{scenario} is in the matrix but not in this pollmatrix's catalogue"));
    };
    let Some((name, make)) = backends::find(backend) else {
        let why = format!("{backend} is not built into this pollmatrix for {}", std::env::consts::OS);
        return (Verdict::Unsupported(why), Outcome::default());
    };
    scenarios::run(scenario, name, make, params, seed)
}

/// A scenario's check as reports hold it.
pub fn check(check: scenarios::Check) -> Check {
    Check {
        what: check.what,
        expected: check.expected,
        observed: check.observed,
        source: check.source,
        holds: check.holds,
        evidence: None,
        since: None,
        until: None,
        url: None,
    }
}

/// What the scenarios of these cells are about, by id. The catalogue knows more than the matrix, and not the self-tests.
pub fn describe(matrix: &Matrix, cells: &[CellResult]) -> BTreeMap<String, Scenario> {
    let ids: BTreeSet<_> = cells.iter().map(|cell| cell.scenario.as_str()).collect();
    let describe = |id: &str| {
        let scenario = matrix.scenario(id)?;
        let clauses = scenarios::find(id).map_or(&[] as &[_], |scenario| scenario.clauses);
        let described = Scenario {
            title: scenario.title.clone(),
            layer: scenario.layer.name().to_owned(),
            clauses: clauses.iter().map(|clause| (*clause).to_owned()).collect(),
            question: None,
            verbs: None,
            links: Vec::new(),
            pollmatrix: VERSION.to_owned(),
        };
        Some((id.to_owned(), described))
    };
    ids.into_iter().filter_map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BUILT_IN;

    #[test]
    fn every_variant_of_the_matrix_means_the_same_to_the_scenarios() {
        let matrix = Matrix::parse(BUILT_IN, "matrix.yml").expect("matrix.yml is well-formed");
        for cell in matrix.cells() {
            let params: Params = cell.id.variant.parse().expect("the scenarios know every variant");
            assert_eq!(params.transport.name(), cell.variant.transport.name());
            assert_eq!((params.threads, params.groups), (cell.variant.threads, cell.variant.groups));
            assert_eq!(params.to_string(), cell.variant.to_string());
        }
    }
}
