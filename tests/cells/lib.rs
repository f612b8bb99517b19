//! The cells of matrix.yml, for `tests/matrix.rs`.
#![allow(clippy::crate_in_macro_def, reason = "the tests use the names of the file that calls the macro")]

include!(concat!(env!("OUT_DIR"), "/cells.rs"));
