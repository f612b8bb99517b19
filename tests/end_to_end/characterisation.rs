//! Characterisation cells: judged by the expectations that a test writes, recorded in them, and published as
//! pages.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox, empty_expectations};

/// A cell whose answers with poll are the same on every system.
const CELL: &str = "readiness/pipe-idle/pipe-level-1t1g@poll";
const RESULTS: &str = "pollmatrix-report/results.json";

/// A sandbox whose matrix has the scenarios of one group, with a separate folder of expectations.
struct Characterisation(Sandbox);

impl Characterisation {
    fn new() -> Self {
        let sandbox = Sandbox::new(&["pass"], 20);
        sandbox.add_scenarios("  - id: readiness/*\n");
        empty_expectations(&sandbox.path("expected"));
        Self(sandbox)
    }

    /// Creates a sandbox in which `record` has written this system's answers to the cell.
    fn recorded() -> Self {
        let sandbox = Self::new();
        sandbox.run(&["run", CELL]).expect(0, &[]);
        sandbox.run(&["expectations", "record", "pollmatrix-report"]).expect(0, &["written, "]);
        sandbox
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        let expected = self.0.path("expected").display().to_string();
        self.0.run(&[arguments, &["--expectations", &expected]].concat())
    }

    /// Replaces a part of the expected answers.
    fn edit(&self, part: &str, other: &str) {
        self.0.edit(&answers(), part, other);
    }

    fn cell(&self) -> Value {
        self.0.cell_of(CELL)
    }

    /// Returns the kernel's version in the recorded expectations.
    fn version(&self) -> String {
        let text = self.0.text(&answers());
        let version = text.lines().find_map(|line| line.strip_prefix("    version: "));
        version.expect("the source has a version").to_owned()
    }
}

/// Returns the file of the expected answers.
fn answers() -> String {
    format!("expected/answers/{}.yml", std::env::consts::OS)
}

#[test]
fn unknown_answers_are_counted_and_are_no_failure() {
    let sandbox = Characterisation::new();
    let printed = sandbox.run(&["run", CELL]);
    let cell = sandbox.cell();
    let unknown = cell["counters"]["unknown"].as_u64().expect("they are counted");
    assert!(unknown > 1, "{cell}");
    printed.expect(
        0,
        &[&format!("characterisation: 1 cells: 1 new, {unknown} answers not known before (seed ")],
    );
    assert_eq!((&cell["status"], &cell["layer"]), (&"pass".into(), &"characterisation".into()));
    let checks = cell["checks"].as_array().expect("checks is a list");
    assert_eq!(checks.len() as u64, unknown);
    assert!(checks.iter().all(|check| check["evidence"] == "?" && check["expected"][0] == "not known"));
    let described = &sandbox.0.results()["scenarios"]["readiness/pipe-idle"];
    assert!(described["verbs"].as_str().is_some_and(|verbs| verbs.contains("look at ")), "{described}");
    assert!(described["question"].as_str().is_some_and(|question| question.ends_with('?')), "{described}");
    let trace: Vec<_> = cell["notes"].as_array().expect("notes").iter().filter_map(Value::as_str).collect();
    assert!(trace.iter().any(|line| line.contains("connected -> ok")), "{trace:?}");
}

#[test]
fn recorded_answers_are_expected_in_the_next_run() {
    let sandbox = Characterisation::recorded();
    let written = sandbox.0.text(&answers());
    sandbox.run(&["expectations", "check"]).expect(0, &[" measured, 0 hypotheses"]);
    sandbox.run(&["run", CELL]).expect(0, &["1 cells: 1 as expected (seed "]);
    let cell = sandbox.cell();
    assert_eq!(cell["counters"], serde_json::json!({}));
    let checks = cell["checks"].as_array().expect("checks is a list");
    assert!(checks.iter().all(|check| check["evidence"] == "M" && check["holds"] == true), "{cell}");
    assert_eq!(checks[0]["asked"]["api"], "poll");
    sandbox.run(&["expectations", "record", "pollmatrix-report"]).expect(0, &["unchanged, 0 new"]);
    assert_eq!(sandbox.0.text(&answers()), written);
}

#[test]
fn a_difference_from_a_measured_answer_is_a_failure_outside_the_contract_totals() {
    let sandbox = Characterisation::recorded();
    sandbox.edit("poll@level: '", "poll@level: 'ERR|");
    let printed = sandbox.run(&["run", CELL, "selftest/pass"]);
    printed.expect(
        1,
        &["\n1 cells: 1 pass (seed ", "\ncharacterisation: 1 cells: 1 fail\n", "fail readiness/pipe-idle"],
    );
    let reason = sandbox.cell()["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains(": expected ERR|")), "{reason}");
    let junit = sandbox.0.text("pollmatrix-report/junit.xml");
    for suite in
        ["<testsuite name=\"poll\" tests=\"1\"", "<testsuite name=\"poll (characterisation)\" tests=\"1\""]
    {
        assert!(junit.contains(suite), "{junit}");
    }
    let report = sandbox.0.text("pollmatrix-report/report.md");
    assert!(
        report.contains("## Characterisation\n\n| | poll |") && report.contains("| selftest | P1 |"),
        "{report}"
    );
    // The recorded answer is not overwritten: either of the two may be wrong.
    sandbox
        .run(&["expectations", "record", "pollmatrix-report"])
        .expect(1, &["CONTRADICTS", "unchanged, 0 new, 0 changed"]);
}

#[test]
fn a_difference_from_a_hypothesis_is_permitted_and_recorded_with_the_old_answer() {
    let sandbox = Characterisation::recorded();
    let version = sandbox.version();
    sandbox.edit("poll@level: '", "poll@level: 'ERR|");
    sandbox.edit("evidence: M", "evidence: K");
    sandbox.edit("recorded-", "older-");
    sandbox.edit(&format!("    version: {version}\n"), "");
    sandbox.run(&["run", CELL]).expect(0, &["1 cells: 1 permitted (seed "]);
    let reason = sandbox.cell()["reason"].clone();
    let hypothesis = "the expectation is a hypothesis with evidence K (kernel source)";
    assert!(reason.as_str().is_some_and(|reason| reason.contains(hypothesis)), "{reason}");
    let diff = sandbox.run(&["expectations", "record", "pollmatrix-report", "--dry-run"]);
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
fn a_difference_from_an_answer_of_another_version_is_permitted_and_bounds_the_old_answer() {
    let sandbox = Characterisation::recorded();
    let version = sandbox.version();
    sandbox.edit(&format!("    version: {version}\n"), "    version: '0.1'\n");
    sandbox.edit("recorded-", "older-");
    sandbox.edit("poll@level: '", "poll@level: 'ERR|");
    sandbox.run(&["run", CELL]).expect(0, &["1 permitted", "1 cells"]);
    assert!(
        sandbox.cell()["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("was measured on 0.1 and is a hypothesis here"))
    );
    sandbox.run(&["expectations", "record", "pollmatrix-report"]).expect(0, &["bounded     V", "it is ERR|"]);
    sandbox.run(&["run", CELL]).expect(0, &["1 as expected"]);
}

#[test]
fn an_answer_that_varies_is_never_a_failure() {
    let sandbox = Characterisation::recorded();
    let text = sandbox.0.text(&answers());
    let line =
        text.lines().find_map(|line| line.strip_prefix("      poll@level: '")).expect("poll was asked");
    sandbox.edit(
        &format!("poll@level: '{line}"),
        &format!("poll@level: {{ unstable: timing, answers: ['ERR|{line}] }}"),
    );
    sandbox.run(&["run", CELL]).expect(0, &["1 as expected"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = Characterisation::new();
    sandbox.run(&["run", CELL]).expect(0, &[]);
    sandbox
        .run(&["expectations", "record", "pollmatrix-report", "--dry-run"])
        .expect(0, &["+behaviours:\n", "would be written"]);
    assert!(!sandbox.0.path(&answers()).exists());
}

#[test]
fn results_that_do_not_describe_the_kernel_are_not_recorded() {
    let sandbox = Characterisation::new();
    sandbox.run(&["run", "selftest/pass"]).expect(0, &[]);
    let record =
        |more: &[&str]| sandbox.run(&[&["expectations", "record", "pollmatrix-report"], more].concat());
    record(&[])
        .expect(2, &["it has no answers of raw pollers", "help: run them first: `pollmatrix run --layer"]);
    let results = sandbox.0.text(RESULTS);
    let edited = |part: &str, other: &str| {
        sandbox.0.put(RESULTS, &results);
        sandbox.0.edit(RESULTS, part, other);
    };
    edited("\"runner\": \"native\"", "\"runner\": \"prefix\", \"emulator\": \"qemu-s390x\"");
    record(&[]).expect(2, &["here was run prefix (qemu-s390x)", "give --emulated"]);
    record(&["--emulated"]).expect(2, &["no answers of raw pollers"]);
    edited("\"repeat\": 1", "\"repeat\": 1, \"fault\": \"double-close\"");
    record(&[]).expect(2, &["it was run with the fault double-close switched on"]);
    edited(&format!("\"os\": \"{}\"", std::env::consts::OS), "\"os\": \"plan9\"");
    record(&[]).expect(2, &["nothing is kept about plan9"]);
}

#[test]
fn the_answers_of_a_library_with_kqueue_are_its_own_and_never_the_kernels() {
    let sandbox = Characterisation::new();
    // It also asks read(2).
    sandbox.run(&["run", "readiness/pipe-drained-writer-closed/pipe-level-1t1g@poll"]).expect(0, &[]);
    let results = sandbox.0.text(RESULTS).replace("poll\"", "kqueue\"");
    assert!(results.contains("\"api\":\"read\"") && results.contains("\"api\":\"kqueue\""), "{results}");
    let os = std::env::consts::OS;
    let of_library = format!("expected/adapters/libkqueue/{os}.yml");
    let library = results.replace("\"repeat\": 1,", "\"repeat\": 1, \"kqueue\": \"libkqueue 2.7.0\",");
    sandbox.0.put(RESULTS, &library);
    sandbox
        .run(&["expectations", "record", "pollmatrix-report"])
        .expect(0, &["added ", "kqueue@level: ", "written"]);
    assert!(!sandbox.0.path(&answers()).exists(), "the kernel gave none of the answers");
    let text = sandbox.0.text(&of_library);
    assert!(text.contains("kqueue@level") && !text.contains("read:"), "{text}");
    assert!(text.contains(&format!("text: 'measured on libkqueue 2.7.0 on {os} ")), "{text}");
    assert!(text.contains("recorded-libkqueue-2.7.0-") && text.contains("\n    poller: '2.7.0'\n"), "{text}");
    // The version of the library decides, and not that of the kernel.
    let judge = || sandbox.run(&["expectations", "judge", "pollmatrix-report"]);
    judge().expect(0, &["1 as expected"]);
    let observed = text.split_once("kqueue@level: '").and_then(|(_, rest)| rest.split_once('\''));
    let observed = observed.expect("the answer is recorded").0;
    sandbox.0.edit(&of_library, &format!("@level: '{observed}'"), "@level: 'ERR'");
    judge().expect(1, &["WRONG ", "expected ERR, observed"]);
    sandbox.0.edit(RESULTS, "libkqueue 2.7.0", "libkqueue 2.8.0");
    judge().expect(0, &["differs ", "contradict a hypothesis"]);
    fs::remove_file(sandbox.0.path(&of_library)).expect("it was written");
    // A kernel's kqueue, and the answers of read(2), belong to the kernel.
    sandbox.0.put(RESULTS, results);
    sandbox.run(&["expectations", "record", "pollmatrix-report"]).expect(0, &["kqueue@level: "]);
    let text = sandbox.0.text(&answers());
    assert!(text.contains("kqueue@level") && text.contains("read:") && !text.contains("libkqueue"), "{text}");
}

#[test]
fn judge_gives_results_the_verdicts_of_other_expectations() {
    let sandbox = Characterisation::recorded();
    let judge =
        |more: &[&str]| sandbox.run(&[&["expectations", "judge", "pollmatrix-report"], more].concat());
    sandbox.run(&["run", CELL]).expect(0, &[]);
    judge(&[]).expect(0, &[" as expected\n"]);

    let version = sandbox.version();
    sandbox.edit("poll@level: '", "poll@level: 'ERR|");
    let wrong = format!("WRONG {CELL}: poll@level");
    judge(&["--output", "judged.json"]).expect(1, &[&wrong, "expected ERR|", "2 contradict a measurement\n"]);
    assert_eq!(sandbox.cell()["status"], "pass", "the results stay as they are");
    let judged = sandbox.0.json("judged.json");
    let cells = judged["cells"].as_array().expect("cells is a list");
    assert!(cells.iter().any(|cell| cell["id"] == CELL && cell["status"] == "fail"), "{judged}");

    // Another version may answer differently.
    sandbox.edit(&format!("    version: {version}\n"), "    version: '0.1'\n");
    judge(&[]).expect(0, &["differs readiness/pipe-idle", "2 contradict a hypothesis\n"]);
}

#[test]
fn judge_counts_the_answers_of_each_run() {
    let sandbox = Characterisation::recorded();
    let mut results = sandbox.0.results();
    let (mut run, mut cells) = (results["runs"][0].clone(), results["cells"].clone());
    run["target"] = "other".into();
    results["runs"].as_array_mut().expect("runs").insert(0, run);
    let cells = cells.as_array_mut().expect("cells");
    cells.iter_mut().for_each(|cell| cell["target"] = "other".into());
    results["cells"].as_array_mut().expect("cells").splice(0..0, cells.drain(..));
    sandbox.0.put(RESULTS, results.to_string());
    let judged = sandbox.run(&["expectations", "judge", "pollmatrix-report"]);
    judged.expect(0, &[]);
    let lines: Vec<_> = judged.stdout.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1], "{}", judged.stdout);
}

#[test]
fn faults_cannot_be_tried_in_scenarios_of_raw_pollers() {
    let sandbox = Characterisation::new();
    sandbox
        .run(&["faults", "readiness/pipe-idle"])
        .expect(2, &["readiness/pipe-idle tests raw pollers only", "help: select contract scenarios"]);
}

#[test]
fn list_selects_cells_by_layer() {
    let sandbox = Characterisation::new();
    let contract = sandbox.run(&["list", "--layer", "contract"]);
    assert_eq!(contract.stdout, "selftest/pass/tcp-level-1t1g@poll\n");
    let rest = sandbox.run(&["list", "--layer", "characterisation", "--format", "json"]);
    let cells: Vec<Value> = rest.json();
    assert!(
        cells.len() > 20 && cells.iter().all(|cell| cell["layer"] == "characterisation"),
        "{}",
        rest.stdout
    );
    assert!(cells.iter().any(|cell| cell["id"] == CELL));
    assert!(cells.iter().all(|cell| cell["title"].as_str().is_some_and(|title| title.ends_with('?'))));
}

#[test]
fn equal_answers_of_different_runs_give_equal_pages() {
    let sandbox = Characterisation::recorded();
    let page = || {
        sandbox.run(&["site", "pollmatrix-report", "--out", "pages"]).expect(0, &[]);
        sandbox.0.text("pages/behaviours/V05.html")
    };
    let first = page();
    for text in ["<code>readiness&#x2f;pipe-idle</code>", "look at own", "poll@level", "measured on "] {
        assert!(first.contains(text), "{text} is not in:\n{first}");
    }
    sandbox.run(&["run", CELL, "--seed", "99"]).expect(0, &[]);
    assert_eq!(page(), first, "another run gives the same page");
}

#[test]
fn a_behaviour_has_a_column_for_each_kernel_and_marks_where_two_differ() {
    let sandbox = Characterisation::recorded();
    let recorded = sandbox.0.results();
    let page_beside = |answer: Option<&str>| {
        let mut results = recorded.clone();
        let mut run = results["runs"][0].clone();
        run["target"] = "older".into();
        run["kernel"] = "5.4.1".into();
        results["runs"].as_array_mut().expect("runs").insert(0, run);
        let cells = results["cells"].as_array_mut().expect("cells");
        let mut older = cells.clone();
        for cell in &mut older {
            cell["target"] = "older".into();
            let asked = |check: &&mut Value| !check["asked"].is_null();
            let first = cell["checks"].as_array_mut().and_then(|checks| checks.iter_mut().find(asked));
            if let (Some(check), Some(answer)) = (first, answer) {
                check["observed"] = answer.into();
            }
        }
        *cells = older.into_iter().chain(cells.drain(..)).collect();
        sandbox.0.put(RESULTS, results.to_string());
        sandbox.run(&["site", "pollmatrix-report", "--out", "pages"]).expect(0, &[]);
        sandbox.0.text("pages/behaviours/V05.html")
    };
    let (same, other) = (page_beside(None), page_beside(Some("never seen")));
    assert!(same.contains(" 5.4.1, ") && !same.contains("never seen"));
    assert!(other.contains("<code>never seen</code>"));
    let marked = |page: &str| page.matches("<tr class=\"differs\">").count();
    assert!(marked(&other) > marked(&same), "{} and {}", marked(&other), marked(&same));
}

#[test]
fn results_that_do_not_describe_the_kernel_are_not_published() {
    let sandbox = Characterisation::new();
    sandbox.run(&["run", "selftest/pass", "--fault", "double-close"]).expect(0, &[]);
    sandbox
        .run(&["site", "pollmatrix-report", "--out", "pages"])
        .expect(2, &["it was run with the fault double-close switched on"]);
}
