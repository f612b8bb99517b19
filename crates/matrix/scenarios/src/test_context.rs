//! One run of one scenario: its parameters, and the checks that it records.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};

use fd_core::hooks::inject;
use fd_core::poller::{Events, MakeBackend, Trigger};
use metadata::{Act, Check, Timeline, Variant};

use crate::failure::{Failure, Result};
use crate::timeline;
use crate::transport::{self, Pair};

/// The parameters of a run, and the record of its checks.
pub struct TestContext {
    /// Creates the backend under test.
    pub make: MakeBackend,
    /// The name of the backend.
    pub backend: &'static str,
    /// The cell's parameters.
    pub params: Variant,
    /// The trigger of these parameters, as the core names it.
    pub trigger: Trigger,
    /// The seed for everything random. Every result shows it.
    pub seed: u64,
    pub(crate) outcome: Outcome,
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
    /// What each thread did.
    pub timeline: Timeline,
}

impl Outcome {
    /// Returns the first check that failed, as text.
    pub(crate) fn first_failed_check(&self) -> Option<String> {
        let check = self.checks.iter().find(|check| !check.holds)?;
        Some(format!("{}: expected {}, observed {}", check.what, check.expected.join(" or "), check.observed))
    }
}

impl TestContext {
    pub(crate) fn new(
        make: MakeBackend,
        backend: &'static str,
        params: Variant,
        trigger: Trigger,
        seed: u64,
    ) -> Self {
        Self { make, backend, params, trigger, seed, outcome: Outcome::default() }
    }

    /// Creates a connected pair over the cell's transport.
    ///
    /// # Errors
    /// Those of the system calls.
    pub fn pair(&self) -> Result<Pair> {
        Ok(transport::pair(self.params.transport)?)
    }

    /// Checks that `observed` equals `expected`, and records both with the `source` of the expectation: an
    /// invariant, a man page, a clause, a commit.
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

    /// As [`TestContext::check_eq`], for values whose text is that of `Debug`.
    pub fn check_debug<T: Debug>(&mut self, what: impl Into<String>, expected: T, observed: T, source: &str) {
        self.check_eq(what, format!("{expected:?}"), format!("{observed:?}"), source);
    }

    /// Records `observed`, and whether it is right (`holds`). `expected` describes in words what would be
    /// right.
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

    /// As [`TestContext::check_eq`], for a cost; see [`TestContext::check_cost`].
    pub fn check_cost_eq<T: PartialEq + Display>(
        &mut self,
        what: impl Into<String>,
        expected: T,
        observed: T,
        source: &str,
    ) {
        let holds = expected == observed;
        self.check_cost(what, expected.to_string(), observed, source, holds);
    }

    /// As [`TestContext::check`], for a cost: iterations, waits, updates, events for a thread or a
    /// registration that they do not concern.
    ///
    /// While errors are injected, a cost is recorded and not judged: a wait may end at once, and a removal or
    /// an addition takes effect only when it is applied again. Costs are the only promise that injected
    /// errors weaken. The events, the threads that handle them and the closes are never costs.
    pub fn check_cost(
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

    /// As [`TestContext::check_cost`], for a cost of at most `most`.
    pub fn check_cost_most(&mut self, what: impl Into<String>, most: u64, observed: u64, source: &str) {
        self.check_cost(what, format!("at most {most}"), observed, source, observed <= most);
    }

    fn record(&mut self, what: String, expected: Vec<String>, observed: String, source: &str, holds: bool) {
        if !holds {
            timeline::note(Act::Wrong, &what, -1);
        }
        let source = source.into();
        self.outcome.checks.push(Check { what, expected, observed, source, holds, ..Check::default() });
    }

    /// Ends the run if a check has failed: for places where nothing after it would make sense.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with the first check that failed.
    pub fn stop_if_failed(&self) -> Result {
        self.outcome.first_failed_check().map_or(Ok(()), |failed| Err(Failure::Wrong(failed)))
    }

    /// Records a number for the report.
    pub fn record_counter(&mut self, name: impl Into<String>, value: u64) {
        self.outcome.counters.insert(name.into(), value);
    }

    /// Records free text for the report.
    pub fn note(&mut self, text: impl Into<String>) {
        self.outcome.notes.push(text.into());
    }
}

/// Returns whether a report is of another direction than the `wanted` one because errors are injected: a
/// refused change leaves the former interest polled until it is applied again. Never true without injected
/// errors.
pub(crate) fn is_stray(events: Events, wanted: Events) -> bool {
    inject::is_on() && !events.intersects(wanted)
}
