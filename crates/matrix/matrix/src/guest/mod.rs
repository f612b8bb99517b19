//! The agent in a virtual machine: starts the executor when the other end of a port says so, and sends what
//! it writes. `init` makes it the first process of a Linux system.

#[cfg(target_os = "linux")]
pub mod init;

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::termios::{self, SetArg};

use crate::pipes::{self, Lines, Source};
use crate::vm::wire::{Message, Order, SILENT_SECONDS};
use crate::{exit, supervise};

/// The interval between two checks whether the executor has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The longest line of the executor, in bytes.
const LINE_BYTES: usize = 16 << 20;

/// The agent.
pub struct Agent {
    executable: PathBuf,
    /// The terminal for a shell, once the machine is kept.
    console: Option<PathBuf>,
    port: io::Stdin,
    /// What was read of a line.
    read: Vec<u8>,
    executor: Option<Executor>,
    shell: Option<Child>,
    kept: bool,
    last_order: Instant,
}

/// A running executor.
struct Executor {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<ChildStdout>,
    error: Source<ChildStderr>,
}

impl Agent {
    /// Creates the agent of the port that is this process's standard input and output.
    pub fn new(executable: &Path, console: Option<PathBuf>) -> Self {
        // A serial port is a terminal, which would change the lines.
        if let Ok(mut settings) = termios::tcgetattr(io::stdin()) {
            termios::cfmakeraw(&mut settings);
            let _ = termios::tcsetattr(io::stdin(), SetArg::TCSANOW, &settings);
        }
        Self {
            executable: executable.to_path_buf(),
            console,
            port: io::stdin(),
            read: Vec::new(),
            executor: None,
            shell: None,
            kept: false,
            last_order: Instant::now(),
        }
    }

    /// Carries out orders until the other end is gone.
    ///
    /// # Errors
    /// The port cannot be read or written.
    pub fn run(mut self) -> io::Result<()> {
        send(&Message::Ready.to_text())?;
        loop {
            self.wait();
            if !self.kept && !self.take_orders()? {
                break;
            }
            self.forward()?;
            self.keep_shell();
            if !self.kept && self.last_order.elapsed() > Duration::from_secs(SILENT_SECONDS) {
                break;
            }
        }
        if let Some(executor) = &mut self.executor {
            supervise::kill_group(&executor.child);
            let _ = executor.child.wait();
        }
        Ok(())
    }

    fn wait(&self) {
        let port = (!self.kept).then(|| self.port.as_fd());
        let (output, error) = match &self.executor {
            Some(executor) => (executor.output.fd(), executor.error.fd()),
            None => (None, None),
        };
        pipes::wait(&[port, output, error], None, CHECK_INTERVAL);
    }

    /// Reads the orders that have come. Returns whether the other end is still there.
    fn take_orders(&mut self) -> io::Result<bool> {
        if !pipes::is_readable(self.port.as_fd()) {
            return Ok(true);
        }
        let mut buffer = [0; 4096];
        // Not through the buffer of std, which poll(2) does not see.
        let count = match read(self.port.as_fd(), &mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        self.read.extend_from_slice(&buffer[..count]);
        while let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.read.drain(..=end).collect();
            if let Some(order) = Order::find(&String::from_utf8_lossy(&line)) {
                self.last_order = Instant::now();
                self.obey(order)?;
            }
        }
        Ok(true)
    }

    fn obey(&mut self, order: Order) -> io::Result<()> {
        match order {
            Order::Run { arguments } => match Executor::start(&self.executable, &arguments) {
                Ok(executor) => self.executor = Some(executor),
                Err(error) => {
                    let text = format!("cannot start {}: {error}", self.executable.display());
                    send(&Message::Error { text }.to_text())?;
                    send(&Message::Exit { code: exit::ERROR }.to_text())?;
                }
            },
            Order::Input { text } => {
                // An executor that has ended reads nothing more, and its exit is reported.
                if let Some(input) = self.executor.as_mut().and_then(|executor| executor.input.as_mut()) {
                    let _ = input.write_all(text.as_bytes());
                }
                send(&Message::Taken.to_text())?;
            }
            Order::Alive => {}
            Order::Keep => self.kept = true,
        }
        Ok(())
    }

    /// Sends what the executor has written, and its exit.
    fn forward(&mut self) -> io::Result<()> {
        let Some(executor) = &mut self.executor else { return Ok(()) };
        // Before the output is read, so that the last output is available.
        let ended = executor.child.try_wait()?;
        while let Some(line) = executor.output.next_line().map_err(io::Error::other)? {
            send(&line)?;
        }
        let mut buffer = [0; pipes::CHUNK];
        while let Some(read) = executor.error.read(&mut buffer) {
            let text = String::from_utf8_lossy(read).into_owned();
            send(&Message::Error { text }.to_text())?;
        }
        if let Some(status) = ended {
            // What the executor left behind would disturb the next one.
            supervise::kill_group(&executor.child);
            self.executor = None;
            send(&Message::Exit { code: code(status) }.to_text())?;
        }
        Ok(())
    }

    /// Keeps a shell on the console of a machine that is kept.
    fn keep_shell(&mut self) {
        let (true, Some(console)) = (self.kept, &self.console) else { return };
        let ended = self.shell.as_mut().is_none_or(|shell| !matches!(shell.try_wait(), Ok(None)));
        if ended {
            self.shell = shell(&self.executable, Some(console)).ok();
        }
    }
}

impl Executor {
    fn start(executable: &Path, arguments: &[String]) -> io::Result<Self> {
        let mut command = Command::new(executable);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        Ok(Self {
            input: child.stdin.take(),
            output: Lines::new(child.stdout.take(), LINE_BYTES)?,
            error: Source::new(child.stderr.take())?,
            child,
        })
    }
}

/// Starts a shell on a terminal, or on this process's own: busybox's, or else one that takes this program's
/// commands.
pub fn shell(executable: &Path, console: Option<&Path>) -> io::Result<Child> {
    let busybox = Path::new("/bin/busybox");
    let mut command = if busybox.exists() {
        let mut command = Command::new(busybox);
        // A session of its own with the terminal, for Ctrl-C.
        command.args(["setsid", "busybox", "cttyhack", "sh"]);
        command
    } else {
        let mut command = Command::new(executable);
        command.args(["worker", "guest", "--commands"]);
        command
    };
    if let Some(console) = console {
        let open = || std::fs::OpenOptions::new().read(true).write(true).open(console);
        command.stdin(open()?).stdout(open()?).stderr(open()?);
    }
    environment(&mut command).spawn()
}

/// Sets what a program of a system expects that has nothing but this program.
pub fn environment(command: &mut Command) -> &mut Command {
    command.current_dir("/").env("PATH", "/bin:/").env("HOME", "/tmp")
}

/// Reads commands of this program from standard input, and runs each.
pub fn commands(executable: &Path) -> io::Result<()> {
    let mut line = String::new();
    loop {
        io::stdout().write_all(b"pollmatrix> ")?;
        io::stdout().flush()?;
        line.clear();
        if io::stdin().read_line(&mut line)? == 0 {
            return Ok(());
        }
        match shlex::split(&line) {
            Some(words) if words.is_empty() => {}
            Some(words) => {
                let _ = Command::new(executable).args(words).status()?;
            }
            None => io::stdout().write_all(b"a quote is not closed\n")?,
        }
    }
}

fn send(text: &str) -> io::Result<()> {
    let mut port = io::stdout().lock();
    port.write_all(text.as_bytes())?;
    port.flush()
}

/// Returns the exit code as a shell shows it.
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|signal| i32::from(exit::SIGNAL) + signal);
    status.code().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::ERROR)
}

fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(nix::unistd::read(fd, buffer)?)
}
