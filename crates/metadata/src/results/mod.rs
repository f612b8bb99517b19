//! What `results.json` holds: attempts at cells, and what they come to.

mod attempt;
mod cell;
mod evidence;
mod file;
mod read;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod scenario;
mod seed;
mod status;
mod visible;

pub use attempt::{Asked, Attempt, Check, api_and_trigger};
pub use cell::{Attempts, CellResult, Subject};
pub use evidence::Evidence;
pub use file::{NotRun, Results, Run, SCHEMA_VERSION, disturbance, schema};
pub use read::ReadError;
pub use scenario::{Link, Scenario};
pub use seed::{ParseSeedError, Seed};
pub use status::Status;
pub use visible::{json, json_line, one_line, visible};
