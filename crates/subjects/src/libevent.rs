//! [libevent](https://libevent.org) through the system's library, each of its methods forced by avoiding all others.
//!
//! - A registration is an event with `EV_PERSIST`; a one-shot one is without. libevent has no call to change it: a
//!   modification deletes it and makes another.
//! - A number may have several events. A number that has none, `ENOENT`, is this module's answer: libevent has no call
//!   that could say so.
//! - A wait is one round of `event_base_loop`. The limit is a timer, as exact as libevent's clock is by default: the
//!   kernel's coarse one, which is behind by up to a tick. Room that is full breaks the loop; the rest stays active.
//! - A wait that a signal ends begins again inside the library: `EINTR` is never seen.
//! - Where libevent ends the process, for want of descriptors, the making of a base fails: see `making`.
//! - The words are those of the callback's flags.

mod base;
mod ffi;
mod making;

use std::ffi::{CStr, c_short};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use selector::{Capabilities, Changed, Event, Interest, Selector, Token, Unsupported, View};

use self::base::{Base, Heard, OwnedEvent};
use crate::column;

/// libevent over epoll.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn epoll() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &column::view("libevent-epoll");
    over(c"epoll", VIEWS)
}

/// libevent over kqueue.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn kqueue() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &column::view("libevent-kqueue");
    over(c"kqueue", VIEWS)
}

/// libevent over poll.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn poll() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &column::view("libevent-poll");
    over(c"poll", VIEWS)
}

/// libevent over select.
///
/// # Errors
/// The kind is `Unsupported` where libevent has no such method.
pub fn select() -> io::Result<Box<dyn Selector>> {
    const VIEWS: &[View] = &column::view(SELECT);
    over(c"select", VIEWS)
}

fn over(method: &'static CStr, views: &'static [View]) -> io::Result<Box<dyn Selector>> {
    let base = Arc::new(Base::over(method)?);
    Ok(Box::new(LibeventSelector {
        wake: OwnedEvent::silent(&base)?,
        limit: OwnedEvent::silent(&base)?,
        heard: Arc::new(Heard::new(Arc::clone(&base))),
        registrations: Mutex::default(),
        round: Mutex::default(),
        base,
        views,
    }))
}

const SELECT: &str = "libevent-select";

/// Its sets have room for any number, but it enters a number with `FD_SET`, whose check does not know that.
const BEYOND: &str = "libevent's select ends the process (SIGABRT) for a number from FD_SETSIZE on, where the \
                      library is built with _FORTIFY_SOURCE";

struct LibeventSelector {
    base: Arc<Base>,
    views: &'static [View],
    wake: OwnedEvent,
    limit: OwnedEvent,
    heard: Arc<Heard>,
    /// In the order of the additions.
    registrations: Mutex<Vec<(RawFd, OwnedEvent)>>,
    /// Held by the thread that is in the loop.
    round: Mutex<()>,
}

impl LibeventSelector {
    fn modes(&self) -> Vec<Mode> {
        let all = [
            Some(Mode::Level),
            Some(Mode::Edge).filter(|_| self.base.has(ffi::EV_FEATURE_ET)),
            Some(Mode::OneShot),
        ];
        all.into_iter().flatten().collect()
    }

    /// The flags to ask for. What this method has no flag for is left out, unless nothing else is asked for.
    fn what(&self, interest: Interest, mode: Mode) -> Result<c_short, Unsupported> {
        if !self.modes().contains(&mode) {
            return Err(Unsupported(format!("{} has no {mode:?}", self.name())));
        }
        let persistence = match mode {
            Mode::OneShot => 0,
            Mode::Edge => ffi::EV_PERSIST | ffi::EV_ET,
            _ => ffi::EV_PERSIST,
        };
        let asked = [
            (interest.read, ffi::EV_READ),
            (interest.write, ffi::EV_WRITE),
            (interest.peer_shut && self.base.has(ffi::EV_FEATURE_EARLY_CLOSE), ffi::EV_CLOSED),
        ];
        match asked.into_iter().filter(|(wanted, _)| *wanted).fold(0, |what, (_, flag)| what | flag) {
            0 if interest == Interest::NONE => {
                Err(Unsupported("libevent registers nothing where nothing is asked for".into()))
            }
            0 => Err(Unsupported(format!("{} has no flag for {interest:?} by itself", self.name()))),
            what => Ok(what | persistence),
        }
    }

    fn pending(&self, fd: RawFd, token: Token, what: c_short) -> Result<OwnedEvent, Errno> {
        let event = OwnedEvent::of(fd, what, token, &self.heard)?;
        event.add(None).map(|()| event)
    }
}

impl Selector for LibeventSelector {
    fn name(&self) -> &str {
        self.views[0].api
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: self.modes(),
            shared_wait: Err("libevent runs one event_base_loop on a base at a time"),
            changes_seen_by_waiters: Ok(()),
            own_numbers: Ok(()),
            raw_records: false,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if self.modes().contains(&mode) { self.views } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let what = match self.what(interest, mode) {
            Err(unsupported) => return Changed::Unsupported(unsupported),
            Ok(what) => what,
        };
        if self.name() == SELECT && usize::try_from(fd).is_ok_and(|fd| fd >= libc::FD_SETSIZE) {
            return Changed::unsupported(BEYOND);
        }
        let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        self.pending(fd, token, what).map(|event| registrations.push((fd, event))).into()
    }

    /// Of several events of one number it changes the one that has the token, or else the oldest.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let what = match self.what(interest, mode) {
            Err(unsupported) => return Changed::Unsupported(unsupported),
            Ok(what) => what,
        };
        let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        let exact =
            registrations.iter().position(|(number, event)| (*number, event.token()) == (fd, Some(token)));
        match exact.or_else(|| registrations.iter().position(|(number, _)| *number == fd)) {
            None => Changed::refused(Errno::ENOENT),
            Some(index) => {
                let (_, old) = &registrations[index];
                match old.delete().and_then(|()| self.pending(fd, token, what)) {
                    Ok(event) => {
                        registrations[index] = (fd, event);
                        Changed::Done
                    }
                    Err(errno) => Changed::refused(errno),
                }
            }
        }
    }

    /// Takes out every event of the number.
    fn remove(&self, fd: RawFd) -> Changed {
        let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        let removed: Vec<_> = registrations.extract_if(.., |(number, _)| *number == fd).collect();
        if removed.is_empty() {
            return Changed::refused(Errno::ENOENT);
        }
        removed.iter().try_for_each(|(_, event)| event.delete()).into()
    }

    /// A second thread begins its wait when the first one's is over.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        if room == 0 {
            return Err(Errno::EINVAL);
        }
        let _round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        self.heard.begin(room);
        let flags = match timeout {
            None => 0,
            Some(Duration::ZERO) => ffi::EVLOOP_NONBLOCK,
            Some(limit) => self.limit.add(Some(limit)).map(|()| 0)?,
        };
        let round = self.base.round(flags);
        self.limit.delete()?;
        round.map(|()| self.heard.take())
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.wake.activate();
        Ok(())
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("libevent's base is freed, not closed: nobody may be using it".into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::thread;

    use super::*;

    fn selector(method: &'static CStr) -> LibeventSelector {
        let base = Arc::new(Base::over(method).unwrap());
        LibeventSelector {
            wake: OwnedEvent::silent(&base).unwrap(),
            limit: OwnedEvent::silent(&base).unwrap(),
            heard: Arc::new(Heard::new(Arc::clone(&base))),
            registrations: Mutex::default(),
            round: Mutex::default(),
            base,
            views: const { &column::view("libevent-select") },
        }
    }

    #[test]
    fn what_libevent_has_no_flags_for_is_unsupported_and_not_something_else() {
        let subject = selector(c"select");
        let reason = |interest, mode| subject.what(interest, mode).unwrap_err().0;
        for mode in [Mode::Edge, Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge] {
            assert_eq!(reason(Interest::READ, mode), format!("libevent-select has no {mode:?}"));
        }
        assert!(reason(Interest::NONE, Mode::Level).contains("nothing is asked for"));
        assert!(reason(Interest { urgent: true, ..Interest::NONE }, Mode::Level).contains("urgent: true"));
        assert_eq!(subject.what(Interest::ALL, Mode::OneShot), Ok(ffi::EV_READ | ffi::EV_WRITE));
    }

    #[test]
    fn a_method_that_is_not_here_is_unsupported() {
        let missing = Base::over(c"devpoll").err().unwrap();
        assert_eq!(
            (missing.kind(), missing.to_string().as_str()),
            (io::ErrorKind::Unsupported, "libevent has no devpoll here")
        );
    }

    /// `FD_SET` in a library that is built with _FORTIFY_SOURCE: what comes then is SIGABRT.
    #[test]
    fn a_number_that_would_end_the_process_is_not_registered() {
        let subject = selector(c"select");
        let beyond = RawFd::try_from(libc::FD_SETSIZE).unwrap();
        assert_eq!(subject.add(beyond, 1, Interest::READ, Mode::Level), Changed::unsupported(BEYOND));
    }

    /// Both at once are refused by libevent: "tried to mix edge-triggered and non-edge-triggered events".
    #[test]
    fn a_level_becomes_an_edge() {
        let Ok(subject) = epoll() else { return };
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"x").unwrap();
        assert_eq!(subject.add(reader.as_raw_fd(), 1, Interest::READ, Mode::Level), Changed::Done);
        assert_eq!(subject.modify(reader.as_raw_fd(), 2, Interest::READ, Mode::Edge), Changed::Done);
        let once = subject.wait(8, Some(Duration::ZERO)).unwrap();
        assert_eq!(once.iter().map(|event| event.token).collect::<Vec<_>>(), [2]);
        assert_eq!(subject.wait(8, Some(Duration::ZERO)), Ok(vec![]));
    }

    #[test]
    fn the_limit_of_a_wait_does_not_end_one_without() {
        const LIMIT: Duration = Duration::from_millis(20);
        let subject = selector(c"select");
        let (reader, mut writer) = io::pipe().unwrap();
        subject.add(reader.as_raw_fd(), 1, Interest::READ, Mode::OneShot);
        writer.write_all(b"x").unwrap();
        assert_eq!(subject.wait(8, Some(LIMIT)).unwrap().len(), 1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| subject.wait(8, None));
            thread::sleep(2 * LIMIT);
            subject.modify(reader.as_raw_fd(), 2, Interest::READ, Mode::OneShot);
            let events = waiting.join().unwrap().unwrap();
            assert_eq!(
                events.iter().map(|event| event.token).collect::<Vec<_>>(),
                [2],
                "the limit was over long ago"
            );
        });
    }

    #[test]
    fn a_number_that_is_not_open_is_refused_with_the_kernels_errno() {
        let refused = Changed::refused(Errno::EBADF);
        let subject = epoll();
        if let Ok(subject) = subject {
            assert_eq!(subject.add(999_999, 1, Interest::READ, Mode::Level), refused);
            assert_eq!(subject.remove(999_999), Changed::refused(Errno::ENOENT), "nothing was added");
        }
    }
}
