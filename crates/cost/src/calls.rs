//! Counts the system calls of a process that measures, by tracing it.
//!
//! The process reads the clock of its thread before and after each section that is measured
//! ([`crate::count`]). The calls of a thread between two such readings are those of the operations.

use std::io;
use std::process::{Command, Output};

/// Runs the command, and returns its output and the number of system calls inside measured sections.
///
/// # Errors
/// The kind is `Unsupported` if this system cannot count them. Otherwise the error of the start or of
/// ptrace(2), for which a sandbox can be the reason.
pub fn traced(command: Command) -> io::Result<(Output, u64)> {
    tracer::traced(command)
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod tracer {
    use std::collections::HashSet;
    use std::io::{self, Read};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Command, ExitStatus, Output, Stdio};
    use std::thread::Builder;

    use nix::sys::ptrace::{self, Options};
    use nix::sys::signal::Signal;
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    use crate::clock::CLOCK;

    pub fn traced(command: Command) -> io::Result<(Output, u64)> {
        // A thread of its own: it waits for every process that it traces, and for no other child.
        let tracer = Builder::new().name("trace".into()).spawn(move || trace(command))?;
        tracer.join().unwrap_or_else(|_| Err(io::Error::other("the tracer panicked")))
    }

    fn trace(mut command: Command) -> io::Result<(Output, u64)> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: between fork and exec, only ptrace(2) is called.
        unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
        let mut child = command.spawn()?;
        let first = Pid::from_raw(child.id() as i32);
        // It stops after exec.
        if !matches!(waitpid(first, None)?, WaitStatus::Stopped(..)) {
            return Err(io::Error::other("the process did not stop for its tracer"));
        }
        let options =
            Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(first, options)?;
        ptrace::syscall(first, None)?;
        let (mut inside, mut calls) = (HashSet::new(), 0);
        let status = loop {
            // Not even another thread's children.
            let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
            let (stopped, signal) = match waitpid(Pid::from_raw(-1), Some(flags))? {
                WaitStatus::Exited(process, code) if process == first => {
                    break ExitStatus::from_raw(code << 8);
                }
                WaitStatus::Signaled(process, signal, _) if process == first => {
                    break ExitStatus::from_raw(signal as i32);
                }
                WaitStatus::PtraceSyscall(thread) => {
                    calls += u64::from(is_counted(thread, &mut inside));
                    (thread, None)
                }
                // The first stop of a new thread.
                WaitStatus::Stopped(thread, Signal::SIGSTOP) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                WaitStatus::PtraceEvent(thread, ..) => (thread, None),
                _ => continue,
            };
            // A thread that was killed meanwhile has no more stops.
            let _ = ptrace::syscall(stopped, signal);
        };
        // The output of a count is a line: it fits into the pipe.
        let mut output = Output { status, stdout: Vec::new(), stderr: Vec::new() };
        if let Some(stdout) = &mut child.stdout {
            stdout.read_to_end(&mut output.stdout)?;
        }
        if let Some(stderr) = &mut child.stderr {
            stderr.read_to_end(&mut output.stderr)?;
        }
        Ok((output, calls))
    }

    /// Returns whether a stop is the beginning of a call inside a section. A reading of the clock begins or
    /// ends a section.
    fn is_counted(thread: Pid, inside: &mut HashSet<Pid>) -> bool {
        let Ok(info) = ptrace::syscall_info(thread) else { return false };
        if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
            return false;
        }
        // SAFETY: the kernel has filled in the variant of this `op`.
        let entry = unsafe { info.u.entry };
        if entry.nr == libc::SYS_clock_gettime as u64 && entry.args[0] as libc::clockid_t == CLOCK {
            if !inside.remove(&thread) {
                inside.insert(thread);
            }
            return false;
        }
        inside.contains(&thread)
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod tracer {
    use std::io;
    use std::process::{Command, Output};

    pub fn traced(_: Command) -> io::Result<(Output, u64)> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this build cannot trace system calls"))
    }
}
