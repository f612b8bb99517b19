//! Renders, merges and compares results.
//!
//! [`Results`](metadata::Results) are the contents of `results.json`. [`merge()`] joins the results of
//! several runs, and [`Diff`] compares two. [`Grid`] counts cells for the tables. [`html`], [`markdown`],
//! [`junit`] and [`terminal`] render the reports. [`Conformance`] is the summary of one backend. [`curves`]
//! draws what operations cost.

mod conformance;
mod costs;
pub mod curves;
mod diff;
mod grid;
#[cfg(test)]
mod hostile;
pub mod html;
pub mod junit;
pub mod markdown;
mod merge;
mod pages;
#[cfg(test)]
mod samples;
pub mod terminal;
mod text;

pub use conformance::{Conformance, Verdict};
pub use costs::{ChangedCost, CostDiff, LostCost};
pub use diff::{Changed, Diff, Direction, UnmatchedCell, UnmatchedTarget};
pub use grid::{Column, Grid, Tally};
pub use merge::{Conflict, Input, MergeError, Merged, Prefer, Rules, merge};
pub use pages::{Page, pages};
pub use text::first_line;
