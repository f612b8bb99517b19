//! The mistakes of this backend that need more than a line. Only hooks call them.

use nix::errno::Errno;
#[cfg(kqueue)]
use {crate::abi, crate::sys::EMPTY, crate::sys::kevent, std::os::fd::RawFd, std::time::Duration};

use crate::changes::{Action, ChangeList, Operation, Outcome};
use crate::receipts::{Kernel, submit_one};

impl ChangeList {
    /// Drops the entries of all queued changes.
    pub(crate) fn drop_operations(&mut self) {
        self.operations.clear();
        self.queued.iter_mut().for_each(|queued| queued.operations = 0);
    }
}

/// Returns whether the kernel refused to poll the added filter.
pub(crate) fn is_ignored(operation: &Operation, outcome: Outcome) -> bool {
    matches!((outcome, operation.action), (Outcome::AlwaysReady(_), Action::Add(_)))
}

/// Submits the entries one by one, up to the first that fails.
pub(crate) fn submit_up_to_error(
    kernel: &mut impl Kernel,
    operations: &[Operation],
    results: &mut Vec<Result<(), Errno>>,
) {
    for operation in operations {
        results.push(submit_one(kernel, operation));
        if results.last().is_some_and(Result::is_err) {
            break;
        }
    }
    results.resize(operations.len(), Ok(()));
}

/// Closes a number that may belong to another owner.
#[cfg(kqueue)]
pub(crate) fn close(number: RawFd) {
    // SAFETY: none: this is the mistake.
    unsafe { libc::close(number) };
}

/// Takes events out of the queue and drops them.
#[cfg(kqueue)]
pub(crate) fn take_events(queue: RawFd, room: &mut Vec<abi::kevent>) {
    room.resize(64, EMPTY);
    let _ = kevent(queue, &[], room, Some(Duration::ZERO));
}
