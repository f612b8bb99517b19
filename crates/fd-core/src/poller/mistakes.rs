//! Wrong variants of what backends share.

use std::os::fd::RawFd;

use crate::poller::interest::{CHUNK, GroupInterest};
#[cfg(feature = "faults")]
use crate::poller::per_thread::PerThread;
use crate::words::events::Interest;

/// Whether a map with as many bits as it should have bytes has none for `fd`.
pub(super) fn is_lost(fd: RawFd, chunks: usize) -> bool {
    fd as usize >= chunks * CHUNK / 8
}

/// [`GroupInterest::sweep`], which gives back what was there before it took it.
pub(super) fn sweep(map: &GroupInterest, fd: RawFd, is_still_free: impl FnOnce() -> bool) {
    let seen = map.read(fd);
    map.write(fd, Interest::NONE);
    if !seen.is_none() && !is_still_free() {
        map.give_back(fd, seen);
    }
}

/// The correct code has nothing to do here: each place drops what it holds.
#[cfg(feature = "faults")]
impl<T> Drop for PerThread<T> {
    fn drop(&mut self) {
        fault!(PollersLeak => std::mem::forget(std::mem::take(&mut self.places)));
        fault!(DeinitClosesZero => if self.places.iter().any(|place| place.get().is_none()) { close_zero() });
    }
}

/// Closes a number that another owner has.
#[cfg(feature = "faults")]
fn close_zero() {
    // SAFETY: none: this is the mistake.
    unsafe { nix::libc::close(0) };
}
