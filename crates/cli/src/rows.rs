//! The rows of the characterisation: what matrix.yml leaves to them, and one of them performed and judged.

use characterisation::{Key, Observation, Performance, Row, Setting, Stopped, Transport, keys, rows};
use expectations::{Answers, Version};
use matrix::{Described, Layer, Os, Trigger, Variant};
use report::{Asked, Status};
use selector::Mode;

use crate::backends::Poller;
use crate::catalogue::Ran;
use crate::command::quoted;
use crate::error::Error;
use crate::{expected, subject};

/// The rows as matrix.yml names them.
pub fn described() -> Vec<Described> {
    let described = |row: &Row| Described {
        id: row.id.to_owned(),
        title: row.question.to_owned(),
        layer: Layer::Characterisation,
        transports: transports(row).collect(),
        triggers: triggers(row).collect(),
    };
    rows().map(described).collect()
}

/// The row's transports, by what matrix.yml calls them.
pub fn transports(row: &Row) -> impl Iterator<Item = matrix::Transport> {
    row.transports.iter().filter_map(|transport| transport.name().parse().ok())
}

/// The row's modes, by what matrix.yml calls them.
pub fn triggers(row: &Row) -> impl Iterator<Item = Trigger> {
    row.modes.iter().filter_map(|mode| trigger(*mode))
}

/// The row that is this scenario.
pub fn find(scenario: &str) -> Option<&'static Row> {
    rows().find(|row| row.id == scenario)
}

/// The modes, by what matrix.yml calls them.
const MODES: [(Trigger, Mode); 6] = [
    (Trigger::Level, Mode::Level),
    (Trigger::Edge, Mode::Edge),
    (Trigger::OneShot, Mode::OneShot),
    (Trigger::Dispatch, Mode::Dispatch),
    (Trigger::Exclusive, Mode::Exclusive),
    (Trigger::ExclusiveEdge, Mode::ExclusiveEdge),
];

/// What matrix.yml calls this mode.
pub fn trigger(mode: Mode) -> Option<Trigger> {
    MODES.iter().find(|(_, known)| *known == mode).map(|(trigger, _)| *trigger)
}

/// The mode that matrix.yml calls so.
pub fn mode(trigger: Trigger) -> Mode {
    MODES.iter().find(|(known, _)| *known == trigger).map_or(Mode::Level, |(_, mode)| *mode)
}

/// The transport that matrix.yml calls so.
pub fn transport(transport: matrix::Transport) -> Transport {
    let known = |known: &Transport| known.name() == transport.name();
    Transport::ALL.into_iter().find(known).unwrap_or(Transport::None)
}

/// Performs the row's line once in this process, and compares every answer with what is expected here.
pub fn run(row: &Row, variant: Variant, poller: Poller, seed: u64) -> Result<Ran, Error> {
    let make = poller.make;
    let (transport, mode) = (transport(variant.transport), mode(variant.trigger));
    let (performance, ended) = characterisation::perform(row.verbs, Setting { transport, mode, make, seed });
    let due = match (row.verbs.parse(), make()) {
        (Ok(line), Ok(poller)) => keys(&line, transport, mode, poller.name(), poller.views(mode)),
        // The performance has said so.
        _ => Vec::new(),
    };
    let (answers, version) = (expected::answers()?, expected::version());
    Ok(match expected::os() {
        Some(os) => {
            let mut ran = judge(row, &due, performance, ended, (answers, os, version.as_ref()));
            ran.notes.insert(0, format!("alone: {}", probe(row, variant, poller.name)));
            ran
        }
        None => broken("no expectations are kept for this system".into()),
    })
}

/// The command that performs the line again and judges nothing.
fn probe(row: &Row, variant: Variant, backend: &str) -> String {
    let Variant { transport, trigger, .. } = variant;
    let line = quoted(&[row.verbs.to_owned()]);
    format!(
        "pollmatrix probe {line} --backend {backend} --transport {transport} --mode {trigger}{}",
        subject::option(backend)
    )
}

fn broken(reason: String) -> Ran {
    Ran { status: Status::Broken, reason: Some(reason), ..Ran::default() }
}

/// What a performance came to. `due` are the answers that the line asks for.
fn judge(
    row: &Row,
    due: &[Key],
    performance: Performance,
    ended: Result<(), Stopped>,
    (answers, os, version): (&Answers, Os, Option<&Version>),
) -> Ran {
    let asked = |Observation { variant, api, trigger, answer }| {
        (Asked { row: row.row.to_owned(), variant, api, trigger }, answer)
    };
    let mut observed = answers.observed(os, version, performance.observations.into_iter().map(asked));
    if ended.is_ok() {
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
            let why = "the line asks this poller nothing: what it asks for is kept in this program";
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
