//! One poller of a line, and how its silence is proven.

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use selector::{Answer, Changed, Event, Interest, Refusal, Selector, Token};

use super::{call_failed, setup_error};
use crate::verbs::Name;
use crate::{Setting, Stopped};

/// Room for everything that a line can make ready.
pub(super) const ROOM: usize = 64;

/// The fence's registration: more than a line has, and not the largest, which a poller may use itself.
pub(super) const FENCE: Token = u32::MAX as Token;

/// A poller with a fence: a pipe of its own that nobody else knows.
pub(super) struct FencedPoller {
    pub(super) selector: Arc<dyn Selector>,
    /// How long it is waited for what must come.
    pub(super) patience: Duration,
    fence: (PipeReader, PipeWriter),
    kept: Mutex<Kept>,
}

/// What is known of the registrations. Only the line's own thread changes it; those that sleep have their answers
/// named.
#[derive(Default)]
struct Kept {
    /// What they are called; the token is the place.
    labels: Vec<Name>,
    refused: Vec<(RawFd, Vec<Refusal>)>,
    /// What was added, for a poller that is to have the same.
    added: Vec<(RawFd, Name, Interest, Mode)>,
}

impl FencedPoller {
    pub(super) fn open(Setting { make, patience, .. }: Setting) -> Result<Self, Stopped> {
        let selector = make().map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => Stopped::Unsupported(error.to_string()),
            _ => call_failed("the poller cannot be made", error),
        })?;
        let fence = pipe().map_err(|error| call_failed("the fence's pipe", error))?;
        let modes = selector.capabilities().modes;
        // It is empty again after each use: in which mode it is reported does not matter.
        let mode = if modes.contains(&Mode::Level) {
            Mode::Level
        } else {
            *modes
                .first()
                .ok_or_else(|| Stopped::SetUp(format!("{} says that it has no mode", selector.name())))?
        };
        match selector.add(fence.0.as_raw_fd(), FENCE, Interest::READ, mode) {
            Changed::Done => Ok(Self { selector: selector.into(), patience, fence, kept: Mutex::default() }),
            other => {
                let why =
                    selector.failure().unwrap_or_else(|| format!("the poller refuses the fence: {other}"));
                Err(setup_error(why))
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token of registrations of this name.
    pub(super) fn token(&self, label: &str) -> Token {
        let labels = &mut self.kept().labels;
        let index = labels.iter().position(|known| known == label).unwrap_or_else(|| {
            labels.push(label.to_owned());
            labels.len() - 1
        });
        index as Token
    }

    pub(super) fn add(&self, fd: RawFd, label: &str, interest: Interest, mode: Mode) -> Changed {
        let changed = self.selector.add(fd, self.token(label), interest, mode);
        let mut kept = self.kept();
        kept.refused.retain(|(other, _)| *other != fd);
        match &changed {
            Changed::Refused(refusals) => kept.refused.push((fd, refusals.clone())),
            _ => kept.added.push((fd, label.to_owned(), interest, mode)),
        }
        changed
    }

    /// Another poller with the same registrations.
    pub(super) fn duplicate(&self, setting: Setting) -> Result<Self, Stopped> {
        let other = Self::open(setting)?;
        for (fd, label, interest, mode) in &self.kept().added {
            match other.add(*fd, label, *interest, *mode) {
                Changed::Done => {}
                Changed::Unsupported(why) => return Err(Stopped::Unsupported(why.to_string())),
                refused => return Err(setup_error(format!("another poller refuses '{label}': {refused}"))),
            }
        }
        Ok(other)
    }

    /// Puts the fence up: whoever sleeps in this poller wakes up.
    pub(super) fn raise_fence(&self) -> Result<(), Stopped> {
        (&self.fence.1).write_all(&[0]).map_err(|error| call_failed("the fence", error))
    }

    /// Takes the fence away again.
    pub(super) fn lower_fence(&self) -> Result<(), Stopped> {
        (&self.fence.0).read_exact(&mut [0]).map_err(|error| call_failed("the fence", error))
    }

    /// Whether there is the fence, and nothing else.
    pub(super) fn is_only_fence(&self, events: &[Event]) -> bool {
        events.iter().all(|event| event.token == FENCE)
    }

    /// One wait that does not sleep, with room for something. If it says nothing, it is asked again behind a fence:
    /// whatever was under way has come by the time at which the fence, which is later, is reported.
    pub(super) fn poll(&self, room: usize) -> Result<Result<Vec<Event>, Errno>, Stopped> {
        match self.wait(room, Duration::ZERO) {
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
            let who = self.selector.name();
            return Err(setup_error(format!(
                "{who} reported nothing of the fence within {:?}",
                self.patience
            )));
        }
        Ok(Ok(events.into_iter().filter(|event| event.token != FENCE).collect()))
    }

    fn wait(&self, room: usize, timeout: Duration) -> Result<Vec<Event>, Errno> {
        loop {
            match self.selector.wait(room, Some(timeout)) {
                // A signal to this process says nothing about the poller.
                Err(Errno::EINTR) => {}
                answered => return answered,
            }
        }
    }

    /// Takes what there is until there is nothing new.
    pub(super) fn take(&self) -> Result<Vec<Event>, Stopped> {
        // An edge that comes again without a cause would never end; level-triggered registrations always do that.
        let first = self.poll(ROOM)?.map_err(|errno| call_failed("wait", errno))?;
        for _ in 0..ROOM {
            match self.poll(ROOM)? {
                Ok(events) if events.is_empty() => break,
                _ => {}
            }
        }
        Ok(first)
    }

    /// What was said of one descriptor, and what was refused to be watched of it.
    pub(super) fn answer(&self, fd: RawFd, events: &[Event], token: Token) -> String {
        let records = events.iter().filter(|event| event.token == token);
        let answer = Answer(records.map(|event| event.record.clone()).collect());
        let answer = if answer.0.is_empty() { self.selector.nothing() } else { answer };
        let kept = self.kept();
        let refused = kept.refused.iter().find(|(refused, _)| *refused == fd);
        let refusals =
            refused.map(|(_, refusals)| refusals.iter().map(|refusal| format!(" {refusal}")).collect());
        answer.to_string() + &refusals.unwrap_or_else(String::new)
    }

    /// What one wait said of all, in its order; the filters of one descriptor stand together. The name is left out
    /// while there is only one, and the fence is nobody.
    pub(super) fn answers(&self, events: &[Event]) -> String {
        let events: Vec<_> = events.iter().filter(|event| event.token != FENCE).collect();
        let labels = &self.kept().labels;
        if events.is_empty() {
            return self.selector.nothing().to_string();
        }
        if labels.len() < 2 {
            let answer = Answer(events.iter().map(|event| event.record.clone()).collect());
            return format!("{answer:#}");
        }
        let mut order: Vec<Token> = Vec::new();
        for event in &events {
            if !order.contains(&event.token) {
                order.push(event.token);
            }
        }
        let of = |token: &Token| {
            let label = usize::try_from(*token).ok().and_then(|index| labels.get(index));
            let label = label.map_or_else(|| format!("token {token}"), Clone::clone);
            let records = events.iter().filter(|event| event.token == *token);
            let each = records.map(|event| format!("{label}:{:#}", event.record));
            each.collect::<Vec<_>>().join(" ")
        };
        order.iter().map(of).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use metadata::Transport;
    use selector::{Bits, Capabilities, MakeSelector, Record, Unsupported, View};

    use super::*;

    /// A poller that says in each wait what it was told to.
    struct Prompted {
        says: Mutex<VecDeque<Vec<Token>>>,
        /// For how long it was asked.
        asked: &'static Mutex<Vec<Option<Duration>>>,
    }

    impl Default for Prompted {
        fn default() -> Self {
            Self { says: Mutex::default(), asked: Box::leak(Box::default()) }
        }
    }

    impl Selector for Prompted {
        fn name(&self) -> &str {
            "prompted"
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
            self.asked.lock().unwrap().push(timeout);
            let said = self.says.lock().unwrap().pop_front().unwrap_or_default();
            Ok(said.into_iter().map(|token| Event { token, record: Record::Bits(Bits::default()) }).collect())
        }

        fn wake(&self) -> Result<(), Unsupported> {
            Ok(())
        }

        fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
            Ok(Ok(()))
        }
    }

    fn poller(waits: &[&[Token]]) -> FencedPoller {
        let says = Mutex::new(waits.iter().map(|tokens| tokens.to_vec()).collect());
        let prompted = Prompted { says, ..Prompted::default() };
        let fence = pipe().unwrap();
        FencedPoller {
            selector: Arc::new(prompted),
            patience: crate::PATIENCE,
            fence,
            kept: Mutex::default(),
        }
    }

    fn heard(waits: &[&[Token]]) -> Result<Vec<Token>, Stopped> {
        let events = poller(waits).poll(ROOM)?.unwrap();
        Ok(events.iter().map(|event| event.token).collect())
    }

    #[test]
    fn what_was_under_way_is_heard_behind_the_fence() {
        assert_eq!(heard(&[&[], &[7, FENCE]]), Ok(vec![7]));
        assert_eq!(heard(&[&[], &[7]]), Ok(vec![7]));
    }

    #[test]
    fn silence_is_the_fence_alone() {
        assert_eq!(heard(&[&[], &[FENCE]]), Ok(vec![]));
    }

    #[test]
    fn a_poller_that_does_not_report_the_fence_proves_nothing() {
        assert!(matches!(heard(&[&[], &[]]), Err(Stopped::SetUp(_))));
    }

    #[test]
    fn what_is_there_is_one_wait() {
        assert_eq!(heard(&[&[3], &[4]]), Ok(vec![3]));
    }

    #[test]
    fn a_fence_is_down_again_after_use() {
        let poller = poller(&[&[], &[FENCE], &[], &[FENCE]]);
        for _ in 0..2 {
            assert_eq!(poller.poll(ROOM).unwrap(), Ok(vec![]));
        }
        let mut byte = [0];
        nix::fcntl::fcntl(&poller.fence.0, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK))
            .unwrap();
        assert_eq!(nix::unistd::read(&poller.fence.0, &mut byte), Err(Errno::EAGAIN));
    }

    #[test]
    fn taking_ends_with_silence() {
        let poller = poller(&[&[1], &[1, 2], &[], &[FENCE], &[9]]);
        assert_eq!(poller.take().unwrap().len(), 1);
        assert_eq!(poller.poll(ROOM).unwrap().unwrap()[0].token, 9);
    }

    fn event(token: Token, input: bool) -> Event {
        Event { token, record: Record::Bits(Bits { input, output: !input, ..Bits::default() }) }
    }

    #[test]
    fn names_are_said_where_there_are_several() {
        let poller = poller(&[]);
        let own = poller.token("own");
        assert_eq!(poller.answers(&[event(own, true)]), "IN");
        let copy = poller.token("copy");
        assert_ne!(own, copy);
        let events = [event(copy, true), event(FENCE, true), event(own, true), event(copy, false)];
        assert_eq!(poller.answers(&events), "copy:IN copy:OUT own:IN");
        assert_eq!(poller.answers(&events[1..2]), "silent");
        assert_eq!(poller.answer(3, &events, own), "IN");
    }

    fn with(make: MakeSelector) -> Setting {
        let patience = Duration::from_millis(150);
        Setting { transport: Transport::None, mode: Mode::Level, make, queue: None, seed: 1, patience }
    }

    /// It would be asked again for ever, or for another time than the setting's.
    #[test]
    fn the_fence_is_waited_for_with_the_settings_patience() {
        static ASKED: Mutex<Vec<Option<Duration>>> = Mutex::new(Vec::new());
        let poller =
            FencedPoller::open(with(&|| Ok(Box::new(Prompted { asked: &ASKED, ..Prompted::default() }))))
                .unwrap();
        let why = Stopped::SetUp("prompted reported nothing of the fence within 150ms".into());
        assert_eq!(poller.poll(ROOM), Err(why));
        assert_eq!(*ASKED.lock().unwrap(), [Some(Duration::ZERO), Some(Duration::from_millis(150))]);
    }

    #[test]
    fn a_poller_that_cannot_be_made_is_a_broken_set_up() {
        let setting = with(&|| Err(io::ErrorKind::OutOfMemory.into()));
        assert!(matches!(FencedPoller::open(setting), Err(Stopped::SetUp(why)) if why.contains("memory")));
    }

    #[test]
    fn a_poller_that_this_system_does_not_have_is_unsupported() {
        let setting = with(&|| Err(io::Error::new(io::ErrorKind::Unsupported, "no kqueue here")));
        assert!(
            matches!(FencedPoller::open(setting), Err(Stopped::Unsupported(why)) if why == "no kqueue here")
        );
    }
}
