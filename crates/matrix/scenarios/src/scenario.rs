//! What a scenario is, and how a family declares its scenarios.

use metadata::{Axes, Description, Layer};

use crate::failure::Result;
use crate::test_context::TestContext;

/// One scenario.
pub struct Scenario {
    /// `group/name` in lower case. An id is never reused.
    pub id: &'static str,
    /// The property, as a sentence.
    pub title: &'static str,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The invariants and history entries that it checks: `S3`, `L5`, `bug 66`, `suspect 20`.
    pub clauses: &'static [&'static str],
    /// The parameters that it is meant for.
    pub axes: Axes<'static>,
    /// Runs it once.
    pub run: fn(&mut TestContext) -> Result,
}

impl Scenario {
    /// Returns the part of the scenario that `matrix.yml` refers to.
    pub fn description(&self) -> Description {
        Description { id: self.id, title: self.title, layer: self.layer, axes: self.axes }
    }
}

/// Declares the scenarios of a family: a module for each, and the list of them. A file that is not listed is
/// not compiled.
macro_rules! family {
    ($($scenario:ident,)*) => {
        $(pub(crate) mod $scenario;)*

        /// The scenarios of this family.
        pub(crate) const SCENARIOS: &[$crate::Scenario] = &[$($scenario::SCENARIO),*];
    };
}
pub(crate) use family;
