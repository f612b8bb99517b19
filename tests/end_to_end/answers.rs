//! The status that each kind of misbehaving cell gets.

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::sandbox::{Sandbox, eventually, id};

/// Runs one self-test. Returns its status and reason, and the exit code of the run.
fn outcome(selftest: &str, timeout: u64) -> (String, String, i32) {
    let sandbox = Sandbox::new(&[selftest], timeout);
    let answer = sandbox.run(&["run"]);
    let cell = sandbox.cell(selftest);
    let text = |field: &str| cell[field].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), answer.code.expect("the runner is not killed"))
}

#[test]
fn a_cell_that_passes_is_a_pass_and_the_run_exits_with_0() {
    assert_eq!(outcome("pass", 20), ("pass".into(), String::new(), 0));
}

#[test]
fn a_check_that_does_not_hold_is_a_fail_and_the_run_exits_with_1() {
    assert_eq!(outcome("fail", 20), ("fail".into(), "the answer".into(), 1));
}

#[test]
fn an_unsupported_cell_is_listed_and_fails_nothing() {
    assert_eq!(outcome("unsupported", 20), ("unsupported".into(), "no system supports this".into(), 0));
}

#[test]
fn a_failed_set_up_breaks_the_cell() {
    assert_eq!(outcome("broken", 20), ("broken".into(), "the set-up failed".into(), 1));
}

#[test]
fn a_cell_that_hangs_is_a_timeout() {
    assert_eq!(outcome("hang", 1), ("timeout".into(), "no result within 1 s".into(), 1));
}

#[test]
fn a_panic_is_a_crash_with_its_message() {
    let (status, reason, code) = outcome("panic", 20);
    assert_eq!((status.as_str(), code), ("crash", 1));
    assert_eq!(reason, "killed by SIGABRT: an invariant does not hold");
}

#[test]
fn a_panic_in_another_thread_is_a_crash_and_not_a_timeout() {
    let (status, reason, _) = outcome("panic-in-thread", 20);
    assert_eq!(status, "crash");
    assert!(reason.contains("an invariant does not hold in a thread"), "{reason}");
}

#[test]
fn a_signal_is_a_crash_with_its_name() {
    assert_eq!(outcome("signal", 20), ("crash".into(), "killed by SIGILL".into(), 1));
}

#[test]
fn a_cell_that_prints_no_result_is_broken_even_if_it_exits_with_0() {
    let (status, reason, code) = outcome("silent", 20);
    assert_eq!((status.as_str(), code), ("broken", 1));
    assert!(reason.contains("exited with 0 and printed no result"), "{reason}");
}

#[test]
fn a_cell_that_prints_more_than_its_result_is_broken() {
    let (status, reason, _) = outcome("talkative", 20);
    assert_eq!(status, "broken");
    assert!(reason.contains("2 lines instead of one result"), "{reason}");
}

#[test]
fn an_unknown_scenario_is_refused_with_its_position_and_a_suggestion() {
    let sandbox = Sandbox::new(&["pass", "pas"], 20);
    sandbox.run(&["run"]).expect(
        2,
        &["matrix.yml:", "there is no scenario 'selftest/pas'", "help: did you mean 'selftest/pass'?"],
    );
}

#[test]
fn the_end_of_standard_error_is_kept() {
    let sandbox = Sandbox::new(&["panic"], 20);
    sandbox.run(&["run"]);
    let cell = sandbox.cell("panic");
    assert!(cell["stderr"].as_str().is_some_and(|text| text.contains("panicked at")), "{cell}");
}

#[test]
fn children_of_a_cell_end_with_it() {
    let sandbox = Sandbox::new(&["leaves-a-child"], 20);
    sandbox.run(&["run"]).expect(0, &[]);
    let child = child_of(&sandbox, "leaves-a-child");
    eventually("the child is gone", || kill(child, None) == Err(Errno::ESRCH));
}

/// Returns the process that a self-test has left.
fn child_of(sandbox: &Sandbox, selftest: &str) -> Pid {
    let cell = sandbox.cell(selftest);
    let notes = cell["notes"].as_array().expect("notes is a list");
    let child = notes.iter().filter_map(|note| note.as_str()?.strip_prefix("child ")?.parse().ok()).next();
    Pid::from_raw(child.expect("a note has the child's process id"))
}

/// It is in no process group that the runner knows, and would hold the cell's output open for an hour.
#[cfg(target_os = "linux")]
#[test]
fn a_child_in_a_session_of_its_own_is_named_and_ends_with_its_cell() {
    let sandbox = Sandbox::new(&["leaves-a-session", "pass"], 20);
    let ran = sandbox.run(&["run", "--jobs", "1"]);
    let child = child_of(&sandbox, "leaves-a-session");
    let left = format!(
        "sleep 3600 (process {child}) left the cell's process group and held its output open: it was killed"
    );
    ran.expect(0, &[&format!("warning: {}: {left}", id("leaves-a-session")), "2 pass"]);
    let cell = sandbox.cell("leaves-a-session");
    assert!(cell["notes"].as_array().is_some_and(|notes| notes.contains(&left.clone().into())), "{cell}");
    eventually("the child is gone", || kill(child, None) == Err(Errno::ESRCH));
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_a_cell_has_left_is_named_at_the_end_of_the_run() {
    let sandbox = Sandbox::new(&["leaves-a-daemon", "pass"], 20);
    let ran = sandbox.run(&["run"]);
    let child = child_of(&sandbox, "leaves-a-daemon");
    let left =
        format!("{}: sleep 3600 (process {child}) outlived its cell: it was killed", id("leaves-a-daemon"));
    ran.expect(0, &[&format!("warning: {left}"), "2 pass"]);
    eventually("the child is gone", || kill(child, None) == Err(Errno::ESRCH));
}

#[test]
fn different_attempts_are_flaky_and_the_seed_of_the_first_failure_reproduces_it() {
    let sandbox = Sandbox::new(&["flaky", "pass"], 20);
    sandbox
        .run(&["run", "--repeat", "5", "--seed", "0x10"])
        .expect(1, &["1 pass", "1 flaky", "flaky 3/5: fail"]);
    let cell = sandbox.cell("flaky");
    assert_eq!((&cell["attempts"]["passed"], &cell["attempts"]["total"]), (&3.into(), &5.into()));
    assert_eq!(cell["seed"], "0x11");
    assert_eq!(sandbox.cell("pass")["attempts"]["total"], 5);

    let seed = cell["seed"].as_str().expect("a seed is text").to_owned();
    sandbox.run(&["run", &id("flaky"), "--seed", &seed]).expect(1, &["1 fail"]);
}
