//! A wake-up for pollers whose kernel has none.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// A pipe to oneself. Its reading end is in every wait; both ends are non-blocking, and closed by an exec.
pub struct WakePipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl WakePipe {
    /// Opens a pipe.
    ///
    /// # Errors
    /// What pipe(2) and fcntl(2) answer.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        set_nonblocking(&reader)?;
        set_nonblocking(&writer)?;
        Ok(Self { reader, writer })
    }

    /// The number to poll for input.
    pub fn number(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    /// Makes the reading end readable.
    ///
    /// # Errors
    /// What write(2) answers, except that the pipe is full: it is readable then.
    pub fn wake(&self) -> io::Result<()> {
        match (&self.writer).write(&[0]) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes every wake-up that there is.
    pub fn drain(&self) {
        let mut sink = [0; 64];
        while let Ok(1..) = (&self.reader).read(&mut sink) {}
    }
}

fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use nix::fcntl::FdFlag;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::*;

    fn readable(pipe: &WakePipe) -> bool {
        let mut slot = [PollFd::new(pipe.reader.as_fd(), PollFlags::POLLIN)];
        poll(&mut slot, PollTimeout::ZERO).unwrap() == 1
    }

    #[test]
    fn it_is_readable_from_a_wake_up_until_it_is_drained() {
        let pipe = WakePipe::new().unwrap();
        assert!(!readable(&pipe));
        pipe.drain();
        pipe.wake().unwrap();
        assert!(readable(&pipe));
        pipe.drain();
        assert!(!readable(&pipe));
    }

    /// More than any pipe holds: the last ones find it full.
    #[test]
    fn a_full_pipe_is_woken() {
        let pipe = WakePipe::new().unwrap();
        let mut filled = 0;
        while (&pipe.writer).write(&[0; 4096]).is_ok() {
            filled += 1;
        }
        assert!(filled > 0);
        pipe.wake().unwrap();
        pipe.drain();
        assert!(!readable(&pipe), "all of it is taken");
    }

    #[test]
    fn an_exec_inherits_neither_end() {
        let pipe = WakePipe::new().unwrap();
        for fd in [pipe.reader.as_fd(), pipe.writer.as_fd()] {
            assert_eq!(fcntl(fd, FcntlArg::F_GETFD), Ok(FdFlag::FD_CLOEXEC.bits()));
        }
    }
}
