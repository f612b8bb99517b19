//! The tests and models in the history of defects exist.

use scenarios::history::{Coverage, history};

use crate::tree::files;

#[test]
fn every_test_and_model_in_the_history_exists() {
    let sources: String = files(&["rs"]).into_iter().map(|file| file.text).collect();
    let missing: Vec<_> = history()
        .unwrap_or_else(|error| panic!("{error:?}"))
        .into_iter()
        .filter(|defect| matches!(defect.coverage, Coverage::Model | Coverage::UnitTest))
        .flat_map(|defect| defect.names.into_iter().map(move |name| (defect.name, name)))
        .filter(|(_, name)| !sources.contains(&format!("fn {name}()")))
        .collect();
    assert!(missing.is_empty(), "no such test: {missing:#?}");
}
