//! `pollmatrix cost`: measures what operations cost. No test here says anything about times.

use std::fs;
use std::process::Command;

use metadata::{CostOutcome, Results, samples};
use nix::sys::signal::Signal;
use serde_json::Value;
use subjects::testing::lacks;
use tempfile::TempDir;

use crate::sandbox::{Answer, POLLMATRIX, answer, eventually, signal};

/// The smallest effort, and every interval is a figure.
const LITTLE: [&str; 4] = ["--pairs", "7", "--noise", "1000000000"];

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(POLLMATRIX);
    command.args(arguments).current_dir(folder.path());
    command
}

fn cost(folder: &TempDir, arguments: &[&str]) -> Answer {
    answer(&mut command(folder, &[&["cost"], &LITTLE[..], arguments].concat()))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

fn results(folder: &TempDir) -> Results {
    let text =
        fs::read(folder.path().join("pollmatrix-cost-report/results.json")).expect("there are results");
    Results::read(&text).expect("they can be read")
}

const SMALL: [&str; 10] = [
    "--backend",
    "poll",
    "--backend",
    "select",
    "--trigger",
    "level",
    "--descriptors",
    "8",
    "--threads",
    "1,2",
];

#[test]
fn every_operation_is_measured_drawn_and_listed() {
    let folder = folder();
    let measured = cost(&folder, &SMALL);
    measured.expect(0, &["Wait, one descriptor is ready: level-triggered, 1 thread", "costs: ", "Report: "]);
    let results = results(&folder);
    // 8 operations, 2 numbers of threads, 2 pollers.
    assert_eq!(results.costs.len(), 8 * 2 * 2);
    assert!(results.cells.is_empty());
    for cost in &results.costs {
        let is_single = cost.operation.is_of_pairs() && cost.threads == 1;
        let expected = if is_single { "unsupported" } else { "measured" };
        assert_eq!(cost.outcome.status(), expected, "{cost:?}");
        if let Some(figure) = cost.figure() {
            assert_eq!(figure.pairs, 7);
            assert!(figure.nanoseconds > 0.0 && figure.floor_nanoseconds > 0.0, "{cost:?}");
        }
    }
    let charts = folder.path().join("pollmatrix-cost-report/charts");
    // Those of pairs of threads have no chart of one thread.
    assert_eq!(fs::read_dir(&charts).unwrap().count(), 8 + 6);
    let svg = fs::read_to_string(charts.join("wait-all-level-2t.svg")).unwrap();
    assert!(svg.contains("line-1") && svg.contains("line-2") && svg.contains("<style>"), "{svg}");
    let page = fs::read_to_string(folder.path().join("pollmatrix-cost-report/report.html")).unwrap();
    assert_eq!(page.matches("<svg class=\"curves\"").count(), 8 + 6);
    let text = fs::read_to_string(folder.path().join("pollmatrix-cost-report/report.md")).unwrap();
    assert!(text.contains("| descriptors | poll | select |"), "{text}");

    // A report of costs can be merged and compared like any other.
    let again = answer(&mut command(&folder, &["merge", "pollmatrix-cost-report", "--report-dir", "merged"]));
    again.expect(0, &["costs: "]);
    let same = ["diff", "pollmatrix-cost-report", "merged", "--fail-on", "cost:1.0"];
    answer(&mut command(&folder, &same))
        .expect(0, &["costs: 0 grew, 0 fell, 28 within their intervals, 0 without"]);
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[test]
fn system_calls_of_operations_are_counted() {
    let folder = folder();
    let of = [
        "--backend",
        "epoll",
        "--backend",
        "poll",
        "--trigger",
        "level",
        "--descriptors",
        "8",
        "--threads",
        "1",
    ];
    cost(&folder, &of).expect(0, &[]);
    let results = results(&folder);
    let calls = |id: &str| {
        let cost = results.costs.iter().find(|cost| cost.id == id).unwrap_or_else(|| panic!("no {id}"));
        cost.figure().unwrap_or_else(|| panic!("{cost:?}")).system_calls
    };
    if calls("register/level-8d-1t@epoll").is_none() {
        // A sandbox without ptrace(2).
        runner::output::print_in_test("this machine cannot trace system calls");
        return;
    }
    let expected = [
        ("register", 1.0, 0.0),
        ("modify", 1.0, 0.0),
        ("remove", 1.0, 0.0),
        ("wait-one", 1.0, 1.0),
        ("wait-all", 1.0, 1.0),
        ("close", 2.0, 1.0),
    ];
    for (operation, epoll, poll) in expected {
        let both = ["epoll", "poll"].map(|poller| calls(&format!("{operation}/level-8d-1t@{poller}")));
        assert_eq!(both, [Some(epoll), Some(poll)], "{operation}");
    }
}

#[test]
fn what_cannot_be_measured_is_named_with_its_reason() {
    let folder = folder();
    let few = ["--operation", "wait-one", "--trigger", "edge", "--trigger", "level", "--threads", "1"];
    let arguments = [&few[..], &["--backend", "select", "--descriptors", "4,1000000,5000"]].concat();
    cost(&folder, &arguments).expect(0, &["select has no edge trigger", "n/a"]);
    let results = results(&folder);
    let reason = |id: &str| results.costs.iter().find(|cost| cost.id == id).unwrap().outcome.reason();
    assert_eq!(reason("wait-one/level-4d-1t@select"), None);
    for number in [5000, 1_000_000] {
        let beyond = reason(&format!("wait-one/level-{number}d-1t@select")).unwrap();
        // A low limit of descriptors is met before that of the sets.
        assert!(beyond.contains("FD_SETSIZE") || beyond.contains("ulimit"), "{beyond}");
    }
}

#[test]
fn a_program_is_not_measured_because_it_answers_over_a_pipe() {
    const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/python/adapter.py");
    let folder = folder();
    let adapter = format!("python3 {ADAPTER} poll");
    let arguments =
        ["--subject", adapter.as_str(), "--operation", "close", "--threads", "1", "--descriptors", "4"];
    if lacks("python3") {
        return;
    }
    cost(&folder, &arguments).expect(0, &["its cost would be that of the pipe"]);
    assert!(results(&folder).costs.iter().all(|cost| cost.outcome.status() == "unsupported"));
}

#[test]
fn wrong_names_are_refused_with_the_nearest_one() {
    let folder = folder();
    let refused = |arguments: &[&str], expected: &[&str]| {
        answer(&mut command(&folder, &[&["cost"], arguments].concat())).expect(2, expected);
    };
    refused(&["--operation", "wait-on"], &["did you mean 'wait-one'?"]);
    refused(&["--backend", "pol"], &["did you mean 'poll'?"]);
    refused(&["--trigger", "oneshot"], &["use level or edge"]);
    refused(&["--descriptors", "1"], &["2..=1000000"]);
    refused(&["--noise", "0"], &["write a number greater than 0: 10"]);
    let diff = answer(&mut command(&folder, &["diff", "a", "b", "--fail-on", "cost:0.5"]));
    diff.expect(2, &["write cost:FACTOR with a number from 1: cost:1.2"]);
    let diff = answer(&mut command(&folder, &["diff", "a", "b", "--fail-on", "regresion"]));
    diff.expect(2, &["did you mean 'regression'?"]);
}

#[test]
fn noise_is_said_in_place_of_a_figure() {
    let folder = folder();
    // No interval of real samples is so narrow.
    let one = [
        "--backend",
        "poll",
        "--operation",
        "close",
        "--threads",
        "1",
        "--descriptors",
        "4",
        "--trigger",
        "level",
    ];
    let arguments = [&["cost", "--pairs", "7", "--noise", "0.0000001"], &one[..]].concat();
    answer(&mut command(&folder, &arguments)).expect(1, &["noise", "repeat on a quiet machine"]);
    let results = results(&folder);
    assert!(matches!(results.costs[0].outcome, CostOutcome::Noise { .. }), "{results:?}");
}

/// Writes results with these ratios for 10 and 100 descriptors, and intervals of 10 % on both sides.
fn write(folder: &TempDir, name: &str, ratios: [f64; 2]) {
    let mut results = samples::results("here", &[]);
    let costs = [10, 100].into_iter().zip(ratios);
    results.costs = costs.map(|(n, ratio)| samples::cost("epoll", n, samples::measured(ratio))).collect();
    fs::write(folder.path().join(name), results.to_json()).expect("the folder is writable");
}

#[test]
fn a_comparison_fails_with_a_cost_that_grew_by_more_than_the_factor() {
    let folder = folder();
    write(&folder, "old.json", [2.0, 2.0]);
    write(&folder, "new.json", [3.0, 2.1]);
    let mut none = samples::results("here", &[]);
    none.costs = Vec::new();
    fs::write(folder.path().join("none.json"), none.to_json()).unwrap();
    let diff = |new: &str, fail_on: &str| {
        answer(&mut command(&folder, &["diff", "old.json", new, "--fail-on", fail_on]))
    };
    // It grew from at most 2.2 to at least 2.7: 1.227 times.
    let grew = "wait-one/level-10d-1t@epoll on here grew at least 1.23 times";
    let expected = ["Costs that grew: 1", "costs: 1 grew, 0 fell, 1 within their intervals", grew];
    diff("new.json", "cost:1.2").expect(1, &expected);
    diff("new.json", "cost:1.3").expect(0, &["Costs that grew: 1"]);
    diff("new.json", "any").expect(0, &[]);
    diff("old.json", "cost:1").expect(0, &["costs: 0 grew"]);
    // A comparison that sees nothing does not pass.
    diff("none.json", "cost:1.2").expect(1, &["Costs without a figure now: 2", "no operation has"]);
    let json = answer(&mut command(&folder, &["diff", "old.json", "new.json", "--format", "json"]));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["costs"]["changed"][0]["id"], "wait-one/level-10d-1t@epoll");
}

#[test]
fn an_interrupted_run_keeps_its_costs_and_is_continued() {
    let folder = folder();
    let pairs = ["--pairs", "60", "--noise", "1000000000"];
    let of = ["--backend", "poll", "--operation", "close", "--operation", "register", "--threads", "1"];
    let arguments =
        [&["cost"], &pairs[..], &of[..], &["--descriptors", "4,8,16", "--trigger", "level"]].concat();
    let child = command(&folder, &arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let journal = folder.path().join("pollmatrix-cost-report/costs.jsonl");
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();
    eventually("a cost is measured", || lines() >= 2);
    signal(&child, Signal::SIGINT);
    let ended = child.wait_with_output().unwrap();
    let kept = results(&folder);
    let measured = kept.costs.iter().filter(|cost| cost.figure().is_some()).count();
    assert!(measured >= 1, "{kept:?}");
    assert_eq!(kept.costs.len(), 6);
    // The last measurement can end before the signal.
    if ended.status.code() == Some(0) {
        return;
    }
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(kept.interrupted());
    let resumed = answer(&mut command(&folder, &[&arguments[..], &["--resume"]].concat()));
    resumed.expect(0, &["costs: 6 measured"]);
    let all = results(&folder);
    assert_eq!(all.runs[0].resumed, 1);
    for cost in kept.costs.iter().filter(|cost| cost.figure().is_some()) {
        assert!(all.costs.contains(cost), "it was not measured again: {cost:?}");
    }
    let other = answer(&mut command(&folder, &[&["cost", "--pairs", "7"], &of[..], &["--resume"]].concat()));
    other.expect(2, &["omit --resume to begin again"]);
}
