//! `pollmatrix cost`. No figure is asserted.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox};

const SCHEMA: &str = include_str!("../../crates/metadata/schema/results.schema.json");

/// Any spread is a figure.
const QUICK: [&str; 4] = ["--pairs", "3", "--noise", "1e9"];

impl Sandbox {
    fn cost(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["cost"], arguments, &QUICK].concat())
    }

    fn costs(&self) -> Value {
        let text =
            fs::read_to_string(self.path("pollmatrix-costs/results.json")).expect("the report was written");
        serde_json::from_str(&text).expect("JSON")
    }
}

#[test]
fn every_operation_of_every_poller_has_a_figure_or_a_reason() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let answer = sandbox.cost(&["--descriptors", "10,20", "--threads", "1,2", "--subject", "mio"]);
    answer.expect(
        0,
        &[
            "wait-one, level\n",
            "wake, level\n",
            "register, level, 2 threads\n",
            "Report: pollmatrix-costs/report.html\n",
        ],
    );
    let results = sandbox.costs();
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is valid");
    let errors: Vec<_> = validator.iter_errors(&results).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let costs = results["costs"].as_array().expect("a list");
    let of = |poller: &str, operation: &str| {
        let is_it = |cost: &&Value| cost["poller"] == poller && cost["operation"] == operation;
        costs.iter().filter(is_it).collect::<Vec<_>>()
    };
    for operation in ["register", "modify", "remove", "close", "wait-one", "wait-all", "wake", "hand-over"] {
        let costs = of("poll", operation);
        let threads = if ["wake", "hand-over"].contains(&operation) { 1 } else { 2 };
        assert_eq!(costs.len(), 2 * threads, "{operation}");
        for cost in costs {
            assert_eq!(cost["outcome"], "measured", "{cost}");
            assert!(cost["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{cost}");
        }
        let of_mio = of("mio", operation);
        let measured =
            |mode: &str| of_mio.iter().any(|cost| cost["mode"] == mode && cost["outcome"] == "measured");
        assert!(measured("edge") && !measured("level"), "{operation}: mio has edges only");
    }
    let page =
        fs::read_to_string(sandbox.path("pollmatrix-costs/report.html")).expect("the page was written");
    assert!(
        page.contains("<svg class=\"curve\"")
            && page.contains("Not measured: it has no level mode (mio: 10, 20)")
    );
    let markdown =
        fs::read_to_string(sandbox.path("pollmatrix-costs/report.md")).expect("the page was written");
    assert!(markdown.contains("| descriptors | 10 | 20 |"));
}

#[test]
fn what_cannot_be_measured_here_has_its_reason_and_noise_is_no_figure() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let arguments = ["register", "--backend", "select", "--descriptors", "10,10000000", "--threads", "1"];
    sandbox.cost(&arguments).expect(
        0,
        &["not measured: it needs 10000136 descriptors, and `ulimit -n` is ", "(select: 10000000)"],
    );
    let noise =
        ["cost", "register", "--backend", "poll", "--descriptors", "10", "--pairs", "9", "--noise", "1e-9"];
    sandbox.run(&noise).expect(1, &["noise"]);
    assert!(
        sandbox.costs()["costs"].as_array().expect("a list").iter().all(|cost| cost["outcome"] == "noise")
    );
}

#[test]
fn wrong_names_and_numbers_are_refused_with_a_suggestion() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.cost(&["wait-on"]).expect(2, &["there is no operation 'wait-on'", "did you mean 'wait-one'?"]);
    sandbox.cost(&["--mode", "edgy"]).expect(2, &["there is no mode 'edgy'", "did you mean 'edge'?"]);
    sandbox.cost(&["--backend", "pol"]).expect(2, &["'pol'", "did you mean 'poll'?"]);
    sandbox.cost(&["--descriptors", "1"]).expect(2, &["--descriptors"]);
    sandbox.run(&["cost", "--noise", "0"]).expect(2, &["a number above 0 is needed"]);
    assert!(!sandbox.path("pollmatrix-costs").exists(), "nothing is written");
}

#[test]
fn costs_are_merged_into_a_report_of_cells_and_compared() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let one = ["modify", "--backend", "poll", "--descriptors", "10", "--threads", "1"];
    sandbox.cost(&one).expect(0, &[]);
    sandbox.run(&["run", "selftest/pass"]).expect(0, &[]);
    let both = ["merge", "pollmatrix-report", "pollmatrix-costs", "--report-dir", "both", "--allow-mixed"];
    sandbox.run(&both).expect(0, &["1 cells: 1 pass"]);
    let merged = fs::read_to_string(sandbox.path("both/results.json")).expect("the report was written");
    assert!(merged.contains("\"operation\":\"modify\""));

    let slower = sandbox.path("slower.json");
    let mut results = sandbox.costs();
    let cost = &mut results["costs"][0];
    let twice = |value: &Value| Value::from(value.as_f64().expect("a number") * 9.0);
    for field in ["ratio", "low", "high"] {
        cost[field] = twice(&cost[field]);
    }
    fs::write(&slower, results.to_string()).expect("writable");
    let diff = |old: &str, new: &str, what: &str| sandbox.run(&["diff", old, new, "--fail-on", what]);
    diff("pollmatrix-costs", "slower.json", "cost:1.2")
        .expect(1, &["modify, level, poll, 10 descriptors (", ", 9.00 times"]);
    diff("pollmatrix-costs", "slower.json", "cost:10").expect(0, &["no cost is more than 10 times as great"]);
    diff("slower.json", "pollmatrix-costs", "cost:1.2").expect(0, &[]);
    diff("pollmatrix-report", "slower.json", "cost:1.2")
        .expect(2, &["pollmatrix-report cannot be used: it has no costs"]);
    diff("slower.json", "slower.json", "cost:0.5").expect(2, &["a factor of at least 1 is needed"]);
    diff("slower.json", "slower.json", "regresion").expect(2, &["did you mean 'regression'?"]);
}
