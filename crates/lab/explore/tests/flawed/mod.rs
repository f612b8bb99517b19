//! A poller with one mistake, for tests: a wrapper around a good one.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use selector::{
    Bits, Capabilities, Changed, Event, Filter, Interest, MakeSelector, Mode, Record, Selector, Token,
    Unsupported, View,
};

/// A mistake, and the length of the line that shows it.
pub struct Flaw {
    /// The name.
    pub name: &'static str,
    /// The greatest number of clauses of the shrunk line.
    pub clauses: usize,
    mistake: Mistake,
    /// The poller that has it.
    base: Base,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Epoll,
    Poll,
    /// epoll in the words of kqueue.
    Filters,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// A bit of the events is lost.
    DropHalfClose,
    DropHangUp,
    DropError,
    DropUrgent,
    /// The second bit of an event is lost.
    DropWriteBesideRead,
    /// A hang-up is reported as data.
    HangUpIsInput,
    /// A descriptor without interest reports nothing.
    NothingMeansSilence,
    /// Bits that were not requested are reported.
    InventWrite,
    /// The second edge of a registration is lost.
    ForgetSecondEdge,
    /// Edge-triggered registrations are level-triggered.
    EdgeIsLevel,
    /// Level-triggered registrations are edge-triggered.
    LevelIsEdge,
    /// A one-shot registration stays enabled.
    OneShotStays,
    /// A modification does not enable a one-shot registration again.
    OneShotIsFinal,
    /// A modification keeps the old interest.
    ModifyKeepsInterest,
    /// A modification of an absent registration adds it.
    ModifyAdds,
    /// A second addition is accepted.
    AddTwice,
    /// A removal is forgotten.
    RemoveForgets,
    /// A removal of an absent registration is accepted.
    RemoveAnything,
    /// A number that was closed is reported once more.
    ReportClosed,
    /// Two events become one.
    MergeEvents,
    /// One event per wait.
    OneEvent,
    /// The events come in another order.
    ReverseOrder,
    /// A descriptor that cannot be polled is accepted and never reported.
    AcceptFiles,
    /// The number of bytes is one too many.
    WrongCount,
    /// The end of file is forgotten while there are data.
    EndHidesBehindData,
    /// A wake-up is lost.
    LoseWake,
    /// A thread that waits is woken by one registration only: the first.
    OnlyFirstWakes,
}

const fn flaw(name: &'static str, clauses: usize, base: Base, mistake: Mistake) -> Flaw {
    Flaw { name, clauses, mistake, base }
}

/// Every flaw, each with the length of its shortest line.
pub const FLAWS: &[Flaw] = &[
    flaw("drop-half-close", 4, Base::Epoll, Mistake::DropHalfClose),
    flaw("drop-hang-up", 3, Base::Epoll, Mistake::DropHangUp),
    flaw("drop-error", 4, Base::Epoll, Mistake::DropError),
    flaw("drop-urgent", 4, Base::Epoll, Mistake::DropUrgent),
    flaw("drop-write-beside-read", 4, Base::Poll, Mistake::DropWriteBesideRead),
    flaw("hang-up-is-input", 3, Base::Poll, Mistake::HangUpIsInput),
    flaw("nothing-means-silence", 4, Base::Poll, Mistake::NothingMeansSilence),
    flaw("invent-write", 3, Base::Epoll, Mistake::InventWrite),
    flaw("forget-second-edge", 5, Base::Epoll, Mistake::ForgetSecondEdge),
    flaw("edge-is-level", 4, Base::Epoll, Mistake::EdgeIsLevel),
    flaw("level-is-edge", 4, Base::Epoll, Mistake::LevelIsEdge),
    flaw("one-shot-stays", 5, Base::Epoll, Mistake::OneShotStays),
    flaw("one-shot-is-final", 5, Base::Epoll, Mistake::OneShotIsFinal),
    flaw("modify-keeps-interest", 4, Base::Epoll, Mistake::ModifyKeepsInterest),
    flaw("modify-adds", 2, Base::Epoll, Mistake::ModifyAdds),
    flaw("add-twice", 3, Base::Epoll, Mistake::AddTwice),
    flaw("remove-forgets", 4, Base::Epoll, Mistake::RemoveForgets),
    flaw("remove-anything", 2, Base::Epoll, Mistake::RemoveAnything),
    flaw("report-closed", 5, Base::Epoll, Mistake::ReportClosed),
    flaw("merge-events", 6, Base::Epoll, Mistake::MergeEvents),
    flaw("one-event", 5, Base::Epoll, Mistake::OneEvent),
    flaw("reverse-order", 4, Base::Epoll, Mistake::ReverseOrder),
    flaw("accept-files", 2, Base::Epoll, Mistake::AcceptFiles),
    flaw("wrong-count", 4, Base::Filters, Mistake::WrongCount),
    flaw("end-hides-behind-data", 5, Base::Filters, Mistake::EndHidesBehindData),
    flaw("lose-wake", 5, Base::Epoll, Mistake::LoseWake),
    flaw("only-first-wakes", 6, Base::Epoll, Mistake::OnlyFirstWakes),
];

impl Flaw {
    /// No mistake.
    pub const NONE: Self = flaw("none", 0, Base::Epoll, Mistake::None);

    /// Returns the poller without the mistake and the one with it.
    pub fn pair(&self) -> (MakeSelector, MakeSelector) {
        let with = |mistake: Mistake| -> MakeSelector {
            let base = self.base;
            Box::leak(Box::new(move || {
                let inner =
                    if base == Base::Poll { poller_poll::selector()? } else { poller_epoll::selector()? };
                Ok(Box::new(Flawed { inner, base, mistake, state: Mutex::default() }) as Box<dyn Selector>)
            }))
        };
        (with(Mistake::None), with(self.mistake))
    }
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
    ghosts: BTreeSet<Token>,
}

struct Flawed {
    inner: Box<dyn Selector>,
    base: Base,
    mistake: Mistake,
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

impl Flawed {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) {
        let mut state = self.state();
        state.fence.get_or_insert(token);
        state.registered.retain(|_, (known, ..)| *known != fd);
        state.registered.insert(token, (fd, interest, mode));
    }

    /// Returns the mode in which the kernel registers.
    fn mode(&self, token: Token, mode: Mode) -> Mode {
        let is_fence = self.state().fence.is_none_or(|fence| fence == token);
        match (self.mistake, mode) {
            (Mistake::EdgeIsLevel, Mode::Edge) if !is_fence => Mode::Level,
            (Mistake::LevelIsEdge, Mode::Level) if !is_fence => Mode::Edge,
            (Mistake::OneShotStays, Mode::OneShot) if !is_fence => Mode::Edge,
            _ => mode,
        }
    }

    fn interest(&self, interest: Interest) -> Interest {
        match self.mistake {
            Mistake::InventWrite => Interest { write: true, ..interest },
            _ => interest,
        }
    }

    /// Returns the bits with the mistake.
    fn bits(&self, bits: Bits, interest: Interest) -> Bits {
        match self.mistake {
            Mistake::DropHalfClose => Bits { peer_shut: false, ..bits },
            Mistake::DropHangUp => Bits { hang_up: false, ..bits },
            Mistake::DropError => Bits { error: false, ..bits },
            Mistake::DropUrgent => Bits { urgent: false, ..bits },
            Mistake::DropWriteBesideRead if bits.input => Bits { output: false, ..bits },
            Mistake::HangUpIsInput if bits.hang_up => Bits { hang_up: false, input: true, ..bits },
            Mistake::NothingMeansSilence if interest == Interest::NONE => Bits::default(),
            _ => bits,
        }
    }

    /// Returns the events with the mistake, without those of the fence.
    fn events(&self, events: Vec<Event>) -> Vec<Event> {
        let mut state = self.state();
        let mut out: Vec<Event> = Vec::new();
        for event in events {
            let (_, interest, mode) =
                state.registered.get(&event.token).copied().unwrap_or((-1, Interest::ALL, Mode::Level));
            let Record::Bits(bits) = event.record else { continue };
            let bits = self.bits(bits, interest);
            if bits == Bits::default() {
                continue;
            }
            let count = state.reported.entry(event.token).or_default();
            *count += 1;
            let is_second = *count == 2;
            if self.mistake == Mistake::ForgetSecondEdge && mode == Mode::Edge && is_second {
                continue;
            }
            if state.disabled.contains(&event.token) {
                continue;
            }
            if self.mistake == Mistake::OneShotIsFinal && mode == Mode::OneShot {
                state.disabled.insert(event.token);
            }
            let event = Event { token: event.token, record: Record::Bits(bits) };
            state.last.insert(event.token, event.record.clone());
            match (self.mistake, out.first_mut()) {
                (Mistake::MergeEvents, Some(first)) => {
                    if let Record::Bits(known) = &mut first.record {
                        known.input |= bits.input;
                        known.output |= bits.output;
                        known.hang_up |= bits.hang_up;
                    }
                }
                (Mistake::OneEvent, Some(_)) => {}
                (Mistake::OnlyFirstWakes, _) if state.registered.keys().nth(1) == Some(&event.token) => {}
                _ => out.push(event),
            }
        }
        if self.mistake == Mistake::ReportClosed {
            let closed = state.registered.iter().filter(|(_, (fd, ..))| !is_open(*fd));
            let closed: Vec<_> = closed.map(|(token, _)| *token).collect();
            for token in closed {
                if let Some(record) = state.last.get(&token).cloned()
                    && state.ghosts.insert(token)
                {
                    out.push(Event { token, record });
                }
            }
        }
        if self.mistake == Mistake::ReverseOrder {
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
            let eof = eof && !(self.mistake == Mistake::EndHidesBehindData && unread > 0);
            let data = unread + i64::from(self.mistake == Mistake::WrongCount && unread > 0);
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
    fn name(&self) -> &str {
        if self.base == Base::Filters { "kqueue" } else { self.inner.name() }
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        self.inner.views(mode)
    }

    fn column(&self) -> selector::Column {
        match self.base {
            Base::Filters => selector::Column::of(selector::Interface::Kqueue),
            _ => self.inner.column(),
        }
    }

    fn no_event(&self) -> &'static str {
        if self.base == Base::Filters { "silent" } else { self.inner.no_event() }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let (kernel_mode, kernel_interest) = (self.mode(token, mode), self.interest(interest));
        let changed = self.inner.add(fd, token, kernel_interest, kernel_mode);
        let refused = |errno| changed == Changed::refused(errno);
        if changed == Changed::Done {
            self.register(fd, token, interest, mode);
        }
        match self.mistake {
            Mistake::AddTwice if refused(Errno::EEXIST) => Changed::Done,
            Mistake::AcceptFiles if refused(Errno::EPERM) => Changed::Done,
            _ => changed,
        }
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let known = self.state().registered.values().find(|(known, ..)| *known == fd).copied();
        let interest = match (self.mistake, known) {
            (Mistake::ModifyKeepsInterest, Some((_, known, _))) => known,
            _ => interest,
        };
        let changed = self.inner.modify(fd, token, self.interest(interest), self.mode(token, mode));
        if changed == Changed::Done {
            self.register(fd, token, interest, mode);
        }
        if self.mistake == Mistake::ModifyAdds && changed == Changed::refused(Errno::ENOENT) {
            return self.add(fd, token, interest, mode);
        }
        changed
    }

    fn remove(&self, fd: RawFd) -> Changed {
        if self.mistake == Mistake::RemoveForgets {
            return Changed::Done;
        }
        let changed = self.inner.remove(fd);
        self.state().registered.retain(|_, (known, ..)| *known != fd);
        match self.mistake {
            Mistake::RemoveAnything => Changed::Done,
            _ => changed,
        }
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let events = self.inner.wait(room, timeout)?;
        let fence = self.state().fence;
        let (fence, own): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| Some(event.token) == fence);
        let own = self.events(own);
        let own = if self.base == Base::Filters { self.filters(own) } else { own };
        // An event that is lost does not end the wait: the fence does.
        if fence.is_empty() && own.is_empty() && timeout.is_none() && self.mistake != Mistake::None {
            return self.inner.wait(room, timeout).map(|events| {
                events.into_iter().filter(|event| Some(event.token) == self.state().fence).collect()
            });
        }
        Ok(own.into_iter().chain(fence).collect())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        if self.mistake == Mistake::LoseWake { Ok(()) } else { self.inner.wake() }
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        self.inner.close()
    }
}
