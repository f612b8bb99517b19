//! The standard streams of a child process, read without a thread and within limits.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::fstat;
use nix::unistd::Pid;

use crate::left_behind;

/// The size of a read, in bytes.
pub const CHUNK: usize = 64 * 1024;
/// The longest interval between two checks whether a process has exited.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// How long to wait until descendants of a process, which were killed, have closed their ends of its pipes.
const DRAIN: Duration = Duration::from_secs(5);
/// How long to wait before a search for other processes that keep them open, and between two.
const BEFORE_SEARCH: Duration = Duration::from_millis(500);

/// Limits of a stream, in bytes.
#[derive(Clone, Copy)]
pub struct Limit {
    /// How many of the last bytes to keep.
    pub keep: usize,
    /// How many bytes the process may write before it is killed.
    pub total: usize,
}

/// A process that exceeded the limit of a stream.
#[derive(Debug, thiserror::Error)]
#[error("it wrote more than {} to {stream}, and was killed", bytes(*limit))]
pub struct TooMuchOutput {
    stream: &'static str,
    limit: usize,
}

impl TooMuchOutput {
    /// Returns the error if `count`, in bytes, exceeds `limit`.
    pub fn check(count: usize, stream: &'static str, limit: usize) -> Result<(), Self> {
        if count <= limit { Ok(()) } else { Err(Self { stream, limit }) }
    }
}

/// Formats a number of bytes: `4 MiB`.
pub fn bytes(count: usize) -> String {
    match count {
        0..0x10_0000 => format!("{} KiB", count / 1024),
        _ => format!("{} MiB", count / (1024 * 1024)),
    }
}

/// The reading end of a pipe, in non-blocking mode.
pub struct Source<P> {
    pipe: Option<P>,
}

impl<P: Read + AsFd> Source<P> {
    /// Sets the pipe to non-blocking mode. `None` is a stream that has ended.
    pub fn new(pipe: Option<P>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            set_nonblocking(pipe.as_fd())?;
        }
        Ok(Self { pipe })
    }

    /// Reads at most one chunk. Returns `None` if no data are available now, or the stream has ended.
    pub fn read<'a>(&mut self, buffer: &'a mut [u8; CHUNK]) -> Option<&'a [u8]> {
        loop {
            match self.pipe.as_mut()?.read(buffer) {
                Ok(read @ 1..) => return Some(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }

    /// Returns the descriptor to wait for.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Returns whether the stream has not ended.
    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }
}

/// Keeps the last bytes of a stream.
pub struct Tail<P> {
    source: Source<P>,
    name: &'static str,
    limit: Limit,
    kept: Vec<u8>,
    total: usize,
}

impl<P: Read + AsFd> Tail<P> {
    /// Reads from this pipe. `name` is its name in messages.
    pub fn new(pipe: Option<P>, name: &'static str, limit: Limit) -> io::Result<Self> {
        Ok(Self { source: Source::new(pipe)?, name, limit, kept: Vec::new(), total: 0 })
    }

    /// Reads all data that are available now.
    pub fn read(&mut self) -> Result<(), TooMuchOutput> {
        let mut buffer = [0; CHUNK];
        let Limit { keep, total } = self.limit;
        while let Some(read) = self.source.read(&mut buffer) {
            self.total += read.len();
            self.kept.extend_from_slice(read);
            // Only when twice the length is reached, because removing from the front moves the rest.
            if self.kept.len() > 2 * keep {
                self.kept.drain(..self.kept.len() - keep);
            }
            TooMuchOutput::check(self.total, self.name, total)?;
        }
        Ok(())
    }

    /// Returns the descriptor to wait for.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.source.fd()
    }

    /// Takes the stream with what was kept, and leaves one that has ended.
    pub fn take(&mut self) -> Self {
        let source = Source { pipe: self.source.pipe.take() };
        Self {
            source,
            name: self.name,
            limit: self.limit,
            kept: std::mem::take(&mut self.kept),
            total: self.total,
        }
    }

    /// Returns how many bytes were read.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the kept bytes as text.
    pub fn text(&mut self) -> String {
        self.kept.drain(..self.kept.len().saturating_sub(self.limit.keep));
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

/// Reads a stream line by line.
pub struct Lines<P> {
    source: Source<P>,
    read: Vec<u8>,
    /// How many bytes of `read` were returned as lines.
    taken: usize,
    /// How many bytes of `read` were searched for the end of the next line.
    searched: usize,
    longest: usize,
}

impl<P: Read + AsFd> Lines<P> {
    /// Reads from this pipe. A line longer than `longest` bytes is an error.
    pub fn new(pipe: Option<P>, longest: usize) -> io::Result<Self> {
        Ok(Self { source: Source::new(pipe)?, read: Vec::new(), taken: 0, searched: 0, longest })
    }

    /// Returns the next line with its newline, which the last line can lack. Returns `None` if no whole line
    /// is available now.
    pub fn next_line(&mut self) -> Result<Option<String>, TooMuchOutput> {
        let mut buffer = [0; CHUNK];
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            self.read.drain(..std::mem::take(&mut self.taken));
            self.searched = self.read.len();
            TooMuchOutput::check(self.read.len(), "one line of standard output", self.longest)?;
            match self.source.read(&mut buffer) {
                Some(read) => self.read.extend_from_slice(read),
                None if self.is_open() || self.read.is_empty() => return Ok(None),
                None => {
                    self.searched = 0;
                    return Ok(Some(text(&std::mem::take(&mut self.read))));
                }
            }
        }
    }

    /// Returns what is available now, with or without a whole line: nothing is left to
    /// [`next_line`](Self::next_line).
    pub fn take_text(&mut self) -> Result<String, TooMuchOutput> {
        let mut buffer = [0; CHUNK];
        while let Some(read) = self.source.read(&mut buffer) {
            self.read.extend_from_slice(read);
            TooMuchOutput::check(self.read.len(), "one line of standard output", self.longest)?;
        }
        let text = text(&self.read[self.taken..]);
        self.read.clear();
        (self.taken, self.searched) = (0, 0);
        Ok(text)
    }

    /// Returns the descriptor to wait for.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.source.fd()
    }

    /// Returns whether the stream has not ended.
    pub fn is_open(&self) -> bool {
        self.source.pipe.is_some()
    }

    /// Takes the rest of the stream, and leaves one that has ended.
    pub fn rest(&mut self, limit: Limit) -> Tail<P> {
        let source = Source { pipe: self.source.pipe.take() };
        Tail { source, name: "standard output", limit, kept: Vec::new(), total: 0 }
    }

    fn take_line(&mut self) -> Option<String> {
        let end = self.read[self.searched..].iter().position(|byte| *byte == b'\n')?;
        let next = self.searched + end + 1;
        let line = text(&self.read[self.taken..next]);
        (self.taken, self.searched) = (next, next);
        Some(line)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes text to a process's standard input, and keeps it open afterwards.
pub struct Feed {
    pipe: Option<ChildStdin>,
    left: Vec<u8>,
}

impl Feed {
    /// Sets the pipe to non-blocking mode. `None` is a standard input that is not a pipe.
    pub fn new(pipe: Option<ChildStdin>, text: String) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            set_nonblocking(pipe.as_fd())?;
        }
        Ok(Self { pipe, left: text.into_bytes() })
    }

    /// Closes the pipe, which ends the process's standard input.
    pub fn close(&mut self) {
        self.pipe = None;
    }

    /// Adds text to write.
    pub fn push(&mut self, text: &str) {
        self.left.extend_from_slice(text.as_bytes());
    }

    /// Writes as much as the pipe accepts now.
    pub fn write(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        while !self.left.is_empty() {
            match pipe.write(&self.left) {
                Ok(written) => drop(self.left.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The process has exited, which its output shows.
                Err(_) => self.left.clear(),
            }
        }
    }

    /// Returns the descriptor to wait for, if text is left to write.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().filter(|_| !self.left.is_empty()).map(AsFd::as_fd)
    }
}

/// Both output streams of a process.
pub struct Outputs {
    /// Standard output.
    pub stdout: Tail<ChildStdout>,
    /// Standard error.
    pub stderr: Tail<ChildStderr>,
}

impl Outputs {
    /// Takes the output streams of a child that are pipes.
    pub fn of(child: &mut Child, stdout: Limit, stderr: Limit) -> io::Result<Self> {
        Ok(Self {
            stdout: Tail::new(child.stdout.take(), "standard output", stdout)?,
            stderr: Tail::new(child.stderr.take(), "standard error", stderr)?,
        })
    }

    /// Reads all data that are available now.
    pub fn read(&mut self) -> Result<(), TooMuchOutput> {
        self.stdout.read()?;
        self.stderr.read()
    }

    /// Reads to the end of both streams of a process that has ended, and whose process group was killed. A
    /// process that has left the group can keep them open, and is killed.
    pub fn drain(&mut self, group: Pid) -> (Vec<LeftOpen>, Result<(), TooMuchOutput>) {
        let began = Instant::now();
        let (mut left, mut next_search) = (Vec::new(), BEFORE_SEARCH);
        loop {
            let read = self.read();
            let is_over = began.elapsed() > DRAIN;
            if read.is_err() || !self.is_open() || is_over {
                if is_over && left.is_empty() {
                    left.push(LeftOpen::Unknown);
                }
                return (left, read);
            }
            if began.elapsed() > next_search {
                left.extend(
                    left_behind::kill_holders(&self.inodes(), group).into_iter().map(LeftOpen::Killed),
                );
                next_search = began.elapsed() + BEFORE_SEARCH;
            }
            self.wait(CHECK_INTERVAL);
        }
    }

    /// Returns the numbers of the open pipes.
    fn inodes(&self) -> Vec<u64> {
        let open = [self.stdout.fd(), self.stderr.fd()].into_iter().flatten();
        open.filter_map(|fd| Some(fstat(fd).ok()?.st_ino)).collect()
    }

    fn is_open(&self) -> bool {
        self.stdout.source.pipe.is_some() || self.stderr.source.pipe.is_some()
    }

    fn wait(&self, time: Duration) {
        wait(&[self.stdout.fd(), self.stderr.fd()], None, time);
    }
}

/// A process that has left the process group of another one, and kept its output open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeftOpen {
    /// It was killed: `sleep 3600 (process 123)`.
    Killed(String),
    /// It was not found. What it writes is not read.
    Unknown,
}

impl fmt::Display for LeftOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed(process) => {
                write!(f, "{process} left the cell's process group and held its output open: it was killed")
            }
            Self::Unknown => f.write_str(
                "a process left the cell's process group, and holds its output open: it may still run",
            ),
        }
    }
}

/// How a process ended.
pub enum End {
    /// It exited.
    Exited(ExitStatus),
    /// It must be killed: the deadline passed.
    TimedOut,
    /// It must be killed: a stop was requested.
    Stopped,
    /// It must be killed: it exceeded the limit of a stream.
    TooMuchOutput(TooMuchOutput),
}

/// Reads the output of a process until it exits, or a limit, the deadline or a stop is reached. The caller
/// must then kill the process.
pub fn watch(
    child: &mut Child,
    outputs: &mut Outputs,
    deadline: Option<Instant>,
    stop: impl Fn() -> bool,
) -> io::Result<End> {
    // There is no portable wait for a process with a time limit. The interval grows, so that a short process
    // is noticed early. A process that exits closes its streams a moment before it can be waited for.
    let mut step = Duration::from_millis(1);
    let mut after_the_end = Duration::from_micros(50);
    loop {
        if let Err(too_much) = outputs.read() {
            return Ok(End::TooMuchOutput(too_much));
        }
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        if stop() {
            return Ok(End::Stopped);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(End::TimedOut);
        }
        let step = if outputs.is_open() {
            outputs.wait(step);
            &mut step
        } else {
            std::thread::sleep(after_the_end);
            &mut after_the_end
        };
        *step = (*step * 2).min(CHECK_INTERVAL);
    }
}

/// The exit status and the output of a command.
pub struct CommandOutput {
    /// The exit status.
    pub status: ExitStatus,
    /// Standard output, if it is a pipe.
    pub stdout: String,
    /// Standard error, if it is a pipe.
    pub stderr: String,
}

/// Runs a command with little output until it exits. Kills it after `limit`, if there is one.
pub fn output_of(command: &mut Command, limit: Option<Duration>) -> io::Result<CommandOutput> {
    output_unless(command, limit, || None)
}

/// Runs a command as [`output_of`] does, and kills it as soon as `hopeless` returns a reason.
pub fn output_unless(
    command: &mut Command,
    limit: Option<Duration>,
    hopeless: impl Fn() -> Option<String>,
) -> io::Result<CommandOutput> {
    const OUTPUT: Limit = Limit { keep: 1 << 20, total: 64 << 20 };
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut child = command.spawn().map_err(metadata::start_error)?;
    let mut collect = || {
        let mut outputs = Outputs::of(&mut child, OUTPUT, OUTPUT)?;
        let status = match watch(&mut child, &mut outputs, deadline, || hopeless().is_some())? {
            End::Exited(status) => status,
            End::TooMuchOutput(too_much) => return Err(io::Error::other(too_much)),
            End::Stopped => {
                return Err(io::Error::other(hopeless().unwrap_or_else(|| "it was stopped".into())));
            }
            End::TimedOut => {
                let seconds = limit.unwrap_or_default().as_secs();
                return Err(io::Error::other(format!("no answer within {seconds} s")));
            }
        };
        // Descendants of the command can still hold the pipes, so do not wait for their end.
        outputs.read().map_err(io::Error::other)?;
        Ok(CommandOutput { status, stdout: outputs.stdout.text(), stderr: outputs.stderr.text() })
    };
    collect().inspect_err(|_| {
        let _ = child.kill();
        let _ = child.wait();
    })
}

/// Waits until one of `read` is readable or `write` is writable, but not longer than `time`.
pub fn wait(read: &[Option<BorrowedFd<'_>>], write: Option<BorrowedFd<'_>>, time: Duration) {
    let readers = read.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN));
    let writer = write.map(|fd| PollFd::new(fd, PollFlags::POLLOUT));
    let mut fds: Vec<_> = readers.chain(writer).collect();
    let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    match poll(&mut fds, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        // Out of memory: the caller checks the descriptors again after this time.
        Err(_) => std::thread::sleep(time),
    }
}

/// Returns whether data, or the end of the stream, can be read now.
pub fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}

fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_ends_within_a_line_has_no_further_lines() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(Some(reader), 100).unwrap();
        writer.write_all(b"one\ntw").unwrap();
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("one\n"));
        assert_eq!(lines.next_line().unwrap(), None);
        drop(writer);
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("tw"));
        assert_eq!(lines.next_line().unwrap(), None);
        assert!(!lines.is_open());
    }

    #[test]
    fn text_that_was_taken_is_no_part_of_a_line() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(Some(reader), 100).unwrap();
        writer.write_all(b"one\nlogin: ").unwrap();
        assert_eq!(lines.take_text().unwrap(), "one\nlogin: ");
        writer.write_all(b"two\n").unwrap();
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("two\n"));
    }
}
