//! `pollmatrix merge`.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Answer, Sandbox, expect_published_form, id};

impl Sandbox {
    /// Runs these self-tests and keeps the results as `NAME.json`.
    fn shard(&self, name: &str, selftests: &[&str]) {
        let ids: Vec<_> = selftests.iter().map(|selftest| id(selftest)).collect();
        let ids = ids.iter().map(String::as_str);
        self.run(&["run", "--seed", "2"].into_iter().chain(ids).collect::<Vec<_>>());
        self.put(&format!("{name}.json"), format!("{:#}", self.results()));
    }

    /// Writes an edited copy of the results `from` as `to`.
    pub fn edited(&self, from: &str, to: &str, edit: impl FnOnce(&mut Value)) {
        let mut results = self.json(&format!("{from}.json"));
        edit(&mut results);
        self.put(&format!("{to}.json"), results.to_string());
    }

    /// Writes a copy of the results `from` as `to`, for another target.
    pub fn as_target(&self, from: &str, to: &str, target: &str) {
        self.edited(from, to, |results| {
            let run = &mut results["runs"][0];
            run["target"] = target.into();
            run["executable"] = format!("executable of {target}").into();
            run["runner"] = "prefix".into();
            run["emulator"] = "qemu-some".into();
            for cell in results["cells"].as_array_mut().expect("cells is a list") {
                cell["target"] = target.into();
            }
        });
    }

    /// Merges these files into the folder `merged`.
    fn merge(&self, inputs: &[&str], options: &[&str]) -> Answer {
        let inputs: Vec<_> = inputs.iter().map(|name| format!("{name}.json")).collect();
        let inputs = inputs.iter().map(String::as_str);
        let command = ["merge", "--report-dir", "merged"].into_iter().chain(inputs);
        self.run(&command.chain(options.iter().copied()).collect::<Vec<_>>())
    }
}

/// Creates a sandbox with the results of one target in two files, and those of another target.
fn parts() -> Sandbox {
    let sandbox = Sandbox::new(&["pass", "fail", "unsupported"], 20);
    sandbox.shard("pass", &["pass"]);
    sandbox.shard("others", &["fail", "unsupported"]);
    sandbox.as_target("pass", "there", "there");
    sandbox
}

#[test]
fn results_of_several_targets_and_shards_are_merged_into_one_report() {
    let sandbox = parts();
    sandbox.merge(&["pass", "others", "there"], &[]).expect(
        1,
        &[
            "3 runs of 2 targets: 4 cells: 2 pass, 1 fail, 1 unsupported",
            "fail selftest/fail/tcp-level-1t1g@poll on here: the answer",
            "prefix (qemu-some)",
        ],
    );
    let results = sandbox.json("merged/results.json");
    let cells = results["cells"].as_array().expect("cells is a list");
    let cells: Vec<_> = cells
        .iter()
        .map(|cell| {
            [&cell["id"], &cell["target"]].map(|text| text.as_str().expect("the value is text").to_owned())
        })
        .collect();
    let expected = [("fail", "here"), ("pass", "here"), ("pass", "there"), ("unsupported", "here")];
    assert_eq!(cells, expected.map(|(cell, target)| [id(cell), target.to_owned()]));

    expect_published_form(&results);

    // Every run keeps all its fields.
    let runs = results["runs"].as_array().expect("runs is a list");
    assert_eq!(runs.len(), 3);
    for name in ["pass", "others", "there"] {
        assert!(runs.contains(&sandbox.json(&format!("{name}.json"))["runs"][0]), "{name}: {runs:#?}");
    }
    assert!(sandbox.text("merged/report.md").contains("| here<br>poll | there<br>poll |"));
    assert!(sandbox.text("merged/junit.xml").contains("name=\"there/poll\""));
    let page = sandbox.text("merged/report.html");
    assert!(page.starts_with("<!DOCTYPE html>\n<!-- pollmatrix report -->"), "{page}");
    for text in
        ["4 cells: 2 pass, 1 fail, 1 unsupported", "prefix (qemu-some)", "1 of 3 contract cells do not hold"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(results["scenarios"]["selftest/pass"]["title"], "A self-test");
}

#[test]
fn printed_and_written_formats_are_equal() {
    let sandbox = parts();
    for (format, file) in [("json", "results.json"), ("markdown", "report.md")] {
        let printed = sandbox.merge(&["pass", "there"], &["--format", format]);
        assert_eq!(printed.stdout, sandbox.text(&format!("merged/{file}")));
    }
}

#[test]
fn conflicting_results_are_refused_without_prefer() {
    let sandbox = parts();
    sandbox.edited("pass", "crashed", |results| {
        results["cells"][0]["status"] = "crash".into();
        results["cells"][0]["reason"] = "later".into();
    });
    let refused = sandbox.merge(&["pass", "crashed"], &[]);
    refused.expect(
        2,
        &[
            "1 cells have different results",
            "selftest/pass/tcp-level-1t1g@poll on here: pass in pass.json, crash in crashed.json",
            "help: choose one of them with --prefer first, last or worst",
        ],
    );
    assert!(!sandbox.path("merged").exists(), "no file is written");
    for (inputs, prefer, code) in [
        (["pass", "crashed"], "first", 0),
        (["pass", "crashed"], "last", 1),
        (["crashed", "pass"], "first", 1),
        (["pass", "crashed"], "worst", 1),
        (["crashed", "pass"], "worst", 1),
    ] {
        sandbox.merge(&inputs, &["--prefer", prefer]).expect(code, &["--prefer decided"]);
    }
}

#[test]
fn results_with_a_fault_and_without_are_never_merged() {
    let sandbox = parts();
    sandbox.edited("there", "faulty", |results| results["runs"][0]["fault"] = "double-close".into());
    let refused = sandbox.merge(&["pass", "faulty"], &["--allow-mixed", "--prefer", "worst", "--force"]);
    refused.expect(
        2,
        &[
            "pass.json was run without a fault",
            "faulty.json was run with the fault double-close switched on",
            "help: ",
        ],
    );
}

#[test]
fn different_matrices_and_executables_need_allow_mixed() {
    let sandbox = parts();
    sandbox.edited("there", "matrix", |results| results["runs"][0]["matrix"] = "other".into());
    sandbox.edited("others", "build", |results| results["runs"][0]["executable"] = "other".into());
    for (other, why) in [
        ("matrix", "pass.json and matrix.json were run with different matrix files"),
        ("build", "pass.json and build.json have runs of here with different executables"),
    ] {
        sandbox.merge(&["pass", other], &[]).expect(2, &[why, "--allow-mixed"]);
        let allowed = sandbox.merge(&["pass", other], &["--allow-mixed"]);
        assert!(allowed.code < Some(2), "{}", allowed.stderr);
    }
}

#[test]
fn an_input_is_not_replaced_without_force() {
    let sandbox = parts();
    let before = sandbox.results();
    for input in ["pollmatrix-report", "./pollmatrix-report/results.json"] {
        sandbox.run(&["merge", "pass.json", input]).expect(
            2,
            &["results.json is an input, and the report would overwrite it", "--report-dir DIR", "--force"],
        );
        assert_eq!(sandbox.results(), before);
    }
    sandbox.run(&["merge", "there.json", "pollmatrix-report", "--force"]).expect(1, &["2 runs of 2 targets"]);
    assert_eq!(sandbox.results()["runs"].as_array().map(Vec::len), Some(2));
    // The journal of the former run must not hide the merged results from `show`.
    sandbox.run(&["show", &id("fail")]).expect(0, &["fail: the answer"]);
    assert!(!sandbox.path("pollmatrix-report/journal.jsonl").exists());
}

#[test]
fn targets_are_listed_as_not_run_until_they_have_a_run() {
    let sandbox = parts();
    sandbox.merge(&["there"], &["--not-run", "here=built, not run: no such machine"]).expect(
        0,
        &["not run  here: built, not run: no such machine", "1 runs of 1 targets: 1 cells: 1 pass"],
    );
    let results = sandbox.text("merged/results.json");
    sandbox.put("listed.json", results);
    let entry = json!([{
        "target": "here",
        "os": std::env::consts::OS,
        "reason": "built, not run: no such machine",
    }]);
    assert_eq!(sandbox.json("listed.json")["not_run"], entry);
    assert!(sandbox.text("merged/report.md").contains("| selftest | P1 | not run |"));

    sandbox.merge(&["listed", "pass"], &[]).expect(0, &["2 runs of 2 targets"]);
    assert!(!sandbox.text("merged/report.md").contains("not run"), "{}", sandbox.text("merged/report.md"));
}

#[test]
fn not_run_needs_a_known_target_and_a_reason() {
    let sandbox = parts();
    sandbox
        .merge(&["pass"], &["--not-run", "her=why"])
        .expect(2, &["no such target", "did you mean 'here'?"]);
    sandbox
        .merge(&["pass"], &["--not-run", "here"])
        .expect(2, &["there is no reason", "help: write TARGET="]);
    sandbox.merge(&["pass"], &["--not-run", "here= "]).expect(2, &["there is no reason"]);
}

#[test]
fn results_in_version_1_of_the_format_are_merged() {
    let sandbox = parts();
    sandbox.edited("pass", "old", |results| {
        let mut run = results["runs"][0].take();
        run.as_object_mut().expect("a run is an object").remove("runner");
        *results = json!({ "schema": 1, "run": run, "cells": results["cells"] });
    });
    sandbox.merge(&["old", "there"], &[]).expect(0, &["2 runs of 2 targets"]);
    let results = sandbox.json("merged/results.json");
    assert_eq!((&results["schema"], &results["runs"][0]["runner"]), (&2.into(), &"native".into()));
}

#[test]
fn files_that_are_no_results_are_refused_with_their_likely_kind() {
    let sandbox = parts();
    let refused = |name: &str, text: &[u8], expected: &[&str]| {
        sandbox.put(name, text);
        for command in [["merge", "pass.json", name], ["diff", "pass.json", name]] {
            sandbox.run(&command).expect(2, &[&[name, "help: "], expected].concat());
        }
    };
    let whole = fs::read(sandbox.path("pass.json")).expect("the file was written");
    let half = &whole[..whole.len() / 2];
    // The end of a file that ends with a line break is at the beginning of the next line.
    let lines = String::from_utf8_lossy(half).lines().count() + usize::from(half.ends_with(b"\n"));
    refused("half.json", half, &[&format!("half.json:{lines}:"), "truncated results of pollmatrix"]);
    refused("empty.json", b"", &["the file is empty"]);
    refused("page.html", b"<!DOCTYPE html>\n<p>", &["page.html:1:1: ", "an HTML page"]);
    let page = fs::read(sandbox.path("pollmatrix-report/report.html")).expect("the file was written");
    refused("own.html", &page, &["a report.html", "the results.json beside it"]);
    refused("other.json", b"{\"name\": \"x\"}", &["a JSON object with 'name'"]);
    let newer = String::from_utf8_lossy(&whole).replace("\"schema\": 2", "\"schema\": 3");
    refused("newer.json", newer.as_bytes(), &["version 3 of the format", "pollmatrix 0.", "wrote it"]);
    sandbox.run(&["merge", "pass.json", "nowhere.json"]).expect(2, &["cannot read nowhere.json", "help: "]);
    sandbox.run(&["merge", "pass.json", "."]).expect(2, &["cannot read ./results.json", "help: "]);
    sandbox.run(&["merge"]).expect(2, &["<RESULTS>"]);
}

#[test]
fn show_prints_a_cell_on_each_target() {
    let sandbox = parts();
    sandbox.merge(&["pass", "others", "there"], &["--prefer", "worst"]);
    let show = |arguments: &[&str]| sandbox.run(&[&["show", "--report-dir", "merged"], arguments].concat());
    let pass = id("pass");
    show(&[&pass]).expect(0, &["target      here", "target      there", "from        one of the runs of "]);
    let one = show(&[&pass, "--target", "there"]);
    one.expect(0, &["target      there", "from        the run of "]);
    assert!(!one.stdout.contains("target      here"), "{}", one.stdout);
    show(&[&pass, "--target", "ther"]).expect(2, &["has no result of", "on ther", "did you mean 'there'?"]);
    show(&[&id("fail"), "--target", "there"])
        .expect(2, &["has no result of", "there are results of it on here"]);

    let json = |arguments: &[&str]| -> Value {
        let answer = show(&[&[pass.as_str(), "--format", "json"], arguments].concat());
        answer.json()
    };
    let cells = json(&[]);
    assert_eq!(
        (&cells[0]["target"], &cells[1]["target"], &cells[2]),
        (&"here".into(), &"there".into(), &Value::Null)
    );
    assert_eq!(json(&["--target", "here"])["target"], "here");

    let with_reason = ["merge", "there.json", "--report-dir", "merged", "--not-run", "here=no such machine"];
    sandbox.run(&with_reason).expect(0, &[]);
    show(&[&pass]).expect(0, &["target      there", "not run on here: no such machine"]);
    show(&[&pass, "--target", "here"]).expect(2, &["on here", "help: no such machine"]);
}

/// Sets the kernel of a run.
fn on_kernel(results: &mut Value, target: &str, kernel: &str) {
    results["runs"][0]["kernel"] = kernel.into();
    results["runs"][0]["os"] = "linux".into();
    results["runs"][0]["arch"] = "x86_64".into();
    results["runs"][0]["target"] = target.into();
    for cell in results["cells"].as_array_mut().expect("cells is a list") {
        cell["target"] = target.into();
    }
}

#[test]
fn columns_are_those_of_kernels_instead_of_targets() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    sandbox.shard("one", &["pass", "fail"]);
    let debian = "6.1.0-56-cloud-amd64 (Debian 6.1.192-2)";
    sandbox.edited("one", "old", |results| on_kernel(results, "here", debian));
    sandbox.edited("one", "new", |results| on_kernel(results, "here", "6.18.44"));
    sandbox.edited("one", "odd", |results| on_kernel(results, "here", "unknown"));
    sandbox.merge(&["old", "new"], &["--by-kernel"]).expect(1, &["4 cells: 2 pass, 2 fail"]);
    let merged = sandbox.json("merged/results.json");
    let targets: Vec<_> =
        merged["runs"].as_array().unwrap().iter().map(|run| run["target"].clone()).collect();
    assert_eq!(targets, ["linux-6.1.192-x86_64", "linux-6.18.44-x86_64"]);
    // One target on two kernels, merged before, cannot be told apart any more.
    fs::copy(sandbox.path("merged/results.json"), sandbox.path("both.json"))
        .expect("the sandbox is writable");
    sandbox.edited("both", "mixed", |results| {
        for list in ["runs", "cells"] {
            for entry in results[list].as_array_mut().expect("it is a list") {
                entry["target"] = "here".into();
            }
        }
        results["cells"].as_array_mut().unwrap().dedup_by_key(|cell| cell["id"].clone());
    });
    sandbox.merge(&["mixed"], &["--by-kernel"]).expect(2, &["here was run on linux-6.1"]);
    sandbox
        .merge(&["odd"], &["--by-kernel"])
        .expect(2, &["the kernel of here has no version: linux unknown"]);
}

#[test]
fn two_kernels_are_compared_answer_by_answer() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    sandbox.shard("one", &["pass", "fail"]);
    sandbox.edited("one", "old", |results| on_kernel(results, "old-target", "6.1.192"));
    sandbox.edited("one", "new", |results| on_kernel(results, "new-target", "6.18.44"));
    // By target, the reports have nothing in common.
    sandbox.run(&["diff", "old.json", "new.json"]).expect(1, &["0 changed, 2 added, 2 deleted"]);
    let diff = ["diff", "--by-kernel", "old.json", "new.json"];
    sandbox.run(&diff).expect(0, &["0 changed, 0 added, 0 deleted, 2 unchanged"]);
    sandbox.edited("new", "new", |results| {
        let cells = results["cells"].as_array_mut().expect("cells is a list");
        let cell = cells.iter_mut().find(|cell| cell["id"] == id("pass").as_str()).expect("it was run");
        cell["checks"][0]["observed"] = "forty-two".into();
    });
    let line =
        format!("42 → forty-two  {}: the answer on linux-6.1.192-x86_64 → linux-6.18.44-x86_64", id("pass"));
    sandbox.run(&diff).expect(1, &["Other answers: 1", &line]);
    let answer = sandbox.run(&[&diff[..], &["--fail-on", "regression"]].concat());
    answer.expect(0, &["Other answers: 1"]);

    // Of several targets, those whose kernel changed are compared.
    sandbox.edited("old", "same", |results| on_kernel(results, "same", "6.18.44"));
    sandbox.edited("old", "before", |results| on_kernel(results, "changed", "6.1.192"));
    sandbox.edited("new", "after", |results| on_kernel(results, "changed", "6.1.193"));
    for (name, changed) in [("first", "before"), ("second", "after")] {
        sandbox.merge(&["same", changed], &[]).expect(1, &["4 cells"]);
        fs::copy(sandbox.path("merged/results.json"), sandbox.path(&format!("{name}.json")))
            .expect("writable");
    }
    let line = "the answer on changed, linux-6.1.192-x86_64 → linux-6.1.193-x86_64";
    sandbox
        .run(&["diff", "--by-kernel", "first.json", "second.json"])
        .expect(1, &["Other answers: 1", line, "0 changed, 0 added, 0 deleted, 2 unchanged"]);
    sandbox
        .run(&["diff", "--by-kernel", "first.json", "first.json"])
        .expect(0, &["0 changed, 0 added, 0 deleted, 0 unchanged"]);
}
