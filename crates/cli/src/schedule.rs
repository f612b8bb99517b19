//! Runs cells in parallel and hands over their results as they come.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use report::{CellResult, Seed};

use crate::expected;
use crate::plan::Planned;
use crate::signals::Stop;
use crate::supervise::{self, Order};

/// What all cells of a run have in common.
pub struct Settings<'a> {
    /// The command that is put in front of each cell's process. Empty: none.
    pub prefix: &'a [String],
    /// The `pollmatrix` executable.
    pub executable: &'a Path,
    /// The matrix file, if it is not the built-in one.
    pub matrix: Option<&'a Path>,
    /// The seed of each first attempt.
    pub seed: Seed,
    /// The fault to switch on.
    pub fault: Option<&'a str>,
    /// One in how many system calls below the core fails.
    pub inject_errors: Option<NonZeroU32>,
    /// Attempts per cell.
    pub repeat: u32,
    /// How many times slower than an ordinary machine this one is.
    pub slow: NonZeroU32,
    /// Cells at the same time.
    pub jobs: usize,
}

/// Runs `cells` and calls `each` with every result, on this thread. Returns early, with every started cell
/// killed and reaped, if `stop` is asked for.
pub fn run(cells: &[Planned], settings: &Settings<'_>, stop: &Stop, each: impl FnMut(CellResult)) {
    pool(cells, settings.jobs, |cell| run_one(cell, settings, stop), each);
}

/// Does `work` for each of `tasks`, in their order and so many at the same time, and calls `each` with every result, on
/// this thread. A worker whose `work` has no result begins no other.
pub fn pool<T: Sync, R: Send>(
    tasks: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Option<R> + Sync,
    each: impl FnMut(R),
) {
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                // Relaxed: the counter hands out indices and publishes nothing.
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(result) = work(task) else { return };
                    if sender.send(result).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        results.into_iter().for_each(each);
    });
}

/// Every attempt at one cell. `None` if the run was stopped meanwhile: a part of the attempts is no result.
fn run_one(cell: &Planned, settings: &Settings<'_>, stop: &Stop) -> Option<CellResult> {
    let mut attempts = Vec::new();
    for number in 0..settings.repeat {
        if stop.asked() {
            return None;
        }
        let order = Order {
            prefix: settings.prefix,
            executable: settings.executable,
            matrix: settings.matrix,
            cell: &cell.subject.id,
            seed: Seed(settings.seed.0.wrapping_add(u64::from(number))),
            fault: settings.fault,
            inject_errors: settings.inject_errors,
            limit: cell.timeout,
            slow: settings.slow,
            patience: None,
        };
        attempts.push(expected::judge(supervise::attempt(&order, || stop.asked())?));
    }
    Some(CellResult::from_attempts(cell.subject.clone(), attempts))
}
