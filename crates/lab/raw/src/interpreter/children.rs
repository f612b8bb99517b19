//! Forked children. A child inherits the script's descriptors, and the poller as far as the system allows it.
//!
//! A child has one thread. The script has no other thread at the fork; otherwise a lock that such a thread
//! held would never be released in the child.

use std::ffi::CStr;
use std::io::{self, IoSlice, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

use metadata::Answer;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

use super::fenced_poller::FencedPoller;
use super::thread_state::ThreadState;
use super::{Interpreter, broken};
use super::{call_failed, descriptors, waiters};
use crate::verbs::{Action, Call, Clause, WaitArguments};
use crate::{Observation, Stopped};

/// A running child.
pub(super) struct Child {
    pid: Pid,
    /// To a child that serves clauses. It exits when this end is closed.
    clauses: Option<UnixStream>,
    /// The child's answer, if it waits.
    output: Option<PipeReader>,
    is_reaped: bool,
}

impl Child {
    pub(super) fn end(mut self) -> Result<String, Stopped> {
        self.clauses.take();
        self.is_reaped = true;
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

/// A thread of a [`Process`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    First,
    Second,
}

/// A child for its own sake. It ends with this value.
pub(super) struct Process {
    pid: Pid,
    /// Orders to its first and second thread. If this process dies, the child ends.
    orders: [PipeWriter; 2],
    /// What the child answers: the id of its second thread, and the end of file when it executes a program.
    answers: PipeReader,
    second: Option<Pid>,
    first_has_ended: bool,
    has_executed: bool,
    is_reaped: bool,
}

/// Orders to a thread of a [`Process`].
const START: u8 = b's';
const END: u8 = b'e';
const EXECUTE: u8 = b'x';

/// A program that ends with its standard input.
const PROGRAMS: [&CStr; 2] = [c"/bin/cat", c"/usr/bin/cat"];

impl Process {
    pub(super) fn id(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Ends the child, and waits until it has ended, but leaves its status.
    pub(super) fn exits(&self) -> Result<(), Errno> {
        if self.is_reaped {
            return Err(Errno::ESRCH);
        }
        kill(self.pid, Signal::SIGKILL)?;
        descriptors::await_end(self.pid)
    }

    /// Checks that the first thread obeys orders.
    fn require_first(&self, what: &str) -> Result<(), Stopped> {
        if self.first_has_ended || self.has_executed {
            return Err(broken(format!("the first thread of the process, which {what}, is no more")));
        }
        Ok(())
    }

    fn order(&mut self, which: Which, order: u8) -> Result<(), Stopped> {
        let written = self.orders[which as usize].write_all(&[order]);
        written.map_err(|error| call_failed("an order to a child", error))
    }

    /// Returns the id of a thread. The child starts its second one at the first use.
    fn thread_id(&mut self, which: Which) -> Result<Pid, Stopped> {
        if which == Which::First {
            return Ok(self.pid);
        }
        if let Some(second) = self.second {
            return Ok(second);
        }
        self.require_first("starts a second one")?;
        self.order(Which::First, START)?;
        let mut id = [0; size_of::<libc::pid_t>()];
        let read = self.answers.read_exact(&mut id);
        read.map_err(|error| call_failed("the child starts no thread", error))?;
        Ok(*self.second.insert(Pid::from_raw(libc::pid_t::from_ne_bytes(id))))
    }

    /// Ends one of its threads, and waits until it has ended.
    pub(super) fn thread_exits(&mut self, which: Which) -> Result<Result<(), Errno>, Stopped> {
        let id = self.thread_id(which)?;
        let status = format!("/proc/{}/task/{id}/stat", self.pid);
        // The last field in brackets is the name of the program.
        let state = || {
            let status = std::fs::read_to_string(&status).ok()?;
            status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
        };
        let first_has_ended = which == Which::Second && self.first_has_ended;
        if state().is_none_or(|state| state == 'Z') {
            return Ok(Err(Errno::ESRCH));
        }
        self.order(which, END)?;
        // A thread that has ended is gone, except for the first one.
        while state().is_some_and(|state| state != 'Z') {
            std::thread::yield_now();
        }
        self.first_has_ended |= which == Which::First;
        if first_has_ended || (which == Which::First && self.second.is_none()) {
            // With its last thread, the process has ended.
            return Ok(descriptors::await_end(self.pid));
        }
        Ok(Ok(()))
    }

    /// Makes a thread execute another program, in place of the whole process.
    pub(super) fn executes(&mut self, which: Which) -> Result<(), Stopped> {
        match which {
            Which::First => self.require_first("executes")?,
            Which::Second if self.second.is_none() => return Err(broken("there is no second thread")),
            Which::Second => {}
        }
        self.order(which, EXECUTE)?;
        let mut answer = Vec::new();
        // The new program does not inherit the other end of this pipe.
        let read = self.answers.read_to_end(&mut answer);
        read.map_err(|error| call_failed("the child executes no program", error))?;
        // The new program's only thread is a first one.
        (self.second, self.first_has_ended, self.has_executed) = (None, false, true);
        match answer.is_empty() {
            true => Ok(()),
            false => Err(Stopped::Unsupported("this system has no cat to execute".into())),
        }
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
        if !self.is_reaped {
            self.clauses.take();
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
pub(super) fn exit_child(status: libc::c_int) -> ! {
    // SAFETY: _exit ends the process without running the parent's destructors or exit handlers.
    unsafe { libc::_exit(status) }
}

impl Interpreter {
    pub(super) fn fork(&mut self) -> Result<ForkResult, Stopped> {
        if self.has_waiting_threads() {
            return Err(broken("a child cannot be forked while threads wait"));
        }
        self.responder = None;
        // SAFETY: the script has no other thread; the child runs one clause and exits.
        unsafe { fork() }.map_err(|errno| call_failed("fork", errno))
    }

    /// Forks a child that does nothing until it gets orders. Returns it with a descriptor of it.
    pub(super) fn process(&mut self) -> Result<(Process, OwnedFd), Stopped> {
        let process = self.child_process()?;
        let fd = descriptors::process(process.pid)?;
        Ok((process, fd))
    }

    /// Forks a child that does nothing until it gets orders.
    pub(super) fn child_process(&mut self) -> Result<Process, Stopped> {
        let failed = |error| call_failed("a pipe", error);
        let (first, to_first) = pipe().map_err(failed)?;
        let (second, to_second) = pipe().map_err(failed)?;
        let (answers, answer) = pipe().map_err(failed)?;
        match self.fork()? {
            ForkResult::Parent { child: pid } => {
                let process = Process {
                    pid,
                    orders: [to_first, to_second],
                    answers,
                    second: None,
                    first_has_ended: false,
                    has_executed: false,
                    is_reaped: false,
                };
                Ok(process)
            }
            ForkResult::Child => {
                drop((to_first, to_second, answers));
                // The child must not keep the files of the script open.
                self.actors.values_mut().for_each(|actor| drop(actor.fd.take()));
                obey(first, Some(second), answer)
            }
        }
    }

    /// Forks a child that runs clauses of the script when it is told to, and nothing else.
    pub(super) fn fork_child(&mut self) -> Result<String, Stopped> {
        self.serving_child(|| true)?;
        Ok("ok".into())
    }

    /// Forks a child that leads a session with this slave as its terminal.
    pub(super) fn child_takes_terminal(&mut self, name: &str) -> Result<String, Stopped> {
        let slave = descriptors::copy(self.fd(name)?, 0)?;
        match self.serving_child(|| descriptors::take_terminal(&slave).is_ok())? {
            true => Ok("ok".into()),
            false => Err(broken(format!("the child cannot take '{name}' as its terminal"))),
        }
    }

    /// Forks a child that begins with `begin`, and then serves clauses. Returns whether `begin` succeeded.
    fn serving_child(&mut self, begin: impl FnOnce() -> bool) -> Result<bool, Stopped> {
        let (mut ours, mut theirs) = UnixStream::pair().map_err(|error| call_failed("a socket", error))?;
        match self.fork()? {
            ForkResult::Parent { child: pid } => {
                drop(theirs);
                let mut has_begun = [0];
                let begun = ours.read_exact(&mut has_begun);
                self.child = Some(Child { pid, clauses: Some(ours), output: None, is_reaped: false });
                begun.map_err(|error| call_failed("the child did not begin", error))?;
                Ok(has_begun == [1])
            }
            ForkResult::Child => {
                drop(ours);
                let served = theirs.write_all(&[u8::from(begin())]).and_then(|()| self.serve(&theirs));
                exit_child(i32::from(served.is_err()))
            }
        }
    }

    /// In the child: runs each clause whose index arrives, until the other end is closed.
    fn serve(&mut self, parent: &UnixStream) -> io::Result<()> {
        let script = Rc::clone(&self.clauses);
        while let Some((index, received)) = receive(parent)? {
            let clause = &script[index];
            let result = match (received, &clause.action) {
                (Some(fd), Action::Call(name, Call::IsSent)) => self.adopts(name, fd),
                (None, _) => self.run_clause(clause, &[], &mut Vec::new()),
                _ => Err(broken("a descriptor has arrived with another clause")),
            };
            let text = reported(&result);
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            (&*parent).write_all(&length.to_ne_bytes())?;
            (&*parent).write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// In the child: has the received descriptor in place of the inherited one.
    fn adopts(&mut self, name: &str, fd: OwnedFd) -> Result<String, Stopped> {
        if let Some(poller) = self.pollers.get(name) {
            let own = fd.try_clone().map_err(|error| call_failed("dup", error))?;
            poller.selector.adopt(own)?;
        }
        let actor = self.actor(name)?;
        actor.number = fd.as_raw_fd();
        actor.fd = Some(fd);
        Ok("0".into())
    }

    /// Sends a descriptor to the child.
    pub(super) fn sends_to_child(&mut self, name: &str) -> Result<Result<(), Errno>, Stopped> {
        self.require_own_descriptors("a child does not inherit them")?;
        let is_sent = |clause: &Clause| match &clause.action {
            Action::Call(sent, Call::IsSent) => sent == name,
            _ => false,
        };
        let index = self.clauses.iter().position(is_sent).ok_or_else(|| broken("there is no such clause"))?;
        let number = [self.fd(name)?.as_raw_fd()];
        let rights = [ControlMessage::ScmRights(&number)];
        match self.tell_child(index, &rights)? {
            Err(errno) => Ok(Err(errno)),
            Ok(text) if text.starts_with("done ") => Ok(Ok(())),
            Ok(text) => Err(broken(format!("in the child: {text}"))),
        }
    }

    /// Tells the child to run a clause. Returns its report.
    fn tell_child(
        &self,
        index: usize,
        rights: &[ControlMessage<'_>],
    ) -> Result<Result<String, Errno>, Stopped> {
        let no_child = || broken("there is no child that `a child is forked` has made");
        let child = self.child.as_ref().and_then(|child| child.clauses.as_ref()).ok_or_else(no_child)?;
        let index = u32::try_from(index).map_err(|_| broken("the script is too long"))?.to_ne_bytes();
        if let Err(errno) =
            sendmsg::<()>(child.as_raw_fd(), &[IoSlice::new(&index)], rights, MsgFlags::empty(), None)
        {
            return Ok(Err(errno));
        }
        let read = || -> io::Result<String> {
            let mut length = [0; 4];
            (&*child).read_exact(&mut length)?;
            let mut text = vec![0; u32::from_ne_bytes(length) as usize];
            (&*child).read_exact(&mut text)?;
            String::from_utf8(text).map_err(io::Error::other)
        };
        read().map(Ok).map_err(|error| call_failed("the child does not answer", error))
    }

    /// Runs one clause in the child that the script has forked.
    pub(super) fn run_in_the_child(
        &mut self,
        clause: &Clause,
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        require_childish(clause)?;
        let index = self.clauses.iter().position(|other| other == clause);
        match self.tell_child(index.ok_or_else(|| broken("there is no such clause"))?, &[])? {
            Err(errno) => Err(call_failed("sendmsg", errno)),
            Ok(text) => self.record_child(clause, &text, observed),
        }
    }

    /// Makes a descriptor of a thread of a process.
    pub(super) fn thread(&mut self, name: &str, of: &str, which: Which) -> Result<String, Stopped> {
        let process = self.actor(of)?.process.as_mut();
        let process = process.ok_or_else(|| broken(format!("'{of}' is not a process")))?;
        let fd = descriptors::thread(process.thread_id(which)?)?;
        self.add_actor(name, fd)?.thread = Some((of.to_owned(), which));
        Ok("ok".into())
    }

    /// Forks a child that waits in its own poller. Returns when it sleeps.
    pub(super) fn child_waits(&mut self, timeout: Duration) -> Result<String, Stopped> {
        self.require_same_process("signals to the child do not reach it")?;
        let (mut output, mut answer) = pipe().map_err(|error| call_failed("a pipe", error))?;
        match self.fork()? {
            ForkResult::Parent { child: pid } => {
                drop(answer);
                output.read_exact(&mut [0]).map_err(|error| call_failed("the child did not begin", error))?;
                self.child = Some(Child { pid, clauses: None, output: Some(output), is_reaped: false });
                waiters::wait_until_asleep(&mut ThreadState::of_child(pid), &*self.responder()?)?;
                Ok("ok".into())
            }
            ForkResult::Child => {
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
        require_childish(clause)?;
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

/// Obeys orders, in a child. `second` gives those to a thread that an order can start.
fn obey(mut orders: PipeReader, mut second: Option<PipeReader>, mut answer: PipeWriter) -> ! {
    let mut order = [0];
    loop {
        if !matches!(orders.read(&mut order), Ok(1)) {
            exit_child(0);
        }
        match order[0] {
            START => {
                let (Some(second), Ok(mut answer)) = (second.take(), answer.try_clone()) else {
                    exit_child(1)
                };
                let begin = move || {
                    let id = descriptors::thread_id().as_raw().to_ne_bytes();
                    if answer.write_all(&id).is_err() {
                        exit_child(1);
                    }
                    obey(second, None, answer)
                };
                if std::thread::Builder::new().spawn(begin).is_err() {
                    exit_child(1);
                }
            }
            END => descriptors::end_thread(),
            _ => {
                // SAFETY: dup2 takes no pointer. Nobody uses this child's standard input.
                unsafe { libc::dup2(orders.as_raw_fd(), libc::STDIN_FILENO) };
                for program in PROGRAMS {
                    let arguments = [program.as_ptr(), std::ptr::null()];
                    // SAFETY: the arguments end with a null pointer, and the strings with a zero byte. The
                    // call returns only if it fails.
                    unsafe { libc::execv(program.as_ptr(), arguments.as_ptr()) };
                }
                let _ = answer.write_all(b"!");
                exit_child(1)
            }
        }
    }
}

fn read_all(mut from: PipeReader) -> Result<String, Stopped> {
    let mut text = String::new();
    from.read_to_string(&mut text).map_err(|error| call_failed("the child's answer", error))?;
    Ok(text)
}

/// Sends the child's result to the parent.
fn report(mut to: PipeWriter, result: &Result<String, Stopped>) -> io::Result<()> {
    to.write_all(reported(result).as_bytes())
}

/// Returns the report of a child's result.
fn reported(result: &Result<String, Stopped>) -> String {
    match result {
        Ok(answer) => format!("done {answer}"),
        Err(Stopped::Unsupported(why)) => format!("unsupported {why}"),
        Err(other) => format!("failed {other}"),
    }
}

/// Checks that a child can run the clause.
fn require_childish(clause: &Clause) -> Result<(), Stopped> {
    let is_sent = matches!(clause.action, Action::Call(_, Call::IsSent));
    if is_sent || !matches!(clause.action, Action::Wait { .. } | Action::Change(_) | Action::Call(..)) {
        return Err(Stopped::Script(format!(
            "a child can only wait, change registrations and make calls, not: {}",
            clause.action
        )));
    }
    Ok(())
}

/// Receives the index of a clause, and the descriptor that comes with it. Returns `None` at the end.
fn receive(parent: &UnixStream) -> io::Result<Option<(usize, Option<OwnedFd>)>> {
    let mut index = [0; 4];
    let (bytes, received) = descriptors::receive(parent, &mut index, MsgFlags::empty())?;
    match bytes {
        0 => Ok(None),
        4 => Ok(Some((u32::from_ne_bytes(index) as usize, received))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
