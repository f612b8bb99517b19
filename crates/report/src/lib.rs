//! Results: their types, their JSON schema, and every form in which they are shown.
//!
//! [`Results`] is what `results.json` holds. One process answers with an [`Attempt`]; the attempts at one cell
//! become its [`CellResult`]. [`merge()`] joins the results of several runs, [`Diff`] compares two. [`Grid`] counts
//! them for the tables; [`html`], [`markdown`], [`junit`] and [`terminal`] write them; [`Conformance`] is the
//! headline of a backend.

mod attempt;
mod cell;
mod conformance;
mod diff;
mod evidence;
mod grid;
#[cfg(test)]
mod hostile;
pub mod html;
pub mod junit;
pub mod markdown;
mod merge;
mod pages;
mod read;
mod results;
#[cfg(test)]
mod samples;
mod scenario;
mod seed;
mod status;
pub mod terminal;
mod text;

pub use attempt::{Asked, Attempt, Check};
pub use cell::{Attempts, CellResult, Subject, VariantParams};
pub use conformance::{Conformance, Verdict};
pub use diff::{Changed, Diff, Direction, Lone, Lost};
pub use evidence::Evidence;
pub use grid::{Column, Grid, Tally};
pub use merge::{Conflict, Input, MergeError, Merged, Prefer, Rules, merge};
pub use pages::{PROVENANCE, Page, SameSystem, pages};
pub use read::ReadError;
pub use results::{NotRun, Results, Run, SCHEMA_VERSION, disturbance, schema};
pub use scenario::{Link, Scenario};
pub use seed::{ParseSeedError, Seed};
pub use status::Status;
pub use text::{first_line, json, json_line, one_line, visible};
