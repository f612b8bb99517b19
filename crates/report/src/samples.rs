//! Runs and rows for the tests of this crate.

use serde_json::Value;

use crate::attempt::Check;
use crate::cell::{Attempts, CellResult, Subject, VariantParams};
use crate::evidence::Evidence;
use crate::merge::{Input, Rules, merge};
use crate::results::{NotRun, Results, Run};
use crate::scenario::{Link, Scenario};
use crate::seed::Seed;
use crate::status::Status::{self, Fail, Pass, Unsupported};

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
        layer: "contract".into(),
        params: VariantParams { transport: "tcp".into(), trigger: "level".into(), threads: 1, groups: 1 },
        command: "pollmatrix run".into(),
    }
}

/// What a scenario is about.
pub fn scenario() -> Scenario {
    Scenario {
        title: "It holds".into(),
        layer: "contract".into(),
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

/// Results of two targets and of one that was not run, with something to say everywhere.
pub fn merged() -> Results {
    let rows = [("a", "epoll", Pass), ("a", "kqueue", Unsupported), ("a", "poll", Fail), ("b", "poll", Pass)];
    let inputs = ["one", "two"].map(|target| Input { name: target.into(), results: results(target, &rows) });
    let mut results = merge(inputs.into(), Rules::default()).unwrap().results;
    let reason = "no machine".into();
    results.not_run.push(NotRun { target: "bsd".into(), os: "freebsd".into(), reason });
    let links = vec![Link { text: "a page".into(), url: "https://example.org".into() }];
    let described =
        Scenario { question: Some("why?".into()), verbs: Some("pair write".into()), links, ..scenario() };
    results.scenarios.insert("group/name".into(), described);
    results.cells[0].checks = vec![check()];
    results.cells[0].counters = [("many".to_owned(), u64::MAX), ("few".to_owned(), 3)].into();
    results.cells[0].notes = vec!["a note".into()];
    results.cells[0].stderr = "an error".into();
    results
}

/// Makes every text hostile, each in its own way: what it was stays in front.
pub fn poison(value: &mut Value, hostile: &str, poisoned: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| poison(value, hostile, poisoned)),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                // Not texts, but one of a few words.
                if !["status", "seed", "evidence"].contains(&name.as_str()) {
                    poison(value, hostile, poisoned);
                }
            }
            for name in ["counters", "scenarios"] {
                if let Some(Value::Object(entries)) = fields.get_mut(name) {
                    let names = std::mem::take(entries).into_iter();
                    *entries = names.map(|(key, value)| (format!("{key}{hostile}"), value)).collect();
                    poisoned.extend(entries.keys().cloned());
                }
            }
            // An id has parts that stand beside it.
            if let (Some(id), Some(scenario), Some(backend)) =
                (fields.get("id"), fields.get("scenario"), fields.get("backend"))
            {
                let [id, scenario, backend] = [id, scenario, backend].map(|text| text.as_str().unwrap());
                let id = format!("{scenario}/{id}@{backend}");
                poisoned.retain(|text| !text.starts_with("group/name/"));
                fields.insert("id".into(), id.into());
            }
        }
        Value::String(text) => {
            text.push_str(hostile);
            poisoned.push(text.clone());
        }
        _ => {}
    }
}
