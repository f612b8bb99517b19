//! Runs cells, each in a process of its own, and hands over their results.
//!
//! From the bottom up: [`plan`] says which cells there are and which of them this machine can run; [`cell`] runs one of them in
//! this very process; [`supervise`] starts such a process, limits it and judges its end; [`schedule`] runs many at a time.
//! [`ways`] prepare a command that starts an executor elsewhere, [`remote`] talks to it in the lines of [`stream`]. A
//! [`session`] is a run of one target with its [`journal`], so that it can be resumed, and ends in a report [`folder`].
//!
//! What all of them share is an [`Environment`], which is passed.

pub mod backends;
pub mod cell;
pub mod command;
pub mod environment;
mod error;
pub mod executable;
pub mod exit;
pub mod faults;
pub mod folder;
pub mod journal;
pub mod lifeline;
pub mod limits;
pub mod lines;
pub mod notes;
pub mod output;
pub mod pipes;
pub mod plan;
pub mod progress;
pub mod provenance;
pub mod ran;
pub mod remote;
pub mod rows;
pub mod schedule;
pub mod self_start;
mod selftest;
pub mod session;
pub mod signals;
pub mod stream;
pub mod supervise;
pub mod testing;
pub mod ways;

pub use environment::Environment;
pub use error::{Error, REPORT_DIR_HELP};
