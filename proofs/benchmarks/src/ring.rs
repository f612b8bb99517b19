//! Descriptors through which tokens go round.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{ClockId, clock_gettime};

use crate::work::{Shape, Work};

/// A token: as an eventfd counts it.
const TOKEN: [u8; 8] = 1u64.to_ne_bytes();

/// The processor time of the calling thread.
pub fn thread_time() -> Duration {
    clock_gettime(ClockId::from_raw(libc::CLOCK_THREAD_CPUTIME_ID)).expect("the clock exists").into()
}

/// A registered descriptor that can hold a token.
struct Place {
    number: RawFd,
    /// What is written here becomes readable at `number`.
    entry: RawFd,
    /// The place that a token goes to from here.
    next: usize,
}

/// The descriptors of one sample. Each of them is registered for reading, level-triggered where the loop can.
pub struct Ring {
    places: Vec<Place>,
    /// What is registered: the descriptors of the places, then the idle ones. A loop that owns what it
    /// registers takes them out, and keeps them open while it runs.
    pub registered: Vec<OwnedFd>,
    /// The writing ends of pipes, which are not registered.
    writers: Vec<OwnedFd>,
    /// The places that begin with a token.
    starts: Vec<usize>,
    events: u64,
    count: AtomicU64,
}

impl Ring {
    /// Makes the descriptors of a work, for a sample of so many events.
    pub fn new(work: &Work, events: u64) -> io::Result<Self> {
        raise_limit()?;
        let mut ring = Self {
            places: Vec::new(),
            registered: Vec::new(),
            writers: Vec::new(),
            starts: Vec::new(),
            events,
            count: AtomicU64::new(0),
        };
        (0..work.active).try_for_each(|_| ring.add(work.shape))?;
        if work.idle > 0 {
            // Copies of one pipe: a registration belongs to a descriptor, and this needs one for each.
            let (reader, writer) = io::pipe()?;
            for _ in 0..work.idle {
                ring.registered.push(reader.try_clone()?.into());
            }
            ring.writers.push(writer.into());
        }
        Ok(ring)
    }

    /// Adds the places of one token.
    fn add(&mut self, shape: Shape) -> io::Result<()> {
        let start = self.places.len();
        self.starts.push(start);
        match shape {
            Shape::Pipes(count) => {
                for at in 0..count {
                    let (reader, writer) = io::pipe()?;
                    let next = start + (at + 1) % count;
                    self.place(reader.into(), writer.as_raw_fd(), next);
                    self.writers.push(writer.into());
                }
            }
            Shape::Pair => {
                let (one, other) = UnixStream::pair()?;
                let entries = [other.as_raw_fd(), one.as_raw_fd()];
                self.place(one.into(), entries[0], start + 1);
                self.place(other.into(), entries[1], start);
            }
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Shape::EventFd => {
                let counter = OwnedFd::from(nix::sys::eventfd::EventFd::new()?);
                let entry = counter.as_raw_fd();
                self.place(counter, entry, start);
            }
        }
        Ok(())
    }

    fn place(&mut self, fd: OwnedFd, entry: RawFd, next: usize) {
        self.places.push(Place { number: fd.as_raw_fd(), entry, next });
        self.registered.push(fd);
    }

    /// The descriptors to register. The index of one is the argument of [`Ring::ready`].
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.registered.iter().map(AsFd::as_fd)
    }

    /// Puts the tokens into their first places.
    pub fn start(&self) {
        self.starts.iter().for_each(|start| self.put(*start));
    }

    fn put(&self, place: usize) {
        put(self.places[place].entry);
    }

    /// Moves a token on: the work of a handler. Returns whether the sample is over.
    ///
    /// # Panics
    /// If the place has no token.
    #[inline]
    pub fn ready(&self, place: usize) -> bool {
        let &Place { number, next, .. } = &self.places[place];
        let mut token = TOKEN;
        // SAFETY: the token is valid for the call.
        let received = unsafe { libc::read(number, token.as_mut_ptr().cast(), TOKEN.len()) };
        assert_eq!(
            received,
            TOKEN.len() as isize,
            "an event without a token: {}",
            io::Error::last_os_error()
        );
        // One thread counts.
        let count = self.count.load(Ordering::Relaxed) + 1;
        self.count.store(count, Ordering::Relaxed);
        if count >= self.events {
            return true;
        }
        self.put(next);
        false
    }

    /// Whether the sample is over. Tokens may still be in their places.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.count.load(Ordering::Relaxed) >= self.events
    }
}

fn put(number: RawFd) {
    // SAFETY: the token is valid for the call.
    let sent = unsafe { libc::write(number, TOKEN.as_ptr().cast(), TOKEN.len()) };
    assert_eq!(sent, TOKEN.len() as isize, "{}", io::Error::last_os_error());
}

/// Raises the limit of descriptors to the greatest that this process may have, up to a million. Returns it.
///
/// # Errors
/// Those of getrlimit(2) and setrlimit(2).
pub fn raise_limit() -> io::Result<usize> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // A system may refuse an unlimited number.
    let wanted = hard.min(1 << 20);
    if soft < wanted {
        setrlimit(Resource::RLIMIT_NOFILE, wanted, hard)?;
    }
    Ok(usize::try_from(soft.max(wanted)).unwrap_or(usize::MAX))
}
