//! Test support: detects the programs that are missing on a machine.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// Returns whether a program that a test needs is missing. If it is, this prints a message, and the test must
/// return: the test harness cannot skip a test at run time. `.ci/run` counts the messages.
pub fn lacks(program: &str) -> bool {
    let arguments: &[&str] = match program {
        "python3" => &["-c", "import array, json, select, socket"],
        "ps" => &["-A", "-o", "args="],
        // The adapter needs Node 18. Not a Boolean: Node 20 and later take only an integer.
        "node" => &["-e", "process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)"],
        "git" => &["--version"],
        _ => &["-c", ":"],
    };
    let ended = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match ended {
        Ok(status) if status.success() => return false,
        // Installed, but too old or without a module: not the same mend.
        Ok(status) => not_run(&format!("{program} {} ended with {status}", arguments.join(" "))),
        Err(error) if error.kind() == ErrorKind::NotFound => not_run(&format!("{program} is not installed")),
        Err(error) => not_run(&format!("{program}: {error}")),
    }
    true
}

/// Prints that the test of this thread does not run here. It must return then.
pub fn not_run(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("?");
    // Not `eprintln!`, whose output the harness captures.
    let _ = writeln!(std::io::stderr(), "not run: test {test}: {why}");
}
