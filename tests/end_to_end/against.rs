//! `pollmatrix diff --against`: results beside the recorded answers of a kernel. And the files with those.

use std::fs;

use crate::sandbox::{Sandbox, pollmatrix};

/// A cell whose answers are the same on every Linux.
const CELL: &str = "readiness/pipe-writer-closed/pipe-level-1t1g@poll";
/// The kernel.
const KERNEL: &str = "linux-6.18";

#[test]
fn an_unknown_kernel_gets_the_nearest_and_the_list() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run(&["run"]).expect(0, &[]);
    let diff = |name: &str| sandbox.run(&["diff", "pollmatrix-report", "--against", name]);
    diff("linux-6.19")
        .expect(2, &["no kernel with measured answers 'linux-6.19'", "did you mean 'linux-6.1"]);
    diff("plan9").expect(2, &["help: there are linux-5.10, ", "freebsd-12.3", "gvisor-20221219"]);
    diff("macos-15.4").expect(2, &["no kernel with measured answers 'macos-15.4'"]);
    diff(KERNEL).expect(2, &["it has no answers of raw pollers"]);
    diff("no/such.json").expect(2, &["no/such.json", "`pollmatrix expectations oracle KERNEL` printed"]);
    let both = sandbox.run(&["diff", "a", "b", "--against", KERNEL]);
    both.expect(2, &["cannot be used with"]);
    sandbox.run(&["diff", "a"]).expect(2, &["<NEW>"]);
    let cost = sandbox.run(&["diff", "pollmatrix-report", "--against", KERNEL, "--fail-on", "cost:1.2"]);
    cost.expect(2, &["compare the costs of two reports"]);
}

#[test]
fn each_kernel_has_a_file_of_the_published_form_that_stands_for_its_name() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let names = pollmatrix(&["expectations", "oracle"]);
    names.expect(0, &["linux-6.18\n", "freebsd-12.3\n", "openbsd-7.3\n"]);
    sandbox.run_built_in(&["expectations", "oracle", "--out", "oracles"]).expect(0, &["linux-6.18.json: "]);
    let schema = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/oracle.schema.json"));
    let schema = serde_json::from_str(&schema.expect("it is committed")).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    for name in names.stdout.lines() {
        let oracle = sandbox.json(&format!("oracles/{name}.json"));
        let errors: Vec<_> = validator.iter_errors(&oracle).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
        assert_eq!(oracle["kernel"], name);
    }
    assert_eq!(fs::read_dir(sandbox.path("oracles")).unwrap().count(), names.stdout.lines().count());
    let printed = pollmatrix(&["expectations", "oracle", KERNEL]).stdout;
    assert_eq!(printed, sandbox.text("oracles/linux-6.18.json"), "equal bytes each time");

    sandbox.edit("oracles/linux-5.10.json", "\"schema_version\": 1", "\"schema_version\": 7");
    sandbox.run_built_in(&["run", CELL]);
    let diff = |name: &str| sandbox.run_built_in(&["diff", "pollmatrix-report", "--against", name]);
    diff("oracles/linux-5.10.json").expect(2, &["linux-5.10.json", "it has version 7 of the format"]);
    let (of_name, of_file) = (diff(KERNEL), diff("oracles/linux-6.18.json"));
    assert_eq!((of_name.code, of_name.stdout), (of_file.code, of_file.stdout));
    sandbox.put("oracles/cut.json", &sandbox.text("oracles/linux-6.18.json")[..5000]);
    diff("oracles/cut.json").expect(2, &["cut.json cannot be used: EOF while parsing", "line "]);
}

/// What is measured here, beside the recorded answers of a Linux.
#[cfg(target_os = "linux")]
mod measured_here {
    use serde_json::Value;

    use super::*;
    use crate::sandbox::Answer;

    /// Returns a sandbox with the results of the cell as `old.json`.
    fn measured() -> Sandbox {
        let sandbox = Sandbox::new(&["pass"], 20);
        sandbox.run_built_in(&["run", CELL]).expect(0, &[]);
        fs::copy(sandbox.path("pollmatrix-report/results.json"), sandbox.path("old.json")).expect("writable");
        sandbox
    }

    /// Compares an edited copy of `old.json` with the kernel.
    fn against(sandbox: &Sandbox, options: &[&str], edit: impl FnOnce(&mut Value)) -> Answer {
        sandbox.edited("old", "new", edit);
        sandbox.run_built_in(&[&["diff", "new.json", "--against", KERNEL], options].concat())
    }

    fn observe(results: &mut Value, recorded: &str, observed: &str) {
        let checks = results["cells"][0]["checks"].as_array_mut().expect("checks is a list");
        let check = checks.iter_mut().find(|check| check["observed"] == recorded).expect("it was observed");
        check["observed"] = observed.into();
    }

    fn end(results: &mut Value, status: &str, reason: &str) {
        let cell = &mut results["cells"][0];
        cell["status"] = status.into();
        cell["reason"] = reason.into();
        cell["checks"] = Value::Array(Vec::new());
    }

    #[test]
    fn the_answers_of_this_kernel_are_the_recorded_ones_and_its_lack_of_kqueue_is_no_difference() {
        let sandbox = Sandbox::new(&["pass"], 20);
        sandbox.run_built_in(&["run", "readiness/pipe-writer-closed"]).expect(0, &[]);
        let same = sandbox.run_built_in(&["diff", "pollmatrix-report", "--against", KERNEL]);
        same.expect(
            0,
            &["linux ", ", native, beside the recorded answers of linux-6.18", " the same, 0 differ"],
        );
        assert!(!same.stdout.contains("kqueue"), "{}", same.stdout);
    }

    #[test]
    fn a_hidden_hang_up_is_one_plain_sentence_under_its_behaviour() {
        let sandbox = measured();
        for (options, code) in [(&[] as &[&str], 1), (&["--fail-on", "regression"], 1)] {
            let answer = against(&sandbox, options, |results| observe(results, "HUP", "IN"));
            let expected = "\nhang-up: 1 answer\n  V26 a pipe's read end without data, the writer gone\n    \
                            poll, pipe, read-end-never-data: recorded hang-up, measured readable\n";
            let expected = expected.replace("hang-up: 1", &format!("{}: 1", topic()));
            answer.expect(code, &[&expected, "1 differ\n", "of those that differ: "]);
            assert!(answer.stdout.lines().all(|line| line.chars().count() <= 80), "{}", answer.stdout);
        }
        let markdown = against(&sandbox, &["--format", "markdown"], |results| observe(results, "HUP", "IN"));
        markdown.expect(1, &["### pollmatrix: ", "- V26: poll, pipe, read-end-never-data: recorded"]);
        let json: Value =
            against(&sandbox, &["--format", "json"], |results| observe(results, "HUP", "IN")).json();
        let found = &json[0]["topics"][0]["behaviours"][0]["differences"][0];
        assert_eq!((&found["recorded"], &found["measured"]), (&"HUP".into(), &"IN".into()), "{json}");
        assert_eq!((&found["cell"], &json[0]["different"]), (&CELL.into(), &1.into()), "{json}");
    }

    /// Returns the title of the topic of V26.
    fn topic() -> &'static str {
        let topics = &raw::expectations::TOPICS;
        topics.iter().find(|topic| topic.behaviours.contains(&"V26")).expect("it has a topic").title
    }

    #[test]
    fn other_words_for_the_same_are_a_difference_and_no_regression() {
        let sandbox = measured();
        let edit = |results: &mut Value| observe(results, "HUP", "IN|HUP");
        against(&sandbox, &[], edit)
            .expect(1, &["other words for the same (1)", "recorded hang-up, measured "]);
        against(&sandbox, &["--fail-on", "regression"], edit).expect(0, &["1 differ"]);
    }

    /// An answer that the sandbox prevents is never an equal one.
    #[test]
    fn a_cell_without_an_answer_is_counted_apart_with_its_reason() {
        let sandbox = measured();
        for (status, regression) in [("unsupported", 0), ("broken", 0), ("timeout", 1), ("crash", 1)] {
            let edit = |results: &mut Value| end(results, status, "this sandbox has no pipes\nmore");
            let answer = against(&sandbox, &[], edit);
            let reason =
                format!("\nNo answer here:\n  1 cell {status}: this sandbox has no pipes\n    {CELL}\n");
            answer
                .expect(1, &[&reason, "0 answers compared: 0 the same, 0 differ", "1 cells gave no answer"]);
            against(&sandbox, &["--fail-on", "regression"], edit).expect(regression, &[]);
        }
        let none = against(&sandbox, &[], |results| results["cells"] = Value::Array(Vec::new()));
        none.expect(2, &["it has no answers of raw pollers"]);
    }
}
