//! Another program replaces the executable during a run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, ended, eventually};

/// The second cell hangs until its time limit. The last two run after that.
const CELLS: [&str; 4] = ["pass", "hang", "fail", "flaky"];
const TIMEOUT: u64 = 5;

/// Replaces `executable` by another program, as a linker or an installer does.
fn replace(executable: &Path) {
    let other = executable.with_extension("new");
    fs::write(&other, "#!/bin/sh\necho another program\n").expect("the sandbox is writable");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("the mode can be changed");
    fs::rename(other, executable).expect("the executable can be replaced");
}

/// Runs the executable, and replaces it while the second cell runs.
fn run_and_replace(sandbox: &Sandbox, arguments: &[&str], recorded: impl Fn() -> bool) -> Answer {
    let executable = sandbox.own_pollmatrix();
    let mut command = Command::new(&executable);
    command.args(arguments).arg("--matrix").arg(sandbox.path("matrix.yml")).current_dir(sandbox.path(""));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child: Child = command.spawn().expect("the executable starts");
    eventually("the cell that hangs", || recorded() && sandbox.cells_alive() == 1);
    replace(&executable);
    ended(child)
}

fn expect_all_by_the_first(sandbox: &Sandbox) {
    for (selftest, status) in CELLS.into_iter().zip(["pass", "timeout", "fail", "pass"]) {
        let cell = sandbox.cell(selftest);
        assert_eq!(cell["status"], status, "{selftest}: {}", cell["reason"]);
    }
}

fn hash(path: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(fs::read(path).expect("the file can be read"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_program_with_the_reported_hash_runs_every_cell() {
    let sandbox = Sandbox::new(&CELLS, TIMEOUT);
    let arguments = ["run", "--jobs", "1", "--seed", "2"];
    run_and_replace(&sandbox, &arguments, || sandbox.journal().len() == 2)
        .expect(1, &["4 cells: 2 pass, 1 fail, 1 timeout"]);
    expect_all_by_the_first(&sandbox);
    assert_eq!(sandbox.results()["runs"][0]["executable"], hash(POLLMATRIX).as_str());
    let left: Vec<_> = fs::read_dir(sandbox.path("pollmatrix-report"))
        .expect("there is a report")
        .map(|entry| entry.expect("the file can be read").file_name())
        .filter(|name| name.to_string_lossy().contains("executable"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_prefix_gets_the_program_with_the_reported_hash() {
    let sandbox = Sandbox::new(&CELLS, TIMEOUT);
    // The journal has a line about the machine before those of the cells.
    let arguments = ["run", "--jobs", "1", "--seed", "2", "--prefix", "env"];
    run_and_replace(&sandbox, &arguments, || sandbox.journal().len() == 3)
        .expect(1, &["4 cells: 2 pass, 1 fail, 1 timeout"]);
    expect_all_by_the_first(&sandbox);
}

#[test]
fn a_replaced_executor_stops_with_an_error() {
    let sandbox = Sandbox::new(&CELLS, TIMEOUT);
    let arguments = ["worker", "exec", "--all", "--jobs", "1", "--seed", "2", "--keep", "kept"];
    let kept = || fs::read_to_string(sandbox.path("kept")).unwrap_or_default().lines().count();
    let answer = run_and_replace(&sandbox, &arguments, || kept() == 2);
    answer.expect(2, &["error: ", "was replaced", "help: "]);
    assert!(!answer.stdout.contains("{\"line\":\"end\""), "{}", answer.stdout);
    // The result of the cell that ran during the replacement is discarded.
    assert_eq!(kept(), 2);
}

#[test]
fn the_same_program_makes_all_attempts_of_a_kill_matrix() {
    if cfg!(not(feature = "faults")) {
        return;
    }
    let sandbox = Sandbox::new(&CELLS, TIMEOUT);
    sandbox.add_scenarios("  - { id: harness/control, threads: [1], groups: [1] }\n");
    let tries =
        || fs::read_to_string(sandbox.path("pollmatrix-report/kill-matrix.jsonl")).unwrap_or_default();
    let arguments = ["faults", "selftest", "--fault", "double-close", "--jobs", "1", "--seed", "2"];
    run_and_replace(&sandbox, &arguments, || !tries().is_empty()).expect(1, &[]);
    assert!(!tries().contains("another program"), "{}", tries());
    assert!(tries().contains("the answer"), "{}", tries());
}
