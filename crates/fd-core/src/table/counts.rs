//! The numbers of registrations that have begun and ended. Each thread counts on a line of its own, so that
//! threads that accept and close do not write the same cache line.

use std::cell::Cell;

use crate::words::sync::{Ordering, count};

/// The number of lines. More threads than that share them.
const STRIPES: usize = 64;

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

/// The line of the calling thread.
fn stripe() -> usize {
    static NEXT: count::AtomicU32 = count::AtomicU32::new(0);
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    OWN.try_with(|own| {
        if own.get() == usize::MAX {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) as usize % STRIPES);
        }
        own.get()
    })
    // The thread's variables are gone already, and it may use any line.
    .unwrap_or(0)
}

impl Counts {
    pub(crate) fn new() -> Self {
        Self((0..STRIPES).map(|_| Stripe::default()).collect())
    }

    pub(crate) fn add(&self, what: Count, number: u64) {
        // No pair: these are counters. Release: a thread that sees a count also sees what was counted before.
        self.0[stripe()].0[what as usize].fetch_add(number, Ordering::Release);
    }

    pub(crate) fn sum(&self, what: Count) -> u64 {
        // No pair: see `add`.
        self.0.iter().map(|stripe| stripe.0[what as usize].load(Ordering::Acquire)).sum()
    }

    /// The number of current registrations. While others begin and end, it counts each of them once or not
    /// at all.
    pub(crate) fn used(&self) -> u64 {
        // The ends first: an end that is counted here has a beginning that is counted below.
        let ended: u64 =
            [Count::Closed, Count::Released, Count::Lost].map(|what| self.sum(what)).iter().sum();
        self.sum(Count::Inserted) - ended
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn threads_count_on_lines_of_their_own_and_the_sum_has_all() {
        let counts = Counts::new();
        let count = || {
            for _ in 0..100 {
                counts.add(Count::Inserted, 1);
            }
            counts.add(Count::Closed, 40);
            stripe()
        };
        let lines = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<std::collections::BTreeSet<_>>()
        });
        assert!(lines.len() > 1, "{lines:?}");
        assert_eq!((counts.sum(Count::Inserted), counts.sum(Count::Closed), counts.used()), (400, 160, 240));
        assert_eq!(size_of::<Stripe>(), 128);
    }
}
