//! Programs that write without end: they are killed, and what they were to answer says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use nix::sys::resource::{Resource, rlim_t, setrlimit};

use crate::sandbox::{Answer, Sandbox, answer, id};

/// Of data: whoever keeps all that is written ends soon, and not the machine.
const ROOM: rlim_t = 3 << 30;

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    let mut command = sandbox.command(arguments);
    // SAFETY: one system call, between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(setrlimit(Resource::RLIMIT_DATA, ROOM, ROOM)?));
    }
    answer(&mut command)
}

fn script(sandbox: &Sandbox, text: &str) -> String {
    let path = sandbox.path("script");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the sandbox is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    path.display().to_string()
}

fn reason(sandbox: &Sandbox, cell: &str) -> String {
    sandbox.row(cell)["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_cell_that_floods_a_stream_is_broken_and_the_others_are_not() {
    let sandbox = Sandbox::new(&["floods-output", "floods-error", "pass"], 300);
    run(&sandbox, &["run"]).expect(1, &["3 cells: 1 pass, 2 broken"]);
    assert_eq!(
        reason(&sandbox, "floods-output"),
        "it wrote more than 4 MiB to standard output, and was killed"
    );
    assert_eq!(
        reason(&sandbox, "floods-error"),
        "it wrote more than 64 MiB to standard error, and was killed"
    );
    assert_eq!(sandbox.cells_alive(), 0);
}

#[test]
fn an_executor_that_floods_a_stream_is_killed_and_says_why_cells_have_no_result() {
    let line = "tr -d '\\n' </dev/zero";
    for (text, why) in [
        (line.to_owned(), "it wrote more than 16 MiB to one line of standard output, and was killed"),
        (format!("{line} >&2"), "it wrote more than 64 MiB to standard error, and was killed"),
        (
            "exec yes".to_owned(),
            "it wrote more than 16 MiB to standard output that is no result, and was killed",
        ),
    ] {
        let sandbox = Sandbox::new(&["pass"], 300);
        let prefix = script(&sandbox, &text);
        let answer = run(&sandbox, &["run", "--prefix", &prefix]);
        answer.expect(1, &[why]);
        assert_eq!(sandbox.row("pass")["status"], "not-run");
        assert!(reason(&sandbox, "pass").contains(why), "{}", reason(&sandbox, "pass"));
        // What is no result is shown, and not all of it.
        let shown = answer.stderr.lines().filter(|line| line.contains("not from the executor: ")).count();
        assert!(shown <= 3 * 100, "{shown}");
    }
}

#[test]
fn an_executor_that_floods_between_its_results_loses_none_of_those() {
    let sandbox = Sandbox::new(&["pass", "fail"], 300);
    // Each executor answers one cell and floods.
    let text = "case $2 in exec) \"$@\" | head -n 2; exec yes;; *) exec \"$@\";; esac";
    let prefix = script(&sandbox, text);
    run(&sandbox, &["run", "--seed", "2", "--jobs", "1", "--prefix", &prefix])
        .expect(1, &["2 cells: 1 pass, 1 fail", "that is no result, and was killed"]);
}

#[test]
fn a_command_that_floods_in_place_of_an_answer_is_an_error() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let ssh = script(&sandbox, "exec yes");
    run(&sandbox, &["run", "--host", "there", "--ssh", &ssh])
        .expect(2, &["error: there: it wrote more than 64 MiB to standard output, and was killed", "help: "]);
    // An executor does without a prefix that answers so, and a subject cannot.
    run(&sandbox, &["exec", "--all", "--prefix", &ssh]).expect(0, &["{\"line\":\"end\",\"cells\":1}"]);
    run(&sandbox, &["list", "--subject", &script(&sandbox, "tr -d '\\n' </dev/zero")])
        .expect(2, &["longer than 1048576 bytes"]);
}

#[test]
fn a_list_of_cells_without_end_is_refused() {
    let sandbox = Sandbox::new(&["pass"], 300);
    run(&sandbox, &["exec", "--cells", "/dev/zero"])
        .expect(2, &["error: cannot read the cells in /dev/zero: it is longer than 16 MiB", "help: "]);
    fs::write(sandbox.path("cells"), format!("{}\n", id("pass")).repeat(3)).expect("the sandbox is writable");
    run(&sandbox, &["exec", "--cells", "cells"]).expect(0, &["{\"line\":\"end\",\"cells\":1}"]);
}
