//! The catalogue: one entry per scenario.

mod edges;
mod files;
mod limits;
mod readiness;
mod registration;
mod sharing;
mod states;
mod time;
mod unscripted;
mod waiting;
mod waking;

use metadata::Mode;

use crate::Behaviour;

pub use unscripted::Unscripted;

/// Every row that is a scenario, family by family, in the order of the catalogue.
pub fn rows() -> impl Iterator<Item = &'static Behaviour> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The row that is this scenario.
pub fn find(scenario: &str) -> Option<&'static Behaviour> {
    rows().find(|row| row.id == scenario)
}

const FAMILIES: &[&[Behaviour]] = &[
    readiness::ROWS,
    states::ROWS,
    files::ROWS,
    edges::ROWS,
    registration::ROWS,
    waiting::ROWS,
    sharing::ROWS,
    waking::ROWS,
    time::ROWS,
    limits::ROWS,
];

/// Everything that is no scenario, with the reason.
pub fn unscripted() -> &'static [Unscripted] {
    unscripted::UNSCRIPTED
}

/// Level and edge: what is there, and what is new.
const BOTH: &[Mode] = &[Mode::Level, Mode::Edge];

/// What is there.
const LEVEL: &[Mode] = &[Mode::Level];

/// Once, until it is modified.
const ONCE: &[Mode] = &[Mode::OneShot, Mode::Dispatch];

/// What is new.
const EDGE: &[Mode] = &[Mode::Edge];
