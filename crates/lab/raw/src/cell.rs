//! Runs the script of one characterisation scenario, and judges the answers.

use std::time::Duration;

use matrix::backends::{self, Poller};
use matrix::command::quoted;
use matrix::environment::{self, Environment};
use matrix::outcome::CellOutcome;
use metadata::{Asked, Defect, Os, Scripted, Status, Transport, Variant};
use scenarios::loopback;

use crate::expectations::{Expectations, Version, Versions};
use crate::{Key, Observation, Promises, Setting, Stopped, Transcript, keys};

/// How the reason of an unsupported cell begins whose script asks nothing of the poller.
pub const NOT_QUERIED: &str = "the script does not query this poller";

/// Runs the scenario's script once in this process, and compares every answer with the expected `answers` of
/// this system. `patience` is how long the script waits for an expected event.
pub fn run(
    scenario: &Scripted,
    variant: Variant,
    poller: Poller,
    (environment, answers): (&Environment, &Expectations),
    seed: u64,
    patience: Duration,
) -> CellOutcome {
    let make = poller.make;
    if let Some(why) = unreachable(variant.transport) {
        return not_run(Status::Unsupported, why);
    }
    let Some(os) = environment::os() else {
        return not_run(Status::Broken, "there are no expectations for this system");
    };
    let (transport, mode) = (variant.transport, variant.trigger);
    let setting = Setting { transport, mode, make, queue: backends::queue(), seed, patience };
    let (transcript, ended) = crate::run(scenario.script, setting);
    let (due, promises) = match (scenario.script.parse(), make()) {
        (Ok(script), Ok(made)) => (
            keys(&script, transport, mode, made.name(), made.views(mode)),
            Promises::of(&script, transport, mode, made.name(), made.column()),
        ),
        // The run has reported the error.
        _ => Default::default(),
    };
    let is_adapter = backends::BACKENDS.iter().all(|(backend, _)| *backend != poller.name);
    let adapter = is_adapter.then_some(poller.name);
    let (kernel, version) = (kernel(), environment.version_of(poller.name));
    let versions = Versions { kernel: kernel.as_ref(), poller: version.as_deref() };
    let judged = (answers, os, versions);
    let mut outcome = judge(scenario, (&due, &promises), adapter, transcript, ended, judged);
    outcome.notes.insert(0, format!("alone: {}", probe(scenario, variant, poller.name, environment)));
    outcome
}

/// Returns the version of this system's kernel, if its release is numeric.
pub fn kernel() -> Option<Version> {
    Version::of_release(environment::os()?, &matrix::provenance::kernel().0)
}

/// Returns why descriptors of this transport cannot be connected on this system, if they cannot.
pub fn unreachable(transport: Transport) -> Option<&'static str> {
    let is_inet = matches!(transport, Transport::Tcp | Transport::Udp);
    (is_inet && !loopback::has_loopback()).then_some(loopback::NO_LOOPBACK)
}

/// Returns the command that runs the script alone, without judging the answers.
fn probe(scenario: &Scripted, variant: Variant, backend: &str, environment: &Environment) -> String {
    let Variant { transport, trigger, .. } = variant;
    let script = quoted(&[scenario.script.to_owned()]);
    format!(
        "pollmatrix probe {script} --backend {backend} --transport {transport} --mode {trigger}{}",
        environment.adapter_option(backend)
    )
}

/// Returns what is wrong with an answer in every reading, if something is. `promises` are those of its
/// script.
pub fn defect(promises: &Promises, asked: &Asked, answer: &str) -> Option<Defect> {
    promises.defect((&asked.variant, &asked.api, asked.trigger.as_deref()), answer)
}

fn not_run(status: Status, why: &str) -> CellOutcome {
    CellOutcome { status, reason: Some(why.to_owned()), ..CellOutcome::default() }
}

/// Judges the answers of a transcript. `due` are the keys of the answers that the script must produce, and
/// `promises` says what is wrong with them in every reading. `adapter` is the poller's name, if it is not one
/// of the system's own.
fn judge(
    scenario: &Scripted,
    (due, promises): (&[Key], &Promises),
    adapter: Option<&str>,
    transcript: Transcript,
    ended: Result<(), Stopped>,
    (answers, os, versions): (&Expectations, Os, Versions<'_>),
) -> CellOutcome {
    let answered = |Observation { variant, api, trigger, answer }| {
        let asked = Asked { behaviour: scenario.behaviour.to_owned(), variant, api, trigger };
        let answer = answer.to_string();
        match adapter {
            Some(adapter) => (answers.attributed(os, versions.kernel, adapter, asked, &answer), answer),
            None => (asked, answer),
        }
    };
    let defects = |asked: &Asked, answer: &str| defect(promises, asked, answer);
    let complete = ended.is_ok() && !transcript.is_partial();
    let observations = transcript.observations.into_iter().map(answered);
    let mut observed = answers.observed(os, versions, &defects, observations);
    if complete {
        for Key { variant, api, trigger } in due.iter().cloned() {
            let trigger = trigger.map(str::to_owned);
            let asked = Asked { behaviour: scenario.behaviour.to_owned(), variant, api, trigger };
            let is_answered = match adapter {
                Some(adapter) => observed.answers_in_cell_of(adapter, &asked),
                None => observed.answers(&asked),
            };
            if !is_answered {
                let expected = answers.expected(os, versions.kernel, &asked);
                observed.miss(asked, expected);
            }
        }
    }
    let (status, reason) = match (observed.status(), ended) {
        // A wrong answer is a failure, whatever ended the script.
        (failed @ (Status::Fail, _), _) => failed,
        (_, Err(Stopped::Unsupported(why))) => (Status::Unsupported, Some(why)),
        (_, Err(stopped @ (Stopped::Broken(_) | Stopped::Script(_)))) => {
            (Status::Broken, Some(stopped.to_string()))
        }
        (_, Ok(())) if observed.checks.is_empty() => {
            (Status::Unsupported, Some(format!("{NOT_QUERIED}, only this program or the system's queue")))
        }
        (_, Ok(())) if adapter.is_some_and(|adapter| !observed.has_answer_of(adapter)) => {
            (Status::Unsupported, Some(format!("{NOT_QUERIED}, only system calls")))
        }
        (judged, Ok(()) | Err(Stopped::Ended(_))) => judged,
    };
    let unknown = Some(("unknown".to_owned(), observed.unknown)).filter(|(_, count)| *count > 0);
    CellOutcome {
        status,
        reason,
        checks: observed.checks,
        counters: unknown.into_iter().collect(),
        notes: transcript.trace,
        timeline: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: Scripted = Scripted {
        behaviour: "V26",
        id: "readiness/some",
        question: "What?",
        script: "own and peer are connected, look at own",
        transports: &[Transport::Pipe],
        modes: &[metadata::Mode::Level],
        bugs: &[],
    };

    /// Judges an answer about a drained pipe without a writer, for which Linux answers HUP. The script asks
    /// for an answer with events=0, too.
    fn judged(answer: &str, trace: &str, ended: Result<(), Stopped>) -> CellOutcome {
        judged_of(None, "poll", answer, trace, ended)
    }

    fn judged_of(
        adapter: Option<&str>,
        api: &str,
        answer: &str,
        trace: &str,
        ended: Result<(), Stopped>,
    ) -> CellOutcome {
        let variant = "pipe:read-end-drained".to_owned();
        let observed = Observation {
            variant: variant.clone(),
            api: api.into(),
            trigger: Some("level".into()),
            answer: metadata::Answer::of(answer, Some("level"), &metadata::Column::default()),
        };
        let due = ["poll", "poll-events0"].map(|api| Key {
            variant: variant.clone(),
            api: api.into(),
            trigger: Some("level"),
        });
        let transcript = Transcript { observations: vec![observed], trace: vec![trace.into()] };
        let answers = Expectations::built_in_of(Os::Linux, &[]).unwrap();
        let measured = answers.systems().next().and_then(|(_, all)| all[0].source.version.clone());
        judge(
            &SCENARIO,
            (&due, &Promises::default()),
            adapter,
            transcript,
            ended,
            (&answers, Os::Linux, Versions::of_kernel(measured.as_ref())),
        )
    }

    #[test]
    fn a_missing_answer_that_the_script_asks_for_is_a_failure() {
        let outcome = judged("HUP", "look at own -> poll@level: HUP", Ok(()));
        assert_eq!(outcome.status, Status::Fail);
        assert_eq!(
            outcome.reason.as_deref(),
            Some("poll-events0@level read-end-drained: asked, and not answered")
        );
        assert_eq!(outcome.checks.iter().filter(|check| !check.holds).count(), 1);
    }

    #[test]
    fn an_omitted_clause_is_not_a_missing_answer() {
        let outcome = judged("HUP", "look at conn -> left out: there is no 'conn'", Ok(()));
        assert_eq!((outcome.status, outcome.checks.len()), (Status::Pass, 1));
    }

    /// The other answers of the script are not missing.
    #[test]
    fn the_end_of_a_program_is_its_answer() {
        let ended = || Err(Stopped::Ended("the program ended (signal: 6)".into()));
        let outcome = judged_of(Some("libuv"), "libuv", "aborts(SIGABRT)", "", ended());
        let reason = outcome.reason.as_deref().unwrap_or_default();
        assert_eq!(outcome.status, Status::Fail, "no answer is recorded");
        assert!(
            reason.contains("aborts(SIGABRT): the program ended, which is wrong in every reading"),
            "{reason}"
        );
        assert_eq!((outcome.checks.len(), outcome.counters["unknown"]), (1, 1));
        let outcome = judged_of(Some("poll"), "poll", "aborts(SIGABRT)", "", ended());
        assert_eq!(outcome.status, Status::Fail, "another answer is recorded");
    }

    #[test]
    fn a_cell_of_an_adapter_that_holds_only_system_calls_is_unsupported() {
        let left_out = "look at conn -> left out: there is no 'conn'";
        let outcome = judged_of(Some("libuv"), "poll", "HUP", left_out, Ok(()));
        assert_eq!(outcome.status, Status::Unsupported);
        assert_eq!(
            outcome.reason.as_deref(),
            Some("the script does not query this poller, only system calls")
        );
        assert_eq!(judged_of(None, "poll", "HUP", left_out, Ok(())).status, Status::Pass);
    }

    #[test]
    fn a_side_effect_of_an_adapter_is_not_judged_by_the_systems_file() {
        let left_out = "look at conn -> left out: there is no 'conn'";
        let outcome = judged_of(Some("libuv"), "poll", "OUT", left_out, Ok(()));
        assert_eq!((outcome.status, outcome.counters["unknown"]), (Status::Pass, 1));
        let asked = outcome.checks[0].asked.as_ref().map(|asked| asked.api.as_str());
        assert_eq!(asked, Some("libuv-poll"));
    }

    #[test]
    fn a_script_that_stops_has_a_reason_unless_an_earlier_answer_was_wrong() {
        let stopped = || Err(Stopped::Unsupported("not here".into()));
        let outcome = judged("HUP", "", stopped());
        assert_eq!((outcome.status, outcome.reason.as_deref()), (Status::Unsupported, Some("not here")));
        assert_eq!(judged("HUP", "", Err(Stopped::Broken("no pipe".into()))).status, Status::Broken);
        let outcome = judged("OUT", "", stopped());
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.reason.is_some_and(|reason| reason.contains("expected HUP, observed OUT")));
    }
}
