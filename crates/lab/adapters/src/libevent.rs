//! [libevent](https://libevent.org), as the system's library. Each of its methods is selected by avoiding all
//! others.
//!
//! - A registration is an event with `EV_PERSIST`, a one-shot registration an event without it. libevent has
//!   no call that changes an event: a modification deletes it and creates another.
//! - A number may have several events. The `ENOENT` for a number without an event is this module's answer:
//!   libevent has no call that could return it.
//! - A wait is one iteration of `event_base_loop`. Its timeout is a timer of libevent's default clock, the
//!   kernel's coarse one, which lags by up to a tick. When the room is full, the loop breaks; the other
//!   events stay active.
//! - After a signal the library continues the wait: `EINTR` never occurs.
//! - If libevent would end the process, for lack of descriptors, the creation of a base fails: see
//!   `creation`.
//! - Over poll and select, libevent starts each iteration at a random entry: the order of its events is
//!   random.
//! - The names of events are those of the callback's flags.

mod base;
mod creation;
mod ffi;

use std::ffi::{CStr, c_short};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use selector::{Capabilities, Changed, Column, Event, Interest, Selector, Token, Unsupported, View};

use self::base::{Base, Collector, OwnedEvent};
use crate::library::{capabilities, view};

/// libevent over epoll.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn epoll() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &view("libevent-epoll");
    over(c"epoll", VIEWS)
}

/// libevent over kqueue.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn kqueue() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &view("libevent-kqueue");
    over(c"kqueue", VIEWS)
}

/// libevent over poll.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn poll() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &view("libevent-poll");
    over(c"poll", VIEWS)
}

/// libevent over select.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn select() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &view(SELECT);
    over(c"select", VIEWS)
}

fn over(method: &'static CStr, views: &'static [View]) -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(LibeventSelector::over(method, views)?))
}

const SELECT: &str = "libevent-select";

/// libevent's sets have room for any number, but it uses `FD_SET`, whose check assumes sets of `FD_SETSIZE`.
const BEYOND: &str = "libevent's select ends the process (SIGABRT) for a number from FD_SETSIZE on, where the \
                      library is built with _FORTIFY_SOURCE";

struct LibeventSelector {
    base: Arc<Base>,
    views: &'static [View],
    wake: OwnedEvent,
    limit: OwnedEvent,
    collector: Arc<Collector>,
    /// In the order of the additions.
    registrations: Mutex<Vec<(RawFd, OwnedEvent)>>,
    /// Locked by the thread that runs the loop.
    iteration: Mutex<()>,
}

impl LibeventSelector {
    fn over(method: &'static CStr, views: &'static [View]) -> io::Result<Self> {
        let base = Arc::new(Base::over(method)?);
        Ok(Self {
            wake: OwnedEvent::internal(&base)?,
            limit: OwnedEvent::internal(&base)?,
            collector: Arc::new(Collector::new(Arc::clone(&base))),
            registrations: Mutex::default(),
            iteration: Mutex::default(),
            base,
            views,
        })
    }

    fn modes(&self) -> Vec<Mode> {
        let all = [
            Some(Mode::Level),
            Some(Mode::Edge).filter(|_| self.base.has(ffi::EV_FEATURE_ET)),
            Some(Mode::OneShot),
        ];
        all.into_iter().flatten().collect()
    }

    /// Returns the flags to request. A part of the interest without a flag is left out, unless it is the only
    /// one.
    fn flags(&self, interest: Interest, mode: Mode) -> Result<c_short, Unsupported> {
        if !self.modes().contains(&mode) {
            return Err(Unsupported(format!("{} has no {mode:?}", self.name())));
        }
        let persistence = match mode {
            Mode::OneShot => 0,
            Mode::Edge => ffi::EV_PERSIST | ffi::EV_ET,
            _ => ffi::EV_PERSIST,
        };
        let requested = [
            (interest.read, ffi::EV_READ),
            (interest.write, ffi::EV_WRITE),
            (interest.peer_shut && self.base.has(ffi::EV_FEATURE_EARLY_CLOSE), ffi::EV_CLOSED),
        ];
        match requested.into_iter().filter(|(wanted, _)| *wanted).fold(0, |flags, (_, flag)| flags | flag) {
            0 if interest == Interest::NONE => {
                Err(Unsupported("libevent cannot register a descriptor without interest".into()))
            }
            0 => Err(Unsupported(format!("{} has no flag for {interest:?} alone", self.name()))),
            flags => Ok(flags | persistence),
        }
    }

    fn pending(&self, fd: RawFd, token: Token, flags: c_short) -> Result<OwnedEvent, Errno> {
        let event = OwnedEvent::of(fd, flags, token, &self.collector)?;
        event.add(None).map(|()| event)
    }
}

impl Selector for LibeventSelector {
    fn name(&self) -> &str {
        self.views[0].api
    }

    fn version(&self) -> Option<String> {
        // SAFETY: the function has no arguments and returns a static string.
        let version = unsafe { CStr::from_ptr(ffi::event_get_version()) };
        Some(version.to_string_lossy().into_owned())
    }

    fn column(&self) -> Column {
        // EV_READ also reports an end that no EV_CLOSED was requested for.
        let words =
            [("READ", "readable end?"), ("WRITE", "writable"), ("CLOSED", "peer-shut"), ("ET", "flag")];
        Column::new(self.name().strip_prefix("libevent-").and_then(|method| method.parse().ok()), &words)
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(self.modes(), "libevent runs one event_base_loop on a base at a time")
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if self.modes().contains(&mode) { self.views } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.flags(interest, mode).map_or_else(Changed::Unsupported, |flags| {
            if self.name() == SELECT && usize::try_from(fd).is_ok_and(|fd| fd >= libc::FD_SETSIZE) {
                return Changed::unsupported(BEYOND);
            }
            let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
            self.pending(fd, token, flags).map(|event| registrations.push((fd, event))).into()
        })
    }

    /// If the number has several events, it changes the one with the token, or else the oldest.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let flags = match self.flags(interest, mode) {
            Err(unsupported) => return Changed::Unsupported(unsupported),
            Ok(flags) => flags,
        };
        let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        let exact =
            registrations.iter().position(|(number, event)| (*number, event.token()) == (fd, Some(token)));
        let Some(index) = exact.or_else(|| registrations.iter().position(|(number, _)| *number == fd)) else {
            return Changed::refused(Errno::ENOENT);
        };
        let pending = registrations[index].1.delete().and_then(|()| self.pending(fd, token, flags));
        pending.map(|event| registrations[index] = (fd, event)).into()
    }

    /// Removes every event of the number.
    fn remove(&self, fd: RawFd) -> Changed {
        let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        let removed: Vec<_> = registrations.extract_if(.., |(number, _)| *number == fd).collect();
        if removed.is_empty() {
            return Changed::refused(Errno::ENOENT);
        }
        removed.iter().try_for_each(|(_, event)| event.delete()).into()
    }

    /// A second thread begins its wait after the wait of the first one.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        if room == 0 {
            return Err(Errno::EINVAL);
        }
        let _iteration = self.iteration.lock().unwrap_or_else(PoisonError::into_inner);
        self.collector.begin(room);
        let flags = match timeout {
            None => 0,
            Some(Duration::ZERO) => ffi::EVLOOP_NONBLOCK,
            Some(limit) => self.limit.add(Some(limit)).map(|()| 0)?,
        };
        let result = self.base.iterate(flags);
        self.limit.delete()?;
        result.map(|()| self.collector.take())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.wake.activate();
        Ok(())
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("libevent's base cannot be closed, only freed when it is not in use".into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::thread;

    use super::*;

    fn selector(method: &'static CStr) -> LibeventSelector {
        LibeventSelector::over(method, const { &view("libevent-select") }).unwrap()
    }

    #[test]
    fn an_inexpressible_registration_is_unsupported() {
        let poller = selector(c"select");
        let reason = |interest, mode| poller.flags(interest, mode).unwrap_err().0;
        for mode in [Mode::Edge, Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge] {
            assert_eq!(reason(Interest::READ, mode), format!("libevent-select has no {mode:?}"));
        }
        assert!(reason(Interest::NONE, Mode::Level).contains("without interest"));
        assert!(reason(Interest { urgent: true, ..Interest::NONE }, Mode::Level).contains("urgent: true"));
        assert_eq!(poller.flags(Interest::ALL, Mode::OneShot), Ok(ffi::EV_READ | ffi::EV_WRITE));
    }

    #[test]
    fn a_missing_method_is_unsupported() {
        let missing = Base::over(c"devpoll").err().unwrap();
        assert_eq!(
            (missing.kind(), missing.to_string().as_str()),
            (io::ErrorKind::Unsupported, "libevent has no devpoll here")
        );
    }

    /// `FD_SET` in a library that is built with _FORTIFY_SOURCE would raise SIGABRT.
    #[test]
    fn a_number_that_would_end_the_process_is_not_registered() {
        let poller = selector(c"select");
        let beyond = RawFd::try_from(libc::FD_SETSIZE).unwrap();
        assert_eq!(poller.add(beyond, 1, Interest::READ, Mode::Level), Changed::unsupported(BEYOND));
    }

    /// libevent refuses both at once: "tried to mix edge-triggered and non-edge-triggered events".
    #[test]
    fn a_level_becomes_an_edge() {
        let Ok(poller) = epoll() else { return };
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"x").unwrap();
        assert_eq!(poller.add(reader.as_raw_fd(), 1, Interest::READ, Mode::Level), Changed::Done);
        assert_eq!(poller.modify(reader.as_raw_fd(), 2, Interest::READ, Mode::Edge), Changed::Done);
        let once = poller.wait(8, Some(Duration::ZERO)).unwrap();
        assert_eq!(once.iter().map(|event| event.token).collect::<Vec<_>>(), [2]);
        assert_eq!(poller.wait(8, Some(Duration::ZERO)), Ok(vec![]));
    }

    #[test]
    fn the_limit_of_a_wait_does_not_end_one_without() {
        const LIMIT: Duration = Duration::from_millis(20);
        let poller = selector(c"select");
        let (reader, mut writer) = io::pipe().unwrap();
        poller.add(reader.as_raw_fd(), 1, Interest::READ, Mode::OneShot);
        writer.write_all(b"x").unwrap();
        assert_eq!(poller.wait(8, Some(LIMIT)).unwrap().len(), 1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| poller.wait(8, None));
            thread::sleep(2 * LIMIT);
            poller.modify(reader.as_raw_fd(), 2, Interest::READ, Mode::OneShot);
            let events = waiting.join().unwrap().unwrap();
            assert_eq!(
                events.iter().map(|event| event.token).collect::<Vec<_>>(),
                [2],
                "the limit of the earlier wait has passed"
            );
        });
    }

    #[test]
    fn a_number_that_is_not_open_is_refused_with_the_kernels_errno() {
        let refused = Changed::refused(Errno::EBADF);
        let poller = epoll();
        if let Ok(poller) = poller {
            assert_eq!(poller.add(999_999, 1, Interest::READ, Mode::Level), refused);
            assert_eq!(poller.remove(999_999), Changed::refused(Errno::ENOENT), "nothing was added");
        }
    }
}
