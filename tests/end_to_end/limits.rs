//! Machines that have little: few descriptors, no loopback interface. What cannot be tried there is unsupported.

use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer};

/// The executable with the matrix that is built in, under these limits of descriptors.
fn limited((soft, hard): (rlim_t, rlim_t), arguments: &[&str]) -> Command {
    let mut command = Command::new(POLLMATRIX);
    command.args(arguments);
    // SAFETY: system calls only, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            // What this process has from its own parent counts, too.
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

/// Every row of the report.
fn rows(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.results()["cells"].as_array().expect("cells is a list").clone()
}

/// The largest cell of every contract scenario, of the backend that the system has besides poll and select.
fn largest_cells() -> Vec<String> {
    let listed = answer(Command::new(POLLMATRIX).args(["list", "--layer", "contract", "--format", "json"]));
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).expect("it is JSON");
    let mut largest: Vec<(String, u64, String)> = Vec::new();
    for cell in listed.iter().filter(|cell| cell["unsupported"].is_null()) {
        let text = |key: &str| cell[key].as_str().expect("it is text").to_owned();
        let backend = text("backend");
        if backend == "poll" || backend == "select" {
            continue;
        }
        let threads = cell["params"]["threads"].as_u64().expect("it is a number");
        match largest.iter_mut().find(|(scenario, ..)| *scenario == text("scenario")) {
            Some(known) if known.1 < threads => *known = (text("scenario"), threads, text("id")),
            Some(_) => {}
            None => largest.push((text("scenario"), threads, text("id"))),
        }
    }
    largest.into_iter().map(|(.., id)| id).collect()
}

/// What a cell answers with so many descriptors: its exit code and the reason.
fn cell(id: &str, limit: rlim_t) -> (Option<i32>, String) {
    let mut command = limited((limit, limit), &["run-cell", id, "--seed", "1"]);
    let said = answer(command.stdin(std::process::Stdio::null()));
    let attempt: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    (said.code, attempt["reason"].as_str().unwrap_or_default().to_owned())
}

fn needed(reason: &str) -> Option<rlim_t> {
    reason.strip_prefix("needs ")?.split(' ').next()?.parse().ok()
}

#[test]
fn every_scenario_runs_with_the_descriptors_that_it_says_it_needs() {
    let cells = largest_cells();
    assert!(cells.len() > 80, "{cells:?}");
    let mut wrong = Vec::new();
    for id in cells {
        let (code, reason) = cell(&id, 12);
        let Some(needed) = needed(&reason).filter(|_| code == Some(127)) else {
            wrong.push(format!("{id} with 12: {code:?} {reason}"));
            continue;
        };
        let (code, reason) = cell(&id, needed - 1);
        if code != Some(127) || !reason.starts_with(&format!("needs {needed} descriptors, and may have ")) {
            wrong.push(format!("{id} with {}: {code:?} {reason}", needed - 1));
        }
        let (code, reason) = cell(&id, needed);
        if code != Some(0) {
            wrong.push(format!("{id} with {needed}: {code:?} {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn under_a_low_hard_limit_nothing_fails_and_nothing_is_broken() {
    for limit in [1024, 256, 64] {
        let sandbox = Sandbox::new(&["pass"], 300);
        let selected = ["--filter", "deletion/*-8t*@poll", "--filter", "deletion/*-1t1g@poll"];
        let rows_too =
            ["--filter", "regression/*pipe*@poll", "--filter", "sharing/*@poll", "--filter", "limits/*@poll"];
        let arguments = [&["run", "--seed", "1"][..], &selected, &rows_too].concat();
        let answer = run_in(&sandbox, &mut limited((limit, limit), &arguments));
        answer.expect(0, &[]);
        let rows = rows(&sandbox);
        let count = |status: &str| rows.iter().filter(|row| row["status"] == status).count();
        assert!(count("pass") > rows.len() / 2, "limit {limit}: {}", answer.stdout);
        let short =
            rows.iter().filter(|row| row["reason"].as_str().is_some_and(|why| why.contains("descriptors")));
        assert_eq!(
            short.count() > 0,
            limit < 1024 || rows_needs_more(&rows),
            "limit {limit}: {}",
            answer.stdout
        );
    }
}

/// Whether a cell is among them that needs more than 1024.
fn rows_needs_more(rows: &[Value]) -> bool {
    rows.iter().any(|row| row["scenario"] == "regression/number-beyond-fd-setsize")
}

#[test]
fn a_soft_limit_is_raised_and_a_cell_may_lower_it() {
    let sandbox = Sandbox::new(&["pass"], 300);
    // The first needs more than a login has, the others set a limit of their own.
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
        eprintln!("not run: there is no unshare, or it may not be used");
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
    let rows = rows(&sandbox);
    for row in &rows {
        let is_inet = ["tcp", "udp"].contains(&row["params"]["transport"].as_str().expect("it is text"));
        let says = row["reason"].as_str().unwrap_or_default().contains("loopback");
        assert_eq!(says, is_inet, "{row}");
        assert!(!is_inet || row["status"] == "unsupported", "{row}");
    }
    assert!(rows.iter().any(|row| row["status"] == "pass"), "{}", answer.stdout);
}
