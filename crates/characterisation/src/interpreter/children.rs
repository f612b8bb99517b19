//! Forked children: they have a copy of what the line has made, and whatever of the poller their system lets them have.
//!
//! A child has one thread. None of the line's own is about when it is forked, so that none can have held a lock that is
//! held in the child for ever.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

use super::fenced_poller::FencedPoller;
use super::thread_state::ThreadState;
use super::{Interpreter, setup_error};
use super::{call_failed, waiters};
use crate::verbs::{Action, Clause, WaitArguments};
use crate::{Observation, Stopped};

/// A child that does nothing.
pub(super) struct Child {
    pid: Pid,
    /// The child ends when nobody has this end any more.
    ends: Option<PipeWriter>,
    /// What it says, if it does something.
    says: Option<PipeReader>,
}

impl Child {
    pub(super) fn end(mut self) -> Result<String, Stopped> {
        self.ends.take();
        reap(self.pid)
    }

    /// Stops it, and lets it go on when it has stopped.
    pub(super) fn stop_and_continue(&self) -> Result<String, Stopped> {
        let failed = |call: &'static str| move |errno| call_failed(call, errno);
        kill(self.pid, Signal::SIGSTOP).map_err(failed("kill(SIGSTOP)"))?;
        match waitpid(self.pid, Some(WaitPidFlag::WUNTRACED)).map_err(failed("waitpid"))? {
            WaitStatus::Stopped(..) => {}
            other => return Err(setup_error(format!("the child has not stopped: {other:?}"))),
        }
        kill(self.pid, Signal::SIGCONT).map_err(failed("kill(SIGCONT)"))?;
        Ok("ok".into())
    }

    /// What it says, and its end.
    pub(super) fn answers(mut self) -> Result<String, Stopped> {
        let says = self.says.take().ok_or_else(|| setup_error("the child does nothing"))?;
        let text = read_all(says)?;
        self.end()?;
        Ok(text)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ends.take().is_some() {
            let _ = reap(self.pid);
        }
    }
}

fn reap(pid: Pid) -> Result<String, Stopped> {
    match waitpid(pid, None) {
        Ok(WaitStatus::Exited(_, 0)) => Ok("ok".into()),
        other => Err(setup_error(format!("the child has ended otherwise: {other:?}"))),
    }
}

/// Ends the child, and nothing that it shares.
fn leave(status: libc::c_int) -> ! {
    // SAFETY: it ends the process without running anything of the parent's in it.
    unsafe { libc::_exit(status) }
}

impl Interpreter {
    fn fork(&mut self) -> Result<ForkResult, Stopped> {
        if self.has_waiting_threads() {
            return Err(setup_error("a child while threads wait would have half of them"));
        }
        self.responder = None;
        // SAFETY: the line's only thread is this one; the child performs one clause of it and leaves.
        unsafe { fork() }.map_err(|errno| call_failed("fork", errno))
    }

    /// A child that has everything open.
    pub(super) fn fork_child(&mut self) -> Result<String, Stopped> {
        let (mut over, ends) = pipe().map_err(|error| call_failed("a pipe", error))?;
        match self.fork()? {
            ForkResult::Parent { child: pid } => {
                self.child = Some(Child { pid, ends: Some(ends), says: None });
                Ok("ok".into())
            }
            ForkResult::Child => {
                drop(ends);
                // Its end, or an error: both are the end.
                let _ = over.read(&mut [0]);
                leave(0)
            }
        }
    }

    /// A child that waits in a poller of its own. Returns when it sleeps.
    pub(super) fn child_waits(&mut self, timeout: Duration) -> Result<String, Stopped> {
        self.require_same_process("what happens to a child happens to who asks it")?;
        let failed = |error| call_failed("a pipe", error);
        let (over, ends) = pipe().map_err(failed)?;
        let (mut said, mut says) = pipe().map_err(failed)?;
        match self.fork()? {
            ForkResult::Parent { child: pid } => {
                drop(says);
                said.read_exact(&mut [0]).map_err(|error| call_failed("the child did not begin", error))?;
                self.child = Some(Child { pid, ends: Some(ends), says: Some(said) });
                waiters::falls_asleep(&mut ThreadState::of_child(pid), &*self.responder()?)?;
                Ok("ok".into())
            }
            ForkResult::Child => {
                drop((over, ends));
                let waited = FencedPoller::open(self.setting).and_then(|poller| {
                    let begun = says.write_all(b".");
                    begun.map_err(|error| call_failed("a pipe", error))?;
                    waiters::wait(&*poller.selector, WaitArguments::Timeout(timeout)).written(&poller)
                });
                let text = waited.unwrap_or_else(|stopped| stopped.to_string());
                leave(i32::from(says.write_all(text.as_bytes()).is_err()))
            }
        }
    }

    /// A child that performs a clause.
    pub(super) fn run_in_child(
        &mut self,
        clause: &Clause,
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        if !matches!(clause.action, Action::Wait { .. } | Action::Change(_) | Action::Call(..)) {
            return Err(Stopped::Script(format!(
                "a child can wait, change and call, and not: {}",
                clause.action
            )));
        }
        self.require_same_process("a forked child asks the one that its parent asks")?;
        let (said, says) = pipe().map_err(|error| call_failed("a pipe", error))?;
        match self.fork()? {
            ForkResult::Parent { child } => {
                drop(says);
                let text = read_all(said)?;
                reap(child)?;
                self.record_child(clause, &text, observed)
            }
            ForkResult::Child => {
                drop(said);
                let performed = self.run_clause(clause, &[], &mut Vec::new());
                leave(i32::from(tell(says, &performed).is_err()))
            }
        }
    }

    /// What the child has said, under the key that the clause has.
    fn record_child(
        &self,
        clause: &Clause,
        text: &str,
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        let (kind, answer) = text.split_once(' ').unwrap_or((text, ""));
        match kind {
            "done" => {
                let key = match &clause.action {
                    Action::Wait { .. } => Some(self.naming.wait(&self.poller, self.setting.mode)),
                    Action::Change(change) if clause.is_question => self.naming.change(&self.poller, change),
                    Action::Call(who, call) if clause.is_question => Some(self.naming.call(who, call)),
                    _ => None,
                };
                observed.extend(key.map(|key| super::observation(key, answer.into())));
                Ok(answer.into())
            }
            "unsupported" => Err(Stopped::Unsupported(answer.into())),
            _ => Err(setup_error(format!("in the child: {answer}"))),
        }
    }
}

fn read_all(mut from: PipeReader) -> Result<String, Stopped> {
    let mut text = String::new();
    from.read_to_string(&mut text).map_err(|error| call_failed("the child's answer", error))?;
    Ok(text)
}

fn tell(mut to: PipeWriter, performed: &Result<String, Stopped>) -> std::io::Result<()> {
    let text = match performed {
        Ok(answer) => format!("done {answer}"),
        Err(Stopped::Unsupported(why)) => format!("unsupported {why}"),
        Err(other) => format!("broken {other}"),
    };
    to.write_all(text.as_bytes())
}
