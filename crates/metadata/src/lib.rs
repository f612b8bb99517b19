//! The types that all crates of the workspace share, and the contents of `results.json`.
//!
//! A cell is one scenario on one backend with one set of parameters. Its [`CellId`] names it. Its [`Variant`]
//! holds the parameters, among them a [`Transport`] and a [`Mode`]. Its [`Layer`] states whether the cell
//! must hold on every system.
//!
//! One process produces one [`Attempt`]: a list of [`Check`]s and a [`Status`]. The attempts at one cell are
//! combined into a [`CellResult`], and the cells of a run into [`Results`]. [`schema`] returns the JSON
//! schema of the results file, and [`Results::read`] reads every version of that file.
//!
//! This crate depends on no other crate of the workspace. Without the feature `results` it contains only the
//! types that the pollers need.

#![cfg_attr(not(feature = "results"), allow(rustdoc::broken_intra_doc_links))]

mod axes;
mod bounded;
mod cell_id;
mod description;
mod named;
mod nearest;
#[cfg(feature = "results")]
mod results;
mod variant;

pub use axes::{Layer, Mode, Os, Transport};
pub use bounded::{read_at_most, read_text};
pub use cell_id::{CellId, ParseCellIdError};
pub use description::{Axes, Description};
pub use nearest::{did_you_mean, nearest};
#[cfg(feature = "results")]
pub use results::*;
pub use variant::{ParseVariantError, Variant};
