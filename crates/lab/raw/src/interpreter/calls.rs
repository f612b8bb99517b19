//! The calls that a script makes on its descriptors.

use std::fs::{File, rename};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libc::c_short;
use metadata::{Answer, Outcome, Transport};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::socket::{
    Backlog, MsgFlags, Shutdown, getsockopt, listen, recv, send, setsockopt, shutdown, sockopt,
};
use nix::unistd::{PathconfVar, dup2, fpathconf, read, truncate, unlink, write};
use selector::{Act, Shut, TimerSetting};

use super::children::{Process, Which};
use super::descriptors::{self, Address};
use super::fenced_poller::FencedPoller;
use super::namespaces;
use super::settle::{self, FAILED, READABLE, RESET, WRITABLE};
use super::{Actor, Interpreter, broken, call_failed, errno_of, failed};
use crate::verbs::{Call, Direction, FIRST, Name, Private, ReadExtent, Size, SocketOption};
use crate::{Setting, Stopped};

/// The time of a timer that must not expire.
const LONG: Duration = Duration::from_secs(3600);

/// The period of a timer that ticks.
const PERIOD: Duration = Duration::from_millis(10);

/// The period of a timer that is a filter and ticks.
const FILTER_PERIOD: Duration = Duration::from_millis(100);

/// The shortest period of a timer that is overdue. It does not expire while a script asks.
const SHORTEST: Duration = Duration::from_secs(2);

/// The maximum number of expirations that a script can ask to be pending.
const MOST_EXPIRATIONS: u32 = 1000;

/// How long a timer that is due may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Room for everything that a script sends, except with `fills`.
const BUFFER: usize = 1 << 16;

/// The maximum number of writes of `fills`. If more succeed, something empties the buffer.
const MOST_WRITES: usize = 1 << 20;

/// How many bytes the reader's side of a terminal holds on Linux: `N_TTY_BUF_SIZE` but one.
const TERMINAL_READER: usize = 4095;

/// How long a terminal's reader may take. A system whose readers hold less pays all of it.
const TERMINAL_PATIENCE: Duration = Duration::from_millis(100);

/// The result of a call.
pub(super) struct CallResult {
    pub(super) answer: Answer,
    /// Whether the call had its full effect, which a clause without a question mark requires.
    pub(super) done: bool,
}

impl CallResult {
    /// The result of a call that returns no count.
    fn of(result: Result<(), Errno>) -> Self {
        let done = result.is_ok();
        Self { answer: result.map_or_else(failed, |()| Outcome::Done).into(), done }
    }

    /// The result of calls that return counts.
    fn counts(results: &[Result<usize, Errno>], done: bool) -> Self {
        let each = results.iter().map(|result| match result {
            Ok(0) => Outcome::Done,
            Ok(count) => Outcome::Other(count.to_string()),
            Err(errno) => failed(*errno),
        });
        Self { answer: Answer::of_outcomes(each.collect()), done }
    }

    /// The result of a call that makes a descriptor.
    fn made() -> Self {
        Self { answer: Outcome::Other("ok".into()).into(), done: true }
    }
}

/// Returns whether this call brings about what such a descriptor reports.
fn is_about(call: &Call, kind: Private) -> bool {
    match call {
        Call::GetsPacket => matches!(kind, Private::Packet | Private::OtherPacket | Private::Raw),
        Call::GetsMessage => kind == Private::MessageQueue,
        _ => matches!(kind, Private::Netlink | Private::Mounts | Private::Hostname | Private::DomainName),
    }
}

/// Waits until a timer that is due has expired. poll(2) takes nothing from a timer, and the kernel tells all
/// pollers of the expiry in one step.
fn await_expiry(timer: &OwnedFd) -> Result<(), Stopped> {
    settle::wait_for(timer, READABLE, "the expiry of a timer that is due", PATIENCE)
}

impl Interpreter {
    /// Makes a call, and waits until its effect has arrived at the other end.
    pub(super) fn call(&mut self, actor: &str, call: &Call) -> Result<CallResult, Stopped> {
        let outcome = match call {
            Call::Binds => self.binds(actor)?,
            Call::Listens { backlog, beside } => self.listens(actor, *backlog, beside.as_ref())?,
            Call::Connects(to) => self.connects(actor, to.as_ref())?,
            Call::Reaches(listener) => self.reaches(actor, listener)?,
            Call::Accepts(name) => self.accepts(actor, name)?,
            Call::Opens(direction) => self.opens(actor, *direction)?,
            Call::Sends(bytes) => self.sends(actor, *bytes)?,
            Call::SendsToNobody(bytes) => self.sends_to_nobody(actor, *bytes)?,
            Call::ReceivesError => CallResult::of(descriptors::receive_error(self.fd(actor)?)),
            Call::SendsNothing if self.held(actor).is_some() => {
                let sent = self.write(actor, 0)?;
                CallResult::counts(&[sent], sent == Ok(0))
            }
            Call::SendsNothing => self.sends_message(actor, &[], MsgFlags::empty())?,
            Call::SendsUrgent => self.sends_message(actor, b"!", MsgFlags::MSG_OOB)?,
            Call::Fills(block) => self.fills(actor, *block)?,
            Call::Reads(ReadExtent::Calls(count)) => self.reads(actor, *count, BUFFER)?,
            Call::Reads(ReadExtent::Bytes(bytes)) => {
                let outcome = self.reads(actor, 1, *bytes)?;
                CallResult { done: outcome.answer.to_string() == bytes.to_string(), ..outcome }
            }
            Call::Reads(ReadExtent::Count) => self.reads_count(actor)?,
            Call::Reads(ReadExtent::UpTo(size)) => self.reads_up_to(actor, *size)?,
            Call::Drains => self.drains(actor)?,
            Call::Peeks(room) => {
                let mut buffer = vec![0; room.unwrap_or(BUFFER)];
                let peeked = recv(self.fd(actor)?.as_raw_fd(), &mut buffer, MsgFlags::MSG_PEEK);
                CallResult::counts(&[peeked], peeked.is_ok())
            }
            Call::Counts(value) => {
                let written = write(self.fd(actor)?, &value.to_ne_bytes());
                CallResult::of(written.map(drop))
            }
            Call::Grows(bytes) => self.grows(actor, *bytes)?,
            Call::Shrinks(bytes) => {
                let path = self.path(actor)?;
                CallResult::of(truncate(path, *bytes as libc::off_t))
            }
            Call::IsRemoved => {
                // Another descriptor of a watched file would put its end off.
                let path = self.path(actor)?;
                let keeps = descriptors::is_regular_file(self.fd(actor)?) && !self.is_filter(actor);
                let other = keeps.then(|| File::options().append(true).open(path).ok()).flatten();
                let removed = unlink(path);
                if removed.is_ok() {
                    self.actor(actor)?.other_file = other;
                }
                CallResult::of(removed)
            }
            Call::IsRenamed => {
                let new = self.scratch.path()?;
                let renamed = rename(self.path(actor)?, &new);
                if renamed.is_ok() {
                    self.actor(actor)?.path = Some(new);
                }
                CallResult::of(renamed.map_err(errno_of))
            }
            Call::GetsFile => self.gets_file(actor)?,
            Call::GetsPacket | Call::GetsMessage | Call::Changes => {
                let kind = self.actor(actor)?.private;
                let Some(kind) = kind.filter(|kind| is_about(call, *kind)) else {
                    return Err(broken(format!("'{actor}' is nothing that {call}")));
                };
                self.changes(kind, self.fd(actor)?)?;
                CallResult::of(Ok(()))
            }
            Call::AsksForAddresses => CallResult::of(namespaces::ask_for_addresses(self.fd(actor)?)),
            Call::LosesFile => self.loses_file(actor)?,
            Call::ReceivesUrgent => {
                let received = recv(self.fd(actor)?.as_raw_fd(), &mut [0], MsgFlags::MSG_OOB);
                CallResult::counts(&[received], received == Ok(1))
            }
            Call::Shuts(direction) => {
                self.actor(actor)?.is_shut = true;
                let (how, act) = match direction {
                    Direction::Read => (Shutdown::Read, Shut::Read),
                    Direction::Write => (Shutdown::Write, Shut::Write),
                    Direction::Both => (Shutdown::Both, Shut::Both),
                };
                CallResult::of(match self.act(actor, &Act::Shut(act)) {
                    Some(acted) => acted?.map(drop),
                    None => shutdown(self.fd(actor)?.as_raw_fd(), how),
                })
            }
            Call::Resets => {
                let linger = libc::linger { l_onoff: 1, l_linger: 0 };
                let set = setsockopt(self.fd(actor)?, sockopt::Linger, &linger);
                set.map_err(|errno| call_failed("SO_LINGER", errno))?;
                self.closes(actor)?
            }
            Call::Closes => self.closes(actor)?,
            Call::MovesTo(number) => self.moves_to(actor, *number)?,
            Call::IsSent => CallResult::of(self.sends_to_child(actor)?),
            Call::Replaces(other) => self.replaces(actor, other)?,
            Call::TakesNumberOf(closed) => self.takes_number_of(actor, closed)?,
            Call::Sets(option) => self.sets(actor, *option)?,
            Call::Starts | Call::Stops if self.is_terminal(actor) => {
                CallResult::of(descriptors::set_output(self.fd(actor)?, *call == Call::Starts))
            }
            Call::Starts => self.sets_timer(actor, TimerSetting::Long)?,
            Call::Stops => self.sets_timer(actor, TimerSetting::Unset)?,
            Call::Expires => self.sets_timer(actor, TimerSetting::Expired)?,
            Call::Ticks => self.ticks(actor)?,
            Call::IsOverdue(count) => self.is_overdue(actor, *count)?,
            Call::Exits => {
                let (process, thread) = self.process_of(actor)?;
                CallResult::of(match thread {
                    None => process.exits(),
                    Some(which) => process.thread_exits(which)?,
                })
            }
            Call::Executes => {
                let (process, thread) = self.process_of(actor)?;
                process.executes(thread.unwrap_or(Which::First))?;
                CallResult::of(Ok(()))
            }
            Call::IsReaped => CallResult::of(self.process_of(actor)?.0.is_reaped()),
            Call::IsTriggered(poller) => CallResult::of(self.triggers(actor, poller.as_deref())?),
            Call::SetsMode(mode) => CallResult::of(descriptors::set_mode(self.fd(actor)?, *mode)),
            Call::Flushes(direction) => CallResult::of(descriptors::flush(self.fd(actor)?, *direction)),
            Call::IsRaised(thread) => CallResult::of(self.raises(actor, thread.as_deref())?),
            Call::AsksError(times) => {
                let fd = self.fd(actor)?;
                let ask = || getsockopt(fd, sockopt::SocketError);
                let answers: Vec<_> = (0..*times).map(|_| ask()).collect();
                let each = answers.iter().map(|answer| match answer {
                    Ok(0) => Outcome::Done,
                    Ok(errno) => failed(Errno::from_raw(*errno)),
                    Err(errno) => Outcome::Other(format!("getsockopt {errno:?}")),
                });
                CallResult { answer: Answer::of_outcomes(each.collect()), done: true }
            }
        };
        self.arrive(actor, call, outcome.done)?;
        Ok(outcome)
    }

    /// Waits until the effect of a call has arrived at the other end.
    fn arrive(&mut self, name: &str, call: &Call, done: bool) -> Result<(), Stopped> {
        self.settle.round_trip()?;
        let Setting { transport, patience, .. } = self.setting;
        let Some(actor) = self.actors.get(name) else { return Ok(()) };
        let partner_fd = self.partner(name);
        let is_partner_held = actor.partner.as_ref().is_some_and(|partner| self.held(partner).is_some());
        if is_partner_held && transport == Transport::Tcp && done {
            // This process cannot look at the other end. What it has received, it acknowledges.
            if let (Call::Sends(_) | Call::SendsUrgent | Call::Shuts(_), Some(fd)) = (call, &actor.fd) {
                return settle::wait_for_acknowledgement(fd, patience);
            }
        }
        // Of a descriptor in the poller's program, only the other end is visible.
        let own_fd = actor.fd.as_ref();
        let wait_for_own =
            |events, effect| own_fd.map_or(Ok(()), |fd| settle::wait_for(fd, events, effect, patience));
        let partner_is_gone = actor.partner.is_some() && partner_fd.is_none() && !is_partner_held;
        if self.has_waiting_threads() && (partner_is_gone || matches!(call, Call::Closes | Call::Resets)) {
            // The system may keep a closed file open for a waiting thread: then the other end sees no close.
            return Ok(());
        }
        // An open file is closed with the last of its descriptors.
        let ends = !self.is_open_end(name);
        match (transport, call) {
            (Transport::Tcp, Call::Shuts(Direction::Write | Direction::Both)) if done => self.sends_end(name),
            (Transport::Tcp, Call::Reads(_) | Call::Drains) => self.receives_end(name),
            (Transport::Tcp, Call::Closes) if ends => {
                let arrived = self.sends_end(name);
                self.after_close(arrived)
            }
            (Transport::Tcp, Call::Resets) if ends => partner_fd
                .map_or(Ok(()), |fd| self.after_close(settle::wait_for(fd, RESET, "the reset", patience))),
            (Transport::Tcp, Call::Connects(None)) => wait_for_own(RESET, "the refusal"),
            (Transport::Tcp, Call::Connects(Some(listener))) if done && !self.is_full(listener) => {
                let listener_fd = self.actors.get(listener).and_then(|listener| listener.fd.as_ref());
                match (own_fd, listener_fd) {
                    (Some(fd), _) => self.ends_handshake(fd, listener).map(drop),
                    // A client in the poller's program has ended its part when the listener has the
                    // connection.
                    (None, Some(fd)) if self.accepts_connections(listener) => {
                        settle::wait_for(fd, READABLE, "a connection", patience)
                    }
                    (None, _) => Ok(()),
                }
            }
            (Transport::Tcp, Call::SendsUrgent) if done => {
                partner_fd.map_or(Ok(()), |fd| settle::wait_for_urgent_byte(fd, patience))
            }
            // A closed end answers data with a reset.
            (Transport::Tcp, Call::Sends(_)) if done && partner_is_gone => {
                self.after_close(settle::wait_for(self.fd(name)?, RESET, "the reset", patience))
            }
            (Transport::Udp, Call::Sends(_) | Call::SendsToNobody(_)) if done && actor.has_error_queue => {
                wait_for_own(FAILED, "the error")
            }
            (_, Call::Sends(_)) if done && actor.private == Some(Private::Raw) => {
                wait_for_own(READABLE, "the packet")
            }
            (Transport::Udp, Call::Sends(_)) if done && actor.no_listener => {
                wait_for_own(READABLE | FAILED, "the refusal")
            }
            (Transport::Udp, Call::Sends(_) | Call::SendsNothing) if done => {
                partner_fd.map_or(Ok(()), |fd| settle::wait_for(fd, READABLE, "the datagram", patience))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the end of a connection that `name` has closed or shut down has arrived, or is held back.
    fn sends_end(&mut self, name: &str) -> Result<(), Stopped> {
        let Some(fd) = self.partner(name).filter(|_| !self.connects_to_listener(name)) else { return Ok(()) };
        let arrived = settle::wait_for_end(fd, &|| self.on_the_way(name), self.setting.patience)?;
        self.actor(name)?.end_held_back = !arrived;
        Ok(())
    }

    /// Returns the process of this descriptor, and the thread if it is one's.
    fn process_of(&mut self, name: &str) -> Result<(&mut Process, Option<Which>), Stopped> {
        let (owner, thread) = match &self.actor(name)?.thread {
            Some((owner, which)) => (owner.clone(), Some(*which)),
            None => (name.to_owned(), None),
        };
        let process = self.actor(&owner)?.process.as_mut();
        let process = process.ok_or_else(|| broken(format!("'{name}' is neither a process nor a thread")))?;
        Ok((process, thread))
    }

    /// Returns whether it is an end of the script's pseudo-terminal.
    fn is_terminal(&self, name: &str) -> bool {
        let is_end = self.actors.get(name).is_some_and(|actor| actor.partner.is_some());
        self.setting.transport == Transport::Pty && is_end
    }

    fn sets_timer(&mut self, name: &str, setting: TimerSetting) -> Result<CallResult, Stopped> {
        if let Some(result) = self.set_source_timer(name, setting)? {
            return Ok(CallResult::of(result));
        }
        self.actor(name)?.ticks = false;
        let timer = self.fd(name)?;
        let after = match setting {
            TimerSetting::Long => LONG,
            TimerSetting::Unset => Duration::ZERO,
            TimerSetting::Expired => Duration::from_nanos(1),
            TimerSetting::Repeating(_) => return Err(broken("a descriptor repeats by `ticks`")),
        };
        let set = descriptors::set_timer(timer, after);
        if set.is_ok() && setting == TimerSetting::Expired {
            await_expiry(timer)?;
        }
        Ok(CallResult::of(set))
    }

    /// Sets a timer that is a filter to expire again and again, unless it does, and returns when it has
    /// expired at least `count` times since. Only an event shows that it has, so this waits as long as that
    /// takes. Returns `None` if it is a descriptor.
    fn filter_ticks(&mut self, name: &str, count: u32) -> Result<Option<CallResult>, Stopped> {
        let repeating = TimerSetting::Repeating(FILTER_PERIOD);
        let set = match self.is_repeating(name) {
            true => Some(Ok(())),
            false => self.set_source_timer(name, repeating)?,
        };
        if set.is_some() {
            std::thread::sleep(FILTER_PERIOD * count + FILTER_PERIOD / 2);
        }
        Ok(set.map(CallResult::of))
    }

    /// Sets a timer to expire in each period, unless it does, and waits until it has expired once more.
    fn ticks(&mut self, name: &str) -> Result<CallResult, Stopped> {
        if let Some(result) = self.filter_ticks(name, 1)? {
            return Ok(result);
        }
        let actor = self.actor(name)?;
        let (on_wall_clock, ticks) = (actor.on_wall_clock, std::mem::replace(&mut actor.ticks, true));
        let timer = self.fd(name)?;
        let now = || descriptors::now(on_wall_clock);
        if !ticks && let Err(errno) = descriptors::set_timer_at(timer, now() + PERIOD, PERIOD) {
            return Ok(CallResult::of(Err(errno)));
        }
        if ticks && settle::is_reported(timer, READABLE, 0) {
            // An expiry that follows an unread one does not show. The clock's timers expire in order.
            let later = descriptors::timer(on_wall_clock)?;
            let set = descriptors::set_timer_at(&later, now() + PERIOD * 2, Duration::ZERO);
            set.map_err(|errno| call_failed("timerfd_settime", errno))?;
            await_expiry(&later)?;
        }
        await_expiry(timer)?;
        Ok(CallResult::of(Ok(())))
    }

    /// Sets a timer to a time in the past, and to a period after which it expires for the next time: `count`
    /// expirations are pending, and no further one comes.
    fn is_overdue(&mut self, name: &str, count: usize) -> Result<CallResult, Stopped> {
        let count = u32::try_from(count).ok().filter(|count| (1..=MOST_EXPIRATIONS).contains(count));
        let count = count.ok_or_else(|| broken(format!("not 1 to {MOST_EXPIRATIONS} expirations")))?;
        if self.is_filter(name) {
            // Its expirations are counted from now on.
            self.sets_timer(name, TimerSetting::Unset)?;
            if let Some(result) = self.filter_ticks(name, count)? {
                return Ok(result);
            }
        }
        let actor = self.actor(name)?;
        actor.ticks = false;
        let now = descriptors::now(actor.on_wall_clock);
        // A clock has no time before its beginning.
        let period = LONG.min(now / (count + 1));
        if period < SHORTEST {
            return Err(Stopped::Unsupported("the clock began too short a time ago".into()));
        }
        let first = now - period * (count - 1) - period / 2;
        let timer = self.fd(name)?;
        if let Err(errno) = descriptors::set_timer_at(timer, first, period) {
            return Ok(CallResult::of(Err(errno)));
        }
        await_expiry(timer)?;
        Ok(CallResult::of(Ok(())))
    }

    /// Reads the value of an eventfd, or the number of expirations of a timer.
    fn reads_count(&self, name: &str) -> Result<CallResult, Stopped> {
        let mut value = [0; size_of::<u64>()];
        let read = read(self.fd(name)?, &mut value);
        let done = read == Ok(value.len());
        let answer = match read {
            Ok(_) if done => Outcome::Other(u64::from_ne_bytes(value).to_string()),
            Ok(bytes) => Outcome::Other(format!("{bytes} bytes")),
            Err(errno) => failed(errno),
        };
        Ok(CallResult { answer: answer.into(), done })
    }

    /// Sends to an address without a receiver. The socket stays unconnected.
    fn sends_to_nobody(&mut self, name: &str, bytes: usize) -> Result<CallResult, Stopped> {
        let to = descriptors::nowhere(self.setting.transport, &mut self.scratch)?;
        let sent = descriptors::send_to(self.fd(name)?, &vec![b'.'; bytes], &to);
        Ok(CallResult::counts(&[sent], sent == Ok(bytes)))
    }

    fn gets_file(&mut self, name: &str) -> Result<CallResult, Stopped> {
        let new = self.path(name)?.join(self.actors.get(name).map_or(0, |actor| actor.files).to_string());
        File::create_new(new).map_err(|error| call_failed("a file in a watched directory", error))?;
        self.actor(name)?.files += 1;
        Ok(CallResult::of(Ok(())))
    }

    fn loses_file(&mut self, name: &str) -> Result<CallResult, Stopped> {
        let last = self.actor(name)?.files.checked_sub(1);
        let last = last.ok_or_else(|| broken(format!("'{name}' has no file")))?;
        self.actor(name)?.files = last;
        Ok(CallResult::of(unlink(&self.path(name)?.join(last.to_string()))))
    }

    /// Returns whether the other end is a listener: then the connection has no end yet.
    fn connects_to_listener(&self, name: &str) -> bool {
        let partner = self.actors.get(name).and_then(|actor| self.actors.get(actor.partner.as_ref()?));
        partner.is_some_and(|partner| partner.backlog.is_some())
    }

    /// Waits for the end of a connection that data held back until `name` has read them.
    fn receives_end(&mut self, name: &str) -> Result<(), Stopped> {
        let Some(partner) = self.actor(name)?.partner.clone() else { return Ok(()) };
        if self.actors.get(&partner).is_some_and(|partner| partner.end_held_back) {
            return self.sends_end(&partner);
        }
        Ok(())
    }

    /// Returns how many of the bytes that were sent through the open file of `name` can neither be read at
    /// the other end nor were read there.
    fn on_the_way(&self, name: &str) -> usize {
        let Some(actor) = self.actors.get(name) else { return 0 };
        let partner = actor.partner.as_ref().and_then(|partner| self.actors.get(partner));
        let of_file = |file| self.actors.values().filter(move |actor| actor.file == file);
        let sent: usize = of_file(actor.file).map(|actor| actor.sent).sum();
        let received: usize =
            partner.map_or(0, |partner| of_file(partner.file).map(|actor| actor.received).sum());
        sent.saturating_sub(received + self.partner(name).map_or(0, settle::unread))
    }

    /// A registration in another process can keep a closed file open, as io_uring's does: then a close has no
    /// effect at the other end, and the script goes on.
    fn after_close(&self, arrived: Result<(), Stopped>) -> Result<(), Stopped> {
        if self.is_in_another_process() { Ok(()) } else { arrived }
    }

    fn binds(&mut self, name: &str) -> Result<CallResult, Stopped> {
        if self.held(name).is_some() {
            let to = descriptors::any_address(self.setting.transport, &mut self.scratch)?;
            return Ok(CallResult::of(self.bind_held(name, &Act::Bind(to))?));
        }
        let fd = descriptors::copy(self.fd(name)?, 0)?;
        let address = descriptors::bind_somewhere(&fd, self.setting.transport, &mut self.scratch)?;
        self.actor(name)?.address = Some(address);
        Ok(CallResult::of(Ok(())))
    }

    /// Makes a socket if no descriptor has this name.
    fn socket(&mut self, name: &str) -> Result<(), Stopped> {
        if !self.actors.contains_key(name) {
            if let Some(poller) = self.holder(name)? {
                let opened = self.add_held(name, &poller, &Act::Open(self.setting.transport))?;
                return opened.map(drop).map_err(|errno| call_failed("socket", errno));
            }
            let fd = descriptors::fresh(self.setting.transport)?;
            self.add_actor(name, fd)?;
        }
        Ok(())
    }

    fn listens(
        &mut self,
        name: &str,
        backlog: Option<usize>,
        beside: Option<&Name>,
    ) -> Result<CallResult, Stopped> {
        let length = backlog.unwrap_or(16);
        if !self.actors.contains_key(name)
            && beside.is_none()
            && let Some(poller) = self.holder(name)?
        {
            let listened = self.listen_held(name, &poller, length)?;
            self.actor(name)?.backlog = Some(length);
            return Ok(CallResult::of(listened));
        }
        self.socket(name)?;
        if let Some(other) = beside {
            let address = self.address(Some(other))?;
            let fd = self.fd(name)?;
            let bound = descriptors::share_port(fd).and_then(|()| descriptors::bind_to(fd, &address));
            bound.map_err(|errno| broken(format!("binding to the address of '{other}': {errno:?}")))?;
            self.actor(name)?.address = Some(address);
        }
        if self.actor(name)?.address.is_none() {
            self.binds(name)?;
        }
        self.actor(name)?.backlog = Some(length);
        let backlog = i32::try_from(length).ok().and_then(|length| Backlog::new(length).ok());
        let backlog = backlog.ok_or_else(|| broken("this system does not support this backlog"))?;
        Ok(CallResult::of(listen(self.fd(name)?, backlog)))
    }

    fn address(&mut self, of: Option<&Name>) -> Result<Address, Stopped> {
        match of {
            Some(name) => {
                let address = self.actor(name)?.address.clone();
                address
                    .ok_or_else(|| broken(format!("'{name}' has no address: it neither binds nor listens")))
            }
            None => descriptors::nowhere(self.setting.transport, &mut self.scratch),
        }
    }

    fn connects(&mut self, name: &str, to: Option<&Name>) -> Result<CallResult, Stopped> {
        self.socket(name)?;
        let address = self.address(to)?;
        let connected = match self.act(name, &Act::Connect(address.to_string())) {
            Some(acted) => acted?.map(drop),
            None => descriptors::connect_to(self.fd(name)?, &address),
        };
        let actor = self.actor(name)?;
        actor.no_listener = to.is_none();
        actor.partner = to.cloned();
        // EINPROGRESS is the normal answer of a non-blocking connect.
        let done = matches!(connected, Ok(()) | Err(Errno::EINPROGRESS));
        Ok(CallResult { done, ..CallResult::of(connected) })
    }

    fn reaches(&mut self, name: &str, listener: &Name) -> Result<CallResult, Stopped> {
        let outcome = self.connects(name, Some(listener))?;
        self.actor(name)?.partner = None;
        if outcome.answer != failed(Errno::EINPROGRESS).into() {
            self.wait_in_queue(name, listener, outcome.done)?;
            return Ok(outcome);
        }
        self.settle.round_trip()?;
        if !self.ends_handshake(self.fd(name)?, listener)? {
            return Ok(CallResult { done: false, ..outcome });
        }
        let error = getsockopt(self.fd(name)?, sockopt::SocketError);
        let error = error.map_err(|errno| call_failed("SO_ERROR", errno))?;
        let reached = if error == 0 { Ok(()) } else { Err(Errno::from_raw(error)) };
        self.wait_in_queue(name, listener, reached.is_ok())?;
        Ok(CallResult::of(reached))
    }

    /// Waits until a handshake has ended, after a round trip. Returns `false` if the listener's end drops it
    /// in silence. OpenBSD and NetBSD do so at a socket that does not listen or was shut down, where others
    /// refuse it.
    fn ends_handshake(&self, client: &OwnedFd, listener: &str) -> Result<bool, Stopped> {
        const ENDED: c_short = WRITABLE | RESET;
        let patience = self.setting.patience;
        if self.accepts_connections(listener) {
            return settle::wait_for(client, ENDED, "the end of the handshake", patience).map(|()| true);
        }
        Ok(settle::arrives(client, ENDED, patience))
    }

    /// Returns whether a connect to this name is accepted on every system.
    fn accepts_connections(&self, listener: &str) -> bool {
        self.actors.get(listener).is_some_and(|actor| actor.backlog.is_some() && !actor.is_shut)
    }

    /// Returns whether the accept queue of a listener is full. A further connect can stay pending.
    fn is_full(&self, listener: &str) -> bool {
        self.actors
            .get(listener)
            .is_some_and(|actor| actor.backlog.is_some_and(|room| actor.queue.len() > room))
    }

    fn wait_in_queue(&mut self, client: &str, listener: &str, reached: bool) -> Result<(), Stopped> {
        if reached {
            self.actor(listener)?.queue.push(client.to_owned());
        }
        Ok(())
    }

    fn accepts(&mut self, listener: &str, name: &Name) -> Result<CallResult, Stopped> {
        let accepted = match self.held(listener).map(|held| Arc::clone(&held.poller)) {
            Some(poller) => {
                let from = self.number(listener)?;
                self.add_held(name, &poller, &Act::Accept(from))?.map(|_| None)
            }
            None => descriptors::accept_one(self.fd(listener)?)?.map(Some),
        };
        match accepted {
            Ok(fd) => {
                let queue = &mut self.actor(listener)?.queue;
                let client = if queue.is_empty() { None } else { Some(queue.remove(0)) };
                if let Some(client) = &client {
                    self.actor(client)?.partner = Some(name.clone());
                }
                match fd {
                    Some(fd) => self.add_actor(name, fd)?.partner = client,
                    None => self.actor(name)?.partner = client,
                }
                Ok(CallResult::made())
            }
            Err(errno) => Ok(CallResult::of(Err(errno))),
        }
    }

    fn opens(&mut self, name: &str, direction: Direction) -> Result<CallResult, Stopped> {
        if self.setting.transport != Transport::Fifo {
            return Err(Stopped::Unsupported(format!("{} is not a FIFO", self.setting.transport.name())));
        }
        let flags = match direction {
            Direction::Read => OFlag::O_RDONLY,
            Direction::Write => OFlag::O_WRONLY,
            Direction::Both => OFlag::O_RDWR,
        };
        match descriptors::open_fifo(&self.scratch.fifo()?, flags)? {
            Ok(fd) => {
                self.add_actor(name, fd)?;
                Ok(CallResult::made())
            }
            Err(errno) => Ok(CallResult::of(Err(errno))),
        }
    }

    /// Returns whether data can arrive at the other end after the sending call has returned.
    fn is_delivered_later(&self) -> bool {
        matches!(self.setting.transport, Transport::Tcp | Transport::Pty)
    }

    /// Returns an open descriptor of the other end.
    fn partner(&self, name: &str) -> Option<&OwnedFd> {
        self.open_end(self.actors.get(name)?.partner.as_ref()?)
    }

    /// Returns an open descriptor of the open file of `name`, even if `name` itself is closed.
    fn open_end(&self, name: &str) -> Option<&OwnedFd> {
        let file = self.actors.get(name)?.file;
        let mut same = self.actors.values().filter(|actor| actor.file == file);
        same.find_map(|actor| actor.fd.as_ref())
    }

    /// Returns whether the open file of `name` is open, here or in the poller's program.
    fn is_open_end(&self, name: &str) -> bool {
        let Some(file) = self.actors.get(name).map(|actor| actor.file) else { return false };
        self.actors.values().any(|actor| actor.file == file && actor.is_open())
    }

    fn sends(&mut self, name: &str, bytes: usize) -> Result<CallResult, Stopped> {
        let unread = self.partner(name).map(settle::unread);
        let written = self.write(name, bytes)?;
        let done = written == Ok(bytes);
        if let Ok(count) = written {
            self.actor(name)?.sent += count;
        }
        // FIONREAD counts up to an urgent byte, and no further.
        let counted = self.is_delivered_later() && !self.actor(name)?.sent_urgent;
        let partner = self.partner(name).filter(|fd| counted && done && self.takes_data(fd));
        if let (Some(partner), Some(before)) = (partner, unread) {
            settle::wait_for_bytes(partner, before + bytes, self.setting.patience)?;
        }
        Ok(CallResult::counts(&[written], done))
    }

    /// Returns whether an end still receives data. Some systems discard data after `SHUT_RD`.
    fn takes_data(&self, fd: &OwnedFd) -> bool {
        let mut byte = [0];
        let peeked = recv(fd.as_raw_fd(), &mut byte, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT);
        peeked != Ok(0)
    }

    fn sends_message(&mut self, name: &str, bytes: &[u8], flags: MsgFlags) -> Result<CallResult, Stopped> {
        let sent = send(self.fd(name)?.as_raw_fd(), bytes, flags);
        self.actor(name)?.sent_urgent |= flags.contains(MsgFlags::MSG_OOB);
        Ok(CallResult::counts(&[sent], sent == Ok(bytes.len())))
    }

    fn fills(&mut self, name: &str, block: Option<usize>) -> Result<CallResult, Stopped> {
        if let Some(partner) = self.actor(name)?.partner.clone() {
            let partner = self.actor(&partner)?;
            partner.received_before = partner.received;
        }
        let (mut total, mut writes, mut full) = (0, 0, 0);
        let mut size = block.unwrap_or(BUFFER);
        // A program takes longer for a write, and TCP merges small segments that have arrived: then there is
        // room for another small one, again and again.
        let merges = self.held(name).is_some() && self.setting.transport == Transport::Tcp;
        let smallest = if merges { BUFFER } else { 1 };
        let errno = loop {
            match self.write(name, size)? {
                Ok(count) => {
                    total += count;
                    full = 0;
                }
                Err(Errno::EINTR) => {}
                Err(errno) if block.is_some() || errno != Errno::EAGAIN => break errno,
                Err(_) if size > smallest => size /= 2,
                // Data that are acknowledged in the meantime make room again.
                Err(errno) if full == 2 => break errno,
                Err(_) => {
                    full += 1;
                    self.settle.round_trip()?;
                    self.wait_for_reader(name);
                    size = BUFFER;
                }
            }
            writes += 1;
            if writes > MOST_WRITES {
                return Err(broken(format!("'{name}' is not full after {writes} writes")));
            }
        };
        self.actor(name)?.sent += total;
        let done = matches!(errno, Errno::EAGAIN | Errno::ENOBUFS);
        let answer = match block {
            Some(block) => format!("after {} x {block} B: {errno:?}", total / block.max(1)),
            None => format!("{total} B: {errno:?}"),
        };
        Ok(CallResult { answer: Outcome::Other(answer).into(), done })
    }

    /// Waits, after a write that was refused, until the reader of a terminal has what it can hold. A kernel
    /// thread of Linux passes data on to it after the write has returned, which makes room again.
    fn wait_for_reader(&self, name: &str) {
        let partner = self.partner(name).filter(|_| self.setting.transport == Transport::Pty);
        if let Some(partner) = partner {
            // A reader that holds less has it all.
            let _ = settle::wait_for_bytes(partner, TERMINAL_READER, TERMINAL_PATIENCE);
        }
    }

    fn reads(&mut self, name: &str, times: usize, room: usize) -> Result<CallResult, Stopped> {
        let mut buffer = vec![0; room];
        let results: Vec<_> = (0..times).map(|_| self.read(name, &mut buffer)).collect::<Result<_, _>>()?;
        self.actor(name)?.received += results.iter().flatten().sum::<usize>();
        let done = results.iter().all(Result::is_ok);
        Ok(CallResult::counts(&results, done))
    }

    fn reads_up_to(&mut self, name: &str, size: Size) -> Result<CallResult, Stopped> {
        let wanted = match size {
            Size::Bytes(bytes) => bytes,
            Size::PipeBuf(more) => pipe_buf()? + more,
        };
        let begun = Instant::now();
        let mut last = Ok(0);
        loop {
            let actor = self.actor(name)?;
            let read_so_far = actor.received - actor.received_before;
            if read_so_far >= wanted {
                return Ok(CallResult::counts(&[last], true));
            }
            let mut buffer = vec![0; (wanted - read_so_far).min(BUFFER)];
            last = self.read(name, &mut buffer)?;
            match last {
                Ok(count) if count > 0 => self.actor(name)?.received += count,
                Err(Errno::EAGAIN)
                    if self.is_delivered_later() && begun.elapsed() < self.setting.patience =>
                {
                    self.settle.round_trip()?;
                }
                _ => return Ok(CallResult::counts(&[last], false)),
            }
        }
    }

    /// Reads until no data is left. If data can arrive late, reads until all sent data have arrived.
    fn drains(&mut self, name: &str) -> Result<CallResult, Stopped> {
        let begun = Instant::now();
        let mut buffer = vec![0; BUFFER];
        loop {
            let last = self.read(name, &mut buffer)?;
            match last {
                Ok(count) if count > 0 => self.actor(name)?.received += count,
                Err(Errno::EINTR) => {}
                _ => {
                    let actor = self.actor(name)?;
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

    /// Appends to the file through another open file description.
    fn grows(&mut self, name: &str, bytes: usize) -> Result<CallResult, Stopped> {
        let path = self.path(name)?;
        let failed = |error: std::io::Error| call_failed(path.display(), error);
        let other = self.actors.get(name).and_then(|actor| actor.other_file.as_ref());
        let mut file = match other {
            Some(removed) => removed.try_clone().map_err(failed)?,
            None => File::options().append(true).open(path).map_err(failed)?,
        };
        file.write_all(&vec![b'.'; bytes]).map_err(failed)?;
        Ok(CallResult::of(Ok(())))
    }

    /// Returns the path of a regular or watched file.
    fn path(&self, name: &str) -> Result<&Path, Stopped> {
        let path = self.actors.get(name).and_then(|actor| actor.path.as_deref());
        path.ok_or_else(|| broken(format!("'{name}' is no regular file, and nothing is watched through it")))
    }

    fn closes(&mut self, name: &str) -> Result<CallResult, Stopped> {
        if let Some(acted) = self.act(name, &Act::Close) {
            let closed = acted?.map(drop);
            if let Some(held) = &mut self.actor(name)?.held {
                held.open = false;
            }
            return Ok(CallResult::of(closed));
        }
        let actor = self.actor(name)?;
        let number = actor.number;
        // `OwnedFd` closes the descriptor and ignores the answer of close(2): scripts cannot ask for it.
        drop(actor.fd.take().ok_or_else(|| broken(format!("'{name}' is closed already")))?);
        self.notify_closed(number)?;
        Ok(CallResult::of(Ok(())))
    }

    /// Notifies the pollers that keep their own copy of a descriptor.
    fn notify_closed(&self, number: RawFd) -> Result<(), Stopped> {
        let notify = |poller: &Arc<FencedPoller>| poller.selector.closed(number);
        Ok(self.pollers.values().try_for_each(notify)?)
    }

    fn takes_number_of(&mut self, name: &str, closed: &Name) -> Result<CallResult, Stopped> {
        let number = self.number(closed)?;
        if self.actor(closed)?.is_open() {
            return Err(broken(format!("'{closed}' is open: its number is not free")));
        }
        self.moves_to(name, number as usize)
    }

    fn replaces(&mut self, name: &str, other: &Name) -> Result<CallResult, Stopped> {
        self.require_own_numbers()?;
        let actor = self.actor(other)?;
        let number = actor.number;
        let mut replaced = actor.fd.take().ok_or_else(|| broken(format!("'{other}' is not open")))?;
        let answer = dup2(self.fd(name)?, &mut replaced);
        let answer = answer.and_then(|()| fcntl(&replaced, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map(drop));
        let (file, partner) = (self.actor(name)?.file, self.actor(name)?.partner.clone());
        *self.actor(other)? = Actor { file, partner, ..Actor::new(replaced) };
        self.notify_closed(number)?;
        self.notify_opened(number)?;
        Ok(CallResult::of(answer))
    }

    fn require_own_numbers(&mut self) -> Result<(), Stopped> {
        let own_numbers = self.poller(FIRST)?.selector.capabilities().own_numbers;
        own_numbers.map_err(|why| Stopped::Unsupported(why.into()))
    }

    fn moves_to(&mut self, name: &str, number: usize) -> Result<CallResult, Stopped> {
        self.require_own_numbers()?;
        let number = i32::try_from(number).map_err(|_| broken("no descriptor can have this number"))?;
        let moved = descriptors::copy(self.fd(name)?, number)?;
        if moved.as_raw_fd() != number {
            return Err(broken(format!("the number {number} is not free")));
        }
        let actor = self.actor(name)?;
        let old = std::mem::replace(&mut actor.number, number);
        actor.fd = Some(moved);
        self.notify_closed(old)?;
        self.notify_opened(number)?;
        Ok(CallResult::of(Ok(())))
    }

    fn notify_opened(&self, number: RawFd) -> Result<(), Stopped> {
        let notify = |poller: &Arc<FencedPoller>| poller.selector.opened(number);
        Ok(self.pollers.values().try_for_each(notify)?)
    }

    fn sets(&mut self, name: &str, option: SocketOption) -> Result<CallResult, Stopped> {
        let fd = self.fd(name)?;
        let (option, value) = match option {
            SocketOption::OobInline => return Ok(CallResult::of(setsockopt(fd, sockopt::OobInline, &true))),
            SocketOption::RecvErr | SocketOption::Timestamping => {
                let set = descriptors::set_error_queue(fd, option)?;
                self.actor(name)?.has_error_queue = set.is_ok();
                return Ok(CallResult::of(set));
            }
            SocketOption::ReusePort => return Ok(CallResult::of(descriptors::share_port(fd))),
            SocketOption::RcvLowat(bytes) => (libc::SO_RCVLOWAT, bytes),
            SocketOption::SndLowat(bytes) => (libc::SO_SNDLOWAT, bytes),
        };
        let value =
            libc::c_int::try_from(value).map_err(|_| broken("the low-water mark does not fit an int"))?;
        // SAFETY: both options are an int; pointer and length are those of a live int.
        let answer = unsafe {
            let length = size_of::<libc::c_int>() as libc::socklen_t;
            libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const value).cast(), length)
        };
        Ok(CallResult::of(Errno::result(answer).map(drop)))
    }
}

/// Returns the system's `PIPE_BUF`. A pipe has one, whereas some file systems do not answer for their
/// folders.
fn pipe_buf() -> Result<usize, Stopped> {
    let (end, _other) = std::io::pipe().map_err(|error| broken(format!("pipe: {error}")))?;
    let answer = fpathconf(end, PathconfVar::PIPE_BUF);
    let size = answer.map_err(|errno| call_failed("fpathconf(_PC_PIPE_BUF)", errno))?;
    size.and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| broken("this system does not publish its PIPE_BUF"))
}
