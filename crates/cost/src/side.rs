//! One of the two things that are compared: an operation, or its floor.

use crate::clock::Stopwatch;
use crate::poller::Failure;

/// What one thread performs.
pub trait Side: Send {
    /// Returns how often a round performs it.
    fn per_round(&self) -> u32;

    /// Performs a round. Only its sections are measured: what prepares them is not.
    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure>;
}

/// The operation and its floor, for one thread.
pub type Sides = [Box<dyn Side>; 2];
