//! The catalogue: one entry per scenario.

mod readiness;

use selector::Mode;

use crate::{Row, Transport};

/// Every row that is a scenario, family by family, in the order of the catalogue.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

const FAMILIES: &[&[Row]] = &[readiness::ROWS];

/// A row of the catalogue that is no scenario.
#[derive(Clone, Copy, Debug)]
pub struct Unscripted {
    /// The row: `F08`.
    pub row: &'static str,
    /// Why.
    pub why: &'static str,
}

/// Every row, or part of one, that cannot be a scenario.
pub fn unscripted() -> &'static [Unscripted] {
    &[]
}

/// Level and edge: what is there, and what is new.
const BOTH: &[Mode] = &[Mode::Level, Mode::Edge];

/// What is there.
const LEVEL: &[Mode] = &[Mode::Level];

/// What is new.
const EDGE: &[Mode] = &[Mode::Edge];
