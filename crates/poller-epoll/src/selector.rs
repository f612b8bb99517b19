//! epoll(7) as it is: an addition of what is there is `EEXIST`, a modification of what is absent `ENOENT`.
//!
//! - The wake-up is an eventfd in the same epoll. It is edge-triggered: a wake-up ends one wait, and nobody has to read.
//! - That event takes a place: a wait with room for one event may end with none although others are ready. They come with
//!   the next.
//! - A closed epoll lives on for the threads that wait in it, and so does its wake-up.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use ::selector::{
    Bits, Capabilities, Changed, Event, Interest, Mode, RawArgument, RawWaited, Record, Registered, Selector,
    Token, Unsupported, View,
};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::changes::Operation;
use crate::sys::{self, RawTimeout};

/// epoll behind the raw interface.
///
/// # Errors
/// What epoll_create1(2) and eventfd(2) answer, and the eventfd's addition.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(EpollSelector::new()?))
}

struct EpollSelector {
    /// Once it is closed, a number that is never open: the kernel answers `EBADF` by itself.
    epoll: AtomicI32,
    wake: EventFd,
}

const CLOSED: RawFd = -1;
/// The room of a raw wait whose argument is another one.
const RAW_ROOM: i32 = 64;
/// The eventfd's.
const WAKE: Token = Token::MAX;

const LEVEL: &[View] = &[
    View { api: "epoll-add-before", interest: Interest::ALL, registered: Registered::Before },
    View { api: "epoll-add-after", interest: Interest::ALL, registered: Registered::After },
];
const EDGE: &[View] =
    &[View { api: "epoll-add-before", interest: Interest::ALL, registered: Registered::Before }];
const ONE_SHOT: &[View] = &[View { api: "epoll", interest: Interest::ALL, registered: Registered::Before }];
/// With `EPOLLPRI` or `EPOLLRDHUP`, `EPOLLEXCLUSIVE` is `EINVAL`.
const EXCLUSIVE: &[View] = &[View {
    api: "epoll",
    interest: Interest { read: true, write: true, ..Interest::NONE },
    registered: Registered::Before,
}];

impl EpollSelector {
    fn new() -> io::Result<Self> {
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?.0;
        let edge = (libc::EPOLLIN | libc::EPOLLET) as u32;
        sys::control(epoll.as_raw_fd(), Operation::Add(edge), wake.as_raw_fd(), WAKE)?;
        Ok(Self { epoll: AtomicI32::new(epoll.into_raw_fd()), wake })
    }

    fn control(&self, operation: Operation, fd: RawFd, token: Token) -> Changed {
        if token == WAKE {
            return Changed::unsupported(format!("the token {WAKE} is this poller's own"));
        }
        sys::control(self.number(), operation, fd, token).into()
    }

    fn number(&self) -> RawFd {
        // Relaxed: who closes while others use the number gets what the kernel makes of it.
        self.epoll.load(Ordering::Relaxed)
    }
}

impl Selector for EpollSelector {
    fn name(&self) -> &str {
        "epoll"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: vec![Mode::Level, Mode::Edge, Mode::OneShot, Mode::Exclusive, Mode::ExclusiveEdge],
            shared_wait: Ok(()),
            changes_seen_by_waiters: Ok(()),
            own_numbers: Ok(()),
            raw_records: true,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        match mode {
            Mode::Level => LEVEL,
            Mode::Edge => EDGE,
            Mode::OneShot => ONE_SHOT,
            Mode::Dispatch => &[],
            Mode::Exclusive | Mode::ExclusiveEdge => EXCLUSIVE,
        }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match events(interest, mode) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(events) => self.control(Operation::Add(events), fd, token),
        }
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match events(interest, mode) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(events) => self.control(Operation::Modify(events), fd, token),
        }
    }

    fn remove(&self, fd: RawFd) -> Changed {
        sys::control(self.number(), Operation::Delete, fd, 0).into()
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut buffer = vec![libc::epoll_event { events: 0, u64: 0 }; room];
        let count = sys::wait(self.number(), &mut buffer, timeout)?;
        Ok(events_of(&buffer[..count]))
    }

    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        let (room, timeout) = match argument {
            RawArgument::Milliseconds(milliseconds) => (RAW_ROOM, RawTimeout::Milliseconds(milliseconds)),
            RawArgument::Timespec { seconds, nanoseconds } => {
                sys::fine_timeouts().map_err(|why| Unsupported(why.into()))?;
                (RAW_ROOM, RawTimeout::Timespec { seconds, nanoseconds })
            }
            RawArgument::Room(room) => (room, RawTimeout::Milliseconds(0)),
            other => return Err(Unsupported(format!("epoll_wait(2) has no such argument: {other:?}"))),
        };
        let places = usize::try_from(room).unwrap_or(0).max(RAW_ROOM as usize);
        let mut buffer = vec![libc::epoll_event { events: 0, u64: 0 }; places];
        let count = sys::wait_raw(self.number(), &mut buffer, room, timeout);
        Ok(count.map(|count| RawWaited { events: events_of(&buffer[..count]), time_left_is_told: None }))
    }

    fn wake(&self) -> Result<(), Unsupported> {
        match self.wake.write(1) {
            // The counter is full: whoever waits next is woken by what filled it.
            Ok(_) | Err(Errno::EAGAIN) => Ok(()),
            Err(errno) => Err(Unsupported(format!("the eventfd: {errno}"))),
        }
    }

    fn descriptor(&self) -> Result<OwnedFd, Unsupported> {
        let number = self.number();
        if number == CLOSED {
            return Err(Unsupported("it is closed".into()));
        }
        // SAFETY: it is open until `close`, and a line closes no poller that it makes others watch.
        let copied = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned();
        copied.map_err(|error| Unsupported(format!("a copy of its descriptor: {error}")))
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        let number = self.epoll.swap(CLOSED, Ordering::Relaxed);
        // SAFETY: the number came from into_raw_fd, and the swap gives it to one caller only.
        Ok(Errno::result(unsafe { libc::close(number) }).map(drop))
    }
}

impl Drop for EpollSelector {
    fn drop(&mut self) {
        if self.number() != CLOSED {
            let _ = self.close();
        }
    }
}

/// Without the wake-up's.
fn events_of(buffer: &[libc::epoll_event]) -> Vec<Event> {
    let events = buffer.iter().filter(|raw| raw.u64 != WAKE);
    events.map(|raw| Event { token: raw.u64, record: record(raw.events) }).collect()
}

fn events(interest: Interest, mode: Mode) -> Result<u32, Unsupported> {
    let mode = match mode {
        Mode::Level => 0,
        Mode::Edge => libc::EPOLLET,
        Mode::OneShot => libc::EPOLLONESHOT,
        Mode::Dispatch => {
            return Err(Unsupported("epoll's one-shot disarms: it has no other dispatch".into()));
        }
        Mode::Exclusive => libc::EPOLLEXCLUSIVE,
        Mode::ExclusiveEdge => libc::EPOLLEXCLUSIVE | libc::EPOLLET,
    };
    let asked = [
        (interest.read, libc::EPOLLIN),
        (interest.write, libc::EPOLLOUT),
        (interest.urgent, libc::EPOLLPRI),
        (interest.peer_shut, libc::EPOLLRDHUP),
    ];
    let asked = asked.into_iter().filter(|(wanted, _)| *wanted);
    Ok(asked.fold(mode, |events, (_, bit)| events | bit) as u32)
}

fn record(events: u32) -> Record {
    let has = |bits: libc::c_int| events & bits as u32 != 0;
    Record::Bits(Bits {
        input: has(libc::EPOLLIN | libc::EPOLLRDNORM),
        urgent: has(libc::EPOLLPRI),
        output: has(libc::EPOLLOUT | libc::EPOLLWRNORM),
        error: has(libc::EPOLLERR),
        hang_up: has(libc::EPOLLHUP),
        invalid: false,
        peer_shut: has(libc::EPOLLRDHUP),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{PipeReader, PipeWriter, Write, pipe};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn readable_pipe() -> (PipeReader, PipeWriter, RawFd) {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let fd = reader.as_raw_fd();
        (reader, writer, fd)
    }

    fn seen(selector: &EpollSelector, room: usize) -> Vec<(Token, String)> {
        let events = selector.wait(room, Some(Duration::ZERO)).unwrap();
        events.into_iter().map(|event| (event.token, event.record.to_string())).collect()
    }

    #[test]
    fn nothing_is_asked_for_that_was_not_wanted() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        let (ask, level) = (Interest::READ, Mode::Level);
        assert_eq!(selector.modify(fd, 1, ask, level), Changed::refused(Errno::ENOENT), "no ADD instead");
        assert_eq!(selector.add(fd, 1, ask, level), Changed::Done);
        assert_eq!(selector.add(fd, 2, ask, level), Changed::refused(Errno::EEXIST), "no MOD instead");
        assert_eq!(seen(&selector, 8), [(1, "IN".into())]);
        let itself = selector.number();
        assert_eq!(selector.add(itself, 1, ask, level), Changed::refused(Errno::EINVAL));
        let file = fs::File::open("Cargo.toml").unwrap();
        assert_eq!(selector.add(file.as_raw_fd(), 1, ask, level), Changed::refused(Errno::EPERM));
        assert!(matches!(selector.add(fd, 1, ask, Mode::Dispatch), Changed::Unsupported(_)));
        assert!(matches!(selector.modify(fd, WAKE, ask, level), Changed::Unsupported(_)));
    }

    /// C10.
    #[test]
    fn exclusive_is_what_the_kernel_makes_of_it() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        let invalid = Changed::refused(Errno::EINVAL);
        for mode in [Mode::Exclusive, Mode::ExclusiveEdge] {
            assert_eq!(selector.add(fd, 1, Interest::ALL, mode), invalid, "RDHUP is not for it");
            assert_eq!(selector.add(fd, 1, selector.views(mode)[0].interest, mode), Changed::Done);
            assert_eq!(selector.modify(fd, 1, Interest::READ, mode), invalid);
            assert_eq!(selector.modify(fd, 1, Interest::READ, Mode::Level), invalid);
            assert_eq!(seen(&selector, 8), [(1, "IN".into())]);
            let again = if mode == Mode::Exclusive { vec![(1, "IN".into())] } else { vec![] };
            assert_eq!(seen(&selector, 8), again);
            assert_eq!(selector.remove(fd), Changed::Done);
        }
    }

    #[test]
    fn a_wake_up_takes_a_place_and_nothing_is_lost_by_it() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        selector.wake().unwrap();
        selector.add(fd, 1, Interest::READ, Mode::Edge);
        assert_eq!(seen(&selector, 1), [], "the place was the wake-up's");
        assert_eq!(seen(&selector, 1), [(1, "IN".into())]);
        assert_eq!(seen(&selector, 1), []);
        selector.modify(fd, 1, Interest::READ, Mode::Edge);
        selector.wake().unwrap();
        assert_eq!(seen(&selector, 8), [(1, "IN".into())], "with room, both are there");
    }

    #[test]
    fn room_for_nothing_is_an_answer() {
        assert_eq!(EpollSelector::new().unwrap().wait(0, Some(Duration::ZERO)), Err(Errno::EINVAL));
    }

    /// T03, W09.
    #[test]
    fn raw_arguments_reach_the_kernel() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        selector.add(fd, 1, Interest::READ, Mode::Level);
        let waited = |argument| selector.wait_raw(argument).unwrap().map(|waited| waited.events.len());
        assert_eq!(waited(RawArgument::Room(0)), Err(Errno::EINVAL));
        assert_eq!(waited(RawArgument::Room(-1)), Err(Errno::EINVAL));
        assert_eq!(waited(RawArgument::Room(1)), Ok(1));
        assert_eq!(waited(RawArgument::Milliseconds(-2)), Ok(1));
        if sys::fine_timeouts().is_ok() {
            let timespec = |nanoseconds| RawArgument::Timespec { seconds: 0, nanoseconds };
            assert_eq!(waited(timespec(-1)), Err(Errno::EINVAL));
            assert_eq!(waited(timespec(1)), Ok(1));
        }
        assert!(selector.wait_raw(RawArgument::Count(1)).is_err());
    }

    #[test]
    fn each_bit_is_asked_for_and_answered_by_itself() {
        let one = |interest, bit: libc::c_int| assert_eq!(events(interest, Mode::Level), Ok(bit as u32));
        one(Interest::NONE, 0);
        one(Interest::READ, libc::EPOLLIN);
        one(Interest::WRITE, libc::EPOLLOUT);
        one(Interest { urgent: true, ..Interest::NONE }, libc::EPOLLPRI);
        one(Interest { peer_shut: true, ..Interest::NONE }, libc::EPOLLRDHUP);
        one(Interest::ALL, libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLPRI | libc::EPOLLRDHUP);
        let modes = [
            (Mode::Edge, libc::EPOLLET),
            (Mode::OneShot, libc::EPOLLONESHOT),
            (Mode::Exclusive, libc::EPOLLEXCLUSIVE),
            (Mode::ExclusiveEdge, libc::EPOLLEXCLUSIVE | libc::EPOLLET),
        ];
        for (mode, flags) in modes {
            assert_eq!(events(Interest::WRITE, mode), Ok((libc::EPOLLOUT | flags) as u32));
        }
        let answers = [
            (libc::EPOLLIN, "IN"),
            (libc::EPOLLRDNORM, "IN"),
            (libc::EPOLLPRI, "PRI"),
            (libc::EPOLLOUT, "OUT"),
            (libc::EPOLLWRNORM, "OUT"),
            (libc::EPOLLERR, "ERR"),
            (libc::EPOLLHUP, "HUP"),
            (libc::EPOLLRDHUP, "RDHUP"),
            (libc::EPOLLIN | libc::EPOLLHUP, "IN|HUP"),
            (0, "-"),
        ];
        for (bits, written) in answers {
            assert_eq!(record(bits as u32).to_string(), written, "{bits:#x}");
        }
    }

    /// V09, V10: what the state says, in the words of the published answers.
    #[test]
    fn the_whole_state_is_told() {
        let selector = EpollSelector::new().unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let fd = ours.as_raw_fd();
        selector.add(fd, 7, Interest::ALL, Mode::Level);
        assert_eq!(seen(&selector, 8), [(7, "OUT".into())]);
        theirs.write_all(b"x").unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(seen(&selector, 8), [(7, "IN|OUT|RDHUP".into())]);
        drop(theirs);
        assert_eq!(seen(&selector, 8), [(7, "IN|OUT|HUP|RDHUP".into())]);
        selector.modify(fd, 8, Interest::NONE, Mode::Level);
        assert_eq!(seen(&selector, 8), [(8, "HUP".into())]);
    }
}
