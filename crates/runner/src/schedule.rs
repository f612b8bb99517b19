//! Runs cells in parallel and hands over their results as they come.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use metadata::{CellResult, Seed};

use crate::environment::Environment;
use crate::executable::Executable;
use crate::limits;
use crate::plan::Planned;
use crate::signals::Stop;
use crate::supervise::{self, Order};

/// Says the same as `--slow`, to the tests too.
pub const SLOW_VARIABLE: &str = "POLLMATRIX_SLOW";

/// How many times slower a machine is, as the option and the variable say it.
pub fn slowness(text: &str) -> Result<NonZeroU32, String> {
    const MOST: u32 = 1_000_000;
    let times = text.parse().map_err(|error| format!("{error}"))?;
    if times <= NonZeroU32::new(MOST).unwrap_or(times) { Ok(times) } else { Err(format!("at most {MOST}")) }
}

/// What all cells of a run have in common.
pub struct Settings<'a> {
    /// How this program was started.
    pub environment: &'a Environment,
    /// The command that is put in front of each cell's process. Empty: none.
    pub prefix: &'a [String],
    /// The `pollmatrix` executable.
    pub executable: &'a Executable,
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
/// killed and reaped, if `stop` is asked for or the executable is replaced.
pub fn run(cells: &[Planned], settings: &Settings<'_>, stop: &Stop, each: impl FnMut(CellResult)) {
    pool(cells, settings.jobs, |cell| run_one(cell, settings, stop), each);
}

/// Does `work` for each of `tasks`, in their order and so many at the same time, and calls `each` with every result, on
/// this thread. A worker whose `work` has no result begins no other.
pub fn pool<T: Sync, R: Send>(
    tasks: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Option<R> + Sync,
    mut each: impl FnMut(R),
) {
    let next = AtomicUsize::new(0);
    // Relaxed: the counter hands out indices and publishes nothing.
    let task = || tasks.get(next.fetch_add(1, Ordering::Relaxed));
    let (sender, results) = channel();
    thread::scope(|scope| {
        let mut workers = 0;
        for _ in 0..jobs.min(tasks.len()).min(limits::cells()) {
            let (sender, task, work) = (sender.clone(), &task, &work);
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(result) = task().and_then(work) {
                    if sender.send(result).is_err() {
                        return;
                    }
                }
            });
            // The system has no more threads: those that there are do the work.
            if worker.is_err() {
                break;
            }
            workers += 1;
        }
        drop(sender);
        if workers == 0 {
            while let Some(result) = task().and_then(&work) {
                each(result);
            }
        }
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
            environment: settings.environment,
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
        attempts.push(settings.environment.judge(supervise::attempt(&order, || stop.asked())?));
    }
    Some(CellResult::from_attempts(cell.subject.clone(), attempts))
}
