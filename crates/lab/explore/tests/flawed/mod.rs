//! A poller with one mistake, for tests: a wrapper around a good one.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fd_core::hooks::fault::{Backend, Fault};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use selector::{
    Bits, Capabilities, Changed, Event, Filter, Interest, MakeSelector, Mode, Record, Selector, Token,
    Unsupported, View,
};

/// Returns the poller without the mistake and the one with it.
pub fn pair(flaw: Option<Fault>) -> (MakeSelector, MakeSelector) {
    let base = flaw.map_or(Backend::Epoll, |flaw| flaw.backends()[0]);
    let with = |mistake: Option<Fault>| -> MakeSelector {
        Box::leak(Box::new(move || {
            let inner =
                if base == Backend::Poll { poller_poll::selector()? } else { poller_epoll::selector()? };
            Ok(Box::new(Flawed { inner, base, mistake, state: Mutex::default() }) as Box<dyn Selector>)
        }))
    };
    (with(None), with(flaw))
}

/// The registrations of a flawed poller.
#[derive(Default)]
struct State {
    /// By token.
    registered: BTreeMap<Token, (RawFd, Interest, Mode)>,
    /// The first registration, which is the fence of the interpreter. It has no flaw.
    fence: Option<Token>,
    /// How often each registration was reported.
    reported: BTreeMap<Token, usize>,
    /// The last event of each registration.
    last: BTreeMap<Token, Record>,
    /// Registrations that are disabled for good.
    disabled: BTreeSet<Token>,
    /// Closed numbers that were reported once more.
    reported_closed: BTreeSet<Token>,
    /// The file of each number when it was registered.
    files: BTreeMap<Token, Option<FileId>>,
}

/// The device and the inode of a file.
type FileId = (u64, u64);

struct Flawed {
    inner: Box<dyn Selector>,
    /// The backend that has the mistake. kqueue is epoll in the words of kqueue.
    base: Backend,
    mistake: Option<Fault>,
    state: Mutex<State>,
}

/// Returns whether a number is open.
fn is_open(fd: RawFd) -> bool {
    if fd < 0 {
        return false;
    }
    // SAFETY: the number is not negative, and only its flags are read.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    nix::fcntl::fcntl(fd, nix::fcntl::FcntlArg::F_GETFD).is_ok()
}

fn file_id(fd: RawFd) -> Option<FileId> {
    if fd < 0 {
        return None;
    }
    // SAFETY: the number is not negative, and only the state of its file is read.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    nix::sys::stat::fstat(fd).map(|stat| (stat.st_dev, stat.st_ino)).ok()
}

/// Returns whether the kernel's name of an open file ends with this.
fn is(fd: RawFd, name: &str) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}"));
    link.is_ok_and(|link| link.to_string_lossy().ends_with(name))
}

impl Flawed {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) {
        let mut state = self.state();
        state.fence.get_or_insert(token);
        state.registered.retain(|_, (known, ..)| *known != fd);
        state.files.insert(token, file_id(fd));
        state.registered.insert(token, (fd, interest, mode));
    }

    /// Returns the mode in which the kernel registers.
    fn mode(&self, token: Token, mode: Mode) -> Mode {
        let state = self.state();
        let is_fence = state.fence.is_none_or(|fence| fence == token);
        let before = state.registered.iter().rfind(|(other, _)| Some(**other) != state.fence);
        let before = before.map(|(_, (.., mode))| *mode);
        drop(state);
        match (self.mistake, mode) {
            (Some(Fault::EdgeIsLevel), Mode::Edge) if !is_fence => Mode::Level,
            (Some(Fault::LevelIsEdge), Mode::Level) if !is_fence => Mode::Edge,
            (Some(Fault::OneShotStays), Mode::OneShot) if !is_fence => Mode::Edge,
            (Some(Fault::ModeOfOther), _) if !is_fence => before.unwrap_or(mode),
            _ => mode,
        }
    }

    fn interest(&self, interest: Interest) -> Interest {
        match self.mistake {
            Some(Fault::InventWrite) => Interest { write: true, ..interest },
            _ => interest,
        }
    }

    /// Returns the bits with the mistake.
    fn bits(&self, fd: RawFd, bits: Bits, interest: Interest) -> Bits {
        match self.mistake {
            Some(Fault::DropTimer) if is(fd, "[timerfd]") => Bits::default(),
            Some(Fault::DropWatch) if is(fd, "inotify") => Bits::default(),
            Some(Fault::DropQueue) if is(fd, "[eventpoll]") => Bits::default(),
            Some(Fault::FullCounterIsWritable) if is(fd, "[eventfd]") && interest.write => {
                Bits { output: true, ..bits }
            }
            Some(Fault::DropHalfClose) => Bits { peer_shut: false, ..bits },
            Some(Fault::DropHangUp) => Bits { hang_up: false, ..bits },
            Some(Fault::DropError) => Bits { error: false, ..bits },
            Some(Fault::DropUrgent) => Bits { urgent: false, ..bits },
            Some(Fault::DropWriteBesideRead) if bits.input => Bits { output: false, ..bits },
            Some(Fault::HangUpIsInput) if bits.hang_up => Bits { hang_up: false, input: true, ..bits },
            Some(Fault::NothingMeansSilence) if interest == Interest::NONE => Bits::default(),
            _ => bits,
        }
    }

    /// Returns the events with the mistake, without those of the fence.
    fn events(&self, events: Vec<Event>) -> Vec<Event> {
        let mut state = self.state();
        let mut out: Vec<Event> = Vec::new();
        for event in events {
            let (fd, interest, mode) =
                state.registered.get(&event.token).copied().unwrap_or((-1, Interest::ALL, Mode::Level));
            let Record::Bits(bits) = event.record else { continue };
            let bits = self.bits(fd, bits, interest);
            if bits == Bits::default() {
                continue;
            }
            let count = state.reported.entry(event.token).or_default();
            *count += 1;
            let is_second = *count == 2;
            if self.mistake == Some(Fault::ForgetSecondEdge) && mode == Mode::Edge && is_second {
                continue;
            }
            if state.disabled.contains(&event.token) {
                continue;
            }
            if self.mistake == Some(Fault::OneShotIsFinal) && mode == Mode::OneShot {
                state.disabled.insert(event.token);
            }
            let event = Event { token: event.token, record: Record::Bits(bits) };
            state.last.insert(event.token, event.record.clone());
            match (self.mistake, out.first_mut()) {
                (Some(Fault::MergeEvents), Some(first)) => {
                    if let Record::Bits(known) = &mut first.record {
                        known.input |= bits.input;
                        known.output |= bits.output;
                        known.hang_up |= bits.hang_up;
                    }
                }
                (Some(Fault::OneEvent), Some(_)) => {}
                (Some(Fault::OnlyFirstWakes), _) if state.registered.keys().nth(1) == Some(&event.token) => {}
                _ => out.push(event),
            }
        }
        let is_gone = |token, fd| match self.mistake {
            Some(Fault::ReportClosed) => !is_open(fd),
            Some(Fault::ReportReplaced) => is_open(fd) && state.files.get(token) != Some(&file_id(fd)),
            _ => false,
        };
        let gone = state.registered.iter().filter(|(token, (fd, ..))| is_gone(*token, *fd));
        let gone: Vec<_> = gone.map(|(token, _)| *token).collect();
        for token in gone {
            if let Some(record) = state.last.get(&token).cloned()
                && state.reported_closed.insert(token)
            {
                out.push(Event { token, record });
            }
        }
        if self.mistake == Some(Fault::ReverseOrder) {
            out.reverse();
        }
        out
    }

    /// Returns the events in the words of kqueue.
    fn filters(&self, events: Vec<Event>) -> Vec<Event> {
        let mut out = Vec::new();
        let state = self.state();
        for event in events {
            let fd = state.registered.get(&event.token).map_or(-1, |(fd, ..)| *fd);
            let Record::Bits(bits) = event.record else { continue };
            let unread = unread(fd);
            let eof = bits.peer_shut || bits.hang_up;
            let eof = eof && !(self.mistake == Some(Fault::EndHidesBehindData) && unread > 0);
            let data = unread + i64::from(self.mistake == Some(Fault::WrongCount) && unread > 0);
            let record = |filter, data, eof| Record::Filter {
                filter,
                data,
                eof,
                errno: None,
                error: None,
                one_shot: false,
            };
            let (read, write) = (bits.input || bits.hang_up, bits.output);
            if read {
                out.push(Event { token: event.token, record: record(Filter::Read, data, eof) });
            }
            if write {
                out.push(Event { token: event.token, record: record(Filter::Write, 0, bits.hang_up) });
            }
        }
        out
    }
}

/// Returns the number of bytes that can be read.
fn unread(fd: RawFd) -> i64 {
    if fd < 0 {
        return 0;
    }
    let mut buffer = [0; 4096];
    recv(fd, &mut buffer, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT).map_or(0, |count| count as i64)
}

impl Selector for Flawed {
    selector::forward!(inner {
        fn capabilities(&self) -> Capabilities;
        fn views(&self, mode: Mode) -> &'static [View];
        fn close(&self) -> Result<Result<(), Errno>, Unsupported>;
    });

    fn name(&self) -> &str {
        if self.base == Backend::Kqueue { "kqueue" } else { self.inner.name() }
    }

    fn column(&self) -> selector::Column {
        match self.base {
            Backend::Kqueue => selector::Column::of(selector::Interface::Kqueue),
            _ => self.inner.column(),
        }
    }

    fn no_event(&self) -> &'static str {
        if self.base == Backend::Kqueue { "silent" } else { self.inner.no_event() }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let (kernel_mode, kernel_interest) = (self.mode(token, mode), self.interest(interest));
        let changed = self.inner.add(fd, token, kernel_interest, kernel_mode);
        let refused = |errno| changed == Changed::refused(errno);
        if changed == Changed::Done {
            self.register(fd, token, interest, mode);
        }
        match self.mistake {
            Some(Fault::AddTwice) if refused(Errno::EEXIST) => Changed::Done,
            Some(Fault::AcceptFiles) if refused(Errno::EPERM) => Changed::Done,
            _ => changed,
        }
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let known = self.state().registered.values().find(|(known, ..)| *known == fd).copied();
        let interest = match (self.mistake, known) {
            (Some(Fault::ModifyKeepsInterest), Some((_, known, _))) => known,
            _ => interest,
        };
        let changed = self.inner.modify(fd, token, self.interest(interest), self.mode(token, mode));
        if changed == Changed::Done {
            self.register(fd, token, interest, mode);
        }
        if self.mistake == Some(Fault::ModifyAdds) && changed == Changed::refused(Errno::ENOENT) {
            return self.add(fd, token, interest, mode);
        }
        changed
    }

    fn remove(&self, fd: RawFd) -> Changed {
        if self.mistake == Some(Fault::RemoveForgets) {
            return Changed::Done;
        }
        let changed = self.inner.remove(fd);
        self.state().registered.retain(|_, (known, ..)| *known != fd);
        match self.mistake {
            Some(Fault::RemoveAnything) => Changed::Done,
            _ => changed,
        }
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let events = self.inner.wait(room, timeout)?;
        let (fence, is_woken) = (self.state().fence, events.is_empty());
        let (fence, own): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| Some(event.token) == fence);
        let own = self.events(own);
        let own = if self.base == Backend::Kqueue { self.filters(own) } else { own };
        // An event that is lost does not end the wait: the fence does.
        if fence.is_empty() && own.is_empty() && timeout.is_none() && !is_woken {
            return self.inner.wait(room, timeout).map(|events| {
                events.into_iter().filter(|event| Some(event.token) == self.state().fence).collect()
            });
        }
        Ok(own.into_iter().chain(fence).collect())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        if self.mistake == Some(Fault::LoseWake) { Ok(()) } else { self.inner.wake() }
    }
}
