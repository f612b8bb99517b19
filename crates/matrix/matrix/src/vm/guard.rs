//! The guard of a virtual machine: starts the emulator, and connects the executor in the guest to this
//! process's standard streams. The machine ends when standard input does.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::emulator::{Accelerator, CONSOLE_LOG, Start};
use super::wire::{ALIVE_SECONDS, Message, Order, PIECE};
use super::{Spec, cache, kvm};
use crate::pipes::{self, Limit, Lines, Source, Tail};
use crate::stream::Line;
use crate::{exit, output, supervise};

/// The interval between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How long a boot can be silent under software emulation, on a machine that other programs load.
const SILENCE: Duration = Duration::from_secs(180);
/// How long a boot can be silent with KVM, which is fast, or else does not work.
const KVM_SILENCE: Duration = Duration::from_secs(15);
/// How long a whole boot can take with KVM.
const KVM_BOOT: Duration = Duration::from_secs(90);
/// How long to wait for the executor's exit after its last line.
const EXIT_TIME: Duration = Duration::from_secs(10);
/// The longest line, in bytes.
const LINE_BYTES: usize = 16 << 20;
/// The limits of what the emulator writes to standard error.
const STDERR: Limit = Limit { keep: 4 << 10, total: 1 << 30 };
/// How much of the end of the console's output becomes a part of a reason, in bytes.
const CONSOLE_BYTES: u64 = 2 << 10;
/// How many lines of it.
const CONSOLE_LINES: usize = 12;

/// Why a machine is not up.
enum BootError {
    /// Standard input ended.
    Abandoned,
    /// This way to start it does not work.
    Failed(String),
}

/// Runs the machine, with the executor that `arguments` start. Returns the executor's exit code, or
/// [`exit::CANNOT_BOOT`] with the reason on standard error.
///
/// # Errors
/// The folder of the machine, the emulator or a standard stream cannot be used.
pub fn run(spec_file: &Path, arguments: &[String]) -> io::Result<u8> {
    let spec: Spec = serde_json::from_slice(&fs::read(spec_file)?).map_err(io::Error::other)?;
    // The emulator inherits the lock: the folder is in use as long as it runs.
    let lock = cache::share(&spec.run)?;
    fcntl(lock.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    let mut input = Source::new(Some(io::stdin()))?;
    let mut typed = Vec::new();
    let mut why = Vec::new();
    for start in &spec.starts {
        let is_kvm = start.accelerator == Accelerator::Kvm;
        if is_kvm && kvm::has_failed(&start.program) {
            continue;
        }
        let began = Instant::now();
        match boot(&spec, start, &mut input, &mut typed) {
            Ok(session) => {
                // A line for the driver, which gives up on a machine that is silent for too long.
                let after = began.elapsed().as_secs();
                output::print_line(&format!("pollmatrix vm: {} is up after {after} s", spec.machine))
                    .map_err(io::Error::other)?;
                return session.serve(&spec, start, arguments, input, typed);
            }
            Err(BootError::Abandoned) => return Ok(0),
            Err(BootError::Failed(reason)) => {
                if is_kvm {
                    kvm::remember_failure(&start.program, &reason);
                    output::print_line("pollmatrix vm: KVM does not work here, using software emulation")
                        .map_err(io::Error::other)?;
                }
                why.push(reason);
            }
        }
    }
    let reason = why.last().cloned().unwrap_or_default();
    writeln!(io::stderr(), "the virtual machine {} does not boot: {reason}", spec.machine)?;
    Ok(exit::CANNOT_BOOT)
}

/// Starts the emulator, and waits until the agent is ready.
fn boot(
    spec: &Spec,
    start: &Start,
    input: &mut Source<io::Stdin>,
    typed: &mut Vec<u8>,
) -> Result<Session, BootError> {
    let broken = |error: io::Error| BootError::Failed(error.to_string());
    let mut session = Session::start(spec, start).map_err(broken)?;
    let is_kvm = start.accelerator == Accelerator::Kvm;
    let silence = match spec.silence {
        Some(seconds) => Duration::from_secs(seconds),
        None if is_kvm => KVM_SILENCE,
        None => SILENCE,
    };
    let began = Instant::now();
    let mut last_output = began;
    // What the agent wrote since its last whole line.
    let mut shown = String::new();
    loop {
        take(input, typed);
        if !input.is_open() {
            return Err(BootError::Abandoned);
        }
        if session.has_grown() {
            last_output = Instant::now();
        }
        let text = session.read_text().map_err(BootError::Failed)?;
        if !text.is_empty() {
            last_output = Instant::now();
            shown.push_str(&text);
        }
        while let Some(end) = shown.find('\n') {
            let line: String = shown.drain(..=end).collect();
            if Message::find(&line) == Some(Message::Ready) {
                session.early = shown;
                return Ok(session);
            }
        }
        if !session.is_open() {
            let status =
                session.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
            return Err(BootError::Failed(format!("the emulator ended ({status}){}", session.last_words())));
        }
        if last_output.elapsed() > silence || (is_kvm && began.elapsed() > KVM_BOOT) {
            let seconds = last_output.elapsed().as_secs();
            let words = session.last_words();
            return Err(BootError::Failed(format!("it was silent for {seconds} s{words}")));
        }
        session.wait(Some(input));
    }
}

/// Reads what is available.
fn take(input: &mut Source<io::Stdin>, to: &mut Vec<u8>) {
    let mut buffer = [0; pipes::CHUNK];
    while let Some(read) = input.read(&mut buffer) {
        to.extend_from_slice(read);
    }
}

/// A running machine. It is killed on drop, unless it is kept.
struct Session {
    child: Child,
    port: ChildStdin,
    lines: Lines<ChildStdout>,
    stderr: Tail<ChildStderr>,
    /// The console's output, and how much of it was seen.
    log: std::path::PathBuf,
    seen: u64,
    seen_stderr: usize,
    /// What the agent wrote behind its first line.
    early: String,
    keep: bool,
}

impl Session {
    fn start(spec: &Spec, start: &Start) -> io::Result<Self> {
        let log = spec.run.join(CONSOLE_LOG);
        let _ = fs::remove_file(&log);
        let mut command = Command::new(&start.program);
        command.args(&start.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if spec.keep {
            // Otherwise the end of this process's group would end it.
            command.process_group(0);
        }
        let cannot = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot start {}: {error}", start.program.display()))
        };
        let mut child = command.spawn().map_err(metadata::start_error).map_err(cannot)?;
        Ok(Self {
            port: child.stdin.take().ok_or_else(|| io::Error::other("the emulator has no input"))?,
            lines: Lines::new(child.stdout.take(), LINE_BYTES)?,
            stderr: Tail::new(child.stderr.take(), "standard error", STDERR)?,
            child,
            log,
            seen: 0,
            seen_stderr: 0,
            early: String::new(),
            keep: false,
        })
    }

    /// Returns whether the console or the emulator has written something since the last call.
    fn has_grown(&mut self) -> bool {
        let length = fs::metadata(&self.log).map_or(0, |data| data.len());
        let _ = self.stderr.read();
        let total = self.stderr.total();
        let grown = length > self.seen || total > self.seen_stderr;
        (self.seen, self.seen_stderr) = (length, total);
        grown
    }

    fn read_text(&mut self) -> Result<String, String> {
        self.lines.take_text().map_err(|error| error.to_string())
    }

    fn is_open(&self) -> bool {
        self.lines.is_open()
    }

    fn send(&mut self, order: &Order) -> io::Result<()> {
        self.port.write_all(order.to_text().as_bytes())?;
        self.port.flush()
    }

    fn wait(&self, input: Option<&Source<io::Stdin>>) {
        let read = [self.lines.fd(), self.stderr.fd(), input.and_then(Source::fd)];
        pipes::wait(&read, None, CHECK_INTERVAL);
    }

    /// Returns the end of what the console and the emulator wrote, as a part of a sentence.
    fn last_words(&mut self) -> String {
        let _ = self.stderr.read();
        let mut text = tail_of(&self.log).unwrap_or_default();
        text.push_str(&self.stderr.text());
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.as_slice() {
            [] => ", and wrote nothing".to_owned(),
            // The first line of a reason is the one that tables show.
            [before @ .., last] => {
                let before = &before[before.len().saturating_sub(CONSOLE_LINES)..];
                format!(": {last}\nthe console before that:\n{}", before.join("\n"))
            }
        }
    }

    /// Starts the executor, and connects it to this process until it ends.
    fn serve(
        mut self,
        spec: &Spec,
        start: &Start,
        arguments: &[String],
        mut input: Source<io::Stdin>,
        mut typed: Vec<u8>,
    ) -> io::Result<u8> {
        let mut arguments = arguments.to_vec();
        let slow = spec.slow.filter(|_| start.accelerator != Accelerator::Kvm);
        if let Some(slow) = slow.filter(|_| !arguments.iter().any(|argument| argument == "--slow")) {
            arguments.extend(["--slow".to_owned(), slow.to_string()]);
        }
        // The port can be gone already, which the loop notices.
        let _ = self.send(&Order::Run { arguments });
        let mut last_order = Instant::now();
        let mut is_taken = true;
        let mut has_ended = false;
        let mut left_at: Option<Instant> = None;
        let mut early = std::mem::take(&mut self.early);
        loop {
            take(&mut input, &mut typed);
            if !input.is_open() {
                let since = *left_at.get_or_insert_with(Instant::now);
                // The other end has its results, and the machine is to stay: wait for the exit.
                if !(spec.keep && has_ended) || since.elapsed() > EXIT_TIME {
                    return Ok(0);
                }
            }
            if is_taken && !typed.is_empty() {
                let text = piece(&mut typed);
                let _ = self.send(&Order::Input { text });
                (is_taken, last_order) = (false, Instant::now());
            }
            if last_order.elapsed() > Duration::from_secs(ALIVE_SECONDS) {
                let _ = self.send(&Order::Alive);
                last_order = Instant::now();
            }
            let _ = self.stderr.read();
            while let Some(line) = self.next_line(&mut early)? {
                match Message::find(&line) {
                    Some(Message::Ready) => {}
                    Some(Message::Taken) => is_taken = true,
                    Some(Message::Error { text }) => io::stderr().write_all(text.as_bytes())?,
                    Some(Message::Exit { code }) => {
                        if spec.keep {
                            self.send(&Order::Keep)?;
                            self.keep = true;
                        }
                        return Ok(code);
                    }
                    None => {
                        has_ended |= matches!(Line::find(&line), (Some(Line::End { .. }), _));
                        output::print_line(line.trim_end_matches(['\r', '\n'])).map_err(io::Error::other)?;
                    }
                }
            }
            if !self.is_open() {
                let status = self.child.wait()?;
                let words = self.last_words();
                writeln!(io::stderr(), "the virtual machine {} ended ({status}){words}", spec.machine)?;
                return Ok(exit::FAILED);
            }
            self.wait(Some(&input));
        }
    }

    fn next_line(&mut self, early: &mut String) -> io::Result<Option<String>> {
        if let Some(end) = early.find('\n') {
            return Ok(Some(early.drain(..=end).collect()));
        }
        let line = self.lines.next_line().map_err(io::Error::other)?;
        Ok(line.map(|line| std::mem::take(early) + &line))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.keep {
            let _ = self.child.kill();
            let _ = self.child.wait();
            // User-mode Linux has several processes, in a session of its own.
            supervise::kill_group(&self.child);
        }
    }
}

/// Takes the first piece of the text: whole lines, or else whole characters.
fn piece(text: &mut Vec<u8>) -> String {
    let most = text.len().min(PIECE);
    let end = match text[..most].iter().rposition(|byte| *byte == b'\n') {
        Some(at) => at + 1,
        None => match std::str::from_utf8(&text[..most]) {
            Ok(_) => most,
            Err(error) if error.valid_up_to() > 0 => error.valid_up_to(),
            Err(_) => most,
        },
    };
    let piece: Vec<u8> = text.drain(..end).collect();
    String::from_utf8_lossy(&piece).into_owned()
}

fn tail_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(CONSOLE_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_with_a_line_or_a_character() {
        let mut text = b"one\ntwo\nthr".to_vec();
        assert_eq!((piece(&mut text).as_str(), text.as_slice()), ("one\ntwo\n", &b"thr"[..]));
        let mut text = "ä".repeat(PIECE).into_bytes();
        text.insert(0, b'x');
        let first = piece(&mut text);
        assert_eq!((first.len(), text.len()), (PIECE - 1, PIECE + 2));
        assert!(!first.contains('\u{fffd}'));
    }
}
