//! Runs that are interrupted, killed and resumed.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Child;

use adapters::testing::lacks;
use nix::sys::signal::Signal;

use crate::sandbox::{Sandbox, answer, ended, eventually, id, interrupted, signal};

/// The last cell hangs for longer than any test waits.
const CELLS: [&str; 4] = ["pass", "fail", "flaky", "hang"];

/// Starts a run, and waits until it has recorded all other cells and runs the one that hangs.
fn started(sandbox: &Sandbox) -> Child {
    let child = sandbox.start(&["run", "--jobs", "1", "--seed", "2"]);
    // The journal has a line that identifies the run, and three results.
    eventually("three results and a fourth cell", || {
        sandbox.journal().len() == 4 && sandbox.cells_alive() == 1
    });
    child
}

fn killed() -> Sandbox {
    let sandbox = Sandbox::new(&CELLS, 300);
    let mut child = started(&sandbox);
    signal(&child, Signal::SIGKILL);
    child.wait().expect("the runner is reaped");
    sandbox
}

#[test]
fn ctrl_c_kills_the_cells_and_writes_the_results_so_far() {
    if lacks("ps") {
        return;
    }
    for (sent, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let sandbox = Sandbox::new(&CELLS, 300);
        let child = started(&sandbox);
        signal(&child, sent);
        ended(child).expect(code, &["Interrupted: `pollmatrix run --resume --matrix "]);
        assert_eq!(sandbox.cells_alive(), 0);
        assert_eq!(sandbox.cell("fail")["status"], "fail");
        let cell = sandbox.cell("hang");
        assert_eq!((&cell["status"], &cell["reason"]), (&"not-run".into(), &"interrupted".into()));
        assert_eq!(sandbox.results()["runs"][0]["interrupted"], true);
    }
}

#[test]
fn cells_end_with_a_killed_runner() {
    if lacks("ps") {
        return;
    }
    let sandbox = killed();
    eventually("the cell is gone", || sandbox.cells_alive() == 0);
}

#[test]
fn a_killed_run_resumes_without_repeating_a_cell() {
    if lacks("ps") {
        return;
    }
    let sandbox = killed();
    let before = sandbox.journal();
    // A run with another matrix cannot be resumed, so the time limit stays, and the cell that hangs is
    // interrupted again.
    let child = sandbox.start(&["run", "--resume"]);
    eventually("the run is resumed", || sandbox.journal().len() == 5 && sandbox.cells_alive() == 1);
    interrupted(child).expect(130, &[]);
    assert_eq!(sandbox.journal()[..4], before[..]);
    let run = &sandbox.results()["runs"][0];
    assert_eq!((&run["seed"], &run["resumed"]), (&"0x2".into(), &1.into()));
    for (cell, status) in [("pass", "pass"), ("fail", "fail"), ("flaky", "pass"), ("hang", "not-run")] {
        assert_eq!(sandbox.cell(cell)["status"], status, "{cell}");
    }
}

#[test]
fn a_resumed_run_completes() {
    let cells = ["pass", "fail", "hang"];
    let sandbox = Sandbox::new(&cells, 5);
    let mut child = sandbox.start(&["run", "--jobs", "1"]);
    eventually("two results", || sandbox.journal().len() == 3);
    signal(&child, Signal::SIGKILL);
    child.wait().expect("the runner is reaped");
    sandbox.run(&["run", "--resume"]).expect(1, &["3 cells: 1 pass, 1 fail, 1 timeout"]);
    // The next resumption has no cell left to run.
    let again = sandbox.run(&["run", "--resume"]);
    again.expect(1, &["3 cells: 1 pass, 1 fail, 1 timeout"]);
    assert!(!again.stderr.contains('['), "no cell runs: {}", again.stderr);
}

#[test]
fn a_truncated_last_line_of_the_journal_is_ignored_with_a_warning() {
    if lacks("ps") {
        return;
    }
    let sandbox = killed();
    sandbox.write_to_journal("{\"line\":\"cell\",\"id\":\"selft");
    let child = sandbox.start(&["run", "--resume"]);
    eventually("the run is resumed", || sandbox.cells_alive() == 1);
    interrupted(child).expect(130, &["journal.jsonl: the last line (5) is truncated; the other results"]);
    assert_eq!(sandbox.cell("fail")["status"], "fail");
    for line in sandbox.journal() {
        assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
    }
}

#[test]
fn a_damaged_line_in_the_journal_repeats_its_own_cell_only() {
    let cells = ["pass", "fail", "flaky"];
    for damage in
        [&b"{\"line\":\"cell\",\"id\":\"selft"[..], b"", b"\xff\xfe", b"\0\0\0\0", b"{\"line\":\"end\"}"]
    {
        let sandbox = Sandbox::new(&cells, 20);
        sandbox.run(&["run", "--jobs", "1", "--seed", "2"]).expect(1, &["3 cells: 2 pass, 1 fail"]);
        let before = sandbox.journal();
        let at = before.iter().position(|line| line.contains(&id("fail"))).expect("the cell has a line");
        let mut lines: Vec<_> = before.iter().map(|line| line.as_bytes()).collect();
        lines[at] = damage;
        sandbox.put("pollmatrix-report/journal.jsonl", lines.join(&b'\n'));
        // The last line has lost its line break, too.
        let resumed = sandbox.run(&["run", "--resume"]);
        let says = format!("journal.jsonl: line {} cannot be read, the last line (5) is truncated;", at + 1);
        resumed.expect(1, &[&says, "[3/3] fail", "3 cells: 2 pass, 1 fail"]);
        assert_eq!(resumed.stderr.matches("/3] ").count(), 1, "{}", resumed.stderr);
        assert_eq!(sandbox.cell("fail")["status"], "fail");
        sandbox.run(&["show", &id("fail")]).expect(0, &["status      fail"]);
    }
}

#[test]
fn a_journal_with_a_damaged_line_is_not_complete() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run(&["run"]).expect(0, &[]);
    let damaged = sandbox.journal().join("\n").replace("\"line\":\"cell\"", "\"line\":\"cell") + "\n";
    sandbox.put("pollmatrix-report/journal.jsonl", damaged);
    sandbox.run(&["run"]).expect(0, &["is kept as pollmatrix-report/journal-1.jsonl"]);
}

#[test]
fn a_journal_without_the_identity_of_its_run_is_refused() {
    type Damage = fn(String) -> String;
    let damages: [(Damage, &str); 2] = [
        (|text| text.replace("\"identity\"", "\"idendity\""), "line 1 does not identify the run"),
        (|text| text.repeat(2), "line 4 begins a second run"),
    ];
    for (damage, why) in damages {
        let sandbox = Sandbox::new(&["pass"], 20);
        sandbox.run(&["run"]).expect(0, &[]);
        let text = damage(sandbox.journal().join("\n") + "\n");
        sandbox.put("pollmatrix-report/journal.jsonl", text);
        sandbox
            .run(&["run", "--resume"])
            .expect(2, &["journal.jsonl is not a journal", why, "help: omit --resume"]);
    }
}

#[test]
fn the_journal_of_another_run_is_refused() {
    if lacks("ps") {
        return;
    }
    let sandbox = killed();
    let refused = |arguments: &[&str], why: &str| {
        let mut all = vec!["run", "--resume"];
        all.extend(arguments);
        sandbox.run(&all).expect(2, &["the run in pollmatrix-report is a different one", why, "help: "]);
    };
    refused(&["--seed", "3"], "it has the seed 0x2");
    refused(&["--repeat", "2"], "it was started with --repeat 1");
    if cfg!(feature = "faults") {
        refused(&["--fault", "double-close"], "it was started without --fault");
        refused(&["--inject-errors"], "it was started without --inject-errors");
    }
    refused(&["--late-data"], "it was started without --late-data");
    refused(&["selftest/pass"], "it has other cells: everything");
    sandbox.write_matrix(&CELLS, 299);
    refused(&[], "it has another matrix");
}

#[test]
fn a_new_run_keeps_the_journal_of_an_interrupted_one() {
    if lacks("ps") {
        return;
    }
    let sandbox = killed();
    let before = sandbox.journal();
    sandbox.run(&["run", "selftest/pass"]).expect(0, &["is kept as pollmatrix-report/journal-1.jsonl"]);
    let kept = sandbox.text("pollmatrix-report/journal-1.jsonl");
    assert_eq!(kept.lines().collect::<Vec<_>>(), before);
    // The new run is complete, so its journal is not kept.
    let again = sandbox.run(&["run", "selftest/pass"]);
    again.expect(0, &[]);
    assert!(!again.stderr.contains("is kept as"), "{}", again.stderr);
}

#[test]
fn resuming_without_a_journal_starts_a_new_run() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run(&["run", "--resume"]).expect(0, &["has no run to resume", "1 pass"]);
}

#[test]
fn a_second_run_in_the_same_report_directory_is_refused() {
    if lacks("ps") {
        return;
    }
    let sandbox = Sandbox::new(&CELLS, 300);
    let child = started(&sandbox);
    sandbox.run(&["run"]).expect(2, &["another pollmatrix is writing to pollmatrix-report", "--report-dir"]);
    signal(&child, Signal::SIGINT);
    child.wait_with_output().expect("the runner ends");
}

#[test]
fn a_report_directory_that_cannot_be_created_is_an_error() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.put("file", "");
    let answer = sandbox.run(&["run", "--report-dir", "file/report"]);
    answer.expect(2, &["cannot create the report directory file/report", "help: make it writable"]);
}

#[test]
fn a_full_disk_ends_the_run_with_an_error() {
    let sandbox = Sandbox::new(&["pass", "fail", "unsupported", "broken", "flaky", "silent"], 20);
    // A file-size limit of one block has the effect of a full disk: with SIGXFSZ ignored, the write fails.
    let limited = sandbox.command(&["run", "--jobs", "1"]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]);
    shell.arg(limited.get_program()).args(limited.get_args()).current_dir(sandbox.path(""));
    answer(&mut shell).expect(2, &["cannot write pollmatrix-report/journal.jsonl", "free disk space"]);
    assert!(!sandbox.path("pollmatrix-report/results.json").exists());
}

impl Sandbox {
    fn write_to_journal(&self, text: &str) {
        let path = self.path("pollmatrix-report/journal.jsonl");
        let mut file = OpenOptions::new().append(true).open(path).expect("there is a journal");
        file.write_all(text.as_bytes()).expect("the sandbox is writable");
    }
}

/// Such a file can be a link to a device that never ends. A sparse one takes no room on the disk.
#[test]
fn no_file_of_a_report_directory_is_read_without_a_bound() {
    let sandbox = Sandbox::new(&["pass"], 300);
    sandbox.add_scenarios("  - { id: harness/control, transports: [pipe], threads: [1], groups: [1] }\n");
    let pass = id("pass");
    let mut commands = vec![
        ("journal.jsonl", vec!["show", &pass]),
        ("journal.jsonl", vec!["run", "--resume"]),
        ("results.json", vec!["show", &pass]),
        ("costs.jsonl", vec!["cost", "--resume"]),
    ];
    if cfg!(feature = "faults") {
        let faults = vec!["faults", "selftest/pass", "--fault", "double-close", "--resume"];
        commands.push(("kill-matrix.jsonl", faults));
    }
    let dir = sandbox.path("reports");
    fs::create_dir(&dir).expect("writable");
    for (name, command) in commands {
        let file = fs::File::create(dir.join(name)).expect("writable");
        file.set_len((1 << 30) + 1).expect("a sparse file can be made");
        let printed = sandbox.run(&[&command[..], &["--report-dir", "reports"]].concat());
        printed.expect(
            2,
            &[
                &format!("cannot read reports/{name}: it is longer than 1024 MiB\n"),
                "help: make it a readable file, or name another place with --report-dir DIR",
            ],
        );
        fs::remove_file(dir.join(name)).expect("it was made");
    }
}
