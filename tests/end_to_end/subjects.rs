//! Other people's pollers: columns of a run, and the check of an adapter.

use std::process::Command;

use serde_json::Value;
use subjects::testing::lacks;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/python/adapter.py");
/// The example with one mistake, which comes first.
const BAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../subjects/tests/bad_adapter.py");
const SCENARIO: &str = "readiness/pipe-idle";

/// A sandbox whose matrix has one row, besides a scenario that no raw poller is asked.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios(&format!("  - id: {SCENARIO}\n"));
    sandbox
}

fn cells(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.results()["cells"].as_array().expect("cells is a list").clone()
}

fn check(arguments: &[&str]) -> Answer {
    answer(Command::new(POLLMATRIX).arg("subject-check").args(arguments))
}

#[test]
fn a_library_and_a_program_are_columns_of_rows_alone() {
    if lacks("python3") {
        return;
    }
    let sandbox = sandbox();
    let python = format!("python3 '{EXAMPLE}' poll");
    sandbox.run(&["run", "--subject", "mio", "--subject", &python]).expect(0, &[" as expected"]);
    let cells = cells(&sandbox);
    assert!(!cells.is_empty());
    for cell in &cells {
        assert_eq!((&cell["scenario"], &cell["status"]), (&SCENARIO.into(), &"pass".into()), "{cell}");
        let words = match (cell["backend"].as_str(), cell["params"]["trigger"].as_str()) {
            (Some("mio"), Some("edge")) => "mio",
            (Some("python-poll"), Some("level")) => "python-poll",
            other => panic!("{other:?} is no column of a subject"),
        };
        let asked = |check: &Value| check["asked"]["api"] == words;
        assert!(cell["checks"].as_array().is_some_and(|checks| checks.iter().any(asked)), "{cell}");
        let command = cell["reproducer"].as_str().expect("every cell has one");
        assert!(command.contains(" --subject "), "{command}");
    }
    // What is typed again runs the cell again.
    let mine = cells.iter().find(|cell| cell["backend"] == "python-poll").expect("it has cells");
    let command = mine["reproducer"].as_str().and_then(|command| command.strip_prefix("pollmatrix "));
    let words = shlex::split(command.expect("it is pollmatrix's")).expect("a shell takes it");
    answer(Command::new(POLLMATRIX).args(words).current_dir(sandbox.path("."))).expect(0, &["1 as expected"]);
}

#[test]
fn a_subject_stands_beside_a_backend_that_is_named() {
    let sandbox = sandbox();
    let both = ["--subject", "polling", "--backend", "poll", "--backend", "polling"];
    sandbox
        .run(&[&["list", "--layer", "characterisation"], &both[..]].concat())
        .expect(0, &["@poll\n", "@polling\n"]);
    let line = "own and peer are connected, watch own, peer sends 1, look at own";
    let shown = answer(Command::new(POLLMATRIX).args(["probe", line, "--transport", "unix"]).args(both));
    shown.expect(0, &["poll ", "polling", "IN|OUT", "readable|writable"]);
}

#[test]
fn a_subject_that_breaks_the_protocol_breaks_its_cells_and_names_the_line() {
    if lacks("python3") {
        return;
    }
    let sandbox = sandbox();
    sandbox.run(&["run", "--subject", &format!("python3 '{BAD}' prints poll")]).expect(1, &["broken"]);
    let cells = cells(&sandbox);
    assert!(!cells.is_empty());
    for cell in cells {
        assert_eq!(cell["status"], "broken");
        let reason = cell["reason"].as_str().expect("broken has a reason");
        assert!(reason.contains("of its output is no answer: 'DEBUG: waiting'"), "{reason}");
        assert_eq!(cell["checks"], Value::Array(Vec::new()), "what it said is no answer");
    }
}

/// It would be as long on a machine of any speed.
#[test]
fn what_must_come_is_waited_for_as_long_as_the_machine_is_slow() {
    if lacks("python3") {
        return;
    }
    let subject = format!("python3 '{BAD}' loses-all poll");
    let cell = format!("{SCENARIO}/pipe-level-1t1g@python-poll");
    let ran = answer(
        Command::new(POLLMATRIX).args(["run-cell", &cell, "--seed", "1", "--subject", &subject]).args([
            "--patience-ms",
            "50",
            "--slow",
            "3",
        ]),
    );
    let attempt: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(attempt["status"], "broken");
    assert_eq!(attempt["reason"], "python-poll reported nothing of the fence within 150ms");
}

/// Its answers are its own: a kernel's file is read by every cell, and this one by the subject's.
#[test]
fn what_a_subject_answers_is_recorded_in_its_own_file_and_known_then() {
    if lacks("python3") {
        return;
    }
    let sandbox = sandbox();
    let expected = sandbox.path("expected");
    std::fs::create_dir_all(expected.join("answers")).expect("writable");
    std::fs::write(expected.join("divergences.yml"), "divergences: []\n...\n").expect("writable");
    let python = format!("python3 '{EXAMPLE}' poll");
    let run = |command: &[&str]| sandbox.run(&[command, &["--expectations", "expected"]].concat());
    let asked = ["run", "--subject", &python];
    run(&asked).expect(0, &["answers not known before"]);
    run(&["record", "pollmatrix-report"]).expect(0, &["added ", "python-poll@level: silent"]);
    let own = expected.join(format!("subjects/python-poll/{}.yml", std::env::consts::OS));
    let text = std::fs::read_to_string(&own).expect("it was recorded");
    assert!(text.contains("      python-poll@level: 'silent'\n"), "{text}");
    assert!(std::fs::read_dir(expected.join("answers")).is_ok_and(|mut files| files.next().is_none()));
    let known = run(&asked);
    known.expect(0, &["as expected"]);
    assert!(!known.stdout.contains("not known before"), "{}", known.stdout);
    // What is known can be wrong.
    std::fs::write(&own, text.replace("'silent'", "'IN'")).expect("writable");
    run(&asked).expect(1, &["fail"]);
}

#[test]
fn a_subject_that_cannot_be_asked_is_refused_before_anything_runs() {
    if lacks("python3") {
        return;
    }
    let sandbox = sandbox();
    let refused = |subject: &str, says: &[&str]| {
        sandbox.run(&["run", "--subject", subject]).expect(2, says);
        assert!(!sandbox.path("pollmatrix-report").exists());
    };
    refused("moi", &["--subject moi: 'moi' cannot be started: ", "did you mean 'mio'?", "subject-check"]);
    refused("'open", &["a quote is not closed"]);
    refused(
        &format!("python3 '{BAD}' exits-127 poll"),
        &["exited with 127", "nothing to ask on this system"],
    );
    refused(&format!("python3 '{BAD}' loud poll"), &["'Python, the one and only' is no name"]);
    sandbox
        .run(&["run", "--subject", "mio", "--subject", "mio"])
        .expect(2, &["there is a column 'mio' already", "give each subject once"]);
    sandbox
        .run(&["run", "--subject", "mio", "--target", "all"])
        .expect(2, &["--subject mio: subjects are asked on this very machine only"]);
}

#[test]
fn an_adapter_is_checked() {
    if lacks("python3") {
        return;
    }
    check(&["--only", "token", "--", "python3", EXAMPLE, "poll"]).expect(
        0,
        &["ok    hello\n", "ok    token-round-trip\n", "2 checks: 2 passed, 0 unsupported, 0 failed"],
    );
    check(&["--only", "token", "--", "python3", BAD, "wrong-token", "poll"]).expect(
        1,
        &[
            "FAIL  token-round-trip: token 0 is ready, and reported is: 10: IN\n      an event has the token",
            "1 failed",
        ],
    );
    check(&["python3", BAD, "exits-127", "poll"])
        .expect(127, &["-     hello: unsupported: ", "exited with 127"]);
    check(&["./no-such-adapter"]).expect(1, &["'./no-such-adapter' cannot be started"]);
    check(&[]).expect(2, &["COMMAND"]);
    let shown = check(&["--only", "level", "--format", "json", "mio"]);
    shown.expect(127, &[]);
    let checks: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!((&checks[0]["check"], &checks[0]["status"]), (&"level-repeats".into(), &"unsupported".into()));
    assert_eq!(checks[0]["reason"], "there is no Level");
}
