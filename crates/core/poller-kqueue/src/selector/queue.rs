//! The queue and its system calls.

use std::io;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr::without_provenance_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use ::selector::{
    Capabilities, Changed, Column, Event, Filter, Interest, Interface, Mode, RawArgument, RawWaited,
    Registered, Selector, Token, Unsupported, View, WakePipe,
};
use nix::errno::Errno;

use super::calls::{self, Action, Call, Known, Trigger};
use super::records::{Raw, record};
use crate::{abi, sys};

/// Creates a raw kqueue selector.
///
/// A raw selector reports what the kernel answers, without the protocol of `fd_core`. The threads of a
/// program may share it.
///
/// ```
/// let selector = pollmatrix_poller_kqueue::selector()?;
/// assert_eq!(selector.name(), "kqueue");
/// selector.wake().expect("it has its own means");
/// assert_eq!(selector.wait(8, None), Ok(vec![]), "a wake-up is no event");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of kqueue(2), and of the addition of the wake-up.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(KqueueSelector::new()?))
}

struct KqueueSelector {
    /// The number of the queue, or [`CLOSED`].
    queue: AtomicI32,
    /// The process that has the queue. In a forked child the number may belong to another file.
    process: u32,
    /// The wake-up if the kernel has no user events.
    pipe: Option<WakePipe>,
    known: Mutex<Known>,
}

/// A number that is never open, so that the kernel answers `EBADF` to every call.
const CLOSED: RawFd = -1;
/// The room of a raw wait whose unchanged argument is not the room, and the minimum size of its buffer. No
/// script registers as many descriptors in one queue.
const RAW_ROOM: i32 = 256;
const HAS_EXCEPT: bool = cfg!(evfilt_except);

const BOTH: Interest = Interest { read: true, write: true, ..Interest::NONE };
const LEVEL: &[View] = &[
    View { api: "kqueue-add-before", interest: BOTH, registered: Registered::Before },
    View { api: "kqueue-add-after", interest: BOTH, registered: Registered::After },
];
const EDGE: &[View] = &[View { api: "kqueue-add-before", interest: BOTH, registered: Registered::Before }];
const ONE_SHOT: &[View] = &[View { api: "kqueue", interest: BOTH, registered: Registered::Before }];

impl KqueueSelector {
    fn new() -> io::Result<Self> {
        let (queue, user_event) = sys::fresh()?;
        let pipe = if user_event { None } else { Some(WakePipe::new()?) };
        let selector = Self {
            queue: AtomicI32::new(queue.into_raw_fd()),
            process: std::process::id(),
            pipe,
            known: Mutex::default(),
        };
        if let Some(pipe) = &selector.pipe {
            let wake = Call { filter: Filter::Read, action: Action::Add(Trigger::Clear) };
            selector.call(pipe.number(), 0, &wake)?;
        }
        Ok(selector)
    }

    /// Makes all calls, even if some fail.
    fn change(&self, fd: RawFd, token: Token, calls: Result<Vec<Call>, Unsupported>) -> Changed {
        let (calls, token) = match (calls, usize::try_from(token)) {
            (Err(unsupported), _) => return Changed::Unsupported(unsupported),
            (_, Err(_)) => return Changed::unsupported(format!("the token {token} does not fit into udata")),
            (Ok(calls), Ok(token)) => (calls, token),
        };
        let results: Vec<_> = calls.iter().map(|call| self.call(fd, token, call)).collect();
        self.known.lock().unwrap().settle(fd, &calls, &results)
    }

    fn call(&self, fd: RawFd, token: usize, call: &Call) -> Result<(), Errno> {
        let change = abi::kevent {
            ident: fd as libc::uintptr_t,
            filter: match call.filter {
                Filter::Read => abi::EVFILT_READ,
                Filter::Write => abi::EVFILT_WRITE,
                Filter::Except => EVFILT_EXCEPT,
            },
            flags: abi::EV_RECEIPT
                | match call.action {
                    Action::Add(Trigger::Level) => abi::EV_ADD,
                    Action::Add(Trigger::Clear) => abi::EV_ADD | abi::EV_CLEAR,
                    Action::Add(Trigger::OneShot) => abi::EV_ADD | abi::EV_ONESHOT,
                    Action::Add(Trigger::Dispatch) => abi::EV_ADD | abi::EV_DISPATCH,
                    Action::AddEnabled => abi::EV_ADD | abi::EV_ENABLE | abi::EV_DISPATCH,
                    Action::Delete => abi::EV_DELETE,
                },
            fflags: if call.filter == Filter::Except { NOTE_OOB } else { 0 },
            udata: without_provenance_mut(token),
            ..sys::EMPTY
        };
        let mut returned = [sys::EMPTY];
        let count = sys::kevent(self.number(), &[change], &mut returned, Some(Duration::ZERO))?;
        sys::answer(&returned[..count])
    }

    /// Converts a kevent. Returns `None` for the wake-up, and drains its pipe.
    fn event(&self, raw: &abi::kevent) -> Option<Event> {
        let filter = match raw.filter {
            abi::EVFILT_READ => Filter::Read,
            abi::EVFILT_WRITE => Filter::Write,
            abi::EVFILT_USER => return None,
            _ => Filter::Except,
        };
        let fd = raw.ident as RawFd;
        if let Some(pipe) = self.pipe.as_ref().filter(|pipe| pipe.number() == fd) {
            pipe.drain();
            return None;
        }
        let has = |flag| raw.flags & flag != 0;
        let raw_record = Raw {
            filter,
            data: raw.data as _,
            fflags: raw.fflags,
            eof: has(abi::EV_EOF),
            error: has(abi::EV_ERROR),
            one_shot: has(abi::EV_ONESHOT),
        };
        let requested = self.known.lock().unwrap().is_one_shot(fd, filter);
        Some(Event { token: raw.udata.addr() as Token, record: record(&raw_record, requested) })
    }

    fn known(&self, fd: RawFd) -> Vec<Filter> {
        self.known.lock().unwrap().filters(fd)
    }

    fn number(&self) -> RawFd {
        // Relaxed: a scenario that closes the queue beside other calls records the kernel's answer, whatever
        // it is.
        self.queue.load(Ordering::Relaxed)
    }
}

#[cfg(evfilt_except)]
use libc::{EVFILT_EXCEPT, NOTE_OOB};
/// Never used: this system has no such filter.
#[cfg(not(evfilt_except))]
const EVFILT_EXCEPT: FilterNumber = 0;
#[cfg(not(evfilt_except))]
const NOTE_OOB: u32 = 0;
/// The type differs between systems.
#[cfg(all(not(evfilt_except), target_os = "netbsd"))]
type FilterNumber = u32;
#[cfg(all(not(evfilt_except), not(target_os = "netbsd")))]
type FilterNumber = i16;

impl Selector for KqueueSelector {
    fn name(&self) -> &str {
        "kqueue"
    }

    fn column(&self) -> Column {
        Column::of(Interface::Kqueue)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: calls::MODES.to_vec(),
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
            Mode::OneShot | Mode::Dispatch => ONE_SHOT,
            Mode::Exclusive | Mode::ExclusiveEdge => &[],
        }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.change(fd, token, calls::addition(interest, mode, HAS_EXCEPT))
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.change(fd, token, calls::modification(&self.known(fd), interest, mode, HAS_EXCEPT))
    }

    fn remove(&self, fd: RawFd) -> Changed {
        self.change(fd, 0, Ok(calls::removal(&self.known(fd))))
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut buffer = vec![sys::EMPTY; room];
        let count = sys::kevent(self.number(), &[], &mut buffer, timeout)?;
        Ok(buffer[..count].iter().filter_map(|raw| self.event(raw)).collect())
    }

    fn wait_raw(&self, argument: RawArgument) -> Result<Result<RawWaited, Errno>, Unsupported> {
        let (room, timeout) = match argument {
            RawArgument::Timespec { seconds, nanoseconds } => (RAW_ROOM, Some((seconds, nanoseconds))),
            RawArgument::Room(room) => (room, Some((0, 0))),
            other => return Err(Unsupported(format!("kevent(2) has no such argument: {other:?}"))),
        };
        let places = usize::try_from(room).unwrap_or(0).max(RAW_ROOM as usize);
        let mut buffer = vec![sys::EMPTY; places];
        let count = sys::wait_raw(self.number(), &mut buffer, room, timeout);
        let events = |count| buffer[..count].iter().filter_map(|raw| self.event(raw)).collect();
        Ok(count.map(|count| RawWaited { events: events(count), timeout_updated: None }))
    }

    fn wake(&self) -> Result<(), Unsupported> {
        match &self.pipe {
            Some(pipe) => pipe.wake().map_err(|error| Unsupported(format!("the wake-up pipe: {error}"))),
            None => {
                sys::trigger(self.number()).map_err(|errno| Unsupported(format!("the user event: {errno}")))
            }
        }
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        let number = self.queue.swap(CLOSED, Ordering::Relaxed);
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

    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        self.known.lock().unwrap().forget(fd);
        Ok(())
    }
}

impl Drop for KqueueSelector {
    fn drop(&mut self) {
        if self.number() != CLOSED && self.process == std::process::id() {
            let _ = self.close();
        }
    }
}
