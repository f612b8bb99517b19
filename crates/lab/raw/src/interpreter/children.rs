//! Forked children. A child inherits the script's descriptors, and the poller as far as the system allows it.
//!
//! A child has one thread. The script has no other thread at the fork; otherwise a lock that such a thread
//! held would never be released in the child.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::time::Duration;

use metadata::Answer;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

use super::fenced_poller::FencedPoller;
use super::thread_state::ThreadState;
use super::{Interpreter, broken};
use super::{call_failed, descriptors, waiters};
use crate::verbs::{Action, Clause, WaitArguments};
use crate::{Observation, Stopped};

/// A running child.
pub(super) struct Child {
    pid: Pid,
    /// An idle child exits when this end is closed.
    lifeline: Option<PipeWriter>,
    /// The child's answer, if it waits.
    output: Option<PipeReader>,
}

impl Child {
    pub(super) fn end(mut self) -> Result<String, Stopped> {
        self.lifeline.take();
        reap(self.pid)
    }

    /// Stops the child, and continues it once it has stopped.
    pub(super) fn stop_and_continue(&self) -> Result<String, Stopped> {
        let failed = |call: &'static str| move |errno| call_failed(call, errno);
        kill(self.pid, Signal::SIGSTOP).map_err(failed("kill(SIGSTOP)"))?;
        match waitpid(self.pid, Some(WaitPidFlag::WUNTRACED)).map_err(failed("waitpid"))? {
            WaitStatus::Stopped(..) => {}
            other => return Err(broken(format!("the child has not stopped: {other:?}"))),
        }
        kill(self.pid, Signal::SIGCONT).map_err(failed("kill(SIGCONT)"))?;
        Ok("ok".into())
    }

    /// Reads the child's answer and waits for its exit.
    pub(super) fn answers(mut self) -> Result<String, Stopped> {
        let output = self.output.take().ok_or_else(|| broken("the child does not wait"))?;
        let text = read_all(output)?;
        self.end()?;
        Ok(text)
    }
}

/// A child for its own sake. It ends with this value.
pub(super) struct Process {
    pid: Pid,
    /// If this process dies, the child ends.
    _lifeline: PipeWriter,
    is_reaped: bool,
}

impl Process {
    /// Ends the child, and waits until it has ended, but leaves its status.
    pub(super) fn exits(&self) -> Result<(), Errno> {
        if self.is_reaped {
            return Err(Errno::ESRCH);
        }
        kill(self.pid, Signal::SIGKILL)?;
        descriptors::await_end(self.pid)
    }

    /// Takes the status of the child, which must have ended.
    pub(super) fn is_reaped(&mut self) -> Result<(), Errno> {
        match waitpid(self.pid, Some(WaitPidFlag::WNOHANG))? {
            WaitStatus::StillAlive => Err(Errno::EAGAIN),
            _ => {
                self.is_reaped = true;
                Ok(())
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_reaped {
            // A forked child's copy of this value has no such child: both fail.
            let _ = kill(self.pid, Signal::SIGKILL);
            let _ = waitpid(self.pid, None);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.lifeline.take().is_some() {
            let _ = reap(self.pid);
        }
    }
}

fn reap(pid: Pid) -> Result<String, Stopped> {
    match waitpid(pid, None) {
        Ok(WaitStatus::Exited(_, 0)) => Ok("ok".into()),
        other => Err(broken(format!("the child did not exit with 0: {other:?}"))),
    }
}

/// Ends the child, without effect on anything that it shares.
fn exit_child(status: libc::c_int) -> ! {
    // SAFETY: _exit ends the process without running the parent's destructors or exit handlers.
    unsafe { libc::_exit(status) }
}

impl Interpreter {
    fn fork(&mut self) -> Result<ForkResult, Stopped> {
        if self.has_waiting_threads() {
            return Err(broken("a child cannot be forked while threads wait"));
        }
        self.responder = None;
        // SAFETY: the script has no other thread; the child runs one clause and exits.
        unsafe { fork() }.map_err(|errno| call_failed("fork", errno))
    }

    /// Forks a child that does nothing, after `begin`. It exits when the end of a pipe is closed.
    fn idle_child(&mut self, begin: impl FnOnce(&mut Self)) -> Result<(Pid, PipeWriter), Stopped> {
        let (mut parent_end, lifeline) = pipe().map_err(|error| call_failed("a pipe", error))?;
        match self.fork()? {
            ForkResult::Parent { child } => Ok((child, lifeline)),
            ForkResult::Child => {
                drop(lifeline);
                begin(self);
                // End of file and an error both mean that the child should exit.
                let _ = parent_end.read(&mut [0]);
                exit_child(0)
            }
        }
    }

    /// Forks a child that does nothing.
    pub(super) fn fork_child(&mut self) -> Result<String, Stopped> {
        let (pid, lifeline) = self.idle_child(|_| ())?;
        self.child = Some(Child { pid, lifeline: Some(lifeline), output: None });
        Ok("ok".into())
    }

    /// Forks a child that does nothing. Returns it with a descriptor of it.
    pub(super) fn process(&mut self) -> Result<(Process, OwnedFd), Stopped> {
        // The child must not keep the files of the script open.
        let (pid, lifeline) = self.idle_child(|child| {
            child.actors.values_mut().for_each(|actor| drop(actor.fd.take()));
        })?;
        let process = Process { pid, _lifeline: lifeline, is_reaped: false };
        Ok((process, descriptors::process(pid)?))
    }

    /// Forks a child that waits in its own poller. Returns when it sleeps.
    pub(super) fn child_waits(&mut self, timeout: Duration) -> Result<String, Stopped> {
        self.require_same_process("signals to the child do not reach it")?;
        let failed = |error| call_failed("a pipe", error);
        let (parent_end, lifeline) = pipe().map_err(failed)?;
        let (mut output, mut answer) = pipe().map_err(failed)?;
        match self.fork()? {
            ForkResult::Parent { child: pid } => {
                drop(answer);
                output.read_exact(&mut [0]).map_err(|error| call_failed("the child did not begin", error))?;
                self.child = Some(Child { pid, lifeline: Some(lifeline), output: Some(output) });
                waiters::wait_until_asleep(&mut ThreadState::of_child(pid), &*self.responder()?)?;
                Ok("ok".into())
            }
            ForkResult::Child => {
                drop((parent_end, lifeline));
                let waited = FencedPoller::open(self.setting).and_then(|poller| {
                    let begun = answer.write_all(b".");
                    begun.map_err(|error| call_failed("a pipe", error))?;
                    waiters::wait(&*poller.selector, WaitArguments::Timeout(timeout)).answer(&poller)
                });
                let text = waited.map_or_else(|stopped| stopped.to_string(), |answer| answer.to_string());
                exit_child(i32::from(answer.write_all(text.as_bytes()).is_err()))
            }
        }
    }

    /// Forks a child that runs one clause.
    pub(super) fn run_in_child(
        &mut self,
        clause: &Clause,
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        if !matches!(clause.action, Action::Wait { .. } | Action::Change(_) | Action::Call(..)) {
            return Err(Stopped::Script(format!(
                "a child can only wait, change registrations and make calls, not: {}",
                clause.action
            )));
        }
        self.require_same_process("a forked child uses the process of its parent")?;
        let (output, answer) = pipe().map_err(|error| call_failed("a pipe", error))?;
        match self.fork()? {
            ForkResult::Parent { child } => {
                drop(answer);
                let text = read_all(output)?;
                reap(child)?;
                self.record_child(clause, &text, observed)
            }
            ForkResult::Child => {
                drop(output);
                let result = self.run_clause(clause, &[], &mut Vec::new());
                exit_child(i32::from(report(answer, &result).is_err()))
            }
        }
    }

    /// Records the child's answer under the key of the clause.
    fn record_child(
        &self,
        clause: &Clause,
        text: &str,
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        let (kind, answer) = text.split_once(' ').unwrap_or((text, ""));
        match kind {
            "done" => {
                let typed = match &clause.action {
                    Action::Wait { .. } => Answer::of_wait(answer, &self.column),
                    _ => Answer::of_call(answer),
                };
                observed.extend(self.key(clause).map(|key| super::observation(key, typed)));
                Ok(answer.into())
            }
            "unsupported" => Err(Stopped::Unsupported(answer.into())),
            _ => Err(broken(format!("in the child: {answer}"))),
        }
    }
}

fn read_all(mut from: PipeReader) -> Result<String, Stopped> {
    let mut text = String::new();
    from.read_to_string(&mut text).map_err(|error| call_failed("the child's answer", error))?;
    Ok(text)
}

/// Sends the child's result to the parent.
fn report(mut to: PipeWriter, result: &Result<String, Stopped>) -> std::io::Result<()> {
    let text = match result {
        Ok(answer) => format!("done {answer}"),
        Err(Stopped::Unsupported(why)) => format!("unsupported {why}"),
        Err(other) => format!("failed {other}"),
    };
    to.write_all(text.as_bytes())
}
