//! `run --late-data`: what a scenario sends arrives late.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer};

/// Runs the built-in matrix, with a report directory in the sandbox.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    let mut command = Command::new(POLLMATRIX);
    command.arg("run").args(arguments).arg("--report-dir").arg(sandbox.path("late"));
    answer(&mut command)
}

fn results(sandbox: &Sandbox) -> Value {
    let text = fs::read_to_string(sandbox.path("late/results.json")).expect("the file is written");
    serde_json::from_str(&text).expect("the text is JSON")
}

#[test]
fn a_cell_records_that_its_data_were_late_and_its_rerun_arguments() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found = run(&sandbox, &["deletion/disown/tcp-level-1t1g@poll", "--late-data=5", "--seed", "7"]);
    found.expect(0, &["1 cells: 1 pass (seed 0x7, data up to 5 ms late)"]);
    let results = results(&sandbox);
    assert_eq!(results["runs"][0]["late_data"], 5);
    let cell = &results["cells"][0];
    let again = cell["reproducer"].as_str().expect("the value is text");
    assert!(again.ends_with("--late-data=5 --seed 0x7"), "{again}");
    assert!(cell["counters"]["writes_delayed"].as_u64().is_some_and(|count| count > 0), "{cell}");
    for (file, said) in [("report.md", "up to 5 ms after"), ("report.html", "up to 5 ms after")] {
        let text = fs::read_to_string(sandbox.path(&format!("late/{file}"))).expect("it is written");
        assert!(text.contains(said), "{file}: {text}");
    }
}

#[test]
fn without_the_option_no_write_is_delayed() {
    let sandbox = Sandbox::new(&["pass"], 20);
    run(&sandbox, &["deletion/disown/tcp-level-1t1g@poll"]).expect(0, &["1 cells: 1 pass (seed "]);
    let results = results(&sandbox);
    assert_eq!(results["runs"][0].get("late_data"), None);
    assert_eq!(results["cells"][0]["counters"].get("writes_delayed"), None);
}

#[test]
fn raw_pollers_get_no_late_data() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let raw = "readiness/peer-shut-write/tcp-level-1t1g@poll";
    run(&sandbox, &[raw, "--late-data"]).expect(0, &["1 unsupported"]);
    let why = results(&sandbox)["cells"][0]["reason"].clone();
    assert_eq!(why, "it tests the raw poller, and only the data of contract scenarios can be late");
    let mut cell = Command::new(POLLMATRIX);
    answer(cell.args(["worker", "cell", raw, "--seed", "1", "--late-data"]))
        .expect(2, &["tests raw pollers only"]);
    run(&sandbox, &[raw, "--late-data=0"]).expect(2, &["--late-data"]);
}
