//! The registrations for which `POLLRDHUP` is requested: sockets, where the kernel knows the bit.
//!
//! FreeBSD's poll(2) takes a bit that it does not know, which this one is for everything but a socket, as a
//! mistake of the caller: the null device, a file of tmpfs and shared memory answer `POLLNVAL` to it, a file
//! of UFS is never ready (docs/findings/freebsd-poll-unknown-bit.md). fstat(2) decides, once per
//! registration.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use fd_core::poller::Generation;
use libc::c_short;
use once_cell::race::OnceBox;

use crate::sys;

const CHUNK: usize = 512;
/// The kind of the descriptor is known. Above it, the word has the generation.
const KNOWN: u64 = 1;
const SOCKET: u64 = 2;

/// The kind of each descriptor, which all threads share. Memory is allocated only for chunks with a
/// descriptor that was ever polled.
pub(crate) struct HalfCloses {
    bit: c_short,
    /// Without a lock: see [`GroupInterest`](fd_core::interest::GroupInterest).
    chunks: Box<[OnceBox<[AtomicU64; CHUNK]>]>,
}

impl HalfCloses {
    /// For descriptors below `capacity`. `bit` is the kernel's `POLLRDHUP`.
    pub(crate) fn new(bit: c_short, capacity: usize) -> Self {
        let chunks = (0..capacity.div_ceil(CHUNK)).map(|_| OnceBox::new()).collect();
        Self { bit, chunks }
    }

    /// Finds out whether the descriptor is a socket, if this is the first call for the registration. The
    /// caller writes the interest afterwards: a thread that finds the interest finds the answer too.
    pub(crate) fn examine(&self, fd: RawFd, generation: Generation) {
        let known = word(generation) | KNOWN;
        let chunk = self.chunks[fd as usize / CHUNK]
            .get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU64::new(0))));
        let kind = &chunk[fd as usize % CHUNK];
        if kind.load(Ordering::Relaxed) & !SOCKET != known {
            let socket = if sys::is_socket(fd) { SOCKET } else { 0 };
            kind.store(known | socket, Ordering::Release);
        }
    }

    /// Returns the bit for this registration: none if the descriptor is no socket, or if the answer belongs
    /// to another registration of the number.
    pub(crate) fn bit(&self, (fd, generation): (RawFd, Generation)) -> c_short {
        let kind = self.chunks[fd as usize / CHUNK].get().map(|chunk| &chunk[fd as usize % CHUNK]);
        let is_socket =
            kind.is_some_and(|kind| kind.load(Ordering::Acquire) == word(generation) | KNOWN | SOCKET);
        if is_socket { self.bit } else { 0 }
    }
}

fn word(generation: Generation) -> u64 {
    u64::from(generation) << 2
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::pipe;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_bit_is_for_sockets() {
        let bits = HalfCloses::new(64, 1024);
        let (socket, _peer) = UnixStream::pair().unwrap();
        let (read_end, write_end) = pipe().unwrap();
        let null = File::open("/dev/null").unwrap();
        let (socket, others) =
            (socket.as_raw_fd(), [read_end.as_raw_fd(), write_end.as_raw_fd(), null.as_raw_fd()]);
        for generation in [0, 7, Generation::MAX] {
            assert_eq!(bits.bit((socket, generation)), 0, "not examined");
            bits.examine(socket, generation);
            assert_eq!(bits.bit((socket, generation)), 64);
            for fd in others {
                bits.examine(fd, generation);
                assert_eq!(bits.bit((fd, generation)), 0, "{fd}");
            }
        }
    }

    /// The number of a socket becomes that of a pipe.
    #[test]
    fn each_registration_of_a_number_has_its_own_answer() {
        let bits = HalfCloses::new(64, 1024);
        let (socket, _peer) = UnixStream::pair().unwrap();
        let fd = socket.as_raw_fd();
        bits.examine(fd, 1);
        let (read_end, _write_end) = pipe().unwrap();
        // SAFETY: `socket` owns the number, which is a pipe's from now on.
        assert_eq!(unsafe { libc::dup2(read_end.as_raw_fd(), fd) }, fd);
        bits.examine(fd, 1);
        assert_eq!(bits.bit((fd, 1)), 64, "one fstat per registration");
        assert_eq!(bits.bit((fd, 2)), 0, "the answer of another registration");
        bits.examine(fd, 2);
        assert_eq!([bits.bit((fd, 1)), bits.bit((fd, 2))], [0, 0]);
    }

    #[test]
    fn a_closed_number_is_no_socket() {
        let bits = HalfCloses::new(64, 1024);
        bits.examine(1000, 1);
        assert_eq!(bits.bit((1000, 1)), 0);
        assert_eq!(bits.bit((600, 1)), 0, "a number that no one has polled");
    }
}
