//! Merged results and hostile texts for the tests of this crate, in addition to the samples of `metadata`.

use metadata::Status::{Fail, Pass, Unsupported};
pub use metadata::samples::{cell, check, cost, planned, results, run, scenario};
use metadata::{Act, Calls, Cost, CostOutcome, Event, Lane, Link, NotRun, Results, Scenario, Timeline};
use serde_json::Value;

use crate::merge::{Input, Rules, merge};

/// Returns the merged results of several runs.
pub fn merged_of(runs: impl IntoIterator<Item = Results>) -> Results {
    let input = |results: Results| Input { name: results.runs[0].target.clone(), results };
    merge(runs.into_iter().map(input).collect(), Rules::default()).unwrap().results
}

/// Returns a target that was not run.
pub fn not_run(target: &str) -> NotRun {
    NotRun { target: target.into(), os: "freebsd".into(), reason: "no machine".into() }
}

/// Returns the results of two targets and one that was not run, with every field filled.
pub fn merged() -> Results {
    let rows = [("a", "epoll", Pass), ("a", "kqueue", Unsupported), ("a", "poll", Fail), ("b", "poll", Pass)];
    let mut results = merged_of(["one", "two"].map(|target| results(target, &rows)));
    results.not_run.push(not_run("bsd"));
    let links = vec![Link { text: "a page".into(), url: "https://example.org".into() }];
    let described =
        Scenario { question: Some("why?".into()), verbs: Some("pair write".into()), links, ..scenario() };
    results.scenarios.insert("group/name".into(), described);
    results.cells[0].checks = vec![check()];
    results.cells[0].counters = [("many".to_owned(), u64::MAX), ("few".to_owned(), 3)].into();
    results.cells[0].notes = vec!["a note".into()];
    results.cells[0].stderr = "an error".into();
    results.cells[0].timeline = Some(timeline());
    results
}

/// Returns a takeover that a report is held for, on three lanes.
pub fn timeline() -> Timeline {
    let lane = |name: &str, dropped| Lane { name: name.into(), dropped };
    let event = |ns, lane, act, fd, detail: Option<&str>, times| Event {
        ns,
        lane,
        act,
        fd,
        detail: detail.map(Into::into),
        times,
    };
    Timeline {
        lanes: vec![lane("main", 0), lane("worker 1/0", 7), lane("worker 1/1", 0)],
        events: vec![
            event(1_000, 1, Act::Wait, None, None, 1),
            event(1_500, 0, Act::Wake, None, Some("1/1"), 1),
            event(2_000, 1, Act::Awake, None, None, 12),
            event(2_300, 1, Act::Event, Some(9), None, 1),
            event(2_400, 1, Act::Held, Some(9), Some("ReportBeforeRunning"), 1),
            event(5_000, 2, Act::Begin, None, Some("takes"), 1),
            event(5_100, 2, Act::TakeOver, Some(9), None, 1),
            event(5_200, 2, Act::Done, None, Some("takes = Ok(())"), 1),
            event(8_000, 1, Act::Released, Some(9), Some("ReportBeforeRunning"), 1),
            event(8_050, 1, Act::Wait, None, None, 1),
            event(9_000, 0, Act::Wrong, None, Some("the thread that reports"), 1),
        ],
    }
}

/// Returns the outcome of a measurement with this interval.
pub fn measured(low: f64, ratio: f64, high: f64) -> CostOutcome {
    CostOutcome::Measured { ratio, low, high, nanoseconds: ratio * 100.0, floor: 100.0, pairs: 15 }
}

/// Returns these numbers of system calls.
pub fn counted(calls: &[(&str, f64)]) -> Option<Calls> {
    let by_name = calls.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
    Some(Calls::Counted { total: calls.iter().map(|(_, number)| number).sum(), by_name })
}

/// Returns results with these costs, and without runs.
pub fn with_costs(costs: Vec<Cost>) -> Results {
    Results { costs, ..Results::of_no_run(Vec::new()) }
}

/// Appends `hostile` to every text and key, and collects the changed texts in `poisoned`.
pub fn poison(value: &mut Value, hostile: &str, poisoned: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| poison(value, hostile, poisoned)),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                // These fields hold one of a fixed set of names.
                if !["act", "status", "seed", "evidence", "layer", "transport", "trigger"]
                    .contains(&name.as_str())
                {
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
            // The id must match the scenario and the backend.
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
