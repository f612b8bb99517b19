//! `pollmatrix diff`.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox, id};

/// Creates a sandbox with the results of three self-tests as `old.json`.
fn old() -> Sandbox {
    let sandbox = Sandbox::new(&["pass", "fail", "unsupported"], 20);
    sandbox.run(&["run"]).expect(1, &[]);
    fs::copy(sandbox.path("pollmatrix-report/results.json"), sandbox.path("old.json")).expect("writable");
    sandbox
}

impl Sandbox {
    /// Compares `old.json` with `new.json`, an edited copy.
    fn changed(&self, options: &[&str], edit: impl FnOnce(&mut Value)) -> Answer {
        self.edited("old", "new", edit);
        self.run(&[&["diff", "old.json", "new.json"], options].concat())
    }
}

/// Returns the result of a self-test.
fn cell<'a>(results: &'a mut Value, selftest: &str) -> &'a mut Value {
    let cells = results["cells"].as_array_mut().expect("cells is a list");
    cells.iter_mut().find(|cell| cell["id"] == id(selftest).as_str()).expect("the cell was run")
}

fn set(results: &mut Value, selftest: &str, status: &str) {
    let cell = cell(results, selftest);
    cell["status"] = status.into();
    cell["reason"] = "first line\nsecond line".into();
}

fn remove(results: &mut Value, selftest: &str) {
    let cells = results["cells"].as_array_mut().expect("cells is a list");
    cells.retain(|cell| cell["id"] != id(selftest).as_str());
}

#[test]
fn no_difference_is_exit_code_0() {
    let sandbox = old();
    let same = sandbox.changed(&[], |results| cell(results, "fail")["duration_ms"] = 12345.into());
    same.expect(0, &["0 regressions; 0 changed, 0 added, 0 deleted, 3 unchanged"]);
    sandbox.run(&["diff", "old.json", "pollmatrix-report"]).expect(0, &["3 unchanged"]);
}

#[test]
fn a_regression_is_first_and_fails_with_every_fail_on() {
    let sandbox = old();
    let edit = |results: &mut Value| {
        set(results, "fail", "crash");
        set(results, "pass", "fail");
    };
    for options in [&[] as &[&str], &["--fail-on", "regression"]] {
        let answer = sandbox.changed(options, edit);
        answer.expect(1, &["1 regressions; 2 changed, 0 added, 0 deleted, 1 unchanged"]);
        let expected = format!(
            "Changed: 2\n  regression  pass → fail  {} on here: first line\n  worse       fail → crash  {} on here: first line\n",
            id("pass"),
            id("fail")
        );
        assert!(answer.stdout.starts_with(&expected), "{}", answer.stdout);
    }
}

#[test]
fn a_difference_that_is_no_regression_fails_only_with_fail_on_any() {
    let sandbox = old();
    let edits: [fn(&mut Value); 3] = [
        |results| set(results, "fail", "pass"),
        |results| set(results, "fail", "timeout"),
        |results| remove(results, "fail"),
    ];
    for edit in edits {
        sandbox.changed(&[], edit).expect(1, &["0 regressions"]);
        sandbox.changed(&["--fail-on", "any"], edit).expect(1, &[]);
        sandbox.changed(&["--fail-on", "regression"], edit).expect(0, &["0 regressions"]);
    }
}

#[test]
fn json_has_every_different_cell() {
    let sandbox = old();
    let answer = sandbox.changed(&["--format", "json"], |results| {
        set(results, "pass", "fail");
        remove(results, "fail");
    });
    answer.expect(1, &[]);
    let diff: Value = answer.json();
    assert_eq!((&diff["regressions"], &diff["unchanged"]), (&1.into(), &1.into()));
    let changed = &diff["changed"][0];
    for (field, value) in [
        ("target", "here"),
        ("old", "pass"),
        ("new", "fail"),
        ("direction", "regression"),
        ("reason", "first line"),
    ] {
        assert_eq!(changed[field], value, "{changed}");
    }
    assert_eq!(changed["id"], id("pass").as_str());
    assert_eq!(diff["deleted"][0]["id"], id("fail").as_str());
    assert_eq!(diff["added"], Value::Array(Vec::new()));
}

#[test]
fn markdown_is_a_comment_for_a_pull_request() {
    let sandbox = old();
    let answer = sandbox.changed(&["--format", "markdown"], |results| set(results, "pass", "fail"));
    let expected = format!(
        "### pollmatrix: 1 regressions; 1 changed, 0 added, 0 deleted, 2 unchanged\n\n\
         **Changed: 1**\n\n- **pass → fail** `{}` on here: `first line`\n",
        id("pass")
    );
    assert_eq!((answer.code, answer.stdout), (Some(1), expected));
}

#[test]
fn a_fault_in_one_of_the_reports_gets_a_warning() {
    let sandbox = old();
    let faulty = sandbox.changed(&[], |results| results["runs"][0]["fault"] = "double-close".into());
    faulty.expect(0, &["warning: the new report was made with the fault double-close switched on"]);
}
