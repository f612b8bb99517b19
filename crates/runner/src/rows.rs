//! The rows of the characterisation: one of them performed and judged.

use std::time::Duration;

use characterisation::{Behaviour, Key, Observation, Performance, Setting, Stopped, keys};
use expectations::{Answers, Version};
use metadata::{Asked, Os, Status, Transport, Variant};
use scenarios::needs;

use crate::backends::{self, Poller};
use crate::command::quoted;
use crate::environment::{self, Environment};
use crate::error::Error;
use crate::ran::Ran;

/// Performs the row's line once in this process, waiting for what must come with this patience, and compares every answer with
/// what is expected here.
///
/// # Errors
/// The expectations that are built in are wrong.
pub fn run(
    row: &Behaviour,
    variant: Variant,
    poller: Poller,
    environment: &Environment,
    seed: u64,
    patience: Duration,
) -> Result<Ran, Error> {
    let make = poller.make;
    if let Some(why) = unreachable(variant.transport) {
        return Ok(Ran { status: Status::Unsupported, reason: Some(why.into()), ..Ran::default() });
    }
    let (transport, mode) = (variant.transport, variant.trigger);
    let setting = Setting { transport, mode, make, queue: backends::queue(), seed, patience };
    let (performance, ended) = characterisation::perform(row.verbs, setting);
    let due = match (row.verbs.parse(), make()) {
        (Ok(line), Ok(poller)) => keys(&line, transport, mode, poller.name(), poller.views(mode)),
        // The performance has said so.
        _ => Vec::new(),
    };
    let (answers, version) = (environment.answers()?, environment::version());
    Ok(match environment::os() {
        Some(os) => {
            let mut ran = judge(row, &due, performance, ended, (answers, os, version.as_ref()));
            ran.notes.insert(0, format!("alone: {}", probe(row, variant, poller.name, environment)));
            ran
        }
        None => broken("no expectations are kept for this system".into()),
    })
}

/// Why descriptors of this transport cannot be connected on this system.
pub fn unreachable(transport: Transport) -> Option<&'static str> {
    let is_inet = matches!(transport, Transport::Tcp | Transport::Udp);
    (is_inet && !needs::has_loopback()).then_some(needs::NO_LOOPBACK)
}

/// The command that performs the line again and judges nothing.
fn probe(row: &Behaviour, variant: Variant, backend: &str, environment: &Environment) -> String {
    let Variant { transport, trigger, .. } = variant;
    let line = quoted(&[row.verbs.to_owned()]);
    format!(
        "pollmatrix probe {line} --backend {backend} --transport {transport} --mode {trigger}{}",
        environment.subject_option(backend)
    )
}

fn broken(reason: String) -> Ran {
    Ran { status: Status::Broken, reason: Some(reason), ..Ran::default() }
}

/// What a performance came to. `due` are the answers that the line asks for.
fn judge(
    row: &Behaviour,
    due: &[Key],
    performance: Performance,
    ended: Result<(), Stopped>,
    (answers, os, version): (&Answers, Os, Option<&Version>),
) -> Ran {
    let asked = |Observation { variant, api, trigger, answer }| {
        (Asked { row: row.row.to_owned(), variant, api, trigger }, answer)
    };
    let complete = ended.is_ok() && !performance.is_partial();
    let mut observed = answers.observed(os, version, performance.observations.into_iter().map(asked));
    if complete {
        for Key { variant, api, trigger } in due.iter().cloned() {
            let asked = Asked { row: row.row.to_owned(), variant, api, trigger: trigger.map(str::to_owned) };
            if !observed.answers(&asked) {
                let expected = answers.expected(os, version, &asked);
                observed.miss(asked, expected);
            }
        }
    }
    let (status, reason) = match (observed.status(), ended) {
        // A wrong answer counts, whatever came after it.
        (failed @ (Status::Fail, _), _) => failed,
        (_, Err(Stopped::Unsupported(why))) => (Status::Unsupported, Some(why)),
        (_, Err(stopped @ (Stopped::Broken(_) | Stopped::Script(_)))) => {
            (Status::Broken, Some(stopped.to_string()))
        }
        (_, Ok(())) if observed.checks.is_empty() => {
            let why =
                "the line asks this poller nothing: this program or the system's queue answers what it asks";
            (Status::Unsupported, Some(why.into()))
        }
        (judged, Ok(())) => judged,
    };
    let unknown = Some(("unknown".to_owned(), observed.unknown)).filter(|(_, count)| *count > 0);
    Ran {
        status,
        reason,
        checks: observed.checks,
        counters: unknown.into_iter().collect(),
        notes: performance.trace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Behaviour = Behaviour {
        row: "V26",
        id: "readiness/some",
        question: "What?",
        verbs: "own and peer are connected, look at own",
        transports: &[Transport::Pipe],
        modes: &[metadata::Mode::Level],
        bugs: &[],
    };

    /// What Linux is known to say of a drained pipe without a writer, or something else, and the question about events=0.
    fn judged(answer: &str, trace: &str, ended: Result<(), Stopped>) -> Ran {
        let variant = "pipe:read-end-drained".to_owned();
        let observed = Observation {
            variant: variant.clone(),
            api: "poll".into(),
            trigger: Some("level".into()),
            answer: answer.into(),
        };
        let due = ["poll", "poll-events0"].map(|api| Key {
            variant: variant.clone(),
            api: api.into(),
            trigger: Some("level"),
        });
        let performance = Performance { observations: vec![observed], trace: vec![trace.into()] };
        let answers = Answers::built_in_of(Os::Linux, &[]).unwrap();
        let measured = answers.systems().next().and_then(|(_, all)| all[0].source.version.clone());
        judge(&ROW, &due, performance, ended, (&answers, Os::Linux, measured.as_ref()))
    }

    #[test]
    fn what_the_line_asks_for_and_nobody_answers_is_a_failure() {
        let ran = judged("HUP", "look at own -> poll@level: HUP", Ok(()));
        assert_eq!(ran.status, Status::Fail);
        assert_eq!(
            ran.reason.as_deref(),
            Some("poll-events0@level read-end-drained: asked, and not answered")
        );
        assert_eq!(ran.checks.iter().filter(|check| !check.holds).count(), 1);
    }

    #[test]
    fn what_was_left_out_is_not_missed() {
        let ran = judged("HUP", "look at conn -> left out: there is no 'conn'", Ok(()));
        assert_eq!((ran.status, ran.checks.len()), (Status::Pass, 1));
    }

    #[test]
    fn a_line_that_stops_says_why_unless_an_answer_before_was_wrong() {
        let stopped = || Err(Stopped::Unsupported("not here".into()));
        let ran = judged("HUP", "", stopped());
        assert_eq!((ran.status, ran.reason.as_deref()), (Status::Unsupported, Some("not here")));
        assert_eq!(judged("HUP", "", Err(Stopped::Broken("no pipe".into()))).status, Status::Broken);
        let ran = judged("OUT", "", stopped());
        assert_eq!(ran.status, Status::Fail);
        assert!(ran.reason.is_some_and(|reason| reason.contains("expected HUP, observed OUT")));
    }
}
