//! Programs with unlimited output are killed, and the results of their cells have the reason.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::resource::{Resource, rlim_t, setrlimit};

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, id};

/// The memory limit of the executable. It makes a test fail quickly if the executable keeps all output.
const ROOM: rlim_t = 3 << 30;

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    limited(&mut sandbox.command(arguments))
}

fn limited(command: &mut Command) -> Answer {
    // SAFETY: one system call, between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(setrlimit(Resource::RLIMIT_DATA, ROOM, ROOM)?));
    }
    answer(command)
}

fn reason(sandbox: &Sandbox, cell: &str) -> String {
    sandbox.cell(cell)["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_cell_that_floods_a_stream_is_broken_and_others_are_unaffected() {
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
fn an_executor_that_floods_a_stream_is_killed_and_its_cells_have_the_reason() {
    let line = "tr -d '\\n' </dev/zero";
    for (text, why) in [
        (line.to_owned(), "it wrote more than 16 MiB to one line of standard output, and was killed"),
        (format!("{line} >&2"), "it wrote more than 64 MiB to standard error, and was killed"),
        (
            "exec yes".to_owned(),
            "it wrote more than 16 MiB to standard output that is not a result, and was killed",
        ),
    ] {
        let sandbox = Sandbox::new(&["pass"], 300);
        let prefix = sandbox.script("script", &text);
        let answer = run(&sandbox, &["run", "--prefix", &prefix]);
        answer.expect(1, &[why]);
        assert_eq!(sandbox.cell("pass")["status"], "not-run");
        assert!(reason(&sandbox, "pass").contains(why), "{}", reason(&sandbox, "pass"));
        // Only a part of the output that is no result is shown.
        let shown = answer.stderr.lines().filter(|line| line.contains("not from the executor: ")).count();
        assert!(shown <= 3 * 100, "{shown}");
    }
}

#[test]
fn an_executor_that_floods_between_its_results_loses_no_result() {
    let sandbox = Sandbox::new(&["pass", "fail"], 300);
    // Each executor writes one result and then floods.
    let text = "case $3 in exec) \"$@\" | head -n 2; exec yes;; *) exec \"$@\";; esac";
    let prefix = sandbox.script("script", text);
    run(&sandbox, &["run", "--seed", "2", "--jobs", "1", "--prefix", &prefix])
        .expect(1, &["2 cells: 1 pass, 1 fail", "that is not a result, and was killed"]);
}

#[test]
fn a_program_that_floods_instead_of_an_answer_is_an_error() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let ssh = sandbox.script("script", "exec yes");
    run(&sandbox, &["run", "--host", "there", "--ssh", &ssh])
        .expect(2, &["error: there: it wrote more than 64 MiB to standard output, and was killed", "help: "]);
    // An executor does without a prefix that floods. An adapter that floods is an error.
    run(&sandbox, &["worker", "exec", "--all", "--prefix", &ssh])
        .expect(0, &["{\"line\":\"end\",\"cells\":1}"]);
    run(&sandbox, &["list", "--adapter", &sandbox.script("script", "tr -d '\\n' </dev/zero")])
        .expect(2, &["longer than 1048576 bytes"]);
}

/// A device instead of a file: each command reads a bounded part of it, in seconds and without gigabytes.
#[test]
fn an_endless_file_is_refused_by_each_command_that_reads_one() {
    let sandbox = Sandbox::new(&["pass"], 300);
    fs::create_dir_all(sandbox.path("expected/answers")).expect("the sandbox is writable");
    std::os::unix::fs::symlink("/dev/zero", sandbox.path("expected/divergences.yml")).expect("writable");
    fs::create_dir(sandbox.path("found")).expect("writable");
    std::os::unix::fs::symlink("/dev/zero", sandbox.path("found/endless.md")).expect("writable");
    let text = "it is longer than 64 MiB";
    let results = "it is longer than 1024 MiB";
    for (arguments, expected) in [
        (&["run", "--behaviours", "/dev/zero"][..], text),
        (&["list", "--expectations", "expected"], text),
        (&["site", "--findings", "found"], text),
        (&["explore", "--left", "poll", "--against", "/dev/zero"], results),
        (&["merge", "/dev/zero"], results),
        (&["run", "--import", "/dev/zero"], results),
    ] {
        let file = match *arguments.last().expect("each names a file") {
            "expected" => "expected/divergences.yml",
            "found" => "found/endless.md",
            _ => "/dev/zero",
        };
        run(&sandbox, arguments).expect(2, &["error: ", file, expected, "help: "]);
    }
    limited(Command::new(POLLMATRIX).args(["list", "--matrix", "/dev/zero"]))
        .expect(2, &["error: ", "/dev/zero", text, "help: "]);
}

#[test]
fn an_endless_list_of_cells_is_refused() {
    let sandbox = Sandbox::new(&["pass"], 300);
    run(&sandbox, &["worker", "exec", "--cells", "/dev/zero"])
        .expect(2, &["error: cannot read the cells in /dev/zero: it is longer than 16 MiB", "help: "]);
    sandbox.put("cells", format!("{}\n", id("pass")).repeat(3));
    run(&sandbox, &["worker", "exec", "--cells", "cells"]).expect(0, &["{\"line\":\"end\",\"cells\":1}"]);
}
