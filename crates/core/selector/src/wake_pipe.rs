//! A wake-up for pollers without one in the kernel.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// A pipe within this process. Every wait polls its reading end. Both ends are non-blocking and
/// close-on-exec.
pub struct WakePipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl WakePipe {
    /// Opens a pipe.
    ///
    /// # Errors
    /// The errors of pipe(2) and fcntl(2).
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        set_nonblocking(&reader)?;
        set_nonblocking(&writer)?;
        Ok(Self { reader, writer })
    }

    /// Returns the number to poll for input.
    pub fn number(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    /// Makes the reading end readable.
    ///
    /// # Errors
    /// The errors of write(2). A full pipe is no error: it is readable.
    pub fn wake(&self) -> io::Result<()> {
        match (&self.writer).write(&[0]) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes all wake-ups.
    pub fn drain(&self) {
        let mut sink = [0; 64];
        while let Ok(1..) = (&self.reader).read(&mut sink) {}
    }
}

/// Sets `O_NONBLOCK` on the open file of a descriptor, for all its copies.
///
/// # Errors
/// The errors of fcntl(2).
pub fn set_nonblocking(fd: &impl AsFd) -> Result<(), Errno> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map(drop)
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

    #[test]
    fn a_wake_up_of_a_full_pipe_succeeds() {
        let pipe = WakePipe::new().unwrap();
        let mut filled = 0;
        while (&pipe.writer).write(&[0; 4096]).is_ok() {
            filled += 1;
        }
        assert!(filled > 0);
        pipe.wake().unwrap();
        pipe.drain();
        assert!(!readable(&pipe), "it is empty");
    }

    #[test]
    fn an_exec_inherits_neither_end() {
        let pipe = WakePipe::new().unwrap();
        for fd in [pipe.reader.as_fd(), pipe.writer.as_fd()] {
            assert_eq!(fcntl(fd, FcntlArg::F_GETFD), Ok(FdFlag::FD_CLOEXEC.bits()));
        }
    }
}
