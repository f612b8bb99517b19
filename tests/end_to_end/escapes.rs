//! Terminal control sequences in files and in the output of other programs are escaped.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, id};

/// Hides the following text, sets the window's title, moves the cursor, and reorders text.
const TEXT: &str = "\x1b[8m\x1b]0;title\x07\u{9b}2A\r\u{8}\u{202e}\u{7f}";
/// The escaped form of its beginning.
const SHOWN: &str = "\\u{1b}[8m\\u{1b}]0;title";

/// Asserts that the output has no control characters except line breaks and tabs.
#[track_caller]
fn assert_harmless(printed: &Answer) {
    for text in [&printed.stdout, &printed.stderr] {
        let harmful = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(harmful), "{text:?}");
    }
}

/// Returns the text with octal escapes, for `printf` in a shell.
fn octal() -> String {
    TEXT.bytes().map(|byte| format!("\\{byte:03o}")).collect()
}

/// Returns the results of a run, with hostile text in every field of free text.
fn results(sandbox: &Sandbox) -> Value {
    sandbox.run(&["run"]).expect(1, &[]);
    let mut results = sandbox.results();
    let spoil = |value: &mut Value| *value = format!("{}{TEXT}", value.as_str().unwrap_or_default()).into();
    for name in ["kernel", "machine", "pollmatrix", "started", "libc"] {
        spoil(&mut results["runs"][0][name]);
    }
    for cell in results["cells"].as_array_mut().expect("cells is a list") {
        for name in ["reason", "reproducer", "stderr"] {
            spoil(&mut cell[name]);
        }
        cell["notes"] = vec![TEXT].into();
        for check in cell["checks"].as_array_mut().expect("checks is a list") {
            ["what", "observed", "source"].iter().for_each(|name| spoil(&mut check[name]));
            spoil(&mut check["expected"][0]);
        }
    }
    results
}

#[test]
fn control_sequences_in_a_result_file_are_escaped() {
    let sandbox = Sandbox::new(&["pass", "fail", "unsupported"], 20);
    let results = results(&sandbox);
    sandbox.put("pollmatrix-report/results.json", results.to_string());
    fs::remove_file(sandbox.path("pollmatrix-report/journal.jsonl")).expect("there is one");
    let mut other = results.clone();
    for cell in other["cells"].as_array_mut().expect("cells is a list") {
        cell["status"] = if cell["status"] == "fail" { "pass" } else { "fail" }.into();
    }
    sandbox.put("other.json", other.to_string());
    let report = sandbox.path("pollmatrix-report").display().to_string();
    let file = sandbox.path("other.json").display().to_string();
    let fail = id("fail");
    let commands: [&[&str]; 11] = [
        &["show", &fail],
        &["show", &fail, "--format", "json"],
        &["diff", &report, &file],
        &["diff", &report, &file, "--format", "markdown"],
        &["diff", &report, &file, "--format", "json"],
        &["merge", &file, "--report-dir", "merged"],
        &["merge", &file, "--report-dir", "merged", "--format", "json"],
        &["merge", &file, "--report-dir", "merged", "--format", "markdown"],
        &["run", "--import", &file, "--report-dir", "imported"],
        &["run", "--import", &file, "--report-dir", "imported", "--format", "json"],
        &["expectations", "record", &file, "--root", "nowhere"],
    ];
    for arguments in commands {
        let printed = sandbox.run(arguments);
        assert!(matches!(printed.code, Some(0..=2)), "{arguments:?}: {}", printed.stderr);
        assert_harmless(&printed);
        let is_json = arguments.contains(&"json");
        if is_json {
            serde_json::from_str::<Value>(&printed.stdout).expect("the output is JSON");
        }
        let shown = if is_json { "\\u001b[8m\\u001b]0;title" } else { SHOWN };
        let all = format!("{}{}", printed.stdout, printed.stderr);
        assert!(all.contains(shown) || arguments.contains(&"record"), "{arguments:?}:\n{all}");
    }
    for file in ["report.md", "junit.xml", "report.html", "results.json"] {
        let text = fs::read_to_string(sandbox.path("merged").join(file)).expect("merge wrote it");
        assert!(!text.contains(['\x1b', '\x07', '\u{9b}', '\r', '\u{202e}', '\u{7f}']), "{file}");
    }
}

#[test]
fn an_id_that_a_shell_would_run_is_refused() {
    let sandbox = Sandbox::new(&["fail"], 20);
    let text = results(&sandbox).to_string().replace("tcp-level-1t1g@poll", "x'; echo gotcha; '@poll");
    sandbox.put("other.json", text);
    let merged = sandbox.run(&["merge", "other.json", "--report-dir", "merged"]);
    merged.expect(2, &["the field `cells[0].id` is 'selftest/fail/x'; echo gotcha; '@poll'"]);
}

#[test]
fn control_sequences_in_the_output_of_a_prefix_are_escaped() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let hostile = octal();
    // First in a console message beside the executor's output, then in the reason for its end.
    let prefix = sandbox.script(
        "prefix",
        &format!("case $3 in exec) printf 'on the console{hostile}\\n' ;; esac; exec \"$@\""),
    );
    let printed = sandbox.run(&["run", "--prefix", &prefix]);
    printed.expect(0, &["on the console", SHOWN]);
    assert_harmless(&printed);
    let prefix = sandbox.script("prefix", &format!("printf 'no way in{hostile}\\n' >&2; exit 3"));
    let printed = sandbox.run(&["run", "--prefix", &prefix]);
    printed.expect(1, &["no way in", SHOWN, "1 not-run"]);
    assert_harmless(&printed);
}

#[test]
fn control_sequences_from_an_adapter_and_in_file_names_are_escaped() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let adapter =
        sandbox.script("adapter", &format!("printf 'no JSON{}\\n'; printf 'why{0}\\n' >&2", octal()));
    let printed = sandbox.run(&["run", "--adapter", &adapter]);
    printed.expect(2, &["error: --adapter", SHOWN]);
    assert_harmless(&printed);
    let named = sandbox.path(&format!("named{TEXT}")).display().to_string();
    for arguments in
        [&["--matrix", &named, "list"][..], &["diff", &named, &named], &["adapter", "check", &adapter]]
    {
        let printed = answer(Command::new(POLLMATRIX).args(arguments));
        assert!(matches!(printed.code, Some(1 | 2)), "{arguments:?}");
        assert_harmless(&printed);
        assert!(
            format!("{}{}", printed.stdout, printed.stderr).contains(SHOWN),
            "{arguments:?}: {}",
            printed.stderr
        );
    }
    let text = sandbox.text("matrix.yml");
    fs::write(&named, text.replace("selftest/pass,", "selftest/pass, triggers: [\"\\e[8m\\e]0;title\\a\"],"))
        .expect("writable");
    let printed = answer(Command::new(POLLMATRIX).args(["--matrix", &named, "list"]));
    printed.expect(2, &["unknown trigger '\\u{1b}[8m\\u{1b}]0;title\\u{7}'"]);
    assert_harmless(&printed);
}
