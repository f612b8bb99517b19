//! For tests: programs that a machine may lack.

use std::io::Write;
use std::process::{Command, Stdio};

/// Whether a program that a test needs cannot be run here. Then the test says so and must return: the test harness has no way
/// to say it at run time. `.ci/run` counts what was not run.
pub fn lacks(program: &str) -> bool {
    let arguments: &[&str] = match program {
        "python3" => &["-c", "import array, json, select, socket"],
        "ps" => &["-A", "-o", "args="],
        _ => &["-c", ":"],
    };
    let ended = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if ended.is_ok_and(|status| status.success()) {
        return false;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("?");
    // Not the macro: the harness would keep what it prints.
    let _ = writeln!(std::io::stderr(), "not run: test {test}: {program} is not installed");
    true
}
