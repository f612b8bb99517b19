//! Raw epoll(7): an addition of a registered number is `EEXIST`, a modification of an absent one `ENOENT`.
//!
//! - The wake-up is an eventfd in the same epoll. It is edge-triggered: a wake-up ends one wait, and no
//!   thread has to read it.
//! - The wake-up event takes a place: a wait with room for one event may return none although others are
//!   ready. The next wait returns them.
//! - A closed epoll stays open for the threads that wait in it, and so does its wake-up.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use ::selector::{
    Bits, Capabilities, Changed, Column, Event, Inspected, Interest, Interface, Mode, RawArgument, RawWaited,
    Record, Registered, Selector, Token, Unsupported, View,
};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::changes::Operation;
use crate::sys::{self, RawTimeout};

/// Creates a raw epoll selector.
///
/// A raw selector reports what the kernel answers, without the protocol of `fd_core`. The threads of a
/// program may share it.
///
/// ```
/// let selector = pollmatrix_poller_epoll::selector()?;
/// assert_eq!(selector.name(), "epoll");
/// selector.wake().expect("it has its own means");
/// assert_eq!(selector.wait(8, None), Ok(vec![]), "a wake-up is no event");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of epoll_create1(2) and eventfd(2), and of the addition of the eventfd.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(EpollSelector::new()?))
}

struct EpollSelector {
    /// The number of the epoll, or [`CLOSED`].
    epoll: AtomicI32,
    wake: EventFd,
}

/// A number that is never open, so that the kernel answers `EBADF` to every call.
const CLOSED: RawFd = -1;
/// The room of a raw wait whose unchanged argument is not the room.
const RAW_ROOM: i32 = 64;
/// The room of a wait that is looked at.
const INSPECTED_ROOM: usize = 128;
/// The events in an entry that the kernel has not written.
const UNTOUCHED: u32 = 0x5a5a_5a5a;
/// The token of the eventfd.
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
            return Changed::unsupported(format!("this poller uses the token {WAKE} for its wake-ups"));
        }
        sys::control(self.number(), operation, fd, token).into()
    }

    fn number(&self) -> RawFd {
        // Relaxed: a scenario that closes the epoll beside other calls records the kernel's answer, whatever
        // it is.
        self.epoll.load(Ordering::Relaxed)
    }
}

impl Selector for EpollSelector {
    fn name(&self) -> &str {
        "epoll"
    }

    fn column(&self) -> Column {
        Column::of(Interface::Epoll)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: vec![
                Mode::Level,
                Mode::Edge,
                Mode::OneShot,
                Mode::Exclusive,
                Mode::ExclusiveEdge,
                Mode::EdgeOneShot,
            ],
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
            Mode::OneShot | Mode::EdgeOneShot => ONE_SHOT,
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

    fn wait_masked(
        &self,
        room: usize,
        timeout: Option<Duration>,
        mask: &libc::sigset_t,
    ) -> Result<Result<Vec<Event>, Errno>, Unsupported> {
        let mut buffer = vec![libc::epoll_event { events: 0, u64: 0 }; room];
        let count = sys::wait_masked(self.number(), &mut buffer, timeout, mask);
        Ok(count.map(|count| events_of(&buffer[..count])))
    }

    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        let (room, timeout) = match argument {
            RawArgument::Milliseconds(milliseconds) => (RAW_ROOM, RawTimeout::Milliseconds(milliseconds)),
            RawArgument::Timespec { seconds, nanoseconds } => {
                sys::fine_timeouts().map_err(|reason| Unsupported(reason.into()))?;
                (RAW_ROOM, RawTimeout::Timespec { seconds, nanoseconds })
            }
            RawArgument::Room(room) => (room, RawTimeout::Milliseconds(0)),
            other => return Err(Unsupported(format!("epoll_wait(2) has no such argument: {other:?}"))),
        };
        let places = usize::try_from(room).unwrap_or(0).max(RAW_ROOM as usize);
        let mut buffer = vec![libc::epoll_event { events: 0, u64: 0 }; places];
        let count = sys::wait_raw(self.number(), &mut buffer, room, timeout);
        Ok(count.map(|count| RawWaited { events: events_of(&buffer[..count]), timeout_updated: None }))
    }

    fn wait_inspected(&self) -> Result<Result<Inspected, Errno>, Unsupported> {
        let untouched = libc::epoll_event { events: UNTOUCHED, u64: Token::MAX };
        let mut buffer = vec![untouched; INSPECTED_ROOM];
        let count = sys::wait(self.number(), &mut buffer, Some(Duration::ZERO));
        Ok(count.map(|count| {
            let (written, behind) = buffer.split_at(count);
            // A copy of each field: the structure is packed.
            let is_kept = |event: &libc::epoll_event| (event.events, event.u64) == (UNTOUCHED, Token::MAX);
            let memory = if behind.iter().all(is_kept) {
                "the entries behind are kept"
            } else {
                "the entries behind are changed"
            };
            Inspected { events: events_of(written), returned: count, memory: vec![memory] }
        }))
    }

    fn wake(&self) -> Result<(), Unsupported> {
        match self.wake.write(1) {
            // The counter is full: an earlier wake-up ends the next wait.
            Ok(_) | Err(Errno::EAGAIN) => Ok(()),
            Err(errno) => Err(Unsupported(format!("the eventfd: {errno}"))),
        }
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        let number = self.epoll.swap(CLOSED, Ordering::Relaxed);
        // SAFETY: the number came from into_raw_fd, and the swap gives it to one caller only.
        Ok(Errno::result(unsafe { libc::close(number) }).map(drop))
    }

    fn descriptor(&self) -> Result<OwnedFd, Unsupported> {
        let number = self.number();
        if number == CLOSED {
            return Err(Unsupported("the poller is closed".into()));
        }
        // SAFETY: it is open until `close`, and a script closes no poller that other pollers watch.
        let copied = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned();
        copied.map_err(|error| Unsupported(format!("its descriptor cannot be duplicated: {error}")))
    }

    fn adopt(&self, descriptor: OwnedFd) -> Result<(), Unsupported> {
        let inherited = self.epoll.swap(descriptor.into_raw_fd(), Ordering::Relaxed);
        // SAFETY: the number came from into_raw_fd, and the swap gives it to one caller only.
        unsafe { libc::close(inherited) };
        Ok(())
    }
}

impl Drop for EpollSelector {
    fn drop(&mut self) {
        if self.number() != CLOSED {
            let _ = self.close();
        }
    }
}

/// Returns the events without the wake-up.
fn events_of(buffer: &[libc::epoll_event]) -> Vec<Event> {
    let events = buffer.iter().filter(|raw| raw.u64 != WAKE);
    events.map(|raw| Event { token: raw.u64, record: record(raw.events) }).collect()
}

/// Returns the events to request.
fn events(interest: Interest, mode: Mode) -> Result<u32, Unsupported> {
    let mode = match mode {
        Mode::Level => 0,
        Mode::Edge => libc::EPOLLET,
        Mode::OneShot => libc::EPOLLONESHOT,
        Mode::Dispatch => {
            return Err(Unsupported("epoll has no dispatch: its one-shot disables the registration".into()));
        }
        Mode::Exclusive => libc::EPOLLEXCLUSIVE,
        Mode::ExclusiveEdge => libc::EPOLLEXCLUSIVE | libc::EPOLLET,
        Mode::EdgeOneShot => libc::EPOLLET | libc::EPOLLONESHOT,
    };
    let requested = [
        (interest.read, libc::EPOLLIN),
        (interest.write, libc::EPOLLOUT),
        (interest.urgent, libc::EPOLLPRI),
        (interest.peer_shut, libc::EPOLLRDHUP),
        (interest.bits.read_normal, libc::EPOLLRDNORM),
        (interest.bits.write_normal, libc::EPOLLWRNORM),
        (interest.bits.read_band, libc::EPOLLRDBAND),
        (interest.bits.write_band, libc::EPOLLWRBAND),
        (interest.bits.error, libc::EPOLLERR),
        (interest.bits.hang_up, libc::EPOLLHUP),
    ];
    let requested = requested.into_iter().filter(|(wanted, _)| *wanted);
    Ok(requested.fold(mode, |events, (_, bit)| events | bit) as u32)
}

fn record(events: u32) -> Record {
    let has = |bits: libc::c_int| events & bits as u32 != 0;
    Record::Bits(Bits {
        input: has(libc::EPOLLIN),
        urgent: has(libc::EPOLLPRI),
        output: has(libc::EPOLLOUT),
        error: has(libc::EPOLLERR),
        hang_up: has(libc::EPOLLHUP),
        invalid: false,
        peer_shut: has(libc::EPOLLRDHUP),
        read_normal: has(libc::EPOLLRDNORM),
        write_normal: has(libc::EPOLLWRNORM),
        read_band: has(libc::EPOLLRDBAND),
        write_band: has(libc::EPOLLWRBAND),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use fd_core::poller::testing::readable_pipe;

    use super::*;

    fn seen(selector: &EpollSelector, room: usize) -> Vec<(Token, String)> {
        let events = selector.wait(room, Some(Duration::ZERO)).unwrap();
        events.into_iter().map(|event| (event.token, event.record.to_string())).collect()
    }

    #[test]
    fn every_call_returns_the_kernels_own_answer() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        let (read, level) = (Interest::READ, Mode::Level);
        assert_eq!(selector.modify(fd, 1, read, level), Changed::refused(Errno::ENOENT), "no ADD instead");
        assert_eq!(selector.add(fd, 1, read, level), Changed::Done);
        assert_eq!(selector.add(fd, 2, read, level), Changed::refused(Errno::EEXIST), "no MOD instead");
        assert_eq!(seen(&selector, 8), [(1, "IN".into())]);
        let own = selector.number();
        assert_eq!(selector.add(own, 1, read, level), Changed::refused(Errno::EINVAL));
        let file = fs::File::open("Cargo.toml").unwrap();
        assert_eq!(selector.add(file.as_raw_fd(), 1, read, level), Changed::refused(Errno::EPERM));
        assert!(matches!(selector.add(fd, 1, read, Mode::Dispatch), Changed::Unsupported(_)));
        assert!(matches!(selector.modify(fd, WAKE, read, level), Changed::Unsupported(_)));
    }

    /// C10.
    #[test]
    fn exclusive_registrations_follow_the_kernels_rules() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        let invalid = Changed::refused(Errno::EINVAL);
        for mode in [Mode::Exclusive, Mode::ExclusiveEdge] {
            assert_eq!(selector.add(fd, 1, Interest::ALL, mode), invalid, "RDHUP cannot be exclusive");
            assert_eq!(selector.add(fd, 1, selector.views(mode)[0].interest, mode), Changed::Done);
            assert_eq!(selector.modify(fd, 1, Interest::READ, mode), invalid);
            assert_eq!(selector.modify(fd, 1, Interest::READ, Mode::Level), invalid);
            assert_eq!(seen(&selector, 8), [(1, "IN".into())]);
            let repeated = if mode == Mode::Exclusive { vec![(1, "IN".into())] } else { vec![] };
            assert_eq!(seen(&selector, 8), repeated);
            assert_eq!(selector.remove(fd), Changed::Done);
        }
    }

    #[test]
    fn a_wake_up_takes_a_place_and_loses_no_event() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        selector.wake().unwrap();
        selector.add(fd, 1, Interest::READ, Mode::Edge);
        assert_eq!(seen(&selector, 1), [], "the wake-up takes the place");
        assert_eq!(seen(&selector, 1), [(1, "IN".into())]);
        assert_eq!(seen(&selector, 1), []);
        selector.modify(fd, 1, Interest::READ, Mode::Edge);
        selector.wake().unwrap();
        assert_eq!(seen(&selector, 8), [(1, "IN".into())], "there is room for both");
    }

    /// T11.
    #[test]
    fn an_inspected_wait_keeps_the_entries_behind_its_count() {
        let (selector, (_reader, _writer, fd)) = (EpollSelector::new().unwrap(), readable_pipe());
        selector.add(fd, 1, Interest::READ, Mode::Level);
        let inspected = selector.wait_inspected().unwrap().unwrap();
        assert_eq!((inspected.events.len(), inspected.returned), (1, 1));
        assert_eq!(inspected.memory, ["the entries behind are kept"]);
    }

    #[test]
    fn a_wait_without_room_is_einval() {
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
    fn each_bit_is_requested_and_reported_independently() {
        let one = |interest, bit: libc::c_int| assert_eq!(events(interest, Mode::Level), Ok(bit as u32));
        one(Interest::NONE, 0);
        one(Interest::READ, libc::EPOLLIN);
        one(Interest::WRITE, libc::EPOLLOUT);
        one(Interest { urgent: true, ..Interest::NONE }, libc::EPOLLPRI);
        one(Interest { peer_shut: true, ..Interest::NONE }, libc::EPOLLRDHUP);
        one(Interest::ALL, libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLPRI | libc::EPOLLRDHUP);
        let bits = [
            libc::EPOLLIN,
            libc::EPOLLPRI,
            libc::EPOLLOUT,
            libc::EPOLLERR,
            libc::EPOLLHUP,
            libc::EPOLLRDHUP,
            libc::EPOLLRDNORM,
            libc::EPOLLWRNORM,
            libc::EPOLLRDBAND,
            libc::EPOLLWRBAND,
        ];
        for ((_, interest), bit) in Interest::BITS.into_iter().zip(bits) {
            one(interest, bit);
        }
        let modes = [
            (Mode::Edge, libc::EPOLLET),
            (Mode::OneShot, libc::EPOLLONESHOT),
            (Mode::Exclusive, libc::EPOLLEXCLUSIVE),
            (Mode::ExclusiveEdge, libc::EPOLLEXCLUSIVE | libc::EPOLLET),
            (Mode::EdgeOneShot, libc::EPOLLET | libc::EPOLLONESHOT),
        ];
        for (mode, flags) in modes {
            assert_eq!(events(Interest::WRITE, mode), Ok((libc::EPOLLOUT | flags) as u32));
        }
        let answers = [
            (libc::EPOLLIN, "IN"),
            (libc::EPOLLRDNORM, "RDNORM"),
            (libc::EPOLLPRI, "PRI"),
            (libc::EPOLLOUT, "OUT"),
            (libc::EPOLLWRNORM, "WRNORM"),
            (libc::EPOLLIN | libc::EPOLLRDNORM, "IN|RDNORM"),
            (libc::EPOLLRDBAND | libc::EPOLLWRBAND, "RDBAND|WRBAND"),
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

    /// V09, V10, in the notation of the published answers.
    #[test]
    fn a_level_registration_reports_the_whole_state() {
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
