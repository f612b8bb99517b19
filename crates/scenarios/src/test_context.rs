//! One run of one scenario: what it is given, and what it records.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use fd_core::error::StartError;
use fd_core::hooks::inject;
use fd_core::poller::{BackendError, Events, MakeBackend, Trigger};
use metadata::{Check, Variant};

use crate::catalogue::Scenario;
use crate::needs;
use crate::shortage;
use crate::threads;
use crate::trigger;

/// How long a scenario waits for something that must happen, on a machine of ordinary speed. Not a bound on how fast it
/// is: a cell under heavy load may take this long. It is there to end a run with an explanation before the driver's time
/// limit ends it with none.
pub const PATIENCE: Duration = Duration::from_secs(25);

/// No clock ends beyond it.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

static PATIENCE_MS: AtomicU64 = AtomicU64::new(PATIENCE.as_millis() as u64);
static SLOWNESS: AtomicU32 = AtomicU32::new(1);

/// Says that this machine is so many times slower than an ordinary one: an emulator, say. For the whole process.
pub fn set_slowness(times: u32) {
    // Relaxed: set before any scenario starts its threads.
    SLOWNESS.store(times, Ordering::Relaxed);
}

/// Says how long a scenario waits for something that must happen, on a machine of ordinary speed, in place of what is
/// enough under any load: for runs in which many cells are meant to hang. For the whole process.
pub fn set_patience(patience: Duration) {
    let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
    // Relaxed: set before any scenario starts its threads.
    PATIENCE_MS.store(milliseconds, Ordering::Relaxed);
}

/// How many times slower than an ordinary machine this one is said to be: for what is done many times over.
pub(crate) fn slowness() -> u32 {
    SLOWNESS.load(Ordering::Relaxed).max(1)
}

/// How long to wait for something that must happen.
pub(crate) fn patience() -> Duration {
    let patience = Duration::from_millis(PATIENCE_MS.load(Ordering::Relaxed));
    patience.saturating_mul(SLOWNESS.load(Ordering::Relaxed)).min(LONGEST)
}

/// What a run is given, and where it records what it sees.
pub struct TestContext {
    /// The backend under test.
    pub make: MakeBackend,
    /// Its name.
    pub backend: &'static str,
    /// The cell's parameters.
    pub params: Variant,
    /// Their trigger, as the core knows it.
    pub trigger: Trigger,
    /// For everything random. Printed with every result.
    pub seed: u64,
    outcome: Outcome,
}

/// Everything that a run recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The checks in the order in which they were made.
    pub checks: Vec<Check>,
    /// Numbers worth reporting: takeovers, skips, wake-ups per thread, activity counters.
    pub counters: BTreeMap<String, u64>,
    /// Free text for the cell's page, such as the activity table.
    pub notes: Vec<String>,
}

impl Outcome {
    /// The first check that did not hold, in words.
    fn first_wrong(&self) -> Option<String> {
        let check = self.checks.iter().find(|check| !check.holds)?;
        Some(format!("{}: expected {}, observed {}", check.what, check.expected.join(" or "), check.observed))
    }
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every check held.
    Pass,
    /// Some check did not hold.
    Fail(String),
    /// This backend or system cannot do what the scenario asks for.
    Unsupported(String),
    /// The set-up failed: no statement about the subject.
    Broken(String),
}

/// Why a run ends early.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// A check did not hold and nothing after it makes sense.
    #[error("{0}")]
    Wrong(String),
    /// See [`Verdict::Unsupported`].
    #[error("{0}")]
    Unsupported(String),
    /// See [`Verdict::Broken`].
    #[error("{0}")]
    Broken(String),
}

impl Failure {
    /// The set-up failed with `error`. If that is for want of what the scenario needs of the system, it is unsupported.
    pub fn broken(error: impl Into<Box<dyn Error>>) -> Self {
        let error = error.into();
        match shortage::of(&*error) {
            Some(why) => Self::Unsupported(format!("{why}: {error}")),
            None => Self::Broken(error.to_string()),
        }
    }

    /// The runtime did not start.
    pub(crate) fn from_start(error: StartError) -> Self {
        match error {
            StartError::Backend(BackendError::Capacity { .. }) => Self::Unsupported(error.to_string()),
            StartError::System { what: "starting a thread", source } => threads::short(&source),
            _ => Self::Broken(error.to_string()),
        }
    }
}

impl TestContext {
    /// Records that `observed` was seen where `expected` is right, because of `source`: an invariant, a man page, a
    /// clause, a commit.
    pub fn check_eq<T: PartialEq + Display>(
        &mut self,
        what: impl Into<String>,
        expected: T,
        observed: T,
        source: &str,
    ) {
        let holds = expected == observed;
        self.record(what.into(), vec![expected.to_string()], observed.to_string(), source, holds);
    }

    /// Records that `observed` was seen, and whether it is right. `expected` says in words what would be.
    pub fn check(
        &mut self,
        what: impl Into<String>,
        expected: impl Into<String>,
        observed: impl Display,
        source: &str,
        holds: bool,
    ) {
        self.record(what.into(), vec![expected.into()], observed.to_string(), source, holds);
    }

    /// As [`TestContext::check_eq`], for what something cost; see [`TestContext::cost`].
    pub fn cost_eq<T: PartialEq + Display>(
        &mut self,
        what: impl Into<String>,
        expected: T,
        observed: T,
        source: &str,
    ) {
        let holds = expected == observed;
        self.cost(what, expected.to_string(), observed, source, holds);
    }

    /// As [`TestContext::check`], for what something cost: iterations, waits, updates, events for a thread or a registration that
    /// they are not for. If errors are injected, it is recorded and not judged: a wait may end at once, and a removal
    /// or an addition takes effect only when it is applied again.
    ///
    /// This is the only thing that a scenario promises less of then. What is reported, to whom, and what is closed is
    /// never a cost.
    pub fn cost(
        &mut self,
        what: impl Into<String>,
        expected: impl Into<String>,
        observed: impl Display,
        source: &str,
        holds: bool,
    ) {
        if !inject::is_on() {
            return self.check(what, expected, observed, source, holds);
        }
        *self.outcome.counters.entry("checks_not_judged".into()).or_default() += 1;
        self.check(what, expected, observed, &format!("{source}; not judged: errors are injected"), true);
    }

    fn record(&mut self, what: String, expected: Vec<String>, observed: String, source: &str, holds: bool) {
        let source = source.into();
        self.outcome.checks.push(Check { what, expected, observed, source, holds, ..Check::default() });
    }

    /// Ends the run here if some check did not hold: for when nothing after it would make sense.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with the first check that did not hold.
    pub fn all_hold(&self) -> Result<(), Failure> {
        self.outcome.first_wrong().map_or(Ok(()), |wrong| Err(Failure::Wrong(wrong)))
    }

    /// Records a number.
    pub fn count(&mut self, name: impl Into<String>, value: u64) {
        self.outcome.counters.insert(name.into(), value);
    }

    /// Records free text.
    pub fn note(&mut self, text: impl Into<String>) {
        self.outcome.notes.push(text.into());
    }
}

/// Whether a report is of another direction than the `wanted` one: if errors are injected, a refused change leaves the former
/// interest polled until it is applied again. Never if not.
pub(crate) fn is_stray(events: Events, wanted: Events) -> bool {
    inject::is_on() && !events.intersects(wanted)
}

/// Runs `scenario` once in this process. It may leave signals, limits and descriptors changed: give it a
/// process of its own.
pub fn run(
    scenario: &Scenario,
    backend: &'static str,
    make: MakeBackend,
    params: Variant,
    seed: u64,
) -> (Verdict, Outcome) {
    let trigger = match trigger::of(params.trigger) {
        Ok(trigger) => trigger,
        Err(none) => return (Verdict::Unsupported(none.to_string()), Outcome::default()),
    };
    let mut test = TestContext { make, backend, params, trigger, seed, outcome: Outcome::default() };
    let ended = needs::check(scenario.id, params).and_then(|()| (scenario.run)(&mut test));
    let verdict = match ended {
        Err(Failure::Unsupported(reason)) => Verdict::Unsupported(reason),
        Err(Failure::Broken(reason)) => Verdict::Broken(reason),
        // A check that did not hold says more than what it led to.
        Err(Failure::Wrong(what)) => Verdict::Fail(match test.outcome.first_wrong() {
            Some(wrong) if wrong == what => what,
            wrong => {
                // Every failure is a check, so that nobody who looks at the checks overlooks it.
                test.check("the run", "goes on to its end", &what, "liveness", false);
                wrong.map_or_else(|| what.clone(), |wrong| format!("{wrong}; then: {what}"))
            }
        }),
        Ok(()) => match test.outcome.first_wrong() {
            Some(wrong) => Verdict::Fail(wrong),
            None if test.outcome.checks.is_empty() => Verdict::Broken("the scenario checked nothing".into()),
            None => Verdict::Pass,
        },
    };
    (verdict, test.outcome)
}

#[cfg(test)]
mod tests {

    use metadata::{Axes, Layer, Mode, Transport};

    use super::*;

    fn ran(run: fn(&mut TestContext) -> Result<(), Failure>) -> (Verdict, Vec<Check>) {
        let scenario =
            Scenario { id: "a/b", title: "T", layer: Layer::Contract, clauses: &[], axes: Axes::PLAIN, run };
        let params = Variant { transport: Transport::Tcp, trigger: Mode::Level, threads: 1, groups: 1 };
        let make: MakeBackend = |_| Err(BackendError::Capacity { backend: "none", limit: 0, capacity: 0 });
        let (verdict, outcome) = super::run(&scenario, "none", make, params, 1);
        (verdict, outcome.checks)
    }

    #[test]
    fn a_failure_that_is_no_check_becomes_one() {
        let (verdict, checks) = ran(|test| {
            test.check("a", "1", "2", "S", false);
            Err(Failure::Wrong("it hangs".into()))
        });
        assert_eq!(verdict, Verdict::Fail("a: expected 1, observed 2; then: it hangs".into()));
        assert_eq!(checks.iter().map(|check| check.observed.as_str()).collect::<Vec<_>>(), ["2", "it hangs"]);
        assert!(checks.iter().all(|check| !check.holds));
        let (verdict, checks) = ran(|_| Err(Failure::Wrong("it hangs".into())));
        assert_eq!((verdict, checks.len()), (Verdict::Fail("it hangs".into()), 1));
    }

    #[test]
    fn a_failure_that_is_a_check_is_not_counted_twice() {
        let (verdict, checks) = ran(|test| {
            test.check("a", "1", "2", "S", false);
            test.all_hold()
        });
        assert_eq!((verdict, checks.len()), (Verdict::Fail("a: expected 1, observed 2".into()), 1));
    }
}
