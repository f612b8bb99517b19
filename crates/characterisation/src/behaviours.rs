//! The catalogue: one entry per scenario.

mod edges;
mod files;
mod limits;
mod omissions;
mod readiness;
mod registration;
mod sharing;
mod states;
mod time;
mod waiting;
mod waking;

use metadata::Mode;

use crate::Scenario;

pub use omissions::Omission;

/// Every row that is a scenario, family by family, in the order of the catalogue.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The row that is this scenario.
pub fn find(id: &str) -> Option<&'static Scenario> {
    scenarios().find(|scenario| scenario.id == id)
}

const FAMILIES: &[&[Scenario]] = &[
    readiness::SCENARIOS,
    states::SCENARIOS,
    files::SCENARIOS,
    edges::SCENARIOS,
    registration::SCENARIOS,
    waiting::SCENARIOS,
    sharing::SCENARIOS,
    waking::SCENARIOS,
    time::SCENARIOS,
    limits::SCENARIOS,
];

/// Everything that is no scenario, with the reason.
pub fn omissions() -> &'static [Omission] {
    omissions::OMISSIONS
}

/// Level and edge: what is there, and what is new.
const BOTH: &[Mode] = &[Mode::Level, Mode::Edge];

/// What is there.
const LEVEL: &[Mode] = &[Mode::Level];

/// Once, until it is modified.
const ONCE: &[Mode] = &[Mode::OneShot, Mode::Dispatch];

/// What is new.
const EDGE: &[Mode] = &[Mode::Edge];
