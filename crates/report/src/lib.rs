//! Every form in which results are shown, and what several of them come to.
//!
//! [`Results`](metadata::Results) are what `results.json` holds. [`merge()`] joins those of several runs, [`Diff`] compares
//! two. [`Grid`] counts them for the tables; [`html`], [`markdown`], [`junit`] and [`terminal`] write them;
//! [`Conformance`] is the headline of a backend.

mod conformance;
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
pub use diff::{Changed, Diff, Direction, Lone, Lost};
pub use grid::{Column, Grid, Tally};
pub use merge::{Conflict, Input, MergeError, Merged, Prefer, Rules, merge};
pub use pages::{PROVENANCE, Page, SameSystem, pages};
pub use text::first_line;
