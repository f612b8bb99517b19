//! From a cell to the code that it stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use matrix::{Cell, Matrix};
use metadata::{CellResult, Description, Link, Scenario, Status};

use crate::environment::Environment;
use crate::error::Error;
use crate::provenance::VERSION;
use crate::ran::Ran;
use crate::{backends, rows, selftest};

/// Every scenario that a matrix file can name: those of the core, the rows of the characterisation, and the self-tests.
pub fn descriptions() -> Vec<Description> {
    let of_the_core = scenarios::catalogue().map(scenarios::Scenario::description);
    let rows = characterisation::rows().map(characterisation::Behaviour::description);
    of_the_core.chain(rows).chain(selftest::descriptions()).collect()
}

/// Runs the cell once in this process. A row waits with this patience for what must come; the scenarios of the core have
/// their own.
///
/// # Errors
/// The expectations that are built in are wrong.
pub fn run(cell: &Cell, environment: &Environment, seed: u64, patience: Duration) -> Result<Ran, Error> {
    let (scenario, backend) = (cell.id.scenario.as_str(), cell.id.backend.as_str());
    if let Some(selftest) = selftest::find(scenario) {
        return Ok(selftest(seed).into());
    }
    let missing = || {
        let why = format!("{backend} is not built into this pollmatrix for {}", std::env::consts::OS);
        Ok(Ran { status: Status::Unsupported, reason: Some(why), ..Ran::default() })
    };
    if let Some(row) = characterisation::find(scenario) {
        let poller = environment.pollers().find(|poller| poller.name == backend);
        return poller.map_or_else(missing, |poller| {
            rows::run(row, cell.variant, poller, environment, seed, patience)
        });
    }
    let Some(backend) = backends::find(backend) else { return missing() };
    let broken = |why: String| Ran { status: Status::Broken, reason: Some(why), ..Ran::default() };
    let Some(scenario) = scenarios::find(scenario) else {
        return Ok(broken(format!("{scenario} is in the matrix but not in this pollmatrix's catalogue")));
    };
    Ok(scenarios::run(scenario, backend.name, backend.core, cell.variant, seed).into())
}

/// What the scenarios of these cells are about, by id. The catalogue knows more than the matrix, and not the self-tests.
pub fn describe(matrix: &Matrix, cells: &[CellResult]) -> BTreeMap<String, Scenario> {
    let ids: BTreeSet<_> = cells.iter().map(|cell| cell.scenario.as_str()).collect();
    let describe = |id: &str| {
        let scenario = matrix.scenario(id)?;
        let row = characterisation::find(id);
        let clauses = match row {
            Some(row) => vec![row.row.to_owned()],
            None => scenarios::find(id)
                .map(|scenario| scenario.clauses.iter().map(|clause| (*clause).to_owned()).collect())
                .unwrap_or_default(),
        };
        let bugs = row.map_or(&[][..], |row| row.bugs).iter();
        let described = Scenario {
            title: scenario.title.clone(),
            layer: scenario.layer,
            clauses,
            question: row.map(|row| row.question.to_owned()),
            verbs: row.map(|row| row.verbs.to_owned()),
            links: bugs.map(|url| Link { text: short(url), url: (*url).to_owned() }).collect(),
            pollmatrix: VERSION.to_owned(),
        };
        Some((id.to_owned(), described))
    };
    ids.into_iter().filter_map(describe).collect()
}

/// `tokio-rs/mio#1893` for the address of an issue or a pull request; any other address as it is.
pub fn short(url: &str) -> String {
    let Some(path) = url.strip_prefix("https://github.com/") else { return url.to_owned() };
    match path.split('/').collect::<Vec<_>>().as_slice() {
        [owner, name, "issues" | "pull", number] => format!("{owner}/{name}#{number}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metadata::Layer;

    use super::descriptions;
    use crate::environment::Environment;
    use crate::plan::Source;

    #[test]
    fn what_contract_scenarios_ask_in_place_of_lines_is_there() {
        for excused in characterisation::unscripted() {
            for id in excused.contract {
                assert!(scenarios::find(id).is_some(), "{}: there is no scenario {id}", excused.what);
            }
        }
    }

    #[test]
    fn every_scenario_but_the_self_tests_is_run_over_all_that_its_file_says() {
        let environment = Environment::default();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        for description in descriptions() {
            let run = matrix.scenario(description.id);
            if description.id.starts_with("selftest/") {
                assert!(run.is_none(), "{} is in matrix.yml", description.id);
                continue;
            }
            let run = run.unwrap_or_else(|| panic!("no entry of matrix.yml means {}", description.id));
            assert!(run.variants.iter().copied().eq(description.axes.variants()), "{}", description.id);
        }
    }

    #[test]
    fn the_matrix_has_the_size_it_is_meant_to_have_and_every_id_once() {
        let environment = Environment::default();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        let cells = matrix.cells();
        let contract = cells.iter().filter(|cell| cell.layer == Layer::Contract);
        let linux = contract.filter(|cell| cell.id.backend != "kqueue").count();
        // A run is to take minutes; a mistake in an axis multiplies.
        assert!((400..=2000).contains(&linux), "{linux} cells on Linux");
        let ids: BTreeSet<_> = cells.iter().map(|cell| &cell.id).collect();
        assert_eq!(ids.len(), cells.len());
    }
}
