//! The queue and its system calls.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr::without_provenance_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::selector::{
    Capabilities, Changed, Column, Event, Filter, Inspected, Interest, Interface, Mode, RawArgument,
    RawWaited, Registered, Selector, Source, Sources, TimerSetting, Token, Unsupported, View, WakePipe,
};
use nix::errno::Errno;

use super::calls::{self, Action, Call, Known, Trigger};
use super::records::{Raw, record};
use super::sources::{self, Codes, Fields};
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

/// The token and the mode of a registration.
type Registration = (Token, Mode);

struct KqueueSelector {
    /// The number of the queue, or [`CLOSED`].
    queue: AtomicI32,
    /// The process that has the queue. In a forked child the number may belong to another file.
    process: u32,
    /// The wake-up if the kernel has no user events.
    pipe: Option<WakePipe>,
    known: Mutex<Known>,
    /// The sources for which numbers stand, and their registrations.
    sources: Mutex<BTreeMap<RawFd, (Source, Option<Registration>)>>,
    /// The token of each number's last addition or modification.
    tokens: Mutex<BTreeMap<RawFd, Token>>,
}

/// A number that is never open, so that the kernel answers `EBADF` to every call.
const CLOSED: RawFd = -1;
/// The room of a raw wait whose unchanged argument is not the room, and the minimum size of its buffer. No
/// script registers as many descriptors in one queue.
const RAW_ROOM: i32 = 256;
/// How long a timer that is set to a past time may take to expire.
const EXPIRY: Duration = Duration::from_millis(250);
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
            sources: Mutex::default(),
            tokens: Mutex::default(),
        };
        if let Some(pipe) = &selector.pipe {
            let wake = Call { filter: Filter::Read, action: Action::Add(Trigger::Clear) };
            selector.call(pipe.number(), 0, &wake)?;
        }
        Ok(selector)
    }

    /// Makes all calls, even if some fail.
    fn change(&self, fd: RawFd, token: Token, calls: Result<Vec<Call>, Unsupported>) -> Changed {
        self.tokens.lock().unwrap().insert(fd, token);
        let (calls, token) = match (calls, usize::try_from(token)) {
            (Err(unsupported), _) => return Changed::Unsupported(unsupported),
            (_, Err(_)) => return Changed::unsupported(format!("the token {token} does not fit into udata")),
            (Ok(calls), Ok(token)) => (calls, token),
        };
        let results: Vec<_> = calls.iter().map(|call| self.call(fd, token, call)).collect();
        self.known.lock().unwrap().settle(fd, &calls, &results)
    }

    fn call(&self, fd: RawFd, token: usize, call: &Call) -> Result<(), Errno> {
        let fflags = if call.filter == Filter::Except { NOTE_OOB } else { 0 };
        self.submit(token, call, Fields { ident: fd as usize, fflags, data: 0 })
    }

    fn submit(&self, token: usize, call: &Call, fields: Fields) -> Result<(), Errno> {
        let flags = match call.action {
            Action::Add(Trigger::Level) => abi::EV_ADD,
            Action::Add(Trigger::Clear) => abi::EV_ADD | abi::EV_CLEAR,
            Action::Add(Trigger::OneShot) => abi::EV_ADD | abi::EV_ONESHOT,
            Action::Add(Trigger::ClearOneShot) => abi::EV_ADD | abi::EV_CLEAR | abi::EV_ONESHOT,
            Action::Add(Trigger::Dispatch) => abi::EV_ADD | abi::EV_DISPATCH,
            Action::AddEnabled => abi::EV_ADD | abi::EV_ENABLE | abi::EV_DISPATCH,
            Action::Delete => abi::EV_DELETE,
            Action::Enable => abi::EV_ENABLE,
            Action::Disable => abi::EV_DISABLE,
            Action::Touch => 0,
        };
        // Some systems have more fields.
        let mut change = sys::EMPTY;
        change.ident = fields.ident as libc::uintptr_t;
        change.filter = match call.filter {
            Filter::Read => abi::EVFILT_READ,
            Filter::Write => abi::EVFILT_WRITE,
            Filter::Except => EVFILT_EXCEPT,
            Filter::Timer => abi::EVFILT_TIMER,
            Filter::Process => abi::EVFILT_PROC,
            Filter::Signal => abi::EVFILT_SIGNAL,
            Filter::File => abi::EVFILT_VNODE,
            Filter::User => abi::EVFILT_USER,
        };
        change.flags = abi::EV_RECEIPT | flags;
        change.fflags = fields.fflags;
        change.data = fields.data as _;
        change.udata = without_provenance_mut(token);
        let mut returned = [sys::EMPTY];
        let count = sys::kevent(self.number(), &[change], &mut returned, Some(Duration::ZERO))?;
        sys::answer(&returned[..count])
    }

    /// Returns the source for which a number stands, and its registration.
    fn source(&self, fd: RawFd) -> Option<(Source, Option<Registration>)> {
        self.sources.lock().unwrap().get(&fd).copied()
    }

    /// Changes the filter of a source by one call. A timer that is not set has none: then it is added with
    /// the setting.
    fn change_source(
        &self,
        fd: RawFd,
        source: Source,
        registration: Option<Registration>,
        call: Result<Call, Unsupported>,
    ) -> Changed {
        let call = match call {
            Ok(call) => call,
            Err(unsupported) => return Changed::Unsupported(unsupported),
        };
        let is_removal = call.action == Action::Delete;
        let has_filter = !self.known(fd).is_empty();
        let is_due = sources::exists(source) || is_removal && has_filter;
        let token = registration.map_or(0, |(token, _)| token);
        let result = match is_due {
            true => match self.try_source(fd, source, token, &call) {
                Ok(result) => result,
                Err(unsupported) => return Changed::Unsupported(unsupported),
            },
            false => Ok(()),
        };
        if result.is_ok()
            && let Some((_, stored)) = self.sources.lock().unwrap().get_mut(&fd)
        {
            *stored = if is_removal { None } else { registration };
        }
        match is_due {
            true => self.known.lock().unwrap().settle(fd, &[call], &[result]),
            false => Changed::Done,
        }
    }

    fn try_source(
        &self,
        fd: RawFd,
        source: Source,
        token: Token,
        call: &Call,
    ) -> Result<Result<(), Errno>, Unsupported> {
        let token = usize::try_from(token)
            .map_err(|_| Unsupported(format!("the token {token} does not fit into udata")))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let fields = sources::fields(&SOURCES, fd, source, call.action, now)?;
        Ok(self.submit(token, call, fields))
    }

    /// Converts a kevent. Returns `None` for the wake-up, and drains its pipe.
    fn event(&self, raw: &abi::kevent) -> Option<Event> {
        let filter = match raw.filter {
            abi::EVFILT_READ => Filter::Read,
            abi::EVFILT_WRITE => Filter::Write,
            abi::EVFILT_USER if raw.ident == sys::USER_EVENT => return None,
            abi::EVFILT_USER => Filter::User,
            abi::EVFILT_TIMER => Filter::Timer,
            abi::EVFILT_PROC => Filter::Process,
            abi::EVFILT_SIGNAL => Filter::Signal,
            abi::EVFILT_VNODE => Filter::File,
            _ => Filter::Except,
        };
        let fd = match filter {
            // Their identifiers are no numbers of the script.
            Filter::Process | Filter::Signal => {
                let id = raw.ident as i32;
                let is_it = |source: &Source| match *source {
                    Source::Process(process) => filter == Filter::Process && process == id,
                    Source::Signal(signal) => filter == Filter::Signal && signal == id,
                    _ => false,
                };
                let sources = self.sources.lock().unwrap();
                sources.iter().find(|(_, (source, _))| is_it(source)).map_or(id, |(number, _)| *number)
            }
            _ => raw.ident as RawFd,
        };
        if let Some(pipe) = self.pipe.as_ref().filter(|pipe| filter == Filter::Read && pipe.number() == fd) {
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

    /// Waits until a timer that was set to a past time has expired, without taking its event. The kernel
    /// expires it beside this thread: a later one in another queue expires first or soon after. Then this
    /// queue is readable, unless the registration is disabled or a thread has taken the event.
    fn await_expiry(&self) {
        let mark = || -> io::Result<()> {
            let (queue, _) = sys::fresh()?;
            let timer = abi::kevent {
                ident: 1,
                filter: abi::EVFILT_TIMER,
                flags: abi::EV_ADD | abi::EV_ONESHOT,
                data: 1,
                ..sys::EMPTY
            };
            let mut expired = [sys::EMPTY];
            sys::kevent(queue.as_raw_fd(), &[timer], &mut [], Some(Duration::ZERO))?;
            sys::kevent(queue.as_raw_fd(), &[], &mut expired, Some(EXPIRY))?;
            Ok(())
        };
        // Without a mark, the wait below is all.
        let _ = mark();
        let mut polled = libc::pollfd { fd: self.number(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the pointer is to one live pollfd.
        unsafe { libc::poll(&raw mut polled, 1, EXPIRY.as_millis() as libc::c_int) };
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

/// The constants of sources, which differ between systems.
const SOURCES: Codes = Codes {
    #[cfg(all(not(kqueue_library), any(target_os = "freebsd", target_os = "netbsd")))]
    absolute_time: Some(libc::NOTE_ABSTIME),
    #[cfg(any(kqueue_library, target_os = "macos"))]
    absolute_time: Some(0x0000_0008),
    // OpenBSD and DragonFly; a constant that a newer kernel may have is not in `libc`.
    #[cfg(not(any(kqueue_library, target_os = "freebsd", target_os = "netbsd", target_os = "macos")))]
    absolute_time: None,
    exit: NOTE_EXIT | if cfg!(target_os = "macos") { 0x0400_0000 } else { 0 },
    truncate: if cfg!(target_os = "openbsd") { Some(0x80) } else { None },
};

#[cfg(not(kqueue_library))]
use libc::NOTE_EXIT;
#[cfg(kqueue_library)]
const NOTE_EXIT: u32 = 0x8000_0000;

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
            Mode::OneShot | Mode::Dispatch | Mode::EdgeOneShot => ONE_SHOT,
            Mode::Exclusive | Mode::ExclusiveEdge => &[],
        }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        if let Some((source, _)) = self.source(fd) {
            let call = calls::addition_of_source(sources::filter(source), mode);
            return self.change_source(fd, source, Some((token, mode)), call);
        }
        self.change(fd, token, calls::addition(interest, mode, HAS_EXCEPT))
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        if let Some((source, _)) = self.source(fd) {
            let call = calls::modification_of_source(sources::filter(source), mode);
            return self.change_source(fd, source, Some((token, mode)), call);
        }
        self.change(fd, token, calls::modification(&self.known(fd), interest, mode, HAS_EXCEPT))
    }

    fn remove(&self, fd: RawFd) -> Changed {
        if let Some((source, _)) = self.source(fd) {
            let call = Call { filter: sources::filter(source), action: Action::Delete };
            return self.change_source(fd, source, None, Ok(call));
        }
        self.change(fd, 0, Ok(calls::removal(&self.known(fd))))
    }

    fn enable(&self, fd: RawFd, enabled: bool) -> Changed {
        let calls = calls::enabling(&self.known(fd), enabled);
        if let Some((source, Some((token, _)))) = self.source(fd) {
            let call = Call { filter: sources::filter(source), ..calls[0] };
            return match self.try_source(fd, source, token, &call) {
                Ok(result) => self.known.lock().unwrap().settle(fd, &[call], &[result]),
                Err(unsupported) => Changed::Unsupported(unsupported),
            };
        }
        // The call replaces the token, too.
        let token = self.tokens.lock().unwrap().get(&fd).copied().unwrap_or_default();
        self.change(fd, token, Ok(calls))
    }

    fn sources(&self) -> Option<&dyn Sources> {
        Some(self)
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

    fn wait_inspected(&self) -> Result<Result<Inspected, Errno>, Unsupported> {
        /// The number in an entry that the kernel has not written.
        const UNTOUCHED: libc::uintptr_t = 0x5a5a;
        let mut buffer = vec![abi::kevent { ident: UNTOUCHED, ..sys::EMPTY }; RAW_ROOM as usize];
        let count = sys::kevent(self.number(), &[], &mut buffer, Some(Duration::ZERO));
        Ok(count.map(|count| {
            let (written, behind) = buffer.split_at(count);
            let memory = if behind.iter().all(|raw| raw.ident == UNTOUCHED) {
                "the entries behind are kept"
            } else {
                "the entries behind are changed"
            };
            let events = written.iter().filter_map(|raw| self.event(raw)).collect();
            Inspected { events, returned: count, memory: vec![memory] }
        }))
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

    fn adopt(&self, descriptor: OwnedFd) -> Result<(), Unsupported> {
        // A forked child has no queue under the inherited number, which may be another file's.
        self.queue.store(descriptor.into_raw_fd(), Ordering::Relaxed);
        Ok(())
    }

    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        self.known.lock().unwrap().forget(fd);
        self.sources.lock().unwrap().remove(&fd);
        Ok(())
    }
}

impl Sources for KqueueSelector {
    fn stands_for(&self, number: RawFd, source: Source) {
        let mut sources = self.sources.lock().unwrap();
        sources.entry(number).and_modify(|(known, _)| *known = source).or_insert((source, None));
    }

    fn apply(&self, number: RawFd) -> Option<Result<(), Errno>> {
        let (source, Some(registration)) = self.source(number)? else { return None };
        let filter = sources::filter(source);
        let mut call = calls::addition_of_source(filter, registration.1).ok()?;
        match source {
            Source::Timer(TimerSetting::Unset) if self.known(number).is_empty() => return Some(Ok(())),
            Source::Timer(TimerSetting::Unset) => call.action = Action::Delete,
            // Not an addition: that would add a one-shot event again that has fired.
            Source::UserEvent { .. } => call.action = Action::Touch,
            _ => {}
        }
        let result = self.try_source(number, source, registration.0, &call).unwrap_or(Err(Errno::ENOTSUP));
        if call.action != Action::Touch {
            self.known.lock().unwrap().settle(number, &[call], &[result]);
        }
        if result.is_ok() && source == Source::Timer(TimerSetting::Expired) {
            self.await_expiry();
        }
        Some(result)
    }
}

impl Drop for KqueueSelector {
    fn drop(&mut self) {
        if self.number() != CLOSED && self.process == std::process::id() {
            let _ = self.close();
        }
    }
}
