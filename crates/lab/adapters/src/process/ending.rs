//! The answers of a program that does not answer: it has ended by itself, or it computes without an end.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use metadata::Outcome;
use nix::sys::signal::Signal;

/// Returns the answer of a program that has ended: `exits(3)`, `aborts(SIGABRT)`. `None` if a signal has
/// ended it that a program does not send to itself by a mistake: `SIGKILL` also comes from a system without
/// memory, and `SIGTERM` from a person.
pub(super) fn answer(status: ExitStatus) -> Option<Outcome> {
    if let Some(code) = status.code() {
        return Some(Outcome::Exited(code.to_string()));
    }
    let signal = Signal::try_from(status.signal()?).ok()?;
    let is_its_own = matches!(
        signal,
        Signal::SIGABRT
            | Signal::SIGBUS
            | Signal::SIGFPE
            | Signal::SIGILL
            | Signal::SIGPIPE
            | Signal::SIGSEGV
            | Signal::SIGSYS
            | Signal::SIGTRAP
    );
    is_its_own.then(|| Outcome::Aborted(signal.to_string()))
}

/// Returns the processor time of a process, and the time for which it waited for a processor, where the
/// system publishes them.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(super) fn busy(process: i32) -> Option<Duration> {
    let clock = nix::time::clock_getcpuclockid(nix::unistd::Pid::from_raw(process)).ok()?;
    let used = Duration::from(nix::time::clock_gettime(clock).ok()?);
    Some(used + runnable(process))
}

/// Returns the processor time of a process: unknown on this system.
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
pub(super) fn busy(_process: i32) -> Option<Duration> {
    None
}

/// Returns the time for which the threads of a process waited for a processor, as far as /proc has it.
#[cfg(target_os = "linux")]
fn runnable(process: i32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    // The time on a processor, the time in its queue, the number of slices.
    let waited = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    Duration::from_nanos(waited.sum())
}

#[cfg(target_os = "freebsd")]
fn runnable(_process: i32) -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_from_outside_is_no_answer_of_the_program() {
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        let signal = |signal: Signal| ExitStatus::from_raw(signal as i32);
        let written = |status| answer(status).map(|answer| answer.to_string());
        assert_eq!(written(code(0)).as_deref(), Some("exits(0)"));
        assert_eq!(written(code(3)).as_deref(), Some("exits(3)"));
        assert_eq!(written(signal(Signal::SIGABRT)).as_deref(), Some("aborts(SIGABRT)"));
        assert_eq!(written(signal(Signal::SIGSEGV)).as_deref(), Some("aborts(SIGSEGV)"));
        for outside in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            assert_eq!(answer(signal(outside)), None, "{outside}");
        }
    }
}
