//! Wrong variants of the parts that backends share. Only hooks call these functions.

use std::os::fd::RawFd;

use crate::poller::interest::CHUNK;
#[cfg(feature = "faults")]
use crate::poller::per_thread::PerThread;

/// Whether `fd` has no bit in a map that has as many bits as it should have bytes.
pub(super) fn is_lost(fd: RawFd, chunks: usize) -> bool {
    fd as usize >= chunks * CHUNK / 8
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
