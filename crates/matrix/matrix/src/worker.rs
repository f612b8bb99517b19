//! A process that speaks in lines. [`supervise`] starts a process for each attempt, and reads its output at
//! the end; this one gets lines as long as it answers.

use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use metadata::start_error;

use crate::pipes::{self, End, Feed, Limit, Lines, Outputs, Tail, TooMuchOutput};
use crate::supervise;

/// The longest line, in bytes.
const LINE_BYTES: usize = 16 << 20;
/// The limits of standard error.
const STDERR: Limit = Limit { keep: 16 << 10, total: 64 << 20 };
/// The limits of what a process writes after its last line.
const REST: Limit = Limit { keep: 0, total: 16 << 20 };
/// The longest interval between two checks whether a stop is requested.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a process that has closed its output may take to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// A process that speaks in lines. It is killed, with its descendants, when this is dropped.
pub struct Worker {
    child: Child,
    feed: Feed,
    stdout: Lines<ChildStdout>,
    stderr: Tail<ChildStderr>,
}

/// What a process has written.
pub enum Next {
    /// A line with its newline, which the last line can lack.
    Line(String),
    /// No whole line.
    Nothing,
    /// It has closed its output.
    Closed,
}

/// The exit of a process.
pub struct Exit {
    /// Its status. `None`: it did not exit in time, and was killed.
    pub status: Option<ExitStatus>,
    /// The end of its standard error.
    pub stderr: String,
}

/// What came in place of an answer. The process cannot be asked again.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The process ended.
    #[error("{0}")]
    Ended(String),
    /// The process did not answer in time.
    #[error("no answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// A stop was requested.
    #[error("it was stopped")]
    Stopped,
    /// The process exceeded the limit of a stream.
    #[error(transparent)]
    TooMuchOutput(#[from] TooMuchOutput),
}

impl Worker {
    /// Starts the process, in a process group of its own: Ctrl-C reaches this process only. Its standard
    /// input begins with `text`, and is its lifeline, too. `None`: it has no standard input.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(mut command: Command, text: Option<String>) -> std::io::Result<Self> {
        command.stdin(if text.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().map_err(start_error)?;
        let streams = || -> std::io::Result<_> {
            let feed = Feed::new(child.stdin.take(), text.unwrap_or_default())?;
            let stdout = Lines::new(child.stdout.take(), LINE_BYTES)?;
            Ok((feed, stdout, Tail::new(child.stderr.take(), "standard error", STDERR)?))
        };
        match streams() {
            Ok((feed, stdout, stderr)) => Ok(Self { child, feed, stdout, stderr }),
            Err(error) => {
                supervise::kill_and_reap(&mut child);
                Err(error)
            }
        }
    }

    /// Returns the next line. Waits at most `time` for it, and can return before.
    ///
    /// # Errors
    /// The process exceeded the limit of a stream.
    pub fn next(&mut self, time: Duration) -> Result<Next, TooMuchOutput> {
        self.feed.write();
        self.stderr.read()?;
        if let Some(line) = self.stdout.next_line()? {
            return Ok(Next::Line(line));
        }
        if !self.stdout.is_open() {
            return Ok(Next::Closed);
        }
        pipes::wait(&[self.stdout.fd(), self.stderr.fd()], self.feed.fd(), time);
        Ok(Next::Nothing)
    }

    /// Sends a line, and waits for the line that answers it.
    ///
    /// # Errors
    /// There is no answer.
    pub fn ask(&mut self, line: &str, limit: Duration, stop: impl Fn() -> bool) -> Result<String, Lost> {
        let begun = Instant::now();
        self.feed.push(line);
        self.feed.push("\n");
        while !stop() {
            let Some(left) = limit.checked_sub(begun.elapsed()) else { return Err(Lost::TimedOut(limit)) };
            match self.next(left.min(CHECK_INTERVAL))? {
                Next::Line(answer) => return Ok(answer),
                Next::Nothing => {}
                Next::Closed => return Err(Lost::Ended(self.how_it_ended())),
            }
        }
        Err(Lost::Stopped)
    }

    fn how_it_ended(&mut self) -> String {
        match self.end(EXIT_LIMIT) {
            Exit { status: Some(status), stderr } => supervise::killed(status, &stderr)
                .unwrap_or_else(|| format!("it exited ({status}): {}", stderr.trim())),
            Exit { status: None, .. } => "it closed its output, and did not exit".into(),
        }
    }

    /// Closes standard input, and waits until the process exits. Reads what it still writes, so that no
    /// writer gets SIGPIPE. Kills its descendants, and after `limit` the process.
    pub fn end(&mut self, limit: Duration) -> Exit {
        self.feed.close();
        let mut outputs = Outputs { stdout: self.stdout.rest(REST), stderr: self.stderr.take() };
        let waited = pipes::watch(&mut self.child, &mut outputs, Instant::now().checked_add(limit), || false);
        supervise::kill_and_reap(&mut self.child);
        let _ = outputs.read();
        let status = match waited {
            Ok(End::Exited(status)) => Some(status),
            _ => None,
        };
        Exit { status, stderr: outputs.stderr.text() }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        supervise::kill_and_reap(&mut self.child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn worker(script: &str) -> Worker {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Worker::start(command, Some(String::new())).unwrap()
    }

    #[test]
    fn one_process_answers_many_lines() {
        let mut worker = worker("while read -r line; do echo \"$$ $line\"; done");
        let answers: Vec<_> = ["one", "two"].map(|line| worker.ask(line, LIMIT, || false).unwrap()).to_vec();
        let (pid, line) = answers[0].trim_end().split_once(' ').unwrap();
        assert_eq!(line, "one");
        assert_eq!(answers[1], format!("{pid} two\n"));
    }

    #[test]
    fn a_process_that_ends_has_its_signal_or_its_message() {
        let mut killed = worker("read -r line; kill -SEGV $$");
        assert_eq!(killed.ask("one", LIMIT, || false).unwrap_err().to_string(), "killed by SIGSEGV");
        let mut exited = worker("read -r line; echo sorry >&2; exit 3");
        let why = exited.ask("one", LIMIT, || false).unwrap_err().to_string();
        assert!(why.contains('3') && why.contains("sorry"), "{why}");
    }

    #[test]
    fn a_process_without_an_answer_is_given_up() {
        let mut silent = worker("cat > /dev/null");
        let lost = silent.ask("one", Duration::from_millis(50), || false).unwrap_err();
        assert!(matches!(lost, Lost::TimedOut(_)), "{lost}");
        assert!(matches!(silent.ask("two", LIMIT, || true), Err(Lost::Stopped)));
    }
}
