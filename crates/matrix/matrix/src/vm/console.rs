//! The console of a machine that was kept.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use nix::sys::termios::{self, SetArg, Termios};

use super::emulator::{CONSOLE_SOCKET, CONTROL_SOCKET};
use crate::pipes;

/// The key that leaves the console: Ctrl-].
const LEAVE: u8 = 0x1d;
/// How long the emulator can take to end.
const END_TIME: Duration = Duration::from_secs(10);

/// The settings of this terminal, restored on drop.
struct RawTerminal(Option<Termios>);

impl RawTerminal {
    fn set() -> Self {
        let before = termios::tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut raw = before.clone();
            termios::cfmakeraw(&mut raw);
            let _ = termios::tcsetattr(io::stdin(), SetArg::TCSANOW, &raw);
        }
        Self(before)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = termios::tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

/// Connects this terminal to the console of a machine, until Ctrl-] is typed, standard input ends, or the
/// machine does.
pub fn attach(run: &Path) -> io::Result<()> {
    let mut socket = UnixStream::connect(run.join(CONSOLE_SOCKET))?;
    let _raw = RawTerminal::set();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    // A prompt.
    socket.write_all(b"\n")?;
    let mut buffer = [0; 1 << 16];
    loop {
        pipes::wait(&[Some(socket.as_fd()), Some(input.as_fd())], None, Duration::from_secs(1));
        if pipes::is_readable(socket.as_fd()) {
            let count = socket.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            output.write_all(&buffer[..count])?;
            output.flush()?;
        }
        if pipes::is_readable(input.as_fd()) {
            let count = input.read(&mut buffer)?;
            let typed = &buffer[..count];
            if count == 0 || typed.contains(&LEAVE) {
                return Ok(());
            }
            socket.write_all(typed)?;
        }
    }
}

/// Ends a machine that was kept.
pub fn stop(run: &Path) -> io::Result<()> {
    let mut socket = UnixStream::connect(run.join(CONTROL_SOCKET))?;
    socket.set_read_timeout(Some(END_TIME))?;
    socket.write_all(b"{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"quit\"}\n")?;
    // The emulator closes the connection when it ends.
    let mut answers = Vec::new();
    match socket.read_to_end(&mut answers) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(error),
    }
}
