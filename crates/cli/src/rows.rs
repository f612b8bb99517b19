//! The rows of the characterisation: what matrix.yml leaves to them, and one of them performed and judged.

use characterisation::{Observation, Performance, Row, Setting, Stopped, Transport, rows};
use expectations::{Answers, Version};
use matrix::{Described, Layer, Os, Trigger, Variant};
use report::{Asked, Status};
use selector::{MakeSelector, Mode};

use crate::catalogue::Ran;
use crate::error::Error;
use crate::expected;

/// The rows as matrix.yml names them.
pub fn described() -> Vec<Described> {
    let described = |row: &Row| Described {
        id: row.id.to_owned(),
        title: row.question.to_owned(),
        layer: Layer::Characterisation,
        transports: row.transports.iter().filter_map(|transport| transport.name().parse().ok()).collect(),
        triggers: row.modes.iter().filter_map(|mode| trigger(*mode)).collect(),
    };
    rows().iter().map(described).collect()
}

/// The row that is this scenario.
pub fn find(scenario: &str) -> Option<&'static Row> {
    rows().iter().find(|row| row.id == scenario)
}

/// What matrix.yml calls it. The other modes are asked for by a line itself.
fn trigger(mode: Mode) -> Option<Trigger> {
    match mode {
        Mode::Level => Some(Trigger::Level),
        Mode::Edge => Some(Trigger::Edge),
        _ => None,
    }
}

/// Performs the row's line once in this process, and compares every answer with what is expected here.
pub fn run(row: &Row, variant: Variant, make: MakeSelector, seed: u64) -> Result<Ran, Error> {
    let known = |transport: &Transport| transport.name() == variant.transport.name();
    let transport = Transport::ALL.into_iter().find(known).unwrap_or(Transport::None);
    let mode = match variant.trigger {
        Trigger::Level => Mode::Level,
        Trigger::Edge => Mode::Edge,
    };
    let (performance, ended) = characterisation::perform(row.verbs, Setting { transport, mode, make, seed });
    let views: Vec<_> = match make() {
        Ok(selector) => selector.views(mode).iter().map(|view| view.api).collect(),
        Err(_) => Vec::new(),
    };
    let (answers, version) = (expected::answers()?, expected::version());
    Ok(match expected::os() {
        Some(os) => judge(row, &views, performance, ended, (answers, os, version.as_ref())),
        None => broken("nothing is known of this system".into()),
    })
}

fn broken(reason: String) -> Ran {
    Ran { status: Status::Broken, reason: Some(reason), ..Ran::default() }
}

/// What a performance came to. `views` are the ways in which this poller is asked about a state.
fn judge(
    row: &Row,
    views: &[&str],
    performance: Performance,
    ended: Result<(), Stopped>,
    (answers, os, version): (&Answers, Os, Option<&Version>),
) -> Ran {
    let asked = |observation: Observation| {
        let Observation { variant, api, trigger, answer } = observation;
        (Asked { row: row.row.to_owned(), variant, api, trigger }, answer)
    };
    let mut observed = answers.observed(os, version, performance.observations.into_iter().map(asked));
    if ended.is_ok() {
        let states: Vec<_> = observed.checks.iter().filter_map(|check| check.asked.clone()).collect();
        let is_due = |expected: &&expectations::Answer| {
            views.contains(&expected.api.as_str())
                && states.iter().any(|seen| seen.variant == expected.variant && seen.trigger == expected.trigger)
        };
        let due: Vec<_> = answers.of_row(os, version, row.row).filter(is_due).collect();
        for expected in due {
            if !observed.answers(expected) {
                observed.miss(expected);
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
            (Status::Broken, Some("the line observes nothing".into()))
        }
        (judged, Ok(())) => judged,
    };
    let mut notes = vec![format!("the line: {}", row.verbs)];
    notes.extend(performance.trace);
    let unknown = Some(("unknown".to_owned(), observed.unknown)).filter(|(_, count)| *count > 0);
    Ran { status, reason, checks: observed.checks, counters: unknown.into_iter().collect(), notes }
}
