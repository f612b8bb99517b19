//! Standard output and standard error that cannot be written: a closed pipe, a full disk, a terminal that
//! hung up.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::pty::openpty;
use nix::sys::signal::Signal;

use crate::sandbox::{POLLMATRIX, Sandbox, answer, eventually, id, signal};

/// The destination of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// A device that accepts everything.
    Open,
    /// A pipe without a reader: EPIPE.
    Gone,
    /// A device without room: ENOSPC.
    Full,
}

/// Returns the sinks that exist on this system. macOS has no /dev/full.
fn sinks() -> impl Iterator<Item = Sink> {
    let full = Path::new("/dev/full").exists();
    [Sink::Open, Sink::Gone, Sink::Full].into_iter().filter(move |sink| *sink != Sink::Full || full)
}

impl Sink {
    fn stdio(self) -> Stdio {
        match self {
            Self::Open => Stdio::null(),
            Self::Gone => std::io::pipe().expect("there are descriptors").1.into(),
            Self::Full => {
                OpenOptions::new().write(true).open("/dev/full").expect("the device is writable").into()
            }
        }
    }
}

fn code(command: &mut Command, stdout: Sink, stderr: Sink) -> Option<i32> {
    command.stdout(stdout.stdio()).stderr(stderr.stdio()).status().expect("the executable starts").code()
}

/// Asserts that every file of the report exists, with these statuses.
#[track_caller]
fn expect_report(sandbox: &Sandbox, cells: &[(&str, &str)]) {
    for name in ["report.html", "report.md", "junit.xml"] {
        assert!(sandbox.path("pollmatrix-report").join(name).exists(), "there is no {name}");
    }
    for (cell, status) in cells {
        assert_eq!(sandbox.cell(cell)["status"], *status, "{cell}");
    }
}

/// Waits until the last cell, which hangs, runs.
fn until_it_hangs(sandbox: &Sandbox, runner: &mut Child) {
    let runner = RefCell::new(runner);
    eventually("the cell that hangs", || {
        let ended = runner.borrow_mut().try_wait().expect("the runner is a child");
        assert_eq!(ended, None, "the runner ended too early");
        sandbox.journal().len() == 3 && sandbox.cells_alive() == 1
    });
}

#[test]
fn a_run_writes_its_report_even_if_its_output_cannot_be_written() {
    for stdout in sinks() {
        for stderr in sinks() {
            let sandbox = Sandbox::new(&["pass", "fail"], 300);
            let ended = code(&mut sandbox.command(&["run"]), stdout, stderr);
            let expected = if stdout == Sink::Full { 2 } else { 1 };
            assert_eq!(ended, Some(expected), "standard output {stdout:?}, standard error {stderr:?}");
            expect_report(&sandbox, &[("pass", "pass"), ("fail", "fail")]);
        }
    }
}

#[test]
fn ctrl_c_writes_the_report_even_if_tee_ends_first() {
    let sandbox = Sandbox::new(&["pass", "fail", "hang"], 300);
    let mut tee = Command::new("tee");
    tee.arg(sandbox.path("log")).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut tee = tee.spawn().expect("every unix has tee");
    let input = OwnedFd::from(tee.stdin.take().expect("standard input is a pipe"));
    // Not by SIGINT: a script's background jobs inherit it as ignored, and so would tee.
    tee.kill().expect("tee is a child");
    tee.wait().expect("tee ends");
    let mut command = sandbox.command(&["run", "--jobs", "1"]);
    command.stdout(input.try_clone().expect("there are descriptors")).stderr(input);
    let mut runner = command.spawn().expect("the executable starts");
    // By then, two lines could not be written.
    until_it_hangs(&sandbox, &mut runner);
    signal(&runner, Signal::SIGINT);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(130));
    expect_report(&sandbox, &[("pass", "pass"), ("fail", "fail"), ("hang", "not-run")]);
}

#[test]
fn a_run_writes_its_report_when_its_terminal_hangs_up() {
    // If the terminal is closed from the start, there is no progress bar.
    for has_bar in [false, true] {
        let sandbox = Sandbox::new(&["fail", "panic", "hang"], 300);
        let pty = openpty(None, None).expect("there are terminals");
        let mut master = Some(pty.master).filter(|_| has_bar);
        let mut command = sandbox.command(&["run", "--jobs", "1"]);
        command.stdout(Stdio::null()).stderr(pty.slave);
        let mut runner = command.spawn().expect("the executable starts");
        until_it_hangs(&sandbox, &mut runner);
        master.take();
        // The kernel sends one SIGHUP, and a shell another.
        let ended = loop {
            signal(&runner, Signal::SIGHUP);
            if let Some(ended) = runner.try_wait().expect("the runner is a child") {
                break ended;
            }
        };
        assert_eq!(ended.code(), Some(129), "with a bar: {has_bar}");
        expect_report(&sandbox, &[("fail", "fail"), ("panic", "crash"), ("hang", "not-run")]);
    }
}

#[test]
fn lost_output_is_an_error_and_a_closed_pipe_is_none() {
    let sandbox = Sandbox::new(&["pass"], 300);
    sandbox.run(&["run"]).expect(0, &[]);
    let commands: [&[&str]; 17] = [
        &["--help"],
        &["--version"],
        &["run", "--help"],
        &["run"],
        &["worker", "exec", "--all"],
        &["worker", "cell", &id("pass"), "--seed", "1"],
        &["probe", "V26"],
        &["list"],
        &["list", "--format", "json"],
        &["list", "--history"],
        &["list", "--targets", "--format", "json"],
        &["show", &id("pass")],
        &["diff", "pollmatrix-report", "pollmatrix-report", "--format", "json"],
        &["merge", "pollmatrix-report", "--force"],
        &["faults", "--list"],
        &["expectations", "show", "V26", "--format", "json"],
        &["soak", "--duration", "50ms", "--format", "json"],
    ];
    for arguments in commands {
        let run = |stdout, stderr| code(&mut sandbox.command(arguments), stdout, stderr);
        assert_eq!(run(Sink::Open, Sink::Open), Some(0), "{arguments:?}");
        for stderr in sinks() {
            for stdout in sinks() {
                let lost = match stdout {
                    Sink::Open => false,
                    Sink::Full => true,
                    // The lines of `exec` are the results. Without a reader they are lost.
                    Sink::Gone => arguments.get(1) == Some(&"exec"),
                };
                let expected = if lost { 2 } else { 0 };
                assert_eq!(run(stdout, stderr), Some(expected), "{arguments:?} {stdout:?} {stderr:?}");
            }
        }
    }
}

#[test]
fn the_error_names_the_stream_that_cannot_be_written() {
    if !Path::new("/dev/full").exists() {
        eprintln!("not run: this system has no /dev/full");
        return;
    }
    for arguments in [&["list", "--format", "json"][..], &["--help"], &["worker", "exec", "--all"]] {
        let sandbox = Sandbox::new(&["pass"], 300);
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" >/dev/full", "sh", POLLMATRIX]).args(arguments);
        shell.arg("--matrix").arg(sandbox.path("matrix.yml")).current_dir(sandbox.path(""));
        answer(&mut shell).expect(2, &["error: cannot write", "standard output", "No space left", "help: "]);
    }
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_exit_code() {
    let sandbox = Sandbox::new(&["pass"], 300);
    for stderr in sinks() {
        for arguments in [&["list", "--nonsense"][..], &["show", "no/such/cell"], &["merge", "nowhere"]] {
            let ended = code(&mut sandbox.command(arguments), Sink::Open, stderr);
            assert_eq!(ended, Some(2), "{arguments:?} {stderr:?}");
        }
    }
}
