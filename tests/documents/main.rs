//! The documents against the tree: citations are defined, links lead somewhere, generated pages are current, and the commands of
//! the README and the tutorial exist.

mod citations;
mod generated;
mod links;
mod readme;
mod tree;
mod tutorial;
