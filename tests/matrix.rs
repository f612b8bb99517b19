//! Every cell of matrix.yml in a test. Each cell is one process, as in `pollmatrix run`.
//! `tests/cells/build.rs` writes the tests when they are built.

use ::matrix::testing::CellRunner;
use rstest::{fixture, rstest};

#[fixture]
fn runner() -> CellRunner {
    CellRunner::new(pollmatrix::lab::environment(), env!("CARGO_BIN_EXE_pollmatrix"))
}

cells::every_cell!();
