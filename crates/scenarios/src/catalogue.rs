//! The catalogue: what a scenario is, and the families that there are.

use metadata::{Axes, Description, Layer};

use crate::test_context::{Failure, TestContext};
use crate::{deletion, harness, lifecycle, migration, polling, regression, shared_listener};

/// One scenario.
pub struct Scenario {
    /// `group/name`, lower case, never re-used.
    pub id: &'static str,
    /// The property, as a sentence.
    pub title: &'static str,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The invariants and history rows that it checks: `S3`, `L5`, `bug 66`, `suspect 20`.
    pub clauses: &'static [&'static str],
    /// The parameters that it is meant for.
    pub axes: Axes<'static>,
    /// Runs it once.
    pub run: fn(&mut TestContext) -> Result<(), Failure>,
}

impl Scenario {
    /// What matrix.yml has to know of it.
    pub fn description(&self) -> Description {
        Description { id: self.id, title: self.title, layer: self.layer, axes: self.axes }
    }
}

/// Declares the scenarios of a family: a module for each, and the list of them. A scenario that is not here is not compiled.
macro_rules! family {
    ($($scenario:ident,)*) => {
        $(pub(crate) mod $scenario;)*

        /// The scenarios of this family.
        pub(crate) const SCENARIOS: &[$crate::Scenario] = &[$($scenario::SCENARIO),*];
    };
}
pub(crate) use family;

const FAMILIES: &[&[Scenario]] = &[
    harness::SCENARIOS,
    migration::SCENARIOS,
    shared_listener::SCENARIOS,
    deletion::SCENARIOS,
    regression::SCENARIOS,
    polling::SCENARIOS,
    lifecycle::SCENARIOS,
];

/// Every scenario, family by family.
pub fn catalogue() -> impl Iterator<Item = &'static Scenario> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The scenario with this id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    catalogue().find(|scenario| scenario.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_scenario_is_in_the_file_of_its_name() {
        for scenario in catalogue() {
            let file = format!("src/{}.rs", scenario.id.replace('-', "_"));
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
            let text = std::fs::read_to_string(path).unwrap_or_default();
            assert!(text.contains(&format!("\"{}\"", scenario.id)), "{} is not in {file}", scenario.id);
        }
    }

    #[test]
    fn no_id_is_there_twice() {
        let ids: BTreeSet<_> = catalogue().map(|scenario| scenario.id).collect();
        assert_eq!(ids.len(), catalogue().count());
    }

    /// The compiler does not see a file that no family names.
    #[test]
    fn every_file_with_a_scenario_is_in_its_family() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let known: BTreeSet<_> = catalogue().map(|scenario| scenario.id.replace('-', "_")).collect();
        let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for family in folders.filter(|path| path.is_dir()) {
            for file in std::fs::read_dir(&family).unwrap().map(|entry| entry.unwrap().path()) {
                let text = std::fs::read_to_string(&file).unwrap();
                let [family, name] = [&family, &file].map(|path| path.file_stem().unwrap().to_string_lossy());
                let is_known = known.contains(&format!("{family}/{name}"));
                assert_eq!(text.contains("const SCENARIO: Scenario"), is_known, "{}", file.display());
            }
        }
    }
}
