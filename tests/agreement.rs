//! matrix.yml and the code must name the same scenarios: what one of them lacks would never be run, or would
//! be run as a broken cell. What documents show of the code must be the code.

use std::collections::BTreeMap;
use std::path::Path;

use matrix::Matrix;
use metadata::Layer;
use scenarios::history::{Seen, history};

const MATRIX: &str = include_str!("../matrix.yml");

/// Title and layer by id.
type Scenarios = BTreeMap<String, (String, &'static str)>;

fn in_the_matrix() -> Scenarios {
    // Without the rows: those are described by their catalogue alone.
    let matrix = Matrix::parse(MATRIX, "matrix.yml").expect("matrix.yml is well-formed");
    let scenarios = matrix.scenarios.into_iter();
    scenarios.map(|scenario| (scenario.id, (scenario.title, scenario.layer.name()))).collect()
}

fn in_the_catalogue() -> Scenarios {
    let layer = |layer| match layer {
        Layer::Contract => "contract",
        Layer::Characterisation => "characterisation",
    };
    let entry = |scenario: &scenarios::Scenario| (scenario.title.to_owned(), layer(scenario.layer));
    let scenarios: Vec<_> = scenarios::catalogue().iter().collect();
    let by_id: Scenarios =
        scenarios.iter().map(|scenario| (scenario.id.to_owned(), entry(scenario))).collect();
    assert_eq!(by_id.len(), scenarios.len(), "an id is in the catalogue twice");
    by_id
}

#[test]
fn the_matrix_and_the_catalogue_have_the_same_scenarios() {
    let (matrix, catalogue) = (in_the_matrix(), in_the_catalogue());
    let lacks = |here: &Scenarios, there: &Scenarios| -> Vec<String> {
        there.keys().filter(|id| !here.contains_key(*id)).cloned().collect()
    };
    let from_catalogue = lacks(&catalogue, &matrix);
    let from_matrix = lacks(&matrix, &catalogue);
    assert!(
        from_catalogue.is_empty() && from_matrix.is_empty(),
        "not in scenarios::catalogue(): {from_catalogue:#?}\nnot in matrix.yml: {from_matrix:#?}"
    );
}

#[test]
fn the_matrix_and_the_catalogue_have_the_same_titles_and_layers() {
    let (matrix, catalogue) = (in_the_matrix(), in_the_catalogue());
    let differences: Vec<_> = matrix
        .iter()
        .filter_map(|(id, here)| Some((id, here, catalogue.get(id)?)))
        .filter(|(_, here, there)| here != there)
        .map(|(id, here, there)| format!("{id}\n  matrix.yml: {here:?}\n  catalogue:  {there:?}"))
        .collect();
    assert!(differences.is_empty(), "they disagree on\n{}", differences.join("\n"));
}

/// All Rust below `folder`.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).expect("the crates are here") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            text += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &std::fs::read_to_string(&path).expect("a source can be read");
        }
    }
    text
}

#[test]
fn every_test_and_model_that_the_history_names_exists() {
    let sources = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
    let missing: Vec<_> = history()
        .iter()
        .filter(|row| matches!(row.seen, Seen::Model(..) | Seen::UnitTest(..)))
        .flat_map(|row| row.seen.names().iter().map(|name| (row.name(), *name)))
        .filter(|(_, name)| !sources.contains(&format!("fn {name}()")))
        .collect();
    assert!(missing.is_empty(), "no such test: {missing:#?}");
}

#[test]
fn the_scenario_that_is_explained_is_the_one_that_is_run() {
    let page = include_str!("../docs/scenarios.md");
    let scenario = include_str!("../crates/scenarios/src/regression/busy_thread_keeps_others_awake.rs");
    assert!(page.contains(&format!("```rust\n{scenario}```\n")), "docs/scenarios.md shows another one");
    let (_, entry) = MATRIX.split_once("  - id: regression/busy-thread-keeps-others-awake\n").unwrap();
    let entry = entry.split_once("  - id: ").map_or(entry, |(entry, _)| entry);
    assert!(page.contains(entry), "docs/scenarios.md shows another entry of matrix.yml:\n{entry}");
}
