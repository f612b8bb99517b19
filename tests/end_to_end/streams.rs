//! Standard output and standard error that cannot be written: a reader that is gone, a full disk, a terminal that hung up.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::sandbox::{POLLMATRIX, Sandbox, answer, eventually, id};

/// What a stream leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// Somewhere that takes everything.
    Open,
    /// A pipe that nobody reads any more: EPIPE.
    Gone,
    /// A device without room: ENOSPC.
    Full,
}

/// The sinks that this system has. macOS has no /dev/full.
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
                OpenOptions::new().write(true).open("/dev/full").expect("it can be written to").into()
            }
        }
    }
}

fn code(command: &mut Command, stdout: Sink, stderr: Sink) -> Option<i32> {
    command.stdout(stdout.stdio()).stderr(stderr.stdio()).status().expect("the executable starts").code()
}

/// Every file of the report, with a row per cell.
#[track_caller]
fn expect_report(sandbox: &Sandbox, cells: &[(&str, &str)]) {
    for name in ["report.html", "report.md", "junit.xml"] {
        assert!(sandbox.path("pollmatrix-report").join(name).exists(), "there is no {name}");
    }
    for (cell, status) in cells {
        assert_eq!(sandbox.row(cell)["status"], *status, "{cell}");
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).expect("a process's number fits");
    kill(Pid::from_raw(pid), signal).expect("the runner is still there");
}

/// Waits for the last cell, which hangs.
fn until_it_hangs(sandbox: &Sandbox, runner: &mut Child) {
    let runner = RefCell::new(runner);
    eventually("the cell that hangs", || {
        let ended = runner.borrow_mut().try_wait().expect("it can be waited for");
        assert_eq!(ended, None, "the runner ended before its time");
        sandbox.journal().len() == 3 && sandbox.cells_alive() == 1
    });
}

#[test]
fn a_run_writes_its_report_whatever_becomes_of_its_output() {
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
fn ctrl_c_ends_a_run_in_order_though_its_tee_ends_first() {
    let sandbox = Sandbox::new(&["pass", "fail", "hang"], 300);
    let mut tee = Command::new("tee");
    tee.arg(sandbox.path("log")).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut tee = tee.spawn().expect("every unix has tee");
    let input = OwnedFd::from(tee.stdin.take().expect("it is a pipe"));
    // Not by SIGINT: a test that a script runs in the background inherits that as ignored, and so does tee.
    tee.kill().expect("tee is a child");
    tee.wait().expect("tee ends");
    let mut command = sandbox.command(&["run", "--jobs", "1"]);
    command.stdout(input.try_clone().expect("it can be copied")).stderr(input);
    let mut runner = command.spawn().expect("the executable starts");
    // Two lines have gone nowhere by then.
    until_it_hangs(&sandbox, &mut runner);
    signal(&runner, Signal::SIGINT);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(130));
    expect_report(&sandbox, &[("pass", "pass"), ("fail", "fail"), ("hang", "not-run")]);
}

#[test]
fn a_terminal_that_hangs_up_ends_a_run_in_order() {
    // With the terminal gone from the start there is no bar.
    for has_bar in [false, true] {
        let sandbox = Sandbox::new(&["fail", "panic", "hang"], 300);
        let pty = openpty(None, None).expect("there are terminals");
        let mut master = Some(pty.master).filter(|_| has_bar);
        let mut command = sandbox.command(&["run", "--jobs", "1"]);
        command.stdout(Stdio::null()).stderr(pty.slave);
        let mut runner = command.spawn().expect("the executable starts");
        until_it_hangs(&sandbox, &mut runner);
        master.take();
        // The system sends one, and the shell another.
        let ended = loop {
            signal(&runner, Signal::SIGHUP);
            if let Some(ended) = runner.try_wait().expect("it can be waited for") {
                break ended;
            }
        };
        assert_eq!(ended.code(), Some(129), "with a bar: {has_bar}");
        expect_report(&sandbox, &[("fail", "fail"), ("panic", "crash"), ("hang", "not-run")]);
    }
}

#[test]
fn a_command_whose_output_is_lost_says_so_and_one_whose_reader_has_seen_enough_does_not() {
    let sandbox = Sandbox::new(&["pass"], 300);
    sandbox.run(&["run"]).expect(0, &[]);
    let commands: [&[&str]; 18] = [
        &["--help"],
        &["--version"],
        &["run", "--help"],
        &["run"],
        &["exec", "--all"],
        &["run-cell", &id("pass"), "--seed", "1"],
        &["probe", "V26"],
        &["list"],
        &["list", "--format", "json"],
        &["list", "--history"],
        &["targets", "--format", "json"],
        &["show", &id("pass")],
        &["diff", "pollmatrix-report", "pollmatrix-report", "--format", "json"],
        &["merge", "pollmatrix-report", "--force"],
        &["faults", "--list"],
        &["expectations", "--format", "json"],
        &["plan", "--shards", "1"],
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
                    // Its lines are the results: without a reader they are lost.
                    Sink::Gone => arguments[0] == "exec",
                };
                let expected = if lost { 2 } else { 0 };
                assert_eq!(run(stdout, stderr), Some(expected), "{arguments:?} {stdout:?} {stderr:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_named() {
    if !Path::new("/dev/full").exists() {
        eprintln!("not run: this system has no /dev/full");
        return;
    }
    for arguments in [&["list", "--format", "json"][..], &["--help"], &["exec", "--all"]] {
        let sandbox = Sandbox::new(&["pass"], 300);
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" >/dev/full", "sh", POLLMATRIX]).args(arguments);
        shell.arg("--matrix").arg(sandbox.path("matrix.yml")).current_dir(sandbox.path(""));
        answer(&mut shell).expect(2, &["error: cannot write", "standard output", "No space left", "help: "]);
    }
}

#[test]
fn an_error_that_cannot_be_printed_is_still_an_exit_code() {
    let sandbox = Sandbox::new(&["pass"], 300);
    for stderr in sinks() {
        for arguments in [&["list", "--nonsense"][..], &["show", "no/such/cell"], &["merge", "nowhere"]] {
            let ended = code(&mut sandbox.command(arguments), Sink::Open, stderr);
            assert_eq!(ended, Some(2), "{arguments:?} {stderr:?}");
        }
    }
}
