//! Exit codes: part of the interface.

use metadata::Status;

/// Some cell failed.
pub const FAILED: u8 = 1;
/// Wrong usage, a matrix file that is wrong, or a report that cannot be written.
pub const ERROR: u8 = 2;
/// `run-cell`: the set-up failed.
pub const CELL_BROKEN: u8 = 3;
/// `run-cell`: this backend or system cannot do it.
pub const CELL_UNSUPPORTED: u8 = 127;
/// Added to a signal's number.
pub const SIGNAL: u8 = 128;

/// The exit code of a cell that ended so.
pub fn of_cell(status: Status) -> u8 {
    match status {
        Status::Pass | Status::Permitted => 0,
        Status::Unsupported => CELL_UNSUPPORTED,
        Status::Broken => CELL_BROKEN,
        _ => FAILED,
    }
}
