//! The files in the report directory, and the printed output.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{POLLMATRIX, SCHEMA, Sandbox, answer, expect_published_form, id};

fn mixed() -> Sandbox {
    let sandbox =
        Sandbox::new(&["pass", "fail", "flaky", "unsupported", "broken", "hang", "panic", "silent"], 1);
    sandbox.run(&["run", "--repeat", "2"]).expect(1, &[]);
    sandbox
}

#[test]
fn a_report_of_every_status_fits_the_published_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let results = mixed().results();
    expect_published_form(&results);

    let mut without = results.clone();
    without.as_object_mut().expect("results are an object").remove("scenarios");
    assert!(validator.is_valid(&without), "files of earlier versions have no descriptions of scenarios");

    let mut wrong = results;
    wrong["cells"][0]["status"] = "fine".into();
    assert!(!validator.is_valid(&wrong), "an unknown status does not follow the schema");
}

/// Adds the properties of a part of the schema, with whether each has a description.
fn fields(part: &Value, all: &mut Vec<(String, bool)>) {
    for (name, field) in part["properties"].as_object().into_iter().flatten() {
        // A variant of an enum has its name for a key, and its fields below.
        let is_variant = field["const"].is_string() || field["properties"].is_object();
        all.push((name.clone(), field["description"].is_string() || is_variant));
        fields(field, all);
    }
    let parts = ["oneOf", "anyOf"].into_iter().filter_map(|key| part[key].as_array()).flatten();
    parts.for_each(|part| fields(part, all));
}

#[test]
fn the_schema_of_results_describes_every_field_and_the_page_names_no_other() {
    let page = include_str!("../../docs/results-json.md");
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut known = Vec::new();
    fields(&schema, &mut known);
    schema["$defs"].as_object().expect("types").values().for_each(|part| fields(part, &mut known));
    let bare: Vec<_> = known.iter().filter(|(_, is_described)| !is_described).collect();
    assert!(bare.is_empty(), "the schema does not describe these: {bare:?}");

    let (_, table) = page.split_once("| where | field |").expect("there is a table of fields");
    let (table, _) = table.split_once("\n\n").expect("the table ends");
    let cells: Vec<_> = table.lines().filter_map(|row| row.split(" | ").nth(1)).collect();
    let named: Vec<_> = cells.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(
            known.iter().any(|(field, _)| field == name),
            "docs/results-json.md: there is no field {name}"
        );
    }
}

#[test]
fn the_page_about_results_has_a_valid_example() {
    let page = include_str!("../../docs/results-json.md");
    let (_, example) = page.split_once("```json\n").expect("there is an example");
    let (example, _) = example.split_once("```").expect("the example ends");
    metadata::Results::read(example.as_bytes()).expect("the example is a results file");
    let example: Value = serde_json::from_str(example).expect("the example is JSON");
    expect_published_form(&example);
}

#[test]
fn a_run_writes_report_html_and_prints_its_path() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    let printed = sandbox.run(&["run"]);
    assert_eq!(printed.stdout.lines().last(), Some("Report: pollmatrix-report/report.html"));
    let page = sandbox.text("pollmatrix-report/report.html");
    assert!(page.contains("1 of 2 contract cells do not hold"), "{page}");
    let described = &sandbox.results()["scenarios"]["selftest/pass"];
    assert_eq!((&described["title"], &described["layer"]), (&"A self-test".into(), &"contract".into()));
}

#[test]
fn cells_are_sorted_and_have_the_fields_that_other_tools_read() {
    let sandbox = mixed();
    let (results, cells) = (sandbox.results(), sandbox.cells());
    let ids: Vec<_> = cells.iter().map(|cell| cell["id"].as_str().expect("an id is text")).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    for cell in &cells {
        for field in ["id", "scenario", "backend", "target", "layer", "status", "reproducer"] {
            assert!(cell[field].is_string(), "{field} of {cell}");
        }
        assert!(cell["status"] == "pass" || cell["reason"].is_string(), "{cell}");
    }
    assert_eq!(results["schema"], 2);
    let run = &results["runs"][0];
    assert_eq!((&run["os"], &run["runner"]), (&std::env::consts::OS.into(), &"native".into()));
}

#[test]
fn markdown_and_junit_list_every_cell_that_did_not_pass() {
    let sandbox = mixed();
    let markdown = sandbox.text("pollmatrix-report/report.md");
    let junit = sandbox.text("pollmatrix-report/junit.xml");
    for cell in ["fail", "flaky", "broken", "hang", "panic", "silent"] {
        assert!(markdown.contains(&id(cell)), "{cell}: {markdown}");
        assert!(junit.contains(&id(cell)), "{cell}: {junit}");
    }
    assert!(!markdown.contains(&id("pass")), "{markdown}");
    assert!(markdown.contains("no system supports this"), "{markdown}");
    assert!(junit.contains("tests=\"8\""), "{junit}");
}

#[test]
fn printed_and_written_formats_are_equal() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    for (format, file) in [("json", "results.json"), ("markdown", "report.md")] {
        let printed = sandbox.run(&["run", "--format", format]);
        printed.expect(1, &[]);
        assert_eq!(printed.stdout, sandbox.text(&format!("pollmatrix-report/{file}")));
    }
}

#[test]
fn colours_are_used_for_terminals_only() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    let plain = sandbox.run(&["run"]);
    assert!(!plain.stdout.contains('\x1b') && !plain.stderr.contains('\x1b'), "{}", plain.stdout);
    let forced = answer(sandbox.command(&["run"]).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stdout.contains('\x1b'), "{}", forced.stdout);
    let refused = answer(sandbox.command(&["run"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!refused.stdout.contains('\x1b'), "{}", refused.stdout);
}

#[test]
fn without_a_terminal_every_cell_is_a_line() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    let printed = sandbox.run(&["run", "--jobs", "1"]);
    printed.expect(1, &["[1/2] pass selftest/pass/", "[2/2] fail selftest/fail/", "2 cells: 1 pass, 1 fail"]);
}

#[test]
fn show_prints_the_expected_and_the_observed_answer() {
    let sandbox = mixed();
    sandbox.run(&["show", &id("fail")]).expect(
        0,
        &[
            "fail: the answer",
            "WRONG the answer",
            "expected: 42 | forty-two",
            "observed: 41",
            "--seed 0x",
            "questions  1",
        ],
    );
    sandbox.run(&["show", "selftest/panic"]).expect(0, &["crash: killed by SIGABRT", "panicked at"]);
}

#[test]
fn show_explains_how_to_get_a_missing_result() {
    let sandbox = Sandbox::new(&["pass", "panic", "panic-in-thread"], 20);
    let run = format!("help: run it with `pollmatrix run '{}'`", id("pass"));
    sandbox.run(&["show", &id("pass")]).expect(2, &["has no result of", &run]);
    sandbox.run(&["show", "selftest/pas"]).expect(2, &["has no result of"]);
    sandbox.run(&["show", "selftest/panic"]).expect(2, &["is the beginning of 2 cells"]);
    sandbox.run(&["show", "selftest/posh/tcp-level-1t1g@poll"]).expect(2, &["did you mean"]);
}

#[test]
fn the_reproducer_gives_the_same_result() {
    let sandbox = mixed();
    let reproducer = sandbox.cell("flaky")["reproducer"].as_str().expect("the value is text").to_owned();
    let path = Path::new(POLLMATRIX).parent().expect("the executable is in a folder").display().to_string();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &reproducer]).env("PATH", path).current_dir(sandbox.path(""));
    answer(&mut shell).expect(1, &["1 cells: 1 fail"]);
}

#[cfg(feature = "faults")]
#[test]
fn every_form_of_the_results_names_the_fault() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    sandbox
        .run(&["run", "--fault", "double-close"])
        .expect(1, &["the fault double-close is switched on", ", fault double-close)"]);
    assert_eq!(sandbox.results()["runs"][0]["fault"], "double-close");
    assert!(
        sandbox.cell("fail")["reproducer"].as_str().is_some_and(|text| text.contains("--fault double-close"))
    );
    let markdown = sandbox.text("pollmatrix-report/report.md");
    assert!(markdown.contains("`double-close` was switched on"), "{markdown}");
}
