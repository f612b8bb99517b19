//! What the operations of a poller cost, as ratios to the system calls that cannot be avoided.
//!
//! The two are measured alternately, so that a drift of the machine favours neither. The floor of an
//! operation is the same for every poller and for every number of descriptors, so a ratio that grows with the
//! number of descriptors is the poller's own growth.

mod bench;
mod floor;
mod wake;

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use metadata::{CostOutcome, Mode};
use nix::sys::resource::{Resource, getrlimit};
use selector::MakeSelector;
use statistics::{Compared, alternately};

use crate::bench::Bench;
use crate::wake::WakeBench;

/// An operation of a poller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// Registers another descriptor.
    Register,
    /// Changes the interest of a registered descriptor.
    Modify,
    /// Removes a registered descriptor.
    Remove,
    /// Removes a registered descriptor and closes it.
    Close,
    /// A wait while one of the descriptors is ready.
    WaitOne,
    /// A wait while all descriptors are ready; the cost of one event.
    WaitAll,
    /// Wakes a thread that waits, until it answers.
    Wake,
    /// Moves a descriptor from the poller of one thread to that of another one.
    HandOver,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 8] = [
        Self::Register,
        Self::Modify,
        Self::Remove,
        Self::Close,
        Self::WaitOne,
        Self::WaitAll,
        Self::Wake,
        Self::HandOver,
    ];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Modify => "modify",
            Self::Remove => "remove",
            Self::Close => "close",
            Self::WaitOne => "wait-one",
            Self::WaitAll => "wait-all",
            Self::Wake => "wake",
            Self::HandOver => "hand-over",
        }
    }

    /// Returns what is measured, and what its floor is.
    pub const fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Register => ("registers another descriptor", "fcntl(2) of it"),
            Self::Modify => ("changes the interest of a descriptor", "fcntl(2) of it"),
            Self::Remove => ("removes a descriptor", "fcntl(2) of it"),
            Self::Close => ("removes a descriptor and closes it", "close(2) of one that no poller has"),
            Self::WaitOne => ("a wait, one descriptor is ready", "poll(2) of that descriptor alone"),
            Self::WaitAll => {
                ("an event of a wait, all descriptors are ready", "poll(2) of all, per descriptor")
            }
            Self::Wake => ("wakes a thread that waits, until it answers", "the same over a pipe"),
            Self::HandOver => ("moves a descriptor to another poller", "two fcntl(2) of it"),
        }
    }

    /// Whether several threads can do it at once without meaning anything else.
    const fn is_of_one_poller(self) -> bool {
        !matches!(self, Self::Wake | Self::HandOver)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// The operation.
    pub operation: Operation,
    /// [`Mode::Level`] or [`Mode::Edge`].
    pub mode: Mode,
    /// The threads that do it at once, each with a poller and descriptors of its own.
    pub threads: u32,
    /// The registered descriptors of each poller, at least 2.
    pub descriptors: usize,
    /// The pairs of samples.
    pub pairs: u32,
    /// The widest interval that is a figure, in percent of the ratio.
    pub noise: f64,
}

/// Returns whether several threads are measured for an operation. Waking and handing over concern two pollers
/// already.
pub fn has_threads(operation: Operation) -> bool {
    operation.is_of_one_poller()
}

/// The time that one sample should take: long enough for many descriptors that are in no cache.
const SAMPLE: Duration = Duration::from_millis(1);

/// The most repetitions of an operation in one sample.
const MOST_ROUNDS: u32 = 4096;

/// The descriptors that a program has besides those that it registers.
const SPARE: usize = 128;

/// Measures an operation of a poller. It never fails: what cannot be measured has a reason.
pub fn measure(make: MakeSelector, plan: &Plan) -> CostOutcome {
    match try_measure(make, plan) {
        Ok(compared) => outcome(&compared, plan),
        Err(Failure::Unsupported(reason)) => CostOutcome::NotMeasured { reason },
        Err(Failure::Io(error)) => CostOutcome::NotMeasured { reason: error.to_string() },
    }
}

/// Turns the samples into a figure, or says that they are noise.
fn outcome(compared: &Compared, plan: &Plan) -> CostOutcome {
    let [low, high] = compared.interval.map(rounded);
    if compared.is_noise(plan.noise) {
        return CostOutcome::Noise { low, high, pairs: plan.pairs };
    }
    let [nanoseconds, floor] = compared.medians.map(rounded);
    let ratio = rounded(compared.ratio);
    CostOutcome::Measured { ratio, low, high, nanoseconds, floor, pairs: plan.pairs }
}

/// Rounds to four digits: the others are chance.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Why something was not measured.
#[derive(Debug)]
enum Failure {
    /// The poller or this process cannot do it.
    Unsupported(String),
    /// A system call failed, or an answer was wrong.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<nix::errno::Errno> for Failure {
    fn from(errno: nix::errno::Errno) -> Self {
        Self::Io(errno.into())
    }
}

fn try_measure(make: MakeSelector, plan: &Plan) -> Result<Compared, Failure> {
    check_descriptors(plan)?;
    if plan.operation == Operation::Wake {
        let bench = WakeBench::new(make, plan)?;
        return compare(plan, |rounds| bench.operation(rounds), |rounds| bench.floor(rounds));
    }
    let benches = (0..plan.threads).map(|_| Ok(Mutex::new(Bench::new(make, plan)?)));
    let benches = benches.collect::<Result<Vec<_>, Failure>>()?;
    let sample = |floor: bool, rounds: u32| {
        in_threads(&benches, |bench| match floor {
            false => bench.operation(plan, rounds),
            true => bench.floor(plan, rounds),
        })
    };
    compare(plan, |rounds| sample(false, rounds), |rounds| sample(true, rounds))
}

/// The limit of descriptors is known before any is opened.
fn check_descriptors(plan: &Plan) -> Result<(), Failure> {
    let threads = plan.threads as usize;
    let pollers = threads * if plan.operation == Operation::HandOver { 2 } else { 1 };
    let needed = threads.saturating_mul(plan.descriptors).saturating_add(pollers * 8 + SPARE);
    let (limit, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Infinity is a large positive number on some systems.
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if needed <= limit {
        return Ok(());
    }
    let reason = format!("it needs {needed} descriptors, and `ulimit -n` is {limit}");
    Err(Failure::Unsupported(reason))
}

/// Finds out how many rounds fill a sample, and takes the pairs.
fn compare(
    plan: &Plan,
    operation: impl Fn(u32) -> Result<f64, Failure>,
    floor: impl Fn(u32) -> Result<f64, Failure>,
) -> Result<Compared, Failure> {
    let (rounds, floor_rounds) = (rounds_of(plan, &operation)?, rounds_of(plan, &floor)?);
    // A failure is kept, because the samples only know errors of the system.
    let failure = Mutex::new(None);
    let kept = |result: Result<f64, Failure>| {
        result.map_err(|failed| {
            *locked(&failure) = Some(failed);
            io::Error::other("see the failure")
        })
    };
    let pairs = alternately(plan.pairs, || kept(operation(rounds)), || kept(floor(floor_rounds)));
    match (pairs, locked(&failure).take()) {
        (Ok(pairs), _) => Ok(Compared::of(&pairs)),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) => Err(error.into()),
    }
}

/// Returns how many rounds fill a sample.
fn rounds_of(plan: &Plan, sample: &dyn Fn(u32) -> Result<f64, Failure>) -> Result<u32, Failure> {
    // The first call warms up.
    sample(1)?;
    let per_round = sample(2)? * f64::from(unit(plan));
    Ok((SAMPLE.as_nanos() as f64 / per_round.max(1.0)).clamp(2.0, f64::from(MOST_ROUNDS)) as u32)
}

/// The operations of one round.
fn unit(plan: &Plan) -> u32 {
    match plan.operation {
        Operation::WaitOne | Operation::Wake => 1,
        Operation::WaitAll => plan.descriptors as u32,
        _ => bench::BATCH as u32,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a sample in as many threads as there are benches, at the same time. Returns the mean of their costs.
fn in_threads(
    benches: &[Mutex<Bench>],
    sample: impl Fn(&mut Bench) -> Result<f64, Failure> + Sync,
) -> Result<f64, Failure> {
    if let [bench] = benches {
        return sample(&mut locked(bench));
    }
    // Closed until every thread exists. If one cannot be started, the others do their sample and end.
    let gate = RwLock::new(());
    let costs = std::thread::scope(|scope| {
        let closed = gate.write().unwrap_or_else(PoisonError::into_inner);
        let begin = |bench| {
            let (gate, sample) = (&gate, &sample);
            std::thread::Builder::new().spawn_scoped(scope, move || {
                drop(gate.read());
                sample(&mut locked(bench))
            })
        };
        let threads = benches.iter().map(begin).collect::<io::Result<Vec<_>>>();
        drop(closed);
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads?.into_iter().map(join).collect::<Result<Vec<f64>, Failure>>()
    })?;
    Ok(costs.iter().sum::<f64>() / costs.len() as f64)
}

#[cfg(test)]
mod tests;
