//! Characterisation: rows as cells, judged by the expectations that a test writes, and recorded in them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox};

/// Asked of poll alone, it has the same answers on every system: data, and none.
const CELL: &str = "readiness/pipe-idle/pipe-level-1t1g@poll";

/// A sandbox whose matrix names the scenarios of one group, with the expectations of a folder of its own.
struct Rows(Sandbox);

impl Rows {
    fn new() -> Self {
        let sandbox = Sandbox::new(&["pass"], 20);
        sandbox.add_scenarios("  - id: readiness/*\n");
        fs::create_dir_all(sandbox.path("expected/answers")).expect("writable");
        fs::write(sandbox.path("expected/divergences.yml"), "divergences: []\n...\n").expect("writable");
        Self(sandbox)
    }

    /// With what this system answers to the cell, as `record` wrote it.
    fn recorded() -> Self {
        let rows = Self::new();
        rows.run(&["run", CELL]).expect(0, &[]);
        rows.run(&["record", "pollmatrix-report"]).expect(0, &["written, "]);
        rows
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        let expected = self.0.path("expected").display().to_string();
        self.0.run(&[arguments, &["--expectations", &expected]].concat())
    }

    fn answers(&self) -> PathBuf {
        self.0.path(&format!("expected/answers/{}.yml", std::env::consts::OS))
    }

    /// Edits what is expected.
    fn edit(&self, part: &str, other: &str) {
        let text = fs::read_to_string(self.answers()).expect("it was recorded");
        assert!(text.contains(part), "{part} is not in:\n{text}");
        fs::write(self.answers(), text.replace(part, other)).expect("writable");
    }

    fn row(&self) -> Value {
        let results = self.0.results();
        let rows = results["cells"].as_array().expect("cells is a list");
        rows.iter().find(|row| row["id"] == CELL).expect("it was run").clone()
    }

    /// The kernel's version, as the expectations have it.
    fn version(&self) -> String {
        let text = fs::read_to_string(self.answers()).expect("it was recorded");
        let line = text.lines().find(|line| line.starts_with("    version: ")).expect("it has a version");
        line.trim_start_matches("    version: ").to_owned()
    }
}

#[test]
fn answers_that_nobody_knows_are_counted_and_no_failure() {
    let rows = Rows::new();
    let printed = rows.run(&["run", CELL]);
    let row = rows.row();
    let unknown = row["counters"]["unknown"].as_u64().expect("they are counted");
    assert!(unknown > 1, "{row}");
    printed.expect(
        0,
        &[&format!("characterisation: 1 cells: 1 as expected, {unknown} answers not known before (seed ")],
    );
    assert_eq!((&row["status"], &row["layer"]), (&"pass".into(), &"characterisation".into()));
    let checks = row["checks"].as_array().expect("checks is a list");
    assert_eq!(checks.len() as u64, unknown);
    assert!(checks.iter().all(|check| check["evidence"] == "?" && check["expected"][0] == "not known"));
    let described = &rows.0.results()["scenarios"]["readiness/pipe-idle"];
    assert!(described["verbs"].as_str().is_some_and(|verbs| verbs.contains("look at ")), "{described}");
    assert!(described["question"].as_str().is_some_and(|question| question.ends_with('?')), "{described}");
    let trace: Vec<_> = row["notes"].as_array().expect("notes").iter().filter_map(Value::as_str).collect();
    assert!(trace.iter().any(|line| line.contains("connected -> ok")), "{trace:?}");
}

#[test]
fn what_was_recorded_is_what_is_expected() {
    let rows = Rows::recorded();
    let written = fs::read_to_string(rows.answers()).expect("it was recorded");
    rows.run(&["expectations", "--check"]).expect(0, &[" measured, 0 hypotheses"]);
    rows.run(&["run", CELL]).expect(0, &["1 cells: 1 as expected (seed "]);
    let row = rows.row();
    assert_eq!(row["counters"], serde_json::json!({}));
    let checks = row["checks"].as_array().expect("checks is a list");
    assert!(checks.iter().all(|check| check["evidence"] == "M" && check["holds"] == true), "{row}");
    assert_eq!(checks[0]["asked"]["api"], "poll");
    rows.run(&["record", "pollmatrix-report"]).expect(0, &["unchanged, 0 new"]);
    assert_eq!(fs::read_to_string(rows.answers()).expect("it is there"), written);
}

#[test]
fn an_answer_that_was_measured_on_this_version_and_differs_is_a_failure_and_in_no_headline() {
    let rows = Rows::recorded();
    rows.edit("poll@level: '", "poll@level: 'ERR|");
    let printed = rows.run(&["run", CELL, "selftest/pass"]);
    printed.expect(
        1,
        &["\n1 cells: 1 pass (seed ", "\ncharacterisation: 1 cells: 1 fail\n", "fail readiness/pipe-idle"],
    );
    let reason = rows.row()["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains(": expected ERR|")), "{reason}");
    let junit = fs::read_to_string(rows.0.path("pollmatrix-report/junit.xml")).expect("there is a junit.xml");
    for suite in
        ["<testsuite name=\"poll\" tests=\"1\"", "<testsuite name=\"poll (characterisation)\" tests=\"1\""]
    {
        assert!(junit.contains(suite), "{junit}");
    }
    let report =
        fs::read_to_string(rows.0.path("pollmatrix-report/report.md")).expect("there is a report.md");
    assert!(
        report.contains("## Characterisation\n\n| | poll |") && report.contains("| selftest | P1 |"),
        "{report}"
    );
    // Nor is it overwritten: one of the two is wrong.
    rows.run(&["record", "pollmatrix-report"]).expect(1, &["CONTRADICTS", "unchanged, 0 new, 0 changed"]);
}

#[test]
fn a_hypothesis_that_differs_is_permitted_and_recorded_with_what_it_was() {
    let rows = Rows::recorded();
    let version = rows.version();
    rows.edit("poll@level: '", "poll@level: 'ERR|");
    rows.edit("evidence: M", "evidence: K");
    rows.edit("recorded-", "older-");
    rows.edit(&format!("    version: {version}\n"), "");
    rows.run(&["run", CELL]).expect(0, &["1 cells: 1 permitted (seed "]);
    let reason = rows.row()["reason"].clone();
    let hypothesis = "that is a hypothesis of evidence K (kernel source)";
    assert!(reason.as_str().is_some_and(|reason| reason.contains(hypothesis)), "{reason}");
    let diff = rows.run(&["record", "pollmatrix-report", "--dry-run"]);
    diff.expect(
        0,
        &[
            "\n+  recorded-",
            "\n+      poll@level: { answers: ['",
            ", note: 'expected before: ERR|",
            ", 0 open",
        ],
    );
}

#[test]
fn what_was_measured_on_another_version_is_permitted_to_differ_and_bounded() {
    let rows = Rows::recorded();
    let version = rows.version();
    rows.edit(&format!("    version: {version}\n"), "    version: '0.1'\n");
    rows.edit("recorded-", "older-");
    rows.edit("poll@level: '", "poll@level: 'ERR|");
    rows.run(&["run", CELL]).expect(0, &["1 permitted", "1 cells"]);
    assert!(
        rows.row()["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("was measured on 0.1, and is a hypothesis"))
    );
    rows.run(&["record", "pollmatrix-report"]).expect(0, &["bounded     V", "it is ERR|"]);
    rows.run(&["run", CELL]).expect(0, &["1 as expected"]);
}

#[test]
fn an_answer_that_varies_is_never_a_failure() {
    let rows = Rows::recorded();
    let text = fs::read_to_string(rows.answers()).expect("it was recorded");
    let line =
        text.lines().find_map(|line| line.strip_prefix("      poll@level: '")).expect("poll was asked");
    rows.edit(
        &format!("poll@level: '{line}"),
        &format!("poll@level: {{ unstable: timing, answers: ['ERR|{line}] }}"),
    );
    rows.run(&["run", CELL]).expect(0, &["1 as expected"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let rows = Rows::new();
    rows.run(&["run", CELL]).expect(0, &[]);
    rows.run(&["record", "pollmatrix-report", "--dry-run"]).expect(0, &["+rows:\n", "would be written"]);
    assert!(!rows.answers().exists());
}

#[test]
fn results_that_say_nothing_about_a_kernel_are_refused() {
    let rows = Rows::new();
    rows.run(&["run", "selftest/pass"]).expect(0, &[]);
    let record = |more: &[&str]| rows.run(&[&["record", "pollmatrix-report"], more].concat());
    record(&[])
        .expect(2, &["it has no answers of raw pollers", "help: run them first: `pollmatrix run --layer"]);
    let path = rows.0.path("pollmatrix-report/results.json");
    let results = fs::read_to_string(&path).expect("there is a report");
    let edited = |part: &str, other: &str| {
        assert!(results.contains(part), "{part}");
        fs::write(&path, results.replace(part, other)).expect("writable");
    };
    edited("\"via\": \"native\"", "\"via\": \"prefix\", \"emulator\": \"qemu-s390x\"");
    record(&[]).expect(2, &["here was run prefix (qemu-s390x)", "give --emulated"]);
    record(&["--emulated"]).expect(2, &["no answers of raw pollers"]);
    edited("\"repeat\": 1", "\"repeat\": 1, \"fault\": \"double-close\"");
    record(&[]).expect(2, &["it was run with the fault double-close switched on"]);
    edited(&format!("\"os\": \"{}\"", std::env::consts::OS), "\"os\": \"plan9\"");
    record(&[]).expect(2, &["nothing is kept about plan9"]);
}

#[test]
fn faults_are_not_looked_for_in_raw_pollers() {
    let rows = Rows::new();
    rows.run(&["faults", "readiness/pipe-idle"])
        .expect(2, &["readiness/pipe-idle asks raw pollers only", "help: name scenarios of the core"]);
}

#[test]
fn layers_are_listed_apart() {
    let rows = Rows::new();
    let contract = rows.run(&["list", "--layer", "contract"]);
    assert_eq!(contract.stdout, "selftest/pass/tcp-level-1t1g@poll\n");
    let rest = rows.run(&["list", "--layer", "characterisation", "--format", "json"]);
    let cells: Vec<Value> = serde_json::from_str(&rest.stdout).expect("a list");
    assert!(
        cells.len() > 20 && cells.iter().all(|cell| cell["layer"] == "characterisation"),
        "{}",
        rest.stdout
    );
    assert!(cells.iter().any(|cell| cell["id"] == CELL));
    assert!(cells.iter().all(|cell| cell["title"].as_str().is_some_and(|title| title.ends_with('?'))));
}

#[test]
fn pages_are_published_and_say_the_same_again_whatever_the_run() {
    let rows = Rows::recorded();
    let publish =
        |more: &[&str]| rows.run(&[&["publish", "pollmatrix-report", "--to", "pages"], more].concat());
    publish(&["--check"])
        .expect(1, &["+# What poll answers on ", "`pollmatrix publish RESULTS` writes them again"]);
    assert!(!rows.0.path("pages").exists(), "--check writes nothing");
    let name = format!("pages/{}-{}/poll.md", std::env::consts::OS, std::env::consts::ARCH);
    publish(&[]).expect(0, &[&format!("wrote: {name}\n")]);
    let page = fs::read_to_string(rows.0.path(&name)).expect("it was written");
    for text in ["### V05: ", "\n`readiness/pipe-idle`\n", "look at own", "| `poll@level", "\nMeasured on "] {
        assert!(page.contains(text), "{text} is not in:\n{page}");
    }
    rows.run(&["run", CELL, "--seed", "99"]).expect(0, &[]);
    let again = publish(&[]);
    again.expect(0, &[]);
    assert_eq!(again.stdout, "", "another run has the same pages");

    let line = page.lines().find(|line| line.starts_with("Measured on ")).expect("it says where");
    let edited = |part: &str, other: &str| {
        fs::write(rows.0.path(&name), page.replace(part, other)).expect("writable");
    };
    edited(line, "Measured on another 1.2.");
    publish(&["--check"]).expect(0, &[]);
    edited("| `poll@level", "| `poll@edge");
    publish(&["--check"]).expect(1, &["\n-| `poll@edge", "\n+| `poll@level"]);
    edited("", "");
    let other = rows.0.path(&name).with_file_name("other.md");
    fs::write(&other, "old").expect("writable");
    publish(&["--check"]).expect(1, &["no results: pages/"]);
    publish(&[]).expect(0, &["removed: pages/"]);
    assert!(!other.exists());
    // A subject's, and a backend's.
    let unasked = ["mio.md", "select.md"].map(|name| other.with_file_name(name));
    unasked.iter().for_each(|page| fs::write(page, "asked by another run").expect("writable"));
    publish(&["--check"]).expect(0, &[]);
    publish(&[]).expect(0, &[]);
    assert!(unasked.iter().all(|page| page.exists()));
}

#[test]
fn what_is_no_answer_of_a_kernel_is_not_published() {
    let rows = Rows::new();
    rows.run(&["run", "selftest/pass"]).expect(0, &[]);
    rows.run(&["publish", "pollmatrix-report", "--to", "pages"])
        .expect(2, &["it has no answers of raw pollers"]);
    rows.run(&["run", "selftest/pass", "--fault", "double-close"]).expect(0, &[]);
    rows.run(&["publish", "pollmatrix-report", "--to", "pages"])
        .expect(2, &["it was run with the fault double-close switched on"]);
}
