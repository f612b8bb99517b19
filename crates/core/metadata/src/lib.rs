//! The types that all crates of the workspace share, and the contents of `results.json`.
//!
//! A cell is one scenario on one backend with one set of parameters. Its [`CellId`] names it. Its [`Variant`]
//! holds the parameters, among them a [`Transport`] and a [`Mode`]. Its [`Layer`] states whether the cell
//! must hold on every system.
//!
//! One process produces one [`Attempt`]: a list of [`Check`]s and a [`Status`]. The attempts at one cell are
//! combined into a [`CellResult`], and the cells of a run into [`Results`]. [`Results::read`] reads every
//! version of the results file.
//!
//! This crate depends on no other crate of the workspace. Without the feature `results` it contains only the
//! types that the pollers need.

#![cfg_attr(not(feature = "results"), allow(rustdoc::broken_intra_doc_links))]

mod answer;
mod axes;
mod bounded;
mod cell_id;
mod column;
mod defect;
mod description;
mod difference;
mod named;
mod nearest;
mod path_names;
pub mod peers;
#[cfg(feature = "results")]
mod results;
#[cfg(any(test, feature = "schema"))]
pub mod schema;
mod start_error;
mod variant;

pub use answer::{Answer, Outcome, Part, STALE_TOKEN, is_silence};
pub use axes::{Layer, Mode, Os, Transport};
pub use bounded::{read_at_most, read_text};
pub use cell_id::{CellId, ParseCellIdError};
pub use column::{Column, Interest, Interface, Meaning, PollBits, Report, Said, WORDLESS, Word, is_errno};
pub use defect::Defect;
pub use description::{Axes, Description, Scripted};
pub use difference::Difference;
pub use nearest::{did_you_mean, nearest};
pub use path_names::{PATH_NAME_HELP, is_path_name};
#[cfg(feature = "results")]
pub use results::*;
pub use start_error::start_error;
pub use variant::{ParseVariantError, Variant};
