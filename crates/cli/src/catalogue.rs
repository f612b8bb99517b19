//! From a cell to the code that it stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use matrix::{Cell, Matrix};
use metadata::{CellResult, Check, Link, Scenario, Status};
use scenarios::{Outcome, Verdict};

use crate::error::Error;
use crate::provenance::VERSION;
use crate::{backends, rows, selftest};

/// What a run of a cell came to.
#[derive(Debug)]
pub struct Ran {
    pub status: Status,
    /// Why it is no pass.
    pub reason: Option<String>,
    pub checks: Vec<Check>,
    pub counters: BTreeMap<String, u64>,
    pub notes: Vec<String>,
}

impl Default for Ran {
    /// A pass that says nothing.
    fn default() -> Self {
        let (checks, counters, notes) = Default::default();
        Self { status: Status::Pass, reason: None, checks, counters, notes }
    }
}

/// Runs the cell once in this process. A row waits with this patience for what must come; the scenarios of the core have
/// their own.
pub fn run(cell: &Cell, seed: u64, patience: Duration) -> Result<Ran, Error> {
    let (scenario, backend) = (cell.id.scenario.as_str(), cell.id.backend.as_str());
    if let Some(selftest) = selftest::find(scenario) {
        return Ok(selftest(seed).into());
    }
    let missing = || {
        let why = format!("{backend} is not built into this pollmatrix for {}", std::env::consts::OS);
        Ok(Ran { status: Status::Unsupported, reason: Some(why), ..Ran::default() })
    };
    if let Some(row) = rows::find(scenario) {
        let poller = backends::pollers().find(|poller| poller.name == backend);
        return poller.map_or_else(missing, |poller| rows::run(row, cell.variant, poller, seed, patience));
    }
    let Some(backend) = backends::find(backend) else { return missing() };
    let broken = |why: String| Ran { status: Status::Broken, reason: Some(why), ..Ran::default() };
    let Some(scenario) = scenarios::find(scenario) else {
        return Ok(broken(format!("{scenario} is in the matrix but not in this pollmatrix's catalogue")));
    };
    Ok(scenarios::run(scenario, backend.name, backend.core, cell.variant, seed).into())
}

impl From<(Verdict, Outcome)> for Ran {
    fn from((verdict, outcome): (Verdict, Outcome)) -> Self {
        let (status, reason) = match verdict {
            Verdict::Pass => (Status::Pass, None),
            Verdict::Fail(what) => (Status::Fail, Some(what)),
            Verdict::Unsupported(reason) => (Status::Unsupported, Some(reason)),
            Verdict::Broken(reason) => (Status::Broken, Some(reason)),
        };
        Self { status, reason, checks: outcome.checks, counters: outcome.counters, notes: outcome.notes }
    }
}

/// What the scenarios of these cells are about, by id. The catalogue knows more than the matrix, and not the self-tests.
pub fn describe(matrix: &Matrix, cells: &[CellResult]) -> BTreeMap<String, Scenario> {
    let ids: BTreeSet<_> = cells.iter().map(|cell| cell.scenario.as_str()).collect();
    let describe = |id: &str| {
        let scenario = matrix.scenario(id)?;
        let row = rows::find(id);
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
    use metadata::Layer;

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
    fn every_row_is_run_over_all_that_it_names() {
        let matrix = Source::load(None).expect("matrix.yml is well-formed").matrix;
        for row in characterisation::rows() {
            let scenario =
                matrix.scenario(row.id).unwrap_or_else(|| panic!("matrix.yml does not name {}", row.id));
            assert_eq!(scenario.axes.transports, row.transports, "{}", row.id);
            assert_eq!(scenario.axes.triggers, row.modes, "{}", row.id);
            assert_eq!(scenario.layer, Layer::Characterisation, "{}", row.id);
        }
    }
}
