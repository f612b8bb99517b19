//! Compares the documents with the tree: the picture of the crates matches their dependencies, the index of
//! the findings is complete, the commands of the README and the tutorial exist. `lint` has the rules of the
//! text itself.

mod architecture;
mod arrival;
mod circles;
mod citations;
mod dependencies;
mod explained;
mod findings;
mod links;
mod lint;
mod readme;
mod tree;
mod tutorial;
mod your_ci;
