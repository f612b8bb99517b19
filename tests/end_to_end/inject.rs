//! `run --inject-errors`: errors in system calls below the core's pollers.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer};

const CELL: &str = "migration/idle-takeover/pipe-level-2t1g@poll";

/// Runs the built-in matrix, with a report directory in the sandbox.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    let mut command = Command::new(POLLMATRIX);
    command.arg("run").args(arguments).arg("--report-dir").arg(sandbox.path("injected"));
    answer(&mut command)
}

fn results(sandbox: &Sandbox) -> Value {
    let text = fs::read_to_string(sandbox.path("injected/results.json")).expect("the file is written");
    serde_json::from_str(&text).expect("the text is JSON")
}

#[test]
fn a_cell_records_the_injected_errors_and_its_rerun_arguments() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found = run(&sandbox, &[CELL, "--inject-errors=2", "--seed", "7"]);
    found.expect(0, &["1 cells: 1 pass (seed 0x7, errors in one of 2 system calls)"]);
    let results = results(&sandbox);
    assert_eq!(results["runs"][0]["inject_errors"], 2);
    let cell = &results["cells"][0];
    let again = cell["reproducer"].as_str().expect("the value is text");
    assert!(again.ends_with("--inject-errors=2 --seed 0x7"), "{again}");
    assert!(cell["counters"]["errors_injected"].as_u64().is_some_and(|count| count > 0), "{cell}");
    let notes = cell["notes"].as_array().expect("there are notes");
    let is_list = |note: &Value| note.as_str().is_some_and(|note| note.contains("\npoll: E"));
    assert!(notes.iter().any(is_list), "{notes:?}");
    let markdown = fs::read_to_string(sandbox.path("injected/report.md")).expect("there is a report.md");
    assert!(markdown.contains("one in 2 system calls"), "{markdown}");
}

#[test]
fn without_the_option_no_error_is_injected_and_every_check_is_judged() {
    let sandbox = Sandbox::new(&["pass"], 20);
    run(&sandbox, &[CELL]).expect(0, &["1 cells: 1 pass (seed "]);
    let results = results(&sandbox);
    assert_eq!(results["runs"][0].get("inject_errors"), None);
    let counters = &results["cells"][0]["counters"];
    assert_eq!((counters.get("errors_injected"), counters.get("checks_not_judged")), (None, None));
}

#[test]
fn scenarios_of_raw_pollers_get_no_injected_errors() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let raw = "readiness/peer-shut-write/tcp-level-1t1g@poll";
    run(&sandbox, &[raw, "--inject-errors"]).expect(0, &["1 unsupported"]);
    let why = results(&sandbox)["cells"][0]["reason"].clone();
    assert_eq!(why, "it tests the raw poller, and errors are injected below the core's pollers only");
    let mut cell = Command::new(POLLMATRIX);
    answer(cell.args(["worker", "cell", raw, "--seed", "1", "--inject-errors"]))
        .expect(2, &["tests raw pollers only"]);
}

#[test]
fn a_rate_of_zero_is_refused() {
    let sandbox = Sandbox::new(&["pass"], 20);
    run(&sandbox, &[CELL, "--inject-errors=0"]).expect(2, &["--inject-errors"]);
}
