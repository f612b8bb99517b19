//! Translates the mode of a cell into the core's trigger.

use fd_core::poller::Trigger;
use metadata::Mode;

use crate::failure::{Failure, Result};

/// Returns the trigger that the core's registrations have in cells of this mode. The core supports level and
/// edge.
pub(crate) fn from_mode(mode: Mode) -> Result<Trigger> {
    match mode {
        Mode::Level => Ok(Trigger::Level),
        Mode::Edge => Ok(Trigger::Edge),
        Mode::OneShot | Mode::Dispatch | Mode::Exclusive | Mode::ExclusiveEdge => {
            Err(Failure::Unsupported(format!("the core has no registrations with the trigger {mode}")))
        }
    }
}
