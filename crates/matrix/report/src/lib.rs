//! Renders, merges and compares results.
//!
//! [`Results`](metadata::Results) are the contents of `results.json`. [`merge()`] joins the results of
//! several runs, and [`Diff`] compares two. [`Grid`] counts cells for the tables. [`html`], [`markdown`],
//! [`junit`] and [`terminal`] render the reports, [`timeline`] what the threads of a cell
//! did. [`Conformance`] is the summary of one backend.

mod conformance;
pub mod costs;
mod diff;
mod grid;
#[cfg(test)]
mod hostile;
pub mod html;
pub mod junit;
pub mod markdown;
mod merge;
#[cfg(test)]
mod samples;
pub mod sequence;
pub mod table;
pub mod terminal;
mod text;
pub mod timeline;

pub use conformance::{Conformance, Verdict};
pub use diff::{Changed, Diff, Direction, Grown, UnmatchedCell, UnmatchedTarget};
pub use grid::{Column, Grid, Tally};
pub use merge::{Conflict, Input, MergeError, Merged, Prefer, Rules, merge};
pub use text::{counted, first_line};
