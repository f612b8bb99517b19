//! The words that every crate of the workspace uses, and what `results.json` holds.
//!
//! A cell is one scenario on one backend with one set of parameters: its [`CellId`] names it, its [`Variant`] has the
//! parameters, a [`Transport`] and a [`Mode`] among them, and its [`Layer`] says whether it must hold everywhere. One
//! process answers with an [`Attempt`], which is a list of [`Check`]s and a [`Status`]; the attempts at one cell become its
//! [`CellResult`], and those of a run its [`Results`]. [`schema`] is the JSON schema of the file that they are written to,
//! [`Results::read`] reads every version of it.
//!
//! This crate depends on no other one of the workspace. Without the feature `results` it has only the words that the pollers
//! need.

#![cfg_attr(not(feature = "results"), allow(rustdoc::broken_intra_doc_links))]

mod axes;
mod cell_id;
mod description;
mod named;
mod nearest;
#[cfg(feature = "results")]
mod results;
mod variant;

pub use axes::{Layer, Mode, Os, Transport};
pub use cell_id::{CellId, ParseCellIdError};
pub use description::{Axes, Description};
pub use nearest::{did_you_mean, nearest};
#[cfg(feature = "results")]
pub use results::*;
pub use variant::{ParseVariantError, Variant};
