//! A process that answers one line after the other: other than [`supervise`], which starts a process for each
//! attempt, this keeps it as long as it answers.

use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use metadata::start_error;

use crate::pipes::{self, Feed, Limit, Lines, Tail, TooMuchOutput};
use crate::supervise;

/// The greatest length of an answer.
const LONGEST: usize = 1 << 20;
/// The limits of standard error.
const STDERR: Limit = Limit { keep: 16 << 10, total: 64 << 20 };
/// The longest interval between two checks whether a stop is requested.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a process that has closed its output may take to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// A process that answers lines. It is killed, with its descendants, when this is dropped.
pub struct Worker {
    child: Child,
    feed: Feed,
    stdout: Lines<ChildStdout>,
    stderr: Tail<ChildStderr>,
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
    /// Starts the process, in a process group of its own. Its standard input is its lifeline, too.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(mut command: Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().map_err(start_error)?;
        let mut streams = || -> std::io::Result<_> {
            let feed = Feed::new(child.stdin.take(), String::new())?;
            let stdout = Lines::new(child.stdout.take(), LONGEST)?;
            Ok((feed, stdout, Tail::new(child.stderr.take(), "standard error", STDERR)?))
        };
        match streams() {
            Ok((feed, stdout, stderr)) => Ok(Self { child, feed, stdout, stderr }),
            Err(error) => {
                supervise::kill_group(&child);
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Sends a line, and waits for the line that answers it.
    ///
    /// # Errors
    /// There is no answer.
    pub fn ask(&mut self, line: &str, limit: Duration, stop: impl Fn() -> bool) -> Result<String, Lost> {
        let begun = Instant::now();
        self.feed.push(line);
        self.feed.push("\n");
        loop {
            self.feed.write();
            if let Some(answer) = self.stdout.next_line()? {
                return Ok(answer);
            }
            self.stderr.read()?;
            if !self.stdout.is_open() {
                return Err(Lost::Ended(self.end()));
            }
            if stop() {
                return Err(Lost::Stopped);
            }
            let Some(left) = limit.checked_sub(begun.elapsed()) else { return Err(Lost::TimedOut(limit)) };
            let read = [self.stdout.fd(), self.stderr.fd()];
            pipes::wait(&read, self.feed.fd(), left.min(CHECK_INTERVAL));
        }
    }

    /// Returns how the process ended, with its last message.
    fn end(&mut self) -> String {
        let begun = Instant::now();
        loop {
            let _ = self.stderr.read();
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let stderr = self.stderr.text();
                    return supervise::killed(status, &stderr)
                        .unwrap_or_else(|| format!("it exited ({status}): {}", stderr.trim()));
                }
                Ok(None) if begun.elapsed() < EXIT_LIMIT => {
                    pipes::wait(&[self.stderr.fd()], None, Duration::from_millis(1));
                }
                Ok(None) => return "it closed its output, and did not exit".into(),
                Err(error) => return error.to_string(),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        supervise::kill_group(&self.child);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn worker(script: &str) -> Worker {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Worker::start(command).unwrap()
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
