//! The checks that an adapter acts on the descriptors that it makes.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use metadata::Transport;
use nix::errno::Errno;
use nix::unistd::{read, write};
use selector::{Act, Acted, Shut};

use super::context::{NotPassed, Verdict, failed};
use super::ends::{self, any_address, connect};
use crate::process::{Answer, Command, Conversation};

/// An adapter that acts, and the kinds of descriptors that it makes.
pub struct Acting<'a> {
    pub adapter: &'a mut Conversation,
    pub kinds: &'a [Transport],
    pub patience: Duration,
}

/// Names of descriptors.
const OWN: RawFd = 7;
const OTHER: RawFd = 8;

impl Acting<'_> {
    /// Returns the kinds of connections that the adapter makes.
    fn connections(&self) -> Result<Vec<Transport>, NotPassed> {
        let kinds = [Transport::Tcp, Transport::Unix].into_iter().filter(|kind| self.kinds.contains(kind));
        let kinds: Vec<_> = kinds.collect();
        if kinds.is_empty() { Err(missing("tcp or unix")) } else { Ok(kinds) }
    }

    /// Acts, and returns the answer.
    fn answer(&mut self, fd: RawFd, act: &Act) -> Result<Answer, NotPassed> {
        let command = Command::act(fd, act)
            .map_err(|kind| NotPassed::Failed(format!("the protocol has no {}", kind.name())))?;
        Ok(self.adapter.request(&command, self.patience)?)
    }

    /// Acts, and expects that it succeeds.
    fn act(&mut self, fd: RawFd, act: &Act) -> Result<Acted, NotPassed> {
        let begun = Instant::now();
        loop {
            match (act, self.answer(fd, act)?) {
                (Act::Read(_) | Act::Write(_), Answer::Count(count)) => return Ok(Acted::Count(count)),
                (Act::Bind(_) | Act::Listen { .. }, Answer::Address(at)) => return Ok(Acted::Address(at)),
                // The connection or the data may be on its way.
                (_, Answer::Errno(name)) if name == "EAGAIN" && begun.elapsed() < self.patience => {
                    std::thread::yield_now();
                }
                (
                    Act::Open(_)
                    | Act::OpenPipe(_)
                    | Act::Connect(_)
                    | Act::Accept(_)
                    | Act::Shut(_)
                    | Act::Close,
                    Answer::Ok {},
                ) => return Ok(Acted::Done),
                (_, Answer::Unsupported(reason)) => return Err(NotPassed::Unsupported(reason)),
                (_, other) => return failed(format!("{act:?} is answered by {other}")),
            }
        }
    }

    /// Connects the descriptor `fd` to a new socket of this process.
    fn connected(&mut self, kind: Transport, fd: RawFd) -> Result<OwnedFd, NotPassed> {
        ends::connected(kind, fd, OTHER, &mut |fd, act| self.act(fd, act))
    }

    /// Expects `count` bytes from a read with much room.
    fn expect_read(&mut self, fd: RawFd, count: usize) -> Verdict {
        match self.act(fd, &Act::Read(64))? {
            Acted::Count(read) if read == count => Ok(()),
            other => failed(format!("there are {count} bytes, and a read answers {other:?}")),
        }
    }

    /// Expects a refusal with this error.
    fn expect_errno(&mut self, fd: RawFd, act: &Act, errno: Errno) -> Verdict {
        match self.answer(fd, act)? {
            Answer::Errno(name) if name == format!("{errno:?}") => Ok(()),
            other => failed(format!("{act:?} is answered by {other}, not by {errno:?}")),
        }
    }
}

/// Connects the adapter's descriptor `fd` to a new socket of this process.
pub fn connected(
    adapter: &mut Conversation,
    kind: Transport,
    fd: RawFd,
    patience: Duration,
) -> Result<OwnedFd, NotPassed> {
    Acting { adapter, kinds: &[kind], patience }.connected(kind, fd)
}

fn missing(kind: &str) -> NotPassed {
    NotPassed::Unsupported(format!("the adapter does not make {kind} itself"))
}

/// Reads from this process's end, where data may still be on its way.
fn peer_reads(peer: &OwnedFd, patience: Duration) -> Result<usize, NotPassed> {
    let begun = Instant::now();
    loop {
        match read(peer, &mut [0; 64]) {
            Err(Errno::EAGAIN) if begun.elapsed() < patience => std::thread::yield_now(),
            other => return other.or_else(|errno| failed(format!("the other end reads {errno:?}"))),
        }
    }
}

/// Expects that this process's end reads `count` bytes.
fn expect_at_peer(peer: &OwnedFd, count: usize, patience: Duration) -> Verdict {
    match peer_reads(peer, patience)? {
        got if got == count => Ok(()),
        got => failed(format!("the other end reads {got} bytes, not {count}")),
    }
}

/// A listener, its accept queue, and data in both directions.
pub fn accepts(acting: &mut Acting<'_>) -> Verdict {
    for kind in acting.connections()? {
        let folder = tempfile::tempdir()?;
        let listen = Act::Listen { kind, address: any_address(kind, &folder), backlog: 4 };
        let at = acting.act(OTHER, &listen)?;
        acting.expect_errno(OWN, &Act::Accept(OTHER), Errno::EAGAIN)?;
        let peer = connect(kind, &at)?;
        acting.act(OWN, &Act::Accept(OTHER))?;
        acting.expect_errno(OWN, &Act::Read(64), Errno::EAGAIN)?;
        write(&peer, b"abc").map_err(io::Error::from)?;
        match acting.act(OWN, &Act::Read(1))? {
            Acted::Count(1) => {}
            other => return failed(format!("a read with room for one byte answers {other:?}")),
        }
        acting.expect_read(OWN, 2)?;
        match acting.act(OWN, &Act::Write(5))? {
            Acted::Count(5) => {}
            other => return failed(format!("a write of 5 bytes answers {other:?}")),
        }
        expect_at_peer(&peer, 5, acting.patience)?;
        drop(peer);
        acting.expect_read(OWN, 0)?;
        acting.act(OWN, &Act::Close)?;
        acting.act(OTHER, &Act::Close)?;
    }
    Ok(())
}

/// connect(2) to a listener of this process.
pub fn connects(acting: &mut Acting<'_>) -> Verdict {
    for kind in acting.connections()? {
        let folder = tempfile::tempdir()?;
        let path = any_address(kind, &folder);
        acting.act(OWN, &Act::Open(kind))?;
        let (at, accept): (String, Box<dyn Fn() -> io::Result<OwnedFd>>) = match kind {
            Transport::Unix => {
                let listener = UnixListener::bind(&path)?;
                (path, Box::new(move || Ok(listener.accept()?.0.into())))
            }
            _ => {
                let listener = TcpListener::bind("127.0.0.1:0")?;
                (listener.local_addr()?.to_string(), Box::new(move || Ok(listener.accept()?.0.into())))
            }
        };
        match acting.answer(OWN, &Act::Connect(at))? {
            Answer::Ok {} => {}
            Answer::Errno(name) if name == "EINPROGRESS" => {}
            other => return failed(format!("connect is answered by {other}")),
        }
        drop(accept()?);
        acting.act(OWN, &Act::Close)?;
    }
    Ok(())
}

/// shutdown(2) and close(2), as the other end sees them.
pub fn shuts_and_closes(acting: &mut Acting<'_>) -> Verdict {
    for kind in acting.connections()? {
        let shut = acting.connected(kind, OWN)?;
        acting.act(OWN, &Act::Shut(Shut::Write))?;
        expect_at_peer(&shut, 0, acting.patience)?;
        write(&shut, b"x").map_err(io::Error::from)?;
        acting.expect_read(OWN, 1)?;
        acting.act(OWN, &Act::Close)?;
        let closed = acting.connected(kind, OWN)?;
        acting.act(OWN, &Act::Close)?;
        expect_at_peer(&closed, 0, acting.patience)?;
    }
    Ok(())
}

/// shutdown(2) for reading, for which some runtimes have no call.
pub fn shuts_reading(acting: &mut Acting<'_>) -> Verdict {
    for kind in acting.connections()? {
        let _peer = acting.connected(kind, OWN)?;
        acting.act(OWN, &Act::Shut(Shut::Read))?;
        acting.expect_read(OWN, 0)?;
        acting.act(OWN, &Act::Close)?;
    }
    Ok(())
}

/// Datagrams in both directions.
pub fn sends_datagrams(acting: &mut Acting<'_>) -> Verdict {
    if !acting.kinds.contains(&Transport::Udp) {
        return Err(missing("udp"));
    }
    let peer = UdpSocket::from(acting.connected(Transport::Udp, OWN)?);
    peer.send(b"abc")?;
    acting.expect_read(OWN, 3)?;
    acting.act(OWN, &Act::Write(2))?;
    expect_at_peer(&peer.into(), 2, acting.patience)?;
    acting.act(OWN, &Act::Close)?;
    Ok(())
}

/// A pipe, of which the adapter has both ends.
pub fn pipes(acting: &mut Acting<'_>) -> Verdict {
    if !acting.kinds.contains(&Transport::Pipe) {
        return Err(missing("pipe"));
    }
    acting.act(OWN, &Act::OpenPipe(OTHER))?;
    acting.expect_errno(OWN, &Act::Read(64), Errno::EAGAIN)?;
    acting.act(OTHER, &Act::Write(3))?;
    acting.expect_read(OWN, 3)?;
    acting.act(OTHER, &Act::Close)?;
    acting.expect_read(OWN, 0)?;
    acting.act(OWN, &Act::Close)?;
    Ok(())
}
