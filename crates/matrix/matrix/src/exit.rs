//! Exit codes, which are part of the interface.

use metadata::Status;

/// Some cell failed.
pub const FAILED: u8 = 1;
/// Wrong usage, a malformed matrix file, or a report that cannot be written.
pub const ERROR: u8 = 2;
/// `worker cell`: the set-up failed.
pub const CELL_BROKEN: u8 = 3;
/// `worker guard`: the virtual machine does not boot.
pub const CANNOT_BOOT: u8 = 125;
/// `worker cell`: this backend or system lacks a required feature.
pub const CELL_UNSUPPORTED: u8 = 127;
/// The base of exit codes for signals: the signal's number is added.
pub const SIGNAL: u8 = 128;

/// Returns the exit code of a cell with this status.
pub fn of_cell(status: Status) -> u8 {
    match status {
        Status::Pass | Status::Permitted | Status::KnownFail => 0,
        Status::Unsupported => CELL_UNSUPPORTED,
        Status::Broken => CELL_BROKEN,
        _ => FAILED,
    }
}
