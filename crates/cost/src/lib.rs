//! Measures what the operations of pollers cost.
//!
//! - [`measure()`] measures one operation of one poller: the operation and its floor, alternately, and the
//!   median of the ratios of the pairs.
//! - [`Plan`] lists what is to be measured, and why a part of it cannot be.
//! - [`calls`] counts the system calls of a process that measures.
//!
//! The floor of an operation is the part that no poller can avoid. It is measured beside the operation, in
//! the same process and at the same time, so that a ratio means the same on a fast and on a slow machine.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]

pub mod arrays;
pub mod calls;
mod clock;
mod field;
mod floors;
mod library;
mod limits;
mod measure;
mod operations;
mod plan;
mod poller;
mod processors;
mod side;

pub use library::Library;
pub use limits::raise_descriptors;
pub use measure::{Effort, count, measure};
pub use plan::{Job, Plan, STEPS, thread_steps};
pub use poller::{Failure, MakePoller, Poller};
