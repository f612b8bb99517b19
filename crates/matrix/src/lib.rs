//! `matrix.yml`, the cells it stands for, and what is generated from it.
//!
//! [`Matrix::parse`] reads the file and takes what each scenario is about from a catalogue, [`Matrix::cells`] lists what
//! that stands for, [`Selection`] narrows that list down by what a person typed or to one machine's [`Shard`]. [`rstest_file`] writes the test file with one case
//! per cell, [`workflow_file`] the workflow that runs the matrix on every machine it can get, [`cross_file`] and
//! [`targets_file`] what other tools need to know of the targets.
//!
//! This crate knows neither the scenarios nor the core: the binary joins the names that it reads here with the
//! code that they stand for.

mod axes;
mod cells;
mod ci;
mod cross;
mod entries;
mod error;
mod file;
mod read;
mod rstest;
mod select;
mod shard;
mod templates;
mod validate;
mod ways;
mod workflow;
mod yaml;

pub use axes::{Build, Vm};
pub use cells::Cell;
pub use ci::Ci;
pub use cross::{cross_file, targets_file};
pub use error::MatrixError;
pub use file::{Backend, Exclude, Matrix, Scenario, Target};
pub use rstest::rstest_file;
pub use select::{SelectError, Selection};
pub use shard::{Durations, Shard, ShardError};
pub use ways::Way;
pub use workflow::{linter_file, workflow_file};
pub use yaml::{END, YamlError, read_yaml};
