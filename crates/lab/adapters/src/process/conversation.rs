//! The exchange of lines with an adapter, with time limits, and its errors.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{process, thread};

use metadata::Outcome;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};

use super::ending;
use super::messages::{self, Messages};
use super::wire::{Answer, Command, Hello};

/// The maximum length of a line.
const LONGEST: usize = 1 << 20;
/// The time for an adapter to exit after its standard input has ended. Then it is killed.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// The exit code of an adapter that does not support this system.
const UNSUPPORTED: i32 = 127;

/// The reason why an adapter did not start.
#[derive(Debug)]
pub enum StartError {
    /// The adapter does not support this system.
    Unsupported(String),
    /// The adapter failed.
    Failed(AdapterError),
}

/// A failure of an adapter.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    #[error("'{program}' cannot be started: {source}")]
    Start { program: String, source: io::Error },
    #[error("the command line of the adapter is empty")]
    NoProgram,
    #[error("no answer to {to} within {} s{}", limit.as_secs_f32(), if *spins { ", and the program computes" } else { "" })]
    Late { to: String, limit: Duration, spins: bool },
    #[error("the program ended ({status}) without an answer to {to}")]
    Ended { to: String, status: String, answer: Option<Outcome> },
    #[error("{to} cannot be sent: {source}")]
    Send { to: String, source: io::Error },
    #[error("the output cannot be read: {0}")]
    Receive(io::Error),
    #[error(
        "line {line} of the output is not an answer: '{text}' ({reason}); write messages to standard error"
    )]
    NoAnswer { line: usize, text: String, reason: String },
    #[error("line {line} of the output answers no command: '{text}'; send one answer to each command")]
    Unexpected { line: usize, text: String },
    #[error("the answer to hello: {0}")]
    Hello(String),
    #[error("the answer does not fit the command: {answer}")]
    WrongAnswer { answer: String },
    #[error("this system has no errno '{name}'")]
    UnknownErrno { name: String },
    #[error("{events} events, but room for {room}")]
    TooMany { events: usize, room: usize },
    #[error("no registration has the token '{token}'")]
    UnknownToken { token: String },
    #[error("'{word}' is not a word: words are not empty, and have no space and no '|'")]
    InvalidWord { word: String },
    #[error(
        "{name} reports '{word}', which its hello does not declare: say what it means, \"words\": {{\"{word}\": \"readable\"}}, or \"flag\""
    )]
    UndeclaredWord { name: String, word: String },
    #[error("the adapter cannot wait: {reason}")]
    CannotWait { reason: String },
    #[error("the adapter declares times, and its answer to {to} has no took")]
    NoTime { to: String },
    #[error("the answer to {to} says that the poller took {took:?}, and it arrived after {after:?}")]
    TooLong { to: String, took: Duration, after: Duration },
    #[error("the adapter declares wake, but does not answer it by ok")]
    NoWake,
    #[error("the adapter has not closed its copy of descriptor {fd}")]
    NotClosed { fd: RawFd },
}

impl AdapterError {
    /// Returns the answer of the poller, if the failure is one.
    pub fn into_answer(self) -> Option<Outcome> {
        match self {
            Self::Ended { answer, .. } => answer,
            Self::Late { spins: true, .. } => Some(Outcome::Spins),
            _ => None,
        }
    }
}

/// A running adapter.
pub struct Conversation {
    child: Child,
    /// The reader of standard error, if messages are shown.
    messages: Option<Messages>,
    commands: Arc<UnixStream>,
    output: ChildStdout,
    /// The part of the output that was read, but not returned as a line.
    read: VecDeque<u8>,
    /// The number of lines of the output that were returned.
    lines: usize,
    /// The commands without an answer, oldest first, and when each was sent.
    pending: VecDeque<(String, Instant)>,
    /// The command that the last line answered.
    answered: String,
    /// Whether the adapter declares that its answers have times.
    times: bool,
    /// The time of the poller's calls in the last answer.
    took: Option<Duration>,
}

impl Conversation {
    /// Starts the adapter, and sends `hello`. `patience` is the limit for the answer.
    pub fn begin(command_line: &[String], patience: Duration) -> Result<(Self, Hello), StartError> {
        let mut conversation = Self::start(command_line).map_err(StartError::Failed)?;
        match conversation.request(&Command::hello(), patience) {
            Ok(Answer::Hello(hello)) => match hello.validate() {
                Err(reason) => Err(StartError::Failed(AdapterError::Hello(reason))),
                Ok(()) => {
                    conversation.times = hello.times;
                    Ok((conversation, hello))
                }
            },
            Ok(Answer::Unsupported(reason)) => Err(StartError::Unsupported(reason)),
            Ok(other) => Err(StartError::Failed(AdapterError::WrongAnswer { answer: other.to_string() })),
            Err(error @ (AdapterError::Ended { .. } | AdapterError::Send { .. })) => {
                match conversation.end(EXIT_LIMIT) {
                    Some(status) if status.code() == Some(UNSUPPORTED) => Err(StartError::Unsupported(
                        format!("'{}' exited with {UNSUPPORTED}", command_line.join(" ")),
                    )),
                    _ => Err(StartError::Failed(error)),
                }
            }
            Err(error) => Err(StartError::Failed(error)),
        }
    }

    /// Starts the adapter without `hello`.
    pub(super) fn start(command_line: &[String]) -> Result<Self, AdapterError> {
        let (program, arguments) = command_line.split_first().ok_or(AdapterError::NoProgram)?;
        let failed = |source| AdapterError::Start { program: program.clone(), source };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let mut child = process::Command::new(program)
            .args(arguments)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(messages::stderr())
            .spawn()
            .map_err(|error| failed(metadata::start_error(error)))?;
        let output = child.stdout.take().ok_or_else(|| failed(io::Error::other("no standard output")))?;
        let stderr = child.stderr.take();
        let mut conversation = Self {
            messages: None,
            child,
            commands: Arc::new(ours),
            output,
            read: VecDeque::new(),
            lines: 0,
            pending: VecDeque::new(),
            answered: String::new(),
            times: false,
            took: None,
        };
        conversation.messages = Messages::pass_on(stderr).map_err(failed)?;
        Ok(conversation)
    }

    /// Returns the id of the adapter's process.
    pub fn id(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Returns the adapter's standard input, for commands during a wait.
    pub fn commands(&self) -> Arc<UnixStream> {
        Arc::clone(&self.commands)
    }

    /// Sends a command, and receives the answer.
    pub fn request(&mut self, command: &Command, limit: Duration) -> Result<Answer, AdapterError> {
        self.send(command)?;
        self.receive(limit)
    }

    /// Sends a line unchanged. The caller receives the answer later.
    pub fn send_line(&mut self, line: &str) -> Result<(), AdapterError> {
        self.expect_silence(line)?;
        self.pending.push_back((line.to_owned(), Instant::now()));
        let written = write_line(&self.commands, line);
        written.map_err(|error| self.ended_instead(error))
    }

    /// Sends a command. The caller receives the answer later.
    pub fn send(&mut self, command: &Command) -> Result<(), AdapterError> {
        self.send_line(&command.to_string())
    }

    /// Sends a copy of a descriptor with `take`, for the number `at` in the adapter. The caller receives the
    /// answer later. The inner error is the reason why the descriptor cannot be sent.
    pub fn send_descriptor(
        &mut self,
        fd: RawFd,
        at: Option<RawFd>,
    ) -> Result<Result<(), Errno>, AdapterError> {
        self.send_descriptor_with(fd, &Command::Take { fd, at }.to_string())
    }

    /// Sends a copy of a descriptor with this line.
    pub(super) fn send_descriptor_with(
        &mut self,
        fd: RawFd,
        to: &str,
    ) -> Result<Result<(), Errno>, AdapterError> {
        self.expect_silence(to)?;
        let line = format!("{to}\n");
        let rights = [fd];
        let rights = [ControlMessage::ScmRights(&rights)];
        let socket = self.commands.as_raw_fd();
        let begun = Instant::now();
        loop {
            match sendmsg::<()>(socket, &[IoSlice::new(line.as_bytes())], &rights, MsgFlags::empty(), None) {
                Err(Errno::EINTR) => {}
                Err(errno @ (Errno::EPIPE | Errno::ECONNRESET)) => {
                    let error = AdapterError::Send { to: to.to_owned(), source: errno.into() };
                    return Err(self.ended_instead(error));
                }
                Err(errno) => return Ok(Err(errno)),
                Ok(sent) => {
                    // The first byte carries the descriptor.
                    write(&self.commands, &line.as_bytes()[sent..], to)?;
                    self.pending.push_back((to.to_owned(), begun));
                    return Ok(Ok(()));
                }
            }
        }
    }

    /// Describes the last line: `line 3 of the output, which answers {"wake":{}}`.
    pub fn last_line(&self) -> String {
        format!("line {} of the output, which answers {}", self.lines, self.answered)
    }

    /// Receives the next answer within `limit`.
    pub fn receive(&mut self, limit: Duration) -> Result<Answer, AdapterError> {
        self.receive_within(Some(limit))
    }

    /// Receives the next answer. `None` waits without a limit.
    pub fn receive_within(&mut self, limit: Option<Duration>) -> Result<Answer, AdapterError> {
        // Only wake-ups are sent without an entry.
        let (to, sent) =
            self.pending.pop_front().map_or(("a wake-up".into(), None), |(to, at)| (to, Some(at)));
        self.took = None;
        let (begun, busy) = (Instant::now(), ending::busy(self.id()));
        let text = match self.line(limit)? {
            NextLine::Complete(text) => {
                self.answered.clone_from(&to);
                text
            }
            NextLine::Late => {
                // A program that sleeps has no processor time; one that spins gets all that there is.
                let computed =
                    busy.zip(ending::busy(self.id())).map(|(before, now)| now.saturating_sub(before));
                let spins = computed.is_some_and(|computed| computed >= begun.elapsed() / 2);
                return Err(AdapterError::Late { to, limit: limit.unwrap_or_default(), spins });
            }
            NextLine::End => return Err(self.ended(to)),
        };
        let after = sent.map(|sent| sent.elapsed());
        let (answer, took) = Answer::read(&text).map_err(|error| AdapterError::NoAnswer {
            line: self.lines,
            text,
            reason: error.to_string(),
        })?;
        self.took = took;
        let is_timed = matches!(answer, Answer::Ok {} | Answer::Events(_));
        match took.zip(after) {
            // The clocks of two processes are the same one.
            Some((took, after)) if took > after => Err(AdapterError::TooLong { to, took, after }),
            None if self.times && is_timed && took.is_none() => Err(AdapterError::NoTime { to }),
            _ => Ok(answer),
        }
    }

    /// Returns the time of the poller's calls in the last answer, if it has one.
    pub fn took(&self) -> Option<Duration> {
        self.took
    }

    /// Checks that there is no line before the next command `to`, because it would answer no command.
    fn expect_silence(&mut self, to: &str) -> Result<(), AdapterError> {
        match self.line(Some(Duration::ZERO))? {
            NextLine::Complete(text) => Err(AdapterError::Unexpected { line: self.lines, text }),
            NextLine::Late => Ok(()),
            NextLine::End => Err(self.ended(to.to_owned())),
        }
    }

    /// Reads the next line of the output.
    fn line(&mut self, limit: Option<Duration>) -> Result<NextLine, AdapterError> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<_> = self.read.drain(..=end).take(end).collect();
                self.lines += 1;
                return Ok(NextLine::Complete(String::from_utf8_lossy(&line).into_owned()));
            }
            if self.read.len() > LONGEST {
                let text = String::from_utf8_lossy(self.read.make_contiguous()).chars().take(80).collect();
                let reason = format!("longer than {LONGEST} bytes");
                return Err(AdapterError::NoAnswer { line: self.lines + 1, text, reason });
            }
            if !self.is_readable(deadline)? {
                return Ok(NextLine::Late);
            }
            let mut buffer = [0; 4096];
            match self.output.read(&mut buffer) {
                Ok(0) => return Ok(NextLine::End),
                Ok(count) => self.read.extend(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(AdapterError::Receive(error)),
            }
        }
    }

    /// Waits until the output is readable. Returns `false` at the deadline.
    fn is_readable(&self, deadline: Option<Instant>) -> Result<bool, AdapterError> {
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(PollTimeout::NONE, |left| {
                // Rounded up, otherwise the last millisecond would be a spin.
                PollTimeout::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
            });
            match poll(&mut [PollFd::new(self.output.as_fd(), PollFlags::POLLIN)], timeout) {
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(AdapterError::Receive(errno.into())),
                Ok(0) if left.is_none_or(|left| left > Duration::ZERO) => {}
                Ok(count) => return Ok(count > 0),
            }
        }
    }

    /// Returns the error of an adapter whose output has ended.
    fn ended(&mut self, to: String) -> AdapterError {
        match self.exit_within(EXIT_LIMIT) {
            Some(status) => {
                AdapterError::Ended { to, status: status.to_string(), answer: ending::answer(status) }
            }
            None => {
                let status = "it has closed its standard output, but still runs".into();
                AdapterError::Ended { to, status, answer: None }
            }
        }
    }

    /// Replaces the error of a command that cannot be sent because the adapter has ended.
    fn ended_instead(&mut self, error: AdapterError) -> AdapterError {
        match error {
            AdapterError::Send { to, source }
                if matches!(source.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) =>
            {
                self.ended(to)
            }
            other => other,
        }
    }

    /// Ends the standard input. Returns the exit status if the adapter exits within the limit.
    pub fn end(&mut self, limit: Duration) -> Option<ExitStatus> {
        // An error means that the adapter has exited already. Not both directions: if the adapter has shut
        // its end for writing, macOS refuses the call and keeps this one open (`soshutdownlock_final`).
        let _ = self.commands.shutdown(std::net::Shutdown::Write);
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
        if self.end(EXIT_LIMIT).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if let Some(messages) = &self.messages {
            messages.wait(EXIT_LIMIT);
        }
    }
}

/// The result of reading a line.
enum NextLine {
    Complete(String),
    /// There was no complete line within the limit.
    Late,
    /// The output has ended.
    End,
}

/// Sends a command without recording it as pending.
pub fn send_command(commands: &UnixStream, command: &Command) -> Result<(), AdapterError> {
    write_line(commands, &command.to_string())
}

fn write_line(commands: &UnixStream, line: &str) -> Result<(), AdapterError> {
    write(commands, format!("{line}\n").as_bytes(), line)
}

fn write(mut commands: &UnixStream, bytes: &[u8], to: &str) -> Result<(), AdapterError> {
    commands.write_all(bytes).map_err(|source| AdapterError::Send { to: to.to_owned(), source })
}
