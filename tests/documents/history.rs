//! The tests and models that the history of mistakes names exist.

use scenarios::history::{Seen, history};

use crate::tree::files;

#[test]
fn every_test_and_model_that_the_history_names_exists() {
    let sources: String = files(&["rs"]).into_iter().map(|file| file.text).collect();
    let missing: Vec<_> = history()
        .iter()
        .filter(|row| matches!(row.seen, Seen::Model(..) | Seen::UnitTest(..)))
        .flat_map(|row| row.seen.names().iter().map(|name| (row.name(), *name)))
        .filter(|(_, name)| !sources.contains(&format!("fn {name}()")))
        .collect();
    assert!(missing.is_empty(), "no such test: {missing:#?}");
}
