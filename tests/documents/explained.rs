//! The scenario that docs/scenarios.md explains is the one that runs.

use crate::tree::{blocks, read};

#[test]
fn the_explained_scenario_is_the_one_that_runs() {
    let page = read("docs/scenarios.md");
    let scenario = read("crates/scenarios/src/regression/busy_thread_keeps_others_awake.rs");
    assert_eq!(blocks(&page, "rust"), [scenario], "docs/scenarios.md shows another one");
}

/// The entry that the page shows is one of matrix.yml.
#[test]
fn the_shown_entry_is_in_the_matrix_file() {
    let page = read("docs/scenarios.md");
    let [entry] = blocks(&page, "yaml")[..] else { panic!("the page shows one entry") };
    assert!(read("matrix.yml").contains(entry), "matrix.yml has no such entry:\n{entry}");
}
