//! Compares the documents with the tree: citations are defined, links have targets, generated tables are
//! current, the picture of the crates matches their dependencies, and the commands of the README and the
//! tutorial exist.

mod architecture;
mod citations;
mod explained;
mod generated;
mod history;
mod links;
mod readme;
mod tree;
mod tutorial;
