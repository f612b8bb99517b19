//! A process that measures one cost, and its answer: a JSON line.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::Duration;

use cost::{Effort, Failure, Job, Poller, arrays};
use metadata::CostOutcome;
use nix::sys::signal::Signal;
use nix::unistd::alarm;
use runner::output;
use selector::MakeSelector;

use crate::args::{CostArgs, CostCellArgs};
use crate::error::Error;
use crate::exit;

/// The least processor time of a sample.
const SAMPLE: Duration = Duration::from_millis(2);
/// The rounds of a count.
const ROUNDS: u32 = 4;
/// The process is ended by SIGALRM after so many seconds.
const LIMIT: u32 = 300;

/// Returns the command of the process.
pub fn command(executable: &Path, job: &Job, args: &CostArgs) -> Command {
    let mut command = Command::new(executable);
    command.arg("cost-cell");
    command.args([&job.poller, job.operation.name(), job.trigger.name()]);
    command.args([job.descriptors.to_string(), job.threads.to_string()]);
    command.args([
        "--pairs".to_owned(),
        args.pairs.to_string(),
        "--noise".to_owned(),
        args.noise.to_string(),
    ]);
    command.stdin(Stdio::null());
    command
}

/// Measures one cost in this process, and prints the outcome, or how often the operation was performed.
pub fn run(args: &CostCellArgs) -> Result<ExitCode, Error> {
    // A wait that never ends, or a poller that hangs, ends the process.
    alarm::set(LIMIT);
    cost::raise_descriptors();
    let make = maker(&args.poller);
    let (descriptors, threads) = (args.descriptors as usize, args.threads as usize);
    if args.count {
        let counted = cost::count(&*make, args.operation, args.trigger, descriptors, threads, ROUNDS);
        return match counted {
            Ok(times) => {
                output::print_line(&times.to_string())?;
                Ok(ExitCode::SUCCESS)
            }
            Err(failure) => {
                output::print_error_line(&failure.to_string());
                Ok(ExitCode::from(exit::FAILED))
            }
        };
    }
    let effort = Effort { pairs: args.pairs, noise: args.noise, sample: SAMPLE };
    let outcome = cost::measure(&*make, args.operation, args.trigger, descriptors, threads, effort);
    output::print_line(metadata::json_line(&outcome).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

type Maker = Box<dyn Fn() -> io::Result<Box<dyn Poller>> + Send + Sync>;

/// Returns what creates the poller of this name. poll and select keep their arrays between the calls, as
/// programs do.
fn maker(name: &str) -> Maker {
    match name {
        "poll" => Box::new(arrays::poll),
        "select" => Box::new(arrays::select),
        _ => {
            let backend = runner::backends::find(name).map(|backend| backend.selector);
            let library = || subjects::find(name).map(|library| library.make);
            match backend.or_else(library) {
                Some(make) => Box::new(move || behind(make)),
                None => Box::new(|| Err(io::ErrorKind::Unsupported.into())),
            }
        }
    }
}

fn behind(make: MakeSelector) -> io::Result<Box<dyn Poller>> {
    let library = cost::Library::new(make()?);
    library.map(|library| Box::new(library) as Box<dyn Poller>).map_err(|failure| match failure {
        Failure::Unsupported(reason) => io::Error::new(io::ErrorKind::Unsupported, reason),
        Failure::Failed(reason) => io::Error::other(reason),
    })
}

/// Returns the outcome that a process has printed, or how it ended instead.
pub fn outcome_of(ended: io::Result<Output>) -> CostOutcome {
    let failed = |reason| CostOutcome::Failed { reason };
    let output = match ended {
        Ok(output) => output,
        Err(error) => return failed(format!("its process cannot be started: {error}")),
    };
    if let Some(outcome) = printed(&output) {
        return outcome;
    }
    let how = match output.status.signal() {
        Some(signal) if signal == Signal::SIGALRM as i32 => {
            return failed(format!("no end in {LIMIT} seconds"));
        }
        Some(signal) => match Signal::try_from(signal) {
            Ok(signal) => format!("its process was ended by {signal}"),
            Err(_) => format!("its process was ended by signal {signal}"),
        },
        None => format!("its process ended with {}", output.status),
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    failed(match stderr.trim() {
        "" => how,
        stderr => format!("{how}: {}", report::first_line(stderr)),
    })
}

fn printed(output: &Output) -> Option<CostOutcome> {
    output.status.success().then(|| serde_json::from_slice(&output.stdout).ok())?
}

/// Returns the number of system calls of one operation.
pub fn calls_of((output, calls): (Output, u64)) -> Option<f64> {
    let times: u64 = std::str::from_utf8(&output.stdout).ok()?.trim().parse().ok()?;
    let each = calls as f64 / times as f64;
    // Two digits: a wake-up that comes before the wait can save a part of a call.
    (output.status.success() && times > 0).then(|| (each * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    fn ended(status: i32, stdout: &str, stderr: &str) -> Output {
        Output { status: ExitStatus::from_raw(status), stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn the_end_of_a_process_is_its_outcome_or_a_failure() {
        let reason = |status, stdout, stderr| outcome_of(Ok(ended(status, stdout, stderr)));
        let unsupported = CostOutcome::Unsupported { reason: "FD_SETSIZE".into() };
        let line = metadata::json_line(&unsupported);
        assert_eq!(reason(0, &line, ""), unsupported);
        let failed = |reason: &str| CostOutcome::Failed { reason: reason.into() };
        assert_eq!(reason(6, &line, "abort\nmore"), failed("its process was ended by SIGABRT: abort"));
        assert_eq!(reason(14, "", ""), failed("no end in 300 seconds"));
        assert_eq!(reason(0, "", ""), failed("its process ended with exit status: 0"));
        let error = outcome_of(Err(io::Error::other("why")));
        assert_eq!(error, failed("its process cannot be started: why"));
    }

    #[test]
    fn calls_are_those_of_one_operation() {
        assert_eq!(calls_of((ended(0, "40\n", ""), 80)), Some(2.0));
        assert_eq!(calls_of((ended(0, "3\n", ""), 1)), Some(0.33));
        assert_eq!(calls_of((ended(256, "40\n", ""), 80)), None);
        assert_eq!(calls_of((ended(0, "", ""), 80)), None);
        assert_eq!(calls_of((ended(0, "0\n", ""), 80)), None);
    }
}
