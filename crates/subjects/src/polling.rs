//! [polling](https://docs.rs/polling): level, edge and one-shot, and a second thread that waits comes back at once.
//!
//! - Its interest in writing, reading and urgent data is asked for; `POLLRDHUP` has no name in it.
//! - A wait that a signal ends begins again inside the library: `EINTR` is never seen.
//! - The wake-up is `Poller::notify`.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use ::polling::{self as library, Events, PollMode, Poller};
use metadata::Mode;
use nix::errno::Errno;
use selector::{Capabilities, Changed, Event, Interest, Record, Selector, Token, Unsupported, View};

use crate::{column, io_error};

pub const NAME: &str = "polling";

const VIEWS: &[View] = &column::view(NAME);

/// polling behind the raw interface.
///
/// # Errors
/// What `Poller::new` answers.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(PollingSelector { poller: Poller::new()? }))
}

struct PollingSelector {
    poller: Poller,
}

impl PollingSelector {
    fn has(&self, mode: PollMode) -> bool {
        match mode {
            PollMode::Level => self.poller.supports_level(),
            PollMode::Edge => self.poller.supports_edge(),
            _ => true,
        }
    }

    /// What polling is asked.
    fn registration(
        &self,
        token: Token,
        interest: Interest,
        mode: Mode,
    ) -> Result<(library::Event, PollMode), Unsupported> {
        let mode = named(mode)
            .filter(|mode| self.has(*mode))
            .ok_or_else(|| Unsupported(format!("polling::PollMode has no {mode:?} here")))?;
        let key = usize::try_from(token).ok().filter(|key| *key != usize::MAX);
        let key = key.ok_or_else(|| Unsupported(format!("polling's key cannot be {token}")))?;
        if interest == (Interest { peer_shut: true, ..Interest::NONE }) {
            return Err(Unsupported("polling::Event has no name for POLLRDHUP".into()));
        }
        let mut event = library::Event::new(key, interest.read, interest.write);
        event.set_priority(interest.urgent);
        if interest.urgent && event == event.with_no_extra() && !(interest.read || interest.write) {
            return Err(Unsupported("polling::Event has no priority here".into()));
        }
        Ok((event, mode))
    }
}

impl Selector for PollingSelector {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        let modes = [Mode::Level, Mode::Edge, Mode::OneShot];
        Capabilities {
            modes: modes.into_iter().filter(|mode| named(*mode).is_some_and(|mode| self.has(mode))).collect(),
            shared_wait: Err("polling::Poller::wait comes back at once while another thread is in it"),
            changes_seen_by_waiters: Ok(()),
            own_numbers: Ok(()),
            raw_records: false,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if named(mode).is_some_and(|mode| self.has(mode)) { VIEWS } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match self.registration(token, interest, mode) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(_) if fd < 0 => negative(),
            // SAFETY: the kernel keeps the number, and forgets it by itself or reports what it then is: nothing here is
            // borrowed from a descriptor, and no event is taken for one.
            Ok((event, mode)) => io_error::changed(unsafe { self.poller.add_with_mode(fd, event, mode) }),
        }
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match self.registration(token, interest, mode) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(_) if fd < 0 => negative(),
            Ok((event, mode)) => io_error::changed(self.poller.modify_with_mode(borrowed(fd), event, mode)),
        }
    }

    fn remove(&self, fd: RawFd) -> Changed {
        if fd < 0 { negative() } else { io_error::changed(self.poller.delete(borrowed(fd))) }
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut events = Events::with_capacity(NonZeroUsize::new(room).ok_or(Errno::EINVAL)?);
        self.poller.wait(&mut events, timeout).map_err(|error| io_error::errno(&error))?;
        Ok(events.iter().map(|event| Event { token: event.key as Token, record: record(&event) }).collect())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.poller.notify().map_err(|error| Unsupported(format!("polling::Poller::notify: {error}")))
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("polling::Poller has no close: its descriptor lives as long as it does".into()))
    }
}

fn named(mode: Mode) -> Option<PollMode> {
    match mode {
        Mode::Level => Some(PollMode::Level),
        Mode::Edge => Some(PollMode::Edge),
        Mode::OneShot => Some(PollMode::Oneshot),
        Mode::Dispatch | Mode::Exclusive | Mode::ExclusiveEdge => None,
    }
}

fn negative() -> Changed {
    Changed::unsupported("polling takes a BorrowedFd, which is never negative")
}

fn borrowed(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: not negative, as the callers have seen. The number goes to a system call at once, which refuses it if it
    // is not open.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

fn record(event: &library::Event) -> Record {
    let says = [
        (event.readable, "readable"),
        (event.writable, "writable"),
        (event.is_interrupt(), "interrupt"),
        (event.is_priority(), "priority"),
        (event.is_err() == Some(true), "err"),
    ];
    Record::Names(says.into_iter().filter(|(says, _)| *says).map(|(_, name)| name.into()).collect())
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_polling_has_no_words_for_is_unsupported_and_not_something_else() {
        let subject = PollingSelector { poller: Poller::new().unwrap() };
        let reason = |token, interest, mode| subject.registration(token, interest, mode).unwrap_err().0;
        for mode in [Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge] {
            assert_eq!(reason(1, Interest::READ, mode), format!("polling::PollMode has no {mode:?} here"));
        }
        let peer_shut = Interest { peer_shut: true, ..Interest::NONE };
        assert_eq!(reason(1, peer_shut, Mode::Level), "polling::Event has no name for POLLRDHUP");
        assert!(reason(Token::MAX, Interest::READ, Mode::Level).contains("18446744073709551615"));
        assert!(matches!(subject.add(-1, 1, Interest::READ, Mode::Level), Changed::Unsupported(_)));
        assert!(matches!(subject.remove(-1), Changed::Unsupported(_)));
    }

    /// Not mio's answer, nor the kernel's.
    #[test]
    fn of_two_waiters_one_is_sent_away_before_its_time() {
        const LIMIT: Duration = Duration::from_secs(60);
        let subject = PollingSelector { poller: Poller::new().unwrap() };
        let wait = || {
            let begun = Instant::now();
            (subject.wait(8, Some(LIMIT)), begun.elapsed())
        };
        thread::scope(|scope| {
            let waiters = [scope.spawn(wait), scope.spawn(wait)];
            while !waiters.iter().any(|waiter| waiter.is_finished()) {
                thread::yield_now();
            }
            assert!(!waiters.iter().all(|waiter| waiter.is_finished()), "nobody has woken the other");
            subject.wake().unwrap();
            for waiter in waiters {
                let (answered, took) = waiter.join().unwrap();
                assert_eq!(answered, Ok(vec![]));
                assert!(took < LIMIT);
            }
        });
    }
}
