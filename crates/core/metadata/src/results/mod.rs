//! The contents of `results.json`: attempts at cells, and the results combined from them.

mod attempt;
mod cell;
mod cost;
mod evidence;
mod file;
mod names;
mod read;
mod run_spec;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod scenario;
mod seed;
mod status;
mod timeline;
mod visible;

pub use attempt::{Asked, Attempt, Check, api_and_trigger, is_api_of};
pub use cell::{Attempts, CellResult, PlannedCell};
pub use cost::{Calls, Cost, CostKey, CostOutcome};
pub use evidence::Evidence;
pub use file::{NotRun, Results, Run, SCHEMA_VERSION, disturbance, is_gvisor, names_gvisor};
pub use names::{PathNameError, PathNames, check_path_name};
pub use read::ReadError;
pub use run_spec::RunSpec;
pub use scenario::{Link, Scenario};
pub use seed::{ParseSeedError, Seed};
pub use status::Status;
pub use timeline::{Act, Event, Lane, Timeline};
pub use visible::{json, json_line, one_line, visible};
