//! Runs and rows for tests, of this crate and of others.

use super::attempt::Check;
use super::cell::{Attempts, CellResult, Subject};
use super::evidence::Evidence;
use super::file::{Results, Run};
use super::scenario::Scenario;
use super::seed::Seed;
use super::status::Status;
use crate::axes::{Layer, Mode, Transport};
use crate::variant::Variant;

/// A native run of this target.
pub fn run(target: &str) -> Run {
    let text = || "text".to_owned();
    Run {
        pollmatrix: "1.2.3".to_owned(),
        commit: None,
        executable: format!("executable of {target}"),
        matrix: text(),
        selection: text(),
        target: target.to_owned(),
        via: "native".to_owned(),
        emulator: None,
        triple: text(),
        os: "linux".to_owned(),
        kernel: "6.1".to_owned(),
        machine: text(),
        arch: text(),
        cpus: 1,
        libc: None,
        seed: Seed(1),
        repeat: 1,
        fault: None,
        inject_errors: None,
        started: text(),
        finished: text(),
        resumed: 0,
        interrupted: false,
    }
}

/// A cell of the scenario `group/name`.
pub fn subject(target: &str, variant: &str, backend: &str) -> Subject {
    Subject {
        id: format!("group/name/{variant}@{backend}"),
        scenario: "group/name".into(),
        backend: backend.into(),
        target: target.into(),
        layer: Layer::Contract,
        params: Variant { transport: Transport::Tcp, trigger: Mode::Level, threads: 1, groups: 1 },
        command: "pollmatrix run".into(),
    }
}

/// What a scenario is about.
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

/// A check that does not hold, with all that can be said of one.
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
        // For programs: people read it in `what`.
        asked: None,
        varies: None,
    }
}

/// A row with this status. Whatever is not a pass has a reason.
pub fn row(target: &str, variant: &str, backend: &str, status: Status) -> CellResult {
    let mut row =
        CellResult::without_attempt(subject(target, variant, backend), status, format!("why {status}"));
    if status == Status::Pass {
        row.reason = None;
    }
    row.attempts = Attempts { passed: u32::from(status == Status::Pass), total: 1 };
    row
}

/// The results of a run of `target` with these rows: variant, backend, status.
pub fn results(target: &str, rows: &[(&str, &str, Status)]) -> Results {
    let rows = rows.iter().map(|(variant, backend, status)| row(target, variant, backend, *status));
    Results::new(run(target), Vec::new(), rows.collect())
}
