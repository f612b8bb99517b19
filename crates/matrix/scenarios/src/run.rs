//! Runs one scenario, and turns its checks and its end into a verdict.

use fd_core::poller::{MakeBackend, Trigger};
use metadata::{Mode, Variant};

use crate::failure::{Failure, Result};
use crate::needs;
use crate::scenario::Scenario;
use crate::test_context::{Outcome, TestContext};
use crate::timeline;

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every check passed.
    Pass,
    /// Some check failed.
    Fail(String),
    /// This backend or system cannot do what the scenario needs.
    Unsupported(String),
    /// The test could not be prepared. This says nothing about the backend under test.
    Broken(String),
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
    let trigger = match trigger(params.trigger) {
        Ok(trigger) => trigger,
        Err(failure) => return (Verdict::Unsupported(failure.to_string()), Outcome::default()),
    };
    let mut test = TestContext::new(make, backend, params, trigger, seed);
    timeline::begin();
    let ended = needs::check(scenario.id, params).and_then(|()| (scenario.run)(&mut test));
    let verdict = verdict(ended, &mut test);
    test.outcome.timeline = timeline::end();
    (verdict, test.outcome)
}

/// Returns the trigger that the core's registrations have in cells of this mode. The core supports level and
/// edge.
fn trigger(mode: Mode) -> Result<Trigger> {
    match mode {
        Mode::Level => Ok(Trigger::Level),
        Mode::Edge => Ok(Trigger::Edge),
        Mode::OneShot | Mode::Dispatch | Mode::Exclusive | Mode::ExclusiveEdge | Mode::EdgeOneShot => {
            Err(Failure::Unsupported(format!("the core has no registrations with the trigger {mode}")))
        }
    }
}

fn verdict(ended: Result, test: &mut TestContext) -> Verdict {
    match ended {
        Err(Failure::Unsupported(reason)) => Verdict::Unsupported(reason),
        Err(Failure::Broken(reason)) => Verdict::Broken(reason),
        // The first failed check explains more than its consequence.
        Err(Failure::Wrong(what)) => Verdict::Fail(match test.outcome.first_failed_check() {
            Some(failed) if failed == what => what,
            failed => {
                // Every failure is also recorded as a check, so that a reader of the checks finds it.
                test.check("the run", "reaches its end", &what, "liveness", false);
                failed.map_or_else(|| what.clone(), |failed| format!("{failed}; then: {what}"))
            }
        }),
        Ok(()) => match test.outcome.first_failed_check() {
            Some(failed) => Verdict::Fail(failed),
            None if test.outcome.checks.is_empty() => Verdict::Broken("the scenario made no check".into()),
            None => Verdict::Pass,
        },
    }
}

#[cfg(test)]
mod tests {
    use fd_core::poller::BackendError;
    use metadata::{Axes, Check, Layer, Transport};

    use super::*;

    fn verdict_of(run: fn(&mut TestContext) -> Result) -> (Verdict, Vec<Check>) {
        let scenario =
            Scenario { id: "a/b", title: "T", layer: Layer::Contract, clauses: &[], axes: Axes::PLAIN, run };
        let params = Variant { transport: Transport::Tcp, trigger: Mode::Level, threads: 1, groups: 1 };
        let make: MakeBackend = |_| Err(BackendError::Capacity { backend: "none", limit: 0, capacity: 0 });
        let (verdict, outcome) = super::run(&scenario, "none", make, params, 1);
        (verdict, outcome.checks)
    }

    #[test]
    fn a_failure_that_is_no_check_becomes_one() {
        let (verdict, checks) = verdict_of(|test| {
            test.check("a", "1", "2", "S", false);
            Err(Failure::Wrong("it hangs".into()))
        });
        assert_eq!(verdict, Verdict::Fail("a: expected 1, observed 2; then: it hangs".into()));
        assert_eq!(checks.iter().map(|check| check.observed.as_str()).collect::<Vec<_>>(), ["2", "it hangs"]);
        assert!(checks.iter().all(|check| !check.holds));
        let (verdict, checks) = verdict_of(|_| Err(Failure::Wrong("it hangs".into())));
        assert_eq!((verdict, checks.len()), (Verdict::Fail("it hangs".into()), 1));
    }

    #[test]
    fn a_failure_that_is_a_check_is_not_counted_twice() {
        let (verdict, checks) = verdict_of(|test| {
            test.check("a", "1", "2", "S", false);
            test.stop_if_failed()
        });
        assert_eq!((verdict, checks.len()), (Verdict::Fail("a: expected 1, observed 2".into()), 1));
    }
}
