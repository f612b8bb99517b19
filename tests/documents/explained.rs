//! The scenario in docs/scenarios.md equals the one in the tree.

use crate::tree::{blocks, read};

#[test]
fn the_explained_scenario_equals_the_one_in_the_tree() {
    let page = read("docs/scenarios.md");
    let scenario = read("crates/matrix/scenarios/src/regression/busy_thread_keeps_others_awake.rs");
    assert_eq!(blocks(&page, "rust"), [scenario], "docs/scenarios.md shows a different text");
}

#[test]
fn the_shown_entry_is_in_the_matrix_file() {
    let page = read("docs/scenarios.md");
    let [entry] = blocks(&page, "yaml")[..] else { panic!("the page does not show exactly one entry") };
    assert!(read("matrix.yml").contains(entry), "matrix.yml has no such entry:\n{entry}");
}
