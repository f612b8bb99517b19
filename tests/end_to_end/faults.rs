//! The kill matrix and its record.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use adapters::testing::lacks;
use nix::sys::signal::Signal;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, eventually, interrupted, pollmatrix, signal};

/// Adds scenarios to the matrix, one per line.
fn add_scenarios(sandbox: &Sandbox, lines: &[&str]) {
    let entries: String = lines.iter().map(|line| format!("  - {{ {line}, {SHAPE} }}\n")).collect();
    sandbox.add_scenarios(&entries);
}

/// The axes that the lines have in common.
const SHAPE: &str = "triggers: [level], groups: [1]";

/// Runs `faults` with the built-in matrix.
fn faults(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    sandbox.run_built_in(&[&["faults"], arguments].concat())
}

fn tries(sandbox: &Sandbox) -> String {
    sandbox.text("pollmatrix-report/kill-matrix.jsonl")
}

/// The control and a scenario of the core.
const CONTROL: &str = "id: harness/control, transports: [pipe], threads: [1]";
const DISOWN: &str = "id: deletion/disown, transports: [pipe, unix], threads: [1]";

/// What `faults` prints for a killed fault.
const KILLED: &str = "1 faults: 1 killed, 0 caught by the harness, 0 survive";

fn kernel() -> String {
    matrix::provenance::kernel().0
}

/// Returns a system that this one is not.
fn other_system() -> &'static str {
    if cfg!(target_os = "linux") { "freebsd" } else { "linux" }
}

/// Creates a sandbox with these lines in its matrix.
fn core(lines: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(&[], 20);
    add_scenarios(&sandbox, lines);
    sandbox
}

#[test]
fn a_fault_is_killed_by_a_cell_that_passes_without_it() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found = faults(
        &sandbox,
        &["deletion/disown/pipe-level-1t1g@poll", "--fault", "disown-closes", "--seed", "7"],
    );
    found.expect(0, &["disown-closes  F", KILLED, "1 proven to kill one"]);
    let matrix = sandbox.json("pollmatrix-report/kill-matrix.json");
    let kill = &matrix["faults"][0]["pairs"][0]["kill"];
    assert_eq!((&kill["how"], &kill["proof"]), (&"fail".into(), &"always".into()), "{matrix}");
    assert!(sandbox.path("pollmatrix-report/kill-matrix.md").exists());
    // The cell is tried with several seeds, each with the fault and without it, and with the fault in the
    // control.
    let lines = tries(&sandbox);
    let count = |cell: &str, fault: &str| {
        lines
            .lines()
            .filter(|line| line.contains(cell) && line.contains(&format!("\"fault\":{fault},")))
            .count()
    };
    assert_eq!(count("deletion/disown/", "\"disown-closes\""), 8, "{lines}");
    assert_eq!(count("deletion/disown/", "null"), 9, "{lines}");
    assert_eq!(count("harness/control/pipe-level-1t1g@poll", "\"disown-closes\""), 8, "{lines}");
}

#[test]
fn surviving_faults_and_scenarios_without_a_kill_are_listed_and_fail() {
    let sandbox = Sandbox::new(&["pass"], 20);
    // This scenario does not exercise this fault.
    faults(&sandbox, &["deletion/disown/pipe-level-1t1g", "--fault", "takeover-ignores-owner"]).expect(
        1,
        &[
            "SURVIVES   takeover-ignores-owner",
            "KILLS NONE deletion/disown",
            "0 caught by the harness, 1 survive",
        ],
    );
    // A selection of faults does not report scenarios without a kill.
    add_scenarios(&sandbox, &[CONTROL]);
    let part = sandbox.run(&["faults", "--fault", "takeover-ignores-owner"]);
    part.expect(1, &["SURVIVES   takeover-ignores-owner"]);
    assert!(!part.stdout.contains("KILLS NONE"), "{}", part.stdout);
}

#[test]
fn a_cell_that_fails_without_a_fault_proves_no_kill() {
    let sandbox = Sandbox::new(&["fail", "panic", "broken"], 20);
    add_scenarios(&sandbox, &[CONTROL]);
    let found = sandbox.run(&["faults", "--fault", "double-close"]);
    found.expect(1, &["SURVIVES   double-close", "unfit      selftest/fail/tcp-level-1t1g@poll: fail: "]);
}

#[test]
fn a_resumed_run_repeats_no_attempt() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let arguments = ["deletion/disown/pipe-level", "--fault", "disown-closes", "--jobs", "1"];
    let first = faults(&sandbox, &arguments);
    let lines = tries(&sandbox);
    // The state after a kill in the middle of the last line.
    sandbox.put("pollmatrix-report/kill-matrix.jsonl", &lines[..lines.len() - 5]);
    let again = faults(&sandbox, &[&arguments[..], &["--resume"]].concat());
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(tries(&sandbox).lines().count(), lines.lines().count());
    // The state after damage to the third line, the first attempt: only this attempt is repeated.
    let third = lines.lines().nth(2).expect("the file has lines");
    sandbox.put("pollmatrix-report/kill-matrix.jsonl", lines.replacen(third, "{", 1));
    let again = faults(&sandbox, &[&arguments[..], &["--resume"]].concat());
    again.expect(0, &["kill-matrix.jsonl: line 3 cannot be read; the other results are used"]);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(tries(&sandbox).lines().count(), lines.lines().count() + 1);
    sandbox.put("pollmatrix-report/kill-matrix.jsonl", lines.replacen("begin", "bgein", 1));
    faults(&sandbox, &[&arguments[..], &["--resume"]].concat())
        .expect(2, &["is not a journal of this pollmatrix: line 1 does not identify", "help: omit --resume"]);
}

#[test]
fn the_record_is_verified_and_must_be_complete() {
    let sandbox = Sandbox::new(&["pass"], 20);
    add_scenarios(&sandbox, &[CONTROL]);
    let quick = || sandbox.run(&["faults", "--quick", "--recorded", "kills.tsv"]);
    sandbox.put("kills.tsv", "# nothing\n");
    quick().expect(
        1,
        &[
            "the fault double-close is not recorded",
            "the scenario selftest/pass is not recorded",
            "`pollmatrix faults --record`",
        ],
    );
    let os = std::env::consts::OS;
    sandbox.put("kills.tsv", format!("{os}\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tfails\n"));
    quick().expect(1, &["double-close is no longer killed by selftest/pass", "SURVIVES   double-close"]);
}

#[test]
fn unknown_names_in_a_record_are_errors() {
    let sandbox = Sandbox::new(&["pass"], 20);
    add_scenarios(&sandbox, &[CONTROL]);
    let again = "--record";
    for (line, says, help) in [
        (
            "linux\tdouble-clos\tselftest/pass/tcp-level-1t1g@poll\tfails",
            "did you mean 'double-close'?",
            again,
        ),
        (
            "linux\tdouble-close\tselftest/pas/tcp-level-1t1g@poll\tfails",
            "did you mean 'selftest/pass/",
            again,
        ),
        (
            "linux\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tburns",
            "neither 'fails' nor 'hangs'",
            again,
        ),
        ("linux double-close", "six fields", again),
        ("linux\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tfails\t\t8", "the kernel is empty", again),
        (
            "linux\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tfails\t6.18\t0",
            "'0' is not a number of seeds",
            again,
        ),
        ("linux\t-\tselftest/pas\ta reason", "there is no scenario", "did you mean 'selftest/pass'?"),
        ("linux\t-\tselftest/pass\t ", "selftest/pass has no reason", "in the fourth field"),
        (
            "linux\t-\tselftest/pass\ta reason\nlinux\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tfails",
            "selftest/pass has a kill, double-close",
            "delete this line",
        ),
    ] {
        sandbox.put("kills.tsv", format!("# a comment\n{line}\n"));
        sandbox
            .run(&["faults", "--quick", "--recorded", "kills.tsv"])
            .expect(2, &[says, "kills.tsv:2: ", help]);
    }
    assert!(!sandbox.path("pollmatrix-report").exists(), "no cell runs");
}

#[test]
fn a_fault_that_fails_the_control_is_no_kill_of_the_scenario() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let both = sandbox.run(&["faults", "--fault", "leak-on-close", "--fault", "disown-closes"]);
    both.expect(
        0,
        &[
            "leak-on-close  F",
            "leak-on-close  h",
            "disown-closes  -",
            "disown-closes  F",
            "harness    leak-on-close: ",
            "2 faults: 1 killed, 1 caught by the harness, 0 survive",
        ],
    );
    let alone = sandbox.run(&["faults", "deletion/disown", "--fault", "leak-on-close"]);
    alone.expect(1, &["KILLS NONE deletion/disown", "0 killed, 1 caught by the harness, 0 survive"]);
    let matrix = sandbox.json("pollmatrix-report/kill-matrix.json");
    let pair = &matrix["faults"][0]["pairs"][0];
    assert_eq!((&pair["killed"], &pair["harness"]), (&0.into(), &2.into()), "{matrix}");
    assert_eq!(pair["kill"]["proof"], "harness", "{matrix}");
}

#[test]
fn cells_without_a_control_are_refused() {
    let sandbox = core(&["id: harness/control, transports: [pipe], threads: [2]", DISOWN]);
    let found = sandbox.run(&["faults", "--fault", "disown-closes"]);
    found.expect(2, &["deletion/disown/pipe-level-1t1g@poll has no control", "help: give harness/control"]);
    assert!(!sandbox.path("pollmatrix-report").exists(), "no cell runs");
}

#[test]
fn a_selected_scenario_is_tried_in_all_its_cells() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let arguments = ["migration/idle-takeover/pipe", "--fault", "takeover-keeps-thread-mask"];
    // In cells of two threads in two groups, the first thread is alone in its group.
    faults(&sandbox, &arguments)
        .expect(0, &["takeover-keeps-thread-mask: 12 of 16 cells of migration/idle-takeover"]);
    let one = faults(&sandbox, &[&arguments[..], &["--cells", "1"]].concat());
    assert!(!one.stdout.contains(" of 16 cells"), "{}", one.stdout);
}

#[test]
fn a_recorded_kill_must_belong_to_the_scenario_or_to_the_control() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let os = std::env::consts::OS;
    let quick = |cell: &str, more: &str| {
        sandbox.put("kills.tsv", format!("{os}\tleak-on-close\t{cell}\tfails\n{more}"));
        sandbox.run(&["faults", "--quick", "--recorded", "kills.tsv"])
    };
    quick("deletion/disown/pipe-level-1t1g@poll", "").expect(
        1,
        &["leak-on-close is caught by the harness, not by deletion/disown", "KILLS NONE deletion/disown"],
    );
    let control = "harness/control/pipe-level-1t1g@poll";
    let unexplained = quick(control, "");
    unexplained.expect(1, &["harness    leak-on-close: ", "the scenario deletion/disown is not recorded"]);
    let explained = quick(control, &format!("{os}\t-\tdeletion/disown\ta reason\n"));
    explained.expect(1, &["no kill    deletion/disown: a reason", "1 with a reason to kill none, 0 must"]);
    for answer in [unexplained, explained] {
        assert!(!answer.stderr.contains("leak-on-close is not recorded"), "{}", answer.stderr);
        assert!(!answer.stdout.contains("SURVIVES   leak-on-close"), "{}", answer.stdout);
    }
}

#[test]
fn recording_a_selection_changes_the_lines_of_that_selection_only() {
    let sandbox = core(&[CONTROL, DISOWN, "id: deletion/own-handler, transports: [pipe], threads: [1]"]);
    let os = std::env::consts::OS;
    // This is not the first cell to be tried.
    let recorded = format!("{os}\tdisown-closes\tdeletion/disown/unix-level-1t1g@poll\tfails");
    let others = [
        format!("{os}\tno-group-check\tdeletion/own-handler/pipe-level-1t1g@poll\tfails"),
        format!("{os}\tno-such-fault\tdeletion/disown/pipe-level-1t1g@poll\tfails"),
        "plan9\tdisown-closes\tdeletion/disown/pipe-level-1t1g@poll\tfails".to_owned(),
    ];
    let wrong = format!("{os}\tno-group-check\tdeletion/disown/pipe-level-1t1g@poll\tfails");
    let excuse = format!("{os}\t-\tdeletion/disown\tnothing kills it");
    let lines = [&others[..], &[recorded.clone(), wrong, excuse]].concat();
    sandbox.put("kills.tsv", lines.join("\n") + "\n");
    let mut arguments = vec!["faults", "deletion/disown", "--record", "--recorded", "kills.tsv"];
    arguments.extend(["--fault", "disown-closes", "--fault", "no-group-check"]);
    sandbox.run(&arguments).expect(0, &["wrote: kills.tsv, 1 kill, 3 other lines kept"]);
    let written = || {
        let text = sandbox.text("kills.tsv");
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    let proof = format!("\t{}\t8", kernel());
    let mut expected = [&others[..], &[recorded + &proof]].concat();
    expected.sort();
    assert_eq!(written(), expected);
    sandbox.run(&arguments).expect(0, &["1 kill, 3 other"]);
    assert_eq!(written(), expected, "a second run changes no line");
    // If both fault and scenario are selected, their kill is recorded although each has another kill.
    let both = [
        format!("{os}\tdelete-twice\tdeletion/disown/pipe-level-1t1g@poll\tfails"),
        format!("{os}\tdisown-closes\tdeletion/own-handler/pipe-level-1t1g@poll\tfails"),
    ];
    sandbox.put("kills.tsv", both.join("\n") + "\n");
    sandbox
        .run(&[
            "faults",
            "deletion/disown/pipe",
            "--fault",
            "disown-closes",
            "--record",
            "--recorded",
            "kills.tsv",
        ])
        .expect(0, &["1 kill, 2 other"]);
    let named = format!("{os}\tdisown-closes\tdeletion/disown/pipe-level-1t1g@poll\tfails{proof}");
    let mut expected = [&both[..], &[named]].concat();
    expected.sort();
    assert_eq!(written(), expected);
}

#[test]
fn a_fault_that_only_the_harness_catches_is_recorded_with_the_control() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let os = std::env::consts::OS;
    sandbox.put("kills.tsv", format!("{os}\tleak-on-close\tdeletion/disown/pipe-level-1t1g@poll\tfails\n"));
    let record = |scenario: &str| {
        sandbox.run(&["faults", scenario, "--record", "--recorded", "kills.tsv", "--fault", "leak-on-close"])
    };
    record("deletion/disown").expect(
        1,
        &[
            "0 kills, 0 other lines kept",
            "leak-on-close has no line in the record: the harness catches it",
            "`pollmatrix faults harness/control --record --fault leak-on-close`",
        ],
    );
    record("harness/control").expect(0, &["1 kill, 0 other lines kept"]);
    let text = sandbox.text("kills.tsv");
    assert!(text.contains("leak-on-close\tharness/control/pipe-level-1t1g@poll\tfails\t"), "{text}");
}

#[test]
fn a_run_is_not_resumed_on_another_machine_or_kernel() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let arguments = ["faults", "deletion/disown", "--fault", "disown-closes"];
    sandbox.run(&arguments).expect(0, &[KILLED]);
    let old = format!("\"kernel\":\"{}\"", kernel());
    sandbox.edit("pollmatrix-report/kill-matrix.jsonl", &old, "\"kernel\":\"0.0.1-older\"");
    sandbox.run(&[&arguments[..], &["--resume"]].concat()).expect(
        2,
        &[
            "the interrupted run was made on",
            "0.0.1-older",
            "help: continue on that machine, or omit --resume",
        ],
    );
}

/// The record of another machine: the file goes there and comes back.
#[test]
fn a_record_keeps_the_lines_of_other_systems_and_gets_this_kernel_and_the_number_of_seeds() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let (other, own) = (other_system(), std::env::consts::OS);
    let cell = "deletion/disown/pipe-level-1t1g@poll";
    let kept = format!("{other}\tdisown-closes\t{cell}\thangs\t0.1\t3");
    sandbox.put("kills.tsv", format!("{own}\tdisown-closes\t{cell}\tfails\n{kept}\n"));
    let record = ["--fault", "disown-closes", "--record", "--recorded", "kills.tsv"];
    sandbox
        .run(&[&["faults", "deletion/disown/pipe"], &record[..]].concat())
        .expect(0, &[KILLED, "1 kill, 1 other lines kept"]);
    let text = sandbox.text("kills.tsv");
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let new = format!("{own}\tdisown-closes\t{cell}\tfails\t{}\t8", kernel());
    let mut expected = [kept.as_str(), new.as_str()];
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn the_faults_of_a_pattern_are_tried() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let faults = |name: &str| sandbox.run(&["faults", "deletion/disown", "--fault", name, "--cells", "1"]);
    faults("disown-close?").expect(0, &[KILLED]);
    faults("no-such-*")
        .expect(2, &["there is no fault 'no-such-*'", "`pollmatrix faults --list` shows every fault"]);
}

#[test]
fn a_fault_that_this_system_cannot_have_is_killed_elsewhere_or_not_run() {
    let sandbox = core(&[CONTROL, DISOWN]);
    let (fault, backend) = if cfg!(target_os = "linux") {
        ("kqueue-stops-at-first-error", "kqueue")
    } else {
        ("epoll-ignores-eexist", "epoll")
    };
    let other = other_system();
    let with_other = format!("backends:\n  - {{ id: {backend}, os: [{other}], triggers: [level] }}\n");
    sandbox.edit("matrix.yml", "backends:\n", &with_other);
    let faults = || sandbox.run(&["faults", "--fault", fault, "--record", "--recorded", "kills.tsv"]);
    faults().expect(
        0,
        &[
            &format!("not run    {fault}: {backend} does not exist on {}", std::env::consts::OS),
            "0 survive, 1 not run here",
        ],
    );
    let cell = format!("deletion/disown/pipe-level-1t1g@{backend}");
    sandbox.put("kills.tsv", format!("{other}\t{fault}\t{cell}\tfails\t14.3-RELEASE\t8\n"));
    let found = faults();
    found.expect(
        0,
        &[
            &format!("recorded   {fault}: killed on {other} 14.3-RELEASE (recorded: {cell}, 8 seeds)"),
            "0 survive, 1 killed on another system (recorded), 0 not run here",
        ],
    );
    assert!(!found.stdout.contains("not run    "), "{}", found.stdout);
    let report = sandbox.text("pollmatrix-report/kill-matrix.md");
    assert!(report.contains("killed on"), "{report}");
}

#[test]
fn cells_end_with_a_killed_or_interrupted_run_of_faults() {
    if lacks("ps") {
        return;
    }
    let sandbox = Sandbox::new(&["hang"], 300);
    add_scenarios(&sandbox, &[CONTROL]);
    for (sent, code) in [(Signal::SIGKILL, None), (Signal::SIGINT, Some(130))] {
        let mut child = sandbox.start(&["faults", "selftest/hang", "--fault", "double-close"]);
        eventually("a cell hangs", || sandbox.cells_alive() >= 1);
        signal(&child, sent);
        assert_eq!(child.wait().expect("the command ends").code(), code);
        eventually("the cell is gone", || sandbox.cells_alive() == 0);
    }
}

#[test]
fn a_soak_ends_clean_or_with_the_violation_and_its_rerun_arguments() {
    let soak = |arguments: &[&str]| pollmatrix(&[&["soak"], arguments].concat());
    let shape = ["--threads", "3", "--groups", "2", "--seed", "5"];
    let clean = soak(&[&shape[..], &["--duration", "2s", "--backend", "poll"]].concat());
    clean.expect(0, &["takeovers", "no violation", "poll, 3 threads in 2 groups, seed 0x5"]);
    let broken = ["--duration", "5m", "--fault", "stale-handle-accepted"];
    soak(&[&shape[..], &broken].concat()).expect(
        1,
        &[
            "VIOLATION S7: ",
            "thread 2/0:",
            "Rerun: pollmatrix soak --backend",
            "--seed 0x5 --fault stale-handle-accepted",
            "VIOLATED",
        ],
    );
    soak(&["--threads", "1", "--groups", "2"]).expect(2, &["1 threads cannot be spread over 2 groups"]);
    soak(&["--backend", "pol"]).expect(2, &["did you mean 'poll'?"]);
}

#[test]
fn an_interrupted_soak_reports_its_counters() {
    let mut command = Command::new(POLLMATRIX);
    command.args(["soak", "--duration", "10m", "--threads", "2", "--format", "json"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the executable starts");
    // After the first line, the signal handler is installed, and takeovers happen.
    let mut stderr = BufReader::new(child.stderr.take().expect("standard error is a pipe")).lines();
    let line = stderr.next().expect("the soak announces its start").expect("the line is text");
    assert!(line.contains("2 threads in 2 groups"), "{line}");
    let ended = interrupted(child);
    ended.expect(130, &[]);
    let report: serde_json::Value = ended.json();
    assert_eq!((&report["interrupted"], &report["violation"]), (&true.into(), &serde_json::Value::Null));
    assert!(report["takeovers"].as_u64().is_some_and(|takeovers| takeovers > 0), "{report}");
}
