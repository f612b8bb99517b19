//! What the descriptors of a group want, for backends whose kernel keeps nothing between two waits (poll, select).
//!
//! One bitmap per direction and group. The first thread to see an update writes it for all; each thread builds
//! its own arrays from the maps before each wait.
//!
//! Two pairs of accesses must not pass each other. Each hangs on two read-modify-writes of one word, so acquire and release are
//! enough (`docs/protocol.md`, "Orderings"):
//! - *interest*: a thread writes the interest and then reads the descriptor's state again. If another thread has written the
//!   same bit from a newer state, this one sees that state and repairs what it wrote. The last writer is always right.
//! - *sleep*: a thread writes the interest and then changes the sleeper's flags; the sleeper changes its flags and then scans.
//!   Either the scan finds the interest or the writer finds the sleeper.

use std::os::fd::RawFd;
use std::sync::OnceLock;

use crate::poller::mistakes;
use crate::words::events::Interest;
use crate::words::sync::{AtomicU64, Ordering};

const BITS: usize = u64::BITS as usize;
/// Words per direction in a chunk: with both directions it is a kibibyte.
const WORDS: usize = 64;
pub(super) const CHUNK: usize = WORDS * BITS;

/// The interest of one group's descriptors. Memory is spent only where a descriptor was ever polled.
pub struct GroupInterest {
    chunks: Box<[OnceLock<Box<Chunk>>]>,
    /// One more than the highest descriptor that was ever set: scans end there. It never goes down, because
    /// lowering it would race with a writer above it.
    end: AtomicU64,
}

impl std::fmt::Debug for GroupInterest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupInterest")
            .field("capacity", &(self.chunks.len() * CHUNK))
            .finish_non_exhaustive()
    }
}

struct Chunk {
    words: [Word; WORDS],
}

/// 64 descriptors. Both directions side by side, because a scan wants both.
struct Word {
    recv: AtomicU64,
    send: AtomicU64,
}

impl Chunk {
    fn new() -> Box<Self> {
        let word = |_| Word { recv: AtomicU64::new(0), send: AtomicU64::new(0) };
        Box::new(Self { words: std::array::from_fn(word) })
    }
}

impl GroupInterest {
    /// A map for descriptors below `capacity`, in which nothing is wanted.
    pub fn new(capacity: usize) -> Self {
        let chunks = (0..capacity.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect();
        Self { chunks, end: AtomicU64::new(0) }
    }

    /// Makes `wanted` the interest in `fd`, and returns what it replaced. Called from any thread; of two calls at once for one
    /// descriptor the caller that re-reads the state repairs the other (see the module's pairs).
    ///
    /// # Panics
    /// If `fd` is not below the capacity.
    pub fn write(&self, fd: RawFd, wanted: Interest) -> Interest {
        fault!(InterestMapTooSmall => if mistakes::is_lost(fd, self.chunks.len()) { return Interest::NONE });
        let Some((word, bit)) = self.word(fd, !wanted.is_none()) else { return Interest::NONE };
        // Pairs: interest, sleep.
        let order = ordering!(InterestRelaxed, AcqRel);
        let replace = |map: &AtomicU64, set: bool| {
            let before = if set { map.fetch_or(bit, order) } else { map.fetch_and(!bit, order) };
            before & bit != 0
        };
        Interest { recv: replace(&word.recv, wanted.recv), send: replace(&word.send, wanted.send) }
    }

    /// The word and the bit of `fd`; `None` if the word's chunk is not there and not `needed`: what was never set need not be
    /// cleared.
    fn word(&self, fd: RawFd, needed: bool) -> Option<(&Word, u64)> {
        let (chunk, word, bit) = place(fd);
        let chunk = &self.chunks[chunk];
        let chunk = if needed {
            let chunk = chunk.get_or_init(Chunk::new);
            // Pair: sleep. After the chunk and before the bit, and always as a read-modify-write: a scan that must find the
            // bit reads this value or one that was made from it, and so sees the chunk as well.
            self.end.fetch_max(fd as u64 + 1, Ordering::AcqRel);
            chunk
        } else {
            chunk.get()?
        };
        Some((&chunk.words[word], bit))
    }

    /// The interest in `fd`.
    ///
    /// # Panics
    /// If `fd` is not below the capacity.
    pub fn read(&self, fd: RawFd) -> Interest {
        let (chunk, word, bit) = place(fd);
        self.chunks[chunk].get().map_or(Interest::NONE, |chunk| {
            let word = &chunk.words[word];
            // Pair: interest.
            let is_set = |map: &AtomicU64| map.load(Ordering::Acquire) & bit != 0;
            Interest { recv: is_set(&word.recv), send: is_set(&word.send) }
        })
    }

    /// Takes away the interest in a number that has no registration: a bit that was left behind would be polled without end.
    /// `is_still_free` is called after the bits are gone. If there is a registration by then, its interest may be among what was
    /// taken, and is put back: a superfluous bit costs one spurious event, a missing bit loses events.
    ///
    /// # Panics
    /// If `fd` is not below the capacity.
    pub fn sweep(&self, fd: RawFd, is_still_free: impl FnOnce() -> bool) {
        fault!(SweepReadsFirst => return mistakes::sweep(self, fd, is_still_free));
        let taken = self.write(fd, Interest::NONE);
        if !taken.is_none() && !is_still_free() {
            self.give_back(fd, taken);
        }
    }

    /// Adds `taken` to the interest in `fd`.
    pub(super) fn give_back(&self, fd: RawFd, taken: Interest) {
        if let Some((word, bit)) = self.word(fd, true) {
            // Pairs: interest, sleep. Only ever adds: a direction that the registration wants meanwhile stays.
            for (had, map) in [(taken.recv, &word.recv), (taken.send, &word.send)] {
                if had {
                    map.fetch_or(bit, Ordering::AcqRel);
                }
            }
        }
    }

    /// Calls `each` for every descriptor in which there is some interest, lowest first.
    pub fn scan(&self, mut each: impl FnMut(RawFd, Interest)) {
        // Pair: sleep. Before the chunks are looked at.
        let end = self.end.load(Ordering::Acquire) as usize;
        for (index, chunk) in self.chunks[..end.div_ceil(CHUNK)].iter().enumerate() {
            let Some(chunk) = chunk.get() else { continue };
            let words = end.saturating_sub(index * CHUNK).div_ceil(BITS).min(WORDS);
            for (position, word) in chunk.words[..words].iter().enumerate() {
                let (recv, send) = (word.recv.load(Ordering::Acquire), word.send.load(Ordering::Acquire));
                let mut rest = recv | send;
                while rest != 0 {
                    let bit = rest & rest.wrapping_neg();
                    rest &= !bit;
                    let fd = index * CHUNK + position * BITS + bit.trailing_zeros() as usize;
                    fault!(HighestNumberUnscanned => if fd + 1 == end { continue });
                    each(fd as RawFd, Interest { recv: recv & bit != 0, send: send & bit != 0 });
                }
            }
        }
    }
}

/// Chunk, word and bit of a descriptor. A negative number becomes an index that no map has.
fn place(fd: RawFd) -> (usize, usize, u64) {
    let fd = fd as usize;
    (fd / CHUNK, fd % CHUNK / BITS, 1 << (fd % BITS))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn contents(map: &GroupInterest) -> Vec<(RawFd, Interest)> {
        let mut seen = vec![];
        map.scan(|fd, interest| seen.push((fd, interest)));
        seen
    }

    #[test]
    fn a_scan_finds_what_was_written_at_every_border() {
        let map = GroupInterest::new(3 * CHUNK);
        let borders = [0, 63, 64, 65, CHUNK - 1, CHUNK, 3 * CHUNK - 1].map(|fd| fd as RawFd);
        let wants = [Interest::RECV, Interest::SEND, Interest::BOTH];
        let expected: Vec<_> = borders.iter().copied().zip(wants.into_iter().cycle()).collect();
        for &(fd, wanted) in expected.iter().rev() {
            map.write(fd, wanted);
            assert_eq!(map.read(fd), wanted);
        }
        assert_eq!(contents(&map), expected);
        for fd in borders {
            map.write(fd, Interest::NONE);
        }
        assert_eq!(contents(&map), []);
    }

    #[test]
    fn a_later_write_replaces_both_directions() {
        let map = GroupInterest::new(10);
        for wanted in [Interest::BOTH, Interest::RECV, Interest::SEND, Interest::NONE, Interest::RECV] {
            map.write(9, wanted);
            assert_eq!(map.read(9), wanted);
        }
    }

    #[test]
    fn clearing_costs_no_memory() {
        let map = GroupInterest::new(1 << 20);
        map.write(1 << 19, Interest::NONE);
        assert!(map.chunks.iter().all(|chunk| chunk.get().is_none()));
        assert_eq!(map.read(1 << 19), Interest::NONE);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_negative_number_is_no_descriptor() {
        GroupInterest::new(10).write(-1, Interest::RECV);
    }

    #[test]
    fn a_sweep_gives_back_what_a_newcomer_wrote() {
        let map = GroupInterest::new(10);
        map.write(4, Interest::RECV);
        map.sweep(4, || true);
        assert_eq!(map.read(4), Interest::NONE);

        map.write(4, Interest::RECV);
        map.sweep(4, || {
            map.write(4, Interest::SEND);
            false
        });
        assert_eq!(map.read(4), Interest::BOTH);
    }

    /// The interest / sleep pair. A writer that does not see the sleeper must have been seen by its scan.
    #[test]
    fn a_write_that_misses_the_sleeper_is_found_by_its_scan() {
        use std::sync::Barrier;
        use std::sync::atomic::AtomicBool;

        for round in 0..2000 {
            // A fresh map each time, so that the chunk's creation races too.
            let (map, asleep, start) = (GroupInterest::new(CHUNK), AtomicBool::new(false), Barrier::new(2));
            let fd = round % 200;
            let found = std::thread::scope(|scope| {
                let sleeper = scope.spawn(|| {
                    start.wait();
                    asleep.store(true, Ordering::SeqCst);
                    !contents(&map).is_empty()
                });
                start.wait();
                map.write(fd, Interest::RECV);
                let woken = asleep.load(Ordering::SeqCst);
                sleeper.join().unwrap() || woken
            });
            assert!(found, "round {round}");
        }
    }
}
