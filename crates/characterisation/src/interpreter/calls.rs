//! The calls that a line makes on its descriptors.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

use metadata::Transport;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::socket::{
    Backlog, MsgFlags, Shutdown, getsockopt, listen, recv, send, setsockopt, shutdown, sockopt,
};
use nix::unistd::{PathconfVar, pathconf, read, write};

use super::descriptors::{self, Address};
use super::fenced_poller::FencedPoller;
use super::settle::{self, FAILED, HALF_CLOSED, READABLE, RESET, URGENT, WRITABLE};
use super::{Interpreter, call_failed, setup_error};
use crate::verbs::{Call, Direction, FIRST, Name, ReadExtent, Size, SocketOption};
use crate::{Setting, Stopped};

/// Room for everything that a line sends, but for `fills`.
const BUFFER: usize = 1 << 16;

/// More writes than this are no filling: somebody takes them away.
const MOST_WRITES: usize = 1 << 20;

/// What a call came to.
pub(super) struct CallResult {
    /// In the notation of the published answers: a number, an errno, several of them with ` then ` between.
    pub(super) answer: String,
    /// Whether it did what a line means that does not ask.
    pub(super) done: bool,
}

impl CallResult {
    /// A call whose number says nothing more.
    fn of(result: Result<(), Errno>) -> Self {
        let done = result.is_ok();
        Self { answer: result.map_or_else(|errno| format!("{errno:?}"), |()| "0".into()), done }
    }

    /// Counts, or errnos.
    fn counts(results: &[Result<usize, Errno>], done: bool) -> Self {
        let each = results.iter().map(|result| match result {
            Ok(count) => count.to_string(),
            Err(errno) => format!("{errno:?}"),
        });
        Self { answer: each.collect::<Vec<_>>().join(" then "), done }
    }
}

impl Interpreter {
    /// Makes a call, and sees to it that what it did to the other end has arrived there.
    pub(super) fn call(&mut self, who: &str, call: &Call) -> Result<CallResult, Stopped> {
        let outcome = match call {
            Call::Binds => self.binds(who)?,
            Call::Listens { backlog, beside } => self.listens(who, *backlog, beside.as_ref())?,
            Call::Connects(to) => self.connects(who, to.as_ref())?,
            Call::Reaches(listener) => self.reaches(who, listener)?,
            Call::Accepts(name) => self.accepts(who, name)?,
            Call::Opens(direction) => self.opens(who, *direction)?,
            Call::Sends(bytes) => self.sends(who, *bytes)?,
            Call::SendsNothing => self.sends_message(who, &[], MsgFlags::empty())?,
            Call::SendsUrgent => self.sends_message(who, b"!", MsgFlags::MSG_OOB)?,
            Call::Fills(block) => self.fills(who, *block)?,
            Call::Reads(ReadExtent::Calls(count)) => self.reads(who, *count, BUFFER)?,
            Call::Reads(ReadExtent::Bytes(bytes)) => {
                let outcome = self.reads(who, 1, *bytes)?;
                CallResult { done: outcome.answer == bytes.to_string(), ..outcome }
            }
            Call::Reads(ReadExtent::UpTo(size)) => self.reads_up_to(who, *size)?,
            Call::Drains => self.drains(who)?,
            Call::Grows(bytes) => self.grows(who, *bytes)?,
            Call::ReceivesUrgent => {
                let received = recv(self.fd(who)?.as_raw_fd(), &mut [0], MsgFlags::MSG_OOB);
                CallResult::counts(&[received], received == Ok(1))
            }
            Call::Shuts(direction) => {
                let how = match direction {
                    Direction::Read => Shutdown::Read,
                    Direction::Write => Shutdown::Write,
                    Direction::Both => Shutdown::Both,
                };
                CallResult::of(shutdown(self.fd(who)?.as_raw_fd(), how))
            }
            Call::Resets => {
                let linger = libc::linger { l_onoff: 1, l_linger: 0 };
                let set = setsockopt(self.fd(who)?, sockopt::Linger, &linger);
                set.map_err(|errno| call_failed("SO_LINGER", errno))?;
                self.closes(who)?
            }
            Call::Closes => self.closes(who)?,
            Call::MovesTo(number) => self.moves_to(who, *number)?,
            Call::TakesNumberOf(whose) => self.takes_number_of(who, whose)?,
            Call::Sets(option) => self.sets(who, *option)?,
            Call::AsksError(times) => {
                let fd = self.fd(who)?;
                let ask = || getsockopt(fd, sockopt::SocketError);
                let answers: Vec<_> = (0..*times).map(|_| ask()).collect();
                let each = answers.iter().map(|answer| match answer {
                    Ok(0) => "0".to_owned(),
                    Ok(errno) => format!("{:?}", Errno::from_raw(*errno)),
                    Err(errno) => format!("getsockopt {errno:?}"),
                });
                CallResult { answer: each.collect::<Vec<_>>().join(" then "), done: true }
            }
        };
        self.arrive(who, call, outcome.done)?;
        Ok(outcome)
    }

    /// Waits until the other end has what the call must bring it.
    fn arrive(&mut self, who: &str, call: &Call, done: bool) -> Result<(), Stopped> {
        self.settle.round_trip()?;
        if self.has_waiting_threads() {
            // The system may keep a closed file for a thread that waits for it: then there is no end to wait for.
            return Ok(());
        }
        let Setting { transport, patience, .. } = self.setting;
        let Some(actor) = self.actors.get(who) else { return Ok(()) };
        let partner_fd = self.partner(who);
        let partner_is_gone = actor.partner.is_some() && partner_fd.is_none();
        // A file ends with the last of its descriptors.
        let ends = self.open_end(who).is_none();
        match (transport, call) {
            (Transport::Tcp, Call::Shuts(Direction::Write | Direction::Both)) if done => partner_fd
                .map_or(Ok(()), |fd| {
                    settle::wait_for(fd, HALF_CLOSED, "the end of the connection", patience)
                }),
            (Transport::Tcp, Call::Closes) if ends => partner_fd.map_or(Ok(()), |fd| {
                settle::wait_for(fd, HALF_CLOSED, "the end of the connection", patience)
            }),
            (Transport::Tcp, Call::Resets) if ends => {
                partner_fd.map_or(Ok(()), |fd| settle::wait_for(fd, RESET, "the reset", patience))
            }
            (Transport::Tcp, Call::Connects(None)) => {
                settle::wait_for(self.fd(who)?, RESET, "the refusal", patience)
            }
            (Transport::Tcp, Call::Connects(Some(listener))) if done && !self.is_full(listener) => {
                settle::wait_for(self.fd(who)?, WRITABLE | RESET, "the end of the handshake", patience)
            }
            (Transport::Tcp, Call::SendsUrgent) if done => {
                partner_fd.map_or(Ok(()), |fd| settle::wait_for(fd, URGENT, "the urgent byte", patience))
            }
            // What is sent to an end that is closed is answered with a reset.
            (Transport::Tcp, Call::Sends(_)) if done && partner_is_gone => {
                settle::wait_for(self.fd(who)?, RESET, "the reset", patience)
            }
            (Transport::Udp, Call::Sends(_)) if done && actor.no_listener => {
                settle::wait_for(self.fd(who)?, READABLE | FAILED, "the refusal", patience)
            }
            (Transport::Udp, Call::Sends(_) | Call::SendsNothing) if done => {
                partner_fd.map_or(Ok(()), |fd| settle::wait_for(fd, READABLE, "the datagram", patience))
            }
            _ => Ok(()),
        }
    }

    fn binds(&mut self, who: &str) -> Result<CallResult, Stopped> {
        let fd = descriptors::copy(self.fd(who)?, 0)?;
        let address = descriptors::bind_somewhere(&fd, self.setting.transport, &mut self.scratch)?;
        self.actor(who)?.address = Some(address);
        Ok(CallResult::of(Ok(())))
    }

    /// Makes a socket if there is none of this name.
    fn socket(&mut self, who: &str) -> Result<(), Stopped> {
        if !self.actors.contains_key(who) {
            let fd = descriptors::fresh(self.setting.transport)?;
            self.add_actor(who, fd)?;
        }
        Ok(())
    }

    fn listens(
        &mut self,
        who: &str,
        backlog: Option<usize>,
        beside: Option<&Name>,
    ) -> Result<CallResult, Stopped> {
        self.socket(who)?;
        if let Some(other) = beside {
            let address = self.address(Some(other))?;
            let fd = self.fd(who)?;
            let bound = descriptors::share_port(fd).and_then(|()| descriptors::bind_to(fd, &address));
            bound.map_err(|errno| setup_error(format!("an address that '{other}' has: {errno:?}")))?;
            self.actor(who)?.address = Some(address);
        }
        if self.actor(who)?.address.is_none() {
            self.binds(who)?;
        }
        let length = backlog.unwrap_or(16);
        self.actor(who)?.backlog = length;
        let backlog = i32::try_from(length).ok().and_then(|length| Backlog::new(length).ok());
        let backlog = backlog.ok_or_else(|| setup_error("a backlog that this system does not have"))?;
        Ok(CallResult::of(listen(self.fd(who)?, backlog)))
    }

    fn address(&mut self, of: Option<&Name>) -> Result<Address, Stopped> {
        match of {
            Some(name) => {
                let address = self.actor(name)?.address.clone();
                address.ok_or_else(|| {
                    setup_error(format!("'{name}' has no address: it neither binds nor listens"))
                })
            }
            None => descriptors::nowhere(self.setting.transport, &mut self.scratch),
        }
    }

    fn connects(&mut self, who: &str, to: Option<&Name>) -> Result<CallResult, Stopped> {
        self.socket(who)?;
        let address = self.address(to)?;
        let connected = descriptors::connect_to(self.fd(who)?, &address);
        let actor = self.actor(who)?;
        actor.no_listener = to.is_none();
        actor.partner = to.cloned();
        // Under way is what a non-blocking connect is after.
        let done = matches!(connected, Ok(()) | Err(Errno::EINPROGRESS));
        Ok(CallResult { done, ..CallResult::of(connected) })
    }

    fn reaches(&mut self, who: &str, listener: &Name) -> Result<CallResult, Stopped> {
        let outcome = self.connects(who, Some(listener))?;
        self.actor(who)?.partner = None;
        if outcome.answer != "EINPROGRESS" {
            self.wait_in_queue(who, listener, outcome.done)?;
            return Ok(outcome);
        }
        settle::wait_for(self.fd(who)?, WRITABLE, "the end of the handshake", self.setting.patience)?;
        let error = getsockopt(self.fd(who)?, sockopt::SocketError);
        let error = error.map_err(|errno| call_failed("SO_ERROR", errno))?;
        let reached = if error == 0 { Ok(()) } else { Err(Errno::from_raw(error)) };
        self.wait_in_queue(who, listener, reached.is_ok())?;
        Ok(CallResult::of(reached))
    }

    /// Whether a listener has as many connections to be accepted as it has room for: one more may stay under way.
    fn is_full(&self, listener: &str) -> bool {
        self.actors.get(listener).is_some_and(|actor| actor.queue.len() > actor.backlog)
    }

    fn wait_in_queue(&mut self, client: &str, listener: &str, reached: bool) -> Result<(), Stopped> {
        if reached {
            self.actor(listener)?.queue.push(client.to_owned());
        }
        Ok(())
    }

    fn accepts(&mut self, who: &str, name: &Name) -> Result<CallResult, Stopped> {
        match descriptors::accept_one(self.fd(who)?)? {
            Ok(fd) => {
                let queue = &mut self.actor(who)?.queue;
                let client = if queue.is_empty() { None } else { Some(queue.remove(0)) };
                if let Some(client) = &client {
                    self.actor(client)?.partner = Some(name.clone());
                }
                self.add_actor(name, fd)?.partner = client;
                Ok(CallResult { answer: "ok".into(), done: true })
            }
            Err(errno) => Ok(CallResult::of(Err(errno))),
        }
    }

    fn opens(&mut self, who: &str, direction: Direction) -> Result<CallResult, Stopped> {
        if self.setting.transport != Transport::Fifo {
            return Err(Stopped::Unsupported(format!(
                "{} is no FIFO to open",
                self.setting.transport.name()
            )));
        }
        let flags = match direction {
            Direction::Read => OFlag::O_RDONLY,
            Direction::Write => OFlag::O_WRONLY,
            Direction::Both => OFlag::O_RDWR,
        };
        match descriptors::open_fifo(&self.scratch.fifo()?, flags)? {
            Ok(fd) => {
                self.add_actor(who, fd)?;
                Ok(CallResult { answer: "ok".into(), done: true })
            }
            Err(errno) => Ok(CallResult::of(Err(errno))),
        }
    }

    /// Whether what is sent is put into the other end's queue by somebody else than the call.
    fn is_delivered_later(&self) -> bool {
        matches!(self.setting.transport, Transport::Tcp | Transport::Pty)
    }

    /// The other end, through any descriptor that it is open by.
    fn partner(&self, who: &str) -> Option<&OwnedFd> {
        self.open_end(self.actors.get(who)?.partner.as_ref()?)
    }

    /// An open descriptor of the file that `who` is, or was.
    fn open_end(&self, who: &str) -> Option<&OwnedFd> {
        let file = self.actors.get(who)?.file;
        let mut same = self.actors.values().filter(|actor| actor.file == file);
        same.find_map(|actor| actor.fd.as_ref())
    }

    fn sends(&mut self, who: &str, bytes: usize) -> Result<CallResult, Stopped> {
        let unread = self.partner(who).map(settle::unread);
        let written = write(self.fd(who)?, &vec![b'.'; bytes]);
        let done = written == Ok(bytes);
        if let Ok(count) = written {
            self.actor(who)?.sent += count;
        }
        // FIONREAD counts up to an urgent byte, and no further.
        let counted = self.is_delivered_later() && !self.actor(who)?.sent_urgent;
        let partner = self.partner(who).filter(|fd| counted && done && self.takes_data(fd));
        if let (Some(partner), Some(before)) = (partner, unread) {
            settle::wait_for_bytes(partner, before + bytes, self.setting.patience)?;
        }
        Ok(CallResult::counts(&[written], done))
    }

    /// Whether an end still takes what is sent to it: what is sent after `SHUT_RD` is thrown away on some systems.
    fn takes_data(&self, fd: &OwnedFd) -> bool {
        let mut byte = [0];
        let peeked = recv(fd.as_raw_fd(), &mut byte, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT);
        peeked != Ok(0)
    }

    fn sends_message(&mut self, who: &str, bytes: &[u8], flags: MsgFlags) -> Result<CallResult, Stopped> {
        let sent = send(self.fd(who)?.as_raw_fd(), bytes, flags);
        self.actor(who)?.sent_urgent |= flags.contains(MsgFlags::MSG_OOB);
        Ok(CallResult::counts(&[sent], sent == Ok(bytes.len())))
    }

    fn fills(&mut self, who: &str, block: Option<usize>) -> Result<CallResult, Stopped> {
        if let Some(partner) = self.actor(who)?.partner.clone() {
            let partner = self.actor(&partner)?;
            partner.received_before = partner.received;
        }
        let (mut total, mut writes, mut full) = (0, 0, 0);
        let mut size = block.unwrap_or(BUFFER);
        let errno = loop {
            match write(self.fd(who)?, &vec![b'.'; size]) {
                Ok(count) => {
                    total += count;
                    full = 0;
                }
                Err(Errno::EINTR) => {}
                Err(errno) if block.is_some() || errno != Errno::EAGAIN => break errno,
                Err(_) if size > 1 => size /= 2,
                // What is acknowledged meanwhile makes room again.
                Err(errno) if full == 2 => break errno,
                Err(_) => {
                    full += 1;
                    self.settle.round_trip()?;
                    size = BUFFER;
                }
            }
            writes += 1;
            if writes > MOST_WRITES {
                return Err(setup_error(format!("'{who}' is not full after {writes} writes")));
            }
        };
        self.actor(who)?.sent += total;
        let done = matches!(errno, Errno::EAGAIN | Errno::ENOBUFS);
        let answer = match block {
            Some(block) => format!("after {} x {block} B: {errno:?}", total / block.max(1)),
            None => format!("{total} B: {errno:?}"),
        };
        Ok(CallResult { answer, done })
    }

    fn reads(&mut self, who: &str, times: usize, room: usize) -> Result<CallResult, Stopped> {
        let mut buffer = vec![0; room];
        let fd = self.fd(who)?;
        let results: Vec<_> = (0..times).map(|_| read(fd, &mut buffer)).collect();
        self.actor(who)?.received += results.iter().flatten().sum::<usize>();
        let done = results.iter().all(Result::is_ok);
        Ok(CallResult::counts(&results, done))
    }

    fn reads_up_to(&mut self, who: &str, size: Size) -> Result<CallResult, Stopped> {
        let wanted = match size {
            Size::Bytes(bytes) => bytes,
            Size::PipeBuf(more) => pipe_buf()? + more,
        };
        let begun = Instant::now();
        let mut last = Ok(0);
        loop {
            let actor = self.actor(who)?;
            let read_so_far = actor.received - actor.received_before;
            if read_so_far >= wanted {
                return Ok(CallResult::counts(&[last], true));
            }
            let mut buffer = vec![0; (wanted - read_so_far).min(BUFFER)];
            last = read(self.fd(who)?, &mut buffer);
            match last {
                Ok(count) if count > 0 => self.actor(who)?.received += count,
                Err(Errno::EAGAIN)
                    if self.is_delivered_later() && begun.elapsed() < self.setting.patience =>
                {
                    self.settle.round_trip()?;
                }
                _ => return Ok(CallResult::counts(&[last], false)),
            }
        }
    }

    /// Reads until there is nothing, and, if what was sent comes later, until all of it has come.
    fn drains(&mut self, who: &str) -> Result<CallResult, Stopped> {
        let begun = Instant::now();
        let mut buffer = vec![0; BUFFER];
        loop {
            let last = read(self.fd(who)?, &mut buffer);
            match last {
                Ok(count) if count > 0 => self.actor(who)?.received += count,
                Err(Errno::EINTR) => {}
                _ => {
                    let actor = self.actor(who)?;
                    let (received, partner) = (actor.received, actor.partner.clone());
                    let sent = match partner {
                        Some(partner) => self.actor(&partner)?.sent,
                        None => 0,
                    };
                    let more = self.is_delivered_later() && received < sent && last == Err(Errno::EAGAIN);
                    if !more || begun.elapsed() > self.setting.patience {
                        let done = !more && matches!(last, Ok(0) | Err(Errno::EAGAIN));
                        return Ok(CallResult::counts(&[last], done));
                    }
                    self.settle.round_trip()?;
                }
            }
        }
    }

    /// Another description of the same file writes at its end.
    fn grows(&mut self, who: &str, bytes: usize) -> Result<CallResult, Stopped> {
        let path = self
            .actor(who)?
            .path
            .clone()
            .ok_or_else(|| setup_error(format!("'{who}' is no regular file")))?;
        let failed = |error: std::io::Error| call_failed(path.display(), error);
        let mut file = File::options().append(true).open(&path).map_err(failed)?;
        file.write_all(&vec![b'.'; bytes]).map_err(failed)?;
        Ok(CallResult::of(Ok(())))
    }

    fn closes(&mut self, who: &str) -> Result<CallResult, Stopped> {
        let actor = self.actor(who)?;
        let number = actor.number;
        // `OwnedFd` closes it; what close(2) answers is no question that a line can ask.
        drop(actor.fd.take().ok_or_else(|| setup_error(format!("'{who}' is closed already")))?);
        self.tell_closed(number)?;
        Ok(CallResult::of(Ok(())))
    }

    /// Tells the pollers that have a copy.
    fn tell_closed(&self, number: RawFd) -> Result<(), Stopped> {
        let tell = |poller: &Arc<FencedPoller>| poller.selector.closed(number);
        self.pollers.values().try_for_each(tell).map_err(|why| Stopped::Unsupported(why.to_string()))
    }

    fn takes_number_of(&mut self, who: &str, whose: &Name) -> Result<CallResult, Stopped> {
        let number = self.number(whose)?;
        if self.actor(whose)?.fd.is_some() {
            return Err(setup_error(format!("'{whose}' is open: its number is not free")));
        }
        self.moves_to(who, number as usize)
    }

    fn moves_to(&mut self, who: &str, number: usize) -> Result<CallResult, Stopped> {
        let own_numbers = self.poller(FIRST)?.selector.capabilities().own_numbers;
        own_numbers.map_err(|why| Stopped::Unsupported(why.into()))?;
        let number = i32::try_from(number).map_err(|_| setup_error("a number that no descriptor has"))?;
        let moved = descriptors::copy(self.fd(who)?, number)?;
        if moved.as_raw_fd() != number {
            return Err(setup_error(format!("the number {number} is not free")));
        }
        let actor = self.actor(who)?;
        let old = std::mem::replace(&mut actor.number, number);
        actor.fd = Some(moved);
        self.tell_closed(old)?;
        Ok(CallResult::of(Ok(())))
    }

    fn sets(&mut self, who: &str, option: SocketOption) -> Result<CallResult, Stopped> {
        let fd = self.fd(who)?;
        let (name, value) = match option {
            SocketOption::OobInline => return Ok(CallResult::of(setsockopt(fd, sockopt::OobInline, &true))),
            SocketOption::ReusePort => return Ok(CallResult::of(descriptors::share_port(fd))),
            SocketOption::RcvLowat(bytes) => (libc::SO_RCVLOWAT, bytes),
            SocketOption::SndLowat(bytes) => (libc::SO_SNDLOWAT, bytes),
        };
        let value =
            libc::c_int::try_from(value).map_err(|_| setup_error("a low-water mark that is no int"))?;
        // SAFETY: both options are an int; the pointer and the length are those of one that lives.
        let answer = unsafe {
            let length = size_of::<libc::c_int>() as libc::socklen_t;
            libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, (&raw const value).cast(), length)
        };
        Ok(CallResult::of(Errno::result(answer).map(drop)))
    }
}

/// `PIPE_BUF`, as this system has it.
fn pipe_buf() -> Result<usize, Stopped> {
    let asked = pathconf("/", PathconfVar::PIPE_BUF);
    let size = asked.map_err(|errno| call_failed("pathconf(_PC_PIPE_BUF)", errno))?;
    size.and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| setup_error("this system does not say its PIPE_BUF"))
}
