//! [mio](https://docs.rs/mio): edge-triggered; one thread waits.
//!
//! - Descriptors are registered by number ([`SourceFd`]), as mio's users do for descriptors that have no type
//!   in mio.
//! - mio requests `EPOLLRDHUP` together with reading, and reports it as `read_closed`: it cannot be requested
//!   alone.
//! - The wake-up is a [`Waker`], which takes a place among the events.

use std::io;
use std::os::fd::RawFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::mio::unix::SourceFd;
use ::mio::{self as library, Events, Poll, Registry, Waker};
use metadata::Mode;
use nix::errno::Errno;
use selector::{Capabilities, Changed, Column, Event, Interest, Record, Selector, Token, Unsupported, View};

use crate::library::{capabilities, changed, errno, names, queue, view};

pub const NAME: &str = "mio";

const VIEWS: &[View] = &view(NAME);
/// The token of the waker.
const WAKE: library::Token = library::Token(usize::MAX);

/// Creates a selector over mio.
///
/// # Errors
/// The errors of `Poll::new` and `Waker::new`.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    let poll = Poll::new()?;
    let registry = poll.registry().try_clone()?;
    let waker = Waker::new(&registry, WAKE)?;
    Ok(Box::new(MioSelector { poll: Mutex::new(poll), registry, waker }))
}

struct MioSelector {
    poll: Mutex<Poll>,
    registry: Registry,
    waker: Waker,
}

impl Selector for MioSelector {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> Option<String> {
        option_env!("POLLMATRIX_MIO_VERSION").map(str::to_owned)
    }

    fn column(&self) -> Column {
        let words = [
            ("readable", "readable"),
            ("writable", "writable"),
            ("error", "error"),
            ("read_closed", "end hang-up?"),
            ("write_closed", "writable? hang-up?"),
            ("priority", "urgent"),
        ];
        Column::new(queue(), &words)
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(vec![Mode::Edge], "mio::Poll::poll takes &mut self: one thread waits")
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if mode == Mode::Edge { VIEWS } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        registration(token, interest, mode).map_or_else(Changed::Unsupported, |(token, interest)| {
            changed(self.registry.register(&mut SourceFd(&fd), token, interest))
        })
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        registration(token, interest, mode).map_or_else(Changed::Unsupported, |(token, interest)| {
            changed(self.registry.reregister(&mut SourceFd(&fd), token, interest))
        })
    }

    fn remove(&self, fd: RawFd) -> Changed {
        changed(self.registry.deregister(&mut SourceFd(&fd)))
    }

    /// A second thread begins its wait after the wait of the first one.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut events = Events::with_capacity(room);
        let mut poll = self.poll.lock().unwrap_or_else(PoisonError::into_inner);
        poll.poll(&mut events, timeout).map_err(|error| errno(&error))?;
        let ours = events.iter().filter(|event| event.token() != WAKE);
        Ok(ours.map(|event| Event { token: event.token().0 as Token, record: record(event) }).collect())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.waker.wake().map_err(|error| Unsupported(format!("mio::Waker::wake: {error}")))
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("mio::Poll has no close: dropping it closes its descriptor".into()))
    }
}

/// Returns the arguments of a registration in mio. A part of the interest that mio has no name for on this
/// system is left out, unless it is the only one.
fn registration(
    token: Token,
    interest: Interest,
    mode: Mode,
) -> Result<(library::Token, library::Interest), Unsupported> {
    if mode != Mode::Edge {
        return Err(Unsupported(format!("mio is edge-triggered only: there is no {mode:?}")));
    }
    let number = usize::try_from(token).ok().filter(|number| *number != WAKE.0);
    let number = number.ok_or_else(|| Unsupported(format!("mio::Token cannot be {token} beside a Waker")))?;
    let requested = [
        (interest.read, Some(library::Interest::READABLE)),
        (interest.write, Some(library::Interest::WRITABLE)),
        (interest.urgent, PRIORITY),
    ];
    let requested = requested.into_iter().filter(|(wanted, _)| *wanted).filter_map(|(_, name)| name);
    let requested = requested.reduce(|all, one| all | one).ok_or_else(|| {
        Unsupported(if interest == Interest::NONE {
            "mio::Interest is never empty".into()
        } else {
            format!("mio::Interest has no name on this system for {interest:?} alone")
        })
    })?;
    Ok((library::Token(number), requested))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const PRIORITY: Option<library::Interest> = Some(library::Interest::PRIORITY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PRIORITY: Option<library::Interest> = None;

fn record(event: &library::event::Event) -> Record {
    names([
        (event.is_readable(), "readable"),
        (event.is_writable(), "writable"),
        (event.is_error(), "error"),
        (event.is_read_closed(), "read_closed"),
        (event.is_write_closed(), "write_closed"),
        (event.is_priority(), "priority"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inexpressible_registration_is_unsupported() {
        let reason = |token, interest, mode| registration(token, interest, mode).unwrap_err().0;
        for mode in [Mode::Level, Mode::OneShot, Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge] {
            let expected = format!("mio is edge-triggered only: there is no {mode:?}");
            assert_eq!(reason(1, Interest::READ, mode), expected);
        }
        assert_eq!(reason(1, Interest::NONE, Mode::Edge), "mio::Interest is never empty");
        let peer_shut = Interest { peer_shut: true, ..Interest::NONE };
        assert!(reason(1, peer_shut, Mode::Edge).contains("peer_shut: true"));
        assert!(reason(Token::MAX, Interest::READ, Mode::Edge).contains("18446744073709551615"));
    }

    #[test]
    fn each_interest_is_requested_by_its_own_name() {
        let requested = |interest| registration(7, interest, Mode::Edge).ok();
        let named = |name| Some((library::Token(7), name));
        assert_eq!(requested(Interest::READ), named(library::Interest::READABLE));
        assert_eq!(requested(Interest::WRITE), named(library::Interest::WRITABLE));
        assert_eq!(requested(Interest { urgent: true, ..Interest::NONE }), PRIORITY.and_then(named));
        let all = library::Interest::READABLE | library::Interest::WRITABLE;
        assert_eq!(requested(Interest::ALL), named(PRIORITY.map_or(all, |priority| all | priority)));
    }
}
