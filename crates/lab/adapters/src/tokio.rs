//! [tokio](https://docs.rs/tokio)'s `AsyncFd` in a current-thread runtime: edge-triggered; one thread waits.
//!
//! - The runtime's driver runs only during a wait. Each wait begins with one iteration of it that does not
//!   sleep, because an `AsyncFd` caches its readiness, and reports the kernel's state of that iteration.
//! - A wait reports every `AsyncFd` that is ready, in the order of the additions, and calls
//!   `AsyncFdReadyGuard::clear_ready`, as after an `EAGAIN`. tokio does not clear `read_closed` and
//!   `write_closed`: each later wait reports them again.
//! - An `AsyncFd` cannot be changed: a modification drops it and creates another. Its drop discards the error
//!   of the deregistration. The `ENOENT` for a number without an `AsyncFd` is this module's answer.
//! - `Interest::ERROR` is requested together with reading, and alone for an empty interest: tokio registers
//!   it as reading, which would add edges to a registration for writing.
//! - After a signal the library continues the wait: `EINTR` never occurs.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::{Pin, pin};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use ::tokio::io::unix::AsyncFd;
use ::tokio::io::{self as library, Ready};
use ::tokio::runtime::{Builder, Runtime};
use ::tokio::sync::Notify;
use ::tokio::{task, time};
use metadata::Mode;
use nix::errno::Errno;
use selector::{Capabilities, Changed, Column, Event, Interest, Record, Selector, Token, Unsupported, View};

use crate::library::{capabilities, changed, names, queue, view};

pub const NAME: &str = "tokio";

const VIEWS: &[View] = &view(NAME);

/// Creates a selector over tokio.
///
/// # Errors
/// The errors of the runtime's `Builder::build`.
pub fn selector() -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(TokioSelector::new()?))
}

struct TokioSelector {
    /// In the order of the additions. A wait holds references to them.
    registrations: Mutex<Vec<Arc<Registration>>>,
    /// A wait has dropped its references.
    released: Condvar,
    /// A wait must use the registrations of now.
    changed: Notify,
    woken: Notify,
    /// Locked by the thread that waits.
    waiting: Mutex<()>,
    runtime: Runtime,
}

struct Registration {
    fd: AsyncFd<Number>,
    token: Token,
    interest: library::Interest,
}

/// A descriptor that tokio does not close.
struct Number(RawFd);

impl AsRawFd for Number {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

impl TokioSelector {
    fn new() -> io::Result<Self> {
        Ok(Self {
            registrations: Mutex::default(),
            released: Condvar::new(),
            changed: Notify::new(),
            woken: Notify::new(),
            waiting: Mutex::default(),
            runtime: Builder::new_current_thread().enable_io().enable_time().build()?,
        })
    }

    fn registrations(&self) -> MutexGuard<'_, Vec<Arc<Registration>>> {
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(
        &self,
        fd: RawFd,
        token: Token,
        interest: library::Interest,
    ) -> io::Result<Arc<Registration>> {
        let _runtime = self.runtime.enter();
        // SAFETY: this code uses only the number and borrows no descriptor. If the descriptor is closed
        // before the `AsyncFd`, the kernel removes the registration or reports a later state, and the events
        // are only recorded.
        let fd = unsafe { AsyncFd::register_with_interest(Number(fd), interest) }?;
        Ok(Arc::new(Registration { fd, token, interest }))
    }

    /// Drops the registration, which deregisters the number, before it returns. A wait in progress gives up
    /// its reference first.
    fn deregister<'a>(
        &'a self,
        mut registrations: MutexGuard<'a, Vec<Arc<Registration>>>,
        mut registration: Arc<Registration>,
    ) -> MutexGuard<'a, Vec<Arc<Registration>>> {
        while let Err(shared) = Arc::try_unwrap(registration) {
            registration = shared;
            self.changed.notify_one();
            registrations = self.released.wait(registrations).unwrap_or_else(PoisonError::into_inner);
        }
        registrations
    }

    /// Waits until one of these registrations is ready, the registrations have changed, or `ended` is
    /// complete. Returns the events and whether `ended` is complete.
    async fn events(
        &self,
        registrations: &[Arc<Registration>],
        mut ended: Pin<&mut impl Future<Output = ()>>,
    ) -> (Vec<Event>, bool) {
        let mut ready: Vec<_> = registrations
            .iter()
            .map(|registration| (registration.token, Box::pin(registration.fd.ready(registration.interest))))
            .collect();
        let mut changed = pin!(self.changed.notified());
        poll_fn(|context| {
            let mut events = Vec::new();
            // A future that is complete must not be polled again.
            let mut is_over = changed.as_mut().poll(context).is_ready();
            for (token, ready) in &mut ready {
                let Poll::Ready(result) = ready.as_mut().poll(context) else { continue };
                is_over = true;
                // The error means that the runtime is gone, which this object owns.
                let Ok(mut guard) = result else { continue };
                if !guard.ready().is_empty() {
                    events.push(Event { token: *token, record: record(guard.ready()) });
                    guard.clear_ready();
                }
            }
            let has_ended = ended.as_mut().poll(context).is_ready();
            if is_over || has_ended { Poll::Ready((events, has_ended)) } else { Poll::Pending }
        })
        .await
    }

    async fn wait(&self, timeout: Option<Duration>) -> Vec<Event> {
        let mut limit = pin!(async {
            match timeout {
                None => pending().await,
                // A timer rounds up to the next millisecond, also this one.
                Some(Duration::ZERO) => {}
                Some(limit) => time::sleep(limit).await,
            }
        });
        let mut woken = pin!(self.woken.notified());
        let mut ended = pin!(poll_fn(|context| {
            // Both: a wake-up ends this wait, not the next one, even if the time is over, too.
            let is_woken = woken.as_mut().poll(context).is_ready();
            if limit.as_mut().poll(context).is_ready() || is_woken { Poll::Ready(()) } else { Poll::Pending }
        }));
        // The current-thread runtime polls its driver without a timeout before it continues a task that has
        // yielded.
        task::yield_now().await;
        loop {
            let registrations = self.registrations().clone();
            let (events, has_ended) = self.events(&registrations, ended.as_mut()).await;
            drop(registrations);
            let _registrations = self.registrations();
            self.released.notify_all();
            if has_ended || !events.is_empty() {
                return events;
            }
        }
    }
}

impl Selector for TokioSelector {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> Option<String> {
        option_env!("POLLMATRIX_TOKIO_VERSION").map(str::to_owned)
    }

    fn column(&self) -> Column {
        let words = [
            ("readable", "readable"),
            ("writable", "writable"),
            ("read_closed", "end hang-up?"),
            ("write_closed", "writable? hang-up?"),
            ("priority", "urgent"),
            ("error", "error"),
        ];
        Column::new(queue(), &words)
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(vec![Mode::Edge], "one thread drives tokio's current-thread runtime")
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if mode == Mode::Edge { VIEWS } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        requested(interest, mode).map_or_else(Changed::Unsupported, |interest| {
            changed(self.register(fd, token, interest).map(|registration| {
                self.registrations().push(registration);
                self.changed.notify_one();
            }))
        })
    }

    /// If the number has several registrations, it changes the one with the token, or else the oldest.
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let interest = match requested(interest, mode) {
            Err(unsupported) => return Changed::Unsupported(unsupported),
            Ok(interest) => interest,
        };
        let mut registrations = self.registrations();
        let of_number = |registration: &Arc<Registration>| registration.fd.get_ref().0 == fd;
        let exact = registrations
            .iter()
            .position(|registration| of_number(registration) && registration.token == token);
        let Some(index) = exact.or_else(|| registrations.iter().position(of_number)) else {
            return Changed::refused(Errno::ENOENT);
        };
        let old = registrations.remove(index);
        let mut registrations = self.deregister(registrations, old);
        changed(self.register(fd, token, interest).map(|registration| {
            registrations.push(registration);
            self.changed.notify_one();
        }))
    }

    /// Removes every registration of the number.
    fn remove(&self, fd: RawFd) -> Changed {
        let mut registrations = self.registrations();
        let removed: Vec<_> =
            registrations.extract_if(.., |registration| registration.fd.get_ref().0 == fd).collect();
        if removed.is_empty() {
            return Changed::refused(Errno::ENOENT);
        }
        drop(removed.into_iter().fold(registrations, |all, one| self.deregister(all, one)));
        Changed::Done
    }

    /// A second thread begins its wait after the wait of the first one.
    fn wait(&self, _room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let _waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.runtime.block_on(self.wait(timeout)))
    }

    fn limits_room(&self) -> Result<(), Unsupported> {
        Err(Unsupported("each AsyncFd has its own readiness: tokio has no batch of events".into()))
    }

    fn wake(&self) -> Result<(), Unsupported> {
        self.woken.notify_one();
        Ok(())
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        Err(Unsupported("tokio's Runtime has no close: dropping it closes its descriptor".into()))
    }
}

/// Returns the interest to request. A part that tokio has no name for on this system is left out, unless it
/// is the only one.
fn requested(interest: Interest, mode: Mode) -> Result<library::Interest, Unsupported> {
    if mode != Mode::Edge {
        return Err(Unsupported(format!("AsyncFd is edge-triggered only: there is no {mode:?}")));
    }
    let names = [
        (interest.read || interest == Interest::NONE, Some(library::Interest::ERROR)),
        (interest.read, Some(library::Interest::READABLE)),
        (interest.write, Some(library::Interest::WRITABLE)),
        (interest.urgent, PRIORITY),
    ];
    let names = names.into_iter().filter(|(wanted, _)| *wanted).filter_map(|(_, name)| name);
    names.reduce(|all, one| all | one).ok_or_else(|| {
        Unsupported(format!("tokio::io::Interest has no name on this system for {interest:?} alone"))
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const PRIORITY: Option<library::Interest> = Some(library::Interest::PRIORITY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PRIORITY: Option<library::Interest> = None;

/// The constants of `Ready`. Its method `is_readable` is also true for `READ_CLOSED`, and hides the
/// difference.
fn record(ready: Ready) -> Record {
    let flags = [
        (Ready::READABLE, "readable"),
        (Ready::WRITABLE, "writable"),
        (Ready::READ_CLOSED, "read_closed"),
        (Ready::WRITE_CLOSED, "write_closed"),
        #[cfg(any(target_os = "linux", target_os = "android"))]
        (Ready::PRIORITY, "priority"),
        (Ready::ERROR, "error"),
    ];
    names(flags.map(|(bit, name)| (ready & bit == bit, name)))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::thread;

    use super::*;

    const NOW: Option<Duration> = Some(Duration::ZERO);

    fn names(events: &[Event]) -> Vec<(Token, String)> {
        events.iter().map(|event| (event.token, event.record.to_string())).collect()
    }

    #[test]
    fn an_inexpressible_registration_is_unsupported() {
        for mode in [Mode::Level, Mode::OneShot, Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge] {
            let expected = format!("AsyncFd is edge-triggered only: there is no {mode:?}");
            assert_eq!(requested(Interest::READ, mode).unwrap_err().0, expected);
        }
        let peer_shut = Interest { peer_shut: true, ..Interest::NONE };
        assert!(requested(peer_shut, Mode::Edge).unwrap_err().0.contains("peer_shut: true"));
    }

    #[test]
    fn each_interest_is_requested_by_its_own_name() {
        let of = |interest| requested(interest, Mode::Edge).ok();
        let read = library::Interest::READABLE | library::Interest::ERROR;
        assert_eq!(of(Interest::NONE), Some(library::Interest::ERROR));
        assert_eq!(of(Interest::READ), Some(read));
        assert_eq!(of(Interest::WRITE), Some(library::Interest::WRITABLE));
        assert_eq!(of(Interest { urgent: true, ..Interest::NONE }), PRIORITY);
        let all = read | library::Interest::WRITABLE;
        assert_eq!(of(Interest::ALL), Some(PRIORITY.map_or(all, |priority| all | priority)));
    }

    /// Other readiness is reported once.
    #[test]
    fn a_closed_state_is_reported_by_every_wait() {
        let poller = TokioSelector::new().unwrap();
        let (mut reader, mut writer) = io::pipe().unwrap();
        assert_eq!(poller.add(reader.as_raw_fd(), 1, Interest::READ, Mode::Edge), Changed::Done);
        writer.write_all(b"x").unwrap();
        let wait = || names(&Selector::wait(&poller, 8, NOW).unwrap());
        assert_eq!(wait(), [(1, "readable".into())]);
        assert_eq!(wait(), []);
        reader.read_exact(&mut [0]).unwrap();
        drop(writer);
        for _ in 0..3 {
            assert_eq!(wait(), [(1, "read_closed".into())]);
        }
    }

    /// The wait holds a reference to the registration, and must not keep the kernel's.
    #[test]
    fn a_removal_beside_a_wait_deregisters_before_it_returns() {
        let poller = TokioSelector::new().unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        let fd = reader.as_raw_fd();
        let until_held = || {
            while poller.registrations().first().is_some_and(|one| Arc::strong_count(one) == 1) {
                thread::yield_now();
            }
        };
        for token in 0..100 {
            let (changed, events) = thread::scope(|scope| {
                let waiting = scope.spawn(|| Selector::wait(&poller, 8, None));
                let mut changed = vec![poller.add(fd, token, Interest::READ, Mode::Edge)];
                until_held();
                // The kernel refuses a second registration of a file.
                changed.push(poller.modify(fd, token, Interest::READ, Mode::Edge));
                until_held();
                changed.push(poller.remove(fd));
                changed.push(poller.add(fd, token, Interest::READ, Mode::Edge));
                writer.write_all(b"x").unwrap();
                if changed.iter().any(|changed| *changed != Changed::Done) {
                    poller.wake().unwrap();
                }
                (changed, waiting.join().unwrap().unwrap())
            });
            assert_eq!(changed, [Changed::Done, Changed::Done, Changed::Done, Changed::Done]);
            assert_eq!(names(&events), [(token, "readable".into())]);
            assert_eq!(
                [poller.remove(fd), poller.remove(fd)],
                [Changed::Done, Changed::refused(Errno::ENOENT)]
            );
            (&reader).read_exact(&mut [0]).unwrap();
        }
    }
}
