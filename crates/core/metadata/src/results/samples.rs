//! Sample runs and results for the tests of this crate and of others.

use std::collections::BTreeMap;

use super::attempt::Check;
use super::cell::{Attempts, CellResult, PlannedCell};
use super::cost::{Cost, CostOutcome};
use super::evidence::Evidence;
use super::file::{Results, Run};
use super::scenario::Scenario;
use super::seed::Seed;
use super::status::Status;
use crate::axes::{Layer, Mode, Transport};
use crate::variant::Variant;

/// Returns a native run of this target.
pub fn run(target: &str) -> Run {
    let text = || "text".to_owned();
    Run {
        pollmatrix: "1.2.3".to_owned(),
        commit: None,
        executable: format!("executable of {target}"),
        matrix: text(),
        selection: text(),
        target: target.to_owned(),
        runner: "native".to_owned(),
        emulator: None,
        triple: text(),
        os: "linux".to_owned(),
        kernel: "6.1".to_owned(),
        machine: text(),
        arch: text(),
        cpus: 1,
        libc: None,
        kqueue: None,
        adapters: BTreeMap::new(),
        columns: BTreeMap::new(),
        seed: Seed(1),
        repeat: 1,
        fault: None,
        inject_errors: None,
        late_data: None,
        started: text(),
        finished: text(),
        resumed: 0,
        interrupted: false,
    }
}

/// Returns a planned cell of the scenario `group/name`.
pub fn planned(target: &str, variant: &str, backend: &str) -> PlannedCell {
    PlannedCell {
        id: format!("group/name/{variant}@{backend}"),
        scenario: "group/name".into(),
        backend: backend.into(),
        target: target.into(),
        layer: Layer::Contract,
        params: Variant { transport: Transport::Tcp, trigger: Mode::Level, threads: 1, groups: 1 },
        command: "pollmatrix run".into(),
    }
}

/// Returns the description of a scenario.
pub fn scenario() -> Scenario {
    Scenario {
        title: "It holds".into(),
        layer: Layer::Contract,
        clauses: vec!["S3".into()],
        question: None,
        verbs: None,
        links: Vec::new(),
        pollmatrix: "1.2.3".into(),
    }
}

/// Returns a check that does not hold, with every field that a reader sees.
pub fn check() -> Check {
    Check {
        what: "the answer".into(),
        expected: vec!["42".into(), "forty-two".into()],
        observed: "41".into(),
        source: "poll(2)".into(),
        holds: false,
        evidence: Some(Evidence::Documented),
        since: Some("6.1".into()),
        until: Some("6.9".into()),
        url: Some("https://example.org/bug".into()),
        // For programs: the text of `what` contains the question.
        asked: None,
        varies: None,
        defect: None,
    }
}

/// Returns the result of a cell with this status, and with a reason unless it passes.
pub fn cell(target: &str, variant: &str, backend: &str, status: Status) -> CellResult {
    let mut cell =
        CellResult::without_attempt(planned(target, variant, backend), status, format!("why {status}"));
    if status == Status::Pass {
        cell.reason = None;
    }
    cell.attempts = Attempts { passed: u32::from(status == Status::Pass), total: 1 };
    cell
}

/// Returns the results of a run of `target` with these cells: variant, backend, status.
pub fn results(target: &str, cells: &[(&str, &str, Status)]) -> Results {
    let cells = cells.iter().map(|(variant, backend, status)| cell(target, variant, backend, *status));
    Results::new(run(target), Vec::new(), cells.collect())
}

/// Returns a cost of `wait-one`.
pub fn cost(poller: &str, descriptors: u64, outcome: CostOutcome) -> Cost {
    Cost {
        target: "x86_64-linux-gnu".into(),
        poller: poller.into(),
        operation: "wait-one".into(),
        mode: "level".into(),
        threads: 1,
        descriptors,
        outcome,
        calls: None,
        unbound: None,
    }
}
