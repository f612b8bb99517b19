//! The history of mistakes names tests and models: they exist.

use std::path::Path;

use scenarios::history::{Seen, history};

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
