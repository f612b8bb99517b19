//! The harness itself.

pub(crate) mod control;
