//! `matrix.yml`, the cells it stands for, and what is generated from it.
//!
//! [`Matrix::parse`] reads the file, [`Matrix::cells`] lists what it stands for, [`Selection`] narrows that
//! list down by what a person typed, and [`rstest_file`] writes the test file with one case per cell.
//!
//! This crate knows neither the scenarios nor the core: the binary joins the names that it reads here with the
//! code that they stand for.

mod axes;
mod cells;
mod ci;
mod error;
mod file;
mod nearest;
mod rstest;
mod select;
mod validate;
mod ways;

pub use axes::{Build, Layer, Os, Transport, Trigger, Vm};
pub use cells::{Cell, CellId, ParseCellIdError, Variant};
pub use ci::Ci;
pub use error::MatrixError;
pub use file::{Axes, Backend, Exclude, Matrix, Scenario, Target};
pub use nearest::{did_you_mean, nearest};
pub use rstest::rstest_file;
pub use select::{SelectError, Selection};
pub use ways::Way;
