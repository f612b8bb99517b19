//! Raw poll(2): an array in user memory, and the events that the kernel writes into each of its entries.
//!
//! - The array may contain a number twice: each addition is a new entry, with its own events.
//! - The `ENOENT` for a number that is absent from the array is this module's answer: the kernel does not
//!   know the array.
//! - A wait passes a copy to the kernel: the next wait sees changes that are made meanwhile.
//! - The wake-up pipe has one more entry, after the registrations. A limit of entries (`EINVAL`) is therefore
//!   reached one registration earlier.
//! - `POLLRDHUP` is requested of sockets only, where a kernel knows it. FreeBSD takes it for a mistake of the
//!   caller elsewhere, and that answer would hide the one to the other bits.
//! - poll(2) has no bound on the number of events: this module drops those beyond `room`, and every wait
//!   begins with the first entry.

use std::io;
use std::os::fd::RawFd;
use std::sync::Mutex;
use std::time::Duration;

use ::selector::{
    Bits, Capabilities, Changed, Column, Event, Inspected, Interest, Interface, Mode, RawArgument, RawWaited,
    Record, Registered, Selector, Token, Unsupported, View, WakePipe,
};
use fd_core::poller::milliseconds;
use libc::c_short;
use nix::errno::Errno;

use crate::changes::RDHUP;
use crate::sys;

/// Creates a raw poll selector.
///
/// A raw selector reports what the kernel answers, without the protocol of `fd_core`. The threads of a
/// program may share it.
///
/// ```
/// let selector = pollmatrix_poller_poll::selector()?;
/// assert_eq!(selector.name(), "poll");
/// selector.wake().expect("it has its own means");
/// assert_eq!(selector.wait(8, None), Ok(vec![]), "a wake-up is no event");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of the wake-up pipe.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(PollSelector::new()?))
}

struct PollSelector {
    /// In the order of the additions.
    array: Mutex<Vec<Entry>>,
    pipe: WakePipe,
    /// `POLLRDHUP`, if this kernel has it.
    rdhup: Option<c_short>,
}

#[derive(Clone, Copy)]
struct Entry {
    fd: RawFd,
    events: c_short,
    token: Token,
}

const VIEWS: &[View] = &[
    View { api: "poll", interest: Interest::ALL, registered: Registered::After },
    View { api: "poll-events0", interest: Interest::NONE, registered: Registered::After },
];

impl PollSelector {
    fn new() -> io::Result<Self> {
        Ok(Self { array: Mutex::default(), pipe: WakePipe::new()?, rdhup: sys::rdhup() })
    }

    /// Returns the tokens and the array for the kernel: an entry for each token, and one for the pipe.
    fn copy(&self) -> (Vec<Token>, Vec<libc::pollfd>) {
        let array = self.array.lock().unwrap();
        let slot = |fd, events| libc::pollfd { fd, events, revents: 0 };
        let slots = array.iter().map(|entry| slot(entry.fd, entry.events));
        let pipe = slot(self.pipe.number(), libc::POLLIN);
        (array.iter().map(|entry| entry.token).collect(), slots.chain([pipe]).collect())
    }

    /// The bit that requests a half-close of this descriptor: 0 if it is no socket, or if the interest has no
    /// half-close. Only then does a registration cost a system call.
    fn rdhup_of(&self, fd: RawFd, interest: Interest) -> Option<c_short> {
        self.rdhup.map(|bit| if interest.peer_shut && sys::is_socket(fd) { bit } else { 0 })
    }

    /// Polls a copy of the array.
    fn wait_with(
        &self,
        (tokens, mut slots): (Vec<Token>, Vec<libc::pollfd>),
        room: usize,
        timeout: Option<Duration>,
    ) -> Result<Vec<Event>, Errno> {
        sys::poll(&mut slots, milliseconds(timeout))?;
        Ok(self.events(tokens, &slots, room))
    }

    /// Returns the events in the array, at most `room`. Drains the pipe.
    fn events(&self, tokens: Vec<Token>, slots: &[libc::pollfd], room: usize) -> Vec<Event> {
        if slots.get(tokens.len()).is_some_and(|pipe| pipe.revents != 0) {
            self.pipe.drain();
        }
        let ready = tokens.into_iter().zip(slots).filter(|(_, slot)| slot.revents != 0);
        let event = |(token, slot): (Token, &libc::pollfd)| Event {
            token,
            record: record(slot.revents, slot.events),
        };
        ready.take(room).map(event).collect()
    }
}

impl Selector for PollSelector {
    fn name(&self) -> &str {
        "poll"
    }

    fn column(&self) -> Column {
        Column::of(Interface::Poll)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: vec![Mode::Level],
            shared_wait: Ok(()),
            changes_seen_by_waiters: Err(
                "poll(2) sees the array that it was called with, and no later change",
            ),
            own_numbers: Ok(()),
            raw_records: true,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if mode == Mode::Level { VIEWS } else { &[] }
    }

    fn no_event(&self) -> &'static str {
        "-"
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match events(interest, mode, self.rdhup_of(fd, interest)) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(events) => {
                self.array.lock().unwrap().push(Entry { fd, events, token });
                Changed::Done
            }
        }
    }

    /// If the number has several entries, it changes the one with the token, or else the oldest.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let events = match events(interest, mode, self.rdhup_of(fd, interest)) {
            Err(unsupported) => return Changed::Unsupported(unsupported),
            Ok(events) => events,
        };
        let mut array = self.array.lock().unwrap();
        let exact = array.iter().position(|entry| (entry.fd, entry.token) == (fd, token));
        match exact.or_else(|| array.iter().position(|entry| entry.fd == fd)) {
            None => Changed::refused(Errno::ENOENT),
            Some(index) => {
                array[index] = Entry { fd, events, token };
                Changed::Done
            }
        }
    }

    /// Removes every entry of the number.
    fn remove(&self, fd: RawFd) -> Changed {
        let mut array = self.array.lock().unwrap();
        let before = array.len();
        array.retain(|entry| entry.fd != fd);
        if array.len() == before { Changed::refused(Errno::ENOENT) } else { Changed::Done }
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        self.wait_with(self.copy(), room, timeout)
    }

    #[cfg(not(any(target_os = "macos", target_os = "ios", target_os = "solaris", target_os = "illumos")))]
    fn wait_masked(
        &self,
        room: usize,
        timeout: Option<Duration>,
        mask: &libc::sigset_t,
    ) -> Result<Result<Vec<Event>, Errno>, Unsupported> {
        let (tokens, mut slots) = self.copy();
        let polled = sys::ppoll(&mut slots, timeout.map(::selector::timespec), Some(mask));
        Ok(polled.map(|_| self.events(tokens, &slots, room)))
    }

    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        let (tokens, mut slots) = self.copy();
        let waited = match argument {
            RawArgument::Milliseconds(milliseconds) => sys::poll(&mut slots, milliseconds),
            #[cfg(not(any(
                target_os = "macos",
                target_os = "ios",
                target_os = "solaris",
                target_os = "illumos"
            )))]
            RawArgument::Timespec { seconds, nanoseconds } => {
                let timeout = libc::timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ };
                sys::ppoll(&mut slots, Some(timeout), None)
            }
            RawArgument::Count(count) => {
                let Some(count) = usize::try_from(count).ok().filter(|count| *count >= slots.len()) else {
                    let least = slots.len();
                    return Err(Unsupported(format!(
                        "{count} is less than the {least} entries of the array"
                    )));
                };
                slots.resize(count, libc::pollfd { fd: -1, events: 0, revents: 0 });
                sys::poll(&mut slots, 0)
            }
            other => return Err(Unsupported(format!("poll(2) has no such argument: {other:?}"))),
        };
        let events = |_| self.events(tokens, &slots, usize::MAX);
        Ok(waited.map(events).map(|events| RawWaited { events, timeout_updated: None }))
    }

    fn wait_inspected(&self) -> Result<Result<Inspected, Errno>, Unsupported> {
        /// The entries behind the array.
        const GUARDS: usize = 8;
        let (tokens, mut slots) = self.copy();
        let count = slots.len();
        // A reader of them would find an open descriptor that is always writable or readable.
        slots.resize(count + GUARDS, libc::pollfd { fd: self.pipe.number(), events: !0, revents: 0x5a5a });
        let before = slots.clone();
        let polled = sys::poll(&mut slots[..count], 0);
        let is_kept = |part: fn(&libc::pollfd) -> i32| slots.iter().map(part).eq(before.iter().map(part));
        let (kept, behind) = (
            is_kept(|slot| slot.fd) && is_kept(|slot| slot.events.into()),
            slots[count..]
                .iter()
                .map(|slot| slot.revents)
                .eq(before[count..].iter().map(|slot| slot.revents)),
        );
        let memory = vec![
            if kept { "fd and events are kept" } else { "fd or events are changed" },
            if behind { "the entries behind are kept" } else { "the entries behind are changed" },
        ];
        let events = |returned| Inspected {
            events: self.events(tokens, &slots[..count], usize::MAX),
            returned,
            memory,
        };
        Ok(polled.map(events))
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.pipe.wake().map_err(|error| Unsupported(format!("the wake-up pipe: {error}")))
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("poll(2) has no descriptor of its own".into()))
    }
}

/// Returns the events to request. A part of the interest that the system has no bit for is left out, unless
/// it is the only one.
fn events(interest: Interest, mode: Mode, rdhup: Option<c_short>) -> Result<c_short, Unsupported> {
    if mode != Mode::Level {
        return Err(Unsupported(format!("poll(2) is level-triggered only: there is no {mode:?}")));
    }
    let requested = [
        (interest.read, Some(libc::POLLIN)),
        (interest.write, Some(libc::POLLOUT)),
        (interest.urgent, Some(libc::POLLPRI)),
        (interest.peer_shut, rdhup),
        (interest.bits.read_normal, Some(libc::POLLRDNORM)),
        (interest.bits.write_normal, Some(libc::POLLWRNORM)),
        (interest.bits.read_band, Some(libc::POLLRDBAND)),
        (interest.bits.write_band, Some(libc::POLLWRBAND)),
        (interest.bits.error, Some(libc::POLLERR)),
        (interest.bits.hang_up, Some(libc::POLLHUP)),
    ];
    let requested = requested.into_iter().filter(|(wanted, _)| *wanted).map(|(_, bit)| bit);
    let events = requested.clone().flatten().fold(0, |events, bit| events | bit);
    if requested.clone().next().is_some() && requested.flatten().next().is_none() {
        return Err(Unsupported("this system has no POLLRDHUP".into()));
    }
    Ok(events)
}

/// Returns the events of an entry. A bit for normal or band data counts if it was requested and is not
/// another name of `POLLIN` or `POLLOUT`; a system may report `POLLRDNORM` in place of `POLLIN`.
fn record(revents: c_short, requested: c_short) -> Record {
    let has = |bit: c_short| revents & bit != 0;
    let names = |bit: c_short| has(bit) && requested & bit != 0 && bit & (libc::POLLIN | libc::POLLOUT) == 0;
    let (read_normal, write_normal) = (names(libc::POLLRDNORM), names(libc::POLLWRNORM));
    Record::Bits(Bits {
        input: has(libc::POLLIN) || (has(libc::POLLRDNORM) && !read_normal),
        urgent: has(libc::POLLPRI),
        output: has(libc::POLLOUT) || (has(libc::POLLWRNORM) && !write_normal),
        error: has(libc::POLLERR),
        hang_up: has(libc::POLLHUP),
        invalid: has(libc::POLLNVAL),
        peer_shut: RDHUP.is_some_and(has),
        read_normal,
        write_normal,
        read_band: names(libc::POLLRDBAND),
        write_band: names(libc::POLLWRBAND),
    })
}

#[cfg(test)]
mod tests {
    use fd_core::poller::testing::readable_pipe;

    use super::*;

    /// Polls once, and returns the events in the published notation.
    fn seen(selector: &PollSelector) -> Vec<(Token, String)> {
        events_of(selector.wait(8, Some(Duration::ZERO)))
    }

    fn events_of(waited: Result<Vec<Event>, Errno>) -> Vec<(Token, String)> {
        waited.unwrap().into_iter().map(|event| (event.token, event.record.to_string())).collect()
    }

    fn add(selector: &PollSelector, fd: RawFd, token: Token, interest: Interest) {
        assert_eq!(selector.add(fd, token, interest, Mode::Level), Changed::Done);
    }

    fn input(tokens: impl IntoIterator<Item = Token>) -> Vec<(Token, String)> {
        tokens.into_iter().map(|token| (token, "IN".into())).collect()
    }

    /// A24.
    #[test]
    #[cfg_attr(
        target_os = "macos",
        ignore = "poll(2) on macOS is made of kqueue filters: the last entry of a number answers"
    )]
    fn a_number_may_be_in_the_array_twice() {
        let (selector, (_reader, _writer, fd)) = (PollSelector::new().unwrap(), readable_pipe());
        add(&selector, fd, 1, Interest::READ);
        add(&selector, fd, 2, Interest::READ);
        assert_eq!(seen(&selector), input([1, 2]));
        assert_eq!(selector.modify(fd, 2, Interest::NONE, Mode::Level), Changed::Done);
        assert_eq!(seen(&selector), input([1]), "the entry with the token is changed");
        assert_eq!(selector.modify(fd, 3, Interest::READ, Mode::Level), Changed::Done);
        assert_eq!(seen(&selector), input([3]), "no entry has the token: the oldest is changed");
        assert_eq!(selector.remove(fd), Changed::Done);
        assert_eq!(seen(&selector), []);
        assert_eq!(selector.remove(fd), Changed::refused(Errno::ENOENT));
    }

    /// A12: another thread changes the array after the call has begun.
    #[test]
    fn a_wait_polls_the_array_of_its_beginning() {
        let (selector, (_reader, _writer, fd)) = (PollSelector::new().unwrap(), readable_pipe());
        let (_other_reader, _other_writer, other) = readable_pipe();
        add(&selector, fd, 1, Interest::READ);
        let copy = selector.copy();
        add(&selector, other, 2, Interest::READ);
        selector.remove(fd);
        assert_eq!(events_of(selector.wait_with(copy, 8, Some(Duration::ZERO))), input([1]));
        assert_eq!(seen(&selector), input([2]));
    }

    #[test]
    fn events_beyond_the_room_are_dropped_and_every_wait_begins_with_the_first_entry() {
        let selector = PollSelector::new().unwrap();
        let pipes: Vec<_> = (0..3).map(|_| readable_pipe()).collect();
        for (token, (_, _, fd)) in (0..).zip(pipes.iter().rev()) {
            add(&selector, *fd, token, Interest::READ);
        }
        let wait = |room| events_of(selector.wait(room, None));
        assert_eq!((wait(2), wait(2), wait(3), wait(0)), (input([0, 1]), input([0, 1]), input(0..3), vec![]));
    }

    #[test]
    #[cfg_attr(
        target_os = "macos",
        ignore = "poll(2) on macOS is made of kqueue filters: without interest there is none"
    )]
    fn a_closed_number_is_invalid_for_every_interest_and_a_negative_one_is_ignored() {
        /// A closed number, far above the numbers that tests open.
        const CLOSED: RawFd = 1000;
        let selector = PollSelector::new().unwrap();
        add(&selector, -1, 1, Interest::ALL);
        add(&selector, CLOSED, 2, Interest::NONE);
        assert_eq!(seen(&selector), [(2, "NVAL".into())]);
    }

    /// T11.
    #[test]
    fn an_inspected_wait_changes_only_the_events() {
        let (selector, (_reader, _writer, fd)) = (PollSelector::new().unwrap(), readable_pipe());
        add(&selector, fd, 1, Interest::READ);
        add(&selector, -1, 2, Interest::READ);
        let inspected = selector.wait_inspected().unwrap().unwrap();
        assert_eq!((inspected.events.len(), inspected.returned), (1, 1));
        assert_eq!(inspected.memory, ["fd and events are kept", "the entries behind are kept"]);
    }

    /// T11.
    #[test]
    fn raw_arguments_reach_the_kernel() {
        let (selector, (_reader, _writer, fd)) = (PollSelector::new().unwrap(), readable_pipe());
        add(&selector, fd, 1, Interest::READ);
        let waited = |argument| selector.wait_raw(argument).unwrap().map(|waited| waited.events.len());
        assert_eq!(waited(RawArgument::Milliseconds(-1)), Ok(1));
        assert_eq!(waited(RawArgument::Count(2)), Ok(1));
        assert_eq!(waited(RawArgument::Count(200)), Ok(1), "entries without a descriptor are ignored");
        assert!(selector.wait_raw(RawArgument::Count(1)).is_err(), "the pipe has an entry, too");
        #[cfg(target_os = "linux")]
        {
            let timespec = |nanoseconds| RawArgument::Timespec { seconds: 0, nanoseconds };
            assert_eq!(waited(timespec(-1)), Err(Errno::EINVAL));
            assert_eq!(waited(timespec(0)), Ok(1));
        }
    }

    /// With `events == 0`, poll(2) still reports the events that need no request.
    #[test]
    #[cfg_attr(
        target_os = "macos",
        ignore = "poll(2) on macOS is made of kqueue filters: without interest there is none"
    )]
    fn without_interest_there_are_hang_ups_and_errors() {
        let (selector, (reader, writer, fd)) = (PollSelector::new().unwrap(), readable_pipe());
        add(&selector, fd, 1, Interest::NONE);
        assert_eq!(seen(&selector), []);
        drop(writer);
        assert_eq!(seen(&selector), [(1, "HUP".into())]);
        drop(reader);
    }

    #[test]
    fn each_bit_is_requested_and_reported_independently() {
        const BIT: c_short = 0x4000;
        let table = [
            (Interest::READ, libc::POLLIN),
            (Interest::WRITE, libc::POLLOUT),
            (Interest { urgent: true, ..Interest::NONE }, libc::POLLPRI),
            (Interest::NONE, 0),
            (Interest::ALL, libc::POLLIN | libc::POLLOUT | libc::POLLPRI | BIT),
        ];
        for (interest, bits) in table {
            assert_eq!(events(interest, Mode::Level, Some(BIT)), Ok(bits));
            assert_eq!(events(interest, Mode::Level, Some(0)), Ok(bits & !BIT), "no socket");
            assert_eq!(events(interest, Mode::Level, None), Ok(bits & !BIT), "no such bit");
        }
        let named = [
            ("ERR", libc::POLLERR),
            ("HUP", libc::POLLHUP),
            ("RDNORM", libc::POLLRDNORM),
            ("WRNORM", libc::POLLWRNORM),
            ("RDBAND", libc::POLLRDBAND),
            ("WRBAND", libc::POLLWRBAND),
        ];
        for (name, bit) in named {
            let (_, interest) = Interest::BITS.into_iter().find(|(known, _)| *known == name).unwrap();
            assert_eq!(events(interest, Mode::Level, None), Ok(bit), "{name}");
        }
        let alone = |rdhup| events(Interest { peer_shut: true, ..Interest::NONE }, Mode::Level, rdhup).ok();
        assert_eq!(alone(Some(BIT)), Some(BIT));
        assert_eq!(alone(Some(0)), Some(0), "a hang-up is reported without a request");
        assert_eq!(alone(None), None, "an error without the bit, and not an empty request");

        let mut answers = vec![
            (libc::POLLIN, "IN"),
            (libc::POLLRDNORM, "IN"),
            (libc::POLLPRI, "PRI"),
            (libc::POLLOUT, "OUT"),
            (libc::POLLWRNORM, "OUT"),
            (libc::POLLERR, "ERR"),
            (libc::POLLHUP, "HUP"),
            (libc::POLLNVAL, "NVAL"),
            (libc::POLLIN | libc::POLLHUP, "IN|HUP"),
            (0, "-"),
        ];
        answers.extend(RDHUP.map(|bit| (bit, "RDHUP")));
        for (revents, written) in answers {
            assert_eq!(record(revents, 0).to_string(), written, "{revents:#x}");
        }
        let normal = libc::POLLRDNORM;
        assert_eq!(record(normal, normal).to_string(), "RDNORM");
        assert_eq!(record(normal | libc::POLLIN, normal | libc::POLLIN).to_string(), "IN|RDNORM");
        assert_eq!(record(libc::POLLWRBAND, libc::POLLWRBAND).to_string(), "WRBAND");
        assert_eq!(PollSelector::new().unwrap().no_event(), "-");
    }
}
