//! The one place that starts cells: a process per attempt, its time limit, and what its end means.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use metadata::{Attempt, Seed, Status};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::environment::Environment;
use crate::executable::Executable;
use crate::pipes::{self, Limit, Outputs, TooMuch, Waited};
use crate::{command, exit};

/// A result line is a few KiB.
const STDOUT: Limit = Limit { keep: 4 << 20, total: 4 << 20 };
/// Its end is in the report.
const STDERR: Limit = Limit { keep: 16 << 10, total: 64 << 20 };

/// One attempt to make.
pub struct Order<'a> {
    /// How this program was started: the cell's process is to know the same.
    pub environment: &'a Environment,
    /// The command that is put in front of it: an emulator, a sandbox. Empty: none.
    pub prefix: &'a [String],
    /// The `pollmatrix` executable.
    pub executable: &'a Executable,
    /// The matrix file, if it is not the built-in one.
    pub matrix: Option<&'a Path>,
    /// The cell's id.
    pub cell: &'a str,
    /// For everything random.
    pub seed: Seed,
    /// The fault to switch on.
    pub fault: Option<&'a str>,
    /// One in how many system calls below the core fails.
    pub inject_errors: Option<NonZeroU32>,
    /// After this time every process of the cell is killed, on a machine of ordinary speed.
    pub limit: Duration,
    /// How many times slower this machine is.
    pub slow: NonZeroU32,
    /// How long its scenario waits for what must happen, if not as long as it does by itself.
    pub patience: Option<Duration>,
}

/// How a process ended.
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was killed: its time was over.
    TimedOut,
    /// It was killed: it was stopped.
    Stopped,
    /// It was killed: it wrote more than it may.
    TooMuch(TooMuch),
}

/// What a process said until it ended.
pub struct Ended {
    /// How.
    pub end: std::io::Result<End>,
    /// The end of its standard output.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs a command to its end, `limit` or the stop. It gets a process group and a lifeline, and nothing of it is left.
///
/// # Errors
/// It cannot be started.
pub fn run(mut command: Command, limit: Duration, stop: impl Fn() -> bool) -> std::io::Result<Ended> {
    let began = Instant::now();
    // Standard input is the lifeline: it ends when this process does, however it does.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: Ctrl-C reaches the runner only, and the whole cell can be killed at once.
    let mut child = command.process_group(0).spawn()?;
    let mut outputs =
        Outputs::of(&mut child, STDOUT, STDERR).inspect_err(|_| drop(kill_and_reap(&mut child)))?;
    let mut end = wait(&mut child, &mut outputs, began.checked_add(limit), stop);
    // What the cell leaves behind dies with it, whatever its answer: it would hold the pipes, and disturb the
    // next cells. The number is not another group's by now: numbers come round again much later.
    kill_group(&child);
    let elapsed = began.elapsed();
    if let (Err(too_much), Ok(End::Exited(_))) = (outputs.drain(), &end) {
        end = Ok(End::TooMuch(too_much));
    }
    Ok(Ended { end, stdout: outputs.stdout.text(), stderr: outputs.stderr.text(), elapsed })
}

/// Makes the attempt. `None` if `stop` said so before there was an answer, or if the executable was replaced, which
/// [`Executable::check`] then says.
pub fn attempt(order: &Order<'_>, stop: impl Fn() -> bool) -> Option<Attempt> {
    let attempt = order.executable.is_the_same().then(|| unchecked(order, stop))?;
    // It may have been replaced just before it was started.
    attempt.filter(|_| order.executable.is_the_same())
}

fn unchecked(order: &Order<'_>, stop: impl Fn() -> bool) -> Option<Attempt> {
    let limit = order.limit.saturating_mul(order.slow.get());
    let Ended { end, stdout, stderr, elapsed } = match run(command(order), limit, stop) {
        Ok(ended) => ended,
        Err(error) => {
            return Some(blank(order, Status::Broken, format!("the cell could not be started: {error}")));
        }
    };
    let mut attempt = match end {
        Ok(End::Stopped) => return None,
        Ok(End::TimedOut) => blank(order, Status::Timeout, format!("no result within {} s", limit.as_secs())),
        Ok(End::TooMuch(too_much)) => blank(order, Status::Broken, too_much.to_string()),
        Ok(End::Exited(status)) => judge(order, status, &stdout, &stderr),
        Err(error) => blank(order, Status::Broken, format!("the cell could not be waited for: {error}")),
    };
    if matches!(attempt.status, Status::Timeout | Status::Crash) {
        attempt.duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    }
    attempt.stderr = stderr;
    Some(attempt)
}

fn command(order: &Order<'_>) -> Command {
    let mut command = command::behind(order.prefix, order.executable.path());
    command.args(["run-cell", order.cell, "--seed", &order.seed.to_string(), "--lifeline"]);
    command.args(["--slow", &order.slow.to_string()]);
    if let Some(matrix) = order.matrix {
        command.arg("--matrix").arg(matrix);
    }
    if let Some(dir) = order.environment.expectations() {
        command.arg("--expectations").arg(dir);
    }
    let poller = order.cell.rsplit('@').next();
    if let Some(typed) = poller.and_then(|name| order.environment.typed(name)) {
        command.args(["--subject", typed]);
    }
    if let Some(fault) = order.fault {
        command.args(["--fault", fault]);
    }
    if let Some(one_in) = order.inject_errors {
        command.arg(format!("--inject-errors={one_in}"));
    }
    if let Some(patience) = order.patience {
        command.args(["--patience-ms", &patience.as_millis().to_string()]);
    }
    command
}

/// Waits for the end, the deadline or the stop. A cell that does not end by itself is killed and reaped.
fn wait(
    child: &mut Child,
    outputs: &mut Outputs,
    deadline: Option<Instant>,
    stop: impl Fn() -> bool,
) -> std::io::Result<End> {
    let end = match pipes::watch(child, outputs, deadline, stop)? {
        Waited::Exited(status) => return Ok(End::Exited(status)),
        Waited::TimedOut => End::TimedOut,
        Waited::Stopped => End::Stopped,
        Waited::TooMuch(too_much) => End::TooMuch(too_much),
    };
    kill_and_reap(child)?;
    Ok(end)
}

fn kill_and_reap(child: &mut Child) -> std::io::Result<ExitStatus> {
    kill_group(child);
    child.wait()
}

/// Kills a process that leads a group, and the group.
pub fn kill_group(child: &Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// What an exit means: the answer only if all of it agrees with itself.
fn judge(order: &Order<'_>, status: ExitStatus, stdout: &str, stderr: &str) -> Attempt {
    if let Some(why) = killed(status, stderr) {
        return blank(order, Status::Crash, why);
    }
    let code = status.code().unwrap_or_default();
    let broken = |why: String| blank(order, Status::Broken, why);
    let lines: Vec<_> = stdout.lines().collect();
    let line = match lines.as_slice() {
        [line] => line,
        [] => return broken(format!("the cell exited with {code} and printed no result")),
        several => {
            return broken(format!(
                "the cell printed {} lines in place of one result: {stdout}",
                several.len()
            ));
        }
    };
    let attempt: Attempt = match serde_json::from_str(line) {
        Ok(attempt) => attempt,
        Err(error) => {
            return broken(format!("the cell printed something that is no result ({error}): {line}"));
        }
    };
    let asked = (order.cell, order.seed, order.fault, order.inject_errors);
    if (attempt.cell.as_str(), attempt.seed, attempt.fault.as_deref(), attempt.inject_errors) != asked {
        return broken(format!("the cell answered for {} with seed {}", attempt.cell, attempt.seed));
    }
    let expected = i32::from(exit::of_cell(attempt.status));
    if code != expected {
        return broken(format!(
            "the cell says {} and exited with {code} instead of {expected}",
            attempt.status
        ));
    }
    attempt
}

/// Which signal ended the process, and what its panic said, if a signal did.
pub fn killed(status: ExitStatus, stderr: &str) -> Option<String> {
    let signal = status.signal()?;
    let name =
        Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |s| s.as_str().to_owned());
    let panic = panic_message(stderr).map(|message| format!(": {message}")).unwrap_or_default();
    Some(format!("killed by {name}{panic}"))
}

/// What a Rust panic said: the line after `thread '…' panicked at …:`.
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
        seed: order.seed,
        fault: order.fault.map(str::to_owned),
        inject_errors: order.inject_errors,
        duration_ms: 0,
        checks: Vec::new(),
        counters: BTreeMap::new(),
        notes: Vec::new(),
        stderr: String::new(),
    }
}
