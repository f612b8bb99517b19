//! The list of all scenarios, family by family.

use crate::scenario::Scenario;
use crate::{deletion, harness, lifecycle, migration, polling, regression, shared_listener};

const FAMILIES: &[&[Scenario]] = &[
    harness::SCENARIOS,
    migration::SCENARIOS,
    shared_listener::SCENARIOS,
    deletion::SCENARIOS,
    regression::SCENARIOS,
    polling::SCENARIOS,
    lifecycle::SCENARIOS,
];

/// Returns every scenario, family by family.
pub fn catalogue() -> impl Iterator<Item = &'static Scenario> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Returns the scenario with this id.
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
    fn ids_are_unique() {
        let ids: BTreeSet<_> = catalogue().map(|scenario| scenario.id).collect();
        assert_eq!(ids.len(), catalogue().count());
    }

    /// The compiler ignores a file that no family lists.
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
