//! When an exploration ends.

use std::time::{Duration, Instant};

use matrix::signals::Stop;

/// The part of the duration after which no round begins. The rest is for the round in progress, and for the
/// questions of the catalogue.
const DRAWING: (u32, u32) = (3, 4);

/// The end of an exploration: a requested stop, or the end of its duration.
pub struct Limits<'a> {
    stop: &'a Stop,
    begun: Instant,
    /// `None`: without an end.
    duration: Option<Duration>,
}

impl<'a> Limits<'a> {
    /// Returns the limits of an exploration that begins now.
    pub fn of(stop: &'a Stop, duration: Option<Duration>) -> Self {
        Self { stop, begun: Instant::now(), duration }
    }

    /// Returns whether everything must end, without a result of what is in progress.
    pub fn are_over(&self) -> bool {
        self.stop.requested() || self.duration.is_some_and(|duration| self.begun.elapsed() >= duration)
    }

    /// Returns whether no round may begin.
    pub fn is_drawn(&self) -> bool {
        let (part, whole) = DRAWING;
        self.duration.is_some_and(|duration| self.begun.elapsed() >= duration / whole * part)
    }

    /// Returns the exit code of the signal that interrupted the exploration, if one did.
    pub fn signal(&self) -> Option<u8> {
        self.stop.signal()
    }
}
