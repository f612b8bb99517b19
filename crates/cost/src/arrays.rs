//! poll(2) and select(2) as a program uses them: it keeps the array or the sets between the calls.
//!
//! The raw pollers of the conformance tests copy everything before each wait and search their lists, so that
//! a script can change registrations in every state. That would be measured, too. These keep an index
//! instead.
//!
//! The thread that waits holds the array. Another thread then queues its changes and wakes it, as event loops
//! over poll(2) do.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use nix::errno::Errno;
use selector::{Interest, Mode, Token, WakePipe};

use crate::poller::{Failure, Poller};

/// Creates poll(2)'s poller.
///
/// # Errors
/// The errors of the wake-up pipe.
pub fn poll() -> io::Result<Box<dyn Poller>> {
    Ok(Box::new(Kept::<Slots>::new("poll(2)")?))
}

/// Creates select(2)'s poller.
///
/// # Errors
/// The errors of the wake-up pipe.
pub fn select() -> io::Result<Box<dyn Poller>> {
    Ok(Box::new(Kept::<Sets>::new("select(2)")?))
}

/// The registrations in the form that the system call takes.
trait Registrations: Default + Send {
    /// Adds a descriptor, or changes its interest.
    fn set(&mut self, fd: RawFd, interest: Interest) -> Result<(), Failure>;
    /// Removes a descriptor.
    fn unset(&mut self, fd: RawFd) -> Result<(), Failure>;
    /// Makes the call. Returns the number of ready descriptors without that of the pipe, and whether the pipe
    /// is ready.
    fn call(&mut self, pipe: RawFd, timeout: Option<Duration>) -> Result<(usize, bool), Failure>;
}

enum Change {
    Set(RawFd, Interest),
    Unset(RawFd),
}

struct Kept<R> {
    call: &'static str,
    registrations: Mutex<R>,
    /// The changes of other threads during a wait.
    queued: Mutex<Vec<Change>>,
    pipe: WakePipe,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: Registrations> Kept<R> {
    fn new(call: &'static str) -> io::Result<Self> {
        Ok(Self { call, registrations: Mutex::default(), queued: Mutex::default(), pipe: WakePipe::new()? })
    }

    fn change(&self, change: Change) -> Result<(), Failure> {
        match self.registrations.try_lock() {
            Ok(mut registrations) => {
                self.apply_queued(&mut registrations)?;
                apply(&mut *registrations, change)
            }
            Err(TryLockError::Poisoned(_)) => Err(Failure::Failed("a thread panicked".into())),
            Err(TryLockError::WouldBlock) => {
                lock(&self.queued).push(change);
                self.wake()
            }
        }
    }

    fn apply_queued(&self, registrations: &mut R) -> Result<(), Failure> {
        let queued = std::mem::take(&mut *lock(&self.queued));
        queued.into_iter().try_for_each(|change| apply(registrations, change))
    }

    fn check(&self, mode: Mode) -> Result<(), Failure> {
        match mode {
            Mode::Level => Ok(()),
            _ => Err(Failure::Unsupported(format!("{} is level-triggered only", self.call))),
        }
    }
}

fn apply<R: Registrations>(registrations: &mut R, change: Change) -> Result<(), Failure> {
    match change {
        Change::Set(fd, interest) => registrations.set(fd, interest),
        Change::Unset(fd) => registrations.unset(fd),
    }
}

impl<R: Registrations> Poller for Kept<R> {
    fn add(&self, fd: RawFd, _: Token, interest: Interest, mode: Mode) -> Result<(), Failure> {
        self.check(mode)?;
        self.change(Change::Set(fd, interest))
    }

    fn modify(&self, fd: RawFd, _: Token, interest: Interest, mode: Mode) -> Result<(), Failure> {
        self.check(mode)?;
        self.change(Change::Set(fd, interest))
    }

    fn remove(&self, fd: RawFd) -> Result<(), Failure> {
        self.change(Change::Unset(fd))
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<usize, Failure> {
        let mut registrations = lock(&self.registrations);
        self.apply_queued(&mut registrations)?;
        let (ready, is_woken) = registrations.call(self.pipe.number(), timeout)?;
        if is_woken {
            self.pipe.drain();
            // A change that was queued before the wake-up is applied before the next call.
            self.apply_queued(&mut registrations)?;
        }
        Ok(ready.min(room))
    }

    fn wake(&self) -> Result<(), Failure> {
        self.pipe.wake().map_err(|error| Failure::of_io("the wake-up pipe", &error))
    }
}

/// The array of poll(2). The first place is that of the pipe.
#[derive(Default)]
struct Slots {
    slots: Vec<libc::pollfd>,
    places: HashMap<RawFd, usize>,
}

impl Registrations for Slots {
    fn set(&mut self, fd: RawFd, interest: Interest) -> Result<(), Failure> {
        let bit = |wanted, bit| if wanted { bit } else { 0 };
        let events = bit(interest.read, libc::POLLIN) | bit(interest.write, libc::POLLOUT);
        if self.slots.is_empty() {
            self.slots.push(libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 });
        }
        let place = *self.places.entry(fd).or_insert(self.slots.len());
        let slot = libc::pollfd { fd, events, revents: 0 };
        match self.slots.get_mut(place) {
            Some(present) => *present = slot,
            None => self.slots.push(slot),
        }
        Ok(())
    }

    fn unset(&mut self, fd: RawFd) -> Result<(), Failure> {
        let place = self.places.remove(&fd).ok_or_else(|| Failure::of("remove", Errno::ENOENT))?;
        self.slots.swap_remove(place);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.fd, place);
        }
        Ok(())
    }

    fn call(&mut self, pipe: RawFd, timeout: Option<Duration>) -> Result<(usize, bool), Failure> {
        if self.slots.is_empty() {
            self.slots.push(libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 });
        }
        self.slots[0].fd = pipe;
        let milliseconds = timeout
            .map_or(-1, |timeout| i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
        let ready = crate::floors::poll(&mut self.slots, milliseconds)?;
        let is_woken = self.slots[0].revents != 0;
        Ok((ready - usize::from(is_woken), is_woken))
    }
}

/// The sets of select(2).
struct Sets {
    read: libc::fd_set,
    write: libc::fd_set,
    /// The interest of each number.
    interests: Vec<Interest>,
    /// One more than the greatest number.
    end: RawFd,
}

impl Default for Sets {
    fn default() -> Self {
        Self { read: empty(), write: empty(), interests: Vec::new(), end: 0 }
    }
}

fn empty() -> libc::fd_set {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: FD_ZERO initialises the whole set.
    unsafe {
        libc::FD_ZERO(set.as_mut_ptr());
        set.assume_init()
    }
}

fn put(set: &mut libc::fd_set, fd: RawFd, is_in: bool) {
    // SAFETY: the callers check that the number is below FD_SETSIZE.
    unsafe {
        if is_in {
            libc::FD_SET(fd, set);
        } else {
            libc::FD_CLR(fd, set);
        }
    }
}

/// Checks that a set has room for a number, and returns the number as an index.
fn index(fd: RawFd) -> Result<usize, Failure> {
    let size = libc::FD_SETSIZE;
    let index = usize::try_from(fd).ok().filter(|fd| *fd < size);
    index.ok_or_else(|| {
        let most = size - 1;
        Failure::Unsupported(format!("no set has room for descriptor {fd}: at most {most} (FD_SETSIZE)"))
    })
}

impl Registrations for Sets {
    fn set(&mut self, fd: RawFd, interest: Interest) -> Result<(), Failure> {
        let index = index(fd)?;
        if self.interests.len() <= index {
            self.interests.resize(index + 1, Interest::NONE);
        }
        self.interests[index] = interest;
        put(&mut self.read, fd, interest.read);
        put(&mut self.write, fd, interest.write);
        self.end = self.end.max(fd + 1);
        Ok(())
    }

    fn unset(&mut self, fd: RawFd) -> Result<(), Failure> {
        let known = self.interests.get_mut(index(fd)?);
        let known = known.filter(|interest| **interest != Interest::NONE);
        *known.ok_or_else(|| Failure::of("remove", Errno::ENOENT))? = Interest::NONE;
        put(&mut self.read, fd, false);
        put(&mut self.write, fd, false);
        while self.interests.last() == Some(&Interest::NONE) {
            self.interests.pop();
        }
        self.end = RawFd::try_from(self.interests.len()).unwrap_or(RawFd::MAX);
        Ok(())
    }

    fn call(&mut self, pipe: RawFd, timeout: Option<Duration>) -> Result<(usize, bool), Failure> {
        index(pipe)?;
        let (mut read, mut write) = (self.read, self.write);
        put(&mut read, pipe, true);
        let mut limit = timeout.map(|timeout| libc::timeval {
            tv_sec: timeout.as_secs() as _,
            tv_usec: timeout.subsec_micros() as _,
        });
        let limit = limit.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let end = self.end.max(pipe + 1);
        // SAFETY: the sets and the limit are valid for the call, and `end` is at most FD_SETSIZE.
        let ready = unsafe { libc::select(end, &raw mut read, &raw mut write, std::ptr::null_mut(), limit) };
        let mut ready = match Errno::result(ready) {
            Ok(ready) => usize::try_from(ready).unwrap_or(0),
            Err(Errno::EINTR) => return Ok((0, false)),
            Err(errno) => return Err(Failure::of("select", errno)),
        };
        // SAFETY: the number is below FD_SETSIZE.
        let is_woken = ready > 0 && unsafe { libc::FD_ISSET(pipe, &raw const read) };
        ready -= usize::from(is_woken);
        // The call does not say which descriptors are ready: a program looks for them.
        let mut found = 0;
        for fd in 0..self.end {
            if found == ready {
                break;
            }
            // SAFETY: the number is below FD_SETSIZE.
            let [is_in, is_out] =
                unsafe { [libc::FD_ISSET(fd, &raw const read), libc::FD_ISSET(fd, &raw const write)] };
            found += usize::from(is_in && fd != pipe) + usize::from(is_out);
        }
        Ok((ready, is_woken))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn each(test: impl Fn(&dyn Poller)) {
        test(&*poll().unwrap());
        test(&*select().unwrap());
    }

    fn now(poller: &dyn Poller) -> usize {
        poller.wait(8, Some(Duration::ZERO)).unwrap()
    }

    #[test]
    fn registered_descriptors_are_reported_until_they_are_removed() {
        each(|poller| {
            let mut pairs: Vec<_> = (0..3).map(|_| UnixStream::pair().unwrap()).collect();
            for (ours, _) in &pairs {
                poller.add(ours.as_raw_fd(), 1, Interest::READ, Mode::Level).unwrap();
            }
            assert_eq!(now(poller), 0);
            pairs[2].1.write_all(b"x").unwrap();
            pairs[0].1.write_all(b"x").unwrap();
            assert_eq!((now(poller), now(poller)), (2, 2));
            assert_eq!(poller.wait(1, None), Ok(1), "at most the room");
            // The last one takes the place of the first.
            poller.remove(pairs[0].0.as_raw_fd()).unwrap();
            assert_eq!(now(poller), 1);
            poller.remove(pairs[2].0.as_raw_fd()).unwrap();
            assert_eq!(now(poller), 0);
            pairs[1].1.write_all(b"x").unwrap();
            assert_eq!(now(poller), 1);
            assert!(pairs[1].0.read(&mut [0; 8]).is_ok());
            poller.modify(pairs[1].0.as_raw_fd(), 1, Interest::WRITE, Mode::Level).unwrap();
            assert_eq!(now(poller), 1, "it is writable");
            let twice = [0, 0].map(|_| poller.remove(pairs[1].0.as_raw_fd()));
            assert_eq!(twice, [Ok(()), Err(Failure::of("remove", Errno::ENOENT))]);
        });
    }

    #[test]
    fn a_wake_up_ends_a_wait_and_is_no_event() {
        each(|poller| {
            poller.wake().unwrap();
            assert_eq!(poller.wait(8, None), Ok(0));
            assert_eq!(now(poller), 0);
        });
    }

    #[test]
    fn a_change_during_a_wait_of_another_thread_is_seen_by_it() {
        each(|poller| {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs.write_all(b"x").unwrap();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| {
                    loop {
                        match poller.wait(8, None) {
                            Ok(0) => {}
                            other => break other,
                        }
                    }
                });
                poller.add(ours.as_raw_fd(), 1, Interest::READ, Mode::Level).unwrap();
                // If the addition came before the wait, it needs no wake-up.
                assert_eq!(waiting.join().unwrap(), Ok(1));
            });
        });
    }

    #[test]
    fn what_they_cannot_do_is_unsupported_with_its_reason() {
        each(|poller| {
            let edge = poller.add(0, 1, Interest::READ, Mode::Edge);
            assert!(matches!(&edge, Err(Failure::Unsupported(why)) if why.contains("level")), "{edge:?}");
        });
        let beyond = RawFd::try_from(libc::FD_SETSIZE).unwrap();
        let added = select().unwrap().add(beyond, 1, Interest::READ, Mode::Level);
        assert!(matches!(&added, Err(Failure::Unsupported(why)) if why.contains("FD_SETSIZE")), "{added:?}");
        assert_eq!(select().unwrap().add(beyond - 1, 1, Interest::READ, Mode::Level), Ok(()));
    }
}
