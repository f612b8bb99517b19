//! Compares the documents with the tree: generated tables are current, the picture of the crates matches
//! their dependencies, the commands of the README and the tutorial exist. `lint` has the rules of the text
//! itself.

mod architecture;
mod arrival;
mod circles;
mod citations;
mod explained;
mod generated;
mod links;
mod lint;
mod readme;
mod tree;
mod tutorial;
