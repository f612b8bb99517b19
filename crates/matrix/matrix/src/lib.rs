//! Runs cells, one process each, and collects their results.
//!
//! From the bottom up:
//!
//! - [`plan`] lists the cells, and which of them this machine can run.
//! - [`cell`] runs one cell in the calling process.
//! - [`supervise`] starts a process for a cell, limits it, and judges its exit.
//! - [`worker`] talks to a process in lines.
//! - [`schedule`] runs many cells in parallel.
//! - [`vm`] runs virtual machines, and [`guest`] is the part in them.
//! - [`runners`] prepares the command that starts an executor: native, prefix, container, vm, ssh, import.
//! - [`remote`] talks to an executor in the lines of [`stream`].
//! - [`session`] runs the cells of one target, with a [`journal`] to resume from, and writes a
//!   [`report_dir`].
//!
//! All of them share an [`Environment`], which is passed as an argument.

pub mod backends;
pub mod cell;
pub mod command;
pub mod descriptor_limits;
pub mod diagnostics;
pub mod environment;
mod error;
pub mod executable;
pub mod exit;
pub mod faults;
pub mod guest;
pub mod journal;
pub mod json_lines;
mod left_behind;
pub mod lifeline;
mod matrix_yml;
pub mod outcome;
pub mod output;
pub mod pipes;
pub mod plan;
pub mod progress;
pub mod provenance;
pub mod remote;
pub mod report_dir;
pub mod runners;
pub mod schedule;
pub mod self_start;
mod selftest;
pub mod session;
pub mod signals;
pub mod stream;
pub mod supervise;
pub mod system;
pub mod testing;
pub mod vm;
pub mod worker;

pub use environment::{Environment, Lab};
pub use error::{Error, REPORT_DIR_HELP, REPORT_FILE_HELP};
pub use matrix_yml::{
    Backend, Build, Cell, Ci, Exclude, Matrix, MatrixError, Runner, Scenario, SelectError, Selection, Shard,
    ShardError, Target, Vm, YamlError, cross_file, linter_file, matches_filter, read_yaml, targets_file,
    workflow_file,
};
