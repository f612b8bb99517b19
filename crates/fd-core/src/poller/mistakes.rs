//! Wrong variants of the parts that backends share. Only hooks call these functions.

use std::os::fd::RawFd;

use crate::poller::interest::{CHUNK, GroupInterest};
#[cfg(feature = "faults")]
use crate::poller::per_thread::PerThread;
use crate::words::events::Interest;

/// Whether `fd` has no bit in a map that has as many bits as it should have bytes.
pub(super) fn is_lost(fd: RawFd, chunks: usize) -> bool {
    fd as usize >= chunks * CHUNK / 8
}

/// A variant of [`GroupInterest::sweep`] that restores the interest that it read before it cleared it.
pub(super) fn sweep(map: &GroupInterest, fd: RawFd, is_still_free: impl FnOnce() -> bool) {
    let read = map.read(fd);
    map.write(fd, Interest::NONE);
    if !read.is_none() && !is_still_free() {
        map.restore(fd, read);
    }
}

/// The correct code needs no `Drop`: each place drops its object.
#[cfg(feature = "faults")]
impl<T> Drop for PerThread<T> {
    fn drop(&mut self) {
        fault!(PollersLeak => std::mem::forget(std::mem::take(&mut self.places)));
        fault!(DeinitClosesZero => if self.places.iter().any(|place| place.get().is_none()) { close_zero() });
    }
}

/// Closes a number that belongs to another owner.
#[cfg(feature = "faults")]
fn close_zero() {
    // SAFETY: none. This is the mistake.
    unsafe { nix::libc::close(0) };
}
