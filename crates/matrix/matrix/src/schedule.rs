//! Runs cells in parallel, and passes on each result when it arrives.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use metadata::{CellResult, RunSpec};

use crate::environment::Environment;
use crate::executable::Executable;
use crate::plan::Planned;
use crate::signals::Stop;
use crate::supervise::{self, Order};
use crate::{descriptor_limits, provenance};

/// The environment variable with the value of `--slow`. Tests read it, too.
pub const SLOW_VARIABLE: &str = "POLLMATRIX_SLOW";

/// Parses how many times slower a machine is: the value of the option or the variable.
pub fn slowness(text: &str) -> Result<NonZeroU32, String> {
    const MOST: u32 = 1_000_000;
    let times = text.parse().map_err(|error| format!("{error}"))?;
    if times <= NonZeroU32::new(MOST).unwrap_or(times) { Ok(times) } else { Err(format!("at most {MOST}")) }
}

/// The settings of all cells of a run.
pub struct Settings<'a> {
    /// The global options.
    pub environment: &'a Environment,
    /// The command to put in front of each cell's process. Empty for none.
    pub prefix: &'a [String],
    /// The `pollmatrix` executable.
    pub executable: &'a Executable,
    /// The matrix file, if it is not the built-in one.
    pub matrix: Option<&'a Path>,
    /// What was asked of the attempts.
    pub spec: &'a RunSpec,
}

/// Runs `cells`, and calls `each` with every result on this thread. Returns early, with every started cell
/// killed and reaped, if a stop is requested or the executable is replaced.
pub fn run(cells: &[Planned], settings: &Settings<'_>, stop: &Stop, each: impl FnMut(CellResult)) {
    let jobs = settings.spec.jobs.map_or_else(provenance::cpus, usize::from);
    pool(cells, jobs, |cell| run_one(cell, settings, stop), each);
    supervise::clean_up();
}

/// Does `work` for each of `tasks`, in their order and `jobs` in parallel, and calls `each` with every result
/// on this thread. A worker stops when its `work` returns no result.
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
        for _ in 0..jobs.min(tasks.len()).min(descriptor_limits::cells()) {
            let (sender, task, work) = (sender.clone(), &task, &work);
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(result) = task().and_then(work) {
                    if sender.send(result).is_err() {
                        return;
                    }
                }
            });
            // The system has no more threads: continue with those that started.
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

/// Makes every attempt at one cell. Returns `None` if the run was stopped meanwhile: fewer attempts are not a
/// result.
fn run_one(cell: &Planned, settings: &Settings<'_>, stop: &Stop) -> Option<CellResult> {
    let mut attempts = Vec::new();
    for number in 0..settings.spec.repeat {
        if stop.requested() {
            return None;
        }
        let spec = settings.spec.attempt(number);
        let order = Order {
            environment: settings.environment,
            prefix: settings.prefix,
            executable: settings.executable,
            matrix: settings.matrix,
            cell: &cell.spec.id,
            spec: &spec,
            limit: cell.timeout,
            patience: None,
        };
        attempts.push(settings.environment.judge(supervise::attempt(&order, || stop.requested())?));
    }
    Some(CellResult::from_attempts(cell.spec.clone(), attempts))
}
