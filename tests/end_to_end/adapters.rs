//! Adapters: as columns of a run, and checked by `adapter check`.

use std::fs;
use std::path::Path;

use adapters::testing::lacks;
use serde_json::Value;

use crate::sandbox::{Answer, BAD, EXAMPLE, Sandbox, empty_expectations, pollmatrix, python};

const SCENARIO: &str = "readiness/pipe-idle";

/// Creates a sandbox whose matrix has one characterisation scenario and one contract scenario.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios(&format!("  - id: {SCENARIO}\n"));
    sandbox
}

fn check(arguments: &[&str]) -> Answer {
    pollmatrix(&[&["adapter", "check"], arguments].concat())
}

/// Asks an adapter, beside the pollers of `more`.
fn probe(script: &str, transport: &str, adapter: &str, more: &[&str]) -> Answer {
    let asked = ["probe", script, "--transport", transport, "--adapter", adapter];
    pollmatrix(&[&asked, more].concat())
}

#[test]
fn built_in_and_external_adapters_run_characterisation_cells_only() {
    let Some(example) = python(EXAMPLE) else { return };
    let sandbox = sandbox();
    let python = format!("{example} poll");
    sandbox.run(&["run", "--adapter", "mio", "--adapter", &python]).expect(0, &[" as expected"]);
    let cells = sandbox.cells();
    assert!(!cells.is_empty());
    for cell in &cells {
        assert_eq!((&cell["scenario"], &cell["status"]), (&SCENARIO.into(), &"pass".into()), "{cell}");
        let words = match (cell["backend"].as_str(), cell["params"]["trigger"].as_str()) {
            (Some("mio"), Some("edge")) => "mio",
            (Some("python-poll"), Some("level")) => "python-poll",
            other => panic!("{other:?} is no column of an adapter"),
        };
        let asked = |check: &Value| check["asked"]["api"] == words;
        assert!(cell["checks"].as_array().is_some_and(|checks| checks.iter().any(asked)), "{cell}");
        let command = cell["reproducer"].as_str().expect("every cell has one");
        assert!(command.contains(" --adapter "), "{command}");
    }
    // The reproducer runs the cell again.
    let cell = cells.iter().find(|cell| cell["backend"] == "python-poll").expect("the adapter has cells");
    sandbox.reproduce(cell).expect(0, &["1 as expected"]);
}

#[test]
fn a_scenario_of_the_core_says_why_an_adapter_cannot_run_it() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios("  - id: shared-listener/wake-distribution\n");
    let run = sandbox.run(&["run", "shared-listener", "--adapter", "polling"]);
    run.expect(0, &["it needs the event loop of fd-core, and polling is an adapter"]);
}

#[test]
fn an_adapter_and_a_selected_backend_are_side_by_side() {
    let sandbox = sandbox();
    let both = ["--backend", "poll", "--backend", "polling"];
    sandbox
        .run(&[&["list", "--layer", "characterisation", "--adapter", "polling"], &both[..]].concat())
        .expect(0, &["@poll\n", "@polling\n"]);
    let line = "own and peer are connected, watch own, peer sends 1, look at own";
    probe(line, "unix", "polling", &both).expect(0, &["poll ", "polling", "IN|OUT", "readable|writable"]);
}

#[test]
fn a_protocol_error_of_an_adapter_breaks_the_cell_and_shows_the_line() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = sandbox();
    sandbox.run(&["run", "--adapter", &format!("{bad} prints poll")]).expect(1, &["broken"]);
    let cells = sandbox.cells();
    assert!(!cells.is_empty());
    for cell in cells {
        assert_eq!(cell["status"], "broken");
        let reason = cell["reason"].as_str().expect("broken has a reason");
        assert!(reason.contains("of the output is not an answer: 'DEBUG: waiting'"), "{reason}");
        assert_eq!(cell["checks"], Value::Array(Vec::new()), "the invalid line is no answer");
    }
}

/// The program aborts in its first wait. That is the answer, and the rest of the script is not missing.
#[test]
fn the_abort_of_a_program_fails_and_once_it_is_recorded_it_is_a_known_failure() {
    let Some(bad) = python(BAD) else { return };
    let Some(example) = python(EXAMPLE) else { return };
    let sandbox = sandbox();
    let adapter = format!("{bad} crashes poll");
    empty_expectations(&sandbox.path("expected"));
    let run = |command: &[&str]| expecting(&sandbox, command);
    let asked = ["run", "--adapter", &adapter];
    run(&asked).expect(1, &["2 fail", "aborts(SIGABRT): the program ended, which is wrong in every reading"]);
    let unknown = sandbox.cells();
    for cell in &unknown {
        assert_eq!(
            (&cell["status"], &cell["checks"][0]["observed"], &cell["checks"][0]["defect"]),
            (&"fail".into(), &"aborts(SIGABRT)".into(), &"program-ended".into())
        );
        let notes = cell["notes"].to_string();
        assert!(notes.contains("the program ended (signal: 6 (SIGABRT)"), "{notes}");
    }
    run(&["expectations", "judge", "pollmatrix-report"])
        .expect(1, &["WRONG ", "2 are wrong in every reading"]);
    run(&["expectations", "record", "pollmatrix-report"]).expect(
        0,
        &["added ", "python-poll@level: aborts(SIGABRT) (wrong in every reading: the program ended)"],
    );
    let text = sandbox.text(&own_answers());
    assert!(text.contains("      python-poll@level: 'aborts(SIGABRT)'\n"), "{text}");
    run(&asked).expect(0, &["2 known-fail"]);
    let reason = sandbox.cells()[0]["reason"].to_string();
    assert!(
        reason.contains("which is wrong in every reading; recorded (measured on python-poll"),
        "{reason}"
    );
    run(&["expectations", "judge", "pollmatrix-report"])
        .expect(0, &["known ", "2 are wrong in every reading, and recorded"]);
    // The library without the bug: its answer is right, and the record is out of date.
    let mended = format!("{example} poll");
    run(&["run", "--adapter", &mended]).expect(1, &["2 unexpected-pass"]);
    run(&["expectations", "judge", "pollmatrix-report"]).expect(1, &["WRONG "]);
}

#[test]
fn a_poller_that_times_out_early_fails_without_an_expectation() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios("  - id: time/never-early-50ms\n");
    empty_expectations(&sandbox.path("expected"));
    let run = |mistake: &str| {
        let adapter = format!("{bad} {mistake} select");
        sandbox.run(&["run", "--adapter", &adapter, "--expectations", "expected"])
    };
    let shown = run("early");
    shown.expect(
        1,
        &[
            // On a busy machine, not all of the 20 waits.
            "50ms: early x",
            ": a wait returned before its timeout, which is wrong in every reading",
            "python-select differs from select in 1 answer of 1: a wait returned before its\n  timeout (1)\n",
        ],
    );
    assert_eq!(sandbox.cells()[0]["checks"][0]["defect"], "early");
    // The same adapter without a mistake answers nothing that is known, and passes.
    run("none").expect(0, &["1 new"]);
    let probe = |mistake: &str| {
        let adapter = format!("{bad} {mistake} select");
        pollmatrix(&["probe", "time/never-early-50ms", "--adapter", &adapter, "--backend", "python-select"])
    };
    probe("early")
        .expect(1, &[": early x", ": a wait returned before its timeout, which is wrong in every reading"]);
    probe("none").expect(0, &["timed out x20"]);
}

#[test]
fn a_poller_that_loses_data_or_reports_a_removed_registration_fails_without_an_expectation() {
    let Some(bad) = python(BAD) else { return };
    let probe = |mistake: &str, script: &str| {
        probe(script, "unix", &format!("{bad} {mistake} poll"), &["--backend", "python-poll"])
    };
    let data = "own and peer are connected, add own for reading, t waits, peer sends 1, t answers";
    probe("none", data).expect(0, &["IN"]);
    probe("deaf-for-sockets", data)
        .expect(1, &["data of a registered descriptor was not reported, which is wrong in every reading"]);
    let removed =
        "own and peer are connected, add own, peer sends 1, wait as before, remove own, wait as after";
    probe("none", removed).expect(0, &["silent"]);
    for (mistake, answered) in [("keeps-removed", "IN"), ("forgets-token", "stale-token:IN")] {
        let why = "an event of a registration that has ended, which is wrong in every reading";
        probe(mistake, removed).expect(1, &[answered, why]);
    }
}

#[test]
fn a_run_ends_with_the_differences_of_each_adapter_from_the_interface_below_it() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios("  - id: readiness/pipe-data-writer-closed\n");
    let run = |mistake: &str| {
        let adapter = format!("{bad} {mistake} poll");
        sandbox.run(&["run", "--adapter", &adapter])
    };
    // It is between the totals and the path of the report.
    run("loses-hang-ups").expect(
        1,
        &[
            ")\npython-poll differs from poll in 2 answers of 2: hides readable (2), hides\n  hang-up (2)\npython-poll by topic: `pollmatrix site` builds site/pollers/python-poll.html\nReport: ",
        ],
    );
    let printed = run("none");
    printed.expect(0, &[")\npython-poll answers as poll in all 2 answers that can be compared\n"]);
    assert!(printed.stdout.lines().all(|line| line.chars().count() <= 80), "{}", printed.stdout);
    let backend = sandbox.run(&["run", "--layer", "characterisation", "--backend", "poll"]);
    assert!(!backend.stdout.contains("answers as"), "a backend is no adapter: {}", backend.stdout);
}

/// Nobody has recorded its answers: the results have them, and the folder those of the system.
#[test]
fn the_site_has_a_page_for_an_adapter_that_only_the_results_know() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios("  - id: readiness/pipe-data-writer-closed\n");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../expectations");
    for file in ["answers/linux.yml", "divergences.yml"] {
        sandbox.put(&format!("known/{file}"), fs::read_to_string(recorded.join(file)).expect("readable"));
    }
    let adapter = format!("{bad} loses-hang-ups poll");
    let site = |results: &[&str]| {
        sandbox.run(&[&["site", "--expectations", "known"], results].concat()).expect(0, &[]);
        fs::read_to_string(sandbox.path("site/pollers/python-poll.html"))
    };
    sandbox.run(&["run", "--adapter", &adapter, "--report-dir", "report"]);
    assert!(site(&[]).is_err(), "nothing is known of it");
    let page = site(&["report"]).expect("the adapter has a page");
    assert!(page.contains("hides hang-up"), "{page}");
    assert!(sandbox.text("site/index.html").contains("python-poll.html"));
}

/// Such an event is none of the descriptor that was asked about.
#[test]
fn an_event_with_the_token_of_no_registration_is_an_answer_of_its_own() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = sandbox();
    let adapter = format!("{bad} stale-token poll");
    let asked = "own and peer are connected, watch own, peer sends 1, wait as data, look at own as data";
    probe(asked, "pipe", &adapter, &["--backend", "python-poll", "--backend", "poll"]).expect(
        1,
        &[
            "pipe:data   stale-token:IN ",
            "  again     silent stale-token:IN  IN",
            "stale-token:IN: an event of a registration that has ended, which is wrong in every reading",
        ],
    );
    sandbox.add_scenarios("  - id: readiness/pipe-writer-closed\n");
    sandbox.run(&["run", "readiness/pipe-writer-closed", "--adapter", &adapter]).expect(1, &["fail"]);
    let cells = sandbox.cells();
    assert!(cells[0]["reason"].to_string().contains("silent stale-token:HUP"), "{}", cells[0]["reason"]);
}

/// To start a program is not to make a poller: the failure is that of this process.
#[test]
fn a_program_is_not_asked_whether_it_can_be_started() {
    let Some(example) = python(EXAMPLE) else { return };
    let adapter = format!("{example} poll");
    pollmatrix(&["probe", "T13", "--adapter", &adapter, "--backend", "python-poll"])
        .expect(127, &["python-poll: unsupported: python-poll is in another process: the limits of this"]);
}

/// The limit does not depend on the real speed of this machine.
#[test]
fn slow_multiplies_the_patience_for_a_fence() {
    let Some(bad) = python(BAD) else { return };
    let adapter = format!("{bad} loses-all poll");
    let cell = format!("{SCENARIO}/pipe-level-1t1g@python-poll");
    let asked = ["worker", "cell", &cell, "--seed", "1", "--adapter", &adapter];
    let attempt: Value = pollmatrix(&[&asked[..], &["--patience-ms", "50", "--slow", "3"]].concat()).json();
    assert_eq!(attempt["status"], "broken");
    assert_eq!(attempt["reason"], "python-poll did not report the fence within 150ms");
}

/// Returns the file of the answers of Python's poll.
fn own_answers() -> String {
    format!("expected/adapters/python-poll/{}.yml", std::env::consts::OS)
}

/// Runs the executable with the expectations of a folder in the sandbox.
fn expecting(sandbox: &Sandbox, command: &[&str]) -> Answer {
    sandbox.run(&[command, &["--expectations", "expected"]].concat())
}

/// Creates a sandbox in which the answers of Python's poll are recorded. Returns their file's text, too.
fn recorded(python: &str) -> (Sandbox, String) {
    let sandbox = sandbox();
    empty_expectations(&sandbox.path("expected"));
    expecting(&sandbox, &["run", "--adapter", python]).expect(0, &["answers not known before"]);
    expecting(&sandbox, &["expectations", "record", "pollmatrix-report"])
        .expect(0, &["added ", "python-poll@level: silent"]);
    let text = sandbox.text(&own_answers());
    (sandbox, text)
}

/// Answers of an adapter have separate files, which only the cells of that adapter read.
#[test]
fn answers_of_an_adapter_are_recorded_in_a_separate_file_and_known_afterwards() {
    let Some(example) = python(EXAMPLE) else { return };
    let python = format!("{example} poll");
    let (sandbox, text) = recorded(&python);
    let run = |command: &[&str]| expecting(&sandbox, command);
    let asked = ["run", "--adapter", &python];
    assert!(text.contains("      python-poll@level: 'silent'\n"), "{text}");
    let version = sandbox.results()["runs"][0]["adapters"]["python-poll"].clone();
    let version = version.as_str().expect("the run has the version of the adapter");
    assert!(version.starts_with("3."), "{version}");
    let source = format!("    text: 'measured on python-poll {version} on {} ", std::env::consts::OS);
    assert!(text.contains(&source), "{text}");
    assert!(text.contains(&format!("source: recorded-python-poll-{version}-")), "{text}");
    // The cell is in no matrix file.
    let cell = format!("{SCENARIO}/pipe-level-1t1g@python-poll");
    sandbox.run(&["show", &cell]).expect(0, &["status      pass", "observed: silent"]);
    assert!(
        std::fs::read_dir(sandbox.path("expected/answers")).is_ok_and(|mut files| files.next().is_none())
    );
    let known = run(&asked);
    known.expect(0, &["as expected"]);
    assert!(!known.stdout.contains("not known before"), "{}", known.stdout);
    // A recorded answer that differs is a failure.
    sandbox.edit(&own_answers(), "'silent'", "'IN'");
    run(&asked).expect(1, &["fail"]);
}

/// A folder in somebody's own repository. The built-in answers of the system and of the adapter are below it.
#[test]
fn a_folder_without_divergences_is_read_over_the_built_in_answers() {
    let Some(example) = python(EXAMPLE) else { return };
    let Some(bad) = python(BAD) else { return };
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("expected")).expect("writable");
    let run = |command: &[&str]| expecting(&sandbox, command);
    run(&["run", "--backend", "poll", "--layer", "characterisation"]).expect(0, &["as expected"]);
    let asked = |python: &str| run(&["run", "--adapter", &format!("{python} poll")]);
    asked(&example).expect(0, &[]);
    let record = || run(&["expectations", "record", "pollmatrix-report"]);
    record().expect(0, &["added ", "python-poll@level: silent"]);
    assert!(!sandbox.path("expected/answers").exists(), "the answers of the system are built in");
    let text = sandbox.text(&own_answers());
    asked(&example).expect(0, &["2 as expected"]);
    // The poller has changed, and whoever changed it records its answers again.
    asked(&format!("{bad} crashes")).expect(1, &["2 fail"]);
    record().expect(0, &["replaced ", "it was silent"]);
    asked(&format!("{bad} crashes")).expect(0, &["2 known-fail"]);
    let check = || sandbox.run_built_in(&["expectations", "check", "--dir", "expected"]);
    check().expect(0, &["measured"]);
    sandbox.put(&own_answers(), text.replace("'silent'", "''"));
    check().expect(2, &["an empty answer"]);
    // An entry hides the built-in one, and a complete folder hides all of them.
    sandbox.put(&own_answers(), text.replace("'silent'", "'IN'"));
    asked(&example).expect(1, &["expected IN, observed silent"]);
    sandbox.put("expected/divergences.yml", "divergences: []\n");
    run(&["run", "--backend", "poll", "--layer", "characterisation"]).expect(0, &["not known before"]);
}

/// The kernel has another patch level, or is another one: it is not what has changed.
#[test]
fn a_regression_of_a_library_is_a_failure_on_every_kernel() {
    let Some(example) = python(EXAMPLE) else { return };
    let python = format!("{example} poll");
    let (sandbox, text) = recorded(&python);
    let run = |command: &[&str]| expecting(&sandbox, command);
    let text = text.replace("'silent'", "'IN'");
    let of = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("    {key}: ")));
        line.unwrap_or_else(|| panic!("the source has no {key}:\n{text}")).to_owned()
    };
    let (kernel, poller) = (of("version"), of("poller"));
    let numbers: Vec<_> = kernel.split(['\'', '.']).collect();
    let other_patch_level = format!("    version: '{}.{}.999'", numbers[1], numbers[2]);
    for other in [kernel.clone(), other_patch_level, "    version: '0.1'".to_owned()] {
        sandbox.put(&own_answers(), text.replace(&kernel, &other));
        run(&["run", "--adapter", &python]).expect(1, &["fail"]);
        run(&["expectations", "judge", "pollmatrix-report"]).expect(1, &["WRONG"]);
    }
    // Another version of the library: the answer was measured on that one.
    sandbox.put(&own_answers(), text.replace(&poller, "    poller: '2.7.1'"));
    run(&["run", "--adapter", &python]).expect(0, &["permitted"]);
    let reason = sandbox.cells()[0]["reason"].to_string();
    assert!(
        reason.contains("measured on version 2.7.1 of the poller and is a hypothesis for 3."),
        "{reason}"
    );
    run(&["expectations", "judge", "pollmatrix-report"]).expect(0, &["differs"]);
}

#[test]
fn an_unusable_adapter_is_refused_before_any_cell_runs() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = sandbox();
    let refused = |adapter: &str, says: &[&str]| {
        sandbox.run(&["run", "--adapter", adapter]).expect(2, says);
        assert!(!sandbox.path("pollmatrix-report").exists());
    };
    refused("moi", &["--adapter moi: 'moi' cannot be started: ", "did you mean 'mio'?", "adapter check"]);
    refused("'open", &["a quote is not closed"]);
    refused(&format!("{bad} exits-127 poll"), &["exited with 127", "this system cannot run it"]);
    refused(&format!("{bad} loud poll"), &["'Python, the one and only' is not a name"]);
    sandbox
        .run(&["run", "--adapter", "mio", "--adapter", "mio"])
        .expect(2, &["there is already a column 'mio'", "give each adapter once"]);
    sandbox
        .run(&["run", "--adapter", "mio", "--target", "all"])
        .expect(2, &["--adapter mio: adapters run natively on this machine only"]);
}

#[test]
fn adapter_check_reports_passed_unsupported_and_failed_checks() {
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
            "FAIL  token-round-trip: token 0 is ready, but reported: 10: IN\n      an event has the token",
            "1 failed",
        ],
    );
    check(&["python3", BAD, "exits-127", "poll"])
        .expect(127, &["-     hello: unsupported: ", "exited with 127"]);
    check(&["./no-such-adapter"]).expect(1, &["'./no-such-adapter' cannot be started"]);
    check(&[]).expect(2, &["COMMAND"]);
    let shown = check(&["--only", "level", "--format", "json", "mio"]);
    shown.expect(127, &[]);
    let checks: Value = shown.json();
    assert_eq!((&checks[0]["check"], &checks[0]["status"]), (&"level-repeats".into(), &"unsupported".into()));
    assert_eq!(checks[0]["reason"], "there is no Level");
}
