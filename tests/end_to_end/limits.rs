//! Machines with few descriptors, without a loopback interface or with long paths: cells that need more are
//! unsupported, or name what they lack.

use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, pollmatrix};

/// Returns a command with the built-in matrix, and with these limits of descriptors.
fn limited((soft, hard): (rlim_t, rlim_t), arguments: &[&str]) -> Command {
    let mut command = Command::new(POLLMATRIX);
    command.args(arguments);
    // SAFETY: system calls only, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            // Descriptors that this process has inherited would count, too.
            for number in 3..256 {
                let _ = fcntl(BorrowedFd::borrow_raw(number), FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
            }
            Ok(setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?)
        });
    }
    command
}

fn run_in(sandbox: &Sandbox, command: &mut Command) -> Answer {
    answer(command.arg("--report-dir").arg(sandbox.path("pollmatrix-report")))
}

/// Returns the cell with the most threads of every contract scenario, on the backend other than poll and
/// select.
fn largest_cells() -> Vec<String> {
    let listed: Vec<Value> = pollmatrix(&["list", "--layer", "contract", "--format", "json"]).json();
    let mut largest: Vec<(String, u64, String)> = Vec::new();
    for cell in listed.iter().filter(|cell| cell["unsupported"].is_null()) {
        let text = |key: &str| cell[key].as_str().expect("the value is text").to_owned();
        let backend = text("backend");
        if backend == "poll" || backend == "select" {
            continue;
        }
        let threads = cell["params"]["threads"].as_u64().expect("threads is a number");
        match largest.iter_mut().find(|(scenario, ..)| *scenario == text("scenario")) {
            Some(known) if known.1 < threads => *known = (text("scenario"), threads, text("id")),
            Some(_) => {}
            None => largest.push((text("scenario"), threads, text("id"))),
        }
    }
    largest.into_iter().map(|(.., id)| id).collect()
}

/// Runs a cell with this limit of descriptors. Returns its exit code and the reason.
fn run_cell(id: &str, limit: rlim_t) -> (Option<i32>, String) {
    let mut command = limited((limit, limit), &["worker", "cell", id, "--seed", "1"]);
    let ended = answer(command.stdin(std::process::Stdio::null()));
    let attempt: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    (ended.code, attempt["reason"].as_str().unwrap_or_default().to_owned())
}

fn needed(reason: &str) -> Option<rlim_t> {
    reason.strip_prefix("needs ")?.split(' ').next()?.parse().ok()
}

#[test]
fn every_scenario_runs_with_the_descriptors_that_it_requires() {
    let cells = largest_cells();
    assert!(cells.len() > 80, "{cells:?}");
    let mut wrong = Vec::new();
    for id in cells {
        let (code, reason) = run_cell(&id, 12);
        let Some(needed) = needed(&reason).filter(|_| code == Some(127)) else {
            wrong.push(format!("{id} with 12: {code:?} {reason}"));
            continue;
        };
        let (code, reason) = run_cell(&id, needed - 1);
        if code != Some(127) || !reason.starts_with(&format!("needs {needed} descriptors, and may have ")) {
            wrong.push(format!("{id} with {}: {code:?} {reason}", needed - 1));
        }
        let (code, reason) = run_cell(&id, needed);
        if code != Some(0) {
            wrong.push(format!("{id} with {needed}: {code:?} {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_low_hard_limit_causes_no_failures_and_no_broken_cells() {
    for limit in [1024, 256, 64] {
        let sandbox = Sandbox::new(&["pass"], 300);
        let selected = ["--filter", "deletion/*-8t*@poll", "--filter", "deletion/*-1t1g@poll"];
        let characterisation =
            ["--filter", "regression/*pipe*@poll", "--filter", "sharing/*@poll", "--filter", "limits/*@poll"];
        let arguments = [&["run", "--seed", "1"][..], &selected, &characterisation].concat();
        let answer = run_in(&sandbox, &mut limited((limit, limit), &arguments));
        answer.expect(0, &[]);
        let cells = sandbox.cells();
        let passed = cells.iter().filter(|cell| cell["status"] == "pass").count();
        assert!(passed > cells.len() / 2, "limit {limit}: {}", answer.stdout);
        let lacks_descriptors =
            |cell: &Value| cell["reason"].as_str().is_some_and(|why| why.contains("descriptors"));
        assert_eq!(
            cells.iter().any(lacks_descriptors),
            limit < 1024 || any_needs_more_than_1024(&cells),
            "limit {limit}: {}",
            answer.stdout
        );
    }
}

/// Returns whether any of the cells needs more than 1024 descriptors.
fn any_needs_more_than_1024(cells: &[Value]) -> bool {
    cells.iter().any(|cell| cell["scenario"] == "regression/number-beyond-fd-setsize")
}

#[test]
fn a_soft_limit_is_raised_and_a_cell_may_lower_it() {
    let sandbox = Sandbox::new(&["pass"], 300);
    // The first cell needs more than a usual soft limit. The others set a limit themselves.
    let cells = [
        "regression/number-beyond-fd-setsize/pipe-level-1t1g@poll",
        "regression/last-number-refused/pipe-level-1t1g@poll",
        "shared-listener/accept-emfile/unix-level-1t1g@poll",
    ];
    let arguments = [&["run", "--seed", "1"][..], &cells].concat();
    run_in(&sandbox, &mut limited((64, 4096), &arguments)).expect(0, &["3 cells: 3 pass"]);
}

#[test]
fn without_a_loopback_interface_tcp_and_udp_are_unsupported() {
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.arg("-n").args(arguments);
        command
    };
    if !unshare(&["true"]).status().is_ok_and(|status| status.success()) {
        eprintln!("not run: unshare is missing or not permitted");
        return;
    }
    let sandbox = Sandbox::new(&["pass"], 300);
    let cells = [
        "deletion/own-handler",
        "deletion/close-once",
        "regression/udp-error-spins",
        "shared-listener/accept-once",
        "readiness/both-shut-write",
        "readiness/connect-refused",
        "readiness/unconnected-inet",
        "time",
    ];
    let mut command = unshare(&[POLLMATRIX, "run", "--backend", "poll"]);
    let answer = run_in(&sandbox, command.args(cells));
    answer.expect(0, &[]);
    let cells = sandbox.cells();
    for cell in &cells {
        let is_inet =
            ["tcp", "udp"].contains(&cell["params"]["transport"].as_str().expect("the value is text"));
        let names_loopback = cell["reason"].as_str().unwrap_or_default().contains("loopback");
        assert_eq!(names_loopback, is_inet, "{cell}");
        assert!(!is_inet || cell["status"] == "unsupported", "{cell}");
    }
    assert!(cells.iter().any(|cell| cell["status"] == "pass"), "{}", answer.stdout);
}

/// The address of a UNIX socket has about 100 bytes.
#[test]
fn a_temporary_folder_with_a_long_path_is_the_reason_of_cells_that_bind_sockets_in_it() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let folder = sandbox.path(&"x".repeat(120));
    std::fs::create_dir(&folder).expect("the sandbox is writable");
    let cells = [
        "readiness/listener-idle/unix-level-1t1g@poll",
        "shared-listener/accept-once/unix-level-2t1g@poll",
        "deletion/close-once/unix-level-2t1g@poll",
    ];
    let mut command = Command::new(POLLMATRIX);
    command.arg("run").args(cells).env("TMPDIR", &folder);
    run_in(&sandbox, &mut command).expect(1, &["1 pass"]);
    let expected = "bytes): set TMPDIR to a shorter path";
    for cell in sandbox.cells().iter().filter(|cell| cell["status"] != "pass") {
        assert_eq!(cell["status"], "broken", "{cell}");
        assert!(cell["reason"].as_str().is_some_and(|reason| reason.contains(expected)), "{cell}");
    }
    let script = ["probe", "own listens, look at own", "--transport", "unix"];
    let probed =
        answer(Command::new(POLLMATRIX).args(script).args(["--backend", "poll"]).env("TMPDIR", &folder));
    let all = format!("{}{}", probed.stdout, probed.stderr);
    let checked = answer(Command::new(POLLMATRIX).args(["adapter", "check", "mio"]).env("TMPDIR", &folder));
    checked
        .expect(2, &["is too long for the addresses of UNIX sockets", "help: set TMPDIR to a shorter path"]);
    assert!(probed.code == Some(1) && all.contains(expected), "{:?}: {all}", probed.code);
}
