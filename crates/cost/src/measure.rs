//! Measures an operation beside its floor.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, scope};
use std::time::Duration;

use metadata::{CostOutcome, Figure, Mode, Operation};
use statistics::{Compared, alternately};

use crate::clock::Stopwatch;
use crate::operations;
use crate::poller::{Failure, MakePoller};
use crate::processors;
use crate::side::Sides;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effort {
    /// The number of pairs of samples.
    pub pairs: u32,
    /// The widest confidence interval of a figure, in percent of the ratio.
    pub noise: f64,
    /// The least processor time of a sample.
    pub sample: Duration,
}

/// A sample has no more rounds than this.
const MOST_ROUNDS: u32 = 1 << 20;

/// Measures the cost of an operation. Each of the `threads` performs it with a poller of its own, which has
/// this number of registered descriptors.
///
/// The cost is the processor time of all threads that take part. The samples of the operation and of its
/// floor alternate.
pub fn measure(
    make: MakePoller<'_>,
    operation: Operation,
    mode: Mode,
    descriptors: usize,
    threads: usize,
    effort: Effort,
) -> CostOutcome {
    let measured = with_workers(make, operation, mode, descriptors, threads, |workers| {
        let rounds = [workers.rounds(0, effort.sample)?, workers.rounds(1, effort.sample)?];
        let (first, second) = (|| workers.sample(0, rounds[0]), || workers.sample(1, rounds[1]));
        alternately(effort.pairs, first, second)
    });
    match measured {
        Ok(pairs) => outcome(&pairs, effort.noise),
        Err(Failure::Unsupported(reason)) => CostOutcome::Unsupported { reason },
        Err(Failure::Failed(reason)) => CostOutcome::Failed { reason },
    }
}

/// Performs so many rounds of an operation, for [`crate::calls`], and returns how often all threads performed
/// the operation.
///
/// # Errors
/// The failure of the operation.
pub fn count(
    make: MakePoller<'_>,
    operation: Operation,
    mode: Mode,
    descriptors: usize,
    threads: usize,
    rounds: u32,
) -> Result<u64, Failure> {
    with_workers(make, operation, mode, descriptors, threads, |workers| {
        workers.sample(0, rounds)?;
        Ok(workers.per_round[0] * u64::from(rounds) * threads as u64)
    })
}

/// Returns the outcome of these pairs of nanoseconds.
fn outcome(pairs: &[[f64; 2]], noise: f64) -> CostOutcome {
    if pairs.is_empty() || pairs.iter().flatten().any(|time| *time <= 0.0) {
        return CostOutcome::Failed { reason: "the clock is too coarse for a sample".into() };
    }
    let compared = Compared::of(pairs);
    if compared.is_noise(noise) {
        let spread_percent = rounded(compared.spread_percent());
        return CostOutcome::Noise { spread_percent, limit_percent: noise };
    }
    CostOutcome::Measured(Figure {
        ratio: rounded(compared.ratio),
        interval: compared.interval.map(rounded),
        nanoseconds: rounded(compared.medians[0]),
        floor_nanoseconds: rounded(compared.medians[1]),
        pairs: pairs.len() as u32,
        system_calls: None,
    })
}

/// Returns a number with five digits. More would be no information, and JSON readers could round them.
fn rounded(number: f64) -> f64 {
    format!("{number:.4e}").parse().unwrap_or(number)
}

/// What a thread is to do: which side, and how many rounds.
type Order = (usize, u32);
type Answer = Result<Duration, Failure>;

/// The threads that perform the operation.
struct Workers {
    threads: Vec<(Sender<Order>, Receiver<Answer>)>,
    /// How often each thread performs a side in a round.
    per_round: [u64; 2],
}

/// Starts the threads, and ends them after the action.
fn with_workers<T>(
    make: MakePoller<'_>,
    operation: Operation,
    mode: Mode,
    descriptors: usize,
    threads: usize,
    action: impl FnOnce(&Workers) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let sides = operations::sides(make, operation, mode, descriptors, threads)?;
    let Some(first) = sides.first() else {
        return Err(Failure::Unsupported("it takes at least one thread".into()));
    };
    let per_round = first.each_ref().map(|side| u64::from(side.per_round()));
    scope(|scope| {
        let start = |(index, sides)| start(scope, index, sides);
        let threads = sides.into_iter().enumerate().map(start).collect::<Result<_, _>>()?;
        action(&Workers { threads, per_round })
    })
}

/// Starts a thread. It ends when its orders end.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    index: usize,
    mut sides: Sides,
) -> Result<(Sender<Order>, Receiver<Answer>), Failure> {
    let ((orders, to_do), (answers, done)) = (channel::<Order>(), channel());
    let work = move || {
        processors::take(index);
        let mut watch = Stopwatch::new();
        for (side, rounds) in to_do {
            let answer = watch.as_mut().map_err(|failure| failure.clone()).and_then(|watch| {
                (0..rounds).try_for_each(|_| sides[side].round(watch))?;
                Ok(watch.take())
            });
            // The receiver is gone after an error of another thread.
            let _ = answers.send(answer);
        }
    };
    let started = Builder::new().name("cost".into()).spawn_scoped(scope, work);
    started.map_err(|error| Failure::of_io("starting a thread", &error))?;
    Ok((orders, done))
}

impl Workers {
    /// Performs a side on every thread at once, and returns the nanoseconds of one operation.
    fn sample(&self, side: usize, rounds: u32) -> Result<f64, Failure> {
        let panicked = || Failure::Failed("a thread panicked".into());
        for (orders, _) in &self.threads {
            orders.send((side, rounds)).map_err(|_| panicked())?;
        }
        let mut sum = Duration::ZERO;
        for (_, answers) in &self.threads {
            sum += answers.recv().map_err(|_| panicked())??;
        }
        let times = self.per_round[side] * u64::from(rounds) * self.threads.len() as u64;
        Ok(sum.as_nanos() as f64 / times as f64)
    }

    /// Returns how many rounds take the least time of a sample. Warms up, too.
    fn rounds(&self, side: usize, sample: Duration) -> Result<u32, Failure> {
        let least = sample.as_nanos() as f64;
        let mut rounds = 1;
        while rounds < MOST_ROUNDS {
            let each = self.sample(side, rounds)?;
            if each * self.per_round[side] as f64 * f64::from(rounds) >= least {
                break;
            }
            rounds *= 2;
        }
        Ok(rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays;
    use crate::poller::Poller;

    const LITTLE: Effort = Effort { pairs: 7, noise: 1e9, sample: Duration::from_micros(50) };

    type Make = fn() -> std::io::Result<Box<dyn Poller>>;

    fn pollers() -> Vec<Make> {
        vec![
            arrays::poll,
            arrays::select,
            #[cfg(target_os = "linux")]
            || {
                let library = crate::Library::new(poller_epoll::selector()?);
                Ok(Box::new(library.map_err(|failure| std::io::Error::other(failure.to_string()))?))
            },
        ]
    }

    /// Nothing is said about the times.
    #[test]
    fn every_operation_of_every_poller_has_a_figure() {
        for make in pollers() {
            for operation in Operation::ALL {
                let threads = if operation.is_of_pairs() { 2 } else { 1 };
                let outcome = measure(&make, *operation, Mode::Level, 10, threads, LITTLE);
                let CostOutcome::Measured(figure) = &outcome else { panic!("{operation}: {outcome:?}") };
                assert_eq!(figure.pairs, 7);
                assert!(figure.interval[0] <= figure.ratio && figure.ratio <= figure.interval[1]);
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn edges_are_measured_where_the_poller_has_them() {
        let epoll = pollers()[2];
        for operation in Operation::ALL {
            let threads = if operation.is_of_pairs() { 2 } else { 1 };
            let outcome = measure(&epoll, *operation, Mode::Edge, 10, threads, LITTLE);
            assert_eq!(outcome.status(), "measured", "{operation}: {outcome:?}");
        }
        let outcome = measure(&arrays::poll, Operation::WaitOne, Mode::Edge, 10, 1, LITTLE);
        assert_eq!(outcome.reason().as_deref(), Some("poll(2) is level-triggered only"));
    }

    #[test]
    fn several_threads_are_measured_at_once() {
        for (operation, threads) in [(Operation::WaitOne, 3), (Operation::Wake, 4), (Operation::HandOver, 4)]
        {
            let outcome = measure(&arrays::poll, operation, Mode::Level, 4, threads, LITTLE);
            assert_eq!(outcome.status(), "measured", "{operation}: {outcome:?}");
        }
        let outcome = measure(&arrays::poll, Operation::Wake, Mode::Level, 4, 3, LITTLE);
        assert_eq!(outcome.reason().as_deref(), Some("it takes pairs of threads"));
    }

    /// A poller that reports nothing.
    struct Silent;

    impl Poller for Silent {
        fn add(&self, _: i32, _: u64, _: selector::Interest, _: Mode) -> Result<(), Failure> {
            Ok(())
        }
        fn modify(&self, _: i32, _: u64, _: selector::Interest, _: Mode) -> Result<(), Failure> {
            Ok(())
        }
        fn remove(&self, _: i32) -> Result<(), Failure> {
            Ok(())
        }
        fn wait(&self, _: usize, _: Option<Duration>) -> Result<usize, Failure> {
            Ok(0)
        }
        fn wake(&self) -> Result<(), Failure> {
            Ok(())
        }
    }

    #[test]
    fn a_wait_without_the_event_is_no_figure() {
        let silent = || -> std::io::Result<Box<dyn Poller>> { Ok(Box::new(Silent)) };
        let outcome = measure(&silent, Operation::WaitAll, Mode::Level, 5, 1, LITTLE);
        assert_eq!(outcome.status(), "failed");
        assert_eq!(outcome.reason().as_deref(), Some("a wait reports 0 of 5 ready descriptors"));
        let impossible =
            || -> std::io::Result<Box<dyn Poller>> { Err(std::io::ErrorKind::Unsupported.into()) };
        assert_eq!(measure(&impossible, Operation::Close, Mode::Level, 5, 1, LITTLE).status(), "unsupported");
    }

    #[test]
    fn samples_that_vary_too_much_are_noise_and_impossible_ones_are_no_figure() {
        let steady = [[200.0, 100.0]; 9];
        let CostOutcome::Measured(figure) = outcome(&steady, 10.0) else { panic!("it is a figure") };
        assert_eq!((figure.ratio, figure.interval, figure.nanoseconds), (2.0, [2.0, 2.0], 200.0));
        assert_eq!((figure.floor_nanoseconds, figure.pairs), (100.0, 9));
        let wild: Vec<_> = (0..9).map(|n| [100.0 + 10.0 * f64::from(n), 100.0]).collect();
        // The interval is from the second to the eighth value: 1.1 to 1.7, around 1.4.
        let CostOutcome::Noise { spread_percent, limit_percent } = outcome(&wild, 10.0) else {
            panic!("it is noise")
        };
        assert_eq!((spread_percent.round(), limit_percent), (43.0, 10.0));
        assert_eq!(outcome(&wild, 43.0).status(), "measured");
        assert_eq!(outcome(&[[0.0, 100.0]; 9], 10.0).status(), "failed");
        assert_eq!(outcome(&[[100.0, 0.0]; 9], 10.0).status(), "failed");
        assert_eq!(outcome(&[], 10.0).status(), "failed");
    }

    #[test]
    fn figures_have_five_digits() {
        assert_eq!([1.0 / 3.0, 12345.678, 0.5].map(rounded), [0.33333, 12346.0, 0.5]);
    }

    /// Each round performs the operation as often as it says.
    #[test]
    fn the_operations_of_a_count_are_those_of_all_threads() {
        let performed = |operation, threads| count(&arrays::poll, operation, Mode::Level, 10, threads, 3);
        assert_eq!(performed(Operation::Register, 1), Ok(3 * 5));
        assert_eq!(performed(Operation::Register, 2), Ok(2 * 3 * 5));
        assert_eq!(performed(Operation::Wake, 2), Ok(2 * 3 * 16));
    }
}
