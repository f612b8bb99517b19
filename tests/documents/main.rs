//! The documents against the tree: citations are defined, links lead somewhere, generated pages are current, the picture of the
//! crates is true, and the commands of the README and the tutorial exist.

mod architecture;
mod citations;
mod explained;
mod generated;
mod history;
mod links;
mod readme;
mod tree;
mod tutorial;
