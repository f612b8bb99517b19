//! The numbers of registrations that have begun and ended. Each thread counts on a line of its own, so that
//! threads that accept and close do not write the same cache line.

use crate::words::sync::{Ordering, count};

/// The number of lines.
const STRIPES: usize = 64;

/// The line of the threads that have none of their own.
const SHARED: usize = STRIPES - 1;

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    /// Registrations that have begun.
    Inserted,
    /// Registrations that ended with a close of their descriptor.
    Closed,
    /// Registrations that ended with a return of their source.
    Released,
    /// Closes that failed.
    CloseErrors,
    /// Registrations that were lost at a fork, with the thread that was ending them.
    Lost,
}

#[derive(Default)]
#[repr(align(128))]
struct Stripe([count::AtomicU64; 5]);

pub(crate) struct Counts(Box<[Stripe]>);

/// The lines that belong to no thread, as a mask. No lock: in a forked child, a thread that does not exist
/// there could hold it.
static FREE: count::AtomicU64 = count::AtomicU64::new(u64::MAX >> (64 - SHARED));

/// The line of a thread, from its first count to its end.
struct Line(usize);

impl Line {
    fn take() -> Self {
        // No pair: the line itself is what is passed on. Acquire: the counts of its last thread.
        let lowest = |free: u64| (free != 0).then_some(free & free.wrapping_sub(1));
        match FREE.fetch_update(Ordering::Acquire, Ordering::Relaxed, lowest) {
            Ok(before) => Self(before.trailing_zeros() as usize),
            Err(_) => Self(SHARED),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.0 != SHARED {
            // No pair: see `take`. Release: what this thread has counted.
            FREE.fetch_or(1 << self.0, Ordering::Release);
        }
    }
}

/// The line of the calling thread.
#[inline]
fn stripe() -> usize {
    thread_local! {
        static OWN: Line = Line::take();
    }
    // Without its variables, the thread is about to end.
    OWN.try_with(|own| own.0).unwrap_or(SHARED)
}

impl Counts {
    pub(crate) fn new() -> Self {
        Self((0..STRIPES).map(|_| Stripe::default()).collect())
    }

    #[inline]
    pub(crate) fn add(&self, what: Count, number: u64) {
        let line = stripe();
        let count = &self.0[line].0[what as usize];
        // No pair: these are counters. Release: a thread that sees a count also sees what was counted before.
        if line == SHARED {
            count.fetch_add(number, Ordering::Release);
        } else {
            // No other thread writes the line: `FREE` is between two threads that have it.
            count.store(count.load(Ordering::Relaxed) + number, Ordering::Release);
        }
    }

    pub(crate) fn sum(&self, what: Count) -> u64 {
        // No pair: see `add`.
        self.0.iter().map(|stripe| stripe.0[what as usize].load(Ordering::Acquire)).sum()
    }

    /// The number of current registrations. While others begin and end, it counts each of them once or not
    /// at all.
    pub(crate) fn used(&self) -> u64 {
        used(|what| self.sum(what))
    }
}

fn used(sum: impl Fn(Count) -> u64) -> u64 {
    // The ends first: an end that is counted here has a beginning that is counted below.
    let ended: u64 = [Count::Closed, Count::Released, Count::Lost].map(&sum).iter().sum();
    sum(Count::Inserted) - ended
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn registrations_that_begin_and_end_between_two_reads_do_not_make_the_number_negative() {
        let counts = Counts::new();
        let beside_others = |what| {
            let sum = counts.sum(what);
            for what in [Count::Inserted, Count::Closed, Count::Inserted, Count::Released] {
                counts.add(what, 1);
            }
            sum
        };
        assert_eq!(used(beside_others), 5, "each of them once or not at all");
        assert_eq!(counts.used(), 0);
    }

    /// More threads than lines, so that some share one.
    #[test]
    fn threads_count_on_lines_of_their_own_and_the_sum_has_all() {
        const THREADS: usize = STRIPES + 6;
        let counts = Counts::new();
        let all_have_a_line = std::sync::Barrier::new(THREADS);
        let count = || {
            let line = stripe();
            all_have_a_line.wait();
            for _ in 0..1000 {
                counts.add(Count::Inserted, 1);
            }
            counts.add(Count::Closed, 400);
            line
        };
        let mut lines: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(counts.sum(Count::Inserted), 1000 * THREADS as u64);
        assert_eq!(counts.used(), 600 * THREADS as u64);
        assert!(lines.iter().filter(|line| **line == SHARED).count() >= THREADS - SHARED);
        lines.retain(|line| *line != SHARED);
        lines.sort_unstable();
        let owners = lines.len();
        lines.dedup();
        assert_eq!(lines.len(), owners, "two threads at once have a line of their own");
        assert_eq!(size_of::<Stripe>(), 128);
        // The threads have ended, and others use their lines.
        assert_ne!(std::thread::spawn(stripe).join().unwrap(), SHARED);
    }
}
