//! The catalogue: one entry per scenario.

mod edges;
mod files;
mod readiness;
mod registration;
mod states;

use selector::Mode;

use crate::Row;

/// Every row that is a scenario, family by family, in the order of the catalogue.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

const FAMILIES: &[&[Row]] = &[readiness::ROWS, states::ROWS, files::ROWS, edges::ROWS, registration::ROWS];

/// A row of the catalogue, or a part of one, that is no scenario.
#[derive(Clone, Copy, Debug)]
pub struct Unscripted {
    /// The row, or one of its published answers: `F08`, `V30 tcp kqueue@level`. `*` stands for anything.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
}

/// Everything that is no scenario, with the reason.
pub fn unscripted() -> &'static [Unscripted] {
    &[]
}

/// Level and edge: what is there, and what is new.
const BOTH: &[Mode] = &[Mode::Level, Mode::Edge];

/// What is there.
const LEVEL: &[Mode] = &[Mode::Level];

/// Once, until it is modified.
const ONCE: &[Mode] = &[Mode::OneShot, Mode::Dispatch];

/// What is new.
const EDGE: &[Mode] = &[Mode::Edge];
