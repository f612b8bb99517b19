//! The interest of a group's descriptors, for backends whose kernel keeps nothing between two waits (poll,
//! select).
//!
//! One bitmap per direction and group. The first thread that sees an update writes it for all. Each thread
//! builds its own arrays from the maps, and builds them again after a write.
//!
//! Two pairs of accesses must keep their order. Each pair uses two read-modify-writes of one word, so acquire
//! and release are enough (`docs/protocol.md`, "18. Orderings"):
//! - *interest*: a thread writes the interest and then reads the descriptor's state again. If another thread
//!   has written the same bit from a newer state, this thread sees that state and repairs its write. The last
//!   write is always right.
//! - *sleep*: a thread writes the interest, counts the write, and then changes the sleeper's flags; the
//!   sleeper changes its flags, and then scans if the count has changed. Either the scan finds the interest,
//!   or the writer finds the sleeper.

use std::os::fd::RawFd;

use once_cell::race::OnceBox;

use crate::poller::mistakes;
use crate::words::events::Interest;
use crate::words::sync::{AtomicU64, Ordering};

const BITS: usize = u64::BITS as usize;
/// Words per direction in a chunk. A chunk of both directions has one kibibyte.
const WORDS: usize = 64;
pub(super) const CHUNK: usize = WORDS * BITS;

/// The interest of one group's descriptors. Memory is allocated only for chunks of the map with a descriptor
/// that was ever polled. Every thread may call every method.
///
/// ```
/// use pollmatrix_fd_core::interest::GroupInterest;
/// use pollmatrix_fd_core::poller::Interest;
///
/// let map = GroupInterest::new(1024);
/// assert_eq!(map.write(7, Interest::RECV), Interest::NONE, "the interest before");
/// assert_eq!(map.read(7), Interest::RECV);
///
/// let mut polled = Vec::new();
/// map.scan(|fd, interest| polled.push((fd, interest)));
/// assert_eq!(polled, [(7, Interest::RECV)]);
///
/// map.write(7, Interest::NONE);
/// assert!(map.read(7).is_none());
/// ```
pub struct GroupInterest {
    /// Two threads may make a chunk at once, and one of the two is kept. With a lock, a fork by another
    /// thread while a chunk is made would leave it taken in the child.
    chunks: Box<[OnceBox<Chunk>]>,
    /// One above the highest descriptor that ever had interest: the bound of scans. It never decreases,
    /// because that would race with a write above it.
    end: AtomicU64,
    /// The number of writes, each counted after it.
    writes: AtomicU64,
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

/// 64 descriptors. A scan reads both directions, so they are side by side.
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
    /// Creates a map for descriptors below `capacity`, without interest.
    pub fn new(capacity: usize) -> Self {
        let chunks = (0..capacity.div_ceil(CHUNK)).map(|_| OnceBox::new()).collect();
        Self { chunks, end: AtomicU64::new(0), writes: AtomicU64::new(0) }
    }

    /// Sets the interest in `fd` to `wanted`, and returns the interest before. Any thread may call it. If two
    /// threads write one descriptor at once, the one that reads the state again repairs the other's write
    /// (pair *interest*).
    ///
    /// # Panics
    /// If `fd` is negative, or not below the capacity, which is rounded up to a whole chunk.
    pub fn write(&self, fd: RawFd, wanted: Interest) -> Interest {
        fault!(InterestMapTooSmall => if mistakes::is_lost(fd, self.chunks.len()) { return Interest::NONE });
        let Some((word, bit)) = self.word(fd, !wanted.is_none()) else { return Interest::NONE };
        // Pairs: interest, sleep.
        let order = ordering!(InterestRelaxed, AcqRel);
        let replace = |map: &AtomicU64, set: bool| {
            let before = if set { map.fetch_or(bit, order) } else { map.fetch_and(!bit, order) };
            before & bit != 0
        };
        fault!(InterestCountedEarly => self.count());
        let before =
            Interest { recv: replace(&word.recv, wanted.recv), send: replace(&word.send, wanted.send) };
        unless!(InterestCountedEarly => self.count());
        before
    }

    /// Counts a write, also one that changes nothing: it follows a change of who may poll the descriptor.
    fn count(&self) {
        // Pair: sleep. Release: a thread that reads this count finds the write.
        self.writes.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of writes up to now. If it has not changed since before a scan, the next scan finds the
    /// same.
    #[inline]
    pub fn writes(&self) -> u64 {
        // Pair: sleep.
        self.writes.load(Ordering::Acquire)
    }

    /// The word and the bit of `fd`. Without `needed` it allocates no chunk and returns `None` if there is
    /// none: a bit that was never set need not be cleared.
    fn word(&self, fd: RawFd, needed: bool) -> Option<(&Word, u64)> {
        let (chunk, word, bit) = place(fd);
        let chunk = &self.chunks[chunk];
        let chunk = if needed {
            let chunk = chunk.get_or_init(Chunk::new);
            // Pair: sleep. The bound is raised after the chunk exists and before the bit is set, and always
            // by a read-modify-write: a scan that must find the bit reads this value or a later one, and so
            // sees the chunk as well.
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
    /// If `fd` is negative, or not below the capacity, which is rounded up to a whole chunk.
    pub fn read(&self, fd: RawFd) -> Interest {
        let (chunk, word, bit) = place(fd);
        self.chunks[chunk].get().map_or(Interest::NONE, |chunk| {
            let word = &chunk.words[word];
            // Pair: interest.
            let is_set = |map: &AtomicU64| map.load(Ordering::Acquire) & bit != 0;
            Interest { recv: is_set(&word.recv), send: is_set(&word.send) }
        })
    }

    /// Calls `each` for every descriptor with interest, lowest first.
    pub fn scan(&self, mut each: impl FnMut(RawFd, Interest)) {
        // Pair: sleep. The bound is read before the chunks.
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

/// The chunk, word and bit of a descriptor. A negative number gives an index outside every map.
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
    fn a_scan_finds_writes_at_every_border() {
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
    fn clearing_allocates_no_memory() {
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

    /// The pair *sleep*: if a writer does not see the sleeper, the sleeper's scan sees the write.
    #[test]
    fn a_write_that_misses_the_sleeper_is_found_by_its_scan() {
        use std::sync::Barrier;
        use std::sync::atomic::AtomicBool;

        for round in 0..2000 {
            // Each round has a new map, so that creating the chunk races, too.
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
