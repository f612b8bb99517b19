//! [polling](https://docs.rs/polling): level, edge and one-shot. A second thread that waits returns at once.
//!
//! - It has interest in reading, writing and urgent data. It has no name for `POLLRDHUP`.
//! - After a signal the library continues the wait: `EINTR` never occurs.
//! - The wake-up is `Poller::notify`.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use ::polling::{self as library, Events, PollMode, Poller};
use metadata::Mode;
use nix::errno::Errno;
use selector::{Capabilities, Changed, Column, Event, Interest, Record, Selector, Token, Unsupported, View};

use crate::library::{capabilities, changed, errno, names, queue, view};

pub const NAME: &str = "polling";

const VIEWS: &[View] = &view(NAME);

/// Creates a selector over polling.
///
/// # Errors
/// The errors of `Poller::new`.
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
            PollMode::Edge | PollMode::EdgeOneshot => self.poller.supports_edge(),
            _ => true,
        }
    }

    /// Returns the arguments of a registration in polling.
    fn registration(
        &self,
        token: Token,
        interest: Interest,
        mode: Mode,
    ) -> Result<(library::Event, PollMode), Unsupported> {
        let mode = named(mode)
            .filter(|mode| self.has(*mode))
            .ok_or_else(|| Unsupported(format!("polling::PollMode has no {mode:?} on this system")))?;
        let key = usize::try_from(token).ok().filter(|key| *key != usize::MAX);
        let key = key.ok_or_else(|| Unsupported(format!("polling's key cannot be {token}")))?;
        if interest == (Interest { peer_shut: true, ..Interest::NONE }) {
            return Err(Unsupported("polling::Event has no name for POLLRDHUP".into()));
        }
        let mut event = library::Event::new(key, interest.read, interest.write);
        event.set_priority(interest.urgent);
        if interest.urgent && event == event.with_no_extra() && !(interest.read || interest.write) {
            return Err(Unsupported("polling::Event has no priority on this system".into()));
        }
        Ok((event, mode))
    }
}

impl Selector for PollingSelector {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> Option<String> {
        option_env!("POLLMATRIX_POLLING_VERSION").map(str::to_owned)
    }

    fn column(&self) -> Column {
        let words = [
            ("readable", "readable"),
            ("writable", "writable"),
            ("interrupt", "hang-up"),
            ("priority", "urgent"),
            ("err", "error"),
        ];
        Column::new(queue(), &words)
    }

    fn capabilities(&self) -> Capabilities {
        let modes = [Mode::Level, Mode::Edge, Mode::OneShot, Mode::EdgeOneShot];
        let modes = modes.into_iter().filter(|mode| named(*mode).is_some_and(|mode| self.has(mode)));
        capabilities(modes.collect(), "polling::Poller::wait returns at once while another thread is in it")
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if named(mode).is_some_and(|mode| self.has(mode)) { VIEWS } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match self.registration(token, interest, mode) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(_) if fd < 0 => negative(),
            // SAFETY: this code uses only the number and borrows no descriptor. If the descriptor is closed
            // before `delete`, the kernel removes the registration or reports a later state, and the events
            // are only recorded.
            Ok((event, mode)) => changed(unsafe { self.poller.add_with_mode(fd, event, mode) }),
        }
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        match self.registration(token, interest, mode) {
            Err(unsupported) => Changed::Unsupported(unsupported),
            Ok(_) if fd < 0 => negative(),
            Ok((event, mode)) => changed(self.poller.modify_with_mode(borrowed(fd), event, mode)),
        }
    }

    fn remove(&self, fd: RawFd) -> Changed {
        if fd < 0 { negative() } else { changed(self.poller.delete(borrowed(fd))) }
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut events = Events::with_capacity(NonZeroUsize::new(room).ok_or(Errno::EINVAL)?);
        self.poller.wait(&mut events, timeout).map_err(|error| errno(&error))?;
        Ok(events.iter().map(|event| Event { token: event.key as Token, record: record(&event) }).collect())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.poller.notify().map_err(|error| Unsupported(format!("polling::Poller::notify: {error}")))
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("polling::Poller has no close: dropping it closes its descriptor".into()))
    }
}

fn named(mode: Mode) -> Option<PollMode> {
    match mode {
        Mode::Level => Some(PollMode::Level),
        Mode::Edge => Some(PollMode::Edge),
        Mode::OneShot => Some(PollMode::Oneshot),
        Mode::EdgeOneShot => Some(PollMode::EdgeOneshot),
        Mode::Dispatch | Mode::Exclusive | Mode::ExclusiveEdge => None,
    }
}

fn negative() -> Changed {
    Changed::unsupported("polling takes a BorrowedFd, which is never negative")
}

fn borrowed(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the callers check that the number is not negative. It is used only in a system call, which
    // refuses a closed number.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

fn record(event: &library::Event) -> Record {
    names([
        (event.readable, "readable"),
        (event.writable, "writable"),
        (event.is_interrupt(), "interrupt"),
        (event.is_priority(), "priority"),
        (event.is_err() == Some(true), "err"),
    ])
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_inexpressible_registration_is_unsupported() {
        let poller = PollingSelector { poller: Poller::new().unwrap() };
        let reason = |token, interest, mode| poller.registration(token, interest, mode).unwrap_err().0;
        for mode in [Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge] {
            let expected = format!("polling::PollMode has no {mode:?} on this system");
            assert_eq!(reason(1, Interest::READ, mode), expected);
        }
        let peer_shut = Interest { peer_shut: true, ..Interest::NONE };
        assert_eq!(reason(1, peer_shut, Mode::Level), "polling::Event has no name for POLLRDHUP");
        assert!(reason(Token::MAX, Interest::READ, Mode::Level).contains("18446744073709551615"));
        assert!(matches!(poller.add(-1, 1, Interest::READ, Mode::Level), Changed::Unsupported(_)));
        assert!(matches!(poller.remove(-1), Changed::Unsupported(_)));
    }

    /// This differs from mio and from the kernel.
    #[test]
    fn one_of_two_waiters_returns_before_its_timeout() {
        const LIMIT: Duration = Duration::from_secs(60);
        let poller = PollingSelector { poller: Poller::new().unwrap() };
        let wait = || {
            let begun = Instant::now();
            (poller.wait(8, Some(LIMIT)), begun.elapsed())
        };
        thread::scope(|scope| {
            let waiters = [scope.spawn(wait), scope.spawn(wait)];
            while !waiters.iter().any(|waiter| waiter.is_finished()) {
                thread::yield_now();
            }
            assert!(!waiters.iter().all(|waiter| waiter.is_finished()), "the other thread still waits");
            poller.wake().unwrap();
            for waiter in waiters {
                let (waited, took) = waiter.join().unwrap();
                assert_eq!(waited, Ok(vec![]));
                assert!(took < LIMIT);
            }
        });
    }
}
