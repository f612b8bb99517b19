//! Reads `matrix.yml`, lists its cells, and generates files from it.
//!
//! - [`Matrix::parse`] reads the file and combines it with the descriptions of a catalogue of scenarios.
//! - [`Matrix::cells`] lists the cells.
//! - [`Selection`] narrows the list to the cells that a user selects, or to one machine's [`Shard`].
//! - [`workflow_file`] writes the CI workflow that runs the matrix on every machine.
//! - [`cross_file`] and [`targets_file`] list the targets for other tools.
//!
//! This module depends neither on the scenarios nor on the core: [`crate::cell`] maps the names in the file
//! to code.

mod axes;
mod cells;
mod ci;
mod cross;
mod entries;
mod error;
mod file;
mod read;
mod runners;
mod select;
mod shard;
mod templates;
mod validate;
mod workflow;
mod yaml;

pub use axes::{Build, Vm};
pub use cells::Cell;
pub use ci::Ci;
pub use cross::{cross_file, targets_file};
pub use error::MatrixError;
pub use file::{Backend, Exclude, Matrix, Scenario, Target};
pub use runners::Runner;
pub use select::{SelectError, Selection, matches_filter};
pub use shard::{Shard, ShardError};
pub use workflow::{linter_file, workflow_file};
pub use yaml::{YamlError, read_yaml};
