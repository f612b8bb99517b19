//! The core's own word for the mode of a cell.

use fd_core::poller::Trigger;
use metadata::Mode;

use crate::test_context::Failure;

/// The trigger that registrations of the core have in cells of this mode. The core has these two.
pub(crate) fn of(mode: Mode) -> Result<Trigger, Failure> {
    match mode {
        Mode::Level => Ok(Trigger::Level),
        Mode::Edge => Ok(Trigger::Edge),
        Mode::OneShot | Mode::Dispatch | Mode::Exclusive | Mode::ExclusiveEdge => {
            Err(Failure::Unsupported(format!("the core has no registrations with the trigger {mode}")))
        }
    }
}
