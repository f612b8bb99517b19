//! Results: their types, their JSON schema, and every form in which they are shown.
//!
//! [`Results`] is what `results.json` holds. One process answers with an [`Attempt`]; the attempts at one cell
//! become its [`CellResult`]. [`Grid`] counts them for the tables; [`markdown`], [`junit`] and [`terminal`]
//! write them.

mod attempt;
mod cell;
mod grid;
pub mod junit;
pub mod markdown;
mod results;
mod seed;
mod status;
pub mod terminal;

pub use attempt::{Attempt, Check};
pub use cell::{Attempts, CellResult, Subject, VariantParams};
pub use grid::{Grid, Tally};
pub use results::{Results, Run, SCHEMA_VERSION, schema};
pub use seed::{ParseSeedError, Seed};
pub use status::Status;
