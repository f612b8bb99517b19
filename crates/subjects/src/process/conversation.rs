//! Lines to a subject and from it, each with a limit, and every way in which that goes wrong.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{process, thread};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};

use super::messages::{self, Messages};
use super::wire::{Answer, Command, Hello, PROTOCOL};

/// A line that is longer is none.
const LONGEST: usize = 1 << 20;
/// How long a subject may take to end when its standard input has ended. Then it is killed.
const FAREWELL: Duration = Duration::from_secs(2);
/// The exit code of a subject that has nothing to be asked on this system.
const UNSUPPORTED: i32 = 127;

/// Why a subject was not started.
#[derive(Debug)]
pub enum Start {
    /// It says that there is nothing to ask here.
    Unsupported(String),
    /// Something else.
    Broken(Fault),
}

/// What is wrong with a subject.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("'{program}' cannot be started: {source}")]
    Start { program: String, source: io::Error },
    #[error("the command line of the subject is empty")]
    NoProgram,
    #[error("no answer to {to} within {} s", limit.as_secs_f32())]
    Late { to: String, limit: Duration },
    #[error("it ended ({status}) with no answer to {to}")]
    Ended { to: String, status: String },
    #[error("{to} cannot be sent: {source}")]
    Send { to: String, source: io::Error },
    #[error("its output cannot be read: {0}")]
    Receive(io::Error),
    #[error("line {line} of its output is no answer: '{text}' ({why}); messages go to standard error")]
    NoAnswer { line: usize, text: String, why: String },
    #[error("line {line} of its output answers nothing: '{text}'. There is one answer to each command")]
    Unasked { line: usize, text: String },
    #[error("its answer to hello: {0}")]
    Hello(String),
    #[error("it does not fit the command: {answer}")]
    Unfit { answer: String },
    #[error("this system has no errno of the name '{name}'")]
    NoErrno { name: String },
    #[error("it has {events} events where there is room for {room}")]
    TooMany { events: usize, room: usize },
    #[error("nobody has given it the token '{token}'")]
    NoToken { token: String },
    #[error("'{word}' is no word: letters without spaces and '|'")]
    NoWord { word: String },
    #[error("it cannot wait: {reason}")]
    CannotWait { reason: String },
    #[error("it says that it can be woken, and does not take it")]
    NoWake,
    #[error("it has not closed its copy of descriptor {fd}")]
    NotClosed { fd: RawFd },
}

/// A running subject.
pub struct Conversation {
    child: Child,
    /// What it writes to standard error, if that is shown.
    messages: Option<Messages>,
    commands: Arc<UnixStream>,
    output: ChildStdout,
    /// What has been read of its output.
    read: VecDeque<u8>,
    /// How many lines of its output were taken.
    lines: usize,
    /// What was told and is not answered, the oldest first.
    open: VecDeque<String>,
    /// What the last line answered.
    answered: String,
}

impl Conversation {
    /// Starts it and greets it. It may take so long to start.
    pub fn begin(command_line: &[String], patience: Duration) -> Result<(Self, Hello), Start> {
        let mut conversation = Self::start(command_line).map_err(Start::Broken)?;
        match conversation.ask(&Command::Hello { protocol: PROTOCOL }, patience) {
            Ok(Answer::Hello(hello)) => match hello.flaw() {
                Some(flaw) => Err(Start::Broken(Fault::Hello(flaw))),
                None => Ok((conversation, hello)),
            },
            Ok(Answer::Unsupported(reason)) => Err(Start::Unsupported(reason)),
            Ok(other) => Err(Start::Broken(Fault::Unfit { answer: other.to_string() })),
            Err(fault @ (Fault::Ended { .. } | Fault::Send { .. })) => match conversation.end(FAREWELL) {
                Some(status) if status.code() == Some(UNSUPPORTED) => {
                    Err(Start::Unsupported(format!("'{}' exited with {UNSUPPORTED}", command_line.join(" "))))
                }
                _ => Err(Start::Broken(fault)),
            },
            Err(fault) => Err(Start::Broken(fault)),
        }
    }

    pub(super) fn start(command_line: &[String]) -> Result<Self, Fault> {
        let (program, arguments) = command_line.split_first().ok_or(Fault::NoProgram)?;
        let failed = |source| Fault::Start { program: program.clone(), source };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let mut child = process::Command::new(program)
            .args(arguments)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(messages::stderr())
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take().ok_or_else(|| failed(io::Error::other("it has no output")))?;
        let stderr = child.stderr.take();
        let mut conversation = Self {
            messages: None,
            child,
            commands: Arc::new(ours),
            output,
            read: VecDeque::new(),
            lines: 0,
            open: VecDeque::new(),
            answered: String::new(),
        };
        conversation.messages = Messages::pass_on(stderr).map_err(failed)?;
        Ok(conversation)
    }

    /// Its process.
    pub fn id(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Its standard input, for what is said while it waits.
    pub fn commands(&self) -> Arc<UnixStream> {
        Arc::clone(&self.commands)
    }

    /// Tells it something and takes the answer.
    pub fn ask(&mut self, command: &Command, limit: Duration) -> Result<Answer, Fault> {
        self.tell(command)?;
        self.answer(limit)
    }

    /// Sends a line as it is, whose answer is taken later.
    pub fn tell_raw(&mut self, line: &str) -> Result<(), Fault> {
        self.expect_silence(line)?;
        self.open.push_back(line.to_owned());
        send(&self.commands, line)
    }

    /// Tells it something whose answer is taken later.
    pub fn tell(&mut self, command: &Command) -> Result<(), Fault> {
        self.tell_raw(&command.to_string())
    }

    /// Gives it a copy of a descriptor, whose answer is taken later. The errno is why a descriptor cannot be given.
    pub fn give(&mut self, fd: RawFd) -> Result<Result<(), Errno>, Fault> {
        self.give_as(fd, &Command::Take { fd }.to_string())
    }

    /// The descriptor goes with this line.
    pub(super) fn give_as(&mut self, fd: RawFd, to: &str) -> Result<Result<(), Errno>, Fault> {
        self.expect_silence(to)?;
        let line = format!("{to}\n");
        let rights = [fd];
        let rights = [ControlMessage::ScmRights(&rights)];
        let socket = self.commands.as_raw_fd();
        loop {
            match sendmsg::<()>(socket, &[IoSlice::new(line.as_bytes())], &rights, MsgFlags::empty(), None) {
                Err(Errno::EINTR) => {}
                Err(errno @ (Errno::EPIPE | Errno::ECONNRESET)) => {
                    return Err(Fault::Send { to: to.to_owned(), source: errno.into() });
                }
                Err(errno) => return Ok(Err(errno)),
                Ok(sent) => {
                    // The descriptor goes with the first byte.
                    write(&self.commands, &line.as_bytes()[sent..], to)?;
                    self.open.push_back(to.to_owned());
                    return Ok(Ok(()));
                }
            }
        }
    }

    /// Which line it has said last: `line 3 of its output, which answers {"wake":{}}`.
    pub fn last_line(&self) -> String {
        format!("line {} of its output, which answers {}", self.lines, self.answered)
    }

    /// Takes an answer that comes when it comes.
    pub fn answer_at_some_time(&mut self) -> Result<Answer, Fault> {
        self.take(None)
    }

    /// Takes the next answer.
    pub fn answer(&mut self, limit: Duration) -> Result<Answer, Fault> {
        self.take(Some(limit))
    }

    fn take(&mut self, limit: Option<Duration>) -> Result<Answer, Fault> {
        let to = self.open.pop_front().unwrap_or_else(|| "a wake-up".into());
        let text = match self.line(limit)? {
            Next::Line(text) => {
                self.answered.clone_from(&to);
                text
            }
            Next::Nothing => return Err(Fault::Late { to, limit: limit.unwrap_or_default() }),
            Next::End => return Err(Fault::Ended { to, status: self.how_it_ended() }),
        };
        serde_json::from_str(&text).map_err(|why| Fault::NoAnswer {
            line: self.lines,
            text,
            why: why.to_string(),
        })
    }

    /// What was said before it is asked answers nothing.
    fn expect_silence(&mut self, to: &str) -> Result<(), Fault> {
        match self.line(Some(Duration::ZERO))? {
            Next::Line(text) => Err(Fault::Unasked { line: self.lines, text }),
            Next::Nothing => Ok(()),
            Next::End => Err(Fault::Ended { to: to.to_owned(), status: self.how_it_ended() }),
        }
    }

    /// The next line of its output.
    fn line(&mut self, limit: Option<Duration>) -> Result<Next, Fault> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<_> = self.read.drain(..=end).take(end).collect();
                self.lines += 1;
                return Ok(Next::Line(String::from_utf8_lossy(&line).into_owned()));
            }
            if self.read.len() > LONGEST {
                let text = String::from_utf8_lossy(self.read.make_contiguous()).chars().take(80).collect();
                let why = format!("longer than {LONGEST} bytes");
                return Err(Fault::NoAnswer { line: self.lines + 1, text, why });
            }
            if !self.is_readable(deadline)? {
                return Ok(Next::Nothing);
            }
            let mut buffer = [0; 4096];
            match self.output.read(&mut buffer) {
                Ok(0) => return Ok(Next::End),
                Ok(count) => self.read.extend(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Receive(error)),
            }
        }
    }

    fn is_readable(&self, deadline: Option<Instant>) -> Result<bool, Fault> {
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(PollTimeout::NONE, |left| {
                // Rounded up, so that a deadline is not asked for many times.
                PollTimeout::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
            });
            match poll(&mut [PollFd::new(self.output.as_fd(), PollFlags::POLLIN)], timeout) {
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(Fault::Receive(errno.into())),
                Ok(0) if left.is_none_or(|left| left > Duration::ZERO) => {}
                Ok(count) => return Ok(count > 0),
            }
        }
    }

    fn how_it_ended(&mut self) -> String {
        match self.exit_within(FAREWELL) {
            Some(status) => status.to_string(),
            None => "it has closed its standard output, and runs on".into(),
        }
    }

    /// Ends its standard input. How it ended, if it did within the limit.
    pub fn end(&mut self, limit: Duration) -> Option<ExitStatus> {
        // Errors are of no interest: it may have gone already.
        let _ = self.commands.shutdown(std::net::Shutdown::Both);
        self.exit_within(limit)
    }

    fn exit_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
                ended => return ended.ok().flatten(),
            }
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if self.end(FAREWELL).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if let Some(messages) = &self.messages {
            messages.wait(FAREWELL);
        }
    }
}

enum Next {
    Line(String),
    Nothing,
    End,
}

/// Sends a command.
pub fn tell(commands: &UnixStream, command: &Command) -> Result<(), Fault> {
    send(commands, &command.to_string())
}

fn send(commands: &UnixStream, line: &str) -> Result<(), Fault> {
    write(commands, format!("{line}\n").as_bytes(), line)
}

fn write(mut commands: &UnixStream, bytes: &[u8], to: &str) -> Result<(), Fault> {
    commands.write_all(bytes).map_err(|source| Fault::Send { to: to.to_owned(), source })
}
