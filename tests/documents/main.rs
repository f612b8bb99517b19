//! Compares the documents with the tree: citations are defined, links have targets, the picture of the crates
//! matches their dependencies, the commands of the README and the tutorial exist, comments keep to the width,
//! and the list of equivalent mutants names existing lines.

mod architecture;
mod citations;
mod explained;
mod findings;
mod history;
mod links;
mod readme;
mod sources;
mod tree;
mod tutorial;
