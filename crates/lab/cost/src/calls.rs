//! Counts the system calls of an operation, by ptrace(2).
//!
//! A process of its own performs the operation. It makes its poller and registers the descriptors untraced,
//! and then asks to be traced. Each thread marks the sections in which the operation is performed (`clock`),
//! and the calls between two marks of a thread are counted. What the process does around them, such as making
//! a descriptor ready, is not.

use std::process::Command;

use metadata::Calls;
use serde::{Deserialize, Serialize};

/// What the process that was traced prints, as one line of JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Performed {
    /// How often it performed the operation.
    Operations(u64),
    /// Why it did not.
    Failed(String),
}

/// Runs a process that [performs](crate::perform) an operation and prints [`Performed`], and counts its
/// system calls.
pub fn count(command: Command) -> Calls {
    tracer::count(command).unwrap_or_else(|reason| Calls::NotCounted { reason })
}

/// Makes the parent process the tracer of the calling thread. The error is the reason why it cannot be.
pub(crate) fn be_traced() -> Result<(), String> {
    tracer::be_traced()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tracer {
    use std::collections::{BTreeMap, HashSet};
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::thread::Builder;

    use metadata::Calls;
    use nix::errno::Errno;
    use nix::sys::ptrace::{self, Options};
    use nix::sys::signal::{Signal, raise};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;
    use syscalls::Sysno;

    use super::Performed;
    use crate::clock::MARK;
    use crate::rounded;

    pub(super) fn be_traced() -> Result<(), String> {
        let refused = |errno| format!("ptrace(2) is refused: {errno:?}");
        ptrace::traceme().map_err(refused)?;
        // The tracer sees the thread from here on.
        raise(Signal::SIGSTOP).map_err(refused)
    }

    pub(super) fn count(command: Command) -> Result<Calls, String> {
        // A thread of its own: it is the parent of the process, and waits for no other child.
        let tracer = Builder::new().name("tracer".into()).spawn(move || trace(command));
        let tracer = tracer.map_err(|error| format!("the tracer cannot be started: {error}"))?;
        tracer.join().unwrap_or_else(|_| Err("the tracer panicked".to_owned()))
    }

    fn trace(mut command: Command) -> Result<Calls, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |error| format!("the process to trace cannot be started: {error}");
        let mut child = command.spawn().map_err(failed)?;
        let mut seen = Seen::default();
        let ended = seen.follow(Pid::from_raw(child.id().cast_signed()));
        let status = ended.map_err(|errno| {
            let _ = child.kill();
            format!("the process cannot be traced: {errno:?}")
        })?;
        let mut output = Vec::new();
        // It is one line, so it is in the pipe.
        child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut output));
        let operations = match serde_json::from_slice(&output) {
            Ok(Performed::Operations(operations)) if operations > 0 && seen.sections > 0 => operations as f64,
            Ok(Performed::Failed(reason)) => return Err(reason),
            // An untraced process would seem to make no calls.
            Ok(Performed::Operations(_)) => return Err("the process was not traced".to_owned()),
            Err(_) => return Err(format!("the traced process ended without an answer: {status:?}")),
        };
        let counts = seen.counts;
        let total = rounded(counts.values().sum::<u64>() as f64 / operations);
        let each = counts.into_iter().map(|(name, count)| (name, rounded(count as f64 / operations)));
        Ok(Calls::Counted { total, by_name: each.collect() })
    }

    /// What the tracer sees.
    #[derive(Default)]
    struct Seen {
        /// The threads that have stopped.
        threads: HashSet<Pid>,
        /// The threads that are in a marked section.
        inside: HashSet<Pid>,
        /// The marked sections.
        sections: u64,
        /// The calls in them, by name.
        counts: BTreeMap<String, u64>,
    }

    impl Seen {
        /// Follows a process and its threads to their end.
        fn follow(&mut self, process: Pid) -> Result<WaitStatus, Errno> {
            loop {
                // No child of another thread.
                let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
                let (thread, signal) = match waitpid(None, Some(flags)) {
                    Err(Errno::EINTR) => continue,
                    Err(errno) => return Err(errno),
                    Ok(ended @ (WaitStatus::Exited(id, _) | WaitStatus::Signaled(id, ..)))
                        if id == process =>
                    {
                        return Ok(ended);
                    }
                    Ok(WaitStatus::PtraceSyscall(thread)) => {
                        self.look(thread)?;
                        (thread, None)
                    }
                    // Its first stop.
                    Ok(WaitStatus::Stopped(thread, Signal::SIGSTOP)) if self.threads.insert(thread) => {
                        let options = Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL;
                        ptrace::setoptions(thread, options)?;
                        (thread, None)
                    }
                    Ok(WaitStatus::Stopped(thread, signal)) => (thread, Some(signal)),
                    Ok(_) => continue,
                };
                match ptrace::syscall(thread, signal) {
                    // A thread that is being killed has no more stops.
                    Ok(()) | Err(Errno::ESRCH) => {}
                    Err(errno) => return Err(errno),
                }
            }
        }

        /// Looks at a stop. Each call stops twice, at its entry and at its exit.
        fn look(&mut self, thread: Pid) -> Result<(), Errno> {
            let info = match ptrace::syscall_info(thread) {
                Err(Errno::ESRCH) => return Ok(()),
                info => info?,
            };
            if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
                return Ok(());
            }
            // SAFETY: the kernel has filled in the variant of this `op`.
            let entry = unsafe { info.u.entry };
            if entry.nr == libc::SYS_getpgid as u64 && entry.args[0] == MARK as u64 {
                if !self.inside.remove(&thread) {
                    self.inside.insert(thread);
                    self.sections += 1;
                }
            } else if self.inside.contains(&thread) {
                let number = usize::try_from(entry.nr).ok().and_then(Sysno::new);
                let name = number.map_or_else(|| format!("call {}", entry.nr), |name| name.name().to_owned());
                *self.counts.entry(name).or_default() += 1;
            }
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn reason(script: &str) -> String {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            match super::super::count(command) {
                Calls::NotCounted { reason } => reason,
                counted => panic!("{script}: {counted:?}"),
            }
        }

        #[test]
        fn a_process_that_is_not_traced_or_does_not_answer_is_not_counted() {
            assert_eq!(reason(r#"echo '{"operations":5}'"#), "the process was not traced");
            assert_eq!(
                reason(r#"echo '{"failed":"ptrace(2) is refused: EPERM"}'"#),
                "ptrace(2) is refused: EPERM"
            );
            let ended = reason("exit 3");
            assert!(ended.starts_with("the traced process ended without an answer: Exited("), "{ended}");
            let missing = super::super::count(Command::new("/no/such/program"));
            let Calls::NotCounted { reason } = missing else { panic!("{missing:?}") };
            assert!(reason.starts_with("the process to trace cannot be started: "), "{reason}");
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod tracer {
    use std::process::Command;

    use metadata::Calls;

    const REASON: &str = "only a build for Linux with glibc traces system calls";

    pub(super) fn count(_: Command) -> Result<Calls, String> {
        Err(REASON.to_owned())
    }

    pub(super) fn be_traced() -> Result<(), String> {
        Err(REASON.to_owned())
    }
}
