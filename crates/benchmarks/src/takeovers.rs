//! How many takeovers the threads of a runtime make in a second, and a model of how the number grows with
//! more threads than this machine has processors.
//!
//! Each thread takes random descriptors over from the others as quickly as it can. Nothing else happens, so
//! this is the greatest rate, and the hardest case for the cache: nearly each entry was last written by
//! another thread.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use fastrand::Rng;
use fd_core::{Context, FdCore, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};

use crate::loops::BACKEND;

/// The costs of single steps, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A takeover of an entry whose cache line this processor has.
    pub takeover: f64,
    /// A takeover of an entry that belongs to the thread already, with its line: it changes nothing.
    pub kept: f64,
    /// What a write costs besides, if another processor has the line.
    pub transfer: f64,
}

/// The owner of every descriptor.
struct Idle;

impl Handler for Idle {
    fn ready(&self, _: &ReadyGuard<'_>) {}
}

/// A runtime with idle descriptors, which all belong to the first thread.
struct Field {
    runtime: Runtime,
    handles: Arc<[FdHandle]>,
    owner: OwnerId,
}

impl Field {
    fn new(threads: usize, descriptors: usize) -> io::Result<Self> {
        let runtime = Runtime::builder().group(threads).start(BACKEND).map_err(io::Error::other)?;
        let core = runtime.core();
        let id = core.threads().next().ok_or(io::ErrorKind::NotFound)?;
        let handler = Arc::new(Idle);
        let owner = OwnerId::of(&handler);
        let options = InsertOptions { cloned: true, assume_nonblocking: true, ..InsertOptions::default() };
        let (reader, _writer) = io::pipe()?;
        let insert = |_| {
            let source = OwnedFd::from(reader.try_clone()?);
            core.insert(source, Arc::clone(&handler), id.group(), id.mask(), options)
                .map_err(|error| io::Error::other(error.reason))
        };
        let handles = (0..descriptors).map(insert).collect::<io::Result<_>>()?;
        Ok(Self { runtime, handles, owner })
    }

    fn core(&self) -> &Arc<FdCore> {
        self.runtime.core()
    }

    /// Runs an action on every thread at once, and returns the results.
    fn on_all<R: Send + 'static>(
        &self,
        action: impl Fn(&Context) -> R + Send + Sync + 'static,
    ) -> io::Result<Vec<R>> {
        let action = Arc::new(action);
        let begin = Arc::new(Barrier::new(self.core().threads().count()));
        let (sender, receiver) = channel();
        for thread in self.core().threads() {
            let (action, begin, sender) = (Arc::clone(&action), Arc::clone(&begin), sender.clone());
            let task = move |context: &Context| {
                begin.wait();
                let _ = sender.send(action(context));
            };
            self.core().post(thread, task).map_err(io::Error::other)?;
        }
        drop(sender);
        Ok(receiver.into_iter().collect())
    }

    /// How often the descriptors have changed their owner.
    fn changes(&self) -> u64 {
        let of = |handle: &FdHandle| self.core().entry(*handle).map_or(0, |entry| u64::from(entry.takeovers));
        self.handles.iter().map(of).sum()
    }

    fn end(self) -> io::Result<()> {
        self.runtime.stop().map_err(|error| io::Error::other(error.to_string()))
    }
}

/// The number of changes of owners per second, with this number of threads.
///
/// # Errors
/// The error of a system call.
pub fn measure(threads: usize, descriptors: usize, time: Duration) -> io::Result<f64> {
    let field = Field::new(threads, descriptors)?;
    let (handles, owner) = (Arc::clone(&field.handles), field.owner);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let take = move |context: &Context| {
        let mut random = Rng::with_seed(context.id().index() as u64);
        while !stopped.load(Ordering::Relaxed) {
            // Busy: another thread is in the middle of a takeover of it.
            let _ = context.takeover(handles[random.usize(..handles.len())], owner);
        }
    };
    let (before, begin) = (field.changes(), Instant::now());
    let timer = Builder::new().spawn(move || {
        sleep(time);
        stop.store(true, Ordering::Relaxed);
    })?;
    field.on_all(take)?;
    let elapsed = begin.elapsed();
    timer.join().unwrap_or_else(|panic| resume_unwind(panic));
    let rate = (field.changes() - before) as f64 / elapsed.as_secs_f64();
    field.end()?;
    Ok(rate)
}

/// The costs of single steps on this machine: the best of several rounds.
///
/// # Errors
/// The error of a system call.
pub fn costs(descriptors: usize) -> io::Result<Costs> {
    const ROUNDS: usize = 200;
    // Only the first thread acts, so the lines stay in the cache of its processor.
    let field = Field::new(2, descriptors)?;
    let (handles, owner) = (Arc::clone(&field.handles), field.owner);
    let rounds = move |context: &Context| {
        let other = context.core().threads().nth(1);
        let other = other.filter(|other| *other != context.id())?;
        let take_all = || {
            handles.iter().for_each(|handle| _ = context.takeover(*handle, owner));
        };
        let mut best = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            handles.iter().for_each(|handle| _ = context.registration(*handle).migrate_on(other));
            for best in &mut best {
                *best = best.min(nanoseconds(handles.len(), take_all));
            }
        }
        Some(best)
    };
    let best = field.on_all(rounds)?.into_iter().flatten().next();
    field.end()?;
    let [takeover, kept] = best.ok_or(io::ErrorKind::NotFound)?;
    Ok(Costs { takeover, kept, transfer: transfer(descriptors)? })
}

fn nanoseconds(times: usize, action: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    action();
    begin.elapsed().as_nanos() as f64 / times as f64
}

/// What a read-modify-write costs more if another processor has written the line last.
fn transfer(lines: usize) -> io::Result<f64> {
    const ROUNDS: usize = 200;
    #[repr(align(128))]
    #[derive(Default)]
    struct Line(AtomicU64);

    let shared: Arc<(Vec<Line>, Barrier)> =
        Arc::new(((0..lines).map(|_| Line::default()).collect(), Barrier::new(2)));
    let visit = |lines: &[Line]| {
        nanoseconds(lines.len(), || lines.iter().for_each(|line| _ = line.0.fetch_add(1, Ordering::AcqRel)))
    };
    // The two threads visit all lines in turn. The second visit of a turn finds the lines in the cache.
    let turns = move |shared: &(Vec<Line>, Barrier), mine: usize| {
        let mut best = [f64::INFINITY; 2];
        for round in 0..2 * ROUNDS {
            if round % 2 == mine {
                best = best.map(|best| best.min(visit(&shared.0)));
            }
            shared.1.wait();
        }
        best
    };
    let of_other = Arc::clone(&shared);
    let other = Builder::new().spawn(move || turns(&of_other, 1))?;
    let [foreign, own] = turns(&shared, 0);
    other.join().unwrap_or_else(|panic| resume_unwind(panic));
    Ok((foreign - own).max(0.0))
}

/// Simulates threads that each have a processor of their own. Returns the changes of owners per second.
///
/// The model knows the three costs, and that an entry refuses a takeover while another one is in progress. It
/// assumes that lines move between any two processors at the same cost, and at the same time.
pub fn predict(costs: Costs, threads: usize, descriptors: usize, seed: u64) -> f64 {
    const STEPS: usize = 200_000;
    let mut random = Rng::with_seed(seed);
    // The owner, the thread that has the line, and the end of the last takeover.
    let mut entries = vec![(0, 0, 0.0_f64); descriptors];
    let mut clocks = vec![0.0_f64; threads];
    let mut changes = 0_u64;
    for _ in 0..STEPS {
        let next = (0..threads).min_by(|one, other| clocks[*one].total_cmp(&clocks[*other]));
        let Some(me) = next else { return 0.0 };
        let (owner, holder, end) = &mut entries[random.usize(..descriptors)];
        let transfer = if *holder == me { 0.0 } else { costs.transfer };
        *holder = me;
        let now = clocks[me];
        if *owner == me || *end > now {
            clocks[me] += transfer + costs.kept;
        } else {
            clocks[me] += transfer + costs.takeover;
            (*owner, *end) = (me, clocks[me]);
            changes += 1;
        }
    }
    let end = clocks.into_iter().fold(0.0, f64::max);
    changes as f64 / end * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { takeover: 20.0, kept: 10.0, transfer: 0.0 };

    #[test]
    fn one_thread_has_nobody_to_take_from() {
        assert_eq!(predict(COSTS, 1, 100, 1), 0.0);
    }

    /// Of two threads, each picks an entry of the other half of the time: 15 ns for half a change each.
    #[test]
    fn without_transfers_the_rate_follows_from_the_costs() {
        let rate = predict(COSTS, 2, 10_000, 1);
        assert!((rate / (2.0 * 0.5 / 15e-9) - 1.0).abs() < 0.03, "{rate}");
        let many = predict(COSTS, 16, 100_000, 1);
        assert!(
            (many / (16.0 * (15.0 / 16.0) / (20e-9 * 15.0 / 16.0 + 10e-9 / 16.0)) - 1.0).abs() < 0.03,
            "{many}"
        );
    }

    #[test]
    fn a_transfer_costs_and_a_crowded_entry_refuses() {
        let far = Costs { transfer: 100.0, ..COSTS };
        assert!(predict(far, 8, 10_000, 1) < predict(COSTS, 8, 10_000, 1) / 4.0);
        // One entry: at most one takeover at a time.
        assert!(predict(COSTS, 8, 1, 1) <= 1e9 / COSTS.takeover);
        assert_eq!(predict(far, 8, 100, 7), predict(far, 8, 100, 7), "the same seed, the same answer");
    }

    #[test]
    fn threads_take_over_and_the_costs_are_times() {
        let rate = measure(2, 64, Duration::from_millis(50)).unwrap();
        assert!(rate > 0.0);
        let costs = costs(64).unwrap();
        assert!(costs.takeover > 0.0 && costs.kept > 0.0 && costs.transfer >= 0.0, "{costs:?}");
        assert!(costs.takeover.is_finite() && costs.kept.is_finite(), "{costs:?}");
    }
}
