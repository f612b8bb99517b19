//! What no correct code does to a queue. Only hooks call it.

use std::os::fd::RawFd;
use std::time::Duration;

use super::{EMPTY, kevent};

/// Closes a number that may be another owner's.
pub(super) fn close(number: RawFd) {
    // SAFETY: none: this is the mistake.
    unsafe { libc::close(number) };
}

/// Takes events, which are lost.
pub(super) fn take_events(queue: RawFd, room: &mut Vec<libc::kevent>) {
    room.resize(64, EMPTY);
    let _ = kevent(queue, &[], room, Some(Duration::ZERO));
}
