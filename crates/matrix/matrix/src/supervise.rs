//! Starts the process of an attempt, limits it, and judges its exit. This is the only place that starts
//! cells.

use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use metadata::{Attempt, RunSpec, Status, start_error};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::environment::Environment;
use crate::executable::Executable;
use crate::pipes::{self, End, LeftOpen, Limit, Outputs};
use crate::{command, diagnostics, exit, left_behind};

/// The limits of standard output. A result line has a few KiB.
const STDOUT: Limit = Limit { keep: 4 << 20, total: 4 << 20 };
/// The limits of standard error, whose end is in the report.
const STDERR: Limit = Limit { keep: 16 << 10, total: 64 << 20 };

/// The description of one attempt.
pub struct Order<'a> {
    /// The global options, which the cell's process gets, too.
    pub environment: &'a Environment,
    /// The command to put in front of the process: an emulator, a sandbox. Empty for none.
    pub prefix: &'a [String],
    /// The `pollmatrix` executable.
    pub executable: &'a Executable,
    /// The matrix file, if it is not the built-in one.
    pub matrix: Option<&'a Path>,
    /// The cell's id.
    pub cell: &'a str,
    /// The seed of all random choices, the disturbances, and how slow this machine is.
    pub spec: &'a RunSpec,
    /// The time limit on a machine of ordinary speed. After it, every process of the cell is killed.
    pub limit: Duration,
    /// How long the scenario waits for an expected event. `None` for its own default.
    pub patience: Option<Duration>,
}

/// The end and the output of a process.
pub struct Ended {
    /// How the process ended.
    pub end: std::io::Result<End>,
    /// The end of its standard output.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
    /// How long it took.
    pub elapsed: Duration,
    /// The processes that kept its output open after its end.
    pub left: Vec<LeftOpen>,
}

/// Runs a command until it exits, reaches `limit`, or a stop is requested.
///
/// The process gets its own process group and a lifeline. No process of the group is left afterwards.
///
/// # Errors
/// The process cannot be started.
pub fn run(mut command: Command, limit: Duration, stop: impl Fn() -> bool) -> std::io::Result<Ended> {
    let began = Instant::now();
    // Standard input is the lifeline: it ends when this process ends, for whatever reason.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A separate process group: Ctrl-C reaches the runner only, and one call kills the whole cell.
    let mut child = command.process_group(0).spawn().map_err(start_error)?;
    let mut outputs = Outputs::of(&mut child, STDOUT, STDERR).inspect_err(|_| kill_and_reap(&mut child))?;
    let mut end = pipes::watch(&mut child, &mut outputs, began.checked_add(limit), stop);
    // Kill what remains of the cell, whatever its result: it would hold the pipes and disturb other cells.
    // The group's number has not been reused yet, because systems reuse numbers much later.
    kill_and_reap(&mut child);
    let elapsed = began.elapsed();
    let (left, drained) = outputs.drain(group(&child));
    if let (Err(too_much), Ok(End::Exited(_))) = (drained, &end) {
        end = Ok(End::TooMuchOutput(too_much));
    }
    Ok(Ended { end, stdout: outputs.stdout.text(), stderr: outputs.stderr.text(), elapsed, left })
}

/// Makes the attempt. Returns `None` if a stop was requested before the result, or if the executable was
/// replaced, which [`Executable::check`] then reports.
pub fn attempt(order: &Order<'_>, stop: impl Fn() -> bool) -> Option<Attempt> {
    let attempt = order.executable.is_unchanged().then(|| unchecked(order, stop))?;
    // Checked again, because the file can be replaced between the check and the start.
    attempt.filter(|_| order.executable.is_unchanged())
}

fn unchecked(order: &Order<'_>, stop: impl Fn() -> bool) -> Option<Attempt> {
    let limit = order.limit.saturating_mul(order.spec.slowness().get());
    let Ended { end, stdout, stderr, elapsed, left } = match run(command(order), limit, stop) {
        Ok(ended) => ended,
        Err(error) => {
            return Some(blank(order, Status::Broken, format!("cannot start the cell: {error}")));
        }
    };
    let mut attempt = match end {
        Ok(End::Stopped) => return None,
        Ok(End::TimedOut) => blank(order, Status::Timeout, format!("no result within {} s", limit.as_secs())),
        Ok(End::TooMuchOutput(too_much)) => blank(order, Status::Broken, too_much.to_string()),
        Ok(End::Exited(status)) => judge(order, status, &stdout, &stderr),
        Err(error) => blank(order, Status::Broken, format!("cannot wait for the cell: {error}")),
    };
    if matches!(attempt.status, Status::Timeout | Status::Crash) {
        attempt.duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    }
    attempt.stderr = stderr;
    for process in left {
        diagnostics::warning(&format!("{}: {process}", order.cell));
        attempt.notes.push(process.to_string());
    }
    Some(attempt)
}

/// Kills the processes that cells have left behind, and says which. No cell may run.
pub fn clean_up() {
    for (cell, process) in left_behind::kill_marked() {
        diagnostics::warning(&format!("{cell}: {process} outlived its cell: it was killed"));
    }
}

fn command(order: &Order<'_>) -> Command {
    let mut command = command::behind(order.prefix, order.executable.path());
    command.args(["worker", "cell", order.cell, "--seed", &order.spec.seed.to_string(), "--lifeline"]);
    command.args(["--slow", &order.spec.slowness().to_string()]).args(order.spec.disturbance_options());
    if order.spec.timeline {
        command.arg("--timeline");
    }
    if let Some(matrix) = order.matrix {
        command.arg("--matrix").arg(matrix);
    }
    if let Some(dir) = order.environment.expectations() {
        command.arg("--expectations").arg(dir);
    }
    let scenario = order.cell.rsplit_once('/').map_or(order.cell, |(scenario, _)| scenario);
    if let Some(behaviours) =
        order.environment.behaviours().filter(|behaviours| behaviours.find(scenario).is_some())
    {
        command.arg("--behaviours").arg(&behaviours.path);
    }
    let poller = order.cell.rsplit('@').next();
    if let Some(typed) = poller.and_then(|name| order.environment.adapter_argument(name)) {
        command.args(["--adapter", typed]);
    }
    if let Some(patience) = order.patience {
        command.args(["--patience-ms", &patience.as_millis().to_string()]);
    }
    left_behind::mark_cell(&mut command, order.cell);
    command
}

/// Kills the process group that a child leads, and waits for the child.
pub(crate) fn kill_and_reap(child: &mut Child) {
    kill_group(child);
    let _ = child.wait();
}

/// Kills the process group that a child leads.
pub fn kill_group(child: &Child) {
    let _ = killpg(group(child), Signal::SIGKILL);
}

/// Returns the process group that a child leads.
fn group(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("the system's type for process ids has the id"))
}

/// Judges an exit. The printed attempt counts only if it is the only output, belongs to the order, and agrees
/// with the exit code.
fn judge(order: &Order<'_>, status: ExitStatus, stdout: &str, stderr: &str) -> Attempt {
    if let Some(why) = killed(status, stderr) {
        return blank(order, Status::Crash, why);
    }
    let code = status.code().unwrap_or_default();
    let broken = |why: String| blank(order, Status::Broken, why);
    let lines: Vec<_> = stdout.lines().collect();
    let line = match lines.as_slice() {
        [line] => line,
        [] => {
            let error = stderr.lines().find_map(|line| line.strip_prefix("error: "));
            let why = error.map(|error| format!(": {error}")).unwrap_or_default();
            return broken(format!("the cell exited with {code} and printed no result{why}"));
        }
        several => {
            return broken(format!(
                "the cell printed {} lines instead of one result: {stdout}",
                several.len()
            ));
        }
    };
    let attempt: Attempt = match serde_json::from_str(line) {
        Ok(attempt) => attempt,
        Err(error) => {
            return broken(format!("the cell printed a line that is not a result ({error}): {line}"));
        }
    };
    if attempt.cell != order.cell || !order.spec.is_of_attempt(&attempt) {
        return broken(format!("the cell printed a result of {} with seed {}", attempt.cell, attempt.seed));
    }
    let expected = i32::from(exit::of_cell(attempt.status));
    if code != expected {
        return broken(format!(
            "the cell printed {} and exited with {code} instead of {expected}",
            attempt.status
        ));
    }
    attempt
}

/// Returns the signal that killed the process, with the message of a panic, if a signal killed it.
pub fn killed(status: ExitStatus, stderr: &str) -> Option<String> {
    let signal = status.signal()?;
    let name =
        Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |s| s.as_str().to_owned());
    let panic = panic_message(stderr).map(|message| format!(": {message}")).unwrap_or_default();
    Some(format!("killed by {name}{panic}"))
}

/// Returns the message of a Rust panic: the line after `thread '…' panicked at …:`.
fn panic_message(stderr: &str) -> Option<&str> {
    let mut lines = stderr.lines().skip_while(|line| !line.contains("panicked at"));
    lines.next()?;
    lines.next()
}

fn blank(order: &Order<'_>, status: Status, reason: String) -> Attempt {
    Attempt {
        cell: order.cell.to_owned(),
        status,
        reason: Some(reason),
        seed: order.spec.seed,
        fault: order.spec.fault.clone(),
        inject_errors: order.spec.inject_errors,
        late_data: order.spec.late_data,
        duration_ms: 0,
        checks: Vec::new(),
        counters: BTreeMap::new(),
        notes: Vec::new(),
        timeline: None,
        stderr: String::new(),
    }
}
