//! A poller of a script, with a fence that proves that no event is missing.

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metadata::{Mode, Outcome, Part, STALE_TOKEN, Transport};
use nix::errno::Errno;
use selector::{
    Act, Acted, Changed, Event, FENCE, Filter, Interest, PollBits, Record, Refusal, Selector, Source, Token,
};

use super::descriptors::Scratch;
use super::{broken, call_failed, failed, held};
use crate::verbs::Name;
use crate::{Setting, Stopped};

/// The maximum number of events per wait: more than a script can make ready.
pub(super) const ROOM: usize = 64;

/// A poller with a fence: a private pipe that is registered beside the script's descriptors.
pub(super) struct FencedPoller {
    pub(super) selector: Arc<dyn Selector>,
    /// The longest wait for an event that must come.
    pub(super) patience: Duration,
    fence: Fence,
    registrations: Mutex<Registrations>,
}

/// A descriptor whose readiness follows the events under test.
enum Fence {
    /// A pipe of this process.
    Pipe(PipeReader, PipeWriter),
    /// A socket of the poller's program, which cannot take a pipe, and its other end in this process.
    Held(OwnedFd),
}

/// The name of the fence in the poller's program, and a name to make it with. Scripts have larger ones.
const HELD_FENCE: (RawFd, RawFd) = (1, 2);

impl Fence {
    fn new(selector: &dyn Selector, patience: Duration) -> Result<Self, Stopped> {
        let Some(acts) = selector.actor() else {
            let (reader, writer) = pipe().map_err(|error| call_failed("the fence's pipe", error))?;
            return Ok(Self::Pipe(reader, writer));
        };
        let kinds = [Transport::Unix, Transport::Tcp, Transport::Udp];
        let kind = kinds.into_iter().find(|kind| acts.kinds().contains(kind));
        let kind = kind.ok_or_else(|| {
            Stopped::Unsupported(format!("{} makes no sockets, of which one is the fence", selector.name()))
        })?;
        held::pair(acts, HELD_FENCE, kind, patience, &mut Scratch::default()).map(Self::Held)
    }

    fn number(&self) -> RawFd {
        match self {
            Self::Pipe(reader, _) => reader.as_raw_fd(),
            Self::Held(_) => HELD_FENCE.0,
        }
    }
}

/// The registrations of a poller. Only the script's main thread changes them; waiting threads read the
/// labels.
#[derive(Default)]
struct Registrations {
    /// The labels; a token is an index into them.
    labels: Vec<Name>,
    refused: Vec<(RawFd, Vec<Refusal>)>,
    /// The refused filters of registrations that hold without them.
    partial: Vec<(RawFd, Vec<Refusal>)>,
    /// The added registrations, for a duplicate of the poller.
    added: Vec<(RawFd, Name, Interest, Mode)>,
    /// The sources for which numbers stand, for a duplicate, too.
    sources: Vec<(RawFd, Source)>,
}

impl FencedPoller {
    pub(super) fn open(Setting { make, patience, .. }: Setting) -> Result<Self, Stopped> {
        let selector = make().map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => Stopped::Unsupported(error.to_string()),
            _ => call_failed("the poller cannot be made", error),
        })?;
        let failed = |stopped| match selector.failure() {
            Some(failure) => broken(failure.reason),
            None => stopped,
        };
        let fence = Fence::new(&*selector, patience).map_err(failed)?;
        let modes = selector.capabilities().modes;
        // The fence is empty after each use, so any mode works.
        let mode = if modes.contains(&Mode::Level) {
            Mode::Level
        } else {
            *modes.first().ok_or_else(|| Stopped::Broken(format!("{} has no mode", selector.name())))?
        };
        match selector.add(fence.number(), FENCE, Interest::READ, mode) {
            Changed::Done => {
                Ok(Self { selector: selector.into(), patience, fence, registrations: Mutex::default() })
            }
            other => {
                let failure = selector.failure().map(|failure| failure.reason);
                Err(broken(failure.unwrap_or_else(|| format!("the poller refuses the fence: {other}"))))
            }
        }
    }

    fn registrations(&self) -> MutexGuard<'_, Registrations> {
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the token of registrations with this label.
    pub(super) fn token(&self, label: &str) -> Token {
        let labels = &mut self.registrations().labels;
        let index = labels.iter().position(|known| known == label).unwrap_or_else(|| {
            labels.push(label.to_owned());
            labels.len() - 1
        });
        index as Token
    }

    pub(super) fn add(&self, fd: RawFd, label: &str, interest: Interest, mode: Mode) -> Changed {
        let changed = self.selector.add(fd, self.token(label), interest, mode);
        let mut registrations = self.registrations();
        registrations.refused.retain(|(other, _)| *other != fd);
        match &changed {
            Changed::Refused(refusals) => registrations.refused.push((fd, refusals.clone())),
            _ => registrations.added.push((fd, label.to_owned(), interest, mode)),
        }
        changed
    }

    /// Checks that the poller has the parts of an interest.
    pub(super) fn require(&self, interest: Interest) -> Result<(), Stopped> {
        if interest.bits != PollBits::NONE && !self.selector.capabilities().raw_records {
            let why = format!("{} has no names for bits of poll(2)", self.selector.name());
            return Err(Stopped::Unsupported(why));
        }
        Ok(())
    }

    /// Makes a number stand for a source.
    pub(super) fn stands_for(&self, number: RawFd, source: Source) -> Result<(), Stopped> {
        let why = || Stopped::Unsupported(format!("{} has no filter for this", self.selector.name()));
        self.selector.sources().ok_or_else(why)?.stands_for(number, source);
        let sources = &mut self.registrations().sources;
        sources.retain(|(known, _)| *known != number);
        sources.push((number, source));
        Ok(())
    }

    /// Returns whether the poller has refused only some of the filters that are required. If so, the answers
    /// of later waits name these, until the next change of the registration.
    pub(super) fn holds_in_part(&self, fd: RawFd, required: Interest, changed: &Changed) -> bool {
        let mut registrations = self.registrations();
        registrations.partial.retain(|(known, _)| *known != fd);
        let Changed::Refused(refusals) = changed else { return false };
        let filters = [(required.read, Filter::Read), (required.write, Filter::Write)];
        let required = || filters.iter().filter(|(required, _)| *required).map(|(_, filter)| Some(*filter));
        let is_refused = |filter| refusals.iter().any(|refusal| refusal.filter == filter);
        let is_required = |refusal: &Refusal| required().any(|filter| filter == refusal.filter);
        let holds = refusals.iter().all(is_required) && !required().all(is_refused);
        if holds {
            registrations.partial.push((fd, refusals.clone()));
        }
        holds
    }

    /// Asks through a registration made now.
    pub(super) fn look(
        &self,
        fd: RawFd,
        label: &str,
        interest: Interest,
        mode: Mode,
    ) -> Result<Outcome, Stopped> {
        self.require(interest)?;
        if let Changed::Unsupported(unsupported) = self.add(fd, label, interest, mode) {
            return Err(unsupported.into());
        }
        Ok(self.poll(ROOM)?.map_or_else(failed, |events| self.outcome_of(fd, &events, self.token(label))))
    }

    /// Makes another poller with the same registrations.
    pub(super) fn duplicate(&self, setting: Setting) -> Result<Self, Stopped> {
        let other = Self::open(setting)?;
        let sources = self.registrations().sources.clone();
        sources.into_iter().try_for_each(|(number, source)| other.stands_for(number, source))?;
        for (fd, label, interest, mode) in &self.registrations().added {
            match other.add(*fd, label, *interest, *mode) {
                Changed::Done => {}
                Changed::Unsupported(unsupported) => return Err(unsupported.into()),
                refused => return Err(broken(format!("another poller refuses '{label}': {refused}"))),
            }
        }
        Ok(other)
    }

    /// Raises the fence: every thread that waits in this poller wakes up.
    pub(super) fn raise_fence(&self) -> Result<(), Stopped> {
        match &self.fence {
            Fence::Pipe(_, writer) => (&*writer).write_all(&[0]),
            Fence::Held(ours) => nix::unistd::write(ours, &[0]).map(drop).map_err(io::Error::from),
        }
        .map_err(|error| call_failed("the fence", error))
    }

    /// Lowers the fence.
    pub(super) fn lower_fence(&self) -> Result<(), Stopped> {
        match &self.fence {
            Fence::Pipe(reader, _) => {
                (&*reader).read_exact(&mut [0]).map_err(|error| call_failed("the fence", error))
            }
            Fence::Held(_) => {
                if self.selector.failure().is_some() {
                    return Ok(()); // The answers since then do not count.
                }
                let acts = held::acts(self)?;
                match held::must(acts, HELD_FENCE.0, &Act::Read(1))? {
                    Acted::Count(1) => Ok(()),
                    other => Err(broken(format!("the fence was raised, and a read answers {other:?}"))),
                }
            }
        }
    }

    /// Waits once with a timeout of zero. If no event arrives, raises the fence and waits again: when the
    /// fence is reported, every earlier event has been reported, too. `room` is at least 1.
    pub(super) fn poll(&self, room: usize) -> Result<Result<Vec<Event>, Errno>, Stopped> {
        match self.wait(room, Duration::ZERO).map(without_fence) {
            // The fence is not raised. A spurious event of it proves nothing.
            Ok(events) if events.is_empty() => {}
            answered => return Ok(answered),
        }
        self.raise_fence()?;
        let events = self.wait(room, self.patience);
        self.lower_fence()?;
        let events = match events {
            Ok(events) => events,
            Err(errno) => return Ok(Err(errno)),
        };
        if events.is_empty() {
            let name = self.selector.name();
            return Err(broken(format!("{name} did not report the fence within {:?}", self.patience)));
        }
        Ok(Ok(without_fence(events)))
    }

    fn wait(&self, room: usize, timeout: Duration) -> Result<Vec<Event>, Errno> {
        loop {
            match self.selector.wait(room, Some(timeout)) {
                // A signal to this process is no answer of the poller.
                Err(Errno::EINTR) => {}
                answered => return answered,
            }
        }
    }

    /// Consumes events until a wait returns none. Returns them.
    pub(super) fn drain(&self) -> Result<Vec<Event>, Stopped> {
        let mut all = self.poll(ROOM)?.map_err(|errno| call_failed("wait", errno))?;
        // Level-triggered registrations report again in every wait: the number of waits is limited.
        for _ in 0..ROOM {
            match self.poll(ROOM)? {
                Ok(events) if events.is_empty() => break,
                events => all.extend(events.into_iter().flatten()),
            }
        }
        Ok(all)
    }

    /// Returns the events of one descriptor, with the parts of its registration that the poller refused, and
    /// the events of no registration.
    pub(super) fn outcome_of(&self, fd: RawFd, events: &[Event], token: Token) -> Outcome {
        let own: Vec<_> = events.iter().filter(|event| event.token == token).collect();
        let mut parts =
            if own.is_empty() { self.silence() } else { parts(None, &own, |record| record.to_string()) };
        let registrations = self.registrations();
        let refused = registrations.refused.iter().find(|(refused, _)| *refused == fd);
        let refusals = refused.map(|(_, refusals)| refusals.as_slice()).unwrap_or_default();
        parts.extend(refusals.iter().map(|refusal| Part::Remark(refusal.to_string())));
        let stale: Vec<_> = events.iter().filter(|event| is_stale(event, &registrations.labels)).collect();
        parts.extend(self::parts(Some(STALE_TOKEN), &stale, |record| format!("{record:#}")));
        Outcome::Reported(parts)
    }

    /// Returns all events of one wait in their order, without the fence, and the refused filters of partial
    /// registrations. The filters of one descriptor stand together. Labels are left out while the poller has
    /// only one, except that of events of no registration.
    pub(super) fn outcome(&self, events: &[Event]) -> Outcome {
        let registrations = self.registrations();
        let mut parts = self.events_of(events, &registrations.labels);
        let refusals = registrations.partial.iter().flat_map(|(_, refusals)| refusals);
        parts.extend(refusals.map(|refusal| Part::Remark(refusal.to_string())));
        Outcome::Reported(parts)
    }

    fn events_of(&self, events: &[Event], labels: &[Name]) -> Vec<Part> {
        let events: Vec<_> = events.iter().filter(|event| event.token != FENCE).collect();
        let write = |record: &Record| format!("{record:#}");
        if events.is_empty() {
            return self.silence();
        }
        if labels.len() < 2 && !events.iter().any(|event| is_stale(event, labels)) {
            return parts(None, &events, write);
        }
        let mut order: Vec<&str> = Vec::new();
        for event in &events {
            if !order.contains(&label(event, labels)) {
                order.push(label(event, labels));
            }
        }
        let of = |name: &str| -> Vec<&Event> {
            events.iter().copied().filter(|event| label(event, labels) == name).collect()
        };
        order.into_iter().flat_map(|name| parts(Some(name), &of(name), write)).collect()
    }

    fn silence(&self) -> Vec<Part> {
        vec![Part::Silence(self.selector.no_event().into())]
    }
}

/// Returns the events of one registration.
fn parts(of: Option<&str>, events: &[&Event], write: impl Fn(&Record) -> String) -> Vec<Part> {
    let mut records: Vec<_> = events.iter().map(|event| &event.record).collect();
    if of.is_none() {
        Record::sort(&mut records);
    }
    let part = |record: &&Record| Part::event(of, write(record));
    records.iter().map(part).collect()
}

fn without_fence(events: Vec<Event>) -> Vec<Event> {
    events.into_iter().filter(|event| event.token != FENCE).collect()
}

/// Returns whether an event has a token that no registration has had, nor the fence.
fn is_stale(event: &Event, labels: &[Name]) -> bool {
    event.token != FENCE && label(event, labels) == STALE_TOKEN
}

/// Returns the label of an event's registration.
fn label<'l>(event: &Event, labels: &'l [Name]) -> &'l str {
    let known = usize::try_from(event.token).ok().and_then(|index| labels.get(index));
    known.map_or(STALE_TOKEN, String::as_str)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use selector::{Bits, Capabilities, Column, Interface, MakeSelector, Unsupported, View};

    use super::*;

    /// A poller whose waits return prepared events.
    struct Scripted {
        waits: Mutex<VecDeque<Vec<Token>>>,
        /// The timeouts of the waits.
        timeouts: &'static Mutex<Vec<Option<Duration>>>,
    }

    impl Default for Scripted {
        fn default() -> Self {
            Self { waits: Mutex::default(), timeouts: Box::leak(Box::default()) }
        }
    }

    impl Selector for Scripted {
        fn name(&self) -> &str {
            "scripted"
        }

        fn column(&self) -> Column {
            Column::of(Interface::Poll)
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities {
                modes: vec![Mode::Level],
                shared_wait: Ok(()),
                changes_seen_by_waiters: Ok(()),
                own_numbers: Ok(()),
                raw_records: true,
            }
        }

        fn views(&self, _: Mode) -> &'static [View] {
            &[]
        }

        fn add(&self, _: RawFd, _: Token, _: Interest, _: Mode) -> Changed {
            Changed::Done
        }

        fn modify(&self, _: RawFd, _: Token, _: Interest, _: Mode) -> Changed {
            Changed::Done
        }

        fn remove(&self, _: RawFd) -> Changed {
            Changed::Done
        }

        fn wait(&self, _: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
            self.timeouts.lock().unwrap().push(timeout);
            let tokens = self.waits.lock().unwrap().pop_front().unwrap_or_default();
            Ok(tokens
                .into_iter()
                .map(|token| Event { token, record: Record::Bits(Bits::default()) })
                .collect())
        }

        fn wake(&self) -> Result<(), Unsupported> {
            Ok(())
        }

        fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
            Ok(Ok(()))
        }
    }

    fn poller(waits: &[&[Token]]) -> FencedPoller {
        let waits = Mutex::new(waits.iter().map(|tokens| tokens.to_vec()).collect());
        let scripted = Scripted { waits, ..Scripted::default() };
        let (reader, writer) = pipe().unwrap();
        FencedPoller {
            selector: Arc::new(scripted),
            patience: crate::PATIENCE,
            fence: Fence::Pipe(reader, writer),
            registrations: Mutex::default(),
        }
    }

    fn polled(waits: &[&[Token]]) -> Result<Vec<Token>, Stopped> {
        let events = poller(waits).poll(ROOM)?.unwrap();
        Ok(events.iter().map(|event| event.token).collect())
    }

    #[test]
    fn delayed_events_are_reported_with_the_fence() {
        assert_eq!(polled(&[&[], &[7, FENCE]]), Ok(vec![7]));
        assert_eq!(polled(&[&[], &[7]]), Ok(vec![7]));
    }

    #[test]
    fn a_fence_that_is_reported_before_it_is_raised_does_not_end_the_wait_for_later_events() {
        assert_eq!(polled(&[&[FENCE], &[7, FENCE]]), Ok(vec![7]));
    }

    #[test]
    fn the_fence_alone_means_no_event() {
        assert_eq!(polled(&[&[], &[FENCE]]), Ok(vec![]));
    }

    #[test]
    fn a_poller_that_does_not_report_the_fence_proves_nothing() {
        assert!(matches!(polled(&[&[], &[]]), Err(Stopped::Broken(_))));
    }

    #[test]
    fn immediate_events_need_one_wait() {
        assert_eq!(polled(&[&[3], &[4]]), Ok(vec![3]));
    }

    #[test]
    fn a_fence_is_lowered_after_use() {
        let poller = poller(&[&[], &[FENCE], &[], &[FENCE]]);
        for _ in 0..2 {
            assert_eq!(poller.poll(ROOM).unwrap(), Ok(vec![]));
        }
        let mut byte = [0];
        let Fence::Pipe(reader, _) = &poller.fence else { panic!("the fence is a pipe") };
        nix::fcntl::fcntl(reader, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
        assert_eq!(nix::unistd::read(reader, &mut byte), Err(Errno::EAGAIN));
    }

    #[test]
    fn draining_ends_with_a_wait_without_events() {
        let poller = poller(&[&[1], &[1, 2], &[], &[FENCE], &[9]]);
        assert_eq!(poller.drain().unwrap().len(), 3);
        assert_eq!(poller.poll(ROOM).unwrap().unwrap()[0].token, 9);
    }

    fn event(token: Token, input: bool) -> Event {
        Event { token, record: Record::Bits(Bits { input, output: !input, ..Bits::default() }) }
    }

    #[test]
    fn labels_are_written_if_there_are_several() {
        let poller = poller(&[]);
        let own = poller.token("own");
        assert_eq!(poller.outcome(&[event(own, true)]).to_string(), "IN");
        let copy = poller.token("copy");
        assert_ne!(own, copy);
        let events = [event(copy, true), event(FENCE, true), event(own, true), event(copy, false)];
        assert_eq!(poller.outcome(&events).to_string(), "copy:IN copy:OUT own:IN");
        assert_eq!(poller.outcome(&events[1..2]).to_string(), "silent");
        assert_eq!(poller.outcome_of(3, &events, own).to_string(), "IN");
    }

    /// Another registration's event would be taken for the answer of the only one.
    #[test]
    fn an_event_of_no_registration_is_never_that_of_one() {
        let poller = poller(&[]);
        let own = poller.token("own");
        let stale = event(7, true);
        assert_eq!(poller.outcome(std::slice::from_ref(&stale)).to_string(), "stale-token:IN");
        assert_eq!(poller.outcome(&[event(own, false), stale.clone()]).to_string(), "own:OUT stale-token:IN");
        assert_eq!(
            poller.outcome_of(3, std::slice::from_ref(&stale), own).to_string(),
            "silent stale-token:IN"
        );
        assert_eq!(poller.outcome_of(3, &[event(own, false), event(FENCE, true)], own).to_string(), "OUT");
        // Minus one, the usual token of none.
        for none in [u32::MAX.into(), Token::MAX] {
            assert_eq!(poller.outcome(&[event(none, true)]).to_string(), "stale-token:IN");
        }
        let copy = poller.token("copy");
        assert_eq!(poller.outcome(&[stale, event(copy, true)]).to_string(), "stale-token:IN copy:IN");
    }

    fn with(make: MakeSelector) -> Setting {
        let patience = Duration::from_millis(150);
        Setting { transport: Transport::None, mode: Mode::Level, make, queue: None, seed: 1, patience }
    }

    #[test]
    fn the_fence_is_waited_for_with_the_settings_patience() {
        static TIMEOUTS: Mutex<Vec<Option<Duration>>> = Mutex::new(Vec::new());
        let poller = FencedPoller::open(with(&|| {
            Ok(Box::new(Scripted { timeouts: &TIMEOUTS, ..Scripted::default() }))
        }))
        .unwrap();
        let why = Stopped::Broken("scripted did not report the fence within 150ms".into());
        assert_eq!(poller.poll(ROOM), Err(why));
        assert_eq!(*TIMEOUTS.lock().unwrap(), [Some(Duration::ZERO), Some(Duration::from_millis(150))]);
    }

    #[test]
    fn a_poller_that_cannot_be_made_breaks_the_cell() {
        let setting = with(&|| Err(io::ErrorKind::OutOfMemory.into()));
        assert!(matches!(FencedPoller::open(setting), Err(Stopped::Broken(why)) if why.contains("memory")));
    }

    #[test]
    fn a_poller_that_this_system_lacks_is_unsupported() {
        let setting = with(&|| Err(io::Error::new(io::ErrorKind::Unsupported, "no kqueue here")));
        assert!(
            matches!(FencedPoller::open(setting), Err(Stopped::Unsupported(why)) if why == "no kqueue here")
        );
    }
}
