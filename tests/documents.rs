//! What documents show of the code is the code.

#[test]
fn the_scenario_that_is_explained_is_the_one_that_is_run() {
    let page = include_str!("../docs/scenarios.md");
    let scenario = include_str!("../crates/scenarios/src/regression/busy_thread_keeps_others_awake.rs");
    assert!(page.contains(&format!("```rust\n{scenario}```\n")), "docs/scenarios.md shows another one");
}
