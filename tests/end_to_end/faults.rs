//! The kill matrix, and the record of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer};

/// The executable with the matrix that is built in, in a folder of the sandbox.
fn faults(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    let mut command = Command::new(POLLMATRIX);
    command.arg("faults").args(arguments).arg("--report-dir").arg(sandbox.path("kills"));
    answer(&mut command)
}

fn tries(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path("kills/kill-matrix.jsonl")).expect("what was tried is written")
}

/// A fault of a backend that is not here.
const FOREIGN: (&str, &str) = if cfg!(target_os = "linux") {
    ("kqueue-stops-at-first-error", "kqueue does not exist on")
} else {
    ("epoll-ignores-eexist", "epoll does not exist on")
};

#[test]
fn a_fault_is_killed_by_a_cell_that_passes_without_it() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found = faults(&sandbox, &["deletion/disown", "--fault", "disown-closes", "--seed", "7"]);
    found.expect(0, &["disown-closes  F", "1 faults: 1 killed, 0 survive", "1 proven to kill one"]);
    let text = fs::read_to_string(sandbox.path("kills/kill-matrix.json")).expect("it is written");
    let matrix: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let kill = &matrix["faults"][0]["pairs"][0]["kill"];
    assert_eq!((&kill["how"], &kill["proof"]), (&"fail".into(), &"always".into()), "{text}");
    assert!(sandbox.path("kills/kill-matrix.md").exists());
    // Tried with the fault by several seeds, and each time without.
    let lines = tries(&sandbox);
    let count = |what: &str| lines.lines().filter(|line| line.contains(what)).count();
    assert_eq!((count("\"fault\":\"disown-closes\""), count("\"fault\":null")), (8, 9), "{lines}");
}

#[test]
fn what_survives_and_who_kills_nothing_is_named_and_fails() {
    let sandbox = Sandbox::new(&["pass"], 20);
    // These two have nothing to do with each other.
    faults(&sandbox, &["deletion/disown/pipe-level-1t1g", "--fault", "takeover-ignores-owner"]).expect(
        1,
        &["SURVIVES   takeover-ignores-owner", "KILLS NONE deletion/disown", "0 killed, 1 survive"],
    );
    // Of a part of one side nothing is said about the other.
    let part = sandbox.run(&["faults", "--fault", "takeover-ignores-owner"]);
    part.expect(1, &["SURVIVES   takeover-ignores-owner"]);
    assert!(!part.stdout.contains("KILLS NONE"), "{}", part.stdout);
}

#[test]
fn what_fails_without_a_fault_proves_nothing() {
    let sandbox = Sandbox::new(&["fail", "panic", "broken"], 20);
    let found = sandbox.run(&["faults", "--fault", "double-close"]);
    found.expect(1, &["SURVIVES   double-close", "unfit      selftest/fail/tcp-level-1t1g@poll: fail: "]);
}

#[test]
fn a_fault_of_a_backend_that_is_not_here_is_not_run_and_no_survivor() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let (fault, why) = FOREIGN;
    let found = faults(&sandbox, &["deletion/own-handler", "--fault", fault]);
    found.expect(0, &[&format!("not run    {fault}: {why}"), "0 killed, 0 survive, 1 not run here"]);
}

#[test]
fn a_resumed_run_tries_nothing_twice() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let arguments = ["deletion/disown/pipe-level", "--fault", "disown-closes", "--jobs", "1"];
    let first = faults(&sandbox, &arguments);
    let lines = tries(&sandbox);
    // As if it had been killed in the middle of the last line.
    fs::write(sandbox.path("kills/kill-matrix.jsonl"), &lines[..lines.len() - 5]).expect("writable");
    let again = faults(&sandbox, &[&arguments[..], &["--resume"]].concat());
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(tries(&sandbox).lines().count(), lines.lines().count());
    // As if the disk had spoiled the second line: only what it held is tried again.
    let file = sandbox.path("kills/kill-matrix.jsonl");
    let second = lines.lines().nth(1).expect("it has lines");
    fs::write(&file, lines.replacen(second, "{", 1)).expect("writable");
    let again = faults(&sandbox, &[&arguments[..], &["--resume"]].concat());
    again.expect(0, &["kill-matrix.jsonl: line 2 cannot be read; the other results are used"]);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(tries(&sandbox).lines().count(), lines.lines().count() + 1);
    fs::write(&file, lines.replacen("begin", "bgein", 1)).expect("writable");
    faults(&sandbox, &[&arguments[..], &["--resume"]].concat())
        .expect(2, &["is not a journal of this pollmatrix: line 1 does not say", "help: leave --resume out"]);
}

#[test]
fn a_record_is_verified_and_must_be_complete() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let record = sandbox.path("kills.tsv");
    let quick = || sandbox.run(&["faults", "--quick", "--recorded", &record.display().to_string()]);
    fs::write(&record, "# nothing\n").expect("writable");
    quick().expect(
        1,
        &[
            "the fault double-close is not recorded",
            "the scenario selftest/pass is not recorded",
            "`pollmatrix faults --record`",
        ],
    );
    let os = std::env::consts::OS;
    fs::write(&record, format!("{os}\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tfails\n"))
        .expect("writable");
    quick().expect(1, &["double-close is not killed by selftest/pass", "SURVIVES   double-close"]);
}

#[test]
fn names_in_a_record_that_no_longer_exist_are_errors() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let record = sandbox.path("kills.tsv");
    for (line, says) in [
        ("linux\tdouble-clos\tselftest/pass/tcp-level-1t1g@poll\tfails", "did you mean 'double-close'?"),
        ("linux\tdouble-close\tselftest/pas/tcp-level-1t1g@poll\tfails", "did you mean 'selftest/pass/"),
        ("linux\tdouble-close\tselftest/pass/tcp-level-1t1g@poll\tburns", "neither 'fails' nor 'hangs'"),
        ("linux double-close", "four fields"),
    ] {
        fs::write(&record, format!("# a comment\n{line}\n")).expect("writable");
        sandbox
            .run(&["faults", "--quick", "--recorded", &record.display().to_string()])
            .expect(2, &[says, "kills.tsv:2: ", "--record"]);
    }
    assert!(!sandbox.path("pollmatrix-report").exists(), "nothing is run");
}

#[test]
fn a_soak_ends_clean_or_with_what_is_wrong_and_how_to_have_it_again() {
    let soak = |arguments: &[&str]| answer(Command::new(POLLMATRIX).arg("soak").args(arguments));
    let shape = ["--threads", "3", "--groups", "2", "--seed", "5"];
    let clean = soak(&[&shape[..], &["--duration", "2s", "--backend", "poll"]].concat());
    clean.expect(0, &["takeovers", "no violation", "poll, 3 threads in 2 groups, seed 0x5"]);
    let broken = ["--duration", "5m", "--fault", "stale-handle-accepted"];
    soak(&[&shape[..], &broken].concat()).expect(
        1,
        &[
            "VIOLATION S7: ",
            "thread 2/0:",
            "Again: pollmatrix soak --backend",
            "--seed 0x5 --fault stale-handle-accepted",
            "VIOLATED",
        ],
    );
    soak(&["--threads", "1", "--groups", "2"]).expect(2, &["1 threads cannot be spread over 2 groups"]);
    soak(&["--backend", "pol"]).expect(2, &["did you mean 'poll'?"]);
}

#[test]
fn a_soak_that_is_interrupted_says_what_it_has_done() {
    let mut command = Command::new(POLLMATRIX);
    command.args(["soak", "--duration", "10m", "--threads", "2", "--format", "json"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the executable starts");
    // From then on the signal is no plain death, and there are takeovers.
    let mut said = BufReader::new(child.stderr.take().expect("it was asked for")).lines();
    let line = said.next().expect("it says that it begins").expect("it is text");
    assert!(line.contains("2 threads in 2 groups"), "{line}");
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it is alive");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!((&said["interrupted"], &said["violation"]), (&true.into(), &serde_json::Value::Null));
    assert!(said["takeovers"].as_u64().is_some_and(|takeovers| takeovers > 0), "{said}");
}
