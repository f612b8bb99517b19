//! The scenario's end of a connected pair: it sends, and knows when its bytes have arrived.

use std::io::{self, PipeWriter, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use metadata::Act;
use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, recv, send};

use crate::descriptors;
use crate::late::{self, Lane, SendNow};
use crate::timeline;

/// The far end of a pair, or a client of a listener.
pub struct FarEnd {
    /// Dropped first: it may refer to the stream.
    lane: Option<Arc<Lane>>,
    stream: Arc<Stream>,
    sent: usize,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Pipe(PipeWriter),
}

impl From<TcpStream> for FarEnd {
    fn from(stream: TcpStream) -> Self {
        Self::of_socket(Stream::Tcp(stream))
    }
}

impl From<UnixStream> for FarEnd {
    fn from(stream: UnixStream) -> Self {
        Self::of_socket(Stream::Unix(stream))
    }
}

/// The writing end of a pipe. Its data are never late: every system delivers them within the call.
impl From<PipeWriter> for FarEnd {
    fn from(pipe: PipeWriter) -> Self {
        Self { lane: None, stream: Arc::new(Stream::Pipe(pipe)), sent: 0 }
    }
}

impl FarEnd {
    fn of_socket(stream: Stream) -> Self {
        let stream = Arc::new(stream);
        Self { lane: late::lane(Arc::clone(&stream) as Arc<_>), stream, sent: 0 }
    }

    /// Returns how many bytes were written, whether or not they have arrived.
    pub(crate) fn sent(&self) -> usize {
        self.sent
    }

    /// Limits how long a read waits. Pipes have no such option.
    ///
    /// # Errors
    /// Those of `setsockopt`; `Unsupported` for pipes.
    pub fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        match &*self.stream {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(timeout)),
            Stream::Unix(stream) => stream.set_read_timeout(Some(timeout)),
            Stream::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Returns whether the near end is closed, with all its copies in all processes. Does not wait.
    pub fn ended(&self) -> bool {
        match &*self.stream {
            Stream::Tcp(_) | Stream::Unix(_) => socket_ended(self.number()),
            // Linux reports ERR, the BSDs report HUP (poll(2)).
            Stream::Pipe(_) => {
                descriptors::poll_now(self.number()).intersects(PollFlags::POLLERR | PollFlags::POLLHUP)
            }
        }
    }

    /// Sends a byte that the near end may ignore, and returns whether the near end is closed, as
    /// [`FarEnd::ended`] does.
    ///
    /// A reset is sent once, and loopback may drop it: FreeBSD's queue of packets has
    /// `net.inet.ip.intr_queue_maxlen` places. A closed connection answers to data with another reset, while
    /// a descriptor that was leaked does not.
    pub(crate) fn ended_if_asked(&self) -> bool {
        if self.ended() {
            return true;
        }
        // Not late: the peer of a connection that has ended waits for nothing.
        if let Stream::Tcp(_) = &*self.stream {
            let _ = self.stream.send_now(b"?");
        }
        self.ended()
    }

    /// Shuts down the sending direction. Pipes cannot.
    ///
    /// # Errors
    /// Those of `shutdown`; `Unsupported` for pipes.
    pub(crate) fn stop_sending(&self) -> io::Result<()> {
        if self.lane.as_ref().is_some_and(|lane| lane.shut_down(Shutdown::Write)) {
            return Ok(());
        }
        self.stream.shut_down(Shutdown::Write)
    }

    /// Returns whether everything that was sent has reached the other end, whoever holds it: for an end that
    /// this process cannot look into. Slower than [`unread`], because a receiver may delay its
    /// acknowledgement.
    pub(crate) fn is_acknowledged(&self) -> bool {
        let is_sent = self.lane.as_ref().is_none_or(|lane| lane.is_empty());
        let is_tcp = matches!(&*self.stream, Stream::Tcp(_));
        let number = self.number();
        // Linux keeps counting the bytes of a connection that was reset.
        let is_over = || descriptors::poll_now(number).intersects(PollFlags::POLLERR | PollFlags::POLLHUP);
        is_sent && (!is_tcp || descriptors::unacknowledged(number) == 0 || is_over())
    }

    /// Closes it without what it has not sent yet: the other end is closed.
    pub(crate) fn abandon(mut self) {
        if let Some(lane) = self.lane.take() {
            lane.discard();
        }
    }

    pub(crate) fn number(&self) -> RawFd {
        match &*self.stream {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) => stream.as_raw_fd(),
            Stream::Pipe(pipe) => pipe.as_raw_fd(),
        }
    }
}

/// A far end is closed after everything that it has sent.
impl Drop for FarEnd {
    fn drop(&mut self) {
        if let Some(lane) = self.lane.take() {
            lane.flush();
        }
    }
}

impl SendNow for Stream {
    fn send_now(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let number = match self {
            Self::Tcp(stream) => stream.as_raw_fd(),
            Self::Unix(stream) => stream.as_raw_fd(),
            Self::Pipe(_) => return Err(Errno::EOPNOTSUPP),
        };
        #[cfg(not(target_vendor = "apple"))]
        let quiet = MsgFlags::MSG_NOSIGNAL;
        #[cfg(target_vendor = "apple")]
        let quiet = MsgFlags::empty();
        send(number, bytes, MsgFlags::MSG_DONTWAIT | quiet)
    }

    fn shut_down(&self, direction: Shutdown) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(direction),
            Self::Unix(stream) => stream.shutdown(direction),
            Self::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Write for FarEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        timeline::about(Act::Send, self.number());
        let count = if self.lane.as_ref().is_some_and(|lane| lane.send(bytes)) {
            bytes.len()
        } else {
            match &*self.stream {
                Stream::Tcp(stream) => (&mut &*stream).write(bytes)?,
                Stream::Unix(stream) => (&mut &*stream).write(bytes)?,
                Stream::Pipe(pipe) => (&mut &*pipe).write(bytes)?,
            }
        };
        self.sent += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for FarEnd {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &*self.stream {
            Stream::Tcp(stream) => (&mut &*stream).read(bytes),
            Stream::Unix(stream) => (&mut &*stream).read(bytes),
            Stream::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Returns whether the peer has closed the socket. If it left data unread, its close is a reset; a write
/// after that is refused.
fn socket_ended(fd: RawFd) -> bool {
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    matches!(recv(fd, &mut [0], flags), Ok(0) | Err(Errno::ECONNRESET | Errno::EPIPE))
}

#[cfg(test)]
mod tests {
    use metadata::Transport;

    use super::*;
    use crate::transport::{pair, read_all, unread};

    const ALL: [Transport; 3] = [Transport::Tcp, Transport::Unix, Transport::Pipe];

    fn until(what: &str, holds: impl FnMut() -> bool) {
        assert!(crate::patience::wait_until(holds), "{what}");
    }

    #[test]
    fn unread_bytes_are_counted_and_stay_unread() {
        for transport in ALL {
            let mut ends = pair(transport).unwrap();
            assert_eq!(unread(ends.near.as_raw_fd()), 0);
            ends.far.write_all(b"three").unwrap();
            ends.far.write_all(b" words").unwrap();
            until("arrival", || unread(ends.near.as_raw_fd()) == ends.far.sent());
            let mut bytes = Vec::new();
            read_all(&ends.near, &mut bytes).unwrap();
            assert_eq!((bytes.as_slice(), ends.far.sent()), (&b"three words"[..], 11), "{transport:?}");
            assert_eq!(unread(ends.near.as_raw_fd()), 0);
        }
    }

    #[test]
    fn bytes_are_acknowledged_although_nothing_reads_them() {
        for transport in ALL {
            let mut ends = pair(transport).unwrap();
            ends.far.write_all(b"x").unwrap();
            until("acknowledged", || ends.far.is_acknowledged());
            drop(ends.near);
            let _ = ends.far.write_all(b"too late");
            until("the reset", || ends.far.is_acknowledged());
        }
    }

    /// A copy of the near end keeps the connection, whatever is sent.
    #[test]
    fn an_open_copy_does_not_answer_with_a_reset() {
        for transport in ALL {
            let ends = pair(transport).unwrap();
            let copy = ends.near.try_clone().unwrap();
            drop(ends.near);
            for _ in 0..100 {
                assert!(!ends.far.ended_if_asked(), "{transport:?}");
            }
            drop(copy);
            until("the end", || ends.far.ended_if_asked());
        }
    }
}
