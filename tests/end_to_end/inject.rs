//! `run --inject-errors`: errors in system calls below the core's pollers.

use serde_json::Value;

use crate::sandbox::{Sandbox, pollmatrix};

const CELL: &str = "migration/idle-takeover/pipe-level-2t1g@poll";

#[test]
fn a_cell_records_the_injected_errors_and_its_rerun_arguments() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found = sandbox.run_built_in(&["run", CELL, "--inject-errors=2", "--seed", "7"]);
    found.expect(0, &["1 cells: 1 pass (seed 0x7, errors in one of 2 system calls)"]);
    let results = sandbox.results();
    assert_eq!(results["runs"][0]["inject_errors"], 2);
    let cell = &results["cells"][0];
    let again = cell["reproducer"].as_str().expect("the value is text");
    assert!(again.ends_with("--inject-errors=2 --seed 0x7"), "{again}");
    assert!(cell["counters"]["errors_injected"].as_u64().is_some_and(|count| count > 0), "{cell}");
    let notes = cell["notes"].as_array().expect("there are notes");
    let is_list = |note: &Value| note.as_str().is_some_and(|note| note.contains("\npoll: E"));
    assert!(notes.iter().any(is_list), "{notes:?}");
    let markdown = sandbox.text("pollmatrix-report/report.md");
    assert!(markdown.contains("one in 2 system calls"), "{markdown}");
}

#[test]
fn without_the_option_no_error_is_injected_and_every_check_is_judged() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run_built_in(&["run", CELL]).expect(0, &["1 cells: 1 pass (seed "]);
    let results = sandbox.results();
    assert_eq!(results["runs"][0].get("inject_errors"), None);
    let counters = &results["cells"][0]["counters"];
    assert_eq!((counters.get("errors_injected"), counters.get("checks_not_judged")), (None, None));
}

#[test]
fn scenarios_of_raw_pollers_get_no_injected_errors() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let raw = "readiness/peer-shut-write/tcp-level-1t1g@poll";
    sandbox.run_built_in(&["run", raw, "--inject-errors"]).expect(0, &["1 unsupported"]);
    let why = sandbox.results()["cells"][0]["reason"].clone();
    assert_eq!(why, "it tests the raw poller, and errors are injected below the core's pollers only");
    pollmatrix(&["worker", "cell", raw, "--seed", "1", "--inject-errors"])
        .expect(2, &["tests raw pollers only"]);
}

#[test]
fn a_rate_of_zero_is_refused() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run_built_in(&["run", CELL, "--inject-errors=0"]).expect(2, &["--inject-errors"]);
}
