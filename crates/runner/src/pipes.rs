//! The standard streams of a child process: read as data come, without a thread, and never more than there is room for.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// What is read with one call.
const CHUNK: usize = 64 * 1024;
/// Between two looks at whether a process has ended, at the most.
const LOOK: Duration = Duration::from_millis(20);
/// For what a process leaves behind to close its end of a pipe.
const DRAIN: Duration = Duration::from_secs(30);

/// How much a stream may carry.
#[derive(Clone, Copy)]
pub struct Limit {
    /// The last so many bytes are kept.
    pub keep: usize,
    /// After so many bytes the process is killed.
    pub total: usize,
}

/// A process that wrote more than it may.
#[derive(Debug, thiserror::Error)]
#[error("it wrote more than {} to {stream}, and was killed", bytes(*limit))]
pub struct TooMuch {
    stream: &'static str,
    limit: usize,
}

impl TooMuch {
    /// The error unless it holds.
    pub fn unless(holds: bool, stream: &'static str, limit: usize) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { stream, limit }) }
    }
}

/// `4 MiB`.
pub fn bytes(count: usize) -> String {
    match count {
        0..0x10_0000 => format!("{} KiB", count / 1024),
        _ => format!("{} MiB", count / (1024 * 1024)),
    }
}

/// A reading end that never makes the caller wait.
pub struct Source<P> {
    pipe: Option<P>,
}

impl<P: Read + AsFd> Source<P> {
    /// Nothing is a stream that has ended.
    pub fn new(pipe: Option<P>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            do_not_wait(pipe.as_fd())?;
        }
        Ok(Self { pipe })
    }

    /// What is there, a chunk of it at the most. `None`: nothing at this time, or never again.
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

    fn end(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }
}

/// The end of a stream.
pub struct Tail<P> {
    source: Source<P>,
    name: &'static str,
    limit: Limit,
    kept: Vec<u8>,
    total: usize,
}

impl<P: Read + AsFd> Tail<P> {
    /// Of this pipe, which messages call so.
    pub fn new(pipe: Option<P>, name: &'static str, limit: Limit) -> io::Result<Self> {
        Ok(Self { source: Source::new(pipe)?, name, limit, kept: Vec::new(), total: 0 })
    }

    /// Reads what is there.
    pub fn read(&mut self) -> Result<(), TooMuch> {
        let mut buffer = [0; CHUNK];
        let Limit { keep, total } = self.limit;
        while let Some(read) = self.source.read(&mut buffer) {
            self.total += read.len();
            self.kept.extend_from_slice(read);
            // Not at every read: removing from the front moves all the rest.
            if self.kept.len() > 2 * keep {
                self.kept.drain(..self.kept.len() - keep);
            }
            TooMuch::unless(self.total <= total, self.name, total)?;
        }
        Ok(())
    }

    /// To wait for.
    pub fn end(&self) -> Option<BorrowedFd<'_>> {
        self.source.end()
    }

    /// What was kept.
    pub fn text(&mut self) -> String {
        self.kept.drain(..self.kept.len().saturating_sub(self.limit.keep));
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

/// Lines, each as it becomes whole.
pub struct Lines<P> {
    source: Source<P>,
    read: Vec<u8>,
    /// So many bytes of it were lines.
    taken: usize,
    /// And up to here there is no end of another one.
    searched: usize,
    longest: usize,
}

impl<P: Read + AsFd> Lines<P> {
    /// Of this pipe; a line that is longer is an error.
    pub fn new(pipe: Option<P>, longest: usize) -> io::Result<Self> {
        Ok(Self { source: Source::new(pipe)?, read: Vec::new(), taken: 0, searched: 0, longest })
    }

    /// The next line with its end; the last one may have none.
    pub fn next_line(&mut self) -> Result<Option<String>, TooMuch> {
        let mut buffer = [0; CHUNK];
        loop {
            if let Some(line) = self.whole() {
                return Ok(Some(line));
            }
            self.read.drain(..std::mem::take(&mut self.taken));
            self.searched = self.read.len();
            TooMuch::unless(self.read.len() <= self.longest, "one line of standard output", self.longest)?;
            match self.source.read(&mut buffer) {
                Some(read) => self.read.extend_from_slice(read),
                None if self.is_open() || self.read.is_empty() => return Ok(None),
                None => return Ok(Some(text(&std::mem::take(&mut self.read)))),
            }
        }
    }

    /// To wait for.
    pub fn end(&self) -> Option<BorrowedFd<'_>> {
        self.source.end()
    }

    /// Whether more may come.
    pub fn is_open(&self) -> bool {
        self.source.pipe.is_some()
    }

    fn whole(&mut self) -> Option<String> {
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

/// Text for a process's standard input, which stays open behind it.
pub struct Feed {
    pipe: Option<ChildStdin>,
    left: Vec<u8>,
}

impl Feed {
    /// Nothing is a standard input that is somewhere else.
    pub fn new(pipe: Option<ChildStdin>, text: String) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            do_not_wait(pipe.as_fd())?;
        }
        Ok(Self { pipe, left: text.into_bytes() })
    }

    /// Writes what there is room for.
    pub fn write(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        while !self.left.is_empty() {
            match pipe.write(&self.left) {
                Ok(written) => drop(self.left.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // It has gone: its output says so.
                Err(_) => self.left.clear(),
            }
        }
    }

    /// To wait for, if something is left to be written.
    pub fn end(&self) -> Option<BorrowedFd<'_>> {
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
    /// Those that are pipes.
    pub fn of(child: &mut Child, stdout: Limit, stderr: Limit) -> io::Result<Self> {
        Ok(Self {
            stdout: Tail::new(child.stdout.take(), "standard output", stdout)?,
            stderr: Tail::new(child.stderr.take(), "standard error", stderr)?,
        })
    }

    /// Reads what is there.
    pub fn read(&mut self) -> Result<(), TooMuch> {
        self.stdout.read()?;
        self.stderr.read()
    }

    /// Reads to the end, for a while.
    pub fn drain(&mut self) -> Result<(), TooMuch> {
        let began = Instant::now();
        loop {
            self.read()?;
            if !self.is_open() || began.elapsed() > DRAIN {
                return Ok(());
            }
            self.wait(LOOK);
        }
    }

    fn is_open(&self) -> bool {
        self.stdout.source.pipe.is_some() || self.stderr.source.pipe.is_some()
    }

    fn wait(&self, time: Duration) {
        wait(&[self.stdout.end(), self.stderr.end()], None, time);
    }
}

/// How a wait for a process ended.
pub enum Waited {
    /// By itself.
    Exited(ExitStatus),
    /// The deadline is over.
    TimedOut,
    /// It was asked to stop.
    Stopped,
    /// It wrote more than it may.
    TooMuch(TooMuch),
}

/// Reads what a process writes until it ends or has to be ended, which is the caller's to do.
pub fn watch(
    child: &mut Child,
    outputs: &mut Outputs,
    deadline: Option<Instant>,
    stop: impl Fn() -> bool,
) -> io::Result<Waited> {
    // There is no portable wait for a process with a time limit. The steps grow, so that a short one is not kept waiting.
    let mut step = Duration::from_millis(1);
    loop {
        if let Err(too_much) = outputs.read() {
            return Ok(Waited::TooMuch(too_much));
        }
        if let Some(status) = child.try_wait()? {
            return Ok(Waited::Exited(status));
        }
        if stop() {
            return Ok(Waited::Stopped);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Waited::TimedOut);
        }
        outputs.wait(step);
        step = (step * 2).min(LOOK);
    }
}

/// What a command wrote until it ended.
pub struct Said {
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output, if it is a pipe.
    pub stdout: String,
    /// Standard error, if it is a pipe.
    pub stderr: String,
}

/// Runs a command that answers in a few lines to its end. It is killed after `limit`, if there is one.
pub fn ask(command: &mut Command, limit: Option<Duration>) -> io::Result<Said> {
    const ANSWER: Limit = Limit { keep: 1 << 20, total: 64 << 20 };
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut child = command.spawn()?;
    let mut heard = || {
        let mut outputs = Outputs::of(&mut child, ANSWER, ANSWER)?;
        let status = match watch(&mut child, &mut outputs, deadline, || false)? {
            Waited::Exited(status) => status,
            Waited::TooMuch(too_much) => return Err(io::Error::other(too_much)),
            Waited::TimedOut | Waited::Stopped => {
                let seconds = limit.unwrap_or_default().as_secs();
                return Err(io::Error::other(format!("no answer within {seconds} s")));
            }
        };
        // What it left behind may hold the other end: what is there is enough.
        outputs.read().map_err(io::Error::other)?;
        Ok(Said { status, stdout: outputs.stdout.text(), stderr: outputs.stderr.text() })
    };
    heard().inspect_err(|_| {
        let _ = child.kill();
        let _ = child.wait();
    })
}

/// Waits until one of these can be read, or this one written to; for so long at the most.
pub fn wait(read: &[Option<BorrowedFd<'_>>], write: Option<BorrowedFd<'_>>, time: Duration) {
    let readers = read.iter().flatten().map(|end| PollFd::new(*end, PollFlags::POLLIN));
    let writer = write.map(|end| PollFd::new(end, PollFlags::POLLOUT));
    let mut ends: Vec<_> = readers.chain(writer).collect();
    let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    match poll(&mut ends, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        // Out of memory: the caller looks again.
        Err(_) => std::thread::sleep(time),
    }
}

fn do_not_wait(end: BorrowedFd<'_>) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(end, FcntlArg::F_GETFL)?);
    fcntl(end, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}
