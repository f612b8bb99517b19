//! What the operations of a poller cost, as ratios to the system calls that cannot be avoided.
//!
//! The two are measured alternately, so that a drift of the machine favours neither. The floor of an
//! operation is the same for every poller and for every number of descriptors, so a ratio that grows with the
//! number of descriptors is the poller's own growth.

mod bench;
pub mod calls;
mod clock;
mod floor;
mod operation;
mod processors;
pub mod statistics;
mod wake;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use metadata::{CostOutcome, Mode};
use nix::sys::resource::{Resource, getrlimit};
use selector::{MakeSelector, Unsupported};

use crate::bench::Bench;
pub use crate::calls::Performed;
use crate::clock::{Clock, Sample};
pub use crate::operation::Operation;
use crate::processors::Processors;
use crate::statistics::{Compared, alternately};
use crate::wake::WakeBench;

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

/// The time that one sample should take at most, with all that is not measured in it.
const LONG_SAMPLE: Duration = Duration::from_millis(20);

/// The rounds whose system calls are counted. Tracing is slow, and a call is a call.
const COUNTED_ROUNDS: u32 = 32;

/// The events of all waits that are counted.
const COUNTED_EVENTS: usize = 1000;

/// What was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// The cost, or why there is none.
    pub outcome: CostOutcome,
    /// Why the threads were not bound to processors.
    pub unbound: Option<String>,
}

/// Measures an operation of a poller. It never fails: what cannot be measured has a reason.
pub fn measure(make: MakeSelector, plan: &Plan) -> Measurement {
    let processors = Processors::here();
    // In a thread of its own, which is bound to a processor until it ends.
    let measured = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || try_measure(make, plan, &processors));
        thread?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let not_measured = |reason| (CostOutcome::NotMeasured { reason }, None);
    let (outcome, unbound) = match measured {
        Ok((compared, unbound)) => (outcome(&compared, plan), unbound),
        Err(failure) => not_measured(failure.0),
    };
    Measurement { outcome, unbound }
}

/// Performs an operation some times in this process, which [`calls::count`] traces. The process should end
/// after it, without a destructor of the poller: that would be traced, too.
pub fn perform(make: MakeSelector, plan: &Plan) -> Performed {
    match try_perform(make, plan) {
        Ok(operations) => Performed::Operations(operations),
        Err(failure) => Performed::Failed(failure.0),
    }
}

fn try_perform(make: MakeSelector, plan: &Plan) -> Result<u64, Failure> {
    check_descriptors(plan)?;
    let be_traced = || calls::be_traced().map_err(Failure);
    // The first round, before the tracer looks, has the calls that are made once.
    let sample = if plan.operation == Operation::Wake {
        let bench = WakeBench::new(make, plan, &Processors::here(), true)?;
        bench.operation(1)?;
        be_traced()?;
        let sample = bench.marked(COUNTED_ROUNDS);
        std::mem::forget(bench);
        sample?
    } else {
        let mut bench = Bench::new(make, plan, Clock::Marks)?;
        bench.operation(plan, 2)?;
        be_traced()?;
        let rounds = match plan.operation {
            Operation::WaitAll => (COUNTED_EVENTS / plan.descriptors).clamp(2, 8) as u32,
            // Rounds of a batch each.
            operation if operation != Operation::WaitOne => 4,
            _ => COUNTED_ROUNDS,
        };
        let sample = bench.operation(plan, rounds);
        std::mem::forget(bench);
        sample?
    };
    Ok(sample.operations)
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
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Why something was not measured: the poller or this process cannot do it, a system call failed, or an
/// answer was wrong.
#[derive(Debug)]
struct Failure(String);

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<nix::errno::Errno> for Failure {
    fn from(errno: nix::errno::Errno) -> Self {
        io::Error::from(errno).into()
    }
}

impl From<Unsupported> for Failure {
    fn from(Unsupported(reason): Unsupported) -> Self {
        Self(reason)
    }
}

/// Returns the costs, and why the threads were not bound to processors.
fn try_measure(
    make: MakeSelector,
    plan: &Plan,
    processors: &Processors,
) -> Result<(Compared, Option<String>), Failure> {
    check_descriptors(plan)?;
    check_threads(plan, processors)?;
    if plan.operation == Operation::Wake {
        let bench = WakeBench::new(make, plan, processors, false)?;
        let unbound = processors.bind(0).err();
        let compared = compare(plan, |rounds| bench.operation(rounds), |rounds| bench.floor(rounds))?;
        return Ok((compared, unbound));
    }
    let benches = (0..plan.threads).map(|_| Ok(Mutex::new(Bench::new(make, plan, Clock::Here)?)));
    let benches = benches.collect::<Result<Vec<_>, Failure>>()?;
    // A thread alone is free to leave a processor that others use.
    let unbound = if plan.threads > 1 { processors.bind(0).err() } else { None };
    let sample = |floor: bool, rounds: u32| {
        in_threads(&benches, processors, |bench| match floor {
            false => bench.operation(plan, rounds),
            true => bench.floor(plan, rounds),
        })
    };
    let compared = compare(plan, |rounds| sample(false, rounds), |rounds| sample(true, rounds))?;
    Ok((compared, unbound))
}

/// Threads that share a processor would measure how the system divides it.
fn check_threads(plan: &Plan, processors: &Processors) -> Result<(), Failure> {
    let (threads, count) = (plan.threads as usize, processors.count());
    if threads <= count {
        return Ok(());
    }
    Err(Failure(format!(
        "{threads} threads at once need as many processors, and this process may use {count}"
    )))
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
    Err(Failure(format!("it needs {needed} descriptors, and `ulimit -n` is {limit}")))
}

/// Finds out how many rounds fill a sample, and takes the pairs.
fn compare(
    plan: &Plan,
    operation: impl Fn(u32) -> Result<Sample, Failure>,
    floor: impl Fn(u32) -> Result<Sample, Failure>,
) -> Result<Compared, Failure> {
    let (rounds, floor_rounds) = (rounds_of(&operation)?, rounds_of(&floor)?);
    // A failure is kept, because the samples only know errors of the system.
    let failure = Mutex::new(None);
    let kept = |result: Result<Sample, Failure>| match result.map(Sample::nanoseconds) {
        Ok(time) if time > 0.0 => Ok(time),
        other => {
            let coarse = || Failure("the clock is too coarse for a sample".to_owned());
            *locked(&failure) = Some(other.err().unwrap_or_else(coarse));
            Err(io::Error::other("see the failure"))
        }
    };
    let pairs = alternately(plan.pairs, || kept(operation(rounds)), || kept(floor(floor_rounds)));
    match (pairs, locked(&failure).take()) {
        (Ok(pairs), _) => Ok(Compared::of(&pairs)),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) => Err(error.into()),
    }
}

/// Returns how many rounds fill a sample.
fn rounds_of(sample: &dyn Fn(u32) -> Result<Sample, Failure>) -> Result<u32, Failure> {
    /// The rounds of the sample that is looked at.
    const ROUNDS: u32 = 2;
    // The first call warms up.
    sample(1)?;
    let begun = Instant::now();
    let looked_at = sample(ROUNDS)?;
    let all = begun.elapsed();
    let measured = looked_at.nanoseconds() * looked_at.operations as f64;
    let fit = |limit: Duration, took: f64| limit.as_nanos() as f64 / (took / f64::from(ROUNDS)).max(1.0);
    let rounds = fit(SAMPLE, measured).min(fit(LONG_SAMPLE, all.as_nanos() as f64));
    Ok(rounds.clamp(2.0, f64::from(MOST_ROUNDS)) as u32)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a sample in as many threads as there are benches, at the same time.
fn in_threads(
    benches: &[Mutex<Bench>],
    processors: &Processors,
    sample: impl Fn(&mut Bench) -> Result<Sample, Failure> + Sync,
) -> Result<Sample, Failure> {
    if let [bench] = benches {
        return sample(&mut locked(bench));
    }
    // Closed until every thread exists. If one cannot be started, the others do their sample and end.
    let gate = RwLock::new(());
    let samples = std::thread::scope(|scope| {
        let closed = gate.write().unwrap_or_else(PoisonError::into_inner);
        let begin = |(index, bench)| {
            let (gate, sample) = (&gate, &sample);
            std::thread::Builder::new().spawn_scoped(scope, move || {
                // What cannot be done here, the thread that measures cannot do either.
                let _ = processors.bind(index);
                drop(gate.read());
                sample(&mut locked(bench))
            })
        };
        let threads = benches.iter().enumerate().map(begin).collect::<io::Result<Vec<_>>>();
        drop(closed);
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads?.into_iter().map(join).collect::<Result<Vec<Sample>, Failure>>()
    })?;
    Ok(samples.into_iter().fold(Sample::default(), Sample::and))
}

#[cfg(test)]
mod tests;
