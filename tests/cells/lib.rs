//! The cells of matrix.yml, for `tests/matrix.rs`.

include!(concat!(env!("OUT_DIR"), "/cells.rs"));
