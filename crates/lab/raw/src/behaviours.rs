//! The scenarios of the characterisation layer, one file per family of behaviours, and the behaviours without
//! one.

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

use metadata::Scripted;

pub use omissions::Omission;

/// Returns all scenarios, family by family, in the order of the catalogue.
pub fn scenarios() -> impl Iterator<Item = &'static Scripted> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Returns the scenario with this id.
pub fn find(id: &str) -> Option<&'static Scripted> {
    scenarios().find(|scenario| scenario.id == id)
}

const FAMILIES: &[&[Scripted]] = &[
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

/// Returns the behaviours and published answers that no script asks for, with the reasons.
pub fn omissions() -> &'static [Omission] {
    omissions::OMISSIONS
}

/// Level and edge mode.
const BOTH: &[Mode] = &[Mode::Level, Mode::Edge];

/// Level mode.
const LEVEL: &[Mode] = &[Mode::Level];

/// The modes that disable a registration after one event.
const ONCE: &[Mode] = &[Mode::OneShot, Mode::Dispatch];

/// Edge mode.
const EDGE: &[Mode] = &[Mode::Edge];
