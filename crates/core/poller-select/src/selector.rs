//! Raw select(2): three sets of numbers, from which the kernel removes those that are not ready.
//!
//! - A set contains a number once: a second addition adds to the interest, and its token replaces the first
//!   one.
//! - The `ENOENT` for a number that is in no set is this module's answer: the kernel does not know the sets.
//! - A number that no set can contain is refused: its bit would be in memory beyond the set.
//! - A wait passes copies to the kernel: the next wait sees changes that are made meanwhile.
//! - The read set also contains the number of the wake-up pipe.
//! - select(2) has no bound on the number of events: this module drops those beyond `room`, and every wait
//!   begins with the lowest number.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::Mutex;
use std::time::Duration;

use ::selector::{
    Capabilities, Changed, Column, Event, Inspected, Interest, Interface, Mode, PollBits, RawArgument,
    RawWaited, Record, Registered, Selector, Token, Unsupported, View, WakePipe,
};
use nix::errno::Errno;

use crate::sys::{self, FdSet};

/// Creates a raw select selector.
///
/// A raw selector reports what the kernel answers, without the protocol of `fd_core`. The threads of a
/// program may share it.
///
/// ```
/// let selector = pollmatrix_poller_select::selector()?;
/// assert_eq!(selector.name(), "select");
/// selector.wake().expect("it has its own means");
/// assert_eq!(selector.wait(8, None), Ok(vec![]), "a wake-up is no event");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of the wake-up pipe; `InvalidInput` if no set can contain its number.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(SelectSelector::new()?))
}

struct SelectSelector {
    sets: Mutex<BTreeMap<RawFd, Entry>>,
    pipe: WakePipe,
}

#[derive(Clone, Copy)]
struct Entry {
    token: Token,
    interest: Interest,
}

const VIEWS: &[View] = &[View { api: "select", interest: Interest::ALL, registered: Registered::After }];

impl SelectSelector {
    fn new() -> io::Result<Self> {
        let pipe = WakePipe::new()?;
        match beyond(pipe.number()) {
            Some(reason) => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, format!("the wake-up pipe: {reason}")))
            }
            None => Ok(Self { sets: Mutex::default(), pipe }),
        }
    }

    /// Returns a copy of the registrations.
    fn copy(&self) -> BTreeMap<RawFd, Entry> {
        self.sets.lock().unwrap().clone()
    }

    /// Polls a copy of the registrations.
    fn wait_with(
        &self,
        entries: BTreeMap<RawFd, Entry>,
        room: usize,
        timeout: Option<Duration>,
    ) -> Result<Vec<Event>, Errno> {
        self.call(entries, room, |sets| sys::select(sets, timeout))
    }

    /// Fills the sets, makes the call, and returns the events in the resulting sets, at most `room`. Drains
    /// the pipe.
    fn call(
        &self,
        entries: BTreeMap<RawFd, Entry>,
        room: usize,
        select: impl FnOnce([&mut FdSet; 3]) -> Result<usize, Errno>,
    ) -> Result<Vec<Event>, Errno> {
        let [mut read, mut write, mut except] = [(); 3].map(|()| FdSet::default());
        for (fd, Entry { interest, .. }) in &entries {
            let wanted =
                [(interest.read, &mut read), (interest.write, &mut write), (interest.urgent, &mut except)];
            wanted.into_iter().filter(|(wanted, _)| *wanted).for_each(|(_, set)| set.insert(*fd));
        }
        let pipe = self.pipe.number();
        read.insert(pipe);
        if select([&mut read, &mut write, &mut except])? == 0 {
            // With an `nfds` of zero the kernel leaves the sets unchanged.
            return Ok(Vec::new());
        }
        if read.contains(pipe) {
            self.pipe.drain();
        }
        let event = |(fd, Entry { token, .. }): (RawFd, Entry)| {
            let (read, write, except) = (read.contains(fd), write.contains(fd), except.contains(fd));
            (read || write || except).then_some(Event { token, record: Record::Sets { read, write, except } })
        };
        Ok(entries.into_iter().filter_map(event).take(room).collect())
    }
}

impl Selector for SelectSelector {
    fn name(&self) -> &str {
        "select"
    }

    fn column(&self) -> Column {
        Column::of(Interface::Select)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: vec![Mode::Level],
            shared_wait: Ok(()),
            changes_seen_by_waiters: Err(
                "select(2) sees the sets that it was called with, and no later change",
            ),
            own_numbers: Ok(()),
            raw_records: true,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if mode == Mode::Level { VIEWS } else { &[] }
    }

    fn no_event(&self) -> &'static str {
        "---"
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        if let Err(unsupported) = expressible(fd, interest, mode) {
            return Changed::Unsupported(unsupported);
        }
        let mut sets = self.sets.lock().unwrap();
        let before = sets.get(&fd).map_or(Interest::NONE, |entry| entry.interest);
        sets.insert(fd, Entry { token, interest: before.or(interest) });
        Changed::Done
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        if let Err(unsupported) = expressible(fd, interest, mode) {
            return Changed::Unsupported(unsupported);
        }
        match self.sets.lock().unwrap().get_mut(&fd) {
            None => Changed::refused(Errno::ENOENT),
            Some(entry) => {
                *entry = Entry { token, interest };
                Changed::Done
            }
        }
    }

    fn remove(&self, fd: RawFd) -> Changed {
        match self.sets.lock().unwrap().remove(&fd) {
            None => Changed::refused(Errno::ENOENT),
            Some(_) => Changed::Done,
        }
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        self.wait_with(self.copy(), room, timeout)
    }

    fn wait_masked(
        &self,
        room: usize,
        timeout: Option<Duration>,
        mask: &libc::sigset_t,
    ) -> Result<Result<Vec<Event>, Errno>, Unsupported> {
        Ok(self.call(self.copy(), room, |sets| {
            sys::pselect(sets, timeout.map(::selector::timespec), Some(mask))
        }))
    }

    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        let (mut timeout, count) = match argument {
            RawArgument::Timeval { seconds, microseconds } => {
                (Some(libc::timeval { tv_sec: seconds as _, tv_usec: microseconds as _ }), None)
            }
            RawArgument::Count(count) => (None, Some(count)),
            RawArgument::Timespec { seconds, nanoseconds } => {
                let timeout = libc::timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ };
                let waited =
                    self.call(self.copy(), usize::MAX, |sets| sys::pselect(sets, Some(timeout), None));
                return Ok(waited.map(|events| RawWaited { events, timeout_updated: None }));
            }
            other => return Err(Unsupported(format!("select(2) has no such argument: {other:?}"))),
        };
        let before = timeout.map(|timeout| (timeout.tv_sec, timeout.tv_usec));
        let waited =
            self.call(self.copy(), usize::MAX, |sets| sys::select_raw(sets, count, timeout.as_mut()));
        let after = timeout.map(|timeout| (timeout.tv_sec, timeout.tv_usec));
        let timeout_updated = timeout.map(|_| before != after);
        Ok(waited.map(|events| RawWaited { events, timeout_updated }))
    }

    fn wait_inspected(&self) -> Result<Result<Inspected, Errno>, Unsupported> {
        let (mut returned, mut memory) = (0, Vec::new());
        let waited = self.call(self.copy(), usize::MAX, |sets| {
            let inspected = sys::select_inspected(sets)?;
            returned = inspected.ready;
            memory = vec![
                if inspected.unready_cleared {
                    "the others below nfds are cleared"
                } else {
                    "the others below nfds are kept"
                },
                match inspected.above {
                    sys::Above::Kept => "those above are kept",
                    sys::Above::KeptInPart => "those above are kept in part",
                    sys::Above::Cleared => "those above are cleared",
                },
            ];
            Ok(returned)
        });
        Ok(waited.map(|events| Inspected { events, returned, memory }))
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.pipe.wake().map_err(|error| Unsupported(format!("the wake-up pipe: {error}")))
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("select(2) has no descriptor of its own".into()))
    }
}

/// Checks that sets can express a registration. `peer_shut` has no set: it is left out, unless it is the only
/// part.
fn expressible(fd: RawFd, interest: Interest, mode: Mode) -> Result<(), Unsupported> {
    let reason = if mode != Mode::Level {
        Some(format!("select(2) is level-triggered only: there is no {mode:?}"))
    } else if interest.bits != PollBits::NONE {
        Some("select(2) has no names for bits".into())
    } else if interest == (Interest { peer_shut: true, ..Interest::NONE }) {
        Some("select(2) has no set for a half-closed peer alone".into())
    } else {
        beyond(fd)
    };
    reason.map_or(Ok(()), |reason| Err(Unsupported(reason)))
}

/// Returns why no set can contain the number, or `None` if a set can.
fn beyond(fd: RawFd) -> Option<String> {
    let reason = || {
        format!("no set can contain the number {fd}: it must be 0 to {} (FD_SETSIZE)", libc::FD_SETSIZE - 1)
    };
    (!FdSet::has_room_for(fd)).then(reason)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use fd_core::poller::testing::{closed_number, readable_pipe};

    use super::*;

    /// Polls once, and returns the events in the published notation.
    fn seen(selector: &SelectSelector) -> Vec<(Token, String)> {
        events_of(selector.wait(8, Some(Duration::ZERO)))
    }

    fn events_of(waited: Result<Vec<Event>, Errno>) -> Vec<(Token, String)> {
        waited.unwrap().into_iter().map(|event| (event.token, event.record.to_string())).collect()
    }

    fn add(selector: &SelectSelector, fd: RawFd, token: Token, interest: Interest) {
        assert_eq!(selector.add(fd, token, interest, Mode::Level), Changed::Done);
    }

    fn input(tokens: impl IntoIterator<Item = Token>) -> Vec<(Token, String)> {
        tokens.into_iter().map(|token| (token, "r--".into())).collect()
    }

    #[test]
    fn a_second_addition_adds_to_the_interest_and_replaces_the_token() {
        let selector = SelectSelector::new().unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"x").unwrap();
        add(&selector, ours.as_raw_fd(), 1, Interest::READ);
        assert_eq!(seen(&selector), input([1]));
        add(&selector, ours.as_raw_fd(), 2, Interest::WRITE);
        assert_eq!(seen(&selector), [(2, "rw-".into())]);
        assert_eq!(selector.modify(ours.as_raw_fd(), 3, Interest::WRITE, Mode::Level), Changed::Done);
        assert_eq!(seen(&selector), [(3, "-w-".into())], "a modification replaces");
    }

    #[test]
    fn a_wait_polls_the_sets_of_its_beginning() {
        let (selector, (_reader, _writer, fd)) = (SelectSelector::new().unwrap(), readable_pipe());
        let (_other_reader, _other_writer, other) = readable_pipe();
        add(&selector, fd, 1, Interest::READ);
        let copy = selector.copy();
        add(&selector, other, 2, Interest::READ);
        selector.remove(fd);
        assert_eq!(events_of(selector.wait_with(copy, 8, Some(Duration::ZERO))), input([1]));
        assert_eq!(seen(&selector), input([2]));
    }

    #[test]
    fn every_wait_begins_with_the_lowest_number() {
        let selector = SelectSelector::new().unwrap();
        let mut pipes: Vec<_> = (0..3).map(|_| readable_pipe()).collect();
        pipes.sort_by_key(|(_, _, fd)| *fd);
        for token in [2, 1, 0] {
            add(&selector, pipes[token].2, token as Token, Interest::READ);
        }
        let wait = |room| events_of(selector.wait(room, None));
        assert_eq!((wait(2), wait(2), wait(3), wait(0)), (input([0, 1]), input([0, 1]), input(0..3), vec![]));
    }

    #[test]
    fn a_number_beyond_a_set_is_refused() {
        let selector = SelectSelector::new().unwrap();
        let size = libc::FD_SETSIZE as RawFd;
        for fd in [-1, RawFd::MIN, size, RawFd::MAX] {
            let Changed::Unsupported(Unsupported(reason)) = selector.add(fd, 1, Interest::READ, Mode::Level)
            else {
                panic!("{fd}")
            };
            assert!(reason.contains(&fd.to_string()) && reason.contains("FD_SETSIZE"), "{reason}");
        }
        add(&selector, size - 1, 1, Interest::NONE);
        assert_eq!(seen(&selector), [], "the highest number fits");
    }

    /// T11.
    #[test]
    fn an_inspected_wait_leaves_only_the_bits_that_it_counts() {
        let (selector, (_reader, _writer, fd)) = (SelectSelector::new().unwrap(), readable_pipe());
        let (_other_reader, other_writer, _) = readable_pipe();
        let idle = UnixStream::pair().unwrap();
        let inspected = || {
            let inspected = selector.wait_inspected().unwrap().unwrap();
            (inspected.events.len(), inspected.returned, inspected.memory[0])
        };
        add(&selector, idle.0.as_raw_fd(), 1, Interest::READ);
        assert_eq!(inspected(), (0, 0, "the others below nfds are cleared"));
        add(&selector, fd, 2, Interest::READ);
        add(&selector, other_writer.as_raw_fd(), 3, Interest::WRITE);
        assert_eq!(inspected(), (2, 2, "the others below nfds are cleared"));
        assert!(matches!(
            selector.add(fd, 4, Interest::BITS[6].1, Mode::Level),
            Changed::Unsupported(Unsupported(reason)) if reason.contains("bits")
        ));
    }

    /// After its removal the poller works again.
    #[test]
    fn a_closed_number_fails_the_whole_call() {
        let (selector, (_reader, _writer, fd)) = (SelectSelector::new().unwrap(), readable_pipe());
        let closed = closed_number();
        add(&selector, fd, 1, Interest::READ);
        add(&selector, closed, 2, Interest::READ);
        assert_eq!(selector.wait(8, Some(Duration::ZERO)), Err(Errno::EBADF));
        assert_eq!(selector.remove(closed), Changed::Done);
        assert_eq!(seen(&selector), input([1]));
    }

    /// T05, T10.
    #[test]
    fn raw_arguments_reach_the_kernel() {
        let (selector, (_reader, _writer, fd)) = (SelectSelector::new().unwrap(), readable_pipe());
        add(&selector, fd, 1, Interest::READ);
        let waited = |argument| selector.wait_raw(argument).unwrap();
        let timeval = |seconds, microseconds| RawArgument::Timeval { seconds, microseconds };
        let timespec = |seconds, nanoseconds| RawArgument::Timespec { seconds, nanoseconds };
        assert_eq!(waited(timespec(-1, 0)), Err(Errno::EINVAL));
        assert_eq!(waited(timespec(0, 0)).map(|waited| waited.events.len()), Ok(1));
        assert_eq!(waited(timeval(-1, 0)), Err(Errno::EINVAL));
        assert_eq!(waited(RawArgument::Count(-1)), Err(Errno::EINVAL));
        assert_eq!(
            events_of(waited(RawArgument::Count(0)).map(|waited| waited.events)),
            [],
            "no number is polled"
        );
        assert_eq!(events_of(waited(timeval(5, 0)).map(|waited| waited.events)), input([1]));
        #[cfg(target_os = "linux")]
        {
            assert_eq!(waited(timeval(5, 0)).unwrap().timeout_updated, Some(true));
            let beyond = waited(RawArgument::Count(5000)).map(|waited| waited.events);
            assert_eq!(events_of(beyond), input([1]));
        }
    }

    #[test]
    fn each_set_is_requested_and_reported_independently() {
        let selector = SelectSelector::new().unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"x").unwrap();
        let fd = ours.as_raw_fd();
        add(&selector, fd, 1, Interest::NONE);
        let urgent = Interest { urgent: true, ..Interest::NONE };
        let table = [
            (Interest::READ, Some("r--")),
            (Interest::WRITE, Some("-w-")),
            (Interest::ALL, Some("rw-")),
            (urgent, None),
            (Interest::NONE, None),
        ];
        for (interest, written) in table {
            selector.modify(fd, 1, interest, Mode::Level);
            let expected: Vec<_> = written.into_iter().map(|written| (1, written.into())).collect();
            assert_eq!(seen(&selector), expected, "{interest:?}");
        }
        let half = Interest { peer_shut: true, ..Interest::NONE };
        assert!(matches!(selector.modify(fd, 1, half, Mode::Level), Changed::Unsupported(_)));
        assert_eq!(selector.no_event(), "---");
    }
}
